"""Separated text (CSV, TSV) as tables: polars reads, and what it reads is checked.

What polars does not read is read by Python's csv module in its strict mode. A row ends at a
newline, or at a carriage return and a newline; alone, a carriage return is ordinary.
"""

import csv
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import reduce
from io import BytesIO
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import HEADER_AGAIN, BadRow, BadRows, refuse_unless_skipped
from rosenblatt.data.labels import shown
from rosenblatt.data.polars import pl
from rosenblatt.data.sources import BYTE_ORDER_MARK, LONGEST_LINE, NEWLINE, RETURN, TextBlock
from rosenblatt.data.tables.table import (
    Dialect,
    Heading,
    Table,
    chosen_columns,
    in_slices,
    polars_failures,
)
from rosenblatt.data.text_encodings import likely_encodings
from rosenblatt.errors import Parameter, Sentence
from rosenblatt.wording import counted

SPACE, QUOTE = ord(" "), ord('"')
BLANKS = " \t\r\n\v\f"  # taken off both ends of a field
QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"'
LONE_RETURN, STAND_IN = re.compile(r"\r(?!\n|\Z)"), "\udc0d"  # no byte of text is decoded so
NOT_TEXT = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as they are decoded here

Places = NDArray[np.int64]
Rows = tuple["pl.DataFrame", Places, tuple[BadRow, ...]]  # on which line each begins; bad ones
RowReader = Callable[[bytes, Dialect, int], Iterator[tuple[int, int, list[str]]]]
csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))


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
    """Return what to say of text that is not UTF-8, with the encodings that it may have."""
    likely = [
        f"{Parameter('encoding', name)} reads {read!r}"
        for name, read in likely_encodings(text).items()
    ]
    named = f": {', '.join(likely)}" if likely else f" with {Parameter('encoding')}"
    return Sentence(
        f"{shown(text)} is not UTF-8 text; name the encoding of the file{named}, or replace what"
        f" cannot be read with {Parameter('encoding_errors', 'replace')}"
    )


def _quote_error(text: bytes, row: int, dialect: Dialect) -> FieldError:
    """Return what is wrong with the first field of a row whose quotes are not in order."""
    separator = dialect.separator
    mark = re.escape(separator.encode())
    good = re.compile(rb'(?:(?:%b|(?!")[^%b\n]*)%b)*+' % (QUOTED, mark, mark)).match(text, row)
    place = good.end() if good else row
    closed = re.compile(QUOTED).match(text, place)
    if closed is None:
        advice = Sentence(
            f"the quote before {shown(text[place + 1 : place + 60])} is never closed; if quotes are"
            f" ordinary characters in this file, use {Parameter('quoting', value=False)}"
        )
        return FieldError(place, advice, row=row, unclosed=True)
    following = shown(text[closed.end() : closed.end() + 1])
    expected = "a tab" if separator == "\t" else f"'{separator}'"
    clause = (
        f"{following} follows the quote that closes a field, where {expected} or the end of the"
    )
    clause += " row was expected"
    return FieldError(closed.end(), clause, row=row)


def read_plainly(
    text: bytes, dialect: Dialect, width: int, *, skip: bool = False, read: RowReader = rows
) -> tuple[list[list[str | None]], list[int], list[tuple[int, FieldError]]]:
    """Return the values of rows, where they begin, and faults with the number of the next row.

    At the first fault raise FieldError, or with ``skip`` leave the row out. After a quote that is
    not in order, the next line is the next row.
    """
    table, starts, faults = list[list[str | None]](), list[int](), list[tuple[int, FieldError]]()

    def note(error: FieldError) -> None:
        if not skip:
            raise error
        faults.append((len(starts), error))

    place = 0
    while place < len(text):
        try:
            for start, _, fields in read(text, dialect, place):
                try:
                    table.append(_values(fields, width, dialect, text, start))
                    starts.append(start)
                except FieldError as error:
                    note(error)
            break
        except FieldError as error:
            note(error)
            place = text.find(b"\n", error.row) + 1 or len(text)
    return table, starts, faults


def _values(
    fields: list[str], width: int, dialect: Dialect, text: bytes, start: int
) -> list[str | None]:
    if len(fields) != width:
        separator = {"\t": "tabs", " ": "blanks"}.get(dialect.separator, f"'{dialect.separator}'")
        expected = f"where {width} {'was' if width == 1 else 'were'} expected"
        clause = f"{counted(len(fields), 'field')} {expected} (separated by {separator})"
        raise FieldError(start, clause)
    for field in fields:
        if odd := NOT_TEXT.search(field):
            byte, whole = (one.encode("utf-8", "surrogateescape") for one in (odd[0], field))
            raise FieldError(text.find(byte, start), not_utf_8(whole))
    return [field.strip(BLANKS) or None for field in fields]


