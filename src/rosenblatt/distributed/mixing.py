"""Iterative parameter mixing: the mathematics, and an engine of one process.

With w the weights at the start of an epoch, wᵢ those of shard i after its pass, μᵢ its share
(McDonald, Hall & Mann 2010, Figure 3), and Pᵢ = 1/σᵢ the precisions of a second-order rule (Dredze,
Kulesza & Crammer 2010); docs/distributed.md says more::

    w ← w + Σ μᵢ·(wᵢ − w)        w ← w + Σ Pᵢ·(wᵢ − w) / Σ Pᵢ,  1/σ ← the mean of the Pᵢ

Differences are what is sent and added, so that rows without a mistake leave the weights as they
are, to the last bit, and so that what did not change need not be sent. Shares are added in a fixed
tree over the numbers of the shards: the result depends on the data, the seed and the number of
shards alone, not on the machine or on the order in which shards finish.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.distributed.shards import Shard, bounds, deal_rows, make_shard
from rosenblatt.kernels.counts import Counts
from rosenblatt.rules import Rule
from rosenblatt.tasks import CLASSES, task_of
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.loop import PartResult, Plan, Progress, Shuffle, together, train
from rosenblatt.training.state import EVERYTHING, State, count_mistakes, run_pass
from rosenblatt.training.streaming import Watcher

Mixing = Literal["uniform", "mistakes"]
Summand = TypeVar("Summand")
Change = Any  # an array of one row, or a CSR array of it where that is smaller
PER_VALUE = 12  # bytes of a value of a CSR array and its place
FAN_IN = 8  # shares that are added in one place: fewer tasks than in pairs, fewer levels than all


def compact(array: NDArray[Any]) -> Change:
    """Return an array laid flat, without its zeros where that is smaller: x + 0 is x."""
    flat = array.reshape(1, -1)
    n_values = np.count_nonzero(flat)
    return sparse.csr_array(flat) if PER_VALUE * n_values < flat.nbytes else flat


def whole(change: Change, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a new array of these values."""
    array: NDArray[Any] = change.toarray() if sparse.issparse(change) else change.copy()
    return array.reshape(shape)


def _sum(one: Change, other: Change) -> Change:
    """Return the sum of both, which share no memory with it; None where one is None."""
    if one is None or other is None:
        return None
    total = one + other
    if sparse.issparse(total) and PER_VALUE * total.nnz >= 8 * total.shape[1]:
        return total.toarray()
    return total


