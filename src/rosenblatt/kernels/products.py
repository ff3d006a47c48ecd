"""Products of sparse rows with sparse rows, by way of the columns of the one side."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import compiled
from rosenblatt.kernels.rows import CSR


class Columns(NamedTuple):
    """The values of some rows feature by feature."""

    data: NDArray[Any]
    rows: NDArray[Any]  # the row of each value, from 0
    start: NDArray[Any]  # where each feature begins, and the end


@compiled
def _sort(rows: CSR, data: NDArray[Any], numbers: NDArray[Any], start: NDArray[Any]) -> None:
    """Write the values of rows in the order of features; ``start`` is changed as they come."""
    for i in range(len(rows.indptr) - 1):
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            j = rows.indices[p]
            data[start[j]], numbers[start[j]] = rows.data[p], i
            start[j] += 1


def columns_of(rows: CSR) -> Columns:
    """Return rows by features; their first value may stand anywhere in the data."""
    first, end = int(rows.indptr[0]), int(rows.indptr[-1])
    counts = np.bincount(rows.indices[first:end], minlength=rows.n_features)
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    data, numbers = np.empty(end - first), np.empty(end - first, np.int32)
    _sort(rows, data, numbers, start[:-1].copy())
    return Columns(data, numbers, start)


@compiled
def sparse_products(
    teachers: CSR, numbers: NDArray[Any], columns: Columns, out: NDArray[Any]
) -> None:
    """Write the products of these of the teachers with all rows of the columns to out."""
    for t in range(len(numbers)):
        line = out[t]
        line[:] = 0.0
        i = numbers[t]
        for p in range(teachers.indptr[i], teachers.indptr[i + 1]):
            j, x = teachers.indices[p], teachers.data[p]
            for q in range(columns.start[j], columns.start[j + 1]):
                line[columns.rows[q]] += x * columns.data[q]
