"""Files of svmlight (LIBSVM) text, ``label [qid:number] feature:value … [# comment]``, as batches.

``parse_line`` is the definition of a line and words the errors; the compiled scan leaves unusual
lines to it. By hand, since readers of libraries take whole files and name no place in errors.
"""

import itertools
import math
import os
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import BadRow, BadRows, Batch, refuse_unless_skipped
from rosenblatt.data.labels import NOT_FINITE, NUMBER, Classes, Label, read_label, shown
from rosenblatt.data.sources import NEWLINE, Source, TextBlock, name_of, text_lines
from rosenblatt.data.streams import in_order
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.compiling import available
from rosenblatt.kernels.shapes import ordered
from rosenblatt.kernels.text import MOST_FEATURE
from rosenblatt.kernels.text.svmlight import (
    LabelTokens,
    ScanProgress,
    count_lines_and_colons,
    newline_from,
    scan,
)
from rosenblatt.kernels.text.words import SPAN

BLOCK_BYTES = 2 << 20  # of text in a batch; from 1 to 8 MiB the speed is the same
MOST_QUERY = 2**63 - 1

TOKEN = re.compile(rb"[^ \t\r\v\f]+")  # as bytes.split parts them

Faults = list[tuple[int, "LineError"]]  # lines left out, with the number of the next row


class LineError(Exception):
    """What is wrong in a line: the column, a clause that says what, and which line of a block."""

    def __init__(self, column: int, clause: str, line: int = 0) -> None:
        super().__init__(column, clause, line)
        self.column = column
        self.clause = clause
        self.line = line


class Conventions(NamedTuple):
    """From where features are counted."""

    base: int  # the number of the first feature, 0 or 1
    detected: bool = False  # the base was found out from earlier rows, not told
    most: int = MOST_FEATURE  # the highest number of a feature


class Row(NamedTuple):
    """What a line says; features are sorted and counted from 0."""

    label: Label
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
        label = _label(tokens[0])
        for which in range(1, len(tokens)):
            if which == 1 and tokens[1].startswith(b"qid:"):
                _check_query(tokens[1][4:])
            else:
                _add_entry(tokens[which], numbering, entries)
    except LineError as error:
        raise LineError(_column(line, which, error.column), error.clause) from None
    features = sorted(entries)
    indices = [feature - numbering.base for feature in features]
    return Row(label, indices, [entries[feature] for feature in features])


def _column(line: bytes, which: int, within: int) -> int:
    """Return where in a line a token has a place, as an editor counts: in characters, from 1."""
    token = next(itertools.islice(TOKEN.finditer(line), which, None))
    before = line[: token.start() + within]
    return len(before.decode("utf-8", "replace")) + 1


def _label(token: bytes) -> Label:
    if b":" in token:
        raise LineError(0, f"expected a label, found {shown(token)}")
    try:
        return read_label(token)
    except ValueError as error:
        raise LineError(0, str(error)) from None


def _check_query(number: bytes) -> None:
    """Check what stands behind qid:, which is not used; an error has its place in the token."""
    query = _whole(number) if number.isdigit() else -1
    if not 0 <= query <= MOST_QUERY:
        why = f"is beyond {MOST_QUERY}" if query > 0 else "is not a whole number"
        raise LineError(4, f"qid {shown(number)} {why}")


def _whole(digits: bytes) -> int:
    """Return the number, of many digits one too large: Python converts no more than 4300."""
    return int(digits if len(digits) <= 20 else digits.lstrip(b"0")[:20] or b"0")


