"""The tokens of text, their pairs and the n-grams of its characters, compiled: keys and counts.

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
    symbol_bytes_at,
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

# What a character is: its number in the table of characters has 21 bits, the kind the next three.
BLANK, WORD, SYMBOL, PICTURE, FLAG, EXTENDER, JOINER = range(7)
KIND = 21
ODD = 1 << 24  # what a row with it is depends on neighbours: case or composition
POINT = (1 << KIND) - 1

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


class Rows(NamedTuple):
    """Where in a text the words of each row are, and where what is no word; of ASCII both."""

    words_start: NDArray[np.int64]
    words_stop: NDArray[np.int64]
    others_start: NDArray[np.int64]
    others_stop: NDArray[np.int64]


@compiled
def separate(
    text: int,
    offsets: NDArray[np.int64],
    characters: NDArray[np.int32],
    out: int,  # where in the text to write
    rows: Changed[Rows],
    odd: Changed[NDArray[np.bool_]],
) -> Any:
    """Write rows beyond ASCII in lower case, a space before each token, first the words.

    ``characters`` has for each code point the one to write and its kind. There must be room for
    twice the rows, twice the longest one and 64 bytes. A mark, a modifier or a joiner belongs to
    what it follows; after a joiner a picture goes on; two letters of a flag are one.
    """
    for row in range(len(odd)):
        position, stop = offsets[row], offsets[row + 1]
        rows.words_start[row] = rows.others_start[row] = position
        rows.words_stop[row] = rows.others_stop[row] = stop
        odd[row] = False
        if _is_ascii(text, position, stop):
            continue
        rows.words_start[row] = out
        aside = out + 2 * (stop - position) + 8  # what is no word waits there
        others, kind, goes_on = aside, BLANK, False
        while position < stop:
            byte = byte_at(text, position)
            n_bytes = trailing_zeros(symbol_bytes_at(text, position)) if byte < 0x80 else 0
            if n_bytes > 0:  # letters, digits and blanks of ASCII
                n_bytes = min(n_bytes, stop - position)
                if kind != WORD:
                    store_byte(text, out, SPACE)
                    out += 1
                _move(text, position, out, n_bytes)
                position += n_bytes
                out += n_bytes
                kind = (characters[byte_at(text, position - 1)] >> KIND) & 7
                continue
            # Decode a character, and tell whether it begins a token.
            n_bytes = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            point = _decoded(text, position, n_bytes)
            position += n_bytes
            character = characters[point]
            odd[row] |= character & ODD != 0
            own = (character >> KIND) & 7
            if own == BLANK or (own == JOINER and kind == BLANK):
                kind = BLANK
                continue
            begins, kind, goes_on = _joined(own, kind, goes_on)
            # Write it.
            at = out if kind == WORD else others
            if begins:
                store_byte(text, at, SPACE)
                at += 1
            if character & POINT == point:
                store_word(text, at, word_at(text, position - n_bytes))
                at += n_bytes
            else:
                at = _encode(text, at, character & POINT)
            if kind == WORD:
                out = at
            else:
                others = at
        _move(text, aside, out, others - aside)
        rows.words_stop[row] = rows.others_start[row] = out
        out += others - aside
        rows.others_stop[row] = out
    return out


@inlined
def _is_ascii(text: int, position: int, stop: int) -> Any:
    bits, last = U(0), U(0)
    n_bytes = stop - position
    while position < stop:
        bits |= last
        last = word_at(text, position)
        position += 8
    return (bits | (last & (ALL >> U(-8 * n_bytes & 56)))) & HIGH == U(0)


@inlined
def _joined(own: int, kind: int, goes_on: bool) -> Any:
    """Return whether a character begins a token, the kind of that, and what may be joined to it."""
    if own >= EXTENDER:
        begins = kind == BLANK
        return begins, (WORD if begins else kind), own == JOINER and kind == PICTURE
    if own in (PICTURE, FLAG):
        begins = not goes_on or kind != own
        return begins, own, begins and own == FLAG
    return kind != own, own, False


@inlined
def _decoded(text: int, position: int, n_bytes: int) -> Any:
    """Return the code point of so many bytes of UTF-8."""
    point = byte_at(text, position) & (0xFF >> (n_bytes + (n_bytes > 1)))
    for k in range(1, n_bytes):
        point = (point << 6) | (byte_at(text, position + k) & 0x3F)
    return point


@inlined
def _encode(text: int, at: int, point: int) -> int:
    """Write a character in UTF-8; return where the next one goes."""
    if point < 0x80:
        store_byte(text, at, point)
        return at + 1
    n_more = 1 + (point >= 0x800) + (point >= 0x10000)
    store_byte(text, at, ((0xFF00 >> (n_more + 1)) & 0xFF) | (point >> (6 * n_more)))
    for k in range(1, n_more + 1):
        store_byte(text, at + k, 0x80 | ((point >> (6 * (n_more - k))) & 0x3F))
    return at + n_more + 1


@inlined
def _move(text: int, start: int, at: int, length: int) -> None:
    """Write bytes again, and up to seven more."""
    for k in range(0, length, 8):
        store_word(text, at + k, word_at(text, start + k))


class TermTable(NamedTuple):
    """The distinct terms of rows in order of appearance, and what finds those of one row by key.

    A slot has the number of a term. What earlier rows left there is below the first term of a row,
    and counts as empty. There must be more slots than the longest row can have terms, a power of
    two.
    """

    slots: NDArray[np.int32]
    keys: NDArray[np.uint64]
    counts: NDArray[np.float32]
    starts: NDArray[np.int32]  # where each is spelled
    stops: NDArray[np.int32]
    symbols: NDArray[np.int32]  # the number of a term of one byte, found without its key; as slots


class Keys(NamedTuple):
    """How the terms of a row are found: the seed of their keys, and which bits of those count."""

    seed: Any
    mask: Any
    slots: Any  # bits of the key that make a slot
    first: int  # term of the row


@inlined
def _slot_mask(least: int) -> Any:
    """Return the hash mask of a table with at least ``least`` slots."""
    n_slots = 64
    while n_slots < least:
        n_slots *= 2
    return U(n_slots - 1)


@inlined
def _count_term(
    terms: TermTable, n_terms: int, key: Any, unit: Any, start: int, stop: int, how: Keys
) -> int:
    """Count a term once more, or write it as the next one; return how many there are."""
    key &= how.mask
    slot = key & how.slots
    while terms.slots[slot] >= how.first:
        term = terms.slots[slot]
        if terms.keys[term] == key:
            terms.counts[term] += A_WORD if terms.counts[term] > 0 else A_PAIR
            return n_terms
        slot = (slot + U(1)) & how.slots
    terms.slots[slot] = n_terms
    terms.keys[n_terms] = key
    terms.counts[n_terms] = unit
    terms.starts[n_terms] = start
    terms.stops[n_terms] = stop
    return n_terms + 1


@inlined
def _spell(
    text: int, begin: int, length: int, others: bool, seed: Any, spelled: int, out: int
) -> Any:
    """Write a word in lower case, or another token, and a space behind it; return its hash."""
    mixed = seed ^ (U(length) * BY_LENGTH)
    while length > 8:
        chunk = word_at(text, begin) if others else _lowered(word_at(text, begin))
        store_word(spelled, out, chunk)
        mixed = _mixed(mixed, chunk)
        begin += 8
        out += 8
        length -= 8
    chunk = word_at(text, begin) if others else _lowered(word_at(text, begin))
    chunk &= ALL >> U(64 - 8 * length)
    store_word(spelled, out, chunk)
    store_byte(spelled, out + length, SPACE)
    return _last(_mixed(mixed, chunk))


@inlined
def _token_bytes_at(text: int, position: int, others: bool) -> Any:
    return symbol_bytes_at(text, position) if others else word_bytes_at(text, position)


@compiled
def scan_terms(
    text: int,
    rows: Rows,
    symbols: bool,
    seed: Any,
    key_mask: Any,
    pairs: bool,
    spelled: int,
    terms: Changed[TermTable],
    indptr: Changed[NDArray[np.int64]],
) -> Any:
    """Write the distinct terms of each row; return how many there are, and the length of spelled.

    There go the words in lower case, one space between them, then with ``symbols`` other tokens.
    """
    n_terms, out = 0, 0
    indptr[0] = 0
    for row in range(len(indptr) - 1):
        start, stop = rows.words_start[row], rows.words_stop[row]
        length = rows.others_stop[row] - start
        how = Keys(seed, key_mask, _slot_mask(length + (length >> 1) + 1), n_terms)
        n_terms, out = _scan(
            text, start, stop, how, spelled, terms, n_terms, out, others=False, pairs=pairs
        )
        if symbols:
            start, stop = rows.others_start[row], rows.others_stop[row]
            n_terms, out = _scan(
                text, start, stop, how, spelled, terms, n_terms, out, others=True, pairs=False
            )
        indptr[row + 1] = n_terms
    return n_terms, out


@inlined
def _scan(
    text: int,
    position: int,
    stop: int,
    how: Keys,
    spelled: int,
    terms: TermTable,
    n_terms: int,
    out: int,
    others: bool,  # a constant, which spares a test at each token
    pairs: bool,
) -> Any:
    """Write the distinct words of a row, or its other tokens; return as ``scan_terms``."""
    before, before_start = U(0), -1
    while position < stop:
        # Find tokens within 64 bytes; one that reaches their end is found in the next 64.
        mask = _token_bytes_at(text, position, others)
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
                more = SPAN
                while more == SPAN and length < stop - begin:
                    more = trailing_zeros(~_token_bytes_at(text, begin + length, others))
                    length += more
                length = min(length, stop - begin)
                mask = U(0)
            else:
                mask >>= U(length)
            offset += length
            symbol = byte_at(text, begin) if others and length == 1 else 0
            if others and terms.symbols[symbol] >= how.first:
                terms.counts[terms.symbols[symbol]] += A_WORD
                continue
            # Count the token, and the pair of a word and the one before.
            own = _spell(text, begin, length, others, how.seed, spelled, out)
            number, end = n_terms, out + length
            n_terms = _count_term(terms, n_terms, own, A_WORD, out, end, how)
            if symbol > 0 and n_terms > number:
                terms.symbols[symbol] = number
            if pairs and before_start >= 0:
                key = _pair(before, own)
                n_terms = _count_term(terms, n_terms, key, A_PAIR, before_start, end, how)
            before, before_start = own, out
            out = end + 1
        position += offset if mask != U(0) else max(offset, SPAN)
    return n_terms, out


@inlined
def _of_word(byte: int) -> bool:
    """Return whether a byte belongs to a word: a letter, a digit or above 127."""
    return 0x61 <= (byte | 0x20) <= 0x7A or 0x30 <= byte <= 0x39 or byte >= 0x80


@inlined
def _is_kept(byte: int, symbols: bool) -> bool:
    """Return whether n-grams have a byte: all but blanks, or those of words."""
    if symbols:
        return byte > SPACE or not (byte >= 0x1C or 0x09 <= byte <= 0x0D)
    return _of_word(byte)


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
    rows: Rows,
    symbols: bool,
    seed: Any,
    key_mask: Any,
    shortest: int,
    longest: int,
    spelled: int,
    terms: Changed[TermTable],
    indptr: Changed[NDArray[np.int64]],
) -> Any:
    """Write the distinct n-grams of characters of each row, as ``scan_terms`` its words.

    Spelled is what stands between blanks, without ``symbols`` words, in lower case with a space on
    either side. What is shorter than the shortest n-gram is one, but not without ``symbols``.
    """
    n_terms, out = 0, 0
    indptr[0] = 0
    for row in range(len(indptr) - 1):
        position, stop = rows.words_start[row], rows.words_stop[row]
        slots = _slot_mask(3 * (longest - shortest + 1) * (stop - position + 1))
        how = Keys(seed, key_mask, slots, n_terms)
        while position < stop:
            if not _is_kept(byte_at(text, position), symbols):
                position += 1
                continue
            # Spell the word.
            begin, n_characters = out, 2
            store_byte(spelled, out, SPACE)
            out += 1
            while position < stop and _is_kept(byte_at(text, position), symbols):
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
            least = min(shortest, n_characters) if symbols else shortest
            for size in range(least, min(longest, n_characters) + 1):
                start, end = begin, begin
                for _ in range(size):
                    end = _next_character(spelled, end)
                while True:
                    key = _hash(spelled, start, end - start, seed)
                    n_terms = _count_term(terms, n_terms, key, A_WORD, start, end, how)
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
