"""Rows by their numbers, and rows that are kept while more come."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.training.chosen_rows import chosen_rows


def taken(rows: Rows, numbers: NDArray[Any]) -> Rows:
    """Return a copy of the rows of these numbers, in their order."""
    if isinstance(rows, CSR):
        return chosen_rows(rows, numbers)
    return Dense(rows.values[numbers], rows.constant)


def matrix_of(rows: Rows) -> Any:
    """Return rows as the array or the SciPy matrix that they are."""
    if isinstance(rows, CSR):
        return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    return rows.values


def dense_values(rows: Rows) -> NDArray[Any]:
    """Return rows as a dense array."""
    values: NDArray[Any] = matrix_of(rows).toarray() if isinstance(rows, CSR) else rows.values
    return values


def in_format_of(rows: Rows, like: Rows) -> Rows:
    """Return rows as sparse or dense as others are."""
    if isinstance(rows, CSR) and isinstance(like, Dense):
        return Dense(dense_values(rows), rows.constant)
    if isinstance(rows, Dense) and isinstance(like, CSR):
        found = sparse.csr_matrix(rows.values)
        return CSR(found.data, found.indices, found.indptr, rows.shape[1], rows.constant)
    return rows


def joined(first: Rows, second: Rows) -> Rows:
    """Return the rows of both, in the format of the first."""
    second = in_format_of(second, first)
    if isinstance(first, CSR) and isinstance(second, CSR):
        return CSR(
            np.concatenate([first.data, second.data]),
            np.concatenate([first.indices, second.indices]),
            np.concatenate([first.indptr, second.indptr[1:] + first.indptr[-1]]),
            first.n_features,
            first.constant,
        )
    return Dense(np.concatenate([dense_values(first), dense_values(second)]), first.constant)


class Growing:
    """An array that is added to at its end, at a cost that does not grow with its length."""

    def __init__(self, first: NDArray[Any]) -> None:
        self._room = np.array(first)  # a copy
        self._length = len(first)

    @property
    def values(self) -> NDArray[Any]:
        """All that is there, without a copy."""
        return self._room[: self._length]

    def append(self, more: NDArray[Any]) -> None:
        """Change it by more at its end."""
        length = self._length + len(more)
        dtype = np.result_type(self._room, more) if len(more) else self._room.dtype
        if length > len(self._room) or dtype != self._room.dtype:
            room = np.empty((max(length, 2 * self._length), *self._room.shape[1:]), dtype)
            room[: self._length] = self.values
            self._room = room
        self._room[self._length : length] = more
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getstate__(self) -> dict[str, Any]:
        return {"_room": self.values.copy(), "_length": self._length}


class RowStore:
    """Rows of one format that are added to."""

    def __init__(self, rows: Rows) -> None:
        self._constant, self._n_features = rows.constant, rows.shape[1]
        self._sparse = isinstance(rows, CSR)
        parts = rows[:3] if isinstance(rows, CSR) else rows[:1]
        self._parts = [Growing(part) for part in parts]

    @property
    def rows(self) -> Rows:
        """All of them, without a copy."""
        parts = [part.values for part in self._parts]
        if self._sparse:
            return CSR(parts[0], parts[1], parts[2], self._n_features, self._constant)
        return Dense(parts[0], self._constant)

    def append(self, rows: Rows) -> None:
        """Change it by rows at its end, whatever their format."""
        rows = in_format_of(rows, self.rows)
        if isinstance(rows, CSR):
            data, indices, indptr = self._parts
            indptr.append(rows.indptr[1:] + indptr.values[-1])
            data.append(rows.data)
            indices.append(rows.indices)
        else:
            self._parts[0].append(rows.values)
