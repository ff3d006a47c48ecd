"""Separated text (CSV, TSV) as tables: polars reads, and what it reads is checked."""

from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.bad_rows import BadRow, BadRows, refuse_unless_skipped
from rosenblatt.data.lines import BYTE_ORDER_MARK
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.fields import (
    BLANKS,
    NEWLINE,
    QUOTE,
    Dialect,
    FieldError,
    Places,
    WholeRows,
    places_of,
    read_plainly,
)
from rosenblatt.data.tables.heading import Heading
from rosenblatt.data.tables.table import Table, chosen_columns, in_slices, polars_failures

SPACE, RETURN = ord(" "), ord("\r")


class _Spans(NamedTuple):
    """Where the rows of a text stand."""

    text: bytes  # without the blank lines
    starts: Places | None  # of rows in the whole text; None where each line is a row
    n_rows: int
    newlines: Places  # in the whole text


class SeparatedParser:
    """Makes tables of successive blocks of one file, and counts its lines and rows."""

    def __init__(self, file: str, bad: BadRows | None) -> None:
        self._file = file
        self._bad = bad
        self._line = 1  # on which the next block begins
        self._row = 1

    def parse(self, laid_out: tuple[Heading, WholeRows]) -> list[Table]:
        """Return the rows of the next block; raise InputError with the line of what is wrong."""
        heading, block = laid_out
        bad: tuple[BadRow, ...] = ()
        spans = _spans_of(block)
        frame = None if spans is None else _read_fast(spans, heading)
        if frame is None or spans is None:
            frame, spans, bad = self._read_plainly(block, heading)
        lines = self._lines(spans)
        self._line += len(spans.newlines)
        frame = chosen_columns(frame, heading.choice)
        table = Table(frame, self._file, self._row, lines, block.bytes_read, heading, bad)
        self._row += frame.height
        return list(in_slices(table))

    def _read_plainly(
        self, block: WholeRows, heading: Heading
    ) -> "tuple[pl.DataFrame, _Spans, tuple[BadRow, ...]]":
        skip = self._bad is not None and self._bad.skip
        try:
            plain = read_plainly(block.text, heading.dialect, heading.width, skip=skip)
        except FieldError as error:
            refuse_unless_skipped(self._bad_row(0, error, block.text), self._bad)
            raise
        names = [str(k) for k in range(heading.width)]
        columns = dict(zip(names, plain.columns, strict=True))
        frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
        newlines = places_of(NEWLINE, np.frombuffer(block.text, np.uint8))
        starts = np.array(plain.starts, np.int64)
        bad = tuple(self._bad_row(before, error, block.text) for before, error in plain.faults)
        return frame, _Spans(b"", starts, len(starts), newlines), bad

    def _bad_row(self, before: int, error: FieldError, text: bytes) -> BadRow:
        line = self._line + text.count(b"\n", 0, error.place)
        return BadRow(before, f"{self._file}, line {line}", error.clause)

    def _lines(self, spans: _Spans) -> Places:
        if spans.starts is None:
            return np.arange(self._line, self._line + spans.n_rows)
        return self._line + np.searchsorted(spans.newlines, spans.starts)


def _spans_of(block: WholeRows) -> _Spans | None:
    """Return where the rows stand, None where quotes are not in order."""
    is_closed = block.quotes is None or len(block.quotes) % 2 == 0
    return _spans(block) if block.regular and is_closed else None


def _read_fast(spans: _Spans, layout: Heading) -> "pl.DataFrame | None":
    """Return what polars reads, or None where that is not all, or nothing.

    polars must find as many rows as there are, and it fills a row that is too short with nulls, but
    takes none that is too long: so with the right number of separators every row has its fields.
    """
    dialect = layout.dialect
    if not spans.n_rows:
        return pl.DataFrame(schema={str(k): pl.String for k in range(layout.width)})
    try:
        frame = pl.read_csv(
            _protected(spans.text),
            has_header=False,
            schema={str(k): pl.String for k in range(layout.width)},
            separator=dialect.separator,
            quote_char='"' if dialect.quoting else None,
        )
    except polars_failures():
        return None
    if frame.height != spans.n_rows or frame.width != layout.width:
        return None
    if layout.width > 1 and frame.to_series(-1).null_count():
        n_separators = _count_separators(spans.text, dialect)
        if n_separators != spans.n_rows * (layout.width - 1):
            return None
    return _tidied(frame, spans.text, dialect)


def _protected(text: bytes) -> bytes:
    """Return a text from which polars drops nothing at the start but the mark.

    It would drop a mark that belongs to the text, and take text that begins with x^ or x and a
    certain control character for packed data.
    """
    return BYTE_ORDER_MARK + text if text[:1] in {b"x", BYTE_ORDER_MARK[:1]} else text


def _tidied(frame: "pl.DataFrame", text: bytes, dialect: Dialect) -> "pl.DataFrame":
    """Return the fields without blanks around them, and null for those of which nothing is left.

    To look for blanks takes a quarter of the time that it takes to remove them.
    """
    quoted = dialect.quoting and b'"' in text
    blanks = [blank for blank in BLANKS if blank.encode() in text]
    for mark in (dialect.separator, "\n"):  # stand in fields only in quotes
        if not quoted and mark in blanks:
            blanks.remove(mark)
    may_be_empty = quoted  # without quotes it is null already
    if blanks:
        field = pl.all().str
        ends = reduce(or_, [field.starts_with(b) | field.ends_with(b) for b in blanks])
        has_blanks = frame.select(ends.any()).row(0)
        names = [name for name, has in zip(frame.columns, has_blanks, strict=True) if has]
        if names:
            frame = frame.with_columns(pl.col(names).str.strip_chars(BLANKS))
            may_be_empty = True
    if may_be_empty:
        is_empty = frame.select((pl.all() == "").any()).row(0)
        names = [name for name, has in zip(frame.columns, is_empty, strict=True) if has]
        if names:
            fields = pl.col(names)
            frame = frame.with_columns(pl.when(fields != "").then(fields))
    return frame


def _spans(block: WholeRows) -> _Spans:
    letters = np.frombuffer(block.text, np.uint8)
    newlines = places_of(NEWLINE, letters)
    ends = newlines if block.quotes is None else newlines[~_inside(block.quotes, newlines)]
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    blank = _are_blank(letters, starts, ends)
    if blank is None:
        is_simple = len(ends) == len(newlines)
        return _Spans(block.text, None if is_simple else starts, len(starts), newlines)
    text = letters[np.repeat(~blank, ends + 1 - starts)].tobytes()
    starts = starts[~blank]
    return _Spans(text, starts, len(starts), newlines)


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
    """Return which places are between an opening and a closing quote."""
    inside: NDArray[np.bool_] = np.searchsorted(quotes, places) % 2 == 1
    return inside


def _count_separators(text: bytes, dialect: Dialect) -> int:
    letters = np.frombuffer(text, np.uint8)
    if not dialect.quoting or b'"' not in text:
        return int(np.count_nonzero(letters == ord(dialect.separator)))
    separators = places_of(ord(dialect.separator), letters)
    quotes = places_of(QUOTE, letters)
    return int(np.count_nonzero(~_inside(quotes, separators)))