def whole_rows(
    blocks: Iterable[TextBlock], dialect: Dialect, longest_field: int = LONGEST_LINE
) -> Generator[TextBlock, None, None]:
    """Yield the rows of blocks of lines, cut anew where a cut was inside of a quoted field.

    A field that is longer than ``longest_field`` bytes is not waited for.
    """
    held, waiting = b"", b""  # the beginning of a row, and what has come since it was looked at
    bytes_read = 0
    for block in blocks:
        bytes_read = block.bytes_read
        text = block.tobytes().replace(b"\0", b" ")
        waiting += squeezed(text) if dialect.separator == " " else text
        if len(waiting) < len(held) and len(held) >= len(block.text):
            continue  # else a field without an end would be looked through again for every block
        text, waiting = (held + waiting if held else waiting), b""
        whole = row_block(text, dialect, bytes_read)
        cut = _behind_last_row(whole, text, dialect)
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


def row_block(text: bytes, dialect: Dialect, bytes_read: int) -> TextBlock:
    """Return a text with its quotes."""
    letters = np.frombuffer(text, np.uint8)
    block = TextBlock(letters, len(text), 0, bytes_read)
    if not dialect.quoting or b'"' not in text:
        return block
    quotes = places_of(QUOTE, letters)
    regular = _are_regular(letters, quotes, ord(dialect.separator))
    return block._replace(quotes=quotes, regular=regular)


def _are_regular(letters: NDArray[np.uint8], quotes: Places, separator: int) -> bool:
    """Whether every other quote begins a field and the ones between end it.

    A doubled quote ends a field and at once begins one. The text ends in a newline.
    """
    opening, closing = quotes[::2], quotes[1::2]
    before = letters[opening - 1]  # of the first letter of all: the last one, a newline
    after, next_but_one = letters[closing + 1], letters[np.minimum(closing + 2, len(letters) - 1)]
    marks = np.isin(np.arange(256), (separator, NEWLINE, QUOTE))
    opens, closes = marks[before], marks[after] | ((after == RETURN) & (next_but_one == NEWLINE))
    return bool(opens.all() and closes.all())


def _behind_last_row(block: TextBlock, text: bytes, dialect: Dialect) -> int:
    quotes = block.quotes
    if quotes is None or (block.regular and len(quotes) % 2 == 0):
        return len(text)
    if not block.regular:
        try:
            for _ in rows(text, dialect):
                pass
        except FieldError as error:
            return error.row if error.unclosed else len(text)
        return len(text)
    for k in range(len(quotes) - 1, -1, -2):  # opening quotes, from the one that is not closed
        start = int(quotes[k - 1]) + 1 if k else 0
        newline = text.rfind(b"\n", start, int(quotes[k]))
        if newline >= 0:
            return newline + 1
    return 0


class SeparatedParser:
    """Makes tables of successive blocks of one file, and counts its lines and rows."""

    def __init__(self, file: str, bad: BadRows | None) -> None:
        self._file = file
        self._bad = bad
        self._line = 0  # on which the next block begins, once it is known
        self._row = 1

    def parse(self, laid_out: tuple[Heading, TextBlock]) -> list[Table]:
        """Return the rows of the next block; raise InputError with the line of what is wrong."""
        heading, block = laid_out
        self._line = self._line or heading.first_line
        frame, lines, bad = self._read(block, heading)
        headers, lines = _are_headers(frame, heading.again), lines + self._line
        frame = chosen_columns(frame, heading.choice)
        table = Table(frame, self._file, self._row, lines, block.bytes_read, heading, bad)
        again = np.flatnonzero(headers).tolist()
        table = table.without([BadRow(k, table.place(k), HEADER_AGAIN) for k in again])
        self._line += int(np.count_nonzero(block.text == NEWLINE))
        self._row += table.frame.height
        return list(in_slices(table))

    def _rows(
        self, text: bytes, dialect: Dialect, start: int
    ) -> Iterator[tuple[int, int, list[str]]]:
        return rows(text, dialect, start)

    def _read(self, block: TextBlock, heading: Heading) -> Rows:
        return _read_fast(block, heading) or self._read_plainly(block, heading)

    def _read_plainly(self, block: TextBlock, heading: Heading) -> Rows:
        how: Any = {"skip": self._bad is not None and self._bad.skip, "read": self._rows}
        text = block.tobytes()
        try:
            table, starts, faults = read_plainly(text, heading.dialect, heading.width, **how)
        except FieldError as error:
            refuse_unless_skipped(self._bad_row(0, error, text), self._bad)
            raise
        frame = pl.DataFrame(table, schema=_schema(heading.width), orient="row")
        lines = np.searchsorted(places_of(NEWLINE, block.text), starts)
        return frame, lines, tuple(self._bad_row(before, error, text) for before, error in faults)

    def _bad_row(self, before: int, error: FieldError, text: bytes) -> BadRow:
        line = self._line + text.count(b"\n", 0, error.place)
        return BadRow(before, f"{self._file}, line {line}", error.clause)


