"""Gram blocks: kernel values of some rows against others, computed together and perhaps kept.

Most kernels are functions of dot products, which come a panel at a time: by BLAS or sparse.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.gram import copy_in, copy_out, sparse_dots, squares
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import (
    dense_values,
    feature_counts,
    in_format_of,
    matrix_of,
    stored_values,
    take,
    without_zeros,
)
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.threads import run_in_parts

Numbers = NDArray[Any]
Panel = Callable[[Numbers], NDArray[Any]]  # numbers of rows on the left → (left, right) values
Panels = Callable[[Numbers], Panel]  # numbers of rows on the right → their panel

WHOLE_FLOAT32 = 1 << 24  # up to here float32 holds every whole number
SPREAD_BYTES = 64 << 20  # of sparse rows that are kept spread out
# Multiplications that BLAS does in the time of one that looks for matching features.
DENSE_GAIN = 25

MEGABYTE = 1 << 20
MOST_UNDER_WAY = 64 * MEGABYTE  # more is no faster
VALUE = 12  # bytes of a kernel value and of the dot product that it is made of
LEAST = 32


def gram_between(kernel: Kernel, left: Rows | Numbers, right: Rows) -> Panels:
    """Return the kernel values between rows; for a precomputed kernel the left are columns."""
    if isinstance(left, np.ndarray):
        return _given_values(right, left, kernel.constant)
    if callable(kernel.name):
        return _function_values(kernel, left, right)
    dots_of, squares_of = products(left, right), kernel.name == "rbf"
    left_squares = _squares(left) if squares_of else None
    right_squares = left_squares if left is right or not squares_of else _squares(right)

    def panel(numbers: Numbers) -> Panel:
        dots, squares = dots_of(numbers), _some(right_squares, numbers)
        return lambda chosen: kernel.of_dots(dots(chosen), _some(left_squares, chosen), squares)

    return panel


def _some(squares: NDArray[Any] | None, numbers: Numbers) -> NDArray[Any] | None:
    return None if squares is None else squares[numbers]


def _function_values(kernel: Kernel, left: Rows, right: Rows) -> Panels:
    """Ask a function of two matrices that the user gave."""

    def panel(numbers: Numbers) -> Panel:
        rows = matrix_of(in_format_of(take(right, numbers), left))
        return lambda chosen: kernel.of_rows(matrix_of(take(left, chosen)), rows)

    return panel


def _given_values(rows: Rows, columns: Numbers, constant: float) -> Panels:
    """Take values that the user computed: each row against the training rows, in its row."""
    if rows.sparse:
        raise InputError(
            "A precomputed Gram matrix must be a dense array, and sparse is not supported; call "
            "its method toarray."
        )
    values = dense_values(rows)

    def panel(numbers: Numbers) -> Panel:
        chosen_rows = values[numbers]

        def some(chosen: Numbers) -> NDArray[Any]:
            found = np.array(chosen_rows[:, columns[chosen]].T, np.float64, order="C")
            if constant:
                found += constant
            return found

        return some

    return panel


class GramCache:
    """The values of a Gram matrix, those of rows that taught kept as far as a limit allows.

    Rows that err once tend to err again, so a later pass finds most of its values here. A row is
    given a place when it teaches, and is used once its values against all the rows of a pass are
    there (see ``complete``). Nothing is thrown out: first come, first kept.
    """

    def __init__(self, gram: Panels, n_rows: int, limit: float) -> None:
        self._gram = gram
        capacity = min(n_rows, int(limit // (8 * n_rows)))
        self._kept = np.empty((capacity, n_rows))
        self._slots = np.full(n_rows, -1, np.int32)
        self._complete = np.zeros(n_rows, bool)
        self._n_kept = 0

    def panel(self, right: Numbers) -> Panel:
        """Return the values of these rows on the right against any rows on the left."""
        compute = self._gram(right)

        def values(left: Numbers) -> NDArray[Any]:
            known = self._complete[left]
            found = np.empty((len(left), len(right))) if known.any() else compute(left)
            if known.all() and len(left):
                copy_out(self._kept, self._slots[left], right, found)
            elif known.any():
                found[known] = values(left[known])
                found[~known] = values(left[~known])
            else:
                copy_in(found, self._slots[left], right, self._kept)
            return found

        return values

    def keep(self, left: Numbers, right: Numbers, values: NDArray[Any]) -> None:
        """Give rows on the left a place each, as long as there are any, and keep these values."""
        new = left[self._slots[left] < 0][: len(self._kept) - self._n_kept]
        self._slots[new] = np.arange(self._n_kept, self._n_kept + len(new))
        self._n_kept += len(new)
        copy_in(values, self._slots[left], right, self._kept)

    def complete(self, left: Numbers) -> None:
        """Note that the values of these rows have been kept for every row of the pass."""
        self._complete[left[self._slots[left] >= 0]] = True


def _squares(rows: Rows) -> NDArray[Any]:
    found = np.empty(rows.shape[0])
    squares(rows._replace(constant=0.0), found)
    return found


class Sizes(NamedTuple):
    """Rows of a block, rows on the left of a tile, and bytes left for values to be kept."""

    block: int
    tile: int
    kept: float

    def rows_against(self, n_left: int) -> int:
        """Return the number of rows that can be scored at a time against ``n_rows`` others."""
        return max(LEAST // 2, min(2 * self.block, self.block * self.tile // max(n_left, 1)))


def sizes_within(cache_size: float, n_features: int) -> Sizes:
    """Return the sizes for a limit in megabytes.

    A block of 256 rows costs 256 values a row among themselves, which is little against the rows
    that taught, and keeps the products of matrices efficient.
    """
    limit = cache_size * MEGABYTE
    under_way = min(limit / 2, MOST_UNDER_WAY)
    block = LEAST * int(math.sqrt(under_way / (4 * VALUE)) // LEAST)
    block = max(LEAST, min(256, block))
    tile = int(under_way / 2 // (VALUE * block + 16 * n_features))
    return Sizes(block, max(LEAST, min(4096, tile)), max(0.0, limit - under_way))


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
