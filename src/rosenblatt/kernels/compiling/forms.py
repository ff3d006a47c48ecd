"""The form of a value: all that machine code depends on, and nothing that it does not.

The form of an array is its element type, its number of dimensions and its layout; of a number, one
of four types; of a tuple, its class and the forms of its fields. The forms of the arguments of a
call are its signature. The values themselves are passed as words.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_DIMENSIONS = 4


class ArrayForm(NamedTuple):
    """The address of the first element, the shape and the strides."""

    dtype: str
    ndim: int
    layout: str  # by rows (C), by columns (F), any (A)

    def __str__(self) -> str:
        return f"{self.dtype}[{self.ndim}{self.layout}]"


class TupleForm(NamedTuple):
    """The fields one after the other."""

    kind: type[tuple[Any, ...]]
    fields: "tuple[Form, ...]"

    def __str__(self) -> str:
        name = "" if self.kind is tuple else qualified_name(self.kind)
        return f"{name}({','.join(map(str, self.fields))})"


Form = str | ArrayForm | TupleForm | None

INT, FLOAT, BOOL, UNSIGNED = "int64", "float64", "bool", "uint64"  # one word each
NUMBERS = {
    int: INT,
    float: FLOAT,
    bool: BOOL,
    np.int64: INT,
    np.float64: FLOAT,
    np.uint64: UNSIGNED,
}
ELEMENTS = frozenset(
    np.dtype(code) for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)


def qualified_name(thing: Callable[..., Any]) -> str:
    """Return the module and the name of a function or class."""
    return f"{thing.__module__}.{thing.__qualname__}"


def signature_of(arguments: tuple[Any, ...]) -> TupleForm:
    """Return the signature of a call with these arguments."""
    return TupleForm(tuple, tuple(map(form_of, arguments)))


def form_of(value: object) -> Form:
    """Return the form of a value that ``plain_value`` has been through."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return TupleForm(type(value), tuple(map(form_of, value)))
    if isinstance(value, np.ndarray):
        return _array_form(value)
    return NUMBERS[type(value)]


def _array_form(array: NDArray[Any]) -> ArrayForm:
    if array.dtype not in ELEMENTS or array.ndim > MOST_DIMENSIONS or not array.flags.aligned:
        msg = f"No kernel takes an array of {array.dtype}, {array.ndim}-dimensional: {array!r}"
        raise TypeError(msg)
    flags = array.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return ArrayForm(array.dtype.name, array.ndim, layout)


def plain_value(value: object) -> Any:
    """Return a value as one of the types that have a form: views of arrays, plain numbers."""
    if value is None or type(value) in NUMBERS or type(value) is np.ndarray:
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


def modules_of(form: Form) -> set[str]:
    """Return the modules of the classes of named tuples within."""
    if not isinstance(form, TupleForm):
        return set()
    own = set() if form.kind is tuple else {form.kind.__module__}
    return own.union(*map(modules_of, form.fields))


def parsed_result(text: str) -> Form:
    """Return the form of a result that this text was made from."""
    if text == "None":
        return None
    name, bracket, fields = text.rstrip(")").partition("(")
    if not bracket:
        return name
    kind: Any = tuple
    if name:
        module, _, attribute = name.rpartition(".")
        kind = getattr(sys.modules[module], attribute)
    return TupleForm(kind, tuple(fields.split(",")))
