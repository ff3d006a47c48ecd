"""Training on the shards of any engine that can run an epoch."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from rosenblatt.distributed.mixing import Lesson, Share, Start, mix
from rosenblatt.kernels.counts import Counts
from rosenblatt.training.history import Outcome, Progress
from rosenblatt.training.loop import Learned, Plan, train
from rosenblatt.training.observers import Observer
from rosenblatt.training.state import EVERYTHING, Snapshot, State
from rosenblatt.training.stream_fit import Watcher


class Engine(Protocol):
    """What runs the shards: one process, or a cluster."""

    @property
    def n_shards(self) -> int:
        """How many there are."""

    @property
    def n_rows(self) -> int:
        """How many rows are learned from in an epoch."""

    @property
    def n_held_out(self) -> int:
        """How many rows are held out."""

    def epoch(self, start: Start, epoch: int, lesson: Lesson) -> Share:
        """Return the sum of what all shards do in an epoch, counted from 1."""

    def wrong(self, start: Start, zero: int, *, held_out: bool) -> int:
        """Count the rows, those held out or the others, that these weights misclassify."""


class MixedTraining:
    """Changes a state by epochs over the shards of an engine.

    An epoch without an update leaves the weights where it found them, having tried them on every
    row of every shard: they separate all the data. What is judged on held-out rows is the mixture,
    never a shard's own weights.
    """

    def __init__(
        self, state: State, engine: Engine, plan: Plan, lesson: Lesson, n_done: int = 0
    ) -> None:
        self.generator = np.random.default_rng(lesson.seed)
        self._state, self._engine, self._lesson = state, engine, lesson
        self._zero = plan.zero
        self._epoch = n_done
        self._alone = engine.n_shards == 1

    @property
    def n_rows(self) -> int:
        """How many rows are learned from in an epoch."""
        return self._engine.n_rows

    @property
    def n_held_out(self) -> int:
        """How many rows are held out."""
        return self._engine.n_held_out

    def parts(self) -> Iterator[int]:
        """Yield the number of the next epoch, which is done as a whole."""
        self._epoch += 1
        yield self._epoch

    def learn(self, part: int) -> Learned:
        """Change the state to the mixture of what the shards make of it."""
        share = self._engine.epoch(Start.of(self._state, alone=self._alone), part, self._lesson)
        mix(self._state, share, alone=self._alone)
        return Learned(share.counts, share.n_rows)

    def skip(self, part: int) -> None:
        """Pass over an epoch that is part of the state."""

    def check(self, counts: Counts, pass_: int) -> None:
        """Raise if the weights have left the range of float64."""
        self._state.check_finite(counts.loss, EVERYTHING, f"in epoch {pass_}")

    def mistakes(self) -> int:
        """Count the rows learned from that the last weights misclassify."""
        return self._engine.wrong(Start.of(self._state), self._zero, held_out=False)

    def held_out_mistakes(self) -> int:
        """Count the held-out rows that the weights to be returned misclassify."""
        zero = self._zero or -1  # at test time a zero activation has to predict something
        return self._engine.wrong(Start.deciding(self._state), zero, held_out=True)

    def snapshot(self) -> Snapshot:
        """Return a copy of the weights."""
        return self._state.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Change the weights back."""
        self._state.restore(snapshot)


def fit_shards(
    state: State,
    engine: Engine,
    plan: Plan,
    lesson: Lesson,
    observers: Sequence[Observer] = (),
    *,
    progress: Progress | None = None,
    watch: Watcher | None = None,
) -> Outcome:
    """Change the state by epochs until one makes no mistake on any shard or the plan says stop.

    ``watch`` is called after every epoch with the state and the progress.
    """
    progress = Progress() if progress is None else progress
    training = MixedTraining(state, engine, plan, lesson, len(progress.history))
    watched = None if watch is None else lambda progress: watch(state, progress)
    return train(training, plan, observers, watch=watched, progress=progress)
