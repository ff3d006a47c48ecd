"""A block of svmlight text parsed by the compiled scan, with plain Python for unusual lines."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Label, read_label
from rosenblatt.data.line import (
    LineError,
    Numbering,
    Row,
    parse_line,
)
from rosenblatt.data.parsed import Parsed
from rosenblatt.data.plain_rows import parse_plain
from rosenblatt.kernels.text import MOST_FEATURE, NO_QUERY
from rosenblatt.kernels.text.svmlight import (
    Progress,
    count_lines_and_colons,
    newline_from,
    scan,
    sort_rows,
)
from rosenblatt.kernels.text.tokens import NEWLINE
from rosenblatt.kernels.text.words import SPAN

Text = NDArray[np.uint8]


class RowArrays(NamedTuple):
    """Where rows are written: as many places as the text has colons and newlines."""

    data: NDArray[Any]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    labels: NDArray[np.int32]
    queries: NDArray[np.int64]


class LabelTokens(NamedTuple):
    """The distinct tokens that stand as labels, as ``scan`` finds them."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    slots: NDArray[np.int32]


def parse_scanned(text: Text, length: int, numbering: Numbering, dtype: np.dtype[Any]) -> Parsed:
    """Return the rows of text[:length], which ends in a newline; raise LineError at a bad line.

    The array must go on for 64 bytes behind the text, whatever they are.
    """
    if len(text) < length + SPAN or text[length - 1] != NEWLINE or not text.flags.c_contiguous:
        msg = "The scan needs contiguous text that ends in a newline, and 64 bytes behind it."
        raise ValueError(msg)
    address = text.ctypes.data
    n_lines, n_colons = count_lines_and_colons(address, length)
    rows = RowArrays(
        np.empty(n_colons, dtype),
        np.empty(n_colons, np.int32),
        np.empty(n_lines + 1, np.int64),
        np.empty(n_lines, np.int32),
        np.empty(n_lines, np.int64),
    )
    tokens = LabelTokens(
        np.empty(n_lines, np.int64),
        np.empty(n_lines, np.int64),
        np.zeros(2 << n_lines.bit_length(), np.int32),
    )
    done, good = Progress(0, 0, 0, 0, 0, ascending=True), True
    while good:
        done = scan(address, length, numbering.base, numbering.limit, *rows, *tokens, done)
        if done.position >= length:
            break
        start = done.position
        stop = newline_from(address, start)
        try:
            row = parse_line(text[start:stop].tobytes(), numbering)
        except LineError:
            good = False
        else:
            done = _with_row(rows, done, row, stop + 1)
    if good and not done.ascending:
        good = sort_rows(rows.data, rows.indices, rows.indptr, done.n_rows)
    indices = rows.indices[: done.n_values]
    lowest = int(indices.min(initial=MOST_FEATURE))
    distinct = _labels(text, tokens, done.n_labels)
    if not good or lowest < 0 or distinct is None:
        # Whatever is wrong, the plain parser comes to the first of it, and says what it is.
        return parse_plain(text[:length].tobytes(), numbering, dtype)
    return Parsed(
        rows.data[: done.n_values],
        indices,
        rows.indptr[: done.n_rows + 1],
        rows.labels[: done.n_rows],
        distinct,
        rows.queries[: done.n_rows] if done.n_queries else None,
        lowest,
        int(indices.max(initial=-1)) + 1,
        n_lines,
    )


def _with_row(rows: RowArrays, done: Progress, row: Row | None, position: int) -> Progress:
    """Write the features of a row whose label is written already; return the progress made."""
    if row is None:
        return done._replace(position=position)
    stop = done.n_values + len(row.indices)
    rows.data[done.n_values : stop] = row.values
    rows.indices[done.n_values : stop] = row.indices
    rows.indptr[done.n_rows + 1] = stop
    rows.queries[done.n_rows] = row.query
    n_queries = done.n_queries + (row.query != NO_QUERY)
    return Progress(position, done.n_rows + 1, stop, done.n_labels, n_queries, done.ascending)


def _labels(text: Text, tokens: LabelTokens, n_labels: int) -> list[Label] | None:
    """Return the labels that the tokens spell, or None if one does not."""
    spans = zip(tokens.starts[:n_labels], tokens.stops[:n_labels], strict=True)
    try:
        return [read_label(text[start:stop].tobytes()) for start, stop in spans]
    except ValueError:
        return None