def _are_headers(frame: "pl.DataFrame", fields: Sequence[str]) -> NDArray[np.bool_]:
    """Return which rows consist of these fields; none where there are no fields."""
    found = np.zeros(frame.height, bool)
    if fields and (frame.to_series(0) == fields[0]).any():
        pairs = zip(frame.columns, fields, strict=True)
        own = frame.select(pl.all_horizontal(pl.col(name) == field for name, field in pairs))
        found = own.to_series().fill_null(value=False).to_numpy()
    return found


def _schema(width: int) -> "dict[str, type[pl.String]]":
    return {str(k): pl.String for k in range(width)}


def _read_fast(block: TextBlock, layout: Heading) -> Rows | None:
    """Return what polars reads, or None where that is not all, or nothing.

    It fills short rows with nulls and takes no long ones: the number of separators tells.
    """
    if not block.regular or (block.quotes is not None and len(block.quotes) % 2):
        return None
    text, lines = _filled_lines(block)
    dialect, schema = layout.dialect, _schema(layout.width)
    if not len(lines):
        return pl.DataFrame(schema=schema), lines, ()
    # A start that polars would take for a mark, or as x^ for packed data, gets a mark before it
    marked = BYTE_ORDER_MARK + text if text[:1] in {b"x", BYTE_ORDER_MARK[:1]} else text
    try:
        frame = pl.read_csv(
            marked,
            has_header=False,
            schema=schema,
            separator=dialect.separator,
            quote_char='"' if dialect.quoting else None,
        )
    except polars_failures():
        return None
    if frame.height != len(lines) or frame.width != layout.width:
        return None
    if layout.width > 1 and frame.to_series(-1).null_count():
        letters = np.frombuffer(text, np.uint8)
        separators = places_of(ord(dialect.separator), letters)
        quotes = places_of(QUOTE, letters) if dialect.quoting else np.empty(0, np.int64)
        if np.count_nonzero(~_inside(quotes, separators)) != len(lines) * (layout.width - 1):
            return None
    return _tidied(frame, text, dialect), lines, ()


def _tidied(frame: "pl.DataFrame", text: bytes, dialect: Dialect) -> "pl.DataFrame":
    """Return the fields without blanks around them, and null for those of which nothing is left.

    To look for blanks takes a quarter of the time that it takes to remove them.
    """
    quoted = dialect.quoting and b'"' in text
    blanks = [blank for blank in BLANKS if blank.encode() in text]
    if not quoted:  # else separators and newlines may stand in fields
        blanks = [blank for blank in blanks if blank not in (dialect.separator, "\n")]
    names: list[str] = []

    def columns_where(condition: pl.Expr) -> list[str]:
        holds = frame.select(condition.any()).row(0)
        return [name for name, has in zip(frame.columns, holds, strict=True) if has]

    if blanks:
        field = pl.all().str
        names = columns_where(
            reduce(or_, [field.starts_with(b) | field.ends_with(b) for b in blanks])
        )
        frame = frame.with_columns(pl.col(names).str.strip_chars(BLANKS)) if names else frame
    if quoted or names:  # else what is empty is null already
        names = columns_where(pl.all() == "")
        fields = pl.col(names)
        frame = frame.with_columns(pl.when(fields != "").then(fields)) if names else frame
    return frame


def _filled_lines(block: TextBlock) -> tuple[bytes, Places]:
    """Return a text without its blank lines, and the line on which each row begins, from 0 on."""
    letters, newlines = block.text, places_of(NEWLINE, block.text)
    ends = newlines if block.quotes is None else newlines[~_inside(block.quotes, newlines)]
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    is_simple = len(ends) == len(newlines)
    lines = np.arange(len(starts)) if is_simple else np.searchsorted(newlines, starts)
    blank = _are_blank(letters, starts, ends)
    if blank is None:
        return block.tobytes(), lines
    return letters[np.repeat(~blank, ends + 1 - starts)].tobytes(), lines[~blank]


def _are_blank(
    letters: NDArray[np.uint8], starts: Places, ends: Places
) -> NDArray[np.bool_] | None:
    """Return which lines are empty or hold only spaces; None where no line is so."""
    first = letters[starts]
    blank: NDArray[np.bool_] = first == NEWLINE
    for k in np.flatnonzero((first == SPACE) | (first == RETURN)):
        blank[k] = not letters[starts[k] : ends[k]].tobytes().strip(b" \r")
    return blank if blank.any() else None


def _inside(quotes: Places, places: Places) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = np.searchsorted(quotes, places) % 2 == 1
    return inside
