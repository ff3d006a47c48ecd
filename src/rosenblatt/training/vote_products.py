"""Products of the rows that taught with rows to vote on, block by block."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.products import columns_of, sparse_products
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.kernels.voting import Products
from rosenblatt.training.vote_rounding import sizes_of

BLOCK_ROWS = 256  # to vote on at a time: their scores by ten classes stay in the first cache
BLOCK_BYTES = 64 << 20  # of a block of products, and of the rows that taught spread out for it
MOST_SLICES = 4
WHOLE_FLOAT32 = 1 << 24  # up to here float32 holds every whole number
# Multiplications that BLAS does in the time of one that looks for matching features.
DENSE_GAIN = 25


class Stretch(NamedTuple):
    """Successive updates whose rows make one block."""

    start: int
    stop: int
    teachers: NDArray[Any]  # places of their rows, ascending


class Teachers:
    """The rows that taught, from which blocks of products are made."""

    def __init__(self, rows: CSR, order: NDArray[Any]) -> None:
        self.rows = rows
        self.sizes = sizes_of(rows)
        self._peak = float(self.sizes.peak.max(initial=0.0))
        self._counts = np.bincount(rows.indices, minlength=rows.n_features)
        room = BLOCK_BYTES // max(MOST_SLICES * 4 * BLOCK_ROWS, 8 * rows.n_features)
        self.stretches = list(_stretches(order, len(self.sizes.peak), max(room, 1)))
        self._spread: dict[Any, NDArray[Any]] = {}  # the last stretch, spread out

    def products(self, stretch: Stretch, rows: Rows, peak: float, *, whole: bool) -> Products:
        """Return the block of a stretch with these rows, whose largest value is ``peak``.

        Where ``whole`` says that all values are whole numbers, the block is exact.
        """
        place = np.zeros(len(self.sizes.peak), np.int64)
        place[stretch.teachers] = np.arange(len(stretch.teachers))
        constant = self.rows.constant * rows.constant
        if isinstance(rows, CSR) and not self._worth_spreading(stretch, rows):
            block = np.empty((1, len(stretch.teachers), rows.shape[0]))
            sparse_products(self.rows, stretch.teachers, columns_of(rows), block[0])
        else:
            block = self._dense_products(stretch, spread_out(rows), peak, whole=whole)
        return Products(block, place, constant)

    def _worth_spreading(self, stretch: Stretch, rows: CSR) -> bool:
        """Return whether so many features match that sparse rows are better taken as dense ones."""
        here = rows.indices[int(rows.indptr[0]) : int(rows.indptr[-1])]
        matches = int(self._counts[here].sum()) * len(stretch.teachers) / len(self.sizes.peak)
        products = len(stretch.teachers) * rows.shape[0] * rows.n_features
        fits = 8 * rows.shape[0] * rows.n_features <= BLOCK_BYTES
        return fits and matches * DENSE_GAIN > products

    def _dense_products(
        self, stretch: Stretch, values: NDArray[Any], peak: float, *, whole: bool
    ) -> NDArray[Any]:
        """Multiply by BLAS: whole numbers in float32, in slices whose sums it holds exactly."""
        n_rows, n_features = values.shape
        most = self._peak * peak
        width = n_features
        dtype: Any = np.float64
        if whole and most * n_features <= MOST_SLICES * WHOLE_FLOAT32:
            width = max(min(width, int(WHOLE_FLOAT32 / max(most, 1.0))), 1)
            dtype = np.float32
        taught = self._spread_out(stretch, dtype)
        slices = max(-(-n_features // max(width, 1)), 1)
        block = np.zeros((slices, len(taught), n_rows), dtype)
        for q in range(slices):
            part = slice(q * width, (q + 1) * width)
            columns = np.ascontiguousarray(values[:, part].T, dtype)
            with np.errstate(over="ignore", invalid="ignore"):  # such votes are left open
                np.matmul(taught[:, part], columns, out=block[q])
        return block

    def _spread_out(self, stretch: Stretch, dtype: Any) -> NDArray[Any]:
        key = stretch.start, dtype
        found = self._spread.get(key)
        if found is None:
            found = spread_out(self.rows, stretch.teachers, dtype)
            self._spread = {key: found}
        return found


def spread_out(rows: Rows, numbers: NDArray[Any] | None = None, dtype: Any = None) -> NDArray[Any]:
    """Return rows, all or those of these numbers, as a dense array."""
    if isinstance(rows, Dense):
        return rows.values
    if numbers is None:
        numbers = np.arange(rows.shape[0])
    starts, ends = rows.indptr[numbers], rows.indptr[numbers + 1]
    row = np.repeat(np.arange(len(numbers)), ends - starts)
    indptr = np.cumsum(ends - starts) - (ends - starts)
    places = np.repeat(starts - indptr, ends - starts) + np.arange(len(row))
    values = np.zeros((len(numbers), rows.n_features), dtype or np.float64)
    np.add.at(values, (row, rows.indices[places]), rows.data[places])
    return values


def _stretches(order: NDArray[Any], n_teachers: int, room: int) -> Any:
    """Yield the updates in stretches with no more teachers than there is room for."""
    length = max(len(order), 1) if n_teachers <= room else room
    for start in range(0, len(order), length):
        stop = min(start + length, len(order))
        yield Stretch(start, stop, np.unique(order[start:stop]))
