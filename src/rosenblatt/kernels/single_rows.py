"""Room for one sparse row, the way into it from a dict of named features, and the call to learn.

Python's own loop over 30 names takes as long as river takes to learn from them; so the way is
machine code that asks Python for the items of a dict. ``fill_in_python`` defines what it does, and
``RowVisit.in_python`` what learning from a row is.
"""

import ctypes
from collections.abc import Callable
from functools import cache, partial
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.kernels import compiling
from rosenblatt.kernels.compiling import BoundCall, calling
from rosenblatt.kernels.compiling.forms import RESULT_WORDS
from rosenblatt.kernels.rows import CSR

EMITTER = "rosenblatt.kernels.emission.single_rows"
BUILTINS = ("fill_row", "learn_row", "decide_row", "learn_named", "predict_named")

RIGHT, MISTAKE, NOT_FINITE, OVERFLOW, OUT_OF_RANGE, TOO_LARGE = range(6)  # what a row was
UNUSUAL = -1  # nothing was done, since it takes more than a look

# Layout of the struct shared with compiled code: arrays of the row, one dict item, known types.
DATA, INDICES, INDPTR, ROOM, POSITION, KEY, VALUE = range(0, 7 * 8, 8)
TEXT, WHOLE, DECIMAL, BOOLEAN, NUMPY_DECIMAL = range(7 * 8, 12 * 8, 8)
NUMBERS, KNOWN, PLACES, RANKS, RANKED, LIST, COMPLETE = range(12 * 8, 19 * 8, 8)  # its memory
TYPES = (str, int, float, bool, np.float64)
NAMES, PLAIN_VALUES = (str, int), (float, np.float64, int, bool)

# A filled frame: code, address, place of the word that varies, and the words that a result takes.
FRAME_HEAD = 3
FRAME_WORDS = FRAME_HEAD + RESULT_WORDS

SHORT = 128  # features; longer rows are sorted before a kernel does it by insertion

Numbers = dict[Any, int]
Features = dict[Any, Any]
NamedCall = Callable[[int, int, Numbers, Features], int]  # of counter and address of a row


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
        places = [array.ctypes.data for array in (self.data, self.indices, self.indptr)]
        self._names: list[Any] = [None] * room  # of the row before: their addresses are in use
        self._memory = np.zeros((3, room), np.int64)  # their addresses, numbers and ranks
        self._numbers: Numbers | None = None
        memory = (0, *(part.ctypes.data for part in self._memory), 0, id(self._names), 0)
        self._desk = (ctypes.c_int64 * 19)(*places, room, 0, 0, 0, *map(id, TYPES), *memory)
        self.address = ctypes.addressof(self._desk)

    def remember(self, numbers: Numbers, *, complete: bool = False) -> None:
        """Have rows by these numbers filled faster that have the names of the row before.

        That is for good: a name that has a number there has to keep it. Where they are complete,
        names that have none count for nothing in a decision.
        """
        self._numbers = numbers
        self._memory[:] = 0
        for place, value in ((NUMBERS, id(numbers)), (RANKED, 0), (COMPLETE, int(complete))):
            self._desk[place // 8] = value

    def rows(self, n_features: int, constant: float) -> CSR:
        """Return the row as kernels read it, without a copy."""
        return CSR(self.data, self.indices, self.indptr, n_features, constant)

    def fill(self, numbers: Numbers, features: Features) -> bool:
        """Write the row of a dict, by the number of each name: in its order, or in that of numbers.

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

    def items(self) -> list[tuple[int, float]]:
        """Return the features and their values, in order."""
        n = self.indptr[1]
        return sorted(zip(self.indices[:n].tolist(), self.data[:n].tolist(), strict=True))

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
        self._frames: FilledFrames | None = None  # once all three have been called
        self._learn = machine_builtin("learn_row")

    def __call__(self, count: int) -> int:
        """Learn from the row with Algorithm 7's counter at ``count``; return what it was."""
        if self._frames is not None:
            found: int = self._learn(self._frames.address, count)
            return found
        found = self.in_python(count)
        if self._learn is not None:
            self._frames = filled_frames(*self._calls)
        return found

    def named(self) -> NamedCall | None:
        """Return a call that fills a row by a dict and learns from it, once there can be one."""
        named: NamedCall | None = framed_call("learn_named", self._frames)
        return named

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


class FilledFrames(NamedTuple):
    """The filled frames of some calls, one behind the other, for machine code."""

    address: int
    words: Any  # that stand there


def filled_frames(*calls: BoundCall) -> FilledFrames | None:
    """Return the frames of calls, or None before all were made."""
    words: list[int] = []
    for call in calls:
        if call.frame is None:
            return None
        words += (*call.frame[:FRAME_HEAD], *call.frame.head)
    room = (ctypes.c_int64 * len(words))(*words)
    return FilledFrames(ctypes.addressof(room), room)


def framed_call(name: str, frames: FilledFrames | None) -> Any:
    """Return a call of a function with these frames, which have to live as long as it, or None."""
    call = machine_builtin(name)
    return None if call is None or frames is None else partial(call, frames.address)


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
def machine_builtin(name: str) -> Any:
    """Return a function as machine code, or None without machine code."""
    return None if compiling.PLAIN else calling.builtin(EMITTER, name)


@cache
def machine_fill() -> Callable[[int, Numbers, Features], int] | None:
    """Return ``fill`` as machine code; None where there is none that does what it should."""
    fill = machine_builtin("fill_row")
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
        for turn in range(4):  # plainly, looked up, remembered, in order
            fitted = fill(one.address, numbers, features) == 1
            if fitted != fill_in_python(other, numbers, features):
                return False
            if fitted and one.items() != other.items():
                return False
            if turn == 0:
                one.remember(numbers)
    return True
