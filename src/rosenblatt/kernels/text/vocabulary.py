"""The numbers of terms by their hash, compiled: a table of open addressing with linear probing."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.rows import NEAR, prefetch
from rosenblatt.kernels.text.words import byte_at

U = np.uint64
LONGEST_NAME = 256  # bytes of a term that are kept to show it; its hash is what it is known by
BLANK = 32
AHEAD = 16  # terms; each is a cache miss in a large table, and this many are awaited at once
SOON = 8  # terms of which the slot has come, so that their hash can be asked for
UPPER, LOWER = U(0xFFFFFFFF00000000), U(0xFFFFFFFF)  # of a hash; of a slot the number of a term


@compiled
def enter_terms(
    hashes: NDArray[np.uint64], n_terms: int, slots: Changed[NDArray[np.uint64]]
) -> None:
    """Enter the first terms into an empty table.

    A slot has the upper half of a hash, and below it one more than the number of its term; 0 where
    it is empty. Half as many bytes as with the whole hash, which is seldom needed and looked up.
    """
    mask = U(len(slots) - 1)
    for term in range(n_terms):
        if term + AHEAD < n_terms:
            prefetch(slots, np.int64(hashes[term + AHEAD] & mask), NEAR)
        slot = hashes[term] & mask
        while slots[slot] != U(0):
            slot = (slot + U(1)) & mask
        slots[slot] = (hashes[term] & UPPER) | U(term + 1)


class KnownTerms(NamedTuple):
    """The terms that have a number; all of it changes."""

    slots: NDArray[np.uint64]
    hashes: NDArray[np.uint64]
    offsets: NDArray[np.int64]  # where the name of each term begins, and that of the next one
    letters: NDArray[np.uint8]


@inlined
def _is_of(slot: Any, key: Any, hashes: NDArray[np.uint64]) -> Any:
    """Return whether a slot that is not empty has the term of a hash."""
    return slot & UPPER == key & UPPER and hashes[np.int64(slot & LOWER) - 1] == key


@compiled
def look_up(
    keys: NDArray[np.uint64],
    begin: int,
    starts: NDArray[np.int32],
    stops: NDArray[np.int32],
    spelled: int,
    known: Changed[KnownTerms],
    n_terms: int,
    most_terms: int,
    numbers: Changed[NDArray[np.int32]],
) -> Any:
    """Write the number of each key from ``begin`` on; return where it stopped, and how many terms.

    A new term is given the next number, or −1 when there are ``most_terms``. Where there is no
    room for it the work stops: the caller makes room, and calls again.
    """
    slots, hashes, offsets, letters = known
    mask = U(len(slots) - 1)
    n_keys = len(keys)
    for k in range(begin, n_keys):
        if k + AHEAD < n_keys:
            prefetch(slots, np.int64(keys[k + AHEAD] & mask), NEAR)
            soon = slots[keys[k + SOON] & mask] & LOWER
            prefetch(hashes, np.int64(soon) - 1 if soon else 0, NEAR)
        key = keys[k]
        slot = key & mask
        while slots[slot] != U(0) and not _is_of(slots[slot], key, hashes):
            slot = (slot + U(1)) & mask
        if slots[slot] != U(0):
            numbers[k] = np.int64(slots[slot] & LOWER) - 1
            continue
        if n_terms >= most_terms:
            numbers[k] = -1
            continue
        used = offsets[n_terms]
        if (
            n_terms >= len(hashes)
            or 3 * n_terms >= 2 * len(slots)
            or used + LONGEST_NAME > len(letters)
        ):
            return k, n_terms
        slots[slot] = (key & UPPER) | U(n_terms + 1)
        hashes[n_terms] = key
        start, length = starts[k], stops[k] - starts[k]
        if length > LONGEST_NAME:
            length = LONGEST_NAME
            while byte_at(spelled, start + length) & 0xC0 == 0x80:  # whole characters only
                length -= 1
        for i in range(length):
            letters[used + i] = byte_at(spelled, start + i)
        n_terms += 1
        offsets[n_terms] = used + length
        numbers[k] = n_terms - 1
    return n_keys, n_terms


@compiled
def copy_names(
    letters: NDArray[np.uint8],
    starts: NDArray[np.int64],  # of the names that are copied
    offsets: NDArray[np.int64],  # where the copies begin, and where the last ends
    copies: Changed[NDArray[np.uint8]],
) -> None:
    """Write some names one after the other."""
    for k in range(len(starts)):
        start, first = starts[k], offsets[k]
        for i in range(offsets[k + 1] - first):
            copies[first + i] = letters[start + i]


@compiled
def find_words(
    letters: NDArray[np.uint8], offsets: NDArray[np.int64], words: Changed[NDArray[np.bool_]]
) -> None:
    """Write for each name whether it is a word, which has no blank, as a pair of words has."""
    for k in range(len(words)):
        place, stop = offsets[k], offsets[k + 1]
        while place < stop and letters[place] != BLANK:
            place += 1
        words[k] = place == stop
