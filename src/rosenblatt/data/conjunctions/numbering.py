"""In which column a conjunction of features stands: a table of those that are known, or a hash."""

import math
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.text.hashing import pair_hash


class Numbering(Protocol):
    """What the expansion of rows asks."""

    @property
    def shift(self) -> int:
        """The column of the first of the rows' own features."""

    @property
    def n_columns(self) -> int:
        """How many columns there are, or a bound on it."""

    def columns(self, features: NDArray[Any], degree: int) -> NDArray[Any]:
        """Return the column of each conjunction (degree, n), −1 for none."""


class Known(NamedTuple):
    """Every conjunction has a column of its own, after those of the features."""

    tables: dict[int, NDArray[Any]]  # the keys of each degree, ascending
    n_features: int

    @property
    def shift(self) -> int:
        """Features keep their columns."""
        return 0

    @property
    def n_columns(self) -> int:
        """Features, then pairs, then triples."""
        return self.n_features + sum(len(table) for table in self.tables.values())

    def columns(self, features: NDArray[Any], degree: int) -> NDArray[Any]:
        """Return the column of each conjunction, −1 for those that are not known."""
        table, wanted = self.tables[degree], keys(features, self.n_features)
        if not len(table):
            return np.full(len(wanted), -1, np.int64)
        place = np.minimum(np.searchsorted(table, wanted), len(table) - 1)
        first = self.n_features + (len(self.tables[2]) if degree == 3 else 0)
        return np.where(table[place] == wanted, first + place, -1)


class Hashed(NamedTuple):
    """Conjunctions share 2^bits columns; the rows' own features never share one.

    By default the shared columns come after those of ``n_features`` features. With ``first=True``
    they come first: so rows of a stream whose width is not yet known can be numbered.
    """

    bits: int
    n_features: int
    first: bool = False

    @property
    def shift(self) -> int:
        """The column of the first of the rows' own features."""
        return (1 << self.bits) * self.first

    @property
    def n_columns(self) -> int:
        """Features and shared columns."""
        return self.n_features + (1 << self.bits)

    def columns(self, features: NDArray[Any], degree: int) -> NDArray[Any]:
        """Return the column of each conjunction: the highest bits of its hash."""
        numbers = features.astype(np.uint64)
        mixed: Any = numbers[0]
        for j in range(1, degree):
            mixed = pair_hash(mixed, cast("Any", numbers[j]))
        bucket = (mixed >> np.uint64(64 - self.bits)).astype(np.int64)
        start = 0 if self.first else self.n_features
        return cast("NDArray[Any]", bucket + start)


def keys(features: NDArray[Any], n_features: int) -> NDArray[Any]:
    """Return one number for each conjunction (degree, n), by which they are ordered."""
    key: NDArray[Any] = features[0]
    for feature in features[1:]:
        key = key * np.int64(n_features) + feature
    return key


def features_of(table: NDArray[Any], n_features: int, degree: int) -> NDArray[Any]:
    """Return the features of each key, (n, degree)."""
    columns = []
    for _ in range(degree):
        table, last = np.divmod(table, max(n_features, 1))
        columns.append(last)
    return np.column_stack(columns[::-1])


def has_keys(n_features: int, degree: int) -> bool:
    """Return whether so many features have few enough conjunctions for numbers of 64 bits."""
    return math.log2(max(n_features, 1)) * degree < 62.9
