"""Rows and fields of separated text in plain Python: the definition of what a row may say.

Fields stand between separators. Where quoting is on, a field that begins with a double quote ends
with one: between them separators and newlines are ordinary, and two quotes mean one. A quote within
a field that does not begin with one is an ordinary character. A row ends at a newline, or at a
carriage return and a newline. Python's csv module in its strict mode reads the same.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import shown
from rosenblatt.data.lines import LONGEST_LINE, TextBlock
from rosenblatt.errors import Parameter, Sentence
from rosenblatt.wording import counted

QUOTE = ord('"')
NEWLINE = ord("\n")
BLANKS = " \t\r\n\v\f"  # taken off both ends of a field
QUOTED = rb'"([^"]*+(?:""[^"]*+)*+)"'

Places = NDArray[np.int64]


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


def squeezed(text: bytes) -> bytes:
    """Return a text with one space for several blanks, and none at the ends of lines."""
    text = re.sub(rb"[ \t]+", b" ", text)
    return re.sub(rb" ?(\r?\n) ?", rb"\1", text).removeprefix(b" ")


def not_utf_8(text: bytes) -> Sentence:
    """Return what to say of text that is not UTF-8."""
    windows = any(0x80 <= byte < 0xA0 for byte in text)  # control characters in Latin-1
    return Sentence(
        f"{shown(text)} is not UTF-8 text; name the encoding of the file, for instance with "
        f"{Parameter('encoding', 'cp1252' if windows else 'latin-1')}, or replace what cannot be"
        f" read with {Parameter('encoding_errors', 'replace')}"
    )


def _quote_error(text: bytes, place: int, dialect: Dialect) -> FieldError:
    closed = re.compile(QUOTED).match(text, place)
    if closed is None:
        advice = Sentence(
            f"the quote before {shown(text[place + 1 : place + 60])} is never closed; if quotes are"
            f" ordinary characters in this file, use {Parameter('quoting', value=False)}"
        )
        return FieldError(place, advice, unclosed=True)
    clause = (
        f"{shown(text[closed.end() : closed.end() + 1])} follows the quote that closes a field,"
        f" where {_named(dialect.separator)} or the end of the row was expected"
    )
    return FieldError(closed.end(), clause)


def _named(separator: str) -> str:
    return "a tab" if separator == "\t" else f"'{separator}'"


class PlainRows(NamedTuple):
    """The values of each column, and the place in the text at which each row begins."""

    columns: list[list[str | None]]
    starts: list[int]
    faults: list[tuple[int, FieldError]]  # of rows that are left out, with the number of the next


def read_plainly(text: bytes, dialect: Dialect, width: int, *, skip: bool = False) -> PlainRows:
    """Return the rows of a text, each of ``width`` fields.

    At the first fault raise FieldError, or with ``skip`` leave the row out. After a quote that is
    not in order, the next line is the next row.
    """
    columns: list[list[str | None]] = [[] for _ in range(width)]
    starts: list[int] = []
    faults: list[tuple[int, FieldError]] = []
    place = 0
    while place < len(text):
        start = place
        try:
            fields, place = row_at(text, start, dialect)
            if len(fields) == 1 and not fields[0].strip(b" \r") and text[start] != QUOTE:
                continue
            values = _values(fields, width, dialect, text, start)
        except FieldError as error:
            if not skip:
                raise
            faults.append((len(starts), error))
            if place == start:
                newline = text.find(b"\n", start)
                place = newline + 1 if newline >= 0 else len(text)
            continue
        starts.append(start)
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    return PlainRows(columns, starts, faults)


def _values(
    fields: list[bytes], width: int, dialect: Dialect, text: bytes, start: int
) -> list[str | None]:
    if len(fields) != width:
        raise FieldError(start, width_clause(len(fields), width, dialect))
    return [_value(field, text, start) for field in fields]


def width_clause(count: int, width: int, dialect: Dialect) -> str:
    """Return what to say of a row with another number of fields than the first row has."""
    separator = {"\t": "tabs", " ": "blanks"}.get(dialect.separator, f"'{dialect.separator}'")
    were = "was" if width == 1 else "were"
    return f"{counted(count, 'field')} where {width} {were} expected (separated by {separator})"


def _value(field: bytes, text: bytes, start: int) -> str | None:
    try:
        return field.decode().strip(BLANKS) or None
    except UnicodeDecodeError as error:
        # A doubled quote is one byte shorter in the field, so this may be a little before the byte.
        place = text.find(field[error.start : error.end], start)
        raise FieldError(place, not_utf_8(field)) from None


class WholeRows(NamedTuple):
    """Whole rows, as far as the text is what it should be."""

    text: bytes
    quotes: Places | None  # where quotes stand; None where there are none, or they mean nothing
    regular: bool  # whether each quote opens, closes or doubles another, so that they can be paired
    bytes_read: int  # of the file


def whole_rows(
    blocks: Iterable[TextBlock], dialect: Dialect, longest_field: int = LONGEST_LINE
) -> Generator[WholeRows, None, None]:
    """Yield the rows of blocks of lines, cut anew where a cut was inside of a quoted field.

    A field that is longer than ``longest_field`` bytes is not waited for.
    """
    held, waiting = b"", b""  # the beginning of a row, and what has come since it was looked at
    bytes_read = 0
    for block in blocks:
        bytes_read = block.bytes_read
        text = block.text[: block.length].tobytes()
        text = text.replace(b"\0", b" ")
        waiting += squeezed(text) if dialect.separator == " " else text
        if len(waiting) < len(held) and len(held) >= len(block.text):
            continue  # else a field without an end would be looked through again for every block
        text, waiting = (held + waiting if held else waiting), b""
        whole = row_block(text, dialect, bytes_read)
        cut = _behind_last_row(whole, dialect)
        held = text[cut:]
        if cut == len(text):
            yield whole
        elif cut:
            yield row_block(text[:cut], dialect, bytes_read)
        if len(held) > longest_field:
            yield row_block(held, dialect, bytes_read)
            held = b""
    if held or waiting:
        yield row_block(held + waiting, dialect, bytes_read)


def places_of(byte: int, letters: NDArray[np.uint8]) -> Places:
    """Return where a byte stands in a text."""
    return np.flatnonzero(letters == byte)


def row_block(text: bytes, dialect: Dialect, bytes_read: int) -> WholeRows:
    """Return a text with its quotes."""
    if not dialect.quoting or b'"' not in text:
        return WholeRows(text, None, regular=True, bytes_read=bytes_read)
    letters = np.frombuffer(text, np.uint8)
    quotes = places_of(QUOTE, letters)
    regular = _are_regular(letters, quotes, ord(dialect.separator))
    return WholeRows(text, quotes, regular, bytes_read)


def _are_regular(letters: NDArray[np.uint8], quotes: Places, separator: int) -> bool:
    """Whether every other quote begins a field and the ones between end it.

    A doubled quote ends a field and at once begins one. The text ends in a newline.
    """
    opening, closing = quotes[::2], quotes[1::2]
    before = letters[opening - 1]  # of the first letter of all: the last one, a newline
    after, next_but_one = letters[closing + 1], letters[np.minimum(closing + 2, len(letters) - 1)]
    opens = (before == separator) | (before == NEWLINE) | (before == QUOTE)
    closes = (after == separator) | (after == NEWLINE) | (after == QUOTE)
    closes |= (after == ord("\r")) & (next_but_one == NEWLINE)
    return bool(opens.all() and closes.all())


def _behind_last_row(block: WholeRows, dialect: Dialect) -> int:
    """Return the place behind the last row that is whole."""
    text, quotes = block.text, block.quotes
    if quotes is None:
        return len(text)
    if not block.regular:
        return _behind_last_row_read(text, dialect)
    if len(quotes) % 2 == 0:
        return len(text)
    for k in range(len(quotes) - 1, -1, -2):  # opening quotes, from the one that is not closed
        start = int(quotes[k - 1]) + 1 if k else 0
        newline = text.rfind(b"\n", start, int(quotes[k]))
        if newline >= 0:
            return newline + 1
    return 0


def _behind_last_row_read(text: bytes, dialect: Dialect) -> int:
    place = 0
    try:
        while place < len(text):
            place = row_at(text, place, dialect)[1]
    except FieldError as error:
        return place if error.unclosed else len(text)
    return place
