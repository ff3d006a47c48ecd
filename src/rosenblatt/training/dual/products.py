"""Dot products of rows, a panel of them at a time: by BLAS, in whole numbers, or sparse."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.kernels.byte_dots import (
    LANES,
    MOST_FEATURES,
    fill_panels,
    pack_pairs,
    panel_dots,
)
from rosenblatt.kernels.gram import sparse_dots
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import (
    GrowingArray,
    dense_values,
    matrix_of,
    stored_values,
    take,
    without_zeros,
)
from rosenblatt.training.dual.threads import shared

Numbers = NDArray[Any]
Panel = Callable[[Numbers], NDArray[Any]]  # numbers of rows on the left → (left, right) values


class FloatProducts:
    """Dense rows: one product of float64 matrices by BLAS."""

    def __init__(self, left: Rows, right: Rows) -> None:
        self._left, self._right = dense_values(left), right

    def panel(self, right: Numbers) -> Panel:
        """Return the dot products of these rows on the right with any on the left."""
        rows = dense_values(take(self._right, right)).astype(np.float64, copy=False).T

        def dots(left: Numbers) -> NDArray[Any]:
            with np.errstate(over="ignore", invalid="ignore"):  # noticed in the scores
                return self._left[left].astype(np.float64, copy=False) @ rows

        return dots


class ByteProducts:
    """Rows of bytes: whole numbers, exact; a row on the left is packed when it is first met."""

    def __init__(self, left: Rows, right: Rows) -> None:
        self._left, self._right = dense_values(left), right
        self._place = np.full(left.shape[0], -1, np.int64)  # among the packed ones
        self._words, self._places = (
            GrowingArray(np.empty(0, np.int32)),
            GrowingArray(np.empty(0, np.uint16)),
        )
        self._bounds = GrowingArray(np.zeros(1, np.int64))

    def panel(self, right: Numbers) -> Panel:
        """Return the dot products of these rows on the right with any on the left."""
        rows = dense_values(take(self._right, right))
        panels = np.zeros((-(-len(rows) // LANES), -(-rows.shape[1] // 2), LANES, 2), np.int16)
        fill_panels(rows, panels)

        def dots(left: Numbers) -> NDArray[Any]:
            self._pack(left[self._place[left] < 0])
            packed = self._words.values, self._places.values, self._bounds.values
            chosen = self._place[left]
            found = np.empty((len(left), len(panels) * LANES), np.int32)
            shared(
                lambda begin, end: panel_dots(*packed, chosen, panels, begin, end, found),
                len(left),
            )
            return found  # perhaps wider than the rows on the right

        return dots

    def _pack(self, numbers: Numbers) -> None:
        if not len(numbers):
            return
        rows = self._left[numbers]
        room = len(rows) * -(-rows.shape[1] // 2)
        words, places = np.empty(room, np.int32), np.empty(room, np.uint16)
        ends = np.empty(len(rows), np.int64)
        n_pairs = pack_pairs(rows, words, places, ends)
        self._place[numbers] = np.arange(len(numbers)) + len(self._bounds) - 1
        self._bounds.append(ends + len(self._words))
        self._words.append(words[:n_pairs])
        self._places.append(places[:n_pairs])


class SparseProducts:
    """Sparse rows: feature by feature, only where both have a value."""

    def __init__(self, left: Rows, right: Rows) -> None:
        self._left, self._right = left, right

    def panel(self, right: Numbers) -> Panel:
        """Return the dot products of these rows on the right with any on the left."""
        by_feature = sparse.csc_matrix(matrix_of(take(self._right, right)))
        columns = by_feature.data, by_feature.indices, by_feature.indptr

        def dots(left: Numbers) -> NDArray[Any]:
            data, indices, indptr, _, _ = without_zeros(self._left, left)
            found = np.zeros((len(left), len(right)))
            shared(
                lambda begin, end: sparse_dots(data, indices, indptr, *columns, begin, end, found),
                len(left),
            )
            return found

        return dots


def products(left: Rows, right: Rows) -> FloatProducts | ByteProducts | SparseProducts:
    """Return the way to the dot products of these rows, in the format of those on the left."""
    if left.sparse:
        return SparseProducts(left, right)
    both_bytes = stored_values(left).dtype == stored_values(right).dtype == np.uint8
    if both_bytes and left.shape[1] <= MOST_FEATURES:
        return ByteProducts(left, right)
    return FloatProducts(left, right)
