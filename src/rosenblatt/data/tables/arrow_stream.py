"""Streams of Arrow messages, one record batch at a time.

polars reads a stream as a whole only. But each message says how long it is, so the schema, the
dictionaries and one record batch make a short stream, which polars reads.
"""

import io
import struct
from collections.abc import Iterator

import polars as pl

from rosenblatt.data.byte_source import ByteSource
from rosenblatt.data.tables.polars_library import polars_failures
from rosenblatt.errors import InputError

CONTINUATION = b"\xff\xff\xff\xff"
END = CONTINUATION + bytes(4)
SCHEMA, DICTIONARY, RECORD_BATCH = 1, 2, 3  # as the format numbers its messages
LONGEST_METADATA = 1 << 28
LONGEST_BODY = 1 << 34


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
        msg = f"{source.name} is no stream of Arrow: a message claims {length} bytes."
        raise InputError(msg)
    metadata = _take(source, length)
    try:
        kind, body_length = _kind_and_body(metadata)
    except (struct.error, IndexError):
        kind, body_length = 0, -1
    if not 0 <= body_length <= LONGEST_BODY:
        msg = f"{source.name} is no stream of Arrow: a message is damaged."
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
