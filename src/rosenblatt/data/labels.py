"""Labels as they are written and the classes they name."""

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.wording import composed

Label = int | float | str
LabelSet = tuple[str, ...]  # any number of labels of a row, sorted

MOST_CLASSES = 1 << 20  # what a table of classes may grow to, so that memory stays bounded
LONGEST_LABEL = 1000  # bytes
SHOWN = 4  # spellings in a message

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INTEGER = re.compile(rb"[+-]?[0-9]+")
LEADING_ZERO = re.compile(rb"[+-]?0[0-9]+")  # 01 is the name of something, not the number 1
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
PLAIN = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.0|\.[0-9]*[1-9])?")
OF_SOME_SIZE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
IN_LISTS = "\x1f"  # between the labels of a list: no label has it
TRUTHS = ("true", "false")


def shown(token: bytes) -> str:
    """Return a token as an error message quotes it: readable, and never long."""
    text = token.decode("utf-8", "backslashreplace")
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:41])
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"


def read_label(token: bytes) -> Label:
    """Return a label of svmlight: +1, 1 and 1.0 are the number 1; all but numbers are words.

    So is 01, as codes are written. Raises ValueError where the token is no label.

    >>> [read_label(token) for token in (b"+1", b"1.0", b"-0", b"2.5", b"01", b"spam")]
    [1, 1, 0, 2.5, '01', 'spam']
    """
    _check_token(token)
    if NUMBER.fullmatch(token) and not LEADING_ZERO.fullmatch(token):
        value = float(token)
        if math.isinf(value):
            raise ValueError(f"label {shown(token)} is beyond the range of float64")
        if INTEGER.fullmatch(token):
            return int(token)  # not by way of float: 2⁵³ + 1 is another class than 2⁵³
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if NOT_FINITE.fullmatch(token):
        raise ValueError(f"label {shown(token)} is not finite")
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"label {shown(token)} is not UTF-8 text") from None


def checked_text(text: str) -> str:
    """Return a label of a table as it is written; raise ValueError where it cannot be one."""
    _check_token(text.encode())
    return text


def _check_token(token: bytes) -> None:
    long = len(token) > LONGEST_LABEL
    if long or CONTROL.search(token):
        why = f"is longer than {LONGEST_LABEL} bytes" if long else "has a control character"
        raise ValueError(f"label {shown(token)} {why}")


def read_label_set(text: str, separator: str, blanks: str) -> LabelSet:
    """Return the labels of a row that may have several; what separates those of a list does, too.

    >>> read_label_set("red; round;;red", ";", " ")
    ('red', 'round')
    """
    parts = (part.strip(blanks) for part in text.replace(IN_LISTS, separator).split(separator))
    return tuple(sorted({checked_text(part) for part in parts if part}))


def single_labels(labels: Iterable[Label | LabelSet]) -> list[Label]:
    """Return labels, and those that sets of them hold, each once.

    >>> single_labels([("red", "round"), (), ("red",)]), single_labels([2, 1])
    (['red', 'round'], [2, 1])
    """
    parts: Iterable[Iterable[Label]]
    parts = (label if isinstance(label, tuple) else (label,) for label in labels)
    found: dict[Label, Label] = {}
    for label in chain.from_iterable(parts):
        found.setdefault(composed(label) if isinstance(label, str) else label, label)
    return list(found.values())


def plain_number(text: str) -> str | None:
    """Return the shortest text of a number; None for words and where the spelling may matter.

    It may matter where a 0 leads, or ends the decimals, and where there is an exponent.

    >>> [plain_number(text) for text in ("+1", "1.0", "-0", "2.5", "2.50", "01", "1e5", "linux")]
    ['1', '1', '0', '2.5', None, None, None, None]
    """
    if not PLAIN.fullmatch(text):
        return None
    bare = text.removeprefix("+").removesuffix(".0")
    return "0" if bare == "-0" else bare


def classes_of(labels: Iterable[Label]) -> dict[Label, Label]:
    """Return the class that each label of a column names: as a rule the label as it is written.

    Only where all are plain numbers, two spellings of a number are one class. Texts are integers
    where Python writes all of them as they are, or floats, so that no text is lost.

    >>> classes_of(["3.1", "3.10", "linux"])
    {'3.1': '3.1', '3.10': '3.10', 'linux': 'linux'}
    >>> classes_of(["1", "+1", "0.0"]), classes_of(["2.5", "1.0"]), classes_of(["1.0", "1", "x"])
    ({'1': 1, '+1': 1, '0.0': 0}, {'2.5': 2.5, '1.0': 1.0}, {'1.0': '1.0', '1': '1', 'x': 'x'})
    """
    texts = {label: str(label) for label in labels}
    if not any(isinstance(label, str) for label in texts):
        return {label: label for label in texts}
    plain = {text: plain_number(text) for text in texts.values()}
    if None not in plain.values() and len(set(plain.values())) < len(plain):
        texts = {label: plain[text] or text for label, text in texts.items()}
    if all(map(_is_integer, texts.values())):
        return {label: int(text) for label, text in texts.items()}
    if all(map(_is_float, texts.values())):
        return {label: float(text) for label, text in texts.items()}
    return dict(texts)


def _is_integer(text: str) -> bool:
    """Whether a text is an integer as Python writes it, within 64 bits."""
    return plain_number(text) == text and "." not in text and -(2**63) <= int(text) < 2**63


def _is_float(text: str) -> bool:
    """Whether a text is a float as Python writes it, without an exponent."""
    whole = text.removesuffix(".0")
    return "." in text and plain_number(whole) == whole and str(float(text)) == text


