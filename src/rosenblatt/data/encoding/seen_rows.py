"""Which rows a model has learned from: a small sample of them, by one-way digests.

Every row has a fingerprint. The rows with the lowest ones are a random sample of different rows,
the same in whichever order they come and however they are cut. Of new rows those whose fingerprint
is as low are looked up, so that the share of rows that were learned from is known from a few.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding.columns import InputColumn
from rosenblatt.data.encoding.familiarity import CHANCE, Surprise, percentage
from rosenblatt.data.encoding.vocabulary import Terms

MOST_KEPT = 1000  # different rows, 8 bytes each
MOST_LOOKED_UP = 5000  # rows: a digest takes a microsecond
LEAST_RISE = 0.01  # of the share of rows that have an equal, for a remark
ANY = 2**64 - 1

Prints = NDArray[np.uint64]


def mixed(numbers: Prints) -> Prints:
    """Return numbers that look random, different ones for different numbers (splitmix64).

    >>> mixed(np.array([1], np.uint64)).tolist()
    [6238072747940578789]
    """
    h = numbers ^ (numbers >> np.uint64(30))
    h *= np.uint64(0xBF58476D1CE4E5B9)
    h ^= h >> np.uint64(27)
    h *= np.uint64(0x94D049BB133111EB)
    h ^= h >> np.uint64(31)
    return h


class RowFingerprints:
    """Makes a number of 64 bits of each row of a table, column by column."""

    def __init__(self, n_rows: int) -> None:
        self._prints = np.zeros(n_rows, np.uint64)

    def add(self, values: NDArray[np.int64]) -> None:
        """Take in a number of each row."""
        self._prints = mixed(self._prints + values.view(np.uint64) + np.uint64(1))

    def add_terms(self, terms: Terms | Batch) -> None:
        """Take in the terms of each row, whatever their order."""
        keys = terms.keys if isinstance(terms, Terms) else terms.indices.astype(np.uint64)
        sums = np.zeros(len(keys) + 1, np.uint64)
        np.cumsum(mixed(keys), out=sums[1:])
        self.add(np.diff(sums[terms.indptr]).view(np.int64))

    def rows(self, numbers: NDArray[np.float64]) -> Prints:
        """Return the fingerprints, after the numbers of the rows, NaN where one is missing."""
        plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, and one zero
        for column in np.ascontiguousarray(plain.T):
            self.add(column.view(np.int64))
        return self._prints


class SeenRows:
    """The sample of the rows of training: digests of all whose fingerprint is at most ``limit``.

    The first digest is that of the sum of all fingerprints.
    """

    def __init__(self, limit: int, digests: Prints, repeated: float) -> None:
        self.limit, self.whole, self.digests = limit, digests[0], digests[1:]
        self.repeated = repeated  # share of the training rows that have an equal among them


class RowSampler:
    """Keeps the rows with the lowest fingerprints, each once, and how often it came."""

    def __init__(self) -> None:
        self._prints, self._counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        self._limit = np.uint64(ANY)
        self._sum = np.zeros(1, np.uint64)

    def add(self, prints: Prints) -> None:
        """Take in rows."""
        self._sum += prints.sum(dtype=np.uint64)
        new, counts = np.unique(prints[prints <= self._limit], return_counts=True)
        kept, place = np.unique(np.concatenate([self._prints, new]), return_inverse=True)
        total = np.bincount(place, np.concatenate([self._counts, counts])).astype(np.int64)
        self._prints, self._counts = kept[:MOST_KEPT], total[:MOST_KEPT]
        if len(kept) > MOST_KEPT:
            self._limit = self._prints[-1]

    def seen(self, salt: bytes) -> SeenRows | None:
        """Return the sample, None where there were no rows."""
        if not len(self._prints):
            return None
        repeated = self._counts[self._counts > 1].sum() / self._counts.sum()
        whole, each = digests(self._sum, salt), np.sort(digests(self._prints, salt))
        return SeenRows(int(self._limit), np.concatenate([whole, each]), float(repeated))


class SeenCounter:
    """Counts the new rows that were learned from."""

    def __init__(self, seen: SeenRows, salt: bytes) -> None:
        self._seen, self._salt = seen, salt
        self.n_rows = self.n_tried = self.n_found = 0
        self._sum = np.zeros(1, np.uint64)

    def add(self, prints: Prints) -> None:
        """Look up those rows that would be in the sample if they had been learned from."""
        self.n_rows += len(prints)
        self._sum += prints.sum(dtype=np.uint64)
        low = prints[prints <= np.uint64(self._seen.limit)][: MOST_LOOKED_UP - self.n_tried]
        self.n_tried += len(low)
        self.n_found += int(np.isin(digests(low, self._salt), self._seen.digests).sum())

    def remark(self) -> str | None:
        """Return a sentence where more rows were learned from than have an equal by chance."""
        n, tried, repeated = self.n_found, self.n_tried, self._seen.repeated
        surprise = Surprise(len(self._seen.digests), CHANCE)
        same = digests(self._sum, self._salt)[0] == self._seen.whole
        if not tried or not (same or surprise(n, tried, repeated, rise=LEAST_RISE)):
            return None
        if n == tried:
            return (
                f"All {self.n_rows:,} rows are equal to rows that the model was trained on: the"
                " error on them says nothing of new rows."
            )
        exact = tried == self.n_rows
        rows = n if exact else round(n / tried * self.n_rows)
        return (
            f"{'' if exact else 'About '}{rows:,} of {self.n_rows:,} rows"
            f" ({percentage(n / tried)}) are equal to rows that the model was trained on: the"
            " error on new rows may be higher."
        )


def salt_of(columns: Sequence[InputColumn], n_rows: int) -> bytes:
    """Return what makes the digests of a model of no use for another."""
    names = "\0".join(f"{column.name}\0{column.role}" for column in columns)
    return blake2b(f"{n_rows}\0{names}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def digests(prints: Prints, salt: bytes) -> Prints:
    """Return one-way digests of fingerprints."""
    found = (blake2b(one.tobytes(), digest_size=8, key=salt).digest() for one in prints)
    return np.frombuffer(b"".join(found), "<u8").astype(np.uint64)
