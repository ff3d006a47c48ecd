"""The words of text, their pairs and the n-grams of their characters, compiled: keys and counts.

Text is given by its address. Behind it 64 more bytes may be read, whatever they are.
"""

from typing import Any, NamedTuple

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
def _mixed(mixed: Any, chunk: Any) -> Any:
    mixed = (mixed ^ chunk) * BY_CHUNK
    return mixed ^ (mixed >> U(32))


@inlined
def _last(mixed: Any) -> Any:
    mixed *= BY_LAST
    return mixed ^ (mixed >> U(29))


@inlined
def _pair(first: Any, second: Any) -> Any:
    mixed = (first * BY_LENGTH) ^ second
    return _last(mixed ^ (mixed >> U(32)))


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


class TermTable(NamedTuple):
    """The distinct terms of rows in order of appearance, and what finds those of one row by key.

    A slot has the number of a term. What earlier rows left there is below the first term of a row,
    and counts as empty. There must be one and a half times as many slots as the longest row can
    have terms, a power of two.
    """

    slots: NDArray[np.int32]
    keys: NDArray[np.uint64]
    counts: NDArray[np.float32]
    starts: NDArray[np.int32]  # where each is spelled
    stops: NDArray[np.int32]


@inlined
def _slot_mask(least: int) -> Any:
    """Return what makes a slot of a key, where so many slots are to be used at least."""
    n_slots = 64
    while n_slots < least:
        n_slots *= 2
    return U(n_slots - 1)


@inlined
def _count_term(
    terms: TermTable,
    first: int,  # term of the row
    n_terms: int,
    key: Any,
    slot_mask: Any,
    unit: Any,
    start: int,
    stop: int,
) -> int:
    """Count a term once more, or write it as the next one; return how many there are."""
    slot = key & slot_mask
    while terms.slots[slot] >= first:
        term = terms.slots[slot]
        if terms.keys[term] == key:
            terms.counts[term] += A_WORD if terms.counts[term] > 0 else A_PAIR
            return n_terms
        slot = (slot + U(1)) & slot_mask
    terms.slots[slot] = n_terms
    terms.keys[n_terms] = key
    terms.counts[n_terms] = unit
    terms.starts[n_terms] = start
    terms.stops[n_terms] = stop
    return n_terms + 1


@inlined
def _spell(text: int, begin: int, length: int, seed: Any, spelled: int, out: int) -> Any:
    """Write a word in lower case, and a space behind it; return its hash."""
    mixed = seed ^ (U(length) * BY_LENGTH)
    while length > 8:
        chunk = _lowered(word_at(text, begin))
        store_word(spelled, out, chunk)
        mixed = _mixed(mixed, chunk)
        begin += 8
        out += 8
        length -= 8
    chunk = _lowered(word_at(text, begin)) & (ALL >> U(64 - 8 * length))
    store_word(spelled, out, chunk)
    store_byte(spelled, out + length, SPACE)
    return _last(_mixed(mixed, chunk))


@compiled
def scan_terms(
    text: int,
    offsets: NDArray[np.int64],
    seed: Any,
    key_mask: Any,
    pairs: bool,
    spelled: int,
    terms: Changed[TermTable],
    indptr: Changed[NDArray[np.int64]],
) -> Any:
    """Write the distinct terms of each row; return how many there are, and the length of spelled.

    There go the words in lower case, one space between them.
    """
    n_terms, out = 0, 0
    indptr[0] = 0
    for row in range(len(offsets) - 1):
        position, stop = offsets[row], offsets[row + 1]
        first = n_terms
        slot_mask = _slot_mask(stop - position + ((stop - position) >> 1))
        before, before_start = U(0), -1
        while position < stop:
            # Find the words within 64 bytes; one that reaches their end is found in the next 64.
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
                # Count the word, and the pair of it and the one before.
                own, end = _spell(text, begin, length, seed, spelled, out), out + length
                n_terms = _count_term(
                    terms, first, n_terms, own & key_mask, slot_mask, A_WORD, out, end
                )
                if pairs and before_start >= 0:
                    key = _pair(before, own) & key_mask
                    n_terms = _count_term(
                        terms, first, n_terms, key, slot_mask, A_PAIR, before_start, end
                    )
                before, before_start = own, out
                out = end + 1
            position += offset if mask != U(0) else max(offset, SPAN)
        indptr[row + 1] = n_terms
    return n_terms, out


