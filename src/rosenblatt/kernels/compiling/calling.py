"""How a call reaches machine code: by the module that ``_machine.c`` is compiled to, or by ctypes.

The definitions in plain Python say what the module does with arguments, and stand in where it is
missing: without a C compiler, on a free-threaded Python, on PyPy.
"""

import ctypes
import hashlib
import os
import struct
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.kernels.compiling.signatures import ELEMENTS, MOST_DIMENSIONS

PLAIN = os.environ.get("ROSENBLATT_PLAIN", "0") not in {"", "0"}
MOST_WORDS, LONGEST_KEY = 246, 189  # of arguments, and of their key, so that any other one fits
DONE = 1  # what machine code returns; numba makes it 0 after an exception
PACKAGE = Path(__file__).parents[2]
C_FILE = PACKAGE / "_machine.c"  # in a checkout alone


class Code(NamedTuple):
    """Machine code for one key; the C file reads it field by field."""

    address: int
    kinds: bytes  # of the words of its result, as in struct
    make: Callable[[tuple[Any, ...]], Any] | None  # the result from its words; None: it is the word
    name: str
    alive: tuple[object, ...]  # types whose addresses the key has


def flatten_in_python(arguments: tuple[Any, ...]) -> tuple[bytes, bytes] | None:
    """Return the key and the words of arguments; None where one of them has no form."""
    words: list[bytes] = []
    key: list[int] = []
    if not _collect(arguments, words, key):
        return None
    return struct.pack(f"{len(key)}q", *key), b"".join(words)


def _collect(values: tuple[Any, ...], words: list[bytes], key: list[int]) -> bool:
    """Add the words of values and the parts of their key; return whether all have a form."""
    for value in values:
        if len(words) > MOST_WORDS or len(key) > LONGEST_KEY:
            return False
        kind = type(value)
        key.append(id(kind))
        if kind is np.ndarray:
            if value.dtype not in ELEMENTS or value.ndim > MOST_DIMENSIONS:
                return False
            flags = value.flags
            form = (flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable)
            key += [id(value.dtype), value.ndim | sum(bit << 8 + k for k, bit in enumerate(form))]
            place = (value.ctypes.data, *value.shape, *(memoryview(value).strides or ()))
            words += [struct.pack("q", word) for word in place]
        elif kind in (float, np.float64):
            words.append(struct.pack("d", value))
        elif kind in (int, bool, np.int64):
            words.append(int(value).to_bytes(8, sys.byteorder, signed=True))
        elif kind is np.uint64:
            words.append(struct.pack("Q", value))
        elif isinstance(value, tuple):
            key.append(len(value))
            if not _collect(value, words, key):
                return False
        elif value is not None:
            return False
    return True


def call_by_ctypes(codes: dict[bytes, Code], arguments: tuple[Any, ...]) -> Any:
    """Run the code for arguments of these types; NotImplemented where there is none yet."""
    flat = flatten_in_python(arguments)
    code = None if flat is None else codes.get(flat[0])
    if flat is None or code is None:
        return NotImplemented
    words = ctypes.create_string_buffer(flat[1], 8 * 256)
    run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address)
    if run(ctypes.addressof(words)) != DONE:
        msg = f"{code.name} raised an exception, which no kernel may."
        raise RuntimeError(msg)
    pattern = "".join("?7x" if kind == "?" else kind for kind in code.kinds.decode())
    result = struct.unpack_from(pattern, words)
    return code.make(result) if code.make else next(iter(result), None)


def _c_module() -> tuple[Any, str]:
    """Return the compiled module, or None, and how kernels are called then."""
    try:
        module = import_module("rosenblatt._machine")
    except ImportError:
        return None, "ctypes, slowly: _machine.c is not compiled for this Python"
    if C_FILE.exists() and hashlib.sha256(C_FILE.read_bytes()).hexdigest() != module.source:
        return None, "ctypes, slowly: _machine.c has changed since it was compiled"
    return module, "C"


machine: Any
machine, calls = (None, "Python") if PLAIN else _c_module()
call = machine.call if machine else call_by_ctypes
flatten = machine.flatten if machine else flatten_in_python
