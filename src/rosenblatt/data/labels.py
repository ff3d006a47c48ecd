"""Labels as they are written and the classes they name."""

import math
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError

Label = int | float | str

MOST_CLASSES = 1 << 20  # what a table of classes may grow to, so that memory stays bounded
LONGEST_LABEL = 1000  # bytes

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INTEGER = re.compile(rb"[+-]?[0-9]+")
LEADING_ZERO = re.compile(rb"[+-]?0[0-9]+")  # 01 is the name of something, not the number 1
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


def shown(token: bytes) -> str:
    """Return a token as an error message quotes it: readable, and never long."""
    text = token.decode("utf-8", "backslashreplace")
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:41])
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"


def read_label(token: bytes) -> Label:
    """Return what a label says: +1, 1 and 1.0 are the number 1; anything but a number is a word.

    So is 01, as codes are written, which is another label than 1.

    Raises ValueError with the reason where the token is no label.

    >>> [read_label(token) for token in (b"+1", b"1.0", b"-0", b"2.5", b"01", b"spam")]
    [1, 1, 0, 2.5, '01', 'spam']
    """
    if len(token) > LONGEST_LABEL:
        msg = f"label {shown(token)} is longer than {LONGEST_LABEL} bytes"
        raise ValueError(msg)
    if NUMBER.fullmatch(token) and not LEADING_ZERO.fullmatch(token):
        value = float(token)
        if math.isinf(value):
            msg = f"label {shown(token)} is beyond the range of float64"
            raise ValueError(msg)
        if INTEGER.fullmatch(token):
            return int(token)  # not by way of float: 2⁵³ + 1 is another class than 2⁵³
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if NOT_FINITE.fullmatch(token):
        msg = f"label {shown(token)} is not finite"
        raise ValueError(msg)
    if CONTROL.search(token):
        msg = f"label {shown(token)} has a control character"
        raise ValueError(msg)
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        msg = f"label {shown(token)} is not UTF-8 text"
        raise ValueError(msg) from None


class Classes:
    """The classes met so far, numbered in the order in which they were first met.

    One table may be shared by several files, so that a number means the same class in all. Where a
    known label is a word, numbers are words too: a model has labels of one type.

    >>> classes = Classes()
    >>> classes.codes(["spam", "ham"]), classes.codes(["ham", "eggs"])
    (array([0, 1], dtype=int32), array([1, 2], dtype=int32))
    >>> classes.labels
    ('spam', 'ham', 'eggs')
    """

    def __init__(self, labels: Iterable[Label] = ()) -> None:
        self._codes: dict[Label, int] = {}
        self.labels: tuple[Label, ...] = ()
        self._words = False
        self.codes(list(labels))
        self._words = any(isinstance(label, str) for label in self._codes)

    def __len__(self) -> int:
        return len(self.labels)

    def codes(self, labels: list[Label]) -> NDArray[np.int32]:
        """Return the number of each label, and give the next numbers to the new ones."""
        codes = self._codes
        if self._words:
            labels = [str(label) for label in labels]
        found = np.array([codes.setdefault(label, len(codes)) for label in labels], np.int32)
        if len(codes) > MOST_CLASSES:
            msg = f"There are more than {MOST_CLASSES:,} different labels: they are not classes."
            raise InputError(msg)
        if len(codes) > len(self.labels):
            self.labels = tuple(codes)
        return found
