"""The support and the steps of a kernel perceptron as arrays of a model file, and back.

A file may be anybody's: whatever is read is checked before it is used.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators.kernel_choice import kernel_constant, limit_of
from rosenblatt.estimators.validation import DTYPES
from rosenblatt.kernels.dual import Steps, empty_steps
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.kernels.shapes import RowStore, take
from rosenblatt.training.dual.budget_state import BudgetState
from rosenblatt.training.dual.kernel import Kernel
from rosenblatt.training.dual.learning import State
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.dual.step_list import StepList

PREFIX = "kernel."
Arrays = dict[str, NDArray[Any]]


def arrays_of(state: State, kernel: Kernel) -> Arrays:
    """Return all that a file needs beside the parameters."""
    if callable(kernel.name):
        msg = (
            "A model file cannot hold a kernel that is a function: save a model with a named "
            "kernel, or keep this one with pickle."
        )
        raise InputError(msg)
    found = {"gamma": np.array([kernel.gamma]), "met": np.array([state.n_met], np.int64)}
    if isinstance(state, BudgetState):
        rows, by_age = state.rows, state.by_age
        found |= {
            "numbers": state.numbers,
            "labels": state.labels,
            "coef": state.slots.coef[by_age],
            "tuning": state.slots.tuning,
            "key": np.array([state.key], np.uint64),
        }
        if state.has_average:
            found["ledger"] = state.slots.ledger[by_age]
        if len(state.slots.matrix):
            found["matrix"] = state.slots.matrix[np.ix_(by_age, by_age)]
    else:
        rows = None if state.store is None else state.store.rows
        found |= {"numbers": state.numbers.values, "labels": state.labels.values}
        found |= {f"step.{name}": array for name, array in state.steps.values._asdict().items()}
    if isinstance(rows, CSR):
        found |= {f"rows.{name}": getattr(rows, name) for name in ("data", "indices", "indptr")}
    elif rows is not None:
        found["rows"] = rows.values
    return {f"{PREFIX}{name}": np.ascontiguousarray(array) for name, array in found.items()}


def state_of(estimator: Any, arrays: Arrays, count: int) -> tuple[State, Kernel]:
    """Return what such arrays say, for an estimator that has its parameters and classes."""
    found = Reading({name.removeprefix(PREFIX): array for name, array in arrays.items()})
    n_features, n_classes = estimator.n_features_in_, len(estimator.classes_)
    joint, limit = estimator.multi_class == "joint", limit_of(estimator)
    gamma = float(found.vector("gamma", np.float64, 1)[0])
    met = int(found.vector("met", np.int64, 1)[0])
    numbers = found.whole("numbers", None, met)
    labels = found.whole("labels", len(numbers), n_classes)
    if not (np.isfinite(gamma) and gamma > 0.0):
        found.fail(f"its gamma must be above 0; got {gamma}")
    kernel = Kernel(
        estimator.kernel,
        gamma,
        float(estimator.coef0),
        int(estimator.degree),
        kernel_constant(estimator),
    )
    given = estimator.kernel == "precomputed"
    rows = None if given or not len(numbers) else found.rows(len(numbers), n_features)
    if limit is None:
        state = DualState(n_features, n_classes, joint)
        if rows is not None:
            state.store = RowStore(rows)
        state.numbers.append(numbers)
        state.labels.append(labels)
        state.steps = StepList(found.steps(len(numbers), state.n_columns, count))
        state.count, state.n_met = count, met
        return state, kernel
    key = int(found.vector("key", np.uint64, 1)[0])
    kept = BudgetState.empty(n_features, n_classes, joint, limit, key)
    size = len(numbers)
    if size > limit.most:
        found.fail(f"it keeps {size} rows, and max_support is {limit.most}")
    kept.make_room(size)
    slots = kept.slots
    slots.coef[:size] = found.table("coef", (size, kept.n_columns))
    if kept.has_average:
        slots.ledger[:size] = found.table("ledger", (size, kept.n_columns))
    slots.tuning[:] = found.vector("tuning", np.float64, len(slots.tuning))
    if len(slots.matrix):
        slots.matrix[:size, :size] = found.table("matrix", (size, size))
    kept.rows, kept.numbers, kept.labels, kept.n_kept = rows, numbers, labels, size
    kept.count, kept.n_met = count, met
    return kept, kernel


class Reading:
    """Arrays by their names, each of which must be what it should."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def fail(self, clause: str) -> None:
        """Raise with what does not fit."""
        msg = f"its list of mistakes is damaged: {clause}."
        raise InputError(msg)

    def array(self, name: str, dtype: Any) -> NDArray[Any]:
        """Return an array, which must be there and of this type."""
        array = self._arrays.get(name)
        if array is None:
            self.fail(f"it has no {name!r}")
            raise AssertionError
        if array.dtype != dtype:
            self.fail(f"{name!r} must be {np.dtype(dtype)}; got {array.dtype}")
        return array

    def vector(self, name: str, dtype: Any, length: int | None) -> NDArray[Any]:
        """Return finite numbers in one dimension."""
        array = self.array(name, dtype)
        if array.ndim != 1 or (length is not None and len(array) != length):
            self.fail(f"{name!r} must hold {length} numbers; its shape is {array.shape}")
        if not np.isfinite(array).all():
            self.fail(f"{name!r} must be finite")
        return array

    def whole(
        self, name: str, length: int | None, end: int, dtype: Any = np.int64, least: int = 0
    ) -> NDArray[Any]:
        """Return whole numbers from ``least`` to end − 1."""
        array = self.vector(name, dtype, length)
        if len(array) and not (least <= array.min() and array.max() < end):
            self.fail(f"{name!r} must be from {least} to {end - 1}")
        return array

    def table(self, name: str, shape: tuple[int, int]) -> NDArray[Any]:
        """Return finite float64 numbers of this shape."""
        array = self.array(name, np.float64)
        if array.shape != shape or not np.isfinite(array).all():
            self.fail(f"{name!r} must be finite and of shape {shape}; its shape is {array.shape}")
        return array

    def steps(self, n_support: int, n_columns: int, count: int) -> Steps:
        """Return the list of steps."""
        kinds = [column.dtype for column in empty_steps(0)]
        size = self.vector("step.size", kinds[2], None)
        row = self.whole("step.row", len(size), n_support, kinds[0])
        column = self.whole("step.column", len(size), n_columns, kinds[1])
        seen = self.whole("step.seen", len(size), count, kinds[3], least=1)
        if (np.diff(seen) < 0).any():
            self.fail("its steps must come in the order of time")
        return Steps(row, column, size, seen)

    def rows(self, n_rows: int, n_features: int) -> Rows:
        """Return the support rows, dense or sparse."""
        if "rows" in self._arrays:
            values = self._arrays["rows"]
            if values.dtype not in DTYPES or values.shape != (n_rows, n_features):
                self.fail(f"its rows must be {n_rows} × {n_features} numbers")
            if not np.isfinite(values).all():
                self.fail("its rows must be finite")
            return Dense(np.ascontiguousarray(values), 0.0)
        data = self._arrays.get("rows.data")
        kind = np.float64 if data is None or data.dtype not in DTYPES else data.dtype
        data = self.vector("rows.data", kind, None)
        places = self._arrays.get("rows.indices")
        index: Any = np.int64 if places is not None and places.dtype == np.int64 else np.int32
        indices = self.whole("rows.indices", len(data), n_features, index)
        bounds = self._arrays.get("rows.indptr")
        index = np.int32 if bounds is not None and bounds.dtype == np.int32 else np.int64
        indptr = self.whole("rows.indptr", n_rows + 1, len(data) + 1, index)
        if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
            self.fail("its rows must begin where the one before ends")
        found = CSR(data, indices, indptr, n_features, 0.0)
        return take(found, np.arange(n_rows))
