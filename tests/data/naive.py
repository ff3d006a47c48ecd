"""Svmlight text read as naively as can be: the reader's oracle, which imports nothing of it."""

import math
import re
from typing import NamedTuple

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


class NaiveRow(NamedTuple):
    """A row as plain Python values, features as the file numbers them."""

    label: int | float | str
    entries: list[tuple[int, float]]


class NaiveError(Exception):
    """A line that is not svmlight, by its number from 1."""


def naive_rows(text: bytes, *, first_feature: int = 0) -> list[NaiveRow]:
    """Return the rows of a text, or raise NaiveError for its first bad line."""
    rows = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        tokens = [t for t in re.split(rb"[ \t\r\v\f]+", line.split(b"#")[0]) if t]
        if tokens:
            try:
                rows.append(_row(tokens, first_feature))
            except (ValueError, OverflowError):
                raise NaiveError(number) from None
    return rows


def _row(tokens: list[bytes], first_feature: int) -> NaiveRow:
    label = _label(tokens[0].decode("utf-8"))
    words = [token.decode("latin-1") for token in tokens[1:]]
    if words and words[0].startswith("qid:"):
        _whole(words.pop(0)[4:], 2**63)
    entries: list[tuple[int, float]] = []
    for word in words:
        name, value = word.split(":")
        feature = _whole(name, 2**31)
        if feature < first_feature or feature in dict(entries):
            raise ValueError
        entries.append((feature, _number(value)))
    return NaiveRow(label, sorted(entries))


def _label(word: str) -> int | float | str:
    if ":" in word or re.search(r"[\x00-\x1f\x7f]", word) or len(word.encode()) > 1000:
        raise ValueError
    if re.fullmatch(r"[+-]?0[0-9]+", word):
        return word  # 01 is a name
    if re.fullmatch(r"[+-]?[0-9]+", word) and _number(word) is not None:
        return int(word)
    if NUMBER.fullmatch(word):
        return _number(word)
    if word.lower().lstrip("+-") in ("nan", "inf", "infinity") and not word.startswith(
        ("++", "--", "+-", "-+")
    ):
        raise ValueError
    return word


def _whole(word: str, end: int) -> int:
    if not re.fullmatch("[0-9]+", word) or int(word) >= end:
        raise ValueError
    return int(word)


def _number(word: str) -> float:
    if not NUMBER.fullmatch(word) or math.isinf(float(word)):
        raise ValueError
    return float(word)
