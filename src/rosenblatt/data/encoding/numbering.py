"""The numbers of features that are not numeric columns: kept in a vocabulary, or hashed."""

# ruff: noqa: ARG002  # a hash needs less than a vocabulary

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.terms import Terms
from rosenblatt.data.encoding.vocabulary import TermArrays, Vocabulary
from rosenblatt.kernels.text.hashing import WORD_MASK


class Numbering(Protocol):
    """Gives a number to each term, counted from 0, and −1 to a term that it does not take in."""

    n_unknown: int  # how often a term of a row was not taken in
    key_mask: int  # the bits of a hash that matter

    def __len__(self) -> int: ...

    def name(self, number: int) -> tuple[int, str] | None:
        """Return whose term it is and the term, or None where that is not known."""

    def level(self, column: int, key: int, name: bytes, *, n_rows: int, growing: bool) -> int:
        """Return the number of a category level that so many rows have."""

    def terms(
        self, column: int, terms: Terms, *, scanned: bool, growing: bool
    ) -> NDArray[np.int32]:
        """Return the number of each term."""


class HashedNumbering:
    """The lower bits of the hash are the number; terms may share one."""

    def __init__(self, bits: int) -> None:
        self.n_unknown = 0
        self.key_mask = (1 << bits) - 1

    def __len__(self) -> int:
        return self.key_mask + 1

    def name(self, number: int) -> None:
        """Return None: names are not kept, and several terms may have a number."""

    def level(self, column: int, key: int, name: bytes, *, n_rows: int, growing: bool) -> int:
        """Return the number of a category level."""
        return key & self.key_mask

    def terms(
        self, column: int, terms: Terms, *, scanned: bool, growing: bool
    ) -> NDArray[np.int32]:
        """Return the number of each term."""
        return terms.keys.astype(np.int32)


class KeptNumbering:
    """Terms are numbered in the order in which they are first met, and keep their names."""

    key_mask = WORD_MASK

    def __init__(self, most: int, stored: TermArrays | None = None) -> None:
        self.n_unknown = 0
        self.vocabulary = Vocabulary(most, stored)
        self._levels: dict[int, dict[int, int]] = {}  # column to hash to number

    def __len__(self) -> int:
        return len(self.vocabulary)

    def name(self, number: int) -> tuple[int, str]:
        """Return whose term it is and the term."""
        return self.vocabulary.column(number), self.vocabulary.name(number)

    def level(self, column: int, key: int, name: bytes, *, n_rows: int, growing: bool) -> int:
        """Return the number of a category level that so many rows have."""
        if column not in self._levels:
            self._levels[column] = self.vocabulary.numbers_by_hash(column)
        known = self._levels[column]
        number = known.get(key, -1)
        if number < 0 and growing:
            number = self.vocabulary.add(key, name, column)
            if number >= 0:
                known[key] = number
        if number < 0:
            self.n_unknown += n_rows
        return number

    def terms(
        self, column: int, terms: Terms, *, scanned: bool, growing: bool
    ) -> NDArray[np.int32]:
        """Return the number of each term."""
        look_up = self.vocabulary.look_up_compiled if scanned else self.vocabulary.look_up_plain
        numbers = look_up(terms, column, growing=growing)
        self.n_unknown += int(np.count_nonzero(numbers < 0))
        return numbers