def _add_entry(token: bytes, numbering: Conventions, entries: dict[int, float]) -> None:
    """Add the value that a token gives to a feature, under its number in the file."""
    name, colon, written = token.partition(b":")
    clause, place = "", 0
    feature = _whole(name) if name.isdigit() else -1
    if not colon:
        clause = f"expected feature:value, found {shown(token)}"
    elif feature < 0:
        clause = f"feature {shown(name)} is not a whole number"
    elif feature > MOST_FEATURE:
        clause = f"feature {shown(name)} is beyond {MOST_FEATURE}, the highest number there can be"
    elif feature > numbering.most:
        clause = Sentence(
            f"feature {feature} is beyond {numbering.most:,}, the highest number that is expected"
            f" in a file of this size; if it is right, raise {Parameter('max_index')}"
        )
    elif feature < numbering.base:
        reason = "where features count from 1; if this file counts from 0,"
        if numbering.detected:
            reason = "but the rows before were taken to count from 1 for want of a feature 0;"
        clause = Sentence(f"feature 0, {reason} use {Parameter('zero_based', value=True)}")
    elif not NUMBER.fullmatch(written) or math.isinf(float(written)):
        why = "not finite" if NOT_FINITE.fullmatch(written) else "not a number"
        why = "beyond the range of float64" if NUMBER.fullmatch(written) else why
        value = f"value {shown(written)} of feature {feature} is {why}"
        clause, place = value if written else f"feature {feature} has no value", len(name) + 1
    elif feature in entries:
        clause = f"feature {feature} stands twice in this row"
    if clause:
        raise LineError(place, clause)
    entries[feature] = float(written)


def parse_plain(text: bytes, numbering: Conventions, faults: Faults | None = None) -> Batch:
    """Return the rows of a text that ends in a newline; its classes are the labels as written.

    Raise LineError at the first bad line; with ``faults`` leave bad lines out, and list them there.
    """
    lines = text.split(b"\n")[:-1]
    data: list[float] = []
    indices: list[int] = []
    indptr = [0]
    labels: list[int] = []
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
    return Batch(
        np.array(data, np.float64),
        np.array(indices, np.int32),
        np.array(indptr, np.int64),
        np.array(labels, np.int32),
        tuple(distinct),
        max(indices, default=-1) + 1,
        n_lines=len(lines),
    )


def parse_scanned(
    text: NDArray[np.uint8], length: int, numbering: Conventions, faults: Faults | None = None
) -> Batch:
    """Return the rows of text[:length], which ends in a newline, as ``parse_plain`` does.

    The array must go on for 64 bytes behind the text, whatever they are.
    """
    if len(text) < length + SPAN or text[length - 1] != NEWLINE or not text.flags.c_contiguous:
        msg = "The scan needs contiguous text that ends in a newline, and 64 bytes behind it."
        raise ValueError(msg)
    address = text.ctypes.data
    n_lines, n_colons = count_lines_and_colons(address, length)
    room = Batch(  # as many places as the text has colons and newlines
        np.empty(n_colons),
        np.empty(n_colons, np.int32),
        np.empty(n_lines + 1, np.int64),
        np.empty(n_lines, np.int32),
    )
    arrays = room.data, room.indices, room.indptr, room.labels
    tokens = LabelTokens(
        np.empty(n_lines, np.int64),
        np.empty(n_lines, np.int64),
        np.zeros(2 << n_lines.bit_length(), np.int32),
    )
    done, distinct = ScanProgress(0, 0, 0, 0, ascending=True), list[Label]()
    how = address, length, numbering.base, arrays, tokens
    try:
        while (done := scan(*how, done)).position < length:
            stop = newline_from(address, done.position)
            row = parse_line(text[done.position : stop].tobytes(), numbering)
            done = _with_row(room, done, row, stop + 1)
        spans = np.transpose(tokens[:2])[: done.n_labels]
        distinct = [read_label(text[start:stop].tobytes()) for start, stop in spans]
        good = True
    except (LineError, ValueError):
        good = False
    indices = room.indices[: done.n_values]
    lowest, highest = int(indices.min(initial=MOST_FEATURE)), int(indices.max(initial=-1))
    found = Batch(
        room.data[: done.n_values],
        indices,
        room.indptr[: done.n_rows + 1],
        room.labels[: done.n_rows],
        tuple(distinct),
        highest + 1,
        n_lines=n_lines,
    )
    if good and not done.ascending:
        rows, good = ordered(found.csr(highest + 1, 0.0))
        found = found.with_rows(rows)
    if not good or lowest < 0 or highest + numbering.base > numbering.most:
        # Whatever is wrong, the plain parser comes to the first of it, and says what it is.
        return parse_plain(text[:length].tobytes(), numbering, faults)
    return found


