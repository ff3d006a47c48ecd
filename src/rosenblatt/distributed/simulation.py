"""Any cluster in one process: virtual shards, the same bits."""

from collections.abc import Sequence

import numpy as np

from rosenblatt.distributed.mixing import (
    Lesson,
    Mixing,
    Share,
    Start,
    add_shares,
    count_wrong,
    fit_shards,
    run_epoch,
    tree,
)
from rosenblatt.distributed.shards import Shard, bounds, deal_rows, make_shard
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.loop import Plan
from rosenblatt.training.state import State


class VirtualShards:
    """Runs one shard after the other in this process."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        self.n_shards = len(shards)
        self.n_rows = sum(len(shard.learning) for shard in shards)
        self.n_held_out = sum(len(shard.held_out) for shard in shards)

    def epoch(self, start: Start, epoch: int, lesson: Lesson) -> Share:
        """Return the sum of what all shards do in an epoch."""
        return tree([run_epoch(shard, start, epoch, lesson) for shard in self._shards], add_shares)

    def wrong(self, start: Start, zero: int, *, held_out: bool) -> int:
        """Count the rows, those held out or the others, that these weights misclassify."""
        return sum(count_wrong(shard, start, zero, held_out=held_out) for shard in self._shards)


def virtual_shards(
    examples: Examples,
    n_shards: int,
    *,
    held_out: float = 0.0,
    shuffled: bool = False,
    seed: int = 0,
) -> list[Shard]:
    """Return examples cut into shards of successive rows, or ``shuffled``: dealt out at random."""
    n_rows = len(examples.targets)
    ends = bounds(n_rows, n_shards)
    owners = deal_rows(0, n_rows, n_shards, seed) if shuffled else None
    shards = []
    for k in range(n_shards):
        rows = np.arange(ends[k], ends[k + 1]) if owners is None else np.flatnonzero(owners == k)
        shards.append(make_shard(k, examples.take(rows), rows, held_out, seed))
    return shards


def simulate(
    examples: Examples,
    n_classes: int,
    n_shards: int,
    plan: Plan,
    *,
    averaged: bool = False,
    uncertain: bool = False,
    mixing: Mixing = "uniform",
    shuffled: bool = False,
    seed: int = 0,
    observers: Sequence[Observer] = (),
) -> tuple[State, Outcome]:
    """Return what a cluster would make of the examples with so many shards, to the last bit."""
    state = State.zeros(examples.rows.shape[1], n_classes, averaged=averaged, uncertain=uncertain)
    state.arrange_for(examples.rows)
    fraction = plan.early_stopping.validation_fraction if plan.early_stopping else 0.0
    shards = virtual_shards(examples, n_shards, held_out=fraction, shuffled=shuffled, seed=seed)
    lesson = Lesson(plan.rule, plan.zero, plan.shuffle, seed, averaged, mixing)
    return state, fit_shards(state, VirtualShards(shards), plan, lesson, observers)
