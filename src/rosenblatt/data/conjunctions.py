"""Conjunctions of features: pairs and triples of those that are present in one row.

Only those that occur are made; scikit-learn's PolynomialFeatures numbers all pairs of columns.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from math import comb
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, indicator_part, join, joined_rows, running_sums, successive
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import pair_hash

AT_A_TIME = 1 << 20  # conjunctions in one block of rows: 140 MB while a block is sorted
MOST_IN_A_ROW = 1 << 24
MOST_TOGETHER = 1 << 23  # that are handed on: 100 MB
MOST_VALUES = 1 << 30  # of all rows


class KnownConjunctions(NamedTuple):
    """Every conjunction has a column of its own, after those of the features."""

    tables: dict[int, NDArray[Any]]  # the keys of each degree, ascending
    n_features: int

    @property
    def n_columns(self) -> int:
        """Features, then pairs, then triples."""
        return self.n_features + sum(len(table) for table in self.tables.values())

    def columns(self, features: NDArray[Any], degree: int) -> NDArray[Any]:
        """Return the column of each conjunction, −1 for those that are not known."""
        first = self.n_features + (len(self.tables[2]) if degree == 3 else 0)
        return places(self.tables[degree], keys(features, self.n_features), first)


class HashedConjunctions(NamedTuple):
    """Conjunctions share 2^bits columns, after those of the features, which never share one."""

    bits: int
    n_features: int

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
        return cast("NDArray[Any]", bucket + self.n_features)


ConjunctionNumbering = KnownConjunctions | HashedConjunctions


class ColumnPairs:
    """Cells of some pairs of columns: a level of the one that stands with a level of the other.

    Levels are features of value 1 of which a row has at most one a column: categories, bins of
    numbers and missing values. A cell that has not occurred has no feature.

    >>> rows = Batch(np.ones(4), np.array([0, 2, 1, 2]), np.array([0, 2, 4]))
    >>> pairs = ColumnPairs.of_rows([(0, 1)], [rows], np.array([0, 0, 1]))
    >>> pairs.expand(rows).indices
    array([0, 2, 3, 1, 2, 4])
    """

    def __init__(
        self, pairs: Sequence[tuple[int, int]], owners: NDArray[Any], table: NDArray[np.int64]
    ) -> None:
        self.pairs, self.owners = tuple(pairs), owners  # places of columns; of each feature, or −1
        self.tables = {2: table}  # the keys of cells, ascending
        self.n_features = len(owners)

    @classmethod
    def of_rows(
        cls, pairs: Sequence[tuple[int, int]], rows: Iterable[Batch], owners: NDArray[Any]
    ) -> "ColumnPairs":
        """Return the cells that occur in rows."""
        found, table = cls(pairs, owners, np.empty(0, np.int64)), np.empty(0, np.int64)
        for part in rows:
            for keys_ in found._keys(part).T:
                table = np.union1d(table, keys_[keys_ >= 0])
        return cls(pairs, owners, table)

    @property
    def n_columns(self) -> int:
        """Features, then cells."""
        return self.n_features + len(self.tables[2])

    def expand(self, rows: Batch) -> Batch:
        """Return rows with the features of their cells behind their own."""
        if not self.pairs or not len(self.tables[2]):
            return rows
        cells = places(self.tables[2], self._keys(rows), self.n_features).astype(np.int32)
        joined = joined_rows(np.empty((rows.n_rows, 0)), [rows, indicator_part(cells)])
        return rows.with_rows(joined._replace(n_features=self.n_columns))

    def _keys(self, rows: Batch) -> NDArray[np.int64]:
        """Return the cell of each row in each pair, −1 where a column has no level."""
        levels = levels_of(rows, self.owners)
        one, other = (levels[:, [pair[k] for pair in self.pairs]].astype(np.int64) for k in (0, 1))
        low, high = np.minimum(one, other), np.maximum(one, other)
        return np.where(low < 0, -1, low * self.n_features + high)


def levels_of(rows: Batch, owners: NDArray[Any]) -> NDArray[np.int32]:
    """Return the feature of each row that is the level of each column, −1 where there is none."""
    levels = np.full((rows.n_rows, int(owners.max(initial=-1)) + 1), -1, np.int32)
    owner = owners[rows.indices]
    known = owner >= 0
    levels[rows.row_numbers[known], owner[known]] = rows.indices[known]
    return levels


def keys(features: NDArray[Any], n_features: int) -> NDArray[Any]:
    """Return one number for each conjunction (degree, n), by which they are ordered."""
    key: NDArray[Any] = features[0]
    for feature in features[1:]:
        key = key * np.int64(n_features) + feature
    return key


def places(table: NDArray[Any], wanted: NDArray[Any], first: int) -> NDArray[Any]:
    """Return ``first`` plus the place of each key in an ascending table, −1 for unknown keys."""
    if not len(table):
        return np.full(wanted.shape, -1, np.int64)
    place = np.minimum(np.searchsorted(table, wanted), len(table) - 1)
    return np.where(table[place] == wanted, first + place, -1)


def features_of(table: NDArray[Any], n_features: int, degree: int) -> NDArray[Any]:
    """Return the features of each key, (n, degree)."""
    columns = []
    for _ in range(degree):
        table, last = np.divmod(table, max(n_features, 1))
        columns.append(last)
    return np.column_stack(columns[::-1])


def has_keys(n_features: int, degree: int) -> bool:
    """Return whether the keys of all conjunctions of this degree fit into 64 bits."""
    return math.log2(max(n_features, 1)) * degree < 62.9


def conjunctions(rows: Batch, degree: int, numbering: ConjunctionNumbering) -> Batch:
    """Return the rows with their own features and, beside them, those of their conjunctions.

    ``degree`` 2 adds pairs, 3 pairs and triples. Conjunctions that ``numbering`` does not know are
    left out, and two in one column are added. Indices ascend.

    >>> numbering = KnownConjunctions({2: np.array([2])}, 3)  # features 0 and 2, of three
    >>> rows = Batch(np.ones(2), np.array([0, 2]), np.array([0, 2]))
    >>> conjunctions(rows, 2, numbering).indices
    array([0, 2, 3], dtype=int32)
    """
    rows = rows._replace(indptr=np.asarray(rows.indptr, np.int64))
    index = np.int32 if numbering.n_columns < 2**31 else np.int64
    done = [_block(rows.block(*ends), degree, numbering) for ends in blocks(rows, degree)]
    expanded = join(done) if done else rows
    return expanded._replace(indices=expanded.indices.astype(index))


def blocks(rows: Batch, degree: int, most: int = AT_A_TIME) -> Iterator[tuple[int, int]]:
    """Return first and last + 1 of rows that together have not too many conjunctions."""
    counts = _counts(rows, degree)
    if len(counts) and counts.max() > MOST_IN_A_ROW:
        row = int(np.argmax(counts > MOST_IN_A_ROW))
        raise InputError(
            f"Row {row} has {np.diff(rows.indptr)[row]} features that are not 0, which make"
            f" {int(counts[row])} conjunctions, more than {MOST_IN_A_ROW}: choose fewer features"
            f"{' or pairs alone (degree=2)' if degree == 3 else ''}."
        )
    return successive(running_sums(counts.astype(np.int64) + 1), most)  # 1: rows cost something


def _counts(rows: Batch, degree: int) -> NDArray[np.float64]:
    """Return how many conjunctions each row has."""
    n = np.diff(rows.indptr).astype(np.float64)
    pairs = n * (n - 1.0) / 2.0
    return pairs + pairs * (n - 2.0) / 3.0 if degree == 3 else pairs


def combined(
    rows: Batch, degree: int
) -> Iterator[tuple[int, NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Yield the pairs of rows that are not 0, and for degree 3 then their triples.

    With the degree come the products of values (n,), the numbers of the features (degree, n),
    ascending, and the row of each (n,).
    """
    present = np.flatnonzero(rows.data)
    row = rows.row_numbers[present]
    value = rows.data[present].astype(_value_type(rows.data), copy=False)
    feature = rows.indices[present].astype(np.int64)
    end = np.searchsorted(present, rows.indptr[1:])[row]  # of the row, among those present
    after = end - np.arange(len(present)) - 1  # how many come after each in its row
    ascending = bool(((np.diff(feature) > 0) | (np.diff(row) > 0)).all())
    last = np.arange(len(present))
    values, features, number = value, feature[None], row
    for size in range(2, degree + 1):
        counts = after[last]
        first = np.repeat(np.cumsum(counts) - counts, counts)  # of those with the same choice
        following = np.repeat(last + 1, counts) + np.arange(len(first)) - first
        values = np.repeat(values, counts) * value[following]
        features = np.vstack([np.repeat(features, counts, axis=1), feature[following]])
        number = np.repeat(number, counts)
        last = following
        sorted_ = features if ascending else np.sort(features, axis=0)
        yield size, values, sorted_, number


