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
Panels = Callable[[Numbers], Panel]  # numbers of rows on the right → their panel

WHOLE_FLOAT32 = 1 << 24  # up to here float32 holds every whole number
SPREAD_BYTES = 64 << 20  # of sparse rows that are kept spread out
# Multiplications that BLAS does in the time of one that looks for matching features.
DENSE_GAIN = 25


def products(left: Rows, right: Rows) -> Panels:
    """Return the dot products of these rows, computed the fastest way."""
    if left.sparse and not worth_spreading(left, right):
        return _sparse_products(left, right)
    peaks = _peak(left), _peak(right)
    exact = peaks[0] * peaks[1] * left.shape[1] <= WHOLE_FLOAT32
    return _dense_products(left, right, np.float32 if exact else np.float64)


def _dense_products(left: Rows, right: Rows, dtype: Any) -> Panels:
    """Multiply dense matrices by BLAS; sparse rows are spread out, all at once where they fit."""
    width = np.dtype(dtype).itemsize * max(left.shape[1], 1)
    at_a_time, whole = max(SPREAD_BYTES // width, 1), None
    if not left.sparse or left.shape[0] * width <= SPREAD_BYTES:
        whole = dense_values(left)
        if left.sparse:
            whole = whole.astype(dtype, copy=False)

    def spread(numbers: Numbers) -> NDArray[Any]:
        if whole is None:
            return dense_values(take(left, numbers), dtype)
        every = len(numbers) == len(whole) and np.array_equal(numbers, np.arange(len(whole)))
        return (whole if every else whole[numbers]).astype(dtype, copy=False)

    def panel(numbers: Numbers) -> Panel:
        columns = dense_values(take(right, numbers), dtype).T

        def dots(chosen: Numbers) -> NDArray[Any]:
            length = max(len(chosen), 1) if whole is not None else at_a_time
            found = np.empty((len(chosen), columns.shape[1]), dtype)
            with np.errstate(over="ignore", invalid="ignore"):  # noticed in the scores
                for at in range(0, len(chosen), length):
                    piece = slice(at, at + length)
                    np.matmul(spread(chosen[piece]), columns, out=found[piece])
            return found

        return dots

    return panel


def _sparse_products(left: Rows, right: Rows) -> Panels:
    """Multiply sparse rows feature by feature, only where both have a value."""

    def panel(numbers: Numbers) -> Panel:
        from scipy.sparse import csc_matrix

        columns = _of_usual_types(csc_matrix(matrix_of(take(right, numbers))), len(numbers))

        def dots(chosen: Numbers) -> NDArray[Any]:
            rows = _of_usual_types(without_zeros(left, chosen), left.shape[1])
            found = np.zeros((len(chosen), len(numbers)))
            run_in_parts(
                lambda begin, end: sparse_dots(*rows, *columns, begin, end, found), len(chosen)
            )
            return found

        return dots

    return panel


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


def worth_spreading(left: Rows, right: Rows) -> bool:
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
