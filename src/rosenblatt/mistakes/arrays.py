"""A list of mistakes as arrays of a model file, and back: of linear learners and kernel machines.

Files are not trusted: everything read is checked before use.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.budget import Limit
from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.kernels.shapes import GrowingArray, row_arrays
from rosenblatt.mistakes.budget import BudgetState
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.machine import DualState
from rosenblatt.mistakes.updates import Mistakes, Support

PREFIX = "mistakes."
KERNEL_PREFIX = "kernel."
VALUE_TYPES = (np.float64, np.float32, np.uint8)

Arrays = dict[str, NDArray[Any]]


def list_arrays(mistakes: Mistakes) -> Arrays:
    """Return the updates, and once each row that made one, under names for a file."""
    found = mistakes.updates._asdict()
    if mistakes.support is not None:
        found |= support_arrays(mistakes.support.numbers, mistakes.support.rows)
    return {f"{PREFIX}{name}": array.copy() for name, array in found.items()}


def support_arrays(numbers: NDArray[Any], rows: Rows | None) -> Arrays:
    """Return rows that taught, with their numbers in training, by name."""
    return {"numbers": numbers} | ({} if rows is None else row_arrays(rows))


def read_list(
    arrays: Mapping[str, NDArray[Any]], n_classes: int, n_features: int, constant: float, count: int
) -> Mistakes:
    """Return the updates of a linear learner up to a count of rows.

    Raises
    ------
    InputError
        Where they are not there, or cannot be.
    """
    found = ArrayReader(arrays, PREFIX)
    numbers = found.whole("numbers", None, np.iinfo(np.int64).max)
    support = Support(found.rows(len(numbers), n_features, constant), numbers)
    end = np.iinfo(np.int64).max
    updates = found.updates(len(numbers), n_classes, end, joint=True)
    mistakes = Mistakes(updates, count, support)
    return Mistakes(mistakes.before(count), count, support)  # early stopping may have gone back


def machine_arrays(state: DualState | BudgetState, kernel: Kernel) -> Arrays:
    """Return all that a file needs of a kernel machine beside its parameters."""
    if callable(kernel.name):
        msg = (
            "A model file cannot hold a kernel that is a function: save a model with a named "
            "kernel, or keep this one with pickle."
        )
        raise InputError(msg)
    found = {"gamma": np.array([kernel.gamma]), "met": np.array([state.n_met], np.int64)}
    found["labels"] = state.labels
    if isinstance(state, DualState):
        listed = list_arrays(state.mistakes)
    else:
        by_age = state.by_age
        support = support_arrays(state.numbers, state.rows)
        listed = {f"{PREFIX}{name}": array for name, array in support.items()}
        found |= {
            "coef": state.slots.coef[by_age],
            "tuning": state.slots.tuning,
            "key": np.array([state.key], np.uint64),
        }
        if state.has_average:
            found["ledger"] = state.slots.ledger[by_age]
        if len(state.slots.matrix):
            found["matrix"] = state.slots.matrix[np.ix_(by_age, by_age)]
    named = {f"{KERNEL_PREFIX}{name}": array for name, array in found.items()}
    return {name: np.ascontiguousarray(array) for name, array in (named | listed).items()}


def read_machine(
    arrays: Mapping[str, NDArray[Any]], kernel: Kernel, empty: DualState | BudgetState, count: int
) -> tuple[DualState | BudgetState, Kernel]:
    """Return what such arrays say, given the kernel but for its gamma, and the empty machine."""
    own, listed = ArrayReader(arrays, KERNEL_PREFIX), ArrayReader(arrays, PREFIX)
    n_features, n_classes = empty.n_features, empty.n_classes
    gamma = float(own.vector("gamma", np.float64, 1)[0])
    met = int(own.vector("met", np.int64, 1)[0])
    if not (np.isfinite(gamma) and gamma > 0.0):
        own.fail(f"its gamma must be above 0; got {gamma}")
    numbers = listed.whole("numbers", None, met)
    labels = own.whole("labels", len(numbers), n_classes)
    rows = None
    if kernel.name != "precomputed" and len(numbers):
        rows = listed.rows(len(numbers), n_features, kernel.constant)
    if isinstance(empty, DualState):
        joint = empty.joint and n_classes > 2
        updates = listed.updates(len(numbers), n_classes, count, joint=joint)
        empty.mistakes = Mistakes(updates, count, Support(rows, numbers))
        empty.classes = GrowingArray(labels)
    else:
        _read_slots(own, empty, len(numbers))
        empty.rows, empty.numbers, empty.labels = rows, numbers, labels
        empty.count = count
    empty.n_met = met
    return empty, replace(kernel, gamma=gamma)


def _read_slots(found: "ArrayReader", state: BudgetState, size: int) -> None:
    """Change the slots of an empty machine with a budget to those of a file."""
    limit: Limit = state.limit
    if size > limit.most:
        found.fail(f"it keeps {size} rows, and max_support is {limit.most}")
    state.key = int(found.vector("key", np.uint64, 1)[0])
    state.make_room(size)
    slots, width = state.slots, state.n_columns
    slots.coef[:size] = found.table("coef", (size, width))
    if state.has_average:
        slots.ledger[:size] = found.table("ledger", (size, width))
    slots.tuning[:] = found.vector("tuning", np.float64, len(slots.tuning))
    if len(slots.matrix):
        slots.matrix[:size, :size] = found.table("matrix", (size, size))
    state.n_kept = size


class ArrayReader:
    """Arrays by their names, each of which must be what it should."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], prefix: str) -> None:
        self._arrays = {
            name.removeprefix(prefix): array
            for name, array in arrays.items()
            if name.startswith(prefix)
        }

    def fail(self, clause: str) -> NoReturn:
        """Raise with what does not fit."""
        msg = f"The list of mistakes in the model is damaged: {clause}. Train it again."
        raise InputError(msg)

    def array(self, name: str, *dtypes: Any) -> NDArray[Any]:
        """Return an array, which must be there and of one of these types."""
        array = self._arrays.get(name)
        if array is None:
            self.fail(f"it has no {name!r}")
        if array.dtype not in dtypes:
            self.fail(f"{name!r} must be {np.dtype(dtypes[0])}; got {array.dtype}")
        return array

    def vector(self, name: str, dtype: Any, length: int | None) -> NDArray[Any]:
        """Return finite numbers in one dimension."""
        array = self.array(name, *(dtype if isinstance(dtype, tuple) else (dtype,)))
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

    def updates(self, n_support: int, n_classes: int, count: int, *, joint: bool) -> Log:
        """Return the updates, in the order of time."""
        kinds = dict(zip(Log._fields, (column.dtype for column in empty_log(0)), strict=True))
        tau = self.vector("tau", kinds["tau"], None)
        row = self.whole("row", len(tau), n_support, kinds["row"])
        seen = self.whole("seen", len(tau), count, kinds["seen"], least=1)
        if joint and n_classes > 2:
            least, end = 0, n_classes
        else:
            end = 2 if n_classes == 2 else n_classes + 1  # ±(column + 1)
            least = 1 - end
        label = self.whole("label", len(tau), end, kinds["label"], least)
        rival = self.whole("rival", len(tau), end, kinds["rival"], least)
        fits = label != rival if least == 0 else (label == -rival) & (label != 0)
        if not fits.all():
            self.fail("'label' and 'rival' must be different classes")
        if not (tau > 0.0).all():
            self.fail("'tau' must be above 0")
        one_at_a_time = joint or n_classes == 2  # else several learners may step at once
        if (np.diff(seen) < int(one_at_a_time)).any():
            self.fail("'seen' must ascend, in the order of time")
        return Log(row, label, rival, tau, seen)

    def rows(self, n_rows: int, n_features: int, constant: float) -> Rows:
        """Return the rows that taught, dense or sparse."""
        if "values" in self._arrays:
            values = self.array("values", *VALUE_TYPES)
            if values.shape != (n_rows, n_features) or not np.isfinite(values).all():
                self.fail(f"its rows must be {n_rows} × {n_features} finite numbers")
            return Dense(np.ascontiguousarray(values), constant)
        data = self.vector("data", VALUE_TYPES, None)
        indices = self.whole("indices", len(data), n_features, (np.int32, np.int64))
        indptr = self.whole("indptr", n_rows + 1, len(data) + 1, (np.int64, np.int32))
        if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
            self.fail("its rows must begin where the one before ends")
        return CSR(data, indices, indptr.astype(np.int64, copy=False), n_features, constant)
