"""A dict of named features that becomes a sparse row, and a row that is learned from or decided.

All are built-in functions of Python.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.kernels.compiling.forms import RESULT_WORDS
from rosenblatt.kernels.compiling.target import kernel_jit
from rosenblatt.kernels.emission.calling import (
    INT32,
    NUMBER,
    TYPE,
    PyErr_Occurred,
    PyLong_AsLongLong,
    PyLong_FromLongLong,
    call,
    put,
    python_function,
    word,
)
from rosenblatt.kernels.single_rows import (
    BOOLEAN,
    COMPLETE,
    DATA,
    DECIMAL,
    FRAME_HEAD,
    FRAME_WORDS,
    INDICES,
    INDPTR,
    KEY,
    KNOWN,
    LIST,
    MISTAKE,
    NUMBERS,
    NUMPY_DECIMAL,
    OVERFLOW,
    PLACES,
    POSITION,
    RANKED,
    RANKS,
    RIGHT,
    ROOM,
    SHORT,
    TEXT,
    UNUSUAL,
    VALUE,
    WHOLE,
)

EXPONENT = 0x7FF << 52  # its bits in a double, all set where that is not finite

PyDict_Next = python_function("PyDict_Next", 4)
PyDict_GetItemWithError = python_function("PyDict_GetItemWithError", 2)
PyDict_Size = python_function("PyDict_Size", 1)
PyList_SetItem = python_function("PyList_SetItem", 3)
Py_IncRef = python_function("Py_IncRef", 1, returns=False)
PyErr_Clear = python_function("PyErr_Clear", 0, returns=False)


@intrinsic  # type: ignore[untyped-decorator]
def put_half(typing_context: Any, address: Any, value: Any) -> Any:
    """Write the lower 32 bits of a word to an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], INT32.as_pointer())
        builder.store(builder.trunc(arguments[1], INT32), place)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def put_as_double(typing_context: Any, address: Any, value: Any) -> Any:
    """Write a whole number to an address as a double."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        place = builder.inttoptr(arguments[0], double.as_pointer())
        builder.store(builder.sitofp(arguments[1], double), place)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@kernel_jit
def rank_places(places: int, n: int, ranks: int) -> None:
    """Write where each number stands among all; of equal ones, the first stands first."""
    for i in range(n):
        rank, own = 0, word(places + 8 * i)
        for k in range(n):
            other = word(places + 8 * k)
            if other < own or (other == own and k < i):
                rank += 1
        put(ranks + 8 * i, rank)


@kernel_jit
def put_value(desk: int, value: int, place: int) -> bool:
    """Write a number as a double; return whether it is one of a plain type."""
    kind = word(value + TYPE)
    if kind == word(desk + DECIMAL) or kind == word(desk + NUMPY_DECIMAL):
        put(place, word(value + NUMBER))
    elif kind == word(desk + WHOLE) or kind == word(desk + BOOLEAN):
        whole = PyLong_AsLongLong(value)
        if whole == -1 and PyErr_Occurred() != 0:  # more than 64 bits
            PyErr_Clear()
            return False
        put_as_double(place, whole)
    else:
        return False
    return True


@kernel_jit
def filled(desk: int, numbers: int, features: int, skips: int) -> bool:
    """Write the numbers and values of the features of a dict to a row; return whether all fitted.

    Names are exact words or whole numbers, so that to look them up runs no other code. By numbers
    that the row remembers, a name that is the very object of the row before, at the same place, is
    not looked up; and where a row has all names of the one before, they are put in order at once.
    With ``skips`` a name without a number is left out, but for what its value is.
    """
    data, indices, room = word(desk + DATA), word(desk + INDICES), word(desk + ROOM)
    known, places, ranks = word(desk + KNOWN), word(desk + PLACES), word(desk + RANKS)
    remembers = numbers == word(desk + NUMBERS)
    ranked = remembers and PyDict_Size(features) == word(desk + RANKED)
    new = not remembers
    n = 0
    put(desk + POSITION, 0)
    while PyDict_Next(features, desk + POSITION, desk + KEY, desk + VALUE) & 0xFFFFFFFF:
        name, value = word(desk + KEY), word(desk + VALUE)
        if n == room:
            return False
        place, target = word(places + 8 * n), n
        if not remembers or name != word(known + 8 * n):
            new = True
            put(desk + RANKED, 0)
            if ranked:  # once more, in the order of the dict
                ranked, n = False, 0
                put(desk + POSITION, 0)
                continue
            kind = word(name + TYPE)
            if kind != word(desk + TEXT) and kind != word(desk + WHOLE):
                return False
            number = PyDict_GetItemWithError(numbers, name)
            if number == 0:
                scratch = data + 8 * n
                usual = skips != 0 and put_value(desk, value, scratch)
                if usual and word(scratch) & EXPONENT != EXPONENT:
                    continue
                return False
            place = PyLong_AsLongLong(number)
            if remembers:
                put(known + 8 * n, name)
                put(places + 8 * n, place)
                Py_IncRef(name)  # the list takes it over
                PyList_SetItem(word(desk + LIST), n, name)
        elif ranked:
            target = word(ranks + 8 * n)
        put_half(indices + 4 * target, place)
        if not put_value(desk, value, data + 8 * target):
            return False
        n += 1
    put(word(desk + INDPTR) + 8, n)
    if not new and word(desk + RANKED) == 0 and n <= SHORT:
        rank_places(places, n, ranks)
        put(desk + RANKED, n)
    return True


def fill_row(unused: int, arguments: int, n_arguments: int) -> Any:
    """Write the features of a dict to a row; return whether all fitted, else it is left to Python.

    Python calls this with the address of a desk, see ``SingleRow``, the dict of numbers by name,
    and the dict of values by name.
    """
    desk = PyLong_AsLongLong(word(arguments))
    fitted = filled(desk, word(arguments + 8), word(arguments + 16), 0)
    return PyLong_FromLongLong(1 if fitted else 0)


@kernel_jit
def run_again(filled: int) -> Any:
    """Run machine code on a frame that may have a result in it; see ``FilledFrame``."""
    code, frame = word(filled), word(filled + 8)
    for k in range(RESULT_WORDS):
        put(frame + 8 * k, word(filled + 8 * (FRAME_HEAD + k)))
    return call(code, frame)


@kernel_jit
def learned(enter: int, count: int) -> Any:
    """Enter a row, make a pass over it and leave it; return what it was."""
    visit, leave = enter + 8 * FRAME_WORDS, enter + 16 * FRAME_WORDS
    run_again(enter)
    found = word(word(enter + 8))
    if found != RIGHT:
        return found
    counts = word(visit + 8)
    put(counts + 8 * word(visit + 16), count)
    run_again(visit)
    found = MISTAKE if word(counts) > 0 else RIGHT
    if word(counts + 8) > 0:  # updates
        if word(counts + 16) & EXPONENT == EXPONENT:  # the loss is not finite
            return OVERFLOW
        run_again(leave)
        if word(word(leave + 8)) != RIGHT:
            return OVERFLOW
    return found


def learn_row(unused: int, arguments: int, n_arguments: int) -> Any:
    """Learn from a row; return what it was, as ``RowVisit.in_python``.

    Python calls this with the address of three filled frames, and Algorithm 7's counter.
    """
    enter, count = PyLong_AsLongLong(word(arguments)), PyLong_AsLongLong(word(arguments + 8))
    return PyLong_FromLongLong(learned(enter, count))


@kernel_jit
def filled_short(arguments: int, decides: int) -> Any:
    """Fill a row by the last three arguments, those of ``fill_row``, where it is short."""
    desk, features = PyLong_AsLongLong(word(arguments + 16)), word(arguments + 32)
    skips = word(desk + COMPLETE) & decides
    return PyDict_Size(features) <= SHORT and filled(desk, word(arguments + 24), features, skips)


def learn_named(unused: int, arguments: int, n_arguments: int) -> Any:
    """Fill a row and learn from it: the arguments of ``learn_row``, then those of ``fill_row``."""
    enter, count = PyLong_AsLongLong(word(arguments)), PyLong_AsLongLong(word(arguments + 8))
    found = learned(enter, count) if filled_short(arguments, 0) else UNUSUAL
    return PyLong_FromLongLong(found)


@kernel_jit
def decided(visit: int, count: int) -> Any:
    """Return what a kernel decides a row to be."""
    frame = word(visit + 8)
    put(frame + 8 * word(visit + 16), count)
    run_again(visit)
    return word(frame)


def decide_row(unused: int, arguments: int, n_arguments: int) -> Any:
    """Return what a row is decided to be: Python calls this with a filled frame and the counter."""
    visit, count = PyLong_AsLongLong(word(arguments)), PyLong_AsLongLong(word(arguments + 8))
    return PyLong_FromLongLong(decided(visit, count))


def predict_named(unused: int, arguments: int, n_arguments: int) -> Any:
    """Fill a row and decide it: the arguments of ``decide_row``, then those of ``fill_row``."""
    visit, count = PyLong_AsLongLong(word(arguments)), PyLong_AsLongLong(word(arguments + 8))
    found = decided(visit, count) if filled_short(arguments, 1) else UNUSUAL
    return PyLong_FromLongLong(found)
