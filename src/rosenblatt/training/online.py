"""One row at a time: a row in a buffer that the kernels know, learned from or decided."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.compiling import BoundCall
from rosenblatt.kernels.counts import NO_LOG, Log
from rosenblatt.kernels.online import enter_row, leave_row, predict_row
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.kernels.single_rows import MISTAKE, UNUSUAL, RowVisit, SingleRow, machine_call
from rosenblatt.rules import Rule
from rosenblatt.training.examples import Examples, row_numbers
from rosenblatt.training.state import State


class RowLearner:
    """Learns from a row in its buffer and decides it, by a state that has two classes or more.

    Where a row may have several labels, one will do. A sequence of rows that are learned from
    equals one pass over them in that order. A dense row is written to ``values``, a sparse one to
    ``row``; its features may come in any order.

    >>> from rosenblatt.rules import Perceptron
    >>> learner = RowLearner(State.zeros(2, 2, averaged=False), Perceptron())
    >>> for x, label in [((1, 0), 1), ((0, 1), 0), ((1, 0), 1)]:
    ...     learner.values[0] = x
    ...     learner.learn(label)  # twice a mistake
    1
    1
    0
    >>> learner.state.weights
    array([ 1., -1.,  0.])
    """

    def __init__(
        self,
        state: State,
        rule: Rule,
        *,
        zero: int = 0,
        constant: float = 1.0,
        room: int = 0,  # features of a row at most; 0: rows are dense
        log: Log | None = None,  # gets the line of an update
    ) -> None:
        self.state = state
        self.row = SingleRow(room)
        self.values = np.zeros((1, 0 if room else state.n_features))
        self.dense = self.values[0]  # to be written as dense[...], the fastest way
        self.shape = self.dense.shape
        rows: Rows = Dense(self.values, constant)
        near = rows
        if room:
            rows = self.row.rows(state.n_features, constant)
            places = np.arange(room, dtype=np.int32)
            near = CSR(self.row.data, places, self.row.indptr, room, constant)
        state.arrange_for(rows)
        self._arrays = arrays = state.weights, state.ledger, state.variance
        copies = near_w, near_u, near_sigma = tuple(_room(array, near) for array in arrays)
        copy = State(near_w, near_u, state.task, 1, state.by_feature, near_sigma)
        row = (rows, rows if room else None, self.row.data if room else self.values)
        target, weight = np.ones(1, np.int32), np.ones(1)
        self._target = target.data  # faster to set than an array
        self._weight: Any = weight.data
        self._sets = state.task.room_for_sets()  # the labels of the row, where it has a set
        if self._sets is not None:
            target[0] = 0
        examples = Examples(near, target, weight, sets=self._sets)
        order, lines = row_numbers(1), log or NO_LOG
        kernel, arguments = state.task.kernel_call(copy, examples, order, rule, zero, lines)
        self._visit = RowVisit(
            BoundCall(enter_row, *row, *arrays, *copies),
            BoundCall(kernel, *arguments, varying="c"),
            BoundCall(leave_row, rows, *arrays, *copies),
        )
        self._targets = state.task.targets(np.arange(state.n_classes)).tolist()
        self._scores = np.empty(state.n_classes if state.weights.ndim == 2 else 1)
        decided = (int(zero > 0), *arrays[:2], 1, near_w, self._scores)
        self._predict = BoundCall(predict_row, *row, near, *decided, varying="c")
        self._decide: Callable[..., int] | None = None  # once a row has been decided
        self._activate = BoundCall(activations, near, near_w, self._scores)

    def learns(self, state: State) -> bool:
        """Whether it changes this state, in the memory that it has now."""
        w, u, sigma = self._arrays
        same = w is state.weights and u is state.ledger and sigma is state.variance
        return same and state is self.state

    def learn(self, number: Any, weight: float = 1.0) -> int:
        """Learn from the row as one of this class; return RIGHT or MISTAKE.

        Where it may have several labels, ``number`` holds the numbers of those that it has.

        Where it cannot be learned nothing changes, and the answer says why: NOT_FINITE a value,
        OUT_OF_RANGE a feature, or an OVERFLOW of the weights.
        """
        if self._sets is None:
            self._target[0] = self._targets[number]
        else:
            members, ends = self._sets
            ends[1] = len(number)
            members[: len(number)] = number
        self._weight[0] = weight
        found = self._visit(self.state.count)
        if found <= MISTAKE:
            self.state.count += 1
        return found

    def learn_named(self, number: int, numbers: dict[Any, int], features: dict[Any, Any]) -> int:
        """Learn from a dict of weight 1, by the number of each name; or UNUSUAL: fill the row."""
        learn = self._visit.learn
        if learn is None:
            return UNUSUAL
        self._target[0] = self._targets[number]
        if self._weight[0] != 1.0:
            self._weight[0] = 1.0
        found = learn(self.state.count, self.row.native, numbers, features)
        if UNUSUAL < found <= MISTAKE:
            self.state.count += 1
        return found

    def predict_named(self, numbers: dict[Any, int], features: dict[Any, Any]) -> int:
        """Decide a dict, as ``predict`` a row; UNUSUAL where the row has to be filled."""
        if self._decide is None:
            return UNUSUAL
        return self._decide(self.state.count, self.row.native, numbers, features)

    def predict(self) -> int:
        """Return the number of the class that the row is decided to be.

        Where it cannot be decided the answer says why, as that of ``learn``, negative.
        """
        if self._decide is not None:
            return self._decide(self.state.count)
        number: int = self._predict(self.state.count)
        self._decide = machine_call("decide_row", self._predict)
        return number

    def scores(self) -> Any:
        """Return the activation of the row that was decided last, or a list of one a class."""
        if self.state.weights.ndim == 2:
            return self._scores.tolist()
        self._activate()
        return self._scores.item()


def _room(array: NDArray[Any] | None, near: Rows) -> Any:
    """Return room for the weights of the features of one row."""
    if array is None:
        return None
    if not near.sparse:
        return np.zeros_like(array)
    return np.zeros((near.shape[1] + 1, *array.shape[1:]))
