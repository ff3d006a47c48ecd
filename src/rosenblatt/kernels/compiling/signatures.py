"""The signature of a call: all that machine code depends on, and nothing that it does not.

It is a text, so that machine code is found without numba: of an array the element type, the number
of dimensions and the layout, by rows (C), by columns (F) or any (A); of a number one of four types;
of a tuple its class and fields. The values themselves are passed as words.
"""

import hashlib
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

MOST_DIMENSIONS = 4
INT, FLOAT, BOOL, UNSIGNED = "int64", "float64", "bool", "uint64"  # one word each
NUMBERS = {
    type(None): "None",
    int: INT,
    float: FLOAT,
    bool: BOOL,
    np.int64: INT,
    np.float64: FLOAT,
    np.uint64: UNSIGNED,
}
KINDS = {"None": b"", INT: b"q", FLOAT: b"d", BOOL: b"?", UNSIGNED: b"Q"}  # of words, as in struct
ELEMENTS = frozenset(
    np.dtype(code) for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)


def qualified_name(thing: Callable[..., Any]) -> str:
    """Return the module and the name of a function or class."""
    return f"{thing.__module__}.{thing.__qualname__}"


def kernel_name(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the name of a kernel for arguments that ``plain_value`` has been through."""
    return f"{qualified_name(function)}{signature_of(arguments)}"


def symbol_of(name: str) -> str:
    """Return the name that the machine code of a kernel has for the loader."""
    return f"kernel_{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def is_ours(name: str) -> bool:
    """Return whether a kernel of this name, and each class of its arguments, is of the package."""
    return all(one.startswith("rosenblatt.") for one in re.findall(r"[^(),]+(?=\()", name))


def signature_of(value: object) -> str:
    """Return the signature of a value; that of a call is the signature of its arguments."""
    if isinstance(value, tuple):
        name = "" if type(value) is tuple else qualified_name(type(value))
        return f"{name}({','.join(map(signature_of, value))})"
    if not isinstance(value, np.ndarray):
        return NUMBERS[type(value)]
    flags = value.flags
    if value.dtype not in ELEMENTS or value.ndim > MOST_DIMENSIONS or not flags.aligned:
        msg = f"No kernel takes an array of {value.dtype}, {value.ndim}-dimensional: {value!r}"
        raise TypeError(msg)
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return f"{value.dtype.name}[{value.ndim}{layout}]"


def result_maker(form: str) -> tuple[bytes, Callable[[tuple[Any, ...]], Any] | None]:
    """Return the kinds of the words of a result of this form, and what makes it of them."""
    name, bracket, fields = form.rstrip(")").partition("(")
    if not bracket:
        return KINDS[form], None
    module, _, attribute = name.rpartition(".")
    make = getattr(sys.modules[module], attribute)._make if name else tuple
    return b"".join(KINDS[field] for field in fields.split(",")), make


def plain_value(value: object) -> Any:
    """Return a value as one of the types that have a signature: views of arrays, plain numbers."""
    if type(value) in NUMBERS or type(value) is np.ndarray:
        return value
    if isinstance(value, np.ndarray):  # a file in memory, a matrix
        return value.view(np.ndarray)
    if isinstance(value, tuple):
        fields = map(plain_value, value)
        return tuple(fields) if type(value) is tuple else type(value)(*fields)
    for kind, plain in ((np.integer, int), (np.floating, float), (np.bool_, bool)):
        if isinstance(value, kind):
            return plain(value)
    msg = f"No kernel takes a {type(value).__name__}: {value!r}"
    raise TypeError(msg)


def kinds_within(value: object) -> tuple[object, ...]:
    """Return the types and element types of a value and of all values within."""
    if isinstance(value, tuple):
        return (type(value), *(kind for field in value for kind in kinds_within(field)))
    return (type(value), value.dtype) if isinstance(value, np.ndarray) else (type(value),)


def writeable(value: object) -> bool:
    """Return whether all arrays within a value may be written to."""
    if isinstance(value, tuple):
        return all(map(writeable, value))
    return not isinstance(value, np.ndarray) or value.flags.writeable