@inlined
def _of_word(byte: int) -> bool:
    """Return whether a byte belongs to a word: a letter, a digit or above 127."""
    return 0x61 <= (byte | 0x20) <= 0x7A or 0x30 <= byte <= 0x39 or byte >= 0x80


@inlined
def _next_character(text: int, position: int) -> int:
    position += 1
    while byte_at(text, position) & 0xC0 == 0x80:
        position += 1
    return position


@inlined
def _hash(text: int, place: int, length: int, seed: Any) -> Any:
    mixed = seed ^ (U(length) * BY_LENGTH)
    while length > 8:
        mixed = _mixed(mixed, word_at(text, place))
        place += 8
        length -= 8
    return _last(_mixed(mixed, word_at(text, place) & (ALL >> U(64 - 8 * length))))


@compiled
def hash_names(
    letters: int,  # behind which eight more bytes may be read
    offsets: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    pairs: NDArray[np.bool_],  # which may be two words with a space between
    hashes: Changed[NDArray[np.uint64]],
) -> None:
    """Write the hash of each name."""
    for k in range(len(hashes)):
        start, stop, seed = offsets[k], offsets[k + 1], seeds[k]
        end = start if pairs[k] else stop
        while end < stop and byte_at(letters, end) != SPACE:
            end += 1
        hashes[k] = _hash(letters, start, end - start, seed) if end > start else _last(seed)
        if end < stop:
            start, length = end + 1, stop - end - 1
            second = _hash(letters, start, length, seed) if length > 0 else _last(seed)
            hashes[k] = _pair(hashes[k], second)


@compiled
def scan_ngrams(
    text: int,
    offsets: NDArray[np.int64],
    seed: Any,
    key_mask: Any,
    shortest: int,
    longest: int,
    spelled: int,
    terms: Changed[TermTable],
    indptr: Changed[NDArray[np.int64]],
) -> Any:
    """Write the distinct n-grams of characters of each row, as ``scan_terms`` its words.

    Spelled are the words in lower case with a space on either side.
    """
    n_terms, out = 0, 0
    indptr[0] = 0
    for row in range(len(offsets) - 1):
        position, stop = offsets[row], offsets[row + 1]
        first = n_terms
        slot_mask = _slot_mask(3 * (longest - shortest + 1) * (stop - position + 1))
        while position < stop:
            if not _of_word(byte_at(text, position)):
                position += 1
                continue
            # Spell the word.
            begin, n_characters = out, 2
            store_byte(spelled, out, SPACE)
            out += 1
            while position < stop and _of_word(byte_at(text, position)):
                byte = byte_at(text, position)
                if 0x41 <= byte <= 0x5A:
                    byte |= 0x20
                store_byte(spelled, out, byte)
                n_characters += byte & 0xC0 != 0x80
                out += 1
                position += 1
            store_byte(spelled, out, SPACE)
            out += 1
            store_byte(spelled, out, SPACE)  # so that a search for the next character ends
            # Count its n-grams, the short ones first.
            for size in range(shortest, min(longest, n_characters) + 1):
                start, end = begin, begin
                for _ in range(size):
                    end = _next_character(spelled, end)
                while True:
                    key = _hash(spelled, start, end - start, seed) & key_mask
                    n_terms = _count_term(terms, first, n_terms, key, slot_mask, A_WORD, start, end)
                    if end >= out:
                        break
                    start = _next_character(spelled, start)
                    end = _next_character(spelled, end)
        indptr[row + 1] = n_terms
    return n_terms, out


def term_weights(
    numbers: NDArray[Any],
    counts: NDArray[np.float32],
    indptr: NDArray[np.int64],
    idf: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]:
    """Return values, indices and indptr of the known terms, those whose number is not −1.

    A term that is n times in the text weighs (1 + ln n)·idf, and all together have length 1,
    however long the text is and however much of it is new.
    """
    dampened = 1.0 + np.log(np.arange(1, int(np.abs(counts).max(initial=1.0)) + 1))
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