def fixed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only copy of an array.

    A worker hands one and the same array to all its tasks, and keeps the flag.
    """
    copy = array.copy()
    copy.flags.writeable = False
    return copy


class EpochSettings(NamedTuple):
    """The instructions of every shard: how to step, in which order, what to report."""

    rule: Rule
    zero: int
    shuffle: Shuffle
    seed: int
    averaged: bool
    mixing: Mixing = "uniform"


class Start(NamedTuple):
    """The weights that are broadcast, read-only."""

    weights: Change
    shape: tuple[int, ...]
    n_classes: int
    by_feature: bool
    alone: bool  # there is but one shard, which goes on where it was, average and all
    ledger: Change = None  # where alone
    seen: int = 0  # Algorithm 7's c, where alone
    variance: NDArray[Any] | None = None  # of a second-order rule

    @classmethod
    def of(cls, state: State, *, alone: bool = False) -> "Start":
        """Return what the shards start from."""
        ledger = state.ledger if alone else None
        return cls(
            compact(fixed(state.weights)),
            state.weights.shape,
            state.n_classes,
            state.by_feature,
            alone,
            None if ledger is None else compact(fixed(ledger)),
            state.count if alone else 0,
            None if state.variance is None else fixed(state.variance),
        )

    @classmethod
    def deciding(cls, state: State) -> "Start":
        """Return the weights that predict: the average where one is kept."""
        return cls.of(State(state.average(), None, state.task, 0, state.by_feature))

    def state(self, *, averaged: bool = False) -> State:
        """Return a new state that is free to be changed, with a ledger that begins with it."""
        weights = whole(self.weights, self.shape)
        ledger = None
        if averaged:
            ledger = weights * 0.0 if self.ledger is None else whole(self.ledger, self.shape)
        variance = None if self.variance is None else self.variance.copy()
        task = task_of(CLASSES, self.n_classes)
        return State(weights, ledger, task, self.seen, self.by_feature, variance)


class Share(NamedTuple):
    """What one shard, or several together, did in an epoch."""

    counts: Counts
    n_rows: int
    weight: float  # μᵢ before division by their sum
    change: Change  # weight·(wᵢ − w), or Pᵢ·(wᵢ − w); the weights themselves where a shard is alone
    excess: Change  # Σ of (v − w) over the vectors v after each row; if alone, the ledger; or None
    evidence: Change = None  # Pᵢ − P of a second-order rule; if alone, the variances

    def plus(self, other: "Share") -> "Share":
        """Return both together."""
        return Share(
            together(self.counts, other.counts),
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            _sum(self.change, other.change),
            _sum(self.excess, other.excess),
            _sum(self.evidence, other.evidence),
        )


def run_epoch(shard: Shard, start: Start, epoch: int, settings: EpochSettings) -> Share:
    """Return what one pass over a shard from these weights does; nothing given is changed."""
    state = start.state(averaged=settings.averaged)
    order = shard.order(settings.shuffle, settings.seed, epoch)
    counts = run_pass(state, shard.examples, order, settings.rule, settings.zero)
    n_rows, ledger = len(order), state.ledger
    if start.alone:
        kept, sure = (
            None if array is None else compact(array) for array in (ledger, state.variance)
        )
        return Share(counts, n_rows, 1.0, compact(state.weights), kept, sure)
    change = state.weights - whole(start.weights, start.shape)
    # Algorithm 7's ledger u from a counter of 0: n·(wᵢ − w) − u is the sum over the rows of v − w.
    excess = None if ledger is None else compact(n_rows * change - ledger)
    if state.variance is not None and start.variance is not None:
        precision = 1.0 / state.variance
        evidence = compact(precision - 1.0 / start.variance)
        return Share(counts, n_rows, 1.0, compact(precision * change), excess, evidence)
    weight = 1.0 if settings.mixing == "uniform" else float(counts.mistakes)
    return Share(counts, n_rows, weight, compact(change) * weight, excess)


def add_shares(shares: Sequence[Share]) -> Share:
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
    count, shape = state.count + share.n_rows, state.weights.shape
    change = whole(share.change, shape)
    excess, gain = (
        None if one is None else whole(one, shape) for one in (share.excess, share.evidence)
    )
    if alone:
        state.become(change, excess, gain, count)
        return
    weights, ledger, variance = state.weights, state.ledger, state.variance
    if share.weight:
        step = change / share.weight
        if gain is not None and variance is not None:
            precisions = share.weight / variance + gain  # Σ Pᵢ, one of each shard
            changed = gain != 0.0  # 1/(1/σ) need not be σ
            variance[changed] = share.weight / precisions[changed]
            step = change / precisions
        weights += step
        if ledger is not None:
            ledger += step * count
            ledger -= excess
    state.become(weights, ledger, variance, count)


def count_wrong(shard: Shard, start: Start, zero: int, *, tried: bool) -> int:
    """Count the rows of a shard, those held out or the others, that these weights misclassify."""
    state, rows = start.state(), shard.division[tried]
    return count_mistakes(state, state.weights, shard.examples, rows, zero)


class Engine(Protocol):
    """What runs the shards: one process, or a cluster."""

    n_shards: int
    n_rows: int  # that are learned from in an epoch
    n_held_out: int

    def epoch(self, start: Start, epoch: int, settings: EpochSettings) -> Share:
        """Return the sum of what all shards do in an epoch, counted from 1."""

    def wrong(self, start: Start, zero: int, *, tried: bool) -> int:
        """Count the rows, those held out or the others, that these weights misclassify."""


class MixedTraining:
    """Changes a state by epochs over the shards of an engine.

    An epoch without an update leaves the weights where it found them, having tried them on every
    row of every shard: they separate all the data. What is judged on held-out rows is the mixture,
    never a shard's own weights.
    """

    def __init__(
        self, state: State, engine: Engine, settings: EpochSettings, n_done: int = 0
    ) -> None:
        self.supply, self.generator = self, np.random.default_rng(settings.seed)
        self._state, self._engine, self._settings = state, engine, settings
        self.snapshot, self.restore = state.snapshot, state.restore
        self._epoch, self._alone = n_done, engine.n_shards == 1
        self.n_rows, self.n_held_out = engine.n_rows, engine.n_held_out

    def parts(self) -> Iterator[int]:
        """Yield the number of the next epoch, which is done as a whole."""
        self._epoch += 1
        yield self._epoch

    def learn(self, part: int) -> PartResult:
        """Change the state to the mixture of what the shards make of it."""
        share = self._engine.epoch(Start.of(self._state, alone=self._alone), part, self._settings)
        mix(self._state, share, alone=self._alone)
        return PartResult(share.counts, share.n_rows)

    def finish_pass(self, counts: Counts, pass_: int) -> None:
        """Raise if the weights have left the range of float64."""
        self._state.check_finite(counts.loss, EVERYTHING, f"in epoch {pass_}", self._settings.rule)

    def mistakes(self) -> int:
        """Count the rows learned from that the last weights misclassify."""
        return self._engine.wrong(Start.of(self._state), self._settings.zero, tried=False)

    def tried_mistakes(self) -> int:
        """Count the held-out rows that the weights to be returned misclassify."""
        zero = self._settings.zero or -1  # at test time a zero activation has to predict something
        return self._engine.wrong(Start.deciding(self._state), zero, tried=True)


def fit_shards(
    state: State,
    engine: Engine,
    plan: Plan,
    settings: EpochSettings,
    observers: Sequence[Observer] = (),
    *,
    progress: Progress | None = None,
    watch: Watcher | None = None,
) -> Outcome:
    """Change the state by epochs until one makes no mistake on any shard or the plan says stop.

    ``watch`` is called after every epoch with the state and the progress.
    """
    progress = Progress() if progress is None else progress
    training = MixedTraining(state, engine, settings, len(progress.history))
    watched = None if watch is None else lambda progress: watch(state, progress)
    return train(training, plan, observers, watch=watched, progress=progress)


class VirtualShards:
    """Any cluster in one process: runs one shard after the other, to the same bits."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        self.n_shards = len(shards)
        self.n_rows = sum(len(shard.division.learned) for shard in shards)
        self.n_held_out = sum(len(shard.division.tried) for shard in shards)

    def epoch(self, start: Start, epoch: int, settings: EpochSettings) -> Share:
        """Return the sum of what all shards do in an epoch."""
        return tree(
            [run_epoch(shard, start, epoch, settings) for shard in self._shards], add_shares
        )

    def wrong(self, start: Start, zero: int, *, tried: bool) -> int:
        """Count the rows, those held out or the others, that these weights misclassify."""
        return sum(count_wrong(shard, start, zero, tried=tried) for shard in self._shards)


def virtual_shards(
    examples: Examples,
    n_shards: int,
    *,
    share: float = 0.0,  # held out
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
        shards.append(make_shard(k, examples.take(rows), rows, share, seed))
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
    """Return what a cluster with this number of shards would learn, to the last bit."""
    state = State.zeros(examples.rows.shape[1], n_classes, averaged=averaged, uncertain=uncertain)
    state.arrange_for(examples.rows)
    shards = virtual_shards(examples, n_shards, share=plan.holdout, shuffled=shuffled, seed=seed)
    settings = EpochSettings(plan.rule, plan.zero, plan.shuffle, seed, averaged, mixing)
    return state, fit_shards(state, VirtualShards(shards), plan, settings, observers)
