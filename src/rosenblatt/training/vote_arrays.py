"""The list of a training's mistakes, with the rows that made them, as arrays for a file."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.rows import CSR
from rosenblatt.training.votes import Votes

PREFIX = "mistakes."
TYPES = (
    *(np.int64, np.int32, np.int32, np.float64, np.int64),  # of the updates
    *(np.float64, np.int32, np.int64, np.int64),  # of the rows
)
DAMAGED = "The list of mistakes in the model is damaged: train it again."


def vote_arrays(votes: Votes) -> dict[str, NDArray[Any]]:
    """Return the updates, and once each row that made one, under names for a file."""
    rows = votes.rows
    kept = votes.updates._asdict() | {
        "numbers": votes.numbers,
        "data": rows.data,
        "indices": rows.indices,
        "indptr": rows.indptr,
    }
    return {f"{PREFIX}{name}": array.copy() for name, array in kept.items()}


def recorded_votes(
    arrays: Mapping[str, NDArray[Any]],
    n_classes: int,
    n_features: int,
    constant: float,
    count: int,
) -> Votes:
    """Return the updates up to a count of rows that a file, which may be anybody's, holds.

    Raises
    ------
    InputError
        Where they are not there, or cannot be.
    """
    rows, log, numbers = read_updates(arrays, n_classes, n_features, constant)
    kept = int(np.searchsorted(log.seen, count))  # early stopping may have gone back
    return Votes.of(Log(*(column[:kept] for column in log)), rows, numbers)


def read_updates(
    arrays: Mapping[str, NDArray[Any]], n_classes: int, n_features: int, constant: float
) -> tuple[CSR, Log, NDArray[Any]]:
    """Return what a file says the mistakes were: the rows, the updates, the numbers of the rows."""
    names = (*Log._fields, "data", "indices", "indptr", "numbers")
    kept = [arrays.get(f"{PREFIX}{name}") for name in names]
    if not all(
        array is not None and array.ndim == 1 and array.dtype == kind
        for array, kind in zip(kept, TYPES, strict=True)
    ):
        raise InputError(DAMAGED)
    *columns, data, indices, indptr, numbers = cast("list[NDArray[Any]]", kept)
    log, rows = Log(*columns), CSR(data, indices, indptr, n_features, constant)
    if not (_are_rows(rows, len(numbers)) and _are_updates(log, len(numbers), n_classes)):
        raise InputError(DAMAGED)
    return rows, log, numbers


def _are_rows(rows: CSR, n_rows: int) -> bool:
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    if len(indptr) != n_rows + 1 or indptr[0] != 0 or not (np.diff(indptr) >= 0).all():
        return False
    if not len(data) == len(indices) == indptr[-1]:
        return False
    return _within(indices, 0, rows.n_features - 1) and bool(np.isfinite(data).all())


def _are_updates(log: Log, n_rows: int, n_classes: int) -> bool:
    low, high = (-1, 1) if n_classes == 2 else (0, n_classes - 1)
    return (
        len({len(column) for column in log}) == 1
        and _within(log.row, 0, n_rows - 1)
        and _within(log.label, low, high)
        and _within(log.rival, low, high)
        and bool((log.label != log.rival).all())
        and (n_classes != 2 or bool((log.label == -log.rival).all()))
        and bool((np.isfinite(log.tau) & (log.tau > 0.0)).all())
        and bool((np.diff(log.seen, prepend=0) > 0).all())
    )


def _within(values: NDArray[Any], low: int, high: int) -> bool:
    return not len(values) or bool(low <= values.min() and values.max() <= high)
