"""Rows and fields of separated text as Python's csv module reads them in its strict mode.

Fields stand between separators. Where quoting is on, a field that begins with a double quote ends
with one: between them separators and newlines are ordinary, and two quotes mean one. A quote within
a field that does not begin with one is an ordinary character. A row ends at a newline, or at a
carriage return and a newline; alone, a carriage return is ordinary.
"""

import csv
import re
from collections.abc import Generator, Iterable, Iterator
from io import BytesIO
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
QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"'
LONE_RETURN, STAND_IN = re.compile(r"\r(?!\n|\Z)"), "\udc0d"  # no byte of text is decoded so
NOT_TEXT = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as they are decoded here

Places = NDArray[np.int64]
csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))


class Dialect(NamedTuple):
    """How the fields of a text are parted."""

    separator: str
    quoting: bool


class FieldError(Exception):
    """What is wrong in a text: at which byte, and a clause that says what."""

    def __init__(self, place: int, clause: str, *, row: int = 0, unclosed: bool = False) -> None:
        super().__init__(place, clause)
        self.place, self.clause = place, clause
        self.row = row  # where the row begins of which a quote is not in order
        self.unclosed = unclosed  # whether more text could put it right


def rows(text: bytes, dialect: Dialect, start: int = 0) -> Iterator[tuple[int, int, list[str]]]:
    """Yield beginning, end and fields of each row; lines that are empty or only spaces are skipped.

    Bytes that are not UTF-8 stand in the fields as ``NOT_TEXT``.
    """
    stop = start

    def lines() -> Iterator[str]:
        nonlocal stop
        stream = BytesIO(text)
        stream.seek(start)
        for line in stream:
            stop += len(line)
            yield LONE_RETURN.sub(STAND_IN, line.decode("utf-8", "surrogateescape"))

    reader = csv.reader(
        lines(),
        delimiter=dialect.separator,
        quoting=csv.QUOTE_MINIMAL if dialect.quoting else csv.QUOTE_NONE,
        strict=True,
    )
    try:
        for read in reader:
            fields = [field.replace(STAND_IN, "\r") for field in read]
            if len(fields) > 1 or (fields and (fields[0].strip(" \r") or text[start] == QUOTE)):
                yield start, stop, fields
            start = stop
    except csv.Error:
        raise _quote_error(text, start, dialect) from None


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


def _quote_error(text: bytes, row: int, dialect: Dialect) -> FieldError:
    """Return what is wrong with the first field of a row whose quotes are not in order."""
    mark = re.escape(dialect.separator.encode())
    good = re.compile(rb'(?:(?:%b|(?!")[^%b\n]*)%b)*+' % (QUOTED, mark, mark)).match(text, row)
    place = good.end() if good else row
    closed = re.compile(QUOTED).match(text, place)
    if closed is None:
        advice = Sentence(
            f"the quote before {shown(text[place + 1 : place + 60])} is never closed; if quotes are"
            f" ordinary characters in this file, use {Parameter('quoting', value=False)}"
        )
        return FieldError(place, advice, row=row, unclosed=True)
    clause = (
        f"{shown(text[closed.end() : closed.end() + 1])} follows the quote that closes a field,"
        f" where {_named(dialect.separator)} or the end of the row was expected"
    )
    return FieldError(closed.end(), clause, row=row)


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
    found = PlainRows([[] for _ in range(width)], [], [])

    def note(error: FieldError) -> None:
        if not skip:
            raise error
        found.faults.append((len(found.starts), error))

    place = 0
    while place < len(text):
        try:
            for start, _, fields in rows(text, dialect, place):
                try:
                    values = _values(fields, width, dialect, text, start)
                except FieldError as error:
                    note(error)
                    continue
                found.starts.append(start)
                for column, value in zip(found.columns, values, strict=True):
                    column.append(value)
            break
        except FieldError as error:
            note(error)
            place = text.find(b"\n", error.row) + 1 or len(text)
    return found


def _values(
    fields: list[str], width: int, dialect: Dialect, text: bytes, start: int
) -> list[str | None]:
    if len(fields) != width:
        raise FieldError(start, width_clause(len(fields), width, dialect))
    for field in fields:
        if odd := NOT_TEXT.search(field):
            byte, whole = (one.encode("utf-8", "surrogateescape") for one in (odd[0], field))
            raise FieldError(text.find(byte, start), not_utf_8(whole))
    return [field.strip(BLANKS) or None for field in fields]


def width_clause(count: int, width: int, dialect: Dialect) -> str:
    """Return what to say of a row with another number of fields than the first row has."""
    separator = {"\t": "tabs", " ": "blanks"}.get(dialect.separator, f"'{dialect.separator}'")
    were = "was" if width == 1 else "were"
    return f"{counted(count, 'field')} where {width} {were} expected (separated by {separator})"


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
    try:
        for _ in rows(text, dialect):
            pass
    except FieldError as error:
        return error.row if error.unclosed else len(text)
    return len(text)
