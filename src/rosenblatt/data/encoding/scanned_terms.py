"""The terms of a text column by the compiled scan, from the column's bytes."""

import threading
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.data.encoding.characters import IN_CONTEXT, word_characters
from rosenblatt.data.encoding.terms import Terms
from rosenblatt.kernels.text.terms import rewrite, scan_terms
from rosenblatt.kernels.text.words import SPAN

# Rooms that every scan writes to and nobody keeps, one set a thread. Fresh memory for each table
# would have to be cleared by the system page by page: a fifth of the time of a scan.
_rooms = threading.local()


def scanned_terms(
    column: pl.Series, seed: int, key_mask: int, *, pairs: bool, named: bool
) -> Terms:
    """Return the same as ``plain_terms``; all but indptr is written over by the thread's next call.

    The column is of text, 1 GiB at most. Where terms are not ``named`` it is not told how they are
    spelled.
    """
    text, offsets = _bytes_of(column)
    length = int(offsets[-1])
    if length and text[:length].max() >= 0x80:
        capitals = column.str.contains_any(list(IN_CONTEXT)).fill_null(value=False)
        if capitals.any():
            text, offsets = _bytes_of(_in_lower_case(column, capitals))
            length = int(offsets[-1])
        written = _room("written", length + length // 2 + SPAN, np.uint8)
        written_offsets = np.empty(len(offsets), np.int64)
        rewrite(text.ctypes.data, offsets, word_characters(), written.ctypes.data, written_offsets)
        text, offsets = written, written_offsets
        length = int(offsets[-1])
    n_slots = 64
    while n_slots < 1.5 * np.diff(offsets).max(initial=0):
        n_slots *= 2
    spelled = _room("spelled", length + len(offsets) + SPAN, np.uint8)
    most = length + 1  # a word and its pair take at least two bytes
    keys, counts = _room("keys", most, np.uint64), _room("counts", most, np.float32)
    starts, stops = _room("starts", most, np.int32), _room("stops", most, np.int32)
    indptr = np.empty(len(offsets), np.int64)
    n_terms, n_spelled = scan_terms(
        text.ctypes.data,
        offsets,
        np.uint64(seed),
        np.uint64(key_mask),
        pairs,
        named,
        spelled.ctypes.data,
        np.full(n_slots, -1, np.int32),
        keys,
        counts,
        starts,
        stops,
        indptr,
    )
    n_named = n_terms if named else 0
    return Terms(
        keys[:n_terms],
        counts[:n_terms],
        indptr,
        starts[:n_named],
        stops[:n_named],
        spelled[: n_spelled if named else 0],
    )


def _room(name: str, length: int, dtype: type) -> NDArray[Any]:
    room: NDArray[Any] | None = getattr(_rooms, name, None)
    if room is None or len(room) < length:
        room = np.empty(length + length // 4, dtype)
        setattr(_rooms, name, room)
    return room


def _bytes_of(column: pl.Series) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of all rows, 64 more, and where each row begins; null has none.

    Polars keeps strings as views into several buffers. As lists of bytes they are put together at
    4 GB/s.
    """
    lengths = column.str.len_bytes().fill_null(0)
    offsets = np.zeros(len(column) + 1, np.int64)
    np.cumsum(lengths.to_numpy(), out=offsets[1:])
    text = _room("text", int(offsets[-1]) + SPAN, np.uint8)
    if offsets[-1]:
        filled = column.filter(lengths > 0)  # an empty list would become a null
        joined = filled.cast(pl.Binary).cast(pl.List(pl.UInt8)).explode()
        text[: offsets[-1]] = joined.to_numpy()
    return text, offsets


def _in_lower_case(column: pl.Series, where: pl.Series) -> pl.Series:
    """Return the column with these rows in lower case, as Python makes it."""
    lower = [text.lower() for text in column.filter(where).to_list()]
    return column.clone().scatter(where.arg_true(), lower)
