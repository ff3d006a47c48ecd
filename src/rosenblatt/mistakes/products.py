"""Dot products of rows, a panel of them at a time: by BLAS or sparse."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.gram import sparse_dots
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import (
    dense_values,
    feature_counts,
    matrix_of,
    stored_values,
    take,
    without_zeros,
)
from rosenblatt.mistakes.threads import run_in_parts

Numbers = NDArray[Any]
Panel = Callable[[Numbers], NDArray[Any]]  # numbers of rows on the left → (left, right) values

WHOLE_FLOAT32 = 1 << 24  # up to here float32 holds every whole number
SPREAD_BYTES = 64 << 20  # of sparse rows that are kept spread out
# Multiplications that BLAS does in the time of one that looks for matching features.
DENSE_GAIN = 25


class SpreadRows:
    """Rows on the left as dense ones of a type: sparse ones are spread out when asked for."""

    def __init__(self, rows: Rows, dtype: Any) -> None:
        self._rows, self._dtype = rows, dtype
        self._whole: NDArray[Any] | None = None
        width = np.dtype(dtype or np.float64).itemsize * max(rows.shape[1], 1)
        if not rows.sparse or rows.shape[0] * width <= SPREAD_BYTES:
            self._whole = dense_values(rows)
            if rows.sparse:
                self._whole = self._whole.astype(dtype, copy=False)
        self._at_a_time = max(SPREAD_BYTES // width, 1)

    def pieces(self, numbers: Numbers) -> "list[slice]":
        """Return the rows of these numbers in pieces that may be spread out at a time."""
        length = len(numbers) if self._whole is not None else self._at_a_time
        return [slice(at, at + length) for at in range(0, len(numbers), max(length, 1))]

    def take(self, numbers: Numbers) -> NDArray[Any]:
        """Return the rows of these numbers; without a copy where they are all in their order."""
        whole = self._whole
        if whole is None:
            return dense_values(take(self._rows, numbers), self._dtype)
        every = len(numbers) == len(whole) and np.array_equal(numbers, np.arange(len(whole)))
        return (whole if every else whole[numbers]).astype(self._dtype, copy=False)


class FloatProducts:
    """One product of dense matrices by BLAS; whole numbers in float32 where it holds the sums."""

    def __init__(self, left: Rows, right: Rows, dtype: Any) -> None:
        self._dtype = dtype
        self._left, self._right = SpreadRows(left, dtype), right

    def panel(self, right: Numbers) -> Panel:
        """Return the dot products of these rows on the right with any on the left."""
        rows = dense_values(take(self._right, right), self._dtype).T

        def dots(left: Numbers) -> NDArray[Any]:
            pieces = self._left.pieces(left)
            with np.errstate(over="ignore", invalid="ignore"):  # noticed in the scores
                found = np.empty((len(left), rows.shape[1]), self._dtype)
                for piece in pieces:
                    np.matmul(self._left.take(left[piece]), rows, out=found[piece])
            return found

        return dots


class SparseProducts:
    """Sparse rows: feature by feature, only where both have a value."""

    def __init__(self, left: Rows, right: Rows) -> None:
        self._left, self._right = left, right

    def panel(self, right: Numbers) -> Panel:
        """Return the dot products of these rows on the right with any on the left."""
        from scipy.sparse import csc_matrix

        columns = _of_usual_types(csc_matrix(matrix_of(take(self._right, right))), len(right))

        def dots(left: Numbers) -> NDArray[Any]:
            rows = _of_usual_types(without_zeros(self._left, left), self._left.shape[1])
            found = np.zeros((len(left), len(right)))
            run_in_parts(
                lambda begin, end: sparse_dots(*rows, *columns, begin, end, found), len(left)
            )
            return found

        return dots


def _of_usual_types(matrix: Any, n_numbers: int) -> tuple[Any, Any, Any]:
    """Return the arrays of a sparse matrix, a panel or less, in the types of one compiled kernel.

    ``n_numbers`` is how many different numbers its indices can be.
    """
    index = np.int32 if n_numbers < 2**31 else np.int64
    return (
        matrix.data.astype(np.float64, copy=False),
        matrix.indices.astype(index, copy=False),
        matrix.indptr.astype(np.int64, copy=False),
    )


def products(left: Rows, right: Rows) -> FloatProducts | SparseProducts:
    """Return the fastest way to the dot products of these rows."""
    if left.sparse and not _worth_spreading(left, right):
        return SparseProducts(left, right)
    peaks = _peak(left), _peak(right)
    exact = peaks[0] * peaks[1] * left.shape[1] <= WHOLE_FLOAT32
    return FloatProducts(left, right, np.float32 if exact else np.float64)


def _worth_spreading(left: Rows, right: Rows) -> bool:
    """Return whether BLAS on dense copies is faster than matching sparse features."""
    n_features = left.shape[1]
    if 8 * 256 * n_features > SPREAD_BYTES:  # a block of rows would be too much
        return False
    matches = float(feature_counts(left) @ feature_counts(right))
    return matches * DENSE_GAIN > float(left.shape[0]) * right.shape[0] * n_features


def _peak(rows: Rows) -> float:
    """Return the largest of values that are whole numbers from 0 on; infinity for others."""
    values = stored_values(rows)
    if values.dtype == np.uint8:
        return 255.0
    if not len(values):
        return 0.0
    if values.min() < 0.0 or not (np.floor(values) == values).all():
        return np.inf
    return float(values.max())
