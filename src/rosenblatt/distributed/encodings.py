"""Encodings that workers learned from parts of the data, made one.

The terms of all parts are numbered in the order in which they are first met, part after part:
that is how one process numbers them that reads the parts one after the other.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.encoding.numbers import ColumnStatistics
from rosenblatt.data.encoding.vocabulary import KeptNumbering, TermArrays


def merged_encoding(
    template: TableEncoding,
    statistics: Sequence[NDArray[np.float64]],
    terms: Sequence[TermArrays | None],
) -> tuple[TableEncoding, list[NDArray[np.int32] | None], int]:
    """Return the frozen encoding of all parts, and how each part's terms are numbered in it.

    A term that has no room is numbered −1; the last value says how many there are. Where terms
    are hashed, their numbers are the same everywhere, and None stands for that.
    """
    merged = merged_statistics(statistics)
    known = [part for part in terms if part is not None]
    if len(known) < len(terms):
        encoding = TableEncoding(
            template.columns, template.settings, notes=template.notes, statistics=merged
        )
        encoding.freeze()
        return encoding, [None] * len(terms), 0
    room = template.settings.max_features - merged.values.shape[1]
    together, numbers, n_dropped = merged_terms(known, room)
    encoding = TableEncoding(
        template.columns,
        template.settings,
        notes=template.notes,
        statistics=merged,
        numbering=KeptNumbering(room, together),
    )
    encoding.freeze()
    return encoding, [*numbers], n_dropped


def merged_statistics(parts: Sequence[NDArray[np.float64]]) -> ColumnStatistics:
    """Return the statistics of all rows, as Chan, Golub & LeVeque merge two parts."""
    total = parts[0].copy()
    for part in parts[1:]:
        count, mean, m2, low, high, n_missing = total
        n_new, new_mean, new_m2, new_low, new_high, new_missing = part
        n_all = np.maximum(count + n_new, 1)
        apart = np.where(n_new > 0, new_mean - mean, 0)
        mean += apart * (n_new / n_all)
        m2 += new_m2 + apart * apart * (count * n_new / n_all)
        count += n_new
        n_missing += new_missing
        np.minimum(low, new_low, out=low)
        np.maximum(high, new_high, out=high)
    return ColumnStatistics(total)


def merged_terms(
    parts: Sequence[TermArrays], room: int
) -> tuple[TermArrays, list[NDArray[np.int32]], int]:
    """Return the terms of all parts, the number of each part's terms, and how many had no room."""
    hashes = np.concatenate([part.hashes for part in parts])
    different, first = np.unique(hashes, return_index=True)
    by_appearance = np.argsort(first)
    numbers = np.empty(len(different), np.int32)
    numbers[by_appearance] = np.arange(len(different))
    numbers[numbers >= room] = -1
    chosen = first[by_appearance][:room]
    starts = np.cumsum([0, *(len(part.letters) for part in parts)])
    begins = [part.offsets[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])[chosen]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    places = np.repeat(np.concatenate(begins)[chosen] - offsets[:-1], lengths)
    letters = np.concatenate([part.letters for part in parts])
    together = TermArrays(
        hashes[chosen],
        np.concatenate([part.columns for part in parts])[chosen],
        letters[places + np.arange(offsets[-1])],
        offsets,
    )
    of_parts = [numbers[np.searchsorted(different, part.hashes)] for part in parts]
    return together, of_parts, len(different) - len(chosen)


def renumbered(
    indices: NDArray[Any], numbers: NDArray[np.int32], n_numeric: int
) -> NDArray[np.int32]:
    """Return features of a part as features of all the data; −1 for those that had no room."""
    table: NDArray[np.int32] = np.concatenate(
        [
            np.arange(n_numeric, dtype=np.int32),
            np.where(numbers < 0, -1, numbers + n_numeric).astype(np.int32),
        ]
    )
    found: NDArray[np.int32] = table[indices]
    return found
