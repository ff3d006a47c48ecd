"""Weights that learn: one compiled pass over rows, and what the loop asks about it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import binary_mistakes, binary_pass
from rosenblatt.kernels.counts import NO_LOG, Counts, Log, empty_log
from rosenblatt.kernels.multiclass import multiclass_mistakes, multiclass_pass
from rosenblatt.kernels.second_order import second_order_multiclass_pass, second_order_pass
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.rules import Rule
from rosenblatt.training.examples import Examples, or_empty, row_numbers
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.loop import NONE_YET, PartResult, Plan, Progress, together, train
from rosenblatt.training.order import ArraySupply, Part, Supply
from rosenblatt.training.state import EVERYTHING, Snapshot, State


def run_pass(
    state: State,
    examples: Examples,
    order: NDArray[Any],
    rule: Rule,
    zero: int,
    log: Log | None = None,
) -> Counts:
    """Change the state by one visit to each row of the order."""
    state.arrange_for(examples.rows)
    counts = Counts(0, 0, 0.0)
    if state.n_classes > 1:  # else there is nothing to tell it from
        kernel, arguments = kernel_call(state, examples, order, rule, zero, log)
        counts = kernel(*arguments)
    state.count += len(order)
    return counts


def kernel_call(
    state: State,
    examples: Examples,
    order: NDArray[Any],
    rule: Rule,
    zero: int,
    log: Log | None = None,
) -> tuple[Callable[..., Counts], tuple[Any, ...]]:
    """Return the kernel that makes a pass over weights of this kind, and what it is called with."""
    rows, w, c = examples.rows, state.weights, state.count
    u = or_empty(state.ledger, w.ndim)
    given = (rows, examples.targets, or_empty(examples.weight), order, rule, zero)
    if state.variance is None:
        if state.n_classes == 2:
            return binary_pass, (*given, w, u, c, log or NO_LOG)
        return multiclass_pass, (*given, np.empty(state.n_classes), w, u, c, log or NO_LOG)
    room = np.empty(rows.shape[1] + 1)
    if state.n_classes == 2:
        return second_order_pass, (*given, w, state.variance, u, c, room)
    rooms = (room, np.empty_like(room))
    scores = np.empty(state.n_classes)
    return second_order_multiclass_pass, (*given, scores, w, state.variance, u, c, *rooms)


def count_mistakes(
    state: State, weights: NDArray[Any], examples: Examples, order: NDArray[Any], zero: int
) -> int:
    """Count the rows of the order that weights of this state's layout misclassify."""
    rows, y, n_classes = examples.rows, examples.targets, state.n_classes
    if n_classes == 2:
        return binary_mistakes(rows, y, order, zero, weights)
    return multiclass_mistakes(rows, y, order, zero, np.empty(n_classes), weights)


class Memory(Protocol):
    """What predicts in place of the weights of the state; see ``training.memory``."""

    def held_out_mistakes(self, state: State, supply: Supply, updates: Mistakes) -> int:
        """Count the held-out rows that it misclassifies after all these updates."""


