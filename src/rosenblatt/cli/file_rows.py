"""All rows of files in memory, for what looks at them one by one or all together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.files import Columns, Encoding, Files, Layout, TrainingFiles
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR, Dense
from rosenblatt.training.examples import Examples
from rosenblatt.training.labels import targets_of
from rosenblatt.training.reading import Reading

MOST_BYTES = 1 << 30  # of parsed rows


@dataclass(frozen=True)
class FileRows:
    """Rows, their labels and the names of their features."""

    rows: CSR
    numbers: NDArray[Any]  # of the class of each row
    classes: tuple[Any, ...]  # sorted
    names: tuple[str, ...]
    encoding: Encoding | None = None  # how they were made of what the files hold

    @property
    def labels(self) -> list[Any]:
        """The label of each row."""
        return [self.classes[number] for number in self.numbers.tolist()]

    def examples(self, most_columns: int = 0) -> Examples:
        """Return what is learned from; dense rows where they have few columns."""
        targets = targets_of(self.numbers, len(self.classes))
        if self.rows.n_features > most_columns:
            return Examples(self.rows, targets)
        return Examples(Dense(self.dense(), self.rows.constant), targets)

    def dense(self) -> NDArray[Any]:
        """Return the rows as an array."""
        values = np.zeros(self.rows.shape)
        lengths = np.diff(self.rows.indptr)
        values[np.repeat(np.arange(len(lengths)), lengths), self.rows.indices] = self.rows.data
        return values


def read_rows(
    paths: Sequence[str], layout: Layout, columns: Columns, *, fit_intercept: bool = True
) -> FileRows:
    """Return all rows of files of moderate size."""
    source = TrainingFiles(Files(paths, layout), columns)
    reading = Reading(source, keep=False, block_bytes=MOST_BYTES)
    block = reading.first
    if not block.last:
        reading.close()
        msg = f"{paths[0]} is too large for this: it takes rows of at most {MOST_BYTES >> 30} GB."
        raise InputError(msg)
    reading.check_classes()
    if reading.finish is not None:
        reading.finish(block.data, block.indptr)
    encoding = source.encoding
    n_features = block.n_features if encoding is None else encoding.n_features
    rows = CSR(block.data, block.indices, block.indptr, n_features, 1.0 if fit_intercept else 0.0)
    names = () if encoding is None or n_features > 1000 else encoding.names(range(n_features))
    return FileRows(rows, reading.ranks[block.labels], reading.classes, tuple(names), encoding)
