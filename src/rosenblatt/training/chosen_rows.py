"""Some rows of many as a matrix of their own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import CSR, Dense, Rows

TOGETHER = 1 << 20  # values of dense rows that are looked through at a time


def chosen_rows(rows: Rows, numbers: NDArray[Any]) -> CSR:
    """Return the rows of these numbers, in their order, without the zeros of dense ones."""
    if isinstance(rows, Dense):
        return _without_zeros(rows, numbers)
    starts, ends = rows.indptr[numbers], rows.indptr[numbers + 1]
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - starts, dtype=np.int64)])
    places = np.repeat(starts - indptr[:-1], ends - starts) + np.arange(indptr[-1])
    return rows._replace(data=rows.data[places], indices=rows.indices[places], indptr=indptr)


def _without_zeros(rows: Dense, numbers: NDArray[Any]) -> CSR:
    n_features = rows.shape[1]
    data, indices = [np.empty(0)], [np.empty(0, np.int32)]
    counts = np.zeros(len(numbers) + 1, np.int64)
    piece = max(TOGETHER // max(n_features, 1), 1)
    for start in range(0, len(numbers), piece):
        values = rows.values[numbers[start : start + piece]]
        row, feature = np.nonzero(values)
        counts[start + 1 : start + 1 + len(values)] = np.bincount(row, minlength=len(values))
        data.append(values[row, feature].astype(np.float64))
        indices.append(feature.astype(np.int32))
    indptr = np.cumsum(counts)
    return CSR(np.concatenate(data), np.concatenate(indices), indptr, n_features, rows.constant)
