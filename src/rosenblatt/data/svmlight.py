"""Files of svmlight (LIBSVM) text as batches of rows, in memory that does not grow with them.

``label [qid:number] feature:value feature:value … [# comment]``, parted by blanks. ``parse_line``,
in plain Python, is the definition of what a line may say and words the errors. The compiled scan
knows only the usual shapes and leaves every other line to it. By hand, since the readers of
libraries take whole files, name no place in their errors and are slower.
"""

import itertools
import math
import os
import re
from collections.abc import Iterable, Iterator
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rosenblatt.data.batch import BadRow, BadRows, Batch, join, refuse_unless_skipped
from rosenblatt.data.labels import NOT_FINITE, NUMBER, Classes, Label, read_label, shown
from rosenblatt.data.sources import Source, TextBlock, name_of, text_lines
from rosenblatt.data.threads import in_order
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.compiling import available
from rosenblatt.kernels.text import MOST_FEATURE, NO_QUERY

if TYPE_CHECKING:
    from rosenblatt.kernels.text.svmlight import ScanProgress

BLOCK_BYTES = 2 << 20  # of text in a batch; from 1 to 8 MiB the speed is the same
MOST_QUERY = 2**63 - 1

TOKEN = re.compile(rb"[^ \t\r\v\f]+")  # as bytes.split parts them

# What rounds to the infinity of float32: half a step above its largest number.
FLOAT32_LIMIT = float(np.ldexp(2 - 2.0**-24, 127))
Text = NDArray[np.uint8]
Faults = list[tuple[int, "LineError"]]  # lines left out, with the number of the next row


class LineError(Exception):
    """What is wrong in a line: the column, a clause that says what, and which line of a block."""

    def __init__(self, column: int, clause: str, line: int = 0) -> None:
        super().__init__(column, clause, line)
        self.column = column
        self.clause = clause
        self.line = line


class Conventions(NamedTuple):
    """From where features are counted, and which values there can be."""

    base: int  # the number of the first feature, 0 or 1
    limit: float  # what rounds to infinity: values are below it in size
    detected: bool = False  # the base was found out from earlier rows, not told
    most: int = MOST_FEATURE  # the highest number of a feature


class Row(NamedTuple):
    """What a line says; features are sorted and counted from 0."""

    label: Label
    query: int
    indices: list[int]
    values: list[float]


def parse_line(line: bytes, numbering: Conventions) -> Row | None:
    """Return the row that a line states, or None for an empty line; raise LineError otherwise."""
    tokens = line.partition(b"#")[0].split()
    if not tokens:
        return None
    which = 0
    entries: dict[int, float] = {}
    try:
        label, query = _label(tokens[0]), NO_QUERY
        for which in range(1, len(tokens)):
            token = tokens[which]
            if which == 1 and token.startswith(b"qid:"):
                query = _query(token)
            else:
                _add_entry(token, numbering, entries)
    except _TokenError as error:
        raise LineError(_column(line, which, error.within), error.clause) from None
    features = sorted(entries)
    return Row(
        label,
        query,
        [feature - numbering.base for feature in features],
        [entries[feature] for feature in features],
    )


class _TokenError(Exception):
    """A token that is not what its place in the line asks for."""

    def __init__(self, clause: str, within: int = 0) -> None:
        super().__init__(clause)
        self.clause = clause
        self.within = within  # where in the token


def _column(line: bytes, which: int, within: int) -> int:
    """Return where in a line a token has a place, as an editor counts: in characters, from 1."""
    token = next(itertools.islice(TOKEN.finditer(line), which, None))
    before = line[: token.start() + within]
    return len(before.decode("utf-8", "replace")) + 1


def _label(token: bytes) -> Label:
    if b":" in token:
        clause = f"expected a label, found {shown(token)}"
        raise _TokenError(clause)
    try:
        return read_label(token)
    except ValueError as error:
        raise _TokenError(str(error)) from None


def _query(token: bytes) -> int:
    number = token[4:]
    if not number.isdigit():
        clause = f"qid {shown(number)} is not a whole number"
        raise _TokenError(clause, within=4)
    query = _whole(number)
    if query > MOST_QUERY:
        clause = f"qid {shown(number)} is beyond {MOST_QUERY}"
        raise _TokenError(clause, within=4)
    return query


def _whole(digits: bytes) -> int:
    """Return the number, or one that is too large for anything where it is longer than any index.

    Python refuses to convert more than 4300 digits.
    """
    return int(digits if len(digits) <= 20 else digits.lstrip(b"0")[:20] or b"0")


