"""Streams of rows: worked on ahead in threads, gathered in blocks, kept on disk."""

import mmap
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, joined
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.shapes import BYTES_PER_VALUE

PIECES = 16  # of a block at least, so that blocks of later passes mix rows from several places


Keep = Callable[[Batch], bool]  # takes rows, and returns whether blocks need not hold them
Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item], Result],
    items: Generator[Item, None, None],
    threads: int,
    under_way: int | None = None,
    patience: float = 0.1,
) -> Generator[Result, None, None]:
    """Yield work(item) for each item, in order, computed ahead in that many threads.

    One more thread draws the items. At most ``under_way``, by default ``threads + 2``, are drawn
    and not yet done with by the caller. What fails is raised in its turn. On an early stop the
    thread that draws is waited for, at most ``patience`` seconds.
    """
    free, stopped = Semaphore(under_way or threads + 2), Event()
    results: SimpleQueue[Future[Result] | None] = SimpleQueue()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="rosenblatt")

    def draw() -> None:
        try:
            free.acquire()
            while not stopped.is_set() and (item := next(items, None)) is not None:
                results.put(pool.submit(work, item))
                free.acquire()
        except BaseException as error:  # noqa: BLE001  # handed to the caller's thread
            failed: Future[Result] = Future()
            failed.set_exception(error)
            results.put(failed)
        finally:
            results.put(None)  # first: whatever else fails, nobody waits for ever
            items.close()

    # A daemon: one that waits for standard input must not keep the program from ending.
    drawing = Thread(target=draw, daemon=True, name="rosenblatt-reader")
    drawing.start()
    try:
        while (future := results.get()) is not None:
            yield future.result()
            free.release()
    finally:
        stopped.set()
        free.release()
        pool.shutdown(wait=False, cancel_futures=True)
        drawing.join(timeout=patience)


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
        self.groups: list[NDArray[np.uint64] | None] = []
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
        self.groups.append(batch.groups)
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
            weights=joined(self.weights),
            groups=joined(self.groups),
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

    Two buffers take turns: a block is valid until the next one is asked for. Where one block does
    not hold all rows, ``keep`` is called with the first block and then with every batch; if it says
    that it has them, the blocks after the first hold no values.
    """
    # Patience: on an early stop the reader thread ends first, so that the encoding changes no more.
    blocks = _gathered(batches, block_bytes, keep)
    return in_order(lambda block: block, blocks, threads=1, under_way=2, patience=5.0)


def _pieces(batches: Iterable[Batch], most: int) -> Iterator[Batch]:
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


class ArrayFile:
    """An array in a file without a name, which is appended to and then mapped into memory."""

    def __init__(self, folder: Path | None, dtype: type[Any]) -> None:
        self.length = 0
        self._dtype = np.dtype(dtype)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # closed by its owner

    def append(self, values: NDArray[Any]) -> None:
        """Write values behind those that are there."""
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self.length += len(values)

    def mapped(self) -> mmap.mmap | None:
        """Return the memory that the file is mapped into; None where it is empty."""
        self._file.flush()
        return mmap.mmap(self._file.fileno(), 0) if self.length else None

    def array(self, memory: mmap.mmap | None) -> NDArray[Any]:
        """Return the values in this memory."""
        return np.frombuffer(b"" if memory is None else memory, self._dtype)

    def close(self) -> None:
        """Close the file; what is mapped stays."""
        self._file.close()


class RowFiles:
    """Rows in files: values, features, where rows begin and end, labels, weights, groups."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = str(folder or tempfile.gettempdir())
        self._files: list[ArrayFile] = []
        self._maps: list[mmap.mmap] = []
        try:
            for dtype in (np.float64, np.int32, np.int64, np.int32, np.float64, np.uint64):
                self._files.append(ArrayFile(folder, dtype))
        except OSError as error:
            self.close()
            raise self._unkept(error) from error
        self._files[2].append(np.zeros(1, np.int64))

    def append(self, rows: Batch) -> None:
        """Write rows behind those that are there."""
        data, indices, indptr, labels, weights, groups = self._files
        try:
            indptr.append(rows.indptr[1:] + data.length)
            data.append(rows.data)
            indices.append(rows.indices)
            labels.append(rows.labels)
            if rows.weights is not None:
                weights.append(rows.weights)
            if rows.groups is not None:
                groups.append(rows.groups)
        except OSError as error:
            raise self._unkept(error) from error

    def mapped(self) -> Batch:
        """Return the rows that were written, to be changed in place; no more can be written."""
        try:
            maps = [file.mapped() for file in self._files]
        except OSError as error:
            raise self._unkept(error) from error
        arrays = [file.array(memory) for file, memory in zip(self._files, maps, strict=True)]
        self._maps = [memory for memory in maps if memory is not None]
        self.close()
        own: list[Any] = [array if len(array) else None for array in arrays[4:]]
        data, indices, indptr, labels = arrays[:4]
        return Batch(data, indices, indptr, labels, weights=own[0], groups=own[1])

    def release(self) -> None:
        """Let the system take back the memory of what has been read; the files still hold it."""
        if sys.platform == "linux":
            for memory in self._maps:
                memory.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Give the files up."""
        for file in self._files:
            file.close()

    def _unkept(self, error: OSError) -> InputError:
        return InputError(
            f"The parsed rows cannot be kept in {self._folder}: {error.strerror or error}; name a"
            f" folder with room for them with {Parameter('cache')}."
        )
