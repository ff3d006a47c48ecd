"""One row at a time, at the speed of a stream."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.compiling import specialised
from rosenblatt.errors import InputError
from rosenblatt.kernels.binary import binary_pass
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.multiclass import multiclass_pass
from rosenblatt.kernels.rows import Dense
from rosenblatt.rules import Rule
from rosenblatt.training.order import row_numbers
from rosenblatt.training.state import State, overflow


class OnlineLearner:
    """Learns from single rows: a sequence of calls equals one pass over them in that order.

    The row is copied into a buffer that the kernel already knows, and the kernel is called without
    numba's look at its arguments.

    >>> from rosenblatt.rules import Perceptron
    >>> learner = OnlineLearner(State.zeros(2, 2, averaged=False), Perceptron())
    >>> [learner.learn(x, label) for x, label in [((1, 0), 1), ((0, 1), 0), ((1, 0), 1)]]
    [True, True, False]
    >>> learner.state.weights
    array([ 1., -1.,  0.])
    """

    def __init__(
        self, state: State, rule: Rule, *, zero: int = 0, fit_intercept: bool = True
    ) -> None:
        self.state = state
        self._row = np.zeros((1, state.n_features))
        self._rows = Dense(self._row, 1.0 if fit_intercept else 0.0)
        self._target = np.zeros(1, np.int8 if state.n_classes == 2 else np.int32)
        self._target[0] = 1
        state.arrange_for(self._rows)
        self._first_not_finite = specialised(first_not_finite, self._row)
        self._binary = state.n_classes == 2
        self._before = state.weights.copy()
        self._ledger_before = None if state.ledger is None else state.ledger.copy()
        self._fixed: tuple[Any, ...] = (self._rows, self._target, None, row_numbers(1), rule, zero)
        if not self._binary:
            self._fixed += (state.n_classes,)
        kernel: Any = binary_pass if self._binary else multiclass_pass
        self._pass = specialised(kernel, *self._fixed, state.weights, state.ledger, 1, None)

    def learn(self, x: Sequence[float] | NDArray[Any], label: int) -> bool:
        """Learn from the row x of class number ``label``; return whether it was a mistake."""
        state = self.state
        if not 0 <= label < state.n_classes:
            msg = f"Label {label!r} is not a class number from 0 to {state.n_classes - 1}."
            raise InputError(msg)
        try:
            fits = len(x) == state.n_features  # else a single number would fill the whole row
            self._row[0] = x if fits else ()
        except (TypeError, ValueError) as error:
            msg = f"A row must be {state.n_features} numbers; got {x!r}."
            raise InputError(msg) from error
        bad = self._first_not_finite(self._row)
        if bad >= 0:
            msg = f"Feature {bad} of the row is {self._row[0, bad]}; it must be a finite number."
            raise InputError(msg)
        self._target[0] = 2 * label - 1 if self._binary else label
        np.copyto(self._before, state.weights)
        if state.ledger is not None and self._ledger_before is not None:
            np.copyto(self._ledger_before, state.ledger)
        counts = self._pass(*self._fixed, state.weights, state.ledger, state.count, None)
        if counts.updates and not self._finite(counts.loss):
            np.copyto(state.weights, self._before)
            if state.ledger is not None and self._ledger_before is not None:
                np.copyto(state.ledger, self._ledger_before)
            raise overflow(when="on this row, which is not learned")
        state.count += 1
        return bool(counts.mistakes)

    def _finite(self, loss: float) -> bool:
        """Whether weights and ledger are still within float64."""
        state, look = self.state, self._first_not_finite
        if not isfinite(loss) or look(np.atleast_2d(state.weights)) >= 0:
            return False
        return state.ledger is None or look(np.atleast_2d(state.ledger)) < 0