def _add_entry(token: bytes, numbering: Conventions, entries: dict[int, float]) -> None:
    """Add the value that a token gives to a feature, under its number in the file."""
    name, colon, written = token.partition(b":")
    if not colon:
        clause = f"expected feature:value, found {shown(token)}"
        raise _TokenError(clause)
    if not name.isdigit():
        clause = f"feature {shown(name)} is not a whole number"
        raise _TokenError(clause)
    feature = _whole(name)
    if feature > MOST_FEATURE:
        clause = f"feature {shown(name)} is beyond {MOST_FEATURE}, the highest number there can be"
        raise _TokenError(clause)
    if feature > numbering.most:
        raise _TokenError(_most_clause(feature, numbering.most))
    if feature < numbering.base:
        raise _TokenError(_zero_clause(numbering))
    if not NUMBER.fullmatch(written):
        raise _TokenError(_value_clause(feature, written), within=len(name) + 1)
    value = float(written)
    if abs(value) >= numbering.limit:
        kind = "float64" if math.isinf(numbering.limit) else "float32"
        clause = f"value {shown(written)} of feature {feature} is beyond the range of {kind}"
        raise _TokenError(clause, within=len(name) + 1)
    if feature in entries:
        clause = f"feature {feature} stands twice in this row"
        raise _TokenError(clause)
    entries[feature] = value


def _value_clause(feature: int, written: bytes) -> str:
    if not written:
        return f"feature {feature} has no value"
    if NOT_FINITE.fullmatch(written):
        return f"value {shown(written)} of feature {feature} is not finite"
    return f"value {shown(written)} of feature {feature} is not a number"


def _most_clause(feature: int, most: int) -> Sentence:
    return Sentence(
        f"feature {feature} is beyond {most:,}, the highest number that is expected in a file of"
        f" this size; if it is right, raise {Parameter('max_index')}"
    )


def _zero_clause(numbering: Conventions) -> str:
    reason = "where features count from 1; if this file counts from 0,"
    if numbering.detected:
        reason = "but the rows before were taken to count from 1 for want of a feature 0;"
    return Sentence(f"feature 0, {reason} use {Parameter('zero_based', value=True)}")


def conventions_for(base: int, dtype: np.dtype[Any], *, detected: bool = False) -> Conventions:
    """Return how features are numbered and what values there can be in this type."""
    limit = FLOAT32_LIMIT if dtype == np.float32 else np.inf
    return Conventions(base, limit, detected)


def parse_plain(
    text: bytes, numbering: Conventions, dtype: np.dtype[Any], faults: Faults | None = None
) -> Batch:
    """Return the rows of a text that ends in a newline; its classes are the labels as written.

    Raise LineError at the first bad line; with ``faults`` leave bad lines out, and list them there.
    """
    lines = text.split(b"\n")[:-1]
    data: list[float] = []
    indices: list[int] = []
    indptr = [0]
    labels: list[int] = []
    queries: list[int] = []
    distinct: dict[Label, int] = {}
    for number, line in enumerate(lines):
        try:
            row = parse_line(line, numbering)
        except LineError as error:
            fault = LineError(error.column, error.clause, number)
            if faults is None:
                raise fault from None
            faults.append((len(labels), fault))
            continue
        if row is None:
            continue
        data += row.values
        indices += row.indices
        indptr.append(len(indices))
        labels.append(distinct.setdefault(row.label, len(distinct)))
        queries.append(row.query)
    any_query = any(query != NO_QUERY for query in queries)
    return Batch(
        np.array(data, dtype),
        np.array(indices, np.int32),
        np.array(indptr, np.int64),
        np.array(labels, np.int32),
        tuple(distinct),
        np.array(queries, np.int64) if any_query else None,
        max(indices, default=-1) + 1,
        n_lines=len(lines),
    )


