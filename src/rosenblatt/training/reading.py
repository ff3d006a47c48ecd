"""A source read once, block by block, and kept for later passes where there is more than one."""

from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import Label
from rosenblatt.data.streams import RowFiles, row_blocks
from rosenblatt.errors import InputError
from rosenblatt.kernels.shapes import take
from rosenblatt.training.examples import (
    ClassWeight,
    class_weights,
    ranks_of,
    sorted_classes,
    targets_of,
)

SWEEP = 1 << 16  # rows at a time where something is done to all of them
# Of parsed rows. A training takes about three times as much: two blocks while a file is read, and
# what is tried on them. Larger ones were neither faster nor better on 1.2 million rows.
BLOCK_BYTES = 64 << 20

Finish = Callable[[Batch], Batch]  # may change the rows in place


class RowSource(Protocol):
    """Where rows come from."""

    @property
    def rereadable(self) -> bool:
        """Whether it can be read a second time; standard input cannot."""

    def batches(self) -> Iterable[Batch]:
        """Open the source at its first row."""

    def finish(self) -> Finish | None:
        """Return what finishes rows once all of them have been read, if they need it.

        It is asked for when some rows have been read, and again when all of them have.
        """


class ReadingOptions(TypedDict, total=False):
    """How rows are held while a source is read."""

    block_bytes: int
    cache: Path | None  # folder for files of rows
    class_weight: ClassWeight | None


