"""Quantile bins of numbers: which of so many equally frequent ranges a number lies in.

A linear model of a number rises or falls; with an indicator for each range beside it, it may bend.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding.columns import FeatureColumn
from rosenblatt.data.encoding.vocabulary import Numbering
from rosenblatt.kernels.text.hashing import column_seed, term_hash

MOST_SAMPLED = 1 << 22  # numbers of all columns together
FEWEST_SAMPLED = 1 << 10  # rows, however many columns there are


class RowSample:
    """Every k-th row of a stream, where k doubles when there is no more room.

    It depends on the rows and their order alone, however they are cut into blocks.
    """

    def __init__(self, n_columns: int, most: int = MOST_SAMPLED) -> None:
        self._room = max(most // max(n_columns, 1), FEWEST_SAMPLED)
        self._rows = np.empty((0, n_columns))
        self._n_seen = 0
        self._step = 1

    def add(self, block: NDArray[np.float64]) -> None:
        """Take in rows."""
        first = -self._n_seen % self._step
        self._rows = np.concatenate([self._rows, block[first :: self._step]])
        self._n_seen += len(block)
        while len(self._rows) > self._room:
            self._rows, self._step = self._rows[::2], 2 * self._step

    def edges(self, n_bins: int) -> list[NDArray[np.float64]]:
        """Return the edges between so many bins of each column; what is missing has none."""
        return [quantile_edges(column, n_bins) for column in self.columns()]

    def columns(self) -> list[NDArray[np.float64]]:
        """Return the numbers of each column, without those that are missing."""
        return [column[~np.isnan(column)] for column in self._rows.T]


def quantile_edges(values: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Return the edges between ranges of about equally many values; values that are equal meet.

    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist()
    [3.0]
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 9.0]), 4).tolist()
    [9.0]
    """
    if not len(values):
        return np.empty(0)
    levels = np.arange(1, n_bins) / n_bins
    edges = np.quantile(values, levels, method="higher")
    return np.asarray(edges[np.diff(edges, prepend=values.min()) > 0.0])


class NumberBins:
    """Indicators of the ranges of numeric columns, with the numbers that their features have."""

    def __init__(
        self, edges: Sequence[NDArray[np.float64]], features: Sequence[NDArray[np.int32]]
    ) -> None:
        self.edges = list(edges)
        self._features = features  # of the ranges of each column

    @classmethod
    def named(
        cls,
        edges: Sequence[NDArray[np.float64]],
        columns: Sequence[tuple[int, FeatureColumn]],
        numbering: Numbering,
        *,
        growing: bool,
    ) -> "NumberBins":
        """Return bins whose features have numbers and names in a numbering."""
        features = [
            _features(own, place, column, numbering, growing=growing)
            for own, (place, column) in zip(edges, columns, strict=True)
        ]
        return cls(edges, features)

    @classmethod
    def numbered_from(cls, first: int, edges: Sequence[NDArray[np.float64]]) -> "NumberBins":
        """Return bins whose features have the next numbers of a numbering, and no names."""
        features = []
        for own in edges:
            n_ranges = len(own) + 1 if len(own) else 0
            features.append(np.arange(first, first + n_ranges, dtype=np.int32))
            first += n_ranges
        return cls(edges, [own if len(own) else np.full(1, -1, np.int32) for own in features])

    def part(self, numbers: NDArray[np.float64]) -> Batch:
        """Return the feature of the range of each number of rows, none where it is missing."""
        found = np.full(numbers.shape, -1, np.int32)
        for k, (edges, features) in enumerate(zip(self.edges, self._features, strict=True)):
            found[:, k] = features[np.searchsorted(edges, numbers[:, k], side="right")]
        found[np.isnan(numbers)] = -1
        known = found >= 0
        indptr = np.zeros(len(found) + 1, np.int64)
        np.cumsum(known.sum(axis=1), out=indptr[1:])
        return Batch(np.ones(indptr[-1], np.float32), found[known], indptr)


def _features(
    edges: NDArray[np.float64],
    place: int,
    column: FeatureColumn,
    numbering: Numbering,
    *,
    growing: bool,
) -> NDArray[np.int32]:
    """Return the feature of each range of a column; a column of one range has none."""
    if not len(edges):
        return np.full(1, -1, np.int32)
    texts = [f"{edge:.6g}" for edge in edges]
    between = [f"from {a} to {b}" for a, b in pairwise(texts)]
    names = [f"below {texts[0]}", *between, f"from {texts[-1]}"]
    seed = column_seed("bin", column.title)
    return np.array(
        [
            numbering.level(
                place, term_hash(str(k).encode(), seed), name.encode(), n_rows=0, growing=growing
            )
            for k, name in enumerate(names)
        ],
        np.int32,
    )