def _with_row(rows: Batch, done: ScanProgress, row: Row | None, position: int) -> ScanProgress:
    """Write the features of a row whose label is written already; return the progress made."""
    if row is None:
        return done._replace(position=position)
    stop = done.n_values + len(row.indices)
    rows.data[done.n_values : stop] = row.values
    rows.indices[done.n_values : stop] = row.indices
    rows.indptr[done.n_rows + 1] = stop
    return done._replace(position=position, n_rows=done.n_rows + 1, n_values=stop)


def svmlight_batches(
    source: Source,
    *,
    zero_based: bool | None = None,
    classes: Classes | None = None,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
    prompt: bool = False,
    max_index: int | None = None,
    bad_rows: BadRows | None = None,
) -> Iterator[Batch]:
    """Yield the rows of a file in batches; memory is bounded by the size of a few blocks.

    By default features count from 0 if the first block has a feature 0, else one in a later block
    is an error. ``classes`` number the labels, shared between files. Batches of about
    ``block_bytes`` of text do not depend on the number of ``threads``; with ``prompt`` rows come as
    they arrive. An InputError names file, line and column.
    """
    for name, number in (("block_bytes", block_bytes), ("threads", threads)):
        if number is not None and number < 1:
            raise InputError(f"{name} must be at least 1; got {number}.")
    most = MOST_FEATURE if max_index is None else min(max_index, MOST_FEATURE)
    base = 0 if zero_based is None else 1 - zero_based
    conventions = Conventions(base, detected=zero_based is None, most=most)
    blocks = text_lines(source, block_bytes, prompt=prompt)
    classes = Classes() if classes is None else classes
    threads = threads or os.cpu_count() or 1
    return _batches(name_of(source), blocks, conventions, threads, classes, bad_rows)


def row_lines(source: Source) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line that holds a row, and its features as they stand there."""
    blocks = text_lines(source, BLOCK_BYTES)
    lines = (line for block in blocks for line in block.tobytes().split(b"\n")[:-1])
    for number, line in enumerate(lines, 1):
        row = line.partition(b"#")[0].split(maxsplit=1)
        if row:
            yield number, {"features": row[-1].decode(errors="replace").strip()}


def _batches(
    file: str,
    blocks: Generator[TextBlock, None, None],
    conventions: Conventions,
    threads: int,
    classes: Classes,
    bad_rows: BadRows | None,
) -> Iterator[Batch]:
    line, skip = 1, bad_rows is not None and bad_rows.skip

    def parse(block: TextBlock) -> tuple[Batch, Faults | None]:
        faults: Faults | None = [] if skip else None
        if available():
            rows = parse_scanned(block.text, block.length, conventions, faults)
        else:
            rows = parse_plain(block.tobytes(), conventions, faults)
        return rows._replace(bytes_read=block.bytes_read), faults

    def parts() -> Generator[tuple[Batch, Faults | None], None, None]:
        """Parse the first block, which tells from where features count, and then the others."""
        nonlocal conventions
        with closing(blocks):
            first = next(blocks, None) if conventions.detected else None
            if first is not None:
                rows, faults = parse(first)
                if len(rows.indices) and rows.indices.min() > 0:
                    conventions = conventions._replace(base=1)
                    rows.indices[:] -= 1
                    rows = rows._replace(n_features=rows.n_features - 1)
                yield rows, faults
            yield from in_order(parse, blocks, threads)

    def left_out(before: int, error: LineError) -> BadRow:
        place = f"{file}, line {line + error.line}, column {error.column}"
        return BadRow(before, place, error.clause)

    with closing(parts()) as parsed:
        try:
            for batch, faults in parsed:
                bad = tuple(left_out(*fault) for fault in faults or ())
                if batch.n_rows or bad:
                    codes = classes.codes(list(batch.classes))
                    yield batch._replace(
                        labels=codes[batch.labels],
                        classes=classes.labels,
                        zero_based=not conventions.base,
                        file=file,
                        first_line=line,
                        bad=bad,
                    )
                line += batch.n_lines
        except LineError as error:
            refuse_unless_skipped(left_out(0, error), bad_rows)
            raise
