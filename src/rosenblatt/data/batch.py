"""Rows on their way from a file to whoever learns from them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Label


class Batch(NamedTuple):
    """Rows in compressed sparse row form, their labels, and where they stand.

    Row i has the values data[indptr[i]:indptr[i + 1]] of the features indices[…], which ascend and
    count from 0, whatever the file counts from. Its class is classes[labels[i]].
    """

    data: NDArray[Any]  # float64 or float32
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    labels: NDArray[np.int32]  # class numbers, the same in all batches of a file
    classes: tuple[Label, ...]  # those met so far in the file, in order of appearance
    queries: NDArray[np.int64] | None  # the qid of each row, −1 for none; None where no row has one
    n_features: int  # one more than the highest index in this batch
    zero_based: bool  # whether the file counts features from 0
    file: str
    first_line: int  # of the text that the batch was read from, counted from 1
    n_lines: int
    bytes_read: int  # of the file, compressed as it may be, up to the end of the batch

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def below(self, n_features: int) -> "Batch":
        """Return the rows without the features from this number on."""
        if self.n_features <= n_features:
            return self
        known = self.indices < n_features
        before = np.concatenate([[0], np.cumsum(known)])
        return self._replace(
            data=self.data[known],
            indices=self.indices[known],
            indptr=before[self.indptr],
            n_features=n_features,
        )

    def label_values(self) -> NDArray[Any]:
        """Return the label of each row: as numbers where every class is one, else as words."""
        if any(isinstance(label, str) for label in self.classes):
            return np.array([str(label) for label in self.classes])[self.labels]
        whole = all(isinstance(c, int) and -(2**63) <= c < 2**63 for c in self.classes)
        return np.array(self.classes, np.int64 if whole else np.float64)[self.labels]


def join(batches: Sequence[Batch]) -> Batch:
    """Return successive batches of a file, at least one, as a single batch."""
    first, last = batches[0], batches[-1]
    starts = np.cumsum([0, *(len(batch.data) for batch in batches)])
    rows = [batch.indptr[1:] + start for batch, start in zip(batches, starts[:-1], strict=True)]
    return last._replace(
        data=np.concatenate([batch.data for batch in batches]),
        indices=np.concatenate([batch.indices for batch in batches]),
        indptr=np.concatenate([np.zeros(1, np.int64), *rows]),
        labels=np.concatenate([batch.labels for batch in batches]),
        queries=_joined_queries(batches),
        n_features=max(batch.n_features for batch in batches),
        first_line=first.first_line,
        n_lines=last.first_line + last.n_lines - first.first_line,
    )


def _joined_queries(batches: Sequence[Batch]) -> NDArray[np.int64] | None:
    if all(batch.queries is None for batch in batches):
        return None
    none = [np.full(batch.n_rows, -1, np.int64) for batch in batches]
    return np.concatenate(
        [none[k] if batch.queries is None else batch.queries for k, batch in enumerate(batches)]
    )
