"""The loop over passes: order, stopping, early stopping, history."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts, empty_log
from rosenblatt.rules import Rule
from rosenblatt.training.examples import Examples
from rosenblatt.training.held_out import EarlyStopping, Validation, split
from rosenblatt.training.history import PassRecord, StopReason
from rosenblatt.training.interrupts import Interrupt, held_interrupt
from rosenblatt.training.mistakes import Mistakes
from rosenblatt.training.observers import Observer
from rosenblatt.training.order import Order, Shuffle
from rosenblatt.training.passes import count_mistakes, run_pass
from rosenblatt.training.state import EVERYTHING, State


@dataclass(frozen=True)
class Plan:
    """How to train: the rule, and when to stop."""

    rule: Rule
    max_iter: int
    zero: int = 0
    shuffle: Shuffle = True
    early_stopping: EarlyStopping | None = None
    time_limit: float | None = None  # seconds
    record: bool = False  # keep the list of mistakes


@dataclass(frozen=True)
class Outcome:
    """What a training did, beside changing the state."""

    history: list[PassRecord]
    stop_reason: StopReason
    best_pass: int  # the pass whose weights are kept
    mistakes: Mistakes | None = None
    n_rows: int = 0  # learned from in each pass

    @property
    def converged(self) -> bool:
        """Whether the last weights were seen to classify every row that they learned from."""
        return self.stop_reason == "converged"


def fit(
    state: State,
    examples: Examples,
    plan: Plan,
    generator: np.random.Generator,
    observers: Sequence[Observer] = (),
) -> Outcome:
    """Change the state by passes over the rows until one makes no mistake or the plan says stop."""
    learning, validation = examples.numbers(), None
    if plan.early_stopping is not None:
        stopping = plan.early_stopping
        learning, held_out = split(examples, stopping.validation_fraction, generator)
        validation = Validation(examples, held_out, plan.zero, stopping.n_iter_no_change)
    order = Order(learning, plan.shuffle, generator)
    mistakes = Mistakes() if plan.record else None
    history: list[PassRecord] = []
    stop_reason: StopReason | None = None
    log = None if mistakes is None else empty_log(0)
    run_pass(state, examples, learning[:0], plan.rule, plan.zero, log)  # compiles, off the clock
    started = perf_counter()

    with held_interrupt() as interrupt:
        while stop_reason is None:
            pass_, pass_started = len(history) + 1, perf_counter()
            log = None if mistakes is None else empty_log(len(learning))
            counts = run_pass(state, examples, order.next(), plan.rule, plan.zero, log)
            state.check_finite(counts.loss, EVERYTHING, f"in pass {pass_}")
            if mistakes is not None and log is not None:
                mistakes.extend(log, counts.updates, state.count)
            score = None if validation is None else validation.score(pass_, state)
            record = PassRecord(pass_, *counts, score, perf_counter() - pass_started)
            history.append(record)
            for observer in observers:
                observer(record)
            if _classifies_all(state, examples, learning, plan, counts):
                stop_reason = "converged"
            else:
                seconds = perf_counter() - started
                stop_reason = _reason_to_stop(plan, pass_, validation, interrupt, seconds)

    if validation is not None:
        validation.restore_best(state)
    best_pass = len(history) if validation is None else validation.best_pass
    return Outcome(history, stop_reason, best_pass, mistakes, len(learning))


def _reason_to_stop(
    plan: Plan, pass_: int, validation: Validation | None, interrupt: Interrupt, seconds: float
) -> StopReason | None:
    """Return why training should end after this pass though it still makes mistakes, or None."""
    if interrupt.pressed:
        return "interrupted"
    if validation is not None and validation.patience_ended:
        return "early_stopping"
    if pass_ >= plan.max_iter:
        return "max_iter"
    if plan.time_limit is not None and seconds >= plan.time_limit:
        return "time_limit"
    return None


def _classifies_all(
    state: State, examples: Examples, learning: NDArray[Any], plan: Plan, counts: Counts
) -> bool:
    """Return whether the weights are proved to classify every row that they learn from.

    A pass without an update proves it. A passive-aggressive rule goes on making smaller and smaller
    updates: there, after a pass without a mistake, its last weights are tried on all the rows.
    """
    if counts.updates == 0:
        return counts.mistakes == 0
    if counts.mistakes or plan.rule.stops_by_itself:
        return False
    return count_mistakes(state, state.weights, examples, learning, plan.zero) == 0
