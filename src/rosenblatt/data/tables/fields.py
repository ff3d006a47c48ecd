"""Fields of separated text in plain Python: the definition of what a row may say.

Fields stand between separators. Where quoting is on, a field that begins with a double quote ends
with one: between them separators and newlines are ordinary, and two quotes mean one. A quote within
a field that does not begin with one is an ordinary character. A row ends at a newline, or at a
carriage return and a newline. Python's csv module in its strict mode reads the same.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rosenblatt.data.labels import shown

QUOTE = ord('"')
NEWLINE = ord("\n")
BLANKS = " \t\r\n\v\f"  # taken off both ends of a field
QUOTED = rb'"([^"]*+(?:""[^"]*+)*+)"'


class Dialect(NamedTuple):
    """How the fields of a text are parted."""

    separator: str
    quoting: bool


class FieldError(Exception):
    """What is wrong in a text: at which byte, and a clause that says what."""

    def __init__(self, place: int, clause: str, *, unclosed: bool = False) -> None:
        super().__init__(place, clause)
        self.place = place
        self.clause = clause
        self.unclosed = unclosed  # whether more text could put it right


@cache
def _patterns(separator: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return what a quoted field looks like with what must follow it, and a plain one."""
    mark = re.escape(separator.encode())
    quoted = re.compile(QUOTED + rb"(?=%b|\r?\n|\r?\Z)" % mark)
    return quoted, re.compile(rb"[^%b\n]*" % mark)


def row_at(text: bytes, place: int, dialect: Dialect) -> tuple[list[bytes], int]:
    """Return the fields of the row that begins at a place, and the place of the next row."""
    quoted, plain = _patterns(dialect.separator)
    fields: list[bytes] = []
    while True:
        if dialect.quoting and text[place : place + 1] == b'"':
            match = quoted.match(text, place)
            if match is None:
                raise _quote_error(text, place, dialect)
            fields.append(match[1].replace(b'""', b'"'))
            place = match.end()
            place += text[place : place + 1] == b"\r"
        else:
            match = plain.match(text, place)
            assert match is not None  # noqa: S101  # the pattern matches anything, for mypy
            fields.append(match[0])
            place = match.end()
        if place >= len(text) or text[place] == NEWLINE:
            return fields, place + 1
        place += 1


def rows(text: bytes, dialect: Dialect) -> Iterator[tuple[int, list[bytes]]]:
    """Yield place and fields of each row; lines that are empty or hold only spaces are skipped."""
    place = 0
    while place < len(text):
        start = place
        fields, place = row_at(text, start, dialect)
        if len(fields) > 1 or fields[0].strip(b" \r") or text[start] == QUOTE:
            yield start, fields


def _quote_error(text: bytes, place: int, dialect: Dialect) -> FieldError:
    closed = re.compile(QUOTED).match(text, place)
    if closed is None:
        clause = (
            f"the quote before {shown(text[place + 1 : place + 60])} is never closed;"
            " if quotes are ordinary characters in this file, say quoting=False"
        )
        return FieldError(place, clause, unclosed=True)
    clause = (
        f"{shown(text[closed.end() : closed.end() + 1])} follows the quote that closes a field,"
        f" where {_named(dialect.separator)} or the end of the row was expected"
    )
    return FieldError(closed.end(), clause)


def _named(separator: str) -> str:
    return "a tab" if separator == "\t" else f"'{separator}'"
