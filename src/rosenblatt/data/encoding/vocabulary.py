"""Terms in the order in which they were first met: words, pairs of words, category levels."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rosenblatt.data.encoding.terms import Terms

LONGEST_NAME = 256  # bytes of a term that are kept to show it; its hash is what it is known by
FEWEST_SLOTS = 1 << 16
GROWTH = 4  # times as many slots: to enter all terms again costs more than the memory


class TermArrays(NamedTuple):
    """All that a vocabulary holds, one entry a term; ``offsets`` has one more."""

    hashes: NDArray[np.uint64]
    columns: NDArray[np.int32]  # whose term it is
    letters: NDArray[np.uint8]  # UTF-8, one name after the other
    offsets: NDArray[np.int64]  # where in the letters each begins


def _crowded(n_terms: int, n_slots: int) -> bool:
    """Whether a table is two thirds full: it would be searched too long."""
    return 3 * n_terms >= 2 * n_slots


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    longer = np.zeros(length, array.dtype)
    longer[: len(array)] = array
    return longer


class Vocabulary:
    """A growing table of terms, known by their 64-bit hashes and numbered from 0.

    Parameters
    ----------
    most : int
        When there are so many terms, no new ones are taken in.
    stored : TermArrays, optional
        Terms to begin with.
    """

    def __init__(self, most: int, stored: TermArrays | None = None) -> None:
        if stored is None:
            nothing = np.zeros(0, np.uint8)
            stored = TermArrays(
                np.zeros(0, np.uint64), np.zeros(0, np.int32), nothing, np.zeros(1, np.int64)
            )
        self._hashes, self._columns, self._letters, self._offsets = stored
        self._most = most
        self._n_terms = len(stored.hashes)
        self._slots: NDArray[np.uint64] | None = None  # compiled code's table, once it is needed
        self._sorted: tuple[NDArray[np.uint64], NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return self._n_terms

    def arrays(self) -> TermArrays:
        """Return the terms as they are now."""
        n = self._n_terms
        return TermArrays(
            self._hashes[:n],
            self._columns[:n],
            self._letters[: self._offsets[n]],
            self._offsets[: n + 1],
        )

    def name(self, number: int) -> str:
        """Return the term of this number as text."""
        start, stop = self._offsets[number], self._offsets[number + 1]
        return self._letters[start:stop].tobytes().decode("utf-8")

    def column(self, number: int) -> int:
        """Return whose term it is."""
        return int(self._columns[number])

    def numbers_by_hash(self, column: int) -> dict[int, int]:
        """Return the terms of a column as a dictionary from hash to number."""
        found = np.flatnonzero(self._columns[: self._n_terms] == column)
        return dict(zip(self._hashes[found].tolist(), found.tolist(), strict=True))

    def add(self, key: int, name: bytes, column: int) -> int:
        """Take in a new term; return its number, or −1 where there is no more room."""
        number = self._n_terms
        if number >= self._most:
            return -1
        self._reserve()
        cut = name[:LONGEST_NAME]
        if len(name) > LONGEST_NAME:
            cut = cut.decode("utf-8", "ignore").encode()  # whole characters only
        used = int(self._offsets[number])
        self._hashes[number] = key
        self._columns[number] = column
        self._letters[used : used + len(cut)] = np.frombuffer(cut, np.uint8)
        self._offsets[number + 1] = used + len(cut)
        self._n_terms += 1
        self._slots = self._sorted = None
        return number

    def look_up_plain(self, terms: "Terms", column: int, *, growing: bool) -> NDArray[np.int32]:
        """Return the number of each term, −1 for an unknown one; in plain NumPy."""
        numbers = self._known(terms.keys)
        if growing and len(numbers) and numbers.min() < 0:
            new: dict[int, int] = {}
            spelled = terms.spelled.tobytes()
            for k in np.flatnonzero(numbers < 0).tolist():
                key = int(terms.keys[k])
                if key not in new:
                    name = spelled[terms.starts[k] : terms.stops[k]]
                    new[key] = self.add(key, name, column)
                numbers[k] = new[key]
        return numbers

    def look_up_compiled(self, terms: "Terms", column: int, *, growing: bool) -> NDArray[np.int32]:
        """Return the same as ``look_up_plain``, by the compiled table."""
        from rosenblatt.kernels.text.vocabulary import look_up

        numbers = np.empty(len(terms.keys), np.int32)
        most = self._most if growing else self._n_terms
        first, done = self._n_terms, 0
        while True:
            slots = self._table()
            done, self._n_terms = look_up(
                terms.keys,
                done,
                terms.starts,
                terms.stops,
                terms.spelled.ctypes.data,
                slots,
                slots.ctypes.data,
                self._hashes,
                self._offsets,
                self._letters,
                self._n_terms,
                most,
                LONGEST_NAME,
                numbers,
            )
            if done == len(numbers):
                break
            self._reserve()
        if self._n_terms > first:
            self._columns[first : self._n_terms] = column
            self._sorted = None
        return numbers

    def _known(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        if self._sorted is None:
            order = np.argsort(self._hashes[: self._n_terms])
            self._sorted = self._hashes[order], order
        hashes, order = self._sorted
        if not len(hashes):
            return np.full(len(keys), -1, np.int32)
        places = np.minimum(np.searchsorted(hashes, keys), len(hashes) - 1)
        return np.where(hashes[places] == keys, order[places], -1).astype(np.int32)

    def _table(self) -> NDArray[np.uint64]:
        """Return the compiled code's table, with room for another term."""
        from rosenblatt.kernels.text.vocabulary import enter_hashes

        if self._slots is None or _crowded(self._n_terms, len(self._slots)):
            n_slots = FEWEST_SLOTS
            while _crowded(self._n_terms, n_slots):
                n_slots *= GROWTH
            while n_slots > FEWEST_SLOTS and not _crowded(self._most, n_slots // 2):
                n_slots //= 2
            self._slots = np.zeros((n_slots, 2), np.uint64)
            enter_hashes(self._hashes, self._n_terms, self._slots, self._slots.ctypes.data)
        return self._slots

    def _reserve(self) -> None:
        """Make room for one more term at least: twice as much where there is none."""
        n, used = self._n_terms, int(self._offsets[self._n_terms])
        if n >= len(self._hashes):
            room = min(self._most, 2 * n + 1024)
            self._hashes = _longer(self._hashes, room)
            self._columns = _longer(self._columns, room)
            self._offsets = _longer(self._offsets, room + 1)
        if used + LONGEST_NAME > len(self._letters):
            self._letters = _longer(self._letters, 2 * used + (1 << 16))