def _block(rows: Batch, degree: int, numbering: ConjunctionNumbering) -> Batch:
    kind = _value_type(rows.data)
    values, columns = [rows.data.astype(kind)], [rows.indices.astype(np.int64)]
    numbers = [rows.row_numbers]
    for size, products, features, number in combined(rows, degree):
        column = numbering.columns(features, size)
        known = column >= 0
        values.append(products[known])
        columns.append(column[known])
        numbers.append(number[known])
    place = np.concatenate(numbers) * np.int64(numbering.n_columns) + np.concatenate(columns)
    order = np.argsort(place, kind="stable")
    place, ordered = place[order], np.concatenate(values)[order]
    first = np.flatnonzero(np.diff(place, prepend=-1))  # of those in one column of one row
    sums = np.add.reduceat(ordered, first) if len(first) else ordered
    row, column = np.divmod(place[first], numbering.n_columns)
    starts = running_sums(np.bincount(row, minlength=rows.n_rows))
    return Batch(sums.astype(kind, copy=False), column, starts)


def _value_type(data: NDArray[Any]) -> Any:
    """Return the type of products: that of the data, or float64 where they are no floats."""
    return data.dtype if data.dtype.kind == "f" else np.dtype(np.float64)


class ConjunctionCollector:
    """Collects the conjunctions that occur, until they are too many to keep."""

    def __init__(self, n_features: int, degree: int, most: int) -> None:
        self._n_features = n_features
        self._degree = degree
        self._most = most
        self._n_values = 0.0
        self.tables: dict[int, NDArray[Any]] | None = None  # the keys of each degree, ascending
        if has_keys(n_features, degree):
            self.tables = {size: np.zeros(0, np.int64) for size in range(2, degree + 1)}

    def add(self, rows: Batch) -> None:
        """Note what occurs in these rows; raise InputError where it is too much to learn from."""
        self._n_values += float(_counts(rows, self._degree).sum())
        if self._n_values > MOST_VALUES:
            raise InputError(
                f"All {'triples' if self._degree == 3 else 'pairs'} of features of these rows are"
                f" more than {MOST_VALUES:,} values, {MOST_VALUES * 12 >> 30} GB. Choose fewer"
                f" features, or pairs of columns: Classifier(column_pairs=36)."
            )
        tables = self.tables
        if tables is None:
            return
        rows = rows._replace(indptr=np.asarray(rows.indptr, np.int64))
        for ends in blocks(rows, self._degree):
            for size, _, features, _ in combined(rows.block(*ends), self._degree):
                if len(tables[size]) < comb(self._n_features, size):  # else all are there
                    fresh = np.unique(keys(features, self._n_features))
                    tables[size] = np.union1d(tables[size], fresh)
            if sum(len(table) for table in tables.values()) > self._most:
                self.tables = None
                return

    def numbering(self) -> ConjunctionNumbering:
        """Return a column for each that occurs, or where they are too many, for each hash."""
        if self.tables is not None:
            return KnownConjunctions(self.tables, self._n_features)
        return HashedConjunctions(self._most.bit_length() - 1, self._n_features)
