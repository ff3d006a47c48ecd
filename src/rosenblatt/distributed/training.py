"""The loop over epochs, for any engine that can run one."""

from collections.abc import Sequence
from time import perf_counter
from typing import Protocol

import numpy as np

from rosenblatt.distributed.mixing import Lesson, Share, Start, mix
from rosenblatt.training.fit import Outcome, Plan, classifies_all, reason_to_stop
from rosenblatt.training.held_out import Validation
from rosenblatt.training.history import StopReason
from rosenblatt.training.interrupts import held_interrupt
from rosenblatt.training.observers import Observer
from rosenblatt.training.progress import Progress, Watcher
from rosenblatt.training.state import EVERYTHING, State


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


def train(
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

    An epoch without an update leaves the weights where it found them, having tried them on every
    row of every shard: they separate all the data. What is judged on held-out rows is the mixture,
    never a shard's own weights. ``watch`` is called after every epoch that another one follows.
    """
    progress = Progress() if progress is None else progress
    if plan.early_stopping is not None and progress.validation is None:
        progress.validation = Validation()
    validation, alone = progress.validation, engine.n_shards == 1
    stop_reason: StopReason | None = None
    started = perf_counter()

    def wrong() -> int:
        return engine.wrong(Start.of(state), plan.zero, held_out=False)

    with held_interrupt() as interrupt:
        while stop_reason is None:
            epoch = progress.pass_
            progress.begin_pass(np.random.default_rng(lesson.seed))
            share = engine.epoch(Start.of(state, alone=alone), epoch, lesson)
            mix(state, share, alone=alone)
            state.check_finite(share.counts.loss, EVERYTHING, f"in epoch {epoch}")
            progress.add(share.counts, share.n_rows, 0)
            record = progress.end_pass(_score(state, engine, plan, validation, epoch))
            for observer in observers:
                observer(record)
            if classifies_all(share.counts, plan, wrong):
                stop_reason = "converged"
            else:
                stop_reason = reason_to_stop(plan, epoch, validation, interrupt, started)
            if watch is not None and stop_reason is None:
                watch(state, progress)

    best_pass = len(progress.history)
    if validation is not None and validation.best is not None:
        validation.restore_best(state)
        best_pass = validation.best_pass
    return Outcome(progress.history, stop_reason, best_pass, None, engine.n_rows)


def _score(
    state: State, engine: Engine, plan: Plan, validation: Validation | None, epoch: int
) -> float | None:
    """Return the accuracy of the mixture on held-out rows."""
    if validation is None or not engine.n_held_out:
        return None
    zero = plan.zero or -1  # at test time a zero activation has to predict something
    wrong = engine.wrong(Start.deciding(state), zero, held_out=True)
    score = 1.0 - wrong / engine.n_held_out
    validation.note(epoch, score, state)
    return score