class LabelTokens(NamedTuple):
    """The distinct tokens that stand as labels, as ``scan`` finds them."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    slots: NDArray[np.int32]


def parse_scanned(
    text: Text,
    length: int,
    numbering: Conventions,
    dtype: np.dtype[Any],
    faults: Faults | None = None,
) -> Batch:
    """Return the rows of text[:length], which ends in a newline, as ``parse_plain`` does.

    The array must go on for 64 bytes behind the text, whatever they are.
    """
    from rosenblatt.kernels.text.decimals import NEWLINE
    from rosenblatt.kernels.text.svmlight import (
        ScanProgress,
        count_lines_and_colons,
        newline_from,
        scan,
        sort_rows,
    )
    from rosenblatt.kernels.text.words import SPAN

    if len(text) < length + SPAN or text[length - 1] != NEWLINE or not text.flags.c_contiguous:
        msg = "The scan needs contiguous text that ends in a newline, and 64 bytes behind it."
        raise ValueError(msg)
    address = text.ctypes.data
    n_lines, n_colons = count_lines_and_colons(address, length)
    queries = np.empty(n_lines, np.int64)
    rows = Batch(  # as many places as the text has colons and newlines
        np.empty(n_colons, dtype),
        np.empty(n_colons, np.int32),
        np.empty(n_lines + 1, np.int64),
        np.empty(n_lines, np.int32),
        queries=queries,
    )
    arrays = rows.data, rows.indices, rows.indptr, rows.labels, queries
    tokens = LabelTokens(
        np.empty(n_lines, np.int64),
        np.empty(n_lines, np.int64),
        np.zeros(2 << n_lines.bit_length(), np.int32),
    )
    done, good = ScanProgress(0, 0, 0, 0, 0, ascending=True), True
    while good:
        done = scan(address, length, numbering.base, numbering.limit, *arrays, *tokens, done)
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
    highest = int(indices.max(initial=-1))
    beyond = highest + numbering.base > numbering.most
    if not good or lowest < 0 or beyond or distinct is None:
        # Whatever is wrong, the plain parser comes to the first of it, and says what it is.
        return parse_plain(text[:length].tobytes(), numbering, dtype, faults)
    return Batch(
        rows.data[: done.n_values],
        indices,
        rows.indptr[: done.n_rows + 1],
        rows.labels[: done.n_rows],
        tuple(distinct),
        queries[: done.n_rows] if done.n_queries else None,
        highest + 1,
        n_lines=n_lines,
    )


def _with_row(rows: Batch, done: "ScanProgress", row: Row | None, position: int) -> "ScanProgress":
    """Write the features of a row whose label is written already; return the progress made."""
    if row is None:
        return done._replace(position=position)
    stop = done.n_values + len(row.indices)
    rows.data[done.n_values : stop] = row.values
    rows.indices[done.n_values : stop] = row.indices
    rows.indptr[done.n_rows + 1] = stop
    if rows.queries is not None:
        rows.queries[done.n_rows] = row.query
    n_queries = done.n_queries + (row.query != NO_QUERY)
    return done._replace(
        position=position, n_rows=done.n_rows + 1, n_values=stop, n_queries=n_queries
    )


def _labels(text: Text, tokens: LabelTokens, n_labels: int) -> list[Label] | None:
    """Return the labels that the tokens spell, or None if one does not."""
    spans = zip(tokens.starts[:n_labels], tokens.stops[:n_labels], strict=True)
    try:
        return [read_label(text[start:stop].tobytes()) for start, stop in spans]
    except ValueError:
        return None


def svmlight_batches(
    source: Source,
    *,
    zero_based: bool | None = None,
    dtype: DTypeLike = np.float64,
    classes: Classes | None = None,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
    prompt: bool = False,
    max_index: int | None = None,
    bad_rows: BadRows | None = None,
) -> Iterator[Batch]:
    """Yield the rows of a file in batches; memory is bounded by the size of a few blocks.

    By default the first block decides whether features count from 0: if any feature is 0 in it; a
    feature 0 in a later block is then an error. Values are the doubles nearest to what is written,
    as ``dtype``. ``classes`` number the labels, shared between files. Batches of about
    ``block_bytes`` of text are parsed by as many threads as there are processors and do not depend
    on their number; with ``prompt`` rows come as they arrive. An InputError names file, line and
    column; nothing of its batch is yielded.
    """
    kind = np.dtype(dtype)
    if kind not in (np.float32, np.float64):
        msg = f"dtype must be float64 or float32; got {kind}."
        raise InputError(msg)
    for name, number in (("block_bytes", block_bytes), ("threads", threads)):
        if number is not None and number < 1:
            msg = f"{name} must be at least 1; got {number}."
            raise InputError(msg)
    start = conventions_for(0 if zero_based is None else 1 - zero_based, kind)
    conventions = start._replace(
        detected=zero_based is None,
        most=MOST_FEATURE if max_index is None else min(max_index, MOST_FEATURE),
    )
    parser = _Parser(conventions, kind, skip=bad_rows is not None and bad_rows.skip)
    table = Classes() if classes is None else classes
    n_threads = threads or os.cpu_count() or 1
    return _batches(source, parser, table, block_bytes, n_threads, prompt, bad_rows)


def read_svmlight(
    source: Source,
    *,
    zero_based: bool | None = None,
    dtype: DTypeLike = np.float64,
    classes: Classes | None = None,
    threads: int | None = None,
) -> Batch:
    """Return all rows of a file as one batch; the parameters are those of ``svmlight_batches``.

    Whether features count from 0 or 1 is here decided by the whole file.
    """
    table = Classes() if classes is None else classes
    from_zero = True if zero_based is None else zero_based
    batches = list(
        svmlight_batches(source, zero_based=from_zero, dtype=dtype, classes=table, threads=threads)
    )
    if not batches:
        nothing = parse_plain(b"", conventions_for(0, np.dtype(dtype)), np.dtype(dtype))
        return nothing._replace(classes=table.labels, zero_based=from_zero, file=name_of(source))
    rows = join(batches)
    if zero_based is None and len(rows.indices) and rows.indices.min() > 0:
        rows.indices[:] -= 1
        rows = rows._replace(n_features=rows.n_features - 1, zero_based=False)
    return rows


def _batches(
    source: Source,
    parser: "_Parser",
    classes: Classes,
    size: int,
    threads: int,
    prompt: bool,
    bad_rows: BadRows | None,
) -> Iterator[Batch]:
    name, line = name_of(source), 1
    parts = in_order(parser.parse, text_lines(source, size, prompt=prompt), threads)
    try:
        for batch, faults in parts:
            bad = tuple(_bad_row(name, line, *fault) for fault in faults or ())
            if batch.n_rows or bad:
                codes = classes.codes(list(batch.classes))
                yield batch._replace(
                    labels=codes[batch.labels],
                    classes=classes.labels,
                    zero_based=not parser.base,
                    file=name,
                    first_line=line,
                    bad=bad,
                )
            line += batch.n_lines
    except LineError as error:
        refuse_unless_skipped(_bad_row(name, line, 0, error), bad_rows)
        raise
    finally:
        parts.close()


def _bad_row(file: str, line: int, before: int, error: LineError) -> BadRow:
    place = f"{file}, line {line + error.line}, column {error.column}"
    return BadRow(before, place, error.clause)


class _Parser:
    """Parses blocks in several threads, once it is known from where features count.

    Where nobody says so, the first block decides, and the others wait for it.
    """

    def __init__(self, conventions: Conventions, dtype: np.dtype[Any], *, skip: bool) -> None:
        self._conventions = conventions
        self._dtype = dtype
        self._skip = skip  # whether bad lines are left out
        self._decided = Event()
        if not conventions.detected:
            self._decided.set()

    @property
    def base(self) -> int:
        """The number of the first feature."""
        return self._conventions.base

    def parse(self, block: TextBlock) -> tuple[Batch, Faults | None]:
        """Return the rows of a block, and its bad lines where these are left out."""
        faults: Faults | None = [] if self._skip else None
        if block.offset == 0 and self._conventions.detected:
            try:
                rows = self._first_rows(block, faults)
            finally:
                self._decided.set()
        else:
            self._decided.wait()
            rows = self._rows(block, faults)
        return rows._replace(bytes_read=block.bytes_read), faults

    def _first_rows(self, block: TextBlock, faults: Faults | None) -> Batch:
        rows = self._rows(block, faults)
        if not len(rows.indices) or rows.indices.min() == 0:
            return rows
        self._conventions = self._conventions._replace(base=1)
        rows.indices[:] -= 1
        return rows._replace(n_features=rows.n_features - 1)

    def _rows(self, block: TextBlock, faults: Faults | None) -> Batch:
        how = self._conventions, self._dtype, faults
        if available():
            return parse_scanned(block.text, block.length, *how)
        return parse_plain(block.tobytes(), *how)


class SvmlightEncoding:
    """Features as they are numbered in svmlight text.

    >>> SvmlightEncoding(zero_based=False, n_features=20).name(16)
    'feature 17'
    """

    kind = "svmlight"
    table = None  # the encoding of columns

    def __init__(self, *, zero_based: bool, n_features: int) -> None:
        self.zero_based = zero_based
        self.n_features = n_features

    @property
    def inner(self) -> "SvmlightEncoding":
        """The encoding of what files hold."""
        return self

    def expand(self, batch: Batch) -> Batch:
        """Return the rows as they are."""
        return batch

    def name(self, index: int) -> str:
        """Return what a feature is called: its number in the file."""
        if not 0 <= index < self.n_features:
            msg = f"There is no feature {index}; they count from 0 to {self.n_features - 1}."
            raise InputError(msg)
        return f"feature {index + (not self.zero_based)}"

    def names(self, indices: Iterable[int]) -> list[str]:
        """Return what these features are called."""
        return [self.name(int(index)) for index in indices]

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs."""
        return {"kind": self.kind, "zero_based": self.zero_based, "n_features": self.n_features}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return nothing: there are no large parts."""
        return {}