class LinearTraining:
    """Changes a state by passes over the rows of a supply."""

    def __init__(
        self, state: State, supply: Supply, plan: Plan, memory: Memory | None = None
    ) -> None:
        self.state = state
        self.updates = Mistakes() if plan.record else None
        self._supply = supply
        self._rule, self._zero = plan.rule, plan.zero
        self._memory = memory
        self._mean: NDArray[Any] | None = None  # room for the average
        self._best: Snapshot | None = None  # room for the best weights

    @property
    def generator(self) -> np.random.Generator:
        """Draws the order of the rows."""
        return self._supply.generator

    @property
    def n_rows(self) -> int:
        """How many rows are learned from in a pass, as far as is known."""
        return self._supply.n_rows

    @property
    def n_held_out(self) -> int:
        """How many rows are held out; 0 as long as not all of them are known."""
        return self._supply.n_held_out

    def parts(self) -> Iterator[Part]:
        """Yield the rows of the next pass."""
        return self._supply.parts()

    def learn(self, part: Part) -> PartResult:
        """Change the state by the rows of a part."""
        state = self.state
        state.widen(part.examples.rows.shape[1])
        if self.updates is None:
            counts = NONE_YET
            for piece in part.pieces():
                made = run_pass(state, piece.examples, piece.order, self._rule, self._zero)
                counts = together(counts, made)
        else:
            log = empty_log(len(part.order))
            counts = run_pass(state, part.examples, part.order, self._rule, self._zero, log)
            log.row[:] += part.first_row
            self.updates.extend(log, counts.updates, state.count)
        return PartResult(counts, len(part.order), part.bytes_read)

    def skip(self, part: Part) -> None:
        """Lay the weights out as the part would have."""
        self.state.arrange_for(part.examples.rows)

    def check(self, counts: Counts, pass_: int) -> None:
        """Raise if the weights have left the range of float64."""
        self.state.check_finite(counts.loss, EVERYTHING, f"in pass {pass_}", self._rule)

    def mistakes(self) -> int:
        """Count the rows learned from that the last weights misclassify."""
        return self._count(self.state.weights, self._zero, held_out=False)

    def held_out_mistakes(self) -> int:
        """Count the held-out rows that what would be returned now misclassifies."""
        if self._memory is not None and self.updates is not None:
            return self._memory.held_out_mistakes(self.state, self._supply, self.updates)
        zero = self._zero or -1  # at test time a zero activation has to predict something
        return self._count(self._average(), zero, held_out=True)

    def _average(self) -> NDArray[Any]:
        """Return the weights that would be returned now, in memory that is used again.

        20 classes of text have 12 MB of them, and new memory costs twice the arithmetic.
        """
        state = self.state
        if state.ledger is None:
            return state.weights
        if self._mean is None or self._mean.shape != state.weights.shape:
            self._mean = np.empty_like(state.weights)
        np.divide(state.ledger, state.count, out=self._mean)
        np.subtract(state.weights, self._mean, out=self._mean)
        return self._mean

    def snapshot(self) -> Snapshot:
        """Return a copy of the weights, in the memory of the last one."""
        self._best = self.state.snapshot(room=self._best)
        return self._best

    def restore(self, snapshot: Snapshot) -> None:
        """Change the weights back."""
        self.state.restore(snapshot)

    def _count(self, weights: NDArray[Any], zero: int, *, held_out: bool) -> int:
        return sum(
            count_mistakes(self.state, weights, part.examples, part.order, zero)
            for part in self._supply.sweep(held_out=held_out)
        )


def fit(
    state: State,
    examples: Examples,
    plan: Plan,
    generator: np.random.Generator,
    observers: Sequence[Observer] = (),
    memory: Memory | None = None,
) -> Outcome:
    """Change the state by passes over rows in memory; see ``loop.train``."""
    stopping = plan.early_stopping
    fraction = 0.0 if stopping is None else stopping.validation_fraction
    supply = ArraySupply(examples, plan.shuffle, generator, fraction)
    run_pass(state, examples, row_numbers(0), plan.rule, plan.zero)  # compiles, off the clock
    return fit_supply(state, supply, plan, observers, memory=memory)


def fit_supply(
    state: State,
    supply: Supply,
    plan: Plan,
    observers: Sequence[Observer] = (),
    *,
    watch: Any = None,
    progress: Progress | None = None,
    memory: Memory | None = None,
) -> Outcome:
    """Change the state by passes over the rows of a supply; see ``loop.train``.

    ``watch`` is called with the state and the progress.
    """
    training = LinearTraining(state, supply, plan, memory)
    watched = None if watch is None else lambda progress: watch(state, progress)
    outcome = train(training, plan, observers, watch=watched, progress=progress)
    return replace(outcome, mistakes=training.updates)
