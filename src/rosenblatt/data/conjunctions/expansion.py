"""Conjunctions of the features that are present in each row of a CSR matrix.

Only conjunctions that occur are ever made: a row with n features has n(n − 1)/2 pairs, however many
columns there are. (scikit-learn's PolynomialFeatures numbers all the pairs of columns instead: five
billion for 100,000 columns, each of which a learner would keep a weight for.)
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.conjunctions.numbering import Numbering
from rosenblatt.errors import InputError

AT_A_TIME = 1 << 20  # conjunctions in one block of rows: 140 MB while a block is sorted
MOST_IN_A_ROW = 1 << 24


class Conjunctions(NamedTuple):
    """All conjunctions of some rows that are not 0."""

    values: NDArray[Any]  # (n,), the product of the values
    features: NDArray[Any]  # (degree, n), the numbers of the features, ascending
    rows: NDArray[Any]  # (n,), the row that each is in


class Sparse(NamedTuple):
    """Rows in compressed sparse row form."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]

    def block(self, start: int, stop: int) -> "Sparse":
        """Return some rows as a view."""
        here = slice(self.indptr[start], self.indptr[stop])
        starts = self.indptr[start : stop + 1]
        return Sparse(self.data[here], self.indices[here], starts - starts[0])


def conjunctions(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    degree: int,
    numbering: Numbering,
) -> Sparse:
    """Return the rows with their own features and, beside them, those of their conjunctions.

    ``degree`` 2 adds pairs, 3 pairs and triples. ``numbering`` says in which column a conjunction
    stands; one that it does not know is left out, and two in one column are added. Indices ascend
    in the rows that are returned.

    >>> import numpy as np
    >>> from rosenblatt.data.conjunctions.numbering import Known
    >>> pairs = {2: np.array([2])}  # feature 0 and feature 2, of three
    >>> conjunctions(np.ones(2), np.array([0, 2]), np.array([0, 2]), 2, Known(pairs, 3))
    Sparse(data=array([1., 1., 1.]), indices=array([0, 2, 3], dtype=int32), indptr=array([0, 3]))
    """
    rows = Sparse(data, indices, np.asarray(indptr, np.int64))
    index = np.int32 if numbering.n_columns < 2**31 else np.int64
    done = [_block(rows.block(*ends), degree, numbering) for ends in blocks(rows, degree)]
    lengths = np.concatenate([np.diff(part.indptr) for part in done] or [rows.indptr[:0]])
    return Sparse(
        np.concatenate([part.data for part in done] or [rows.data]),
        np.concatenate([part.indices for part in done] or [rows.indices]).astype(index),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]),
    )


def blocks(rows: Sparse, degree: int) -> Iterator[tuple[int, int]]:
    """Yield first and last + 1 of rows that together have not too many conjunctions."""
    counts = n_combinations(np.diff(rows.indptr), degree)
    if len(counts) and counts.max() > MOST_IN_A_ROW:
        row = int(np.argmax(counts > MOST_IN_A_ROW))
        n = int(rows.indptr[row + 1] - rows.indptr[row])
        msg = (
            f"Row {row} has {n} features that are not 0, which make {int(counts[row])} "
            f"conjunctions, more than {MOST_IN_A_ROW}: choose fewer features"
            f"{' or pairs alone (degree=2)' if degree == 3 else ''}."
        )
        raise InputError(msg)
    before = np.concatenate([[0], np.cumsum(counts + 1)])  # 1: rows cost something themselves
    start = 0
    while start < len(counts):
        stop = int(np.searchsorted(before, before[start] + AT_A_TIME, "right")) - 1
        stop = max(stop, start + 1)
        yield start, stop
        start = stop


def n_combinations(n: NDArray[Any], degree: int) -> NDArray[Any]:
    """Return how many conjunctions so many features have, of all degrees from 2 on."""
    pairs: NDArray[Any] = n * (n - 1) // 2
    return pairs if degree == 2 else pairs + pairs * (n - 2) // 3


def combined(rows: Sparse, degree: int) -> Iterator[tuple[int, Conjunctions]]:
    """Yield the pairs of all rows, and for degree 3 then their triples, each with its degree."""
    lengths = np.diff(rows.indptr)
    present = np.flatnonzero(rows.data)
    row = np.repeat(np.arange(len(lengths)), lengths)[present]
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
        yield size, Conjunctions(values, sorted_, number)


def _block(rows: Sparse, degree: int, numbering: Numbering) -> Sparse:
    n_rows = len(rows.indptr) - 1
    kind = _value_type(rows.data)
    values, columns = [rows.data.astype(kind)], [rows.indices.astype(np.int64) + numbering.shift]
    numbers = [np.repeat(np.arange(n_rows), np.diff(rows.indptr))]
    for size, found in combined(rows, degree):
        column = numbering.columns(found.features, size)
        known = column >= 0
        values.append(found.values[known])
        columns.append(column[known])
        numbers.append(found.rows[known])
    place = np.concatenate(numbers) * np.int64(numbering.n_columns) + np.concatenate(columns)
    order = np.argsort(place, kind="stable")
    place, ordered = place[order], np.concatenate(values)[order]
    first = np.flatnonzero(np.diff(place, prepend=-1))  # of those in one column of one row
    sums = np.add.reduceat(ordered, first) if len(first) else ordered
    row, column = np.divmod(place[first], numbering.n_columns)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))])
    return Sparse(sums.astype(kind, copy=False), column, starts.astype(np.int64))


def _value_type(data: NDArray[Any]) -> Any:
    """Return the type of products: that of the data, or float64 where they are no floats."""
    return data.dtype if data.dtype.kind == "f" else np.dtype(np.float64)
