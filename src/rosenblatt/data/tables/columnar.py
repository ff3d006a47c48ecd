"""Parquet and Arrow as tables.

polars reads a stream of Arrow messages as a whole only. But each message says how long it is, so
the schema, the dictionaries and one record batch make a short stream, which polars reads.
"""

import io
import os
import stat
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl
from polars import selectors

from rosenblatt.data.formats import Format
from rosenblatt.data.sources import ByteSource, Source, name_of, opened, peek, unreadable
from rosenblatt.data.tables.table import (
    MOST_ROWS,
    ColumnPlaces,
    Selection,
    Table,
    choose,
    chosen_columns,
    in_slices,
    polars_failures,
    rows_for,
)
from rosenblatt.errors import InputError

FILE_MARKS = {Format.PARQUET: b"PAR1", Format.ARROW: b"ARROW1"}
TEXT_ROWS = 1 << 13  # asked of polars at a time where a column has text, of unknown length
STRIDE = 1 << 20  # rows of an Arrow file that are mapped into memory at a time
COPIED = 1 << 20  # bytes

CONTINUATION = b"\xff\xff\xff\xff"
END = CONTINUATION + bytes(4)
SCHEMA, DICTIONARY, RECORD_BATCH = 1, 2, 3  # as the format numbers its messages
LONGEST_METADATA = 1 << 28
LONGEST_BODY = 1 << 34


def columnar_tables(source: Source, kind: Format, wanted: Selection | None) -> Iterator[Table]:
    """Yield the rows of a Parquet or Arrow file.

    A file has its index at its end: what comes packed or through a pipe is copied to a temporary
    file first, which has no name. A stream of Arrow needs no copy.
    """
    if kind == Format.ARROW and not peek(source, 6).startswith(FILE_MARKS[kind]):
        with opened(source) as stream:
            yield from _stream_tables(stream, wanted)
        return
    with _stored(source, FILE_MARKS[kind]) as (file, size):
        yield from _file_tables(file, size, kind, name_of(source), wanted)


def _file_tables(
    file: IO[bytes], size: int, kind: Format, name: str, wanted: Selection | None
) -> Iterator[Table]:
    row, is_parquet = 0, kind == Format.PARQUET
    try:
        rows = pl.scan_parquet(file) if is_parquet else pl.scan_ipc(file)
        n_rows = rows.select(pl.len()).collect().item()
        schema = rows.collect_schema()
    except polars_failures() as error:
        raise damaged(name, error) from None
    choice = choose(schema.names(), wanted, name)
    chosen = rows.select(selectors.by_index(choice.numbers))
    for frame in _frames(chosen, n_rows, n_rows if is_parquet else STRIDE, name):
        ordered = chosen_columns(frame, ColumnPlaces(choice.names, tuple(range(frame.width))))
        read = size * (row + frame.height) // n_rows
        table = Table(ordered, name, row + 1, None, read)
        yield from in_slices(table, most_rows=rows_for(ordered))
        row += frame.height
    if row != n_rows:
        msg = f"{name} is damaged: it announces {n_rows:,} rows and has {row:,}."
        raise InputError(msg)


def _frames(rows: pl.LazyFrame, n_rows: int, stride: int, name: str) -> Iterator[pl.DataFrame]:
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


def _stream_tables(stream: ByteSource, wanted: Selection | None) -> Iterator[Table]:
    choice, row = None, 1
    for frame in stream_frames(stream):
        choice = choice or choose(frame.columns, wanted, stream.name)
        chosen = chosen_columns(frame, choice)
        table = Table(chosen, stream.name, row, None, stream.bytes_read)
        yield from in_slices(table, most_rows=rows_for(chosen))
        row += frame.height


@contextmanager
def _stored(source: Source, mark: bytes) -> Iterator[tuple[IO[bytes], int]]:
    """Open a file as it is, where it lies on disk and is not packed, else a copy of its bytes.

    Comes with the size of what was read, packed as it may be.
    """
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
            _copy(stream, copy)
        yield copy, stream.bytes_read


def _copy(stream: ByteSource, copy: IO[bytes]) -> None:
    piece = bytearray(COPIED)
    try:
        while count := stream.readinto(memoryview(piece)):
            copy.write(memoryview(piece)[:count])
        copy.flush()
        copy.seek(0)
    except OSError as error:
        msg = f"{stream.name} cannot be unpacked to a temporary file: {error.strerror or error}."
        raise InputError(msg) from error


def stream_frames(source: ByteSource) -> Iterator[pl.DataFrame]:
    """Yield the record batches of a stream; it may end with or without the mark for its end."""
    prelude = b""
    while message := _message(source):
        kind, content = message
        if kind == RECORD_BATCH:
            try:
                yield pl.read_ipc_stream(io.BytesIO(prelude + content + END))
            except polars_failures() as error:
                raise damaged(source.name, error) from None
        elif kind in (SCHEMA, DICTIONARY):
            prelude += content


def damaged(name: str, error: BaseException) -> InputError:
    """Return the error for what polars can't read."""
    reason = str(error).splitlines()[0].strip(" .") if str(error) else type(error).__name__
    return InputError(f"{name} cannot be read: {reason[:200]}.")


def _message(source: ByteSource) -> tuple[int, bytes] | None:
    """Return kind and bytes of the next message, or None at the end."""
    prefix = _take(source, 4, may_end=True)
    if prefix == CONTINUATION:  # streams from before version 0.15 of Arrow lack it
        prefix = _take(source, 4)
    length = int.from_bytes(prefix, "little", signed=True) if prefix else 0
    if length == 0:
        return None
    if not 8 <= length <= LONGEST_METADATA:
        msg = f"{source.name} is not an Arrow stream: a message claims {length} bytes."
        raise InputError(msg)
    metadata = _take(source, length)
    try:
        kind, body_length = _kind_and_body(metadata)
    except (struct.error, IndexError):
        kind, body_length = 0, -1
    if not 0 <= body_length <= LONGEST_BODY:
        msg = f"{source.name} is not an Arrow stream: a message is damaged."
        raise InputError(msg)
    return kind, CONTINUATION + prefix + metadata + _take(source, body_length)


def _kind_and_body(metadata: bytes) -> tuple[int, int]:
    """Return what stands in fields 1 and 3 of the flatbuffer ``Message``.

    A table begins with the distance back to its list of fields, which has the place of each field
    in the table behind its own and the table's length; 0 for a field that has its default.
    """
    (root,) = struct.unpack_from("<I", metadata)
    (back,) = struct.unpack_from("<i", metadata, root)
    fields = root - back
    if fields < 0:
        raise IndexError
    (size,) = struct.unpack_from("<H", metadata, fields)
    places = struct.unpack_from(f"<{(size - 4) // 2}H", metadata, fields + 4)
    kind = struct.unpack_from("<B", metadata, root + places[1])[0] if places[1] else 0
    has_body = len(places) > 3 and places[3]
    body = struct.unpack_from("<q", metadata, root + places[3])[0] if has_body else 0
    return kind, body


def _take(source: ByteSource, size: int, *, may_end: bool = False) -> bytes:
    """Return that many bytes, read in pieces: a damaged length must not claim memory."""
    pieces, missing = [], size
    while missing:
        piece = bytearray(min(missing, 1 << 20))
        count = source.readinto(memoryview(piece))
        if not count:
            if may_end and missing == size:
                return b""
            msg = f"{source.name} ends in the middle of a message of Arrow."
            raise InputError(msg)
        pieces.append(bytes(piece[:count]))
        missing -= count
    return b"".join(pieces)
