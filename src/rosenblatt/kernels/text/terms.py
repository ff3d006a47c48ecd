"""The words of text and their pairs, compiled: keys, counts and weights, duplicates merged.

Text is given by its address. Behind it 64 more bytes may be read, whatever they are. What is
computed is defined in plain Python by ``data.encoding.text_column``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.text.hashing import CHUNK_FACTOR, LAST_FACTOR, LENGTH_FACTOR
from rosenblatt.kernels.text.words import (
    SPAN,
    byte_at,
    store_byte,
    store_word,
    trailing_zeros,
    word_at,
    word_bytes_at,
)

U = np.uint64
SPACE = 0x20
LOWER = U(0x2020202020202020)  # sets the bit by which a is not A; digits have it already
HIGH = U(0x8080808080808080)  # the highest bit of every byte: none in ASCII
A_WORD, A_PAIR = np.float32(1), np.float32(-1)  # counts of pairs are kept with a minus sign
ALL = U(0xFFFFFFFFFFFFFFFF)
BY_LENGTH, BY_CHUNK, BY_LAST = U(LENGTH_FACTOR), U(CHUNK_FACTOR), U(LAST_FACTOR)


@inlined
def _lowered(chunk: Any) -> Any:
    """Return eight word bytes in lower case; those above 127 are so already."""
    return chunk | (LOWER ^ ((chunk & HIGH) >> U(2)))


@inlined
def _pair(first: Any, second: Any) -> Any:
    mixed = (first * BY_LENGTH) ^ second
    mixed = (mixed ^ (mixed >> U(32))) * BY_LAST
    return mixed ^ (mixed >> U(29))


@compiled
def rewrite(
    text: int,
    offsets: NDArray[np.int64],
    characters: NDArray[np.int32],
    written: int,
    written_offsets: Changed[NDArray[np.int64]],
) -> None:
    """Write rows so that every byte above 127 belongs to a word, in lower case.

    ``characters`` has for each code point the one to write, or −1 where no word has it: a space.
    There must be room for half as much again, and 64 bytes.
    """
    n_rows = len(offsets) - 1
    out = 0
    written_offsets[0] = 0
    for row in range(n_rows):
        position, stop = offsets[row], offsets[row + 1]
        while position < stop:
            chunk = word_at(text, position)
            if not chunk & HIGH and position + 8 <= stop:
                store_word(written, out, chunk)
                position += 8
                out += 8
                continue
            byte = byte_at(text, position)
            if byte < 0x80:
                store_byte(written, out, byte)
                position += 1
                out += 1
                continue
            n_more = (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            point = byte & (0x3F >> n_more)
            for k in range(1, n_more + 1):
                point = (point << 6) | (byte_at(text, position + k) & 0x3F)
            position += n_more + 1
            point = characters[point]
            if point < 0:
                point = SPACE
            if point < 0x80:
                store_byte(written, out, point)
                out += 1
                continue
            n_more = 1 + (point >= 0x800) + (point >= 0x10000)
            store_byte(written, out, ((0xFF00 >> (n_more + 1)) & 0xFF) | (point >> (6 * n_more)))
            for k in range(1, n_more + 1):
                store_byte(written, out + k, 0x80 | ((point >> (6 * (n_more - k))) & 0x3F))
            out += n_more + 1
        written_offsets[row + 1] = out


@compiled
def scan_terms(  # noqa: PLR0912, PLR0915  # what writes to arrays: passing them on takes time
    text: int,
    offsets: NDArray[np.int64],
    seed: Any,
    key_mask: Any,
    pairs: bool,
    named: bool,
    spelled: int,
    slots: Changed[NDArray[np.int32]],
    keys: Changed[NDArray[np.uint64]],
    counts: Changed[NDArray[np.float32]],
    starts: Changed[NDArray[np.int32]],
    stops: Changed[NDArray[np.int32]],
    indptr: Changed[NDArray[np.int64]],
) -> Any:
    """Write the distinct terms of each row, in order of appearance.

    Returns how many there are, and the length of what is spelled.

    The words in lower case, one space between them, go to ``spelled``; where terms are ``named``,
    starts and stops say which one is where. ``slots`` is a table from key to term, for one row at a
    time: what earlier rows left in it points to terms before the row, and counts as empty. It must
    have one and a half times as many places as the longest row has bytes, a power of two.
    """
    n_terms, out = 0, 0
    indptr[0] = 0
    for row in range(len(offsets) - 1):
        position, stop = offsets[row], offsets[row + 1]
        first_term = n_terms
        n_slots = 64
        while n_slots < stop - position + ((stop - position) >> 1):
            n_slots *= 2
        slot_mask = U(n_slots - 1)
        before, before_start = U(0), -1
        while position < stop:
            mask = word_bytes_at(text, position)
            left = stop - position
            if left < SPAN:
                mask &= ALL >> U(SPAN - left)
            offset = 0
            while mask != U(0):
                skipped = trailing_zeros(mask)
                mask >>= U(skipped)
                offset += skipped
                length = trailing_zeros(~mask)
                begin = position + offset
                if offset + length >= SPAN:  # it may go on behind the span
                    if offset > 0:
                        break
                    while length < stop - begin and word_bytes_at(text, begin + length) & U(1):
                        length += 1
                    mask = U(0)
                else:
                    mask >>= U(length)
                offset += length
                start = out
                mixed = seed ^ (U(length) * BY_LENGTH)
                while length > 8:
                    chunk = _lowered(word_at(text, begin))
                    store_word(spelled, out, chunk)
                    mixed = (mixed ^ chunk) * BY_CHUNK
                    mixed ^= mixed >> U(32)
                    begin += 8
                    out += 8
                    length -= 8
                chunk = _lowered(word_at(text, begin)) & (ALL >> U(64 - 8 * length))
                store_word(spelled, out, chunk)
                mixed = (mixed ^ chunk) * BY_CHUNK
                mixed ^= mixed >> U(32)
                mixed *= BY_LAST
                mixed ^= mixed >> U(29)
                out += length
                store_byte(spelled, out, SPACE)
                key, key_start, kind = mixed & key_mask, start, A_WORD
                for again in range(2):
                    slot = key & slot_mask
                    while True:
                        term = slots[slot]
                        if term < first_term:
                            slots[slot] = n_terms
                            keys[n_terms] = key
                            counts[n_terms] = kind
                            if named:
                                starts[n_terms] = key_start
                                stops[n_terms] = out
                            n_terms += 1
                            break
                        if keys[term] == key:
                            counts[term] += A_WORD if counts[term] > 0 else A_PAIR
                            break
                        slot = (slot + U(1)) & slot_mask
                    if again or before_start < 0 or not pairs:
                        break
                    key, key_start = _pair(before, mixed) & key_mask, before_start
                    kind = A_PAIR
                before, before_start = mixed, start
                out += 1
            position += offset if mask != U(0) else max(offset, SPAN)
        indptr[row + 1] = n_terms
    return n_terms, out


def scanned_weights(
    numbers: NDArray[Any],
    counts: NDArray[np.float32],
    indptr: NDArray[np.int64],
    dampened: NDArray[np.float64],
    idf: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]:
    """Return values, indices and indptr, the same as ``plain_weights``."""
    indices, values = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.float32)
    kept = np.empty(len(indptr), np.int64)
    longest = int(np.diff(indptr).max(initial=0))
    room = np.empty(longest)
    n_known = _write_weights(numbers, counts, indptr, dampened, idf, room, indices, values, kept)
    return values[:n_known], indices[:n_known], kept


@compiled
def _write_weights(
    numbers: NDArray[Any],
    counts: NDArray[np.float32],
    indptr: NDArray[np.int64],
    dampened: NDArray[np.float64],  # 1 + ln n, from n = 1 on
    idf: NDArray[np.float32],
    room: Changed[NDArray[np.float64]],  # for the terms of a row
    indices: Changed[NDArray[np.int32]],
    values: Changed[NDArray[np.float32]],
    kept: Changed[NDArray[np.int64]],
) -> Any:
    """Write the known terms of each row; return how many there are."""
    n_known = 0
    kept[0] = 0
    for row in range(len(indptr) - 1):
        n_own, square = 0, 0.0
        for k in range(indptr[row], indptr[row + 1]):
            if numbers[k] >= 0:
                weight = dampened[int(abs(counts[k])) - 1] * idf[numbers[k]]
                square += weight * weight
                room[n_own] = weight
                indices[n_known + n_own] = numbers[k]
                n_own += 1
        length = np.sqrt(square)
        for k in range(n_own):
            values[n_known + k] = room[k] / length
        n_known += n_own
        kept[row + 1] = n_known
    return n_known
