"""A fast path for one row at a time, on the weights of an estimator.

A row of a known form is written to a buffer and learned from or decided in a few microseconds. All
others take the general path, which also raises the errors: a row of another length, with a NaN,
with other column names, of a new class.
"""

import os
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.single_rows import MISTAKE
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.models.online_weights import FIRST_ROOM, row_learner
from rosenblatt.training.online import RowLearner

NUMBERS = "fiub"  # NumPy's kinds of what is converted to float64 without a thought
LIBRARIES = ("scipy", "pandas", "polars")
ROWS = (np.ndarray, list, tuple)
WEIGHTS = (float, int, np.float64)

_paths: "WeakKeyDictionary[Any, SingleRowPath]" = WeakKeyDictionary()
if hasattr(os, "register_at_fork"):  # a thread that held a lock is not in the child
    os.register_at_fork(after_in_child=_paths.clear)


def learn_single_row(
    estimator: Any,
    learner: Learner,
    X: Any,
    y: Any,
    classes: Any = None,
    sample_weight: Any = None,
) -> bool:
    """Learn from one row of a known form; return whether it did, else nothing has changed."""
    path = _path(estimator, learner)
    return path is not None and path.learn(X, y, classes, sample_weight)


def predict_single_row(estimator: Any, X: Any) -> NDArray[Any] | None:
    """Return the label of one row of a known form, else None."""
    path = _paths.get(estimator)
    if path is None or path.model is not estimator._model:  # noqa: SLF001  # ours
        learner = vars(estimator).get("_checked", (None, None))[1]
        path = None if learner is None else _path(estimator, learner)
    learner = None if path is None else path.learner
    if learner is None or (learner.zero, learner.fit_intercept) != (
        estimator.zero,
        estimator.fit_intercept,
    ):
        return None
    return None if path is None else path.predict(X)


def _path(estimator: Any, learner: Learner) -> "SingleRowPath | None":
    """Return the path of an estimator with its present model and learner, or None."""
    path, model = _paths.get(estimator), estimator._model  # noqa: SLF001  # ours
    if path is None or path.model is not model or path.learner is not learner:
        if learner.records or model.encodes or len(model.classes) < 2 or estimator.class_weight:
            return None
        names = getattr(estimator, "feature_names_in_", None)
        path = SingleRowPath(model, learner, None if names is None else names.tolist())
        _paths[estimator] = path
    return path


def single(values: Any) -> Any:
    """Return the only item of a list, an array or a series; None if there are others or none."""
    if type(values) in (list, tuple):
        return values[0] if len(values) == 1 else None
    return values.item() if getattr(values, "shape", None) == (1,) else None


class SingleRowPath:
    """Learns from single rows by the state of an estimator; one thread at a time has the buffer."""

    def __init__(self, model: Model, learner: Learner, names: list[str] | None) -> None:
        self.model, self.learner, self.state = model, learner, model.state
        self._width = model.state.n_features
        self._labels = model.labels
        self._numbers = {label: number for number, label in enumerate(model.labels.tolist())}
        self._names = names
        self._columns: Any = None  # of pandas, which had the right names
        self._rows: RowLearner | None = None
        self._lock = Lock()

    def learn(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> bool:
        """Learn from a row; return whether its form was known, else nothing has changed."""
        number = self._known_number(single(y))
        weight = 1.0 if sample_weight is None else single(sample_weight)
        model, learner, state = self.model, self.learner, self.state
        if (
            number is None
            or not (type(weight) in WEIGHTS and 0.0 < weight < np.inf)
            or not self._knows(classes)
            or (state.ledger is not None) != learner.averaged
            or not model.record.of_arrays
            # whether a row that was right moved the weights is told on the long way alone
            or (model.outcome["stop_reason"] != "max_iter" and learner.rule != "perceptron")
        ):
            return False
        with self._lock:
            rows = self._row(X)
            found = MISTAKE + 1 if rows is None else rows.learn(number, weight)
        if found > MISTAKE:
            return False
        model.learned_on(1, found, moved=found > 0)
        return True

    def predict(self, X: Any) -> NDArray[Any] | None:
        """Return the label of a row in an array, or None for a row of another form."""
        with self._lock:
            rows = self._row(X)
            number = -1 if rows is None else rows.predict()
        return None if number < 0 else self._labels[number : number + 1].copy()

    def _known_number(self, label: Any) -> int | None:
        """Return the number of a class, or None where that is not known."""
        try:
            return self._numbers.get(label)
        except TypeError:  # not even a label
            return None

    def _knows(self, classes: Any) -> bool:
        """Whether none of the classes that are named is a new one."""
        if classes is None:
            return True
        if isinstance(classes, np.ndarray):
            classes = classes.tolist()
        return type(classes) in ROWS and all(self._known_number(one) is not None for one in classes)

    def _row(self, X: Any) -> RowLearner | None:
        """Return what learns from a row, with the row in its buffer; None for another form."""
        kind = type(X)
        if kind is np.ndarray or kind is list:
            usual = kind is list or (X.dtype.kind in NUMBERS and X.ndim == 2)
            usual = usual and self._names is None and len(X) == 1
            return self._dense(X[0]) if usual else None
        library = kind.__module__.partition(".")[0]
        if library not in LIBRARIES or X.shape != (1, self._width):
            return None
        if library == "scipy":
            return self._sparse(X) if self._names is None and X.format == "csr" else None
        return None if self._names is None else self._framed(X, library)

    def _dense(self, x: Any) -> RowLearner | None:
        if type(x) not in ROWS or len(x) != self._width or not self._takes(sparse=False):
            return None
        rows = self._buffer()
        try:
            rows.dense[...] = x
        except (TypeError, ValueError, OverflowError):
            return None
        return rows

    def _sparse(self, X: Any) -> RowLearner | None:
        data, indices, indptr = X.data, X.indices, X.indptr
        usual = data.dtype.kind in NUMBERS and indices.dtype == np.int32 and indptr[0] == 0
        if not usual or not len(data) == len(indices) == indptr[1]:
            return None
        if not self._takes(sparse=True):
            return None
        rows = self._buffer(len(data), sparse=True)
        rows.row.put(indices, data)
        return rows

    def _framed(self, X: Any, library: str) -> RowLearner | None:
        """Take a row of pandas or of polars, whose names are those of training."""
        columns = X.columns
        if library == "polars":
            return self._dense(X.row(0)) if columns == self._names else None
        if self._columns is None or not columns.is_(self._columns):  # the same, or a view of them
            if columns.tolist() != self._names:
                return None
            self._columns = columns
        values = X.to_numpy()
        return self._dense(values[0]) if values.dtype.kind in NUMBERS else None

    def _takes(self, *, sparse: bool) -> bool:
        """Return whether the weights are laid out for rows of this kind."""
        return self.state.n_classes == 2 or self.state.by_feature == sparse

    def _buffer(self, n_values: int = 0, *, sparse: bool = False) -> RowLearner:
        """Return what learns a dense row, or one of so many values, in its buffer."""
        rows = self._rows
        if (
            rows is None
            or not rows.learns(self.state)
            or (rows.row.room > 0) != sparse
            or rows.row.room < n_values
        ):
            room = max(FIRST_ROOM, 2 * n_values) if sparse else 0
            self._rows = rows = row_learner(self.learner, self.state, room)
        return rows
