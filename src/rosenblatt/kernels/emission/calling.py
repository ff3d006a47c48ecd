"""How a call from Python reaches machine code: arguments are flattened to words, and words passed.

The functions become built-in functions of Python. They ask Python by its stable binary interface,
and read two structures whose layout every extension module relies on: an object's type behind its
reference count, and the fields of a NumPy array. ``compiling.calling`` checks that those are where
they should be before any of them is used.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.kernels.compiling.forms import (
    DEEPEST,
    FLAGS_OF_FORM,
    KEY,
    KNOWN,
    KNOWN_OBJECTS,
    LONGEST_KEY,
    MOST_DIMENSIONS,
    MOST_WORDS,
    STACK,
    WORDS,
)
from rosenblatt.kernels.compiling.target import kernel_jit

INT32, WORD = ir.IntType(32), ir.IntType(64)
TUPLE = 1 << 26  # the bit of a type's flags that says it is a tuple

TYPE = 8  # where an object has it
NUMBER = 16  # where a float or a number of NumPy's has its value
DATA, DIMENSIONS, SHAPE, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64  # of an array

ARRAY, WHOLE, BOOLEAN, TRUE, NOTHING = (
    KNOWN_OBJECTS.index(thing) for thing in (np.ndarray, int, bool, True, type(None))
)
NUMBERS = tuple(KNOWN_OBJECTS.index(kind) for kind in (float, np.float64, np.int64, np.uint64))
UNKNOWN = 0  # in place of an address: what this is has no form


def python_function(name: str, n_arguments: int, *, returns: bool = True) -> Any:
    """Return a function of Python's binary interface that takes and returns words."""
    result = WORD if returns else ir.VoidType()

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(result, [WORD] * n_arguments)
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        answer = builder.call(function, arguments)
        return answer if returns else context.get_dummy_value()

    kind = (types.int64 if returns else types.void)(*[types.int64] * n_arguments)
    typed = {
        0: lambda _: (kind, codegen),
        1: lambda _, a: (kind, codegen),  # noqa: ARG005  # numba counts arguments
        2: lambda _, a, b: (kind, codegen),  # noqa: ARG005  # likewise
        3: lambda _, a, b, c: (kind, codegen),  # noqa: ARG005  # likewise
        4: lambda _, a, b, c, d: (kind, codegen),  # noqa: ARG005  # likewise
    }
    return intrinsic(typed[n_arguments])


PyBytes_FromStringAndSize = python_function("PyBytes_FromStringAndSize", 2)
PyErr_Occurred = python_function("PyErr_Occurred", 0)
PyEval_SaveThread = python_function("PyEval_SaveThread", 0)
PyEval_RestoreThread = python_function("PyEval_RestoreThread", 1, returns=False)
PyLong_AsLongLong = python_function("PyLong_AsLongLong", 1)
PyLong_FromLongLong = python_function("PyLong_FromLongLong", 1)
PyTuple_GetItem = python_function("PyTuple_GetItem", 2)
PyTuple_Size = python_function("PyTuple_Size", 1)
PyType_GetFlags = python_function("PyType_GetFlags", 1)


@intrinsic  # type: ignore[untyped-decorator]
def word(typing_context: Any, address: Any) -> Any:
    """Return the word at an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], WORD.as_pointer()))

    return types.int64(types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def half_word(typing_context: Any, address: Any) -> Any:
    """Return the 32 bits at an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.zext(builder.load(builder.inttoptr(arguments[0], INT32.as_pointer())), WORD)

    return types.int64(types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def put(typing_context: Any, address: Any, value: Any) -> Any:
    """Write a word to an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], WORD.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def call(typing_context: Any, function: Any, argument: Any) -> Any:
    """Call the function at an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(WORD, [WORD]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], kind), [arguments[1]])

    return types.int64(types.int64, types.int64), codegen


