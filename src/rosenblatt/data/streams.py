"""Streams of rows: worked on ahead in threads, gathered in blocks, kept on disk."""

import mmap
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, join, successive
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.shapes import BYTES_PER_VALUE

ARRAYS = {  # of rows, as they are kept in files
    "data": np.float64,
    "indices": np.int32,  # of blocks whose features say their column int64
    "indptr": np.int64,
    "labels": np.int32,
    "weights": np.float64,
    "groups": np.uint64,
}
NO_VALUES = np.empty(0, np.int32)
PIECES = 16  # of a block at least, so that blocks of later passes mix rows from far apart


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

    def __init__(self, n_values: int, index: "np.dtype[Any]", *, holds: bool = True) -> None:
        self._holds = holds  # else the values are counted, and those of the blocks are none
        self._data, self._indices = np.empty(n_values * holds), np.empty(n_values * holds, index)
        self.filled, self.batches = 0, list[Batch]()

    def add(self, batch: Batch) -> None:
        """Append the rows of a batch; the first one that is larger than all the room takes more."""
        start, self.filled = self.filled, self.filled + len(batch.data)
        if self._holds:
            if self.filled > len(self._data):
                index = self._indices.dtype
                self._data, self._indices = np.empty(self.filled), np.empty(self.filled, index)
            self._data[start : self.filled] = batch.data
            self._indices[start : self.filled] = batch.indices
        self.batches.append(batch._replace(data=NO_VALUES, indices=NO_VALUES))

    def block(self, first_row: int, *, last: bool = False) -> Batch:
        """Return the rows that have been added, and start anew."""
        ends = np.cumsum([batch.n_rows for batch in self.batches]).tolist()
        rows = join(self.batches)._replace(
            data=self._data[: self.filled],
            indices=self._indices[: self.filled],
            first_row=first_row,
            batch_ends=tuple(ends),
            last=last,
        )
        self.filled, self.batches = 0, []
        return rows


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
        for start, stop in successive(batch.indptr, most):
            yield batch if stop - start == batch.n_rows else batch.block(start, stop)


def _gathered(
    batches: Iterable[Batch], block_bytes: int, keep: Keep | None
) -> Generator[Batch, None, None]:
    n_values = max(1, block_bytes // BYTES_PER_VALUE)
    buffers, turn = list[_Buffer](), 0
    first_row = n_features = 0
    for batch in _pieces(batches, max(1, n_values // PIECES)):
        index = batch.indices.dtype  # the same in all
        buffers = buffers or [_Buffer(n_values, index)]
        buffer = buffers[turn % 2]
        if buffer.batches and buffer.filled + len(batch.data) > n_values:
            block = buffer.block(first_row)
            first_row += block.n_rows
            if turn == 0:
                if keep is not None and keep(block):
                    buffers = [_Buffer(n_values, index, holds=False)] * 2
                else:
                    buffers.append(_Buffer(n_values, index))
            yield block
            turn += 1
            buffer = buffers[turn % 2]
        if turn and keep is not None:
            keep(batch)
        n_features = max(n_features, batch.n_features)
        buffer.add(batch._replace(n_features=n_features))
    if buffers and buffers[turn % 2].batches:
        yield buffers[turn % 2].block(first_row, last=True)


class ArrayFile:
    """An array in a file without a name, which is appended to and then mapped into memory."""

    def __init__(self, folder: Path | None, dtype: Any) -> None:
        self.length = 0
        self._dtype = np.dtype(dtype)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # closed by its owner
        self._memory: mmap.mmap | None = None

    def append(self, values: NDArray[Any]) -> None:
        """Write values behind those that are there."""
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self.length += len(values)

    def mapped(self) -> NDArray[Any]:
        """Return the values, mapped into memory; no more can be written."""
        self._file.flush()
        if self.length:
            self._memory = mmap.mmap(self._file.fileno(), 0)
        self.close()
        return np.frombuffer(self._memory or b"", self._dtype)

    def release(self) -> None:
        """Let the system take back the memory of what has been read; the file still holds it."""
        if sys.platform == "linux" and self._memory is not None:
            self._memory.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Close the file; what is mapped stays."""
        self._file.close()


class RowFiles:
    """Rows in files: values, features, where rows begin and end, labels, weights, groups."""

    def __init__(self, folder: Path | None, index: "np.dtype[Any]") -> None:
        self._folder = str(folder or tempfile.gettempdir())
        self._files: dict[str, ArrayFile] = {}
        with self._kept():
            for name, dtype in (ARRAYS | {"indices": index}).items():
                self._files[name] = ArrayFile(folder, dtype)
        self._files["indptr"].append(np.zeros(1, np.int64))

    def append(self, rows: Batch) -> None:
        """Write rows behind those that are there."""
        placed = rows._replace(indptr=rows.indptr[1:] + self._files["data"].length)
        with self._kept():
            for name, file in self._files.items():
                values = getattr(placed, name)
                if values is not None:
                    file.append(values)

    def mapped(self) -> Batch:
        """Return the rows that were written, to be changed in place; no more can be written."""
        with self._kept():
            arrays: dict[str, Any] = {name: file.mapped() for name, file in self._files.items()}
        none = {name: None for name in ("weights", "groups") if not self._files[name].length}
        return Batch(**arrays | none)

    def release(self) -> None:
        """Let the system take back the memory of what has been read."""
        for file in self._files.values():
            file.release()

    def close(self) -> None:
        """Give the files up."""
        for file in self._files.values():
            file.close()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Raise InputError where the system refuses something."""
        try:
            yield
        except OSError as error:
            self.close()
            raise InputError(
                f"The parsed rows cannot be kept in {self._folder}: {error.strerror or error}; name"
                f" a folder with room for them with {Parameter('cache')}."
            ) from error
