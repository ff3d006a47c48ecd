"""Parquet and Arrow files as tables."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rosenblatt.data.formats import Format
from rosenblatt.data.polars import pl
from rosenblatt.data.sources import Source, name_of, opened, peek, unreadable
from rosenblatt.data.tables.table import (
    MOST_ROWS,
    Selection,
    Table,
    choose,
    chosen_columns,
    flat_columns,
    in_slices,
    polars_failures,
    rows_for,
)
from rosenblatt.errors import InputError

FILE_MARKS = {Format.PARQUET: b"PAR1", Format.ARROW: b"ARROW1"}
TEXT_ROWS = 1 << 13  # asked of polars at a time where a column has text, of unknown length
STRIDE = 1 << 20  # rows of an Arrow file that are mapped into memory at a time
COPIED = 1 << 20  # bytes


def columnar_tables(source: Source, kind: Format, wanted: Selection | None) -> Iterator[Table]:
    """Yield the rows of a Parquet or Arrow file, or of a copy of what comes packed or piped."""
    name, row, is_parquet = name_of(source), 0, kind == Format.PARQUET
    if not is_parquet and not peek(source, 6).startswith(FILE_MARKS[kind]):
        raise InputError(
            f"{name} is not an Arrow file. If it is a stream of Arrow messages, write it"
            " as a file: polars.read_ipc_stream(source).write_ipc('rows.arrow')."
        )
    with _stored(source, FILE_MARKS[kind]) as (file, size):
        try:
            rows = pl.scan_parquet(file) if is_parquet else pl.scan_ipc(file)
            n_rows = rows.select(pl.len()).collect().item()
            rows = flat_columns(rows, name)
            schema = rows.collect_schema()
        except InputError:
            raise
        except polars_failures() as error:
            raise damaged(name, error) from None
        choice = choose(schema.names(), wanted, name)
        chosen = rows.select(pl.selectors.by_index([*choice.values()]))
        for frame in _frames(chosen, n_rows, n_rows if is_parquet else STRIDE, name):
            ordered = chosen_columns(frame, {name: k for k, name in enumerate(choice)})
            table = Table(ordered, name, row + 1, None, size * (row + frame.height) // n_rows)
            yield from in_slices(table, most_rows=rows_for(ordered))
            row += frame.height
    if row != n_rows:
        raise InputError(f"{name} is damaged: it announces {n_rows:,} rows and has {row:,}.")


def _frames(rows: "pl.LazyFrame", n_rows: int, stride: int, name: str) -> "Iterator[pl.DataFrame]":
    """Yield successive rows, as many as make a table or a few more.

    What polars maps into memory of an Arrow file it keeps until a query ends: so a query ends after
    each stride. Parquet it reads by row groups, as they are asked for.
    """
    has_text = any(kind in (pl.String, pl.Binary) for kind in rows.collect_schema().dtypes())
    chunk = TEXT_ROWS if has_text else MOST_ROWS
    try:
        for start in range(0, n_rows, max(1, stride)):
            part = rows if stride >= n_rows else rows.slice(start, stride)
            yield from part.collect_batches(chunk_size=chunk, maintain_order=True, lazy=True)
    except polars_failures() as error:
        raise damaged(name, error) from None


@contextmanager
def _stored(source: Source, mark: bytes) -> Iterator[tuple[IO[bytes], int]]:
    """Open a file as it lies on disk, else a copy of its bytes; return also the stored size."""
    if source != "-":
        try:
            with Path(source).open("rb") as file:
                status = os.fstat(file.fileno())
                if stat.S_ISREG(status.st_mode) and file.read(len(mark)) == mark:
                    file.seek(0)
                    yield file, status.st_size
                    return
        except OSError as error:
            raise unreadable(name_of(source), error) from error
    with tempfile.TemporaryFile() as copy:
        with opened(source) as stream:
            piece = memoryview(bytearray(COPIED))
            try:
                while count := stream.readinto(piece):
                    copy.write(piece[:count])
                copy.flush()
                copy.seek(0)
            except OSError as error:
                why = error.strerror or error
                msg = f"{stream.name} cannot be unpacked to a temporary file: {why}."
                raise InputError(msg) from error
        yield copy, stream.bytes_read


def damaged(name: str, error: BaseException) -> InputError:
    """Return the error for what polars can't read."""
    reason = str(error).splitlines()[0].strip(" .") if str(error) else type(error).__name__
    return InputError(f"{name} cannot be read: {reason[:200]}.")
