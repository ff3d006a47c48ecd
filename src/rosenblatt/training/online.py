"""One row at a time, at the speed of a stream."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.online import MISTAKE, NOT_FINITE, OVERFLOW, learn_row
from rosenblatt.kernels.rows import Dense
from rosenblatt.rules import Rule
from rosenblatt.training.order import row_numbers
from rosenblatt.training.state import State, overflow


class OnlineLearner:
    """Learns from single rows: a sequence of calls equals one pass over them in that order.

    The row is copied into a buffer that the kernel already knows.

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
        if state.n_classes < 2:
            msg = f"A learner needs at least two classes; the state has {state.n_classes}."
            raise InputError(msg)
        self.state = state
        self._row = np.zeros((1, state.n_features))
        rows = Dense(self._row, 1.0 if fit_intercept else 0.0)
        state.arrange_for(rows)
        self._target = np.ones(1, np.int8 if state.n_classes == 2 else np.int32)
        scores = np.empty(state.n_classes)
        self._fixed = (rows, self._target, row_numbers(1), rule, zero, scores)
        room = (np.empty_like(state.weights), None if state.ledger is None else state.ledger.copy())
        self._room: tuple[Any, Any] = room

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
        self._target[0] = 2 * label - 1 if state.n_classes == 2 else label
        found = learn_row(*self._fixed, state.weights, state.ledger, state.count, *self._room)
        if found == NOT_FINITE:
            bad = int(first_not_finite(self._row))
            msg = f"Feature {bad} of the row is {self._row[0, bad]}; it must be a finite number."
            raise InputError(msg)
        if found == OVERFLOW:
            raise overflow(when="on this row, which is not learned")
        state.count += 1
        return bool(found == MISTAKE)
