"""Batches gathered into large blocks of rows, in two buffers that take turns."""

from collections.abc import Callable, Generator, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, joined_weights
from rosenblatt.data.threads import in_order
from rosenblatt.kernels.shapes import BYTES_PER_VALUE

PIECES = 16  # of a block at least, so that blocks of later passes mix rows from several places


Keep = Callable[[Batch], bool]  # takes rows, and returns whether blocks need not hold them


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

    def block(self, so_far: Batch, *, last: bool = False) -> Batch:
        """Return the rows that have been added, and start anew."""
        taken = so_far._replace(
            data=self.data[: self.filled],
            indices=self.indices[: self.filled],
            indptr=np.concatenate([np.zeros(1, np.int64), *self.row_ends]),
            labels=np.concatenate([np.zeros(0, np.int32), *self.labels]),
            weights=joined_weights(self.weights),
            first_row=so_far.first_row - self.n_rows,
            batch_ends=tuple(self.batch_ends),
            last=last,
        )
        self._start()
        return taken


def row_blocks(
    batches: Iterable[Batch], block_bytes: int, keep: Keep | None = None
) -> Generator[Batch, None, None]:
    """Yield batches gathered into blocks of up to about ``block_bytes``, read one block ahead.

    A block is valid until the next one is asked for: two buffers take turns, so that one is filled
    while the other is learned from. Where one block does not hold all rows, ``keep`` is called with
    the first block and then with every batch; if it says that it has them, the blocks after the
    first hold no values.
    """
    # Patience: on an early stop the reader thread ends first, so that the encoding changes no more.
    blocks = _gathered(batches, block_bytes, keep)
    return in_order(lambda block: block, blocks, threads=1, under_way=2, patience=5.0)


def _pieces(batches: Iterable[Batch], most: int) -> Iterator[Batch]:
    """Yield batches of at most so many values, or of one row."""
    for batch in batches:
        start = 0
        while start < batch.n_rows:
            limit = batch.indptr[start] + most
            stop = max(start + 1, int(batch.indptr.searchsorted(limit, side="right")) - 1)
            yield batch if stop - start == batch.n_rows else batch.block(start, stop)
            start = stop


def _gathered(
    batches: Iterable[Batch], block_bytes: int, keep: Keep | None
) -> Generator[Batch, None, None]:
    n_values = max(1, block_bytes // BYTES_PER_VALUE)
    buffers, turn = [_Buffer(n_values)], 0
    so_far = Batch(np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int64))  # first_row: the next
    for batch in _pieces(batches, max(1, n_values // PIECES)):
        buffer = buffers[turn % 2]
        if buffer.n_rows and not buffer.has_room_for(batch):
            block = buffer.block(so_far)
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
        so_far = so_far._replace(
            first_row=so_far.first_row + batch.n_rows,
            n_features=max(so_far.n_features, batch.n_features),
            classes=batch.classes,
            bytes_read=batch.bytes_read,
        )
    if buffers[turn % 2].n_rows:
        yield buffers[turn % 2].block(so_far, last=True)
