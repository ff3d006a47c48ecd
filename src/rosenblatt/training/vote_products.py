"""Products of the rows that taught with rows to vote on, block by block."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.products import columns_of, sparse_products
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.shapes import dense_values, take
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
        self.order = order  # the place of the row of each update
        self.sizes = sizes_of(rows)
        self.peak = float(self.sizes.peak.max(initial=0.0))
        self._counts = np.bincount(rows.indices, minlength=rows.n_features)
        self._spread: dict[Any, NDArray[Any]] = {}  # the last stretch, spread out

    def facing(self, rows: Rows) -> "Pairing":
        """Return what makes the products with these rows, by BLAS or by matching features."""
        if isinstance(rows, CSR) and not self._worth_spreading(rows):
            return SparsePairing(self, rows)
        return DensePairing(self, rows)

    def stretches(self, bytes_each: int) -> Iterator[Stretch]:
        """Yield the updates in stretches whose rows, of so many bytes, are within the limit."""
        room = max(BLOCK_BYTES // bytes_each, 1)
        length = max(len(self.order), 1) if len(self.sizes.peak) <= room else room
        for start in range(0, len(self.order), length):
            stop = min(start + length, len(self.order))
            yield Stretch(start, stop, np.unique(self.order[start:stop]))

    def spread_out(self, stretch: Stretch, dtype: Any) -> NDArray[Any]:
        """Return the rows of a stretch as a dense array, which is kept until the next one."""
        key = stretch.start, dtype
        found = self._spread.get(key)
        if found is None:
            found = dense_values(take(self.rows, stretch.teachers), dtype)
            self._spread = {key: found}
        return found

    def _worth_spreading(self, rows: CSR) -> bool:
        """Return whether so many features match that sparse rows are better taken as dense ones."""
        if 8 * rows.shape[0] * rows.n_features > BLOCK_BYTES:
            return False
        here = rows.indices[int(rows.indptr[0]) : int(rows.indptr[-1])]
        products = len(self.sizes.peak) * rows.shape[0] * rows.n_features
        return int(self._counts[here].sum()) * DENSE_GAIN > products


class Pairing(ABC):
    """Products of the rows that taught with a block of rows."""

    def __init__(self, teachers: Teachers, rows: Rows, bytes_each: int) -> None:
        self.teachers = teachers
        self.stretches = teachers.stretches(bytes_each)
        self._constant = teachers.rows.constant * rows.constant

    def products(self, stretch: Stretch, peak: float, *, whole: bool) -> Products:
        """Return the block of a stretch with the rows, whose largest value is ``peak``.

        Where ``whole`` says that all values are whole numbers and no sum is too long, it is exact.
        """
        place = np.zeros(len(self.teachers.sizes.peak), np.int64)
        place[stretch.teachers] = np.arange(len(stretch.teachers))
        return Products(self._block(stretch, peak, whole=whole), place, self._constant)

    @abstractmethod
    def _block(self, stretch: Stretch, peak: float, *, whole: bool) -> NDArray[Any]:
        """Return the products, (slices, teachers, rows)."""


class SparsePairing(Pairing):
    """By matching features, in time proportional to the matches."""

    def __init__(self, teachers: Teachers, rows: CSR) -> None:
        super().__init__(teachers, rows, 8 * BLOCK_ROWS)
        self._n_rows = rows.shape[0]
        self._columns = columns_of(rows)

    def _block(self, stretch: Stretch, peak: float, *, whole: bool) -> NDArray[Any]:  # noqa: ARG002
        block = np.empty((1, len(stretch.teachers), self._n_rows))
        sparse_products(self.teachers.rows, stretch.teachers, self._columns, block[0])
        return block


class DensePairing(Pairing):
    """By BLAS: whole numbers in float32, in slices whose sums it holds exactly."""

    def __init__(self, teachers: Teachers, rows: Rows) -> None:
        self._values = dense_values(rows)
        bytes_each = max(MOST_SLICES * 4 * BLOCK_ROWS, 8 * self._values.shape[1])
        super().__init__(teachers, rows, bytes_each)

    def _block(self, stretch: Stretch, peak: float, *, whole: bool) -> NDArray[Any]:
        n_rows, width = self._values.shape
        most, slices = self.teachers.peak * peak, 1
        dtype: Any = np.float64
        if whole and most * width <= MOST_SLICES * WHOLE_FLOAT32:
            dtype = np.float32
            longest = max(int(WHOLE_FLOAT32 / max(most, 1.0)), 1)
            slices = max(-(-width // longest), 1)
            width = min(width, longest)
        taught = self.teachers.spread_out(stretch, dtype)
        block = np.empty((slices, len(taught), n_rows), dtype)
        for q in range(slices):
            part = slice(q * width, (q + 1) * width)
            columns = np.ascontiguousarray(self._values[:, part].T, dtype)
            with np.errstate(over="ignore", invalid="ignore"):  # such votes are left open
                np.matmul(taught[:, part], columns, out=block[q])
        return block
