"""Files of svmlight (LIBSVM) text as batches of rows, in memory that does not grow with them."""

import os
from collections.abc import Iterable, Iterator
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rosenblatt.data.bad_rows import BadRow, BadRows, refuse_unless_skipped
from rosenblatt.data.batch import Batch, join
from rosenblatt.data.labels import Classes
from rosenblatt.data.lines import TextBlock, text_lines
from rosenblatt.data.sources import Source, name_of
from rosenblatt.data.svmlight_rows import (
    Conventions,
    Faults,
    LineError,
    conventions_for,
    parse_plain,
    parse_scanned,
)
from rosenblatt.data.threads import in_order
from rosenblatt.errors import InputError
from rosenblatt.kernels.compiling import available
from rosenblatt.kernels.text import MOST_FEATURE

BLOCK_BYTES = 2 << 20  # of text in a batch; from 1 to 8 MiB the speed is the same


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
        return parse_plain(block.text[: block.length].tobytes(), *how)


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
