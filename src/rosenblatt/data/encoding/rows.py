"""Rows put together from what each column gives to them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Part(NamedTuple):
    """What one column gives to each row: features indices[indptr[i]:indptr[i + 1]]."""

    indices: NDArray[np.int32]
    data: NDArray[Any]
    indptr: NDArray[np.int64]


def indicator_part(features: NDArray[np.int32]) -> Part:
    """Return one feature of value 1 for each row, none where it is −1."""
    known = features >= 0
    indptr = np.zeros(len(features) + 1, np.int64)
    np.cumsum(known, out=indptr[1:])
    indices = features[known]
    return Part(indices, np.ones(len(indices), np.float32), indptr)


def joined_rows(dense: NDArray[np.float64], parts: Sequence[Part]) -> Part:
    """Return rows that begin with the dense columns, numbered from 0, and go on part by part."""
    n_rows, m = dense.shape
    if m == 0 and len(parts) == 1:
        return parts[0]
    widths = [np.full(n_rows, m), *(np.diff(part.indptr) for part in parts)]
    indptr = np.zeros(n_rows + 1, np.int64)
    np.cumsum(np.sum(widths, axis=0), out=indptr[1:])
    indices = np.empty(indptr[-1], np.int32)
    data = np.empty(indptr[-1], np.float64 if m else np.float32)
    set_first(indices, indptr, np.broadcast_to(np.arange(m, dtype=np.int32), dense.shape))
    set_first(data, indptr, dense)
    filled = indptr[:-1] + m
    for part, width in zip(parts, widths[1:], strict=True):
        places = np.repeat(filled - part.indptr[:-1], width) + np.arange(len(part.indices))
        indices[places] = part.indices
        data[places] = part.data
        filled += width
    return Part(indices, data, indptr)


def first_values(values: NDArray[Any], indptr: NDArray[Any], m: int) -> NDArray[Any]:
    """Return the first m values of each row."""
    table = _as_table(values, indptr)
    return values[indptr[:-1, None] + np.arange(m)] if table is None else table[:, :m]


def set_first(values: NDArray[Any], indptr: NDArray[Any], new: NDArray[Any]) -> None:
    """Write the first values of each row."""
    table, m = _as_table(values, indptr), new.shape[1]
    if table is None:
        values[indptr[:-1, None] + np.arange(m)] = new
    else:
        table[:, :m] = new


def _as_table(values: NDArray[Any], indptr: NDArray[Any]) -> NDArray[Any] | None:
    """Return a view with a row for each row where all are equally long: ten times as fast."""
    n_rows = len(indptr) - 1
    width = len(values) // max(n_rows, 1)
    if not n_rows or not np.array_equal(indptr, np.arange(n_rows + 1) * width):
        return None
    return values.reshape(n_rows, width)


def without_duplicates(rows: Part) -> Part:
    """Return rows in which a feature that stood more than once in a row stands once, values added.

    Columns that are hashed can meet in one feature. A feature stays where it first stood.
    """
    row = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    keys = row << 32 | rows.indices
    ascending = np.sort(keys)
    if not (ascending[1:] == ascending[:-1]).any():
        return rows
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    data = np.zeros(len(first), rows.data.dtype)
    np.add.at(data, group, rows.data)
    order = np.argsort(first)
    kept = np.zeros(len(keys) + 1, np.int64)
    kept[first + 1] = 1
    np.cumsum(kept, out=kept)
    return Part(rows.indices[first[order]], data[order], kept[rows.indptr])


def shifted(part: Part, first: int) -> Part:
    """Return a part whose feature 0 is another one; changes the part that was given."""
    if first:
        part.indices[:] += first
    return part
