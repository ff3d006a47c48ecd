"""A kernel machine as arrays of a model file, and back; files are not trusted here, either."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.stored_arrays import ArraySpec, StoredArrays
from rosenblatt.errors import InputError
from rosenblatt.kernels.shapes import GrowingArray
from rosenblatt.mistakes.arrays import (
    ABOVE_ZERO,
    KERNEL_PREFIX,
    LIST_ARRAYS,
    OWNER,
    PREFIX,
    Arrays,
    list_arrays,
    read_rows,
    read_updates,
    support_arrays,
)
from rosenblatt.mistakes.budget import BudgetState
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.machine import DualState
from rosenblatt.mistakes.updates import Mistakes, Support, n_columns

KERNEL_ARRAYS = {
    "gamma": ArraySpec((np.float64,), (1,), ABOVE_ZERO),
    "met": ArraySpec((np.int64,), (1,), 0),  # rows that came
    "labels": ArraySpec((np.int64,), ("rows",), 0, "classes"),
    "key": ArraySpec((np.uint64,), (1,)),
    "coef": ArraySpec((np.float64,), ("rows", "columns"), -inf),
    "ledger": ArraySpec((np.float64,), ("rows", "columns"), -inf),
    "matrix": ArraySpec((np.float64,), ("rows", "rows"), -inf),
    "tuning": ArraySpec((np.float64,), ("tuning",), -inf),
}


def machine_arrays(state: DualState | BudgetState, kernel: Kernel) -> Arrays:
    """Return all that a file needs of a kernel machine beside its parameters."""
    if callable(kernel.name):
        raise InputError(
            "A model file cannot hold a kernel that is a function: save a model with a named "
            "kernel, or keep this one with pickle."
        )
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
    """Fill an empty kernel machine from arrays; return it and the kernel with its gamma."""
    own = StoredArrays(arrays, KERNEL_ARRAYS, OWNER, KERNEL_PREFIX)
    listed = StoredArrays(arrays, LIST_ARRAYS, OWNER, PREFIX)
    n_features, n_classes = empty.n_features, empty.n_classes
    gamma, met = float(own["gamma"][0]), int(own["met"][0])
    listed.sizes |= {"met": met, "start": 1, "count": count}
    numbers = listed["numbers"]
    own.sizes |= {"rows": len(numbers), "classes": n_classes}
    labels, rows = own["labels"], None
    if kernel.name != "precomputed" and len(numbers):
        rows = read_rows(listed, n_features, kernel.constant)
    if isinstance(empty, DualState):
        updates = read_updates(listed, n_columns(n_classes), joint=empty.pairs)
        empty.mistakes = Mistakes(updates, count, Support(rows, numbers))
        empty.classes = GrowingArray(labels)
    else:
        _read_slots(own, empty, len(numbers))
        empty.rows, empty.numbers, empty.labels = rows, numbers, labels
        empty.count = count
    empty.n_met = met
    return empty, replace(kernel, gamma=gamma)


def _read_slots(found: StoredArrays, state: BudgetState, size: int) -> None:
    """Change the slots of an empty machine with a budget to those of a file."""
    found.check("max_support", size <= state.limit.most)
    state.key = int(found["key"][0])
    state.make_room(size)
    slots = state.slots
    found.sizes |= {"columns": state.n_columns, "tuning": len(slots.tuning)}
    slots.coef[:size] = found["coef"]
    if state.has_average:
        slots.ledger[:size] = found["ledger"]
    slots.tuning[:] = found["tuning"]
    if len(slots.matrix):
        slots.matrix[:size, :size] = found["matrix"]
    state.n_kept = size
