"""A kernel machine as arrays of a model file, and back; files are not trusted here, either."""

from collections.abc import Mapping
from dataclasses import replace
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
)
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.machine import DualState
from rosenblatt.mistakes.updates import Mistakes, Support, n_columns

KERNEL_ARRAYS = {
    "gamma": ArraySpec((np.float64,), (1,), ABOVE_ZERO),
    "met": ArraySpec((np.int64,), (1,), 0),  # rows that came
    "labels": ArraySpec((np.int64,), ("rows",), 0, "classes"),
}


def machine_arrays(state: DualState, kernel: Kernel) -> Arrays:
    """Return all that a file needs of a kernel machine beside its parameters."""
    if callable(kernel.name):
        raise InputError(
            "A model file cannot hold a kernel that is a function: save a model with a named "
            "kernel, or keep this one with pickle."
        )
    found = {"gamma": np.array([kernel.gamma]), "met": np.array([state.n_met], np.int64)}
    found["labels"] = state.row_classes
    listed = list_arrays(state.mistakes)
    named = {f"{KERNEL_PREFIX}{name}": array for name, array in found.items()}
    return {name: np.ascontiguousarray(array) for name, array in (named | listed).items()}


def read_machine(
    arrays: Mapping[str, NDArray[Any]], kernel: Kernel, empty: DualState, count: int
) -> tuple[DualState, Kernel]:
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
    updates = read_updates(listed, n_columns(n_classes), joint=empty.pairs)
    mistakes = Mistakes(updates, count, Support(rows, numbers))
    filled = replace(empty, mistakes=mistakes, classes=GrowingArray(labels), n_met=met)
    return filled, replace(kernel, gamma=gamma)
