"""Room for one sparse row, the way into it from a dict of named features, and the call to learn.

Python's own loop over 30 names takes as long as river takes to learn from them; so ``_machine.c``
does all three at once. ``fill_in_python`` and ``RowVisit.in_python`` define what it does.
"""

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from rosenblatt.kernels.compiling import BoundCall
from rosenblatt.kernels.compiling.calling import machine
from rosenblatt.kernels.rows import CSR

RIGHT, MISTAKE, NOT_FINITE, OVERFLOW, OUT_OF_RANGE, TOO_LARGE = range(6)  # what a row was
UNUSUAL = -1  # nothing was done, since it takes more than a look

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
        self.indptr = np.zeros(2, np.int64)
        arrays = (self.data, self.indices, self.indptr)
        self.native = machine.row(*arrays) if machine else None

    def remember(self, numbers: Numbers, *, complete: bool = False) -> None:
        """Have rows by these numbers filled faster that have the names of the row before.

        That is for good: a name that has a number there has to keep it. Where they are complete,
        names that have none count for nothing in a decision.
        """
        if machine:
            machine.remember(self.native, numbers, complete)

    def rows(self, n_features: int, constant: float) -> CSR:
        """Return the row as kernels read it, without a copy."""
        return CSR(self.data, self.indices, self.indptr, n_features, constant)

    def fill(self, numbers: Numbers, features: Features) -> bool:
        """Write the row of a dict, by the number of each name: in its order, or in that of numbers.

        Returns False where that takes more than a look: at a name that has no number, at a name or
        value of another type than words and plain numbers, and where there is too little room.
        """
        fitted: bool
        if machine:
            fitted = machine.fill_row(self.native, numbers, features)
        else:
            fitted = fill_in_python(self, numbers, features)
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


class RowVisit:
    """Entering a row, a pass over it and leaving it, as one call.

    The three are bound calls of kernels: ``enter`` returns what is wrong with the row, the pass is
    one of ``varying="c"``, and ``leave`` says whether the weights are finite.
    """

    def __init__(self, enter: BoundCall, pass_: BoundCall, leave: BoundCall) -> None:
        self._calls = enter, pass_, leave
        self.learn: Callable[..., int] | None = None  # once all three have been called

    def __call__(self, count: int) -> int:
        """Learn from the row with Algorithm 7's counter at ``count``; return what it was."""
        if self.learn is not None:
            return self.learn(count)
        found = self.in_python(count)
        self.learn = machine_call("learn_row", *self._calls)
        return found

    def in_python(self, count: int) -> int:
        """Do what the call does."""
        enter, pass_, leave = self._calls
        found: int = enter()
        if found != RIGHT:
            return found
        mistakes, updates, loss = pass_(count)
        if updates and (not isfinite(loss) or leave() != RIGHT):
            return OVERFLOW
        return MISTAKE if mistakes else RIGHT


def machine_call(name: str, *calls: BoundCall) -> Callable[..., int] | None:
    """Return a function of the C module for these calls; None before all were made.

    It takes Algorithm 7's counter; and a row, numbers and features, by which the row is filled
    first, or UNUSUAL is returned.
    """
    bounds = [call.bound for call in calls]
    return None if machine is None or None in bounds else partial(getattr(machine, name), *bounds)


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