@kernel_jit
def put_array(array: int, words: int, key: int) -> Any:
    """Write where an array's elements stand, and its type; return where the next things go."""
    n_dimensions = half_word(array + DIMENSIONS)
    if n_dimensions > MOST_DIMENSIONS:
        return UNKNOWN, key
    put(key, word(array + DTYPE))
    put(key + 8, n_dimensions | ((half_word(array + FLAGS) & FLAGS_OF_FORM) << 8))
    put(words, word(array + DATA))
    words += 8
    for start in (word(array + SHAPE), word(array + STRIDES)):
        for k in range(n_dimensions):
            put(words, word(start + 8 * k))
            words += 8
    return words, key + 16


@kernel_jit
def put_number(value: int, kind: int, known: int, words: int) -> int:
    """Write the word of a number, and none for None; return where the next one goes."""
    if kind == word(known + 8 * NOTHING):
        return words
    if kind == word(known + 8 * WHOLE):
        put(words, PyLong_AsLongLong(value))
    elif kind == word(known + 8 * BOOLEAN):
        put(words, 1 if value == word(known + 8 * TRUE) else 0)
    else:
        for k in NUMBERS:
            if kind == word(known + 8 * k):
                put(words, word(value + NUMBER))
                return words + 8
        return UNKNOWN
    return words + 8


def flatten(unused: int, arguments: int, n_arguments: int) -> Any:
    """Write the words of a tuple to a frame and return its key, empty where there is none.

    Python calls this with the address of a frame and the tuple. The key is the types of all values,
    with the element type, the number of dimensions and the layout of arrays, so that calls with the
    same key have the same signature.
    """
    frame = PyLong_AsLongLong(word(arguments))
    known, words, key = frame + KNOWN, frame + WORDS, frame + KEY
    last_words = words + 8 * (MOST_WORDS - 1 - 2 * MOST_DIMENSIONS)
    last_key = key + 8 * (LONGEST_KEY - 3)
    level = frame + STACK  # of tuples within tuples: each with the place of the item to come
    put(level, word(arguments + 8))
    put(level + 8, 0)
    put(level + 16, PyTuple_Size(word(arguments + 8)))
    while words != UNKNOWN and words <= last_words and key <= last_key:
        k = word(level + 8)
        if k == word(level + 16):
            if level == frame + STACK:
                if PyErr_Occurred() != 0:  # a whole number of more than 64 bits
                    return 0
                return PyBytes_FromStringAndSize(frame + KEY, key - (frame + KEY))
            level -= 24
            continue
        put(level + 8, k + 1)
        value = PyTuple_GetItem(word(level), k)
        kind = word(value + TYPE)
        put(key, kind)
        key += 8
        if kind == word(known + 8 * ARRAY):
            words, key = put_array(value, words, key)
        elif PyType_GetFlags(kind) & TUPLE and level < frame + STACK + 24 * (DEEPEST - 1):
            level += 24
            put(level, value)
            put(level + 8, 0)
            put(level + 16, PyTuple_Size(value))
            put(key, word(level + 16))
            key += 8
        else:
            words = put_number(value, kind, known, words)
    return PyBytes_FromStringAndSize(0, 0)


def invoke(unused: int, arguments: int, n_arguments: int) -> Any:
    """Run machine code on a frame while other threads of Python run, and return what it returns.

    Python calls this with the address of the code and that of the frame.
    """
    code, frame = PyLong_AsLongLong(word(arguments)), PyLong_AsLongLong(word(arguments + 8))
    thread = PyEval_SaveThread()
    answer = call(code, frame)
    PyEval_RestoreThread(thread)
    return PyLong_FromLongLong(answer)


def run(unused: int, arguments: int, n_arguments: int) -> Any:
    """Run machine code on a frame while no other thread of Python runs; else as ``invoke``."""
    code, frame = PyLong_AsLongLong(word(arguments)), PyLong_AsLongLong(word(arguments + 8))
    return PyLong_FromLongLong(call(code, frame))
