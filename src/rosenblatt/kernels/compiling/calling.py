"""How a call reaches machine code: ``flatten`` writes arguments to a frame, ``invoke`` runs it.

``run`` does as ``invoke``, but holds other threads of Python up: for what takes less than a
microsecond and shares its frame.

All are machine code themselves, as built-in functions of Python; the definitions here, in plain
Python, are what they are compared with before they are trusted, and stand in where Python's objects
are laid out in a way that they do not know.
"""

import ctypes
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rosenblatt.kernels.compiling.forms import (
    FLAGS_OF_FORM,
    KEY,
    LONGEST_KEY,
    MOST_WORDS,
    CallFrame,
    new_frame,
)
from rosenblatt.kernels.compiling.machine import builtin_code

EMITTER = "rosenblatt.kernels.emission.calling"
BUILTINS = ("flatten", "invoke", "run")
FAST_CALL = 0x80  # arguments in a C array


def flatten_in_python(address: int, arguments: tuple[Any, ...]) -> bytes:
    """Write the words of a tuple to a frame and return its key; empty if a type is unknown."""
    words: list[bytes] = []
    key: list[int] = []
    if not collect(arguments, words, key) or len(words) > MOST_WORDS or len(key) > LONGEST_KEY:
        return b""
    room = b"".join(words)
    ctypes.memmove(address, room, len(room))
    return struct.pack(f"{len(key)}q", *key)


def collect(values: tuple[Any, ...], words: list[bytes], key: list[int]) -> bool:
    """Add the words of values and the parts of their key; return whether all have a form."""
    for value in values:
        kind = type(value)
        key.append(id(kind))
        if kind is np.ndarray:
            flags = value.flags.num & FLAGS_OF_FORM
            key += [id(value.dtype), value.ndim | flags << 8]
            place = (value.ctypes.data, *value.shape, *value.strides)
            words += [struct.pack("q", word) for word in place]
        elif kind in (float, np.float64):
            words.append(struct.pack("d", value))
        elif kind in (int, bool, np.int64):
            words.append(int(value).to_bytes(8, sys.byteorder, signed=True))
        elif kind is np.uint64:
            words.append(struct.pack("Q", value))
        elif isinstance(value, tuple):
            key.append(len(value))
            if not collect(value, words, key):
                return False
        elif value is not None:
            return False
    return True


def invoke_by_ctypes(code: int, address: int) -> int:
    """Run machine code on a frame while other threads of Python run."""
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code)(address))


def run_by_ctypes(code: int, address: int) -> int:
    """Run machine code on a frame while no other thread of Python runs."""
    return int(ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code)(address))


def _first_flatten(address: int, arguments: tuple[Any, ...]) -> bytes:
    """Take the place of ``flatten`` until the first call."""
    global flatten, invoke, run  # known to every kernel
    found = _builtins()
    if found is None:
        flatten, invoke, run = flatten_in_python, invoke_by_ctypes, run_by_ctypes
    else:
        flatten, invoke, run = found
    return flatten(address, arguments)


flatten: Callable[[int, tuple[Any, ...]], bytes] = _first_flatten
invoke: Callable[[int, int], int] = invoke_by_ctypes
run: Callable[[int, int], int] = run_by_ctypes


def _builtins() -> tuple[Any, Any, Any] | None:
    """Return the functions as machine code, or None where it can't be trusted."""
    made = [builtin(EMITTER, name) for name in BUILTINS]
    if None in made or not _agrees(made[0]):
        return None
    return made[0], made[1], made[2]


def builtin(emitter: str, name: str) -> Any:
    """Return a function of Python made of machine code; None where there can't be one.

    Python calls it with the addresses of its arguments in a C array; see ``compile_builtin``.
    """
    address = builtin_code(emitter, name) if _usual_layout() else None
    return None if address is None else _function_at(address, name)


@cache
def _usual_layout() -> bool:
    """Whether objects and arrays are laid out as in every build of CPython but free-threaded."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return False
    arrays = np.zeros((2, 3)), np.ones((4, 1), np.uint8)[::2]
    for value in (*arrays, 1.5, np.float64(2.5), np.uint64(7)):
        if type(value).__basicsize__ < (72 if isinstance(value, np.ndarray) else 24):
            return False
        image = ctypes.string_at(id(value), type(value).__basicsize__)
        words = struct.unpack_from("qqq", image)
        if words[1] != id(type(value)):
            return False
        if isinstance(value, np.ndarray):
            n_dimensions, dtype, flags = struct.unpack_from("24xi28xqi", image)
            seen = (words[2], n_dimensions, dtype, flags)
            if seen != (value.ctypes.data, value.ndim, id(value.dtype), value.flags.num):
                return False
        elif image[16:24] != struct.pack("Q" if isinstance(value, np.uint64) else "d", value):
            return False
    return True


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


_methods: list[_Method] = []  # a built-in function refers to its own for ever


def _function_at(address: int, name: str) -> Any:
    """Return the machine code at an address as a function of Python."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes = [ctypes.POINTER(_Method), ctypes.c_void_p, ctypes.c_void_p]
    make.restype = ctypes.py_object
    _methods.append(_Method(name.encode(), address, FAST_CALL, None))
    return make(ctypes.byref(_methods[-1]), None, None)


def _agrees(flatten: Callable[[int, tuple[Any, ...]], bytes]) -> bool:
    """Whether machine code sees in arguments what plain Python sees."""
    grid = np.arange(12.0).reshape(3, 4)
    inner = (grid, grid.T, grid[::2, 1], None, 1.5, (-7, (True, False), 1 << 62))
    arguments = (*inner, inner, np.int64(-3), np.float64(0.25), np.uint64(2**64 - 1), grid > 3)
    one, other = new_frame(), new_frame()
    keys = flatten(one.address, arguments), flatten_in_python(other.address, arguments)
    return (
        keys[0] == keys[1] and _words(one) == _words(other) and flatten(one.address, ("",)) == b""
    )


def _words(frame: CallFrame) -> bytes:
    return bytes(frame.room.raw[:KEY])
