"""What a picture is of: the rows of files, or a model, or both."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.cli.diagnose import matrix_of
from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Columns, Files, Layout, encoded
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.models.rows import FileRows, model_rows, read_rows


@dataclass(frozen=True)
class LabelledMatrix:
    """Rows as the displays take them."""

    X: Any
    y: Any
    names: tuple[str, ...] | None  # of the features


@dataclass
class Subject:
    """A file that is either rows or a model, and perhaps rows beside it."""

    path: str
    test_paths: Sequence[str]
    layout: Layout
    columns: Columns

    @cached_property
    def model(self) -> Model | None:
        """The model of the file; None where it holds rows."""
        return model_at(self.path)

    @cached_property
    def _file_rows(self) -> FileRows:
        return read_rows([self.path], self.layout, self.columns)

    @cached_property
    def rows(self) -> LabelledMatrix:
        """The rows of the file."""
        if self.model is not None:
            msg = f"{self.path} is a model, and this picture is of data: give a file of rows."
            raise InputError(msg)
        found = self._file_rows
        return LabelledMatrix(matrix_of(found), np.array(found.labels), found.names or None)

    @cached_property
    def test(self) -> LabelledMatrix | None:
        """The rows beside it, encoded as the file's; None where none are named."""
        if not self.test_paths:
            return None
        if self.model is not None:
            batches: Iterable[Batch] = model_rows(self.model, self.test_paths, layout=self.layout)
            return _matrix(batches, self.model.n_features, None)
        trained = self._file_rows
        if trained.encoding is None:
            msg = f"{self.path} has no rows that others could be read like."
            raise InputError(msg)
        files = Files(self.test_paths, self.layout)
        batches = encoded(files, trained.encoding, trained.classes, need_labels=True)
        return _matrix(batches, trained.rows.n_features, trained.names or None)

    @property
    def needed_test(self) -> LabelledMatrix:
        """The rows beside it, which a model cannot be drawn without."""
        if self.test is None:
            msg = f"{self.path} is a model, and this picture has rows in it too: give --test DATA."
            raise InputError(msg)
        return self.test


def model_at(path: str) -> Model | None:
    """Return the model that a file holds; None where it is something else, or standard input."""
    from rosenblatt.models.file import read

    if path == "-" or not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        head = file.read(9)
    if head[8:9] == b"{" and b"\0" in head[:8]:  # the length of a header, and the header
        return read(path)
    return None


def _matrix(
    batches: Iterable[Batch], n_features: int, names: tuple[str, ...] | None
) -> LabelledMatrix:
    """Return batches as one matrix of the known features, without rows that have no label."""
    parts, labels = [], []
    for batch in batches:
        width = max(n_features, int(batch.indices.max(initial=-1)) + 1)
        arrays = (np.asarray(batch.data, np.float64), batch.indices, batch.indptr)
        X = sparse.csr_array(arrays, shape=(batch.n_rows, width))
        numbers = np.asarray(batch.labels)
        parts.append(X[numbers >= 0][:, :n_features])
        labels += [batch.classes[number] for number in numbers[numbers >= 0].tolist()]
    if not labels:
        msg = "The rows have no labels: this picture needs them."
        raise InputError(msg)
    X = sparse.vstack(parts, format="csr")
    if X.nnz >= X.shape[0] * X.shape[1] / 2:
        X = X.toarray()
    return LabelledMatrix(X, np.array(labels), names)
