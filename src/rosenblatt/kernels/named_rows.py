"""Room for one sparse row, and the way into it from a dict of named features.

Python's own loop over 30 names takes as long as river takes to learn from them; so the way is
machine code that asks Python for the items of a dict. ``fill_in_python`` defines what it does.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rosenblatt.kernels import compiling
from rosenblatt.kernels.compiling import calling
from rosenblatt.kernels.rows import CSR

EMITTER = "rosenblatt.kernels.emission.named_rows"
BUILTINS = ("fill_row",)

# The desk of a row: where its arrays stand, room for an item of the dict, and the types it knows.
DATA, INDICES, INDPTR, ROOM, POSITION, KEY, VALUE = range(0, 7 * 8, 8)
TEXT, WHOLE, DECIMAL, BOOLEAN, NUMPY_DECIMAL = range(7 * 8, 12 * 8, 8)
TYPES = (str, int, float, bool, np.float64)
NAMES, PLAIN_VALUES = (str, int), (float, np.float64, int, bool)

SHORT = 128  # features; longer rows are sorted before a kernel does it by insertion

Numbers = dict[Any, int]
Features = dict[Any, Any]


class SingleRow:
    """Room for one row of a CSR matrix of float64, with up to ``room`` features.

    >>> row = SingleRow(4)
    >>> row.fill({"a": 0, "b": 7}, {"b": 0.5, "a": 2})
    True
    >>> row.indices[:2], row.data[:2]
    (array([7, 0], dtype=int32), array([0.5, 2. ]))
    >>> row.fill({"a": 0, "b": 7}, {"c": 1})
    False
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.data, self.indices = np.zeros(room), np.zeros(room, np.int32)
        self.indptr = np.zeros(2, np.int32)
        places = [array.ctypes.data for array in (self.data, self.indices, self.indptr)]
        self._desk = (ctypes.c_int64 * 12)(*places, room, 0, 0, 0, *map(id, TYPES))
        self.address = ctypes.addressof(self._desk)

    def rows(self, n_features: int, constant: float) -> CSR:
        """Return the row as kernels read it, without a copy."""
        return CSR(self.data, self.indices, self.indptr, n_features, constant)

    def fill(self, numbers: Numbers, features: Features) -> bool:
        """Write the row of a dict, in its order, by the number of each name.

        Returns False where that takes more than a look: at a name that has no number, at a name or
        value of another type than words and plain numbers, and where there is too little room.
        """
        fill = machine_fill()
        if fill is None:
            fitted = fill_in_python(self, numbers, features)
        else:
            fitted = fill(self.address, numbers, features) == 1
        if len(features) > SHORT and fitted:
            n = len(features)
            self.put(self.indices[:n].copy(), self.data[:n].copy())
        return fitted

    def put(self, indices: Any, data: Any) -> None:
        """Write a row that fits, feature by feature; a long one is sorted on the way."""
        n = len(indices)
        if n > SHORT:
            order = np.argsort(indices, kind="stable")
            indices, data = np.asarray(indices)[order], np.asarray(data)[order]
        self.indices[:n], self.data[:n] = indices, data
        self.indptr[1] = n


def fill_in_python(row: SingleRow, numbers: Numbers, features: Features) -> bool:
    """Do what ``SingleRow.fill`` does."""
    n = 0
    for name, value in features.items():
        if type(name) not in NAMES or name not in numbers or type(value) not in PLAIN_VALUES:
            return False
        if n == row.room or (type(value) is int and not -(2**63) <= value < 2**63):
            return False
        row.indices[n], row.data[n] = numbers[name], value
        n += 1
    row.indptr[1] = n
    return True


@cache
def machine_fill() -> Callable[[int, Numbers, Features], int] | None:
    """Return ``fill`` as machine code; None where there is none that does what it should."""
    fill: Any = None if compiling.PLAIN else calling.builtin(EMITTER, BUILTINS[0])
    return fill if fill is not None and _agrees(fill) else None


def _agrees(fill: Callable[[int, Numbers, Features], int]) -> bool:
    """Whether machine code makes of dicts what plain Python makes of them."""
    numbers = {"a": 3, "b": 1, 7: 2}
    for features in (
        *({}, {"b": 0.25, "a": True, 7: -5}, {"a": np.float64(1e-300)}),
        *({"a": 1.0, "c": 2.0}, {"a": None}, {"a": 1 << 64}, {("a",): 1.0}),
        {"a": 1, "b": 2, 7: 3, "c": 4},
    ):
        one, other = SingleRow(3), SingleRow(3)
        fitted = fill(one.address, numbers, features) == 1
        if fitted != fill_in_python(other, numbers, features):
            return False
        arrays = zip(one.rows(4, 1.0)[:3], other.rows(4, 1.0)[:3], strict=True)
        if fitted and not all(np.array_equal(ours, theirs) for ours, theirs in arrays):
            return False
    return True
