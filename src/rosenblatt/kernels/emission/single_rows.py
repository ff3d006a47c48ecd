"""A dict of named features that becomes a sparse row, and a row that is learned from.

Both are built-in functions of Python.
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
    DATA,
    DECIMAL,
    FRAME_HEAD,
    FRAME_WORDS,
    INDICES,
    INDPTR,
    KEY,
    MISTAKE,
    NUMPY_DECIMAL,
    OVERFLOW,
    POSITION,
    RIGHT,
    ROOM,
    TEXT,
    VALUE,
    WHOLE,
)

EXPONENT = 0x7FF << 52  # its bits in a double, all set where that is not finite

PyDict_Next = python_function("PyDict_Next", 4)
PyDict_GetItemWithError = python_function("PyDict_GetItemWithError", 2)
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


def fill_row(unused: int, arguments: int, n_arguments: int) -> Any:
    """Write the numbers and values of the features of a dict to a row; return whether all fitted.

    Python calls this with the address of a desk, see ``SingleRow``, the dict of numbers by name,
    and the dict of values by name. It returns 0 at anything unusual, which is left to Python. Names
    are exact words or whole numbers, so that to look them up runs no other code.
    """
    desk = PyLong_AsLongLong(word(arguments))
    numbers, features = word(arguments + 8), word(arguments + 16)
    data, indices, room = word(desk + DATA), word(desk + INDICES), word(desk + ROOM)
    n = 0
    put(desk + POSITION, 0)
    while PyDict_Next(features, desk + POSITION, desk + KEY, desk + VALUE) & 0xFFFFFFFF:
        name, value = word(desk + KEY), word(desk + VALUE)
        kind = word(name + TYPE)
        if n == room or (kind != word(desk + TEXT) and kind != word(desk + WHOLE)):
            return PyLong_FromLongLong(0)
        number = PyDict_GetItemWithError(numbers, name)
        if number == 0:
            return PyLong_FromLongLong(0)
        put_half(indices + 4 * n, PyLong_AsLongLong(number))
        kind = word(value + TYPE)
        if kind == word(desk + DECIMAL) or kind == word(desk + NUMPY_DECIMAL):
            put(data + 8 * n, word(value + NUMBER))
        elif kind == word(desk + WHOLE) or kind == word(desk + BOOLEAN):
            whole = PyLong_AsLongLong(value)
            if whole == -1 and PyErr_Occurred() != 0:  # more than 64 bits
                PyErr_Clear()
                return PyLong_FromLongLong(0)
            put_as_double(data + 8 * n, whole)
        else:
            return PyLong_FromLongLong(0)
        n += 1
    put(word(desk + INDPTR) + 8, n)
    return PyLong_FromLongLong(1)


@kernel_jit
def run_again(filled: int) -> Any:
    """Run machine code on a frame that may have a result in it; see ``FilledFrame``."""
    code, frame = word(filled), word(filled + 8)
    for k in range(RESULT_WORDS):
        put(frame + 8 * k, word(filled + 8 * (FRAME_HEAD + k)))
    return call(code, frame)


def learn_row(unused: int, arguments: int, n_arguments: int) -> Any:
    """Enter a row, make a pass over it and leave it; return what it was, as ``RowVisit.in_python``.

    Python calls this with the address of three filled frames, and Algorithm 7's counter.
    """
    enter, count = PyLong_AsLongLong(word(arguments)), word(arguments + 8)
    visit, leave = enter + 8 * FRAME_WORDS, enter + 16 * FRAME_WORDS
    run_again(enter)
    found = word(word(enter + 8))
    if found != RIGHT:
        return PyLong_FromLongLong(found)
    counts = word(visit + 8)
    put(counts + 8 * word(visit + 16), PyLong_AsLongLong(count))
    run_again(visit)
    found = MISTAKE if word(counts) > 0 else RIGHT
    if word(counts + 8) > 0:  # updates
        if word(counts + 16) & EXPONENT == EXPONENT:  # the loss is not finite
            return PyLong_FromLongLong(OVERFLOW)
        run_again(leave)
        if word(word(leave + 8)) != RIGHT:
            return PyLong_FromLongLong(OVERFLOW)
    return PyLong_FromLongLong(found)
