"""The n-grams of the characters of words, compiled; defined by ``data.encoding.characters``.

Text is given as ``kernels.text.terms`` has it: rewritten so that bytes above 127 are those of words
in lower case, and by its address.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.text.hashing import CHUNK_FACTOR, LAST_FACTOR, LENGTH_FACTOR
from rosenblatt.kernels.text.words import byte_at, store_byte, word_at

U = np.uint64
SPACE = 0x20
ALL = U(0xFFFFFFFFFFFFFFFF)
ONE = np.float32(1)
BY_LENGTH, BY_CHUNK, BY_LAST = U(LENGTH_FACTOR), U(CHUNK_FACTOR), U(LAST_FACTOR)


@inlined
def _of_word(byte: int) -> bool:
    """Return whether a byte belongs to a word: a letter, a digit or above 127."""
    return 0x61 <= (byte | 0x20) <= 0x7A or 0x30 <= byte <= 0x39 or byte >= 0x80


@compiled
def scan_ngrams(  # noqa: PLR0912, PLR0915  # what writes to arrays: passing them on takes time
    text: int,
    offsets: NDArray[np.int64],
    seed: Any,
    key_mask: Any,
    shortest: int,
    longest: int,
    spelled: int,
    slots: Changed[NDArray[np.int32]],
    keys: Changed[NDArray[np.uint64]],
    counts: Changed[NDArray[np.float32]],
    starts: Changed[NDArray[np.int32]],
    stops: Changed[NDArray[np.int32]],
    indptr: Changed[NDArray[np.int64]],
) -> Any:
    """Write the distinct n-grams of each row, in order of appearance.

    Returns how many there are, and the length of what is spelled: the words in lower case with a
    space on either side. ``slots`` is used as by ``scan_terms``; it must have one and a half times
    as many places as the longest row can have n-grams, a power of two.
    """
    n_terms, out = 0, 0
    indptr[0] = 0
    for row in range(len(offsets) - 1):
        position, stop = offsets[row], offsets[row + 1]
        first_term = n_terms
        n_slots = 64
        while n_slots < 3 * (longest - shortest + 1) * (stop - position + 1):
            n_slots *= 2
        slot_mask = U(n_slots - 1)
        while position < stop:
            if not _of_word(byte_at(text, position)):
                position += 1
                continue
            begin, n_characters = out, 2
            store_byte(spelled, out, SPACE)
            out += 1
            while position < stop:
                byte = byte_at(text, position)
                if not _of_word(byte):
                    break
                if 0x41 <= byte <= 0x5A:
                    byte |= 0x20
                store_byte(spelled, out, byte)
                n_characters += byte & 0xC0 != 0x80
                out += 1
                position += 1
            store_byte(spelled, out, SPACE)
            out += 1
            store_byte(spelled, out, SPACE)  # so that a search for the next character ends
            for size in range(shortest, min(longest, n_characters) + 1):
                start, end = begin, begin
                for _ in range(size):
                    end += 1
                    while byte_at(spelled, end) & 0xC0 == 0x80:
                        end += 1
                while True:
                    place, length = start, end - start
                    mixed = seed ^ (U(length) * BY_LENGTH)
                    while length > 8:
                        mixed = (mixed ^ word_at(spelled, place)) * BY_CHUNK
                        mixed ^= mixed >> U(32)
                        place += 8
                        length -= 8
                    chunk = word_at(spelled, place) & (ALL >> U(64 - 8 * length))
                    mixed = (mixed ^ chunk) * BY_CHUNK
                    mixed ^= mixed >> U(32)
                    mixed *= BY_LAST
                    mixed ^= mixed >> U(29)
                    key = mixed & key_mask
                    slot = key & slot_mask
                    while True:
                        term = slots[slot]
                        if term < first_term:
                            slots[slot] = n_terms
                            keys[n_terms] = key
                            counts[n_terms] = ONE
                            starts[n_terms] = start
                            stops[n_terms] = end
                            n_terms += 1
                            break
                        if keys[term] == key:
                            counts[term] += ONE
                            break
                        slot = (slot + U(1)) & slot_mask
                    if end >= out:
                        break
                    start += 1
                    while byte_at(spelled, start) & 0xC0 == 0x80:
                        start += 1
                    end += 1
                    while byte_at(spelled, end) & 0xC0 == 0x80:
                        end += 1
        indptr[row + 1] = n_terms
    return n_terms, out