class Reading:
    """Reads a source, and knows its rows, classes and features so far.

    Rows that fit into one block stay in memory. If there are more, and ``keep`` says so or they
    have to be finished, all are written to files as they come, and mapped into memory at the end.
    ``while_reading``: blocks are learned from as they come.
    """

    def __init__(
        self,
        source: RowSource,
        *,
        keep: bool,
        while_reading: bool = False,
        block_bytes: int = BLOCK_BYTES,
        cache: Path | None = None,
        classes: tuple[Label, ...] = (),
        class_weight: ClassWeight | None = None,
    ) -> None:
        self.block_bytes = block_bytes
        self.class_weight = class_weight
        self._known = classes  # from elsewhere
        self.classes = classes  # sorted; those known and those met
        self.ranks = np.zeros(0, np.int32)  # place in classes of each class in order of appearance
        self.class_counts = np.zeros(0, np.int64)  # in order of appearance
        self._class_totals = np.zeros(0)  # of the weights of their rows
        self.n_rows = 0
        self.n_validation = 0  # of these, which come last and are never learned from
        self.n_features = 0
        self.bytes_read = 0
        self.block_ends: list[int] = []
        self.batch_ends: list[int] = []
        self.done = False
        self.rows: Batch | None = None  # when done, where more than one block was kept
        self.cache = cache  # the folder in which the files are; by default that of the system
        self._files: RowFiles | None = None
        self.keep = keep
        self.while_reading = while_reading
        self._source = source
        self._blocks = row_blocks(source.batches(), block_bytes, self._write)
        try:
            self.first = self._take()  # looked at in advance: it says which classes there are
        except BaseException:
            self.close()
            raise

    def check_classes(self) -> None:
        """Raise if all rows have been read and there is nothing to tell apart."""
        if self.done and len(self.classes) < 2:
            if self.n_rows == 1:
                raise InputError("There is only one row: there is nothing to tell apart.")
            raise InputError(
                f"All {self.n_rows:,} rows have the label {self.classes[0]!r}: there is nothing "
                "to tell apart. Is that the column of the labels?"
            )

    def targets(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return class numbers in order of appearance as targets."""
        return targets_of(self.ranks[labels], len(self.classes))

    def row_weights(self, labels: NDArray[Any], given: NDArray[Any] | None) -> NDArray[Any] | None:
        """Return what multiplies the steps of rows of these classes and own weights; None: 1."""
        if self.class_weight is None:
            return given
        counts = np.bincount(self.ranks, self._class_totals, len(self.classes))
        by_class: Any = class_weights(self.class_weight, self.classes, counts)
        weights: NDArray[Any] = by_class[self.ranks[labels]]
        return weights if given is None else weights * given

    def blocks(self) -> Generator[Batch, None, None]:
        """Yield the remaining blocks; each is valid until the next is requested."""
        block: Batch | None = self.first
        while block is not None:
            yield block
            block = None if self.done else self._take()

    def read_on(self) -> None:
        """Read to the end, to keep all rows and to know all classes."""
        while not self.done:
            self._take()
        if not self.first.last:  # it is kept, or was learned from
            self.first = self.first._replace(data=np.empty(0), indices=np.empty(0, np.int32))

    def stored(self) -> Iterator[Batch]:
        """Yield all rows in their order, once they have been read and kept."""
        if self.rows is None:
            yield self.first
            return
        for start in range(0, self.n_rows, SWEEP):
            yield self.rows.block(start, min(start + SWEEP, self.n_rows))
            self.release()

    def release(self) -> None:
        """Give back the memory that rows in files took."""
        if self._files is not None:
            self._files.release()

    def taken(self, numbers: NDArray[np.int64]) -> Iterator[Batch]:
        """Yield copies of some of these rows, by ascending numbers."""
        first = 0
        for rows in self.stored():
            end = first + rows.n_rows
            here = numbers[slice(*np.searchsorted(numbers, [first, end]))]
            if len(here):
                taken: Any = take(rows.csr(self.n_features, 0.0), here - first)
                yield Batch(taken.data, taken.indices, taken.indptr, n_features=self.n_features)
            first = end

    def labels(self, numbers: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return class numbers, in order of appearance, and weights of some of these rows."""
        kept = self.first if self.rows is None else self.rows
        labels, weights = kept.labels[numbers], kept.weights
        return labels, self.row_weights(labels, None if weights is None else weights[numbers])

    @property
    def groups(self) -> NDArray[np.uint64] | None:
        """The group of each row, once all have been read and kept."""
        return (self.first if self.rows is None else self.rows).groups

    @property
    def finished(self) -> bool:
        """Whether rows can be learned from as they are read."""
        return self._source.finish() is None

    def finish(self) -> None:
        """Finish all rows, where they need it, once they have been read and kept."""
        finish = self._source.finish()
        if finish is None:
            return
        files = None
        for rows in self.stored():
            changed = finish(rows)
            self.n_features = max(self.n_features, changed.n_features)
            if self.rows is None:
                self.first = changed._replace(n_features=self.n_features)
            elif changed.data is not rows.data:
                files = files or RowFiles(self.cache)
                files.append(changed)
        if files is not None:
            self._files, self.rows = files, files.mapped()
        self.rows = self.rows and self.rows._replace(n_features=self.n_features)

    def close(self) -> None:
        """Stop reading and give the files up."""
        self._blocks.close()
        if self._files is not None:
            self._files.close()

    def _take(self) -> Batch:
        block = next(self._blocks, None)
        if block is None:
            raise InputError("There are no rows to learn from: the input is empty.")
        if len(block.classes) > len(self.ranks):
            self.classes = sorted_classes((*self._known, *block.classes))
            self.ranks = ranks_of(block.classes, self.classes)
            n_new = len(self.ranks) - len(self.class_counts)
            self.class_counts = np.pad(self.class_counts, (0, n_new))
            self._class_totals = np.pad(self._class_totals, (0, n_new))
        own = block.learnable
        labels, weights = block.labels[own], None if block.weights is None else block.weights[own]
        self.class_counts += np.bincount(labels, minlength=len(self.ranks))
        self._class_totals += np.bincount(labels, weights, len(self.ranks))
        self.n_validation += block.n_rows - len(labels)
        self.batch_ends += (end + block.first_row for end in block.batch_ends)
        self.n_rows = block.first_row + block.n_rows
        self.block_ends.append(self.n_rows)
        self.n_features, self.bytes_read = block.n_features, block.bytes_read
        if block.last:
            self._end()
        return block

    def _write(self, rows: Batch) -> bool:
        """Keep rows for later passes; return whether they are not yet learned from."""
        finished = self.finished
        if not self.keep and finished:
            return False
        if self._files is None:
            self._files = RowFiles(self.cache)
        self._files.append(rows)
        return not (finished and self.while_reading)

    def _end(self) -> None:
        self.done = True
        self._blocks.close()
        if self._files is not None:
            self.rows = self._files.mapped()._replace(n_features=self.n_features)
