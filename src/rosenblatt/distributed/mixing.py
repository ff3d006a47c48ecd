"""Iterative parameter mixing: the mathematics, apart from any engine.

In each epoch every shard makes one pass over its own rows from the mixed weights, and what the
shards did is averaged (R. McDonald, K. Hall & G. Mann, "Distributed training strategies for the
structured perceptron", NAACL 2010, Figure 3). With w the weights at the start of the epoch, wᵢ
those of shard i after its pass and μᵢ its share, Σ μᵢ = 1::

    w ← w + Σ μᵢ·(wᵢ − w)

Differences are what is sent and added, so that rows without a mistake leave the weights as they
are, to the last bit, and so that what did not change need not be sent. Shares are added in a fixed
tree over the numbers of the shards: the result depends on the data, the seed and the number of
shards alone, whoever computes it and in whatever order the shards come in.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Literal, NamedTuple, TypeVar

from numpy.typing import NDArray

from rosenblatt.distributed.changes import Change, fixed
from rosenblatt.distributed.shards import Shard
from rosenblatt.kernels.counts import Counts
from rosenblatt.rules import Rule
from rosenblatt.training.linear import count_mistakes, run_pass
from rosenblatt.training.loop import Shuffle
from rosenblatt.training.state import State

Mixing = Literal["uniform", "mistakes"]
Summand = TypeVar("Summand")

FAN_IN = 8  # shares that are added in one place: fewer tasks than in pairs, fewer levels than all


class Lesson(NamedTuple):
    """What every shard is told once: how to step, in which order, what to report."""

    rule: Rule
    zero: int
    shuffle: Shuffle
    seed: int
    averaged: bool
    mixing: Mixing = "uniform"


class Start(NamedTuple):
    """The weights that are broadcast; nobody can write into them."""

    weights: Change
    shape: tuple[int, ...]
    n_classes: int
    by_feature: bool
    alone: bool  # there is but one shard, which goes on where it was, average and all
    ledger: Change | None = None  # where alone
    seen: int = 0  # Algorithm 7's c, where alone

    @classmethod
    def of(cls, state: State, *, alone: bool = False) -> "Start":
        """Return what the shards start from."""
        ledger = state.ledger if alone else None
        return cls(
            _fixed(state.weights),
            state.weights.shape,
            state.n_classes,
            state.by_feature,
            alone,
            None if ledger is None else _fixed(ledger),
            state.count if alone else 0,
        )

    @classmethod
    def deciding(cls, state: State) -> "Start":
        """Return the weights that predict: the average where one is kept."""
        return cls.of(State(state.average(), None, state.n_classes, 0, state.by_feature))

    def state(self, *, averaged: bool = False) -> State:
        """Return a new state that is free to be changed, with a ledger that begins with it."""
        weights = self.weights.whole(self.shape)
        ledger = None
        if averaged:
            ledger = weights * 0.0 if self.ledger is None else self.ledger.whole(self.shape)
        return State(weights, ledger, self.n_classes, self.seen, self.by_feature)


class Share(NamedTuple):
    """What one shard, or several together, did in an epoch."""

    counts: Counts
    n_rows: int
    weight: float  # μᵢ before division by their sum
    change: Change  # weight·(wᵢ − w); the last weights themselves where a shard is alone
    excess: Change | None  # Σ of (v − w) over the vectors v after each row; if alone, the ledger

    def plus(self, other: "Share") -> "Share":
        """Return both together."""
        excess = None
        if self.excess is not None and other.excess is not None:
            excess = self.excess.plus(other.excess)
        a, b = self.counts, other.counts
        return Share(
            Counts(a.mistakes + b.mistakes, a.updates + b.updates, a.loss + b.loss),
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.change.plus(other.change),
            excess,
        )


def run_epoch(shard: Shard, start: Start, epoch: int, lesson: Lesson) -> Share:
    """Return what one pass over a shard from these weights does; nothing given is changed."""
    state = start.state(averaged=lesson.averaged)
    order = shard.order(lesson.shuffle, lesson.seed, epoch)
    counts = run_pass(state, shard.examples, order, lesson.rule, lesson.zero)
    n_rows, ledger = len(order), state.ledger
    if start.alone:
        kept = None if ledger is None else Change.of(ledger)
        return Share(counts, n_rows, 1.0, Change.of(state.weights), kept)
    change = state.weights - start.weights.whole(start.shape)
    # Algorithm 7's ledger u from a counter of 0: n·(wᵢ − w) − u is the sum over the rows of v − w.
    excess = None if ledger is None else Change.of(n_rows * change - ledger)
    if lesson.mixing == "uniform":
        return Share(counts, n_rows, 1.0, Change.of(change), excess)
    weight = float(counts.mistakes)
    return Share(counts, n_rows, weight, Change.of(change).times(weight), excess)


def added(shares: Sequence[Share]) -> Share:
    """Return the sum of successive shares, from left to right."""
    return reduce(Share.plus, shares)


def tree(
    leaves: Sequence[Summand], add: Callable[[Sequence[Summand]], Summand], fan_in: int = FAN_IN
) -> Summand:
    """Return the sum of leaves by a tree whose shape depends on their number alone.

    >>> tree("abcdefghijk", lambda group: f"({''.join(group)})")
    '((abcdefgh)(ijk))'
    """
    level = list(leaves)
    while len(level) > 1:
        groups = [level[first : first + fan_in] for first in range(0, len(level), fan_in)]
        level = [add(group) if len(group) > 1 else group[0] for group in groups]
    return level[0]


def mix(state: State, share: Share, *, alone: bool) -> None:
    """Change the weights to the mixture, and the average by the sums and counts of all shards.

    An average is (Σ of all weight vectors)/c, kept as w − u/c. N more rows with w + dᵣ after row r,
    and w′ = w + d mixed of them, make it (c·w − u + N·w + Σ dᵣ)/(c + N): so the new ledger is
    u + (c + N)·d − Σ dᵣ. One shard hands over the ledger of the plain averaged perceptron itself.
    """
    count = state.count + share.n_rows
    if alone:
        state.weights = share.change.whole(state.weights.shape)
        if share.excess is not None:
            state.ledger = share.excess.whole(state.weights.shape)
    elif share.weight:
        step = share.change.over(share.weight)
        step.add_to(state.weights)
        if state.ledger is not None and share.excess is not None:
            step.times(count).add_to(state.ledger)
            share.excess.times(-1.0).add_to(state.ledger)
    state.count = count


def count_wrong(shard: Shard, start: Start, zero: int, *, held_out: bool) -> int:
    """Count the rows of a shard, those held out or the others, that these weights misclassify."""
    state, rows = start.state(), shard.held_out if held_out else shard.learning
    return count_mistakes(state, state.weights, shard.examples, rows, zero)


def _fixed(array: NDArray[Any]) -> Change:
    change = Change.of(array)
    return change._replace(values=fixed(change.values))
