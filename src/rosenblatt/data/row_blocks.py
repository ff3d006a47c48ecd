"""Batches gathered into large blocks of rows, in two buffers that take turns."""

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, joined_weights
from rosenblatt.data.labels import Label
from rosenblatt.data.threads import in_order
from rosenblatt.kernels.shapes import BYTES_PER_VALUE

PIECES = 16  # of a block at least, so that blocks of later passes mix rows from several places


class RowBlock(NamedTuple):
    """Successive rows of a source in compressed sparse row form."""

    data: NDArray[Any]  # float64; no values where ``keep`` alone was to have them
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    labels: NDArray[np.int32]  # class numbers in order of first appearance
    classes: tuple[Label, ...]  # those met up to the end of this block
    n_features: int  # of all the source up to the end of this block
    first_row: int  # of all the source, counted from 0
    batch_ends: NDArray[np.int64]  # row numbers in this block at which its batches end
    bytes_read: int  # of all the source up to the end of this block
    last: bool  # whether the source ends with it
    weights: NDArray[np.float64] | None = None  # what multiplies the step of each row; None: 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)


# Takes rows, and says whether blocks need not hold them.
Keep = Callable[[RowBlock | Batch], bool]


class _Buffer:
    """Room for the values of one block; memory that is never written to is never taken."""

    def __init__(self, n_values: int, *, holds: bool = True) -> None:
        self._room = n_values
        self._holds = holds  # else the values are counted, and those of the blocks are none
        self.data = np.empty(n_values * holds)
        self.indices = np.empty(n_values * holds, np.int32)
        self._start()

    def _start(self) -> None:
        self.filled = 0
        self.row_ends: list[NDArray[np.int64]] = []
        self.labels: list[NDArray[np.int32]] = []
        self.weights: list[NDArray[np.float64] | None] = []
        self.batch_ends: list[int] = []
        self.n_rows = 0

    def has_room_for(self, batch: Batch) -> bool:
        return self.filled + len(batch.data) <= self._room

    def add(self, batch: Batch) -> None:
        """Append the rows of a batch; the first one that is larger than all the room takes more."""
        end = self.filled + len(batch.data)
        if self._holds:
            if end > len(self.data):
                self.data, self.indices = np.empty(end), np.empty(end, np.int32)
            self.data[self.filled : end] = batch.data
            self.indices[self.filled : end] = batch.indices
        self.row_ends.append(batch.indptr[1:] + self.filled)
        self.labels.append(batch.labels)
        self.weights.append(batch.weights)
        self.n_rows += batch.n_rows
        self.batch_ends.append(self.n_rows)
        self.filled = end

    def block(
        self,
        classes: tuple[Label, ...],
        n_features: int,
        first_row: int,
        bytes_read: int,
        *,
        last: bool = False,
    ) -> RowBlock:
        """Return the rows that have been added, and start anew."""
        taken = RowBlock(
            self.data[: self.filled],
            self.indices[: self.filled],
            np.concatenate([np.zeros(1, np.int64), *self.row_ends]),
            np.concatenate([np.zeros(0, np.int32), *self.labels]),
            classes,
            n_features,
            first_row,
            np.array(self.batch_ends, np.int64),
            bytes_read,
            last,
            joined_weights(self.weights),
        )
        self._start()
        return taken


def row_blocks(
    batches: Iterable[Batch], block_bytes: int, keep: Keep | None = None
) -> Generator[RowBlock, None, None]:
    """Yield batches gathered into blocks of up to about ``block_bytes``, read one block ahead.

    A block is valid until the next one is asked for: two buffers take turns, so that one is filled
    while the other is learned from. Where one block does not hold all rows, ``keep`` is called with
    the first block and then with every batch; if it says that it has them, the blocks after the
    first hold no values.
    """
    # Patient: whoever stops early wants what is being read to change no more.
    blocks = _gathered(batches, block_bytes, keep)
    return in_order(_itself, blocks, threads=1, under_way=2, patience=5.0)


def _itself(block: RowBlock) -> RowBlock:
    return block


def _pieces(batches: Iterable[Batch], most: int) -> Iterator[Batch]:
    """Yield batches of at most so many values, or of one row."""
    for batch in batches:
        start = 0
        while start < batch.n_rows:
            limit = batch.indptr[start] + most
            stop = max(start + 1, int(batch.indptr.searchsorted(limit, side="right")) - 1)
            yield batch if stop - start == batch.n_rows else _rows(batch, start, stop)
            start = stop


def _rows(batch: Batch, start: int, stop: int) -> Batch:
    ends = batch.indptr[start : stop + 1]
    values = slice(ends[0], ends[-1])
    return batch._replace(
        data=batch.data[values],
        indices=batch.indices[values],
        indptr=ends - ends[0],
        labels=batch.labels[start:stop],
        weights=None if batch.weights is None else batch.weights[start:stop],
    )


def _gathered(
    batches: Iterable[Batch], block_bytes: int, keep: Keep | None
) -> Generator[RowBlock, None, None]:
    n_values = max(1, block_bytes // BYTES_PER_VALUE)
    buffers = [_Buffer(n_values)]
    turn = first_row = n_features = bytes_read = 0
    classes: tuple[Label, ...] = ()
    for batch in _pieces(batches, max(1, n_values // PIECES)):
        buffer = buffers[turn % 2]
        if buffer.n_rows and not buffer.has_room_for(batch):
            block = buffer.block(classes, n_features, first_row - buffer.n_rows, bytes_read)
            if turn == 0:
                if keep is not None and keep(block):
                    buffers = [_Buffer(n_values, holds=False)] * 2
                else:
                    buffers.append(_Buffer(n_values))
            yield block
            turn += 1
            buffer = buffers[turn % 2]
        if turn and keep is not None:
            keep(batch)
        buffer.add(batch)
        first_row += batch.n_rows
        n_features = max(n_features, batch.n_features)
        classes, bytes_read = batch.classes, batch.bytes_read
    buffer = buffers[turn % 2]
    if buffer.n_rows:
        yield buffer.block(classes, n_features, first_row - buffer.n_rows, bytes_read, last=True)