class Spellings:
    """Known texts, each found also by another spelling of the same number or truth value.

    A text finds another one only where all that are known are plain numbers. What was read as a
    number before it came here, such as 1 for 01, finds the only text that is this number.

    >>> Spellings(["0", "1"]).find("1.0"), Spellings(["0", "1", "x"]).find("1.0")
    ('1', None)
    >>> Spellings(["01", "02"]).find(1), Spellings(["3.10", "3.100"]).find(3.1)
    ('01', None)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._plain: dict[str | None, list[str]] = {}
        self._numbers: dict[Decimal, list[str]] = {}
        self._truths: dict[str, list[str]] = {}
        for text in texts:
            self._plain.setdefault(plain_number(text), []).append(text)
            if OF_SOME_SIZE.fullmatch(text):
                self._numbers.setdefault(Decimal(text), []).append(text)
            if text.lower() in TRUTHS:
                self._truths.setdefault(text.lower(), []).append(text)

    def find(self, value: Any) -> str | None:
        """Return the only known text that is another spelling of a value, if there is one."""
        if isinstance(value, bool) or (isinstance(value, str) and value.lower() in TRUTHS):
            found = self._truths.get(str(value).lower(), [])
        elif isinstance(value, str):
            plain = plain_number(value)
            found = [] if None in self._plain or plain is None else self._plain.get(plain, [])
        else:
            found = self.of_number(value)
        return found[0] if len(found) == 1 else None

    def of_number(self, value: float) -> list[str]:
        """Return the known texts of a number."""
        return self._numbers.get(Decimal(str(value)), [])


class Classes:
    """The classes met so far, numbered in the order in which they were first met.

    One table may be shared by several files, so that a number means the same class in all. Labels
    that a model knows come first, and are found by other spellings, too. Two texts that are the
    same once composed are one label, as it is written first.

    >>> classes = Classes()
    >>> classes.codes(["spam", "ham"]), classes.codes(["ham", "eggs"])
    (array([0, 1], dtype=int32), array([1, 2], dtype=int32))
    >>> classes.labels
    ('spam', 'ham', 'eggs')
    """

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        self.labels: tuple[Any, ...] = tuple(labels)  # or sets of them
        self._codes = {str(label): code for code, label in enumerate(self.labels)}
        self._composed = {composed(text): code for text, code in self._codes.items()}
        self._known = self.labels  # by a model
        self._respelled: dict[str, str] = {}  # labels that were found by another spelling

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(map(str, self._known))

    def codes(self, labels: Sequence[Label | LabelSet]) -> NDArray[np.int32]:
        """Return the number of each label, and give the next numbers to the new ones."""
        codes, new = self._codes, list[Any]()
        for label in labels:
            text = str(label)
            if text in codes:
                continue
            plain = composed(text)
            if plain in self._composed:
                codes[text] = self._composed[plain]
                continue
            known = None if isinstance(label, tuple) else self._spellings.find(label)
            if known is None:
                codes[text] = self._composed[plain] = len(self.labels) + len(new)
                new.append(self._like_known(label))
            else:
                codes[text], self._respelled[text] = codes[known], known
        if new:
            self.labels += tuple(new)
        if len(self.labels) > MOST_CLASSES:
            msg = f"There are more than {MOST_CLASSES:,} different labels: they are not classes."
            raise InputError(msg)
        return np.array([codes[str(label)] for label in labels], np.int32)

    def _like_known(self, label: Label | LabelSet) -> Label | LabelSet:
        """Return a new label in the type that the known ones have, if it can be."""
        if not self._known or isinstance(label, tuple):
            return label
        return str(label) if isinstance(self._known[0], str) else classes_of([label])[label]

    def notes(self) -> list[str]:
        """Return sentences on spellings of numbers that were taken for one class."""
        if self._known:
            pairs = [f"'{text}' is read as {known}" for text, known in self._respelled.items()]
            return (
                [f"Labels are spelled otherwise than in training: {', '.join(pairs[:SHOWN])}."]
                if pairs
                else []
            )
        spelled: dict[Label, list[str]] = {}
        for label, class_ in classes_of(self.labels).items():
            spelled.setdefault(class_, []).append(f"'{label}'")
        return [
            f"The labels {' and '.join(texts)} are one number, and one class: {class_}."
            for class_, texts in spelled.items()
            if len(texts) > 1
        ][:SHOWN]


def sides_of(label: Label) -> tuple[str, str]:
    """Return names of two classes, sorted: rows without one of several labels, and rows with it.

    >>> sides_of("perl"), sides_of("#perl")
    (('(not perl)', 'perl'), ('', '#perl'))
    """
    name = str(label)
    return (f"(not {name})" if name > "(not" else ""), name


class SetNumbers:
    """Numbers the labels in sets of them: those that a model knows as it does, others behind.

    >>> numbers = SetNumbers(["red", "round"])
    >>> numbers.sets([("round",), (), ("blue", "red")])
    (array([1, 0, 2], dtype=int32), array([0, 1, 1, 3]))
    >>> numbers.labels
    ('red', 'round', 'blue')
    """

    def __init__(self, labels: Iterable[Label]) -> None:
        self._classes = Classes(labels)
        self._members: list[NDArray[np.int32]] = []

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels by their numbers."""
        return self._classes.labels

    def found(self, one: LabelSet) -> list[Label]:
        """Return the labels of a set as the model has them."""
        return [self._classes.labels[number] for number in self._classes.codes(one).tolist()]

    def sets(self, met: Sequence[LabelSet]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the labels, set after set, and where each set begins."""
        for one in met[len(self._members) :]:
            self._members.append(np.unique(self._classes.codes(one)))
        members = self._members[: len(met)]
        ends = np.cumsum([0, *map(len, members)])
        return np.concatenate([np.empty(0, np.int32), *members]), ends
