"""Rows of svmlight text, compiled: all but the lines that are unusual or wrong.

Nothing here words an error. At a line that it does not understand the scan stops, and the caller
has it parsed by ``line.parse_line``; so the scan may be simple, and must only never take for usual
what is not. The text, given by its address, ends in a newline, and that is where every loop below
stops at the latest: nothing behind it is read.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.compiling import compiled, inlined
from rosenblatt.data.line import NO_QUERY
from rosenblatt.data.tokens import (
    COLON,
    HASH,
    NEWLINE,
    SPACE,
    behind_blanks,
    behind_digits,
    ends_token,
    entry,
)
from rosenblatt.data.words import SPAN, byte_at, count_at

U = np.uint64
QID = tuple(b"qid:")
FNV_START, FNV_PRIME = U(0xCBF29CE484222325), U(0x100000001B3)


class Progress(NamedTuple):
    """How far a scan came."""

    position: int  # the start of the line to go on with
    n_rows: int
    n_values: int
    n_labels: int  # distinct ones
    n_queries: int  # rows that name one
    lowest: int  # of the indices; where there is none, above all
    highest: int


@compiled
def count_lines_and_colons(text: int, length: int) -> Any:
    """Return how many newlines and colons there are."""
    n_lines, n_colons = 0, 0
    for position in range(0, length - SPAN, SPAN):
        n_lines += count_at(text, position, NEWLINE)
        n_colons += count_at(text, position, COLON)
    for position in range((length - 1) & -SPAN, length):
        n_lines += byte_at(text, position) == NEWLINE
        n_colons += byte_at(text, position) == COLON
    return n_lines, n_colons


@compiled
def newline_from(text: int, position: int) -> int:
    """Return where the line ends in which this position stands."""
    while byte_at(text, position) != NEWLINE:
        position += 1
    return position


@compiled
def scan(  # noqa: C901, PLR0912, PLR0915  # passing an array costs 10 ns; a feature takes 8
    text: int,
    length: int,
    base: int,
    limit: float,
    data: NDArray[Any],
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    labels: NDArray[np.int32],
    queries: NDArray[np.int64],
    token_starts: NDArray[np.int64],
    token_stops: NDArray[np.int64],
    slots: NDArray[np.int32],
    progress: Progress,
) -> Any:
    """Write the rows of the text from ``progress`` on; return the progress made.

    Its position is the length of the text, or the start of a line that is not usual. The label of
    that line has then been written, if it has a label, and nothing else of it.

    A label is written as the number of its token among the distinct ones, in order of appearance;
    the arrays ``token_…`` say where each stands first. ``slots`` finds them by hashing: 1 + the
    number of a token, or 0; its length is a power of two, and more than half of it stays empty.
    """
    line, row, filled, n_labels, n_queries, lowest, highest = progress
    last_slot = U(len(slots) - 1)
    indptr[0] = 0
    while line < length:
        start = behind_blanks(text, line)
        if byte_at(text, start) == NEWLINE or byte_at(text, start) == HASH:
            line = newline_from(text, start) + 1
            continue

        stop, key, usual = _label(text, start)
        if not usual:
            break
        slot = key & last_slot
        while slots[slot] != 0 and not _same(
            text, token_starts[U(slots[slot] - 1)], token_stops[U(slots[slot] - 1)], start, stop
        ):
            slot = (slot + U(1)) & last_slot
        if slots[slot] == 0:
            token_starts[U(n_labels)], token_stops[U(n_labels)] = start, stop
            n_labels += 1
            slots[slot] = n_labels
        labels[U(row)] = slots[slot] - 1

        end, query, usual = _query(text, stop)
        place, previous, ascending = filled, -1, True
        while usual:
            start = behind_blanks(text, end)
            if byte_at(text, start) == NEWLINE or byte_at(text, start) == HASH:
                break
            if start == end:
                usual = False
                break
            feature, value, end = entry(text, start)
            if not abs(value) < limit:
                usual = False
                break
            ascending &= feature > previous
            previous = feature
            indices[U(place)] = feature - base
            data[U(place)] = value
            place += 1
        if not usual:
            break

        if place > filled:
            if not ascending and not _sorted(indices, data, filled, place):
                break
            if indices[U(filled)] < 0:
                break
            lowest = min(lowest, int(indices[U(filled)]))
            highest = max(highest, int(indices[U(place - 1)]))
        queries[U(row)] = query
        n_queries += query != NO_QUERY
        row, filled = row + 1, place
        indptr[U(row)] = filled
        line = newline_from(text, start) + 1
    return Progress(line, row, filled, n_labels, n_queries, lowest, highest)


@inlined
def _label(text: int, start: int) -> Any:
    """Return where the label ends that starts here, a hash of it, and whether it is one."""
    stop, key = start, FNV_START
    byte = byte_at(text, stop)
    while byte > SPACE and byte not in (COLON, HASH):
        key = (key ^ U(byte)) * FNV_PRIME
        stop += 1
        byte = byte_at(text, stop)
    return stop, key ^ (key >> U(32)), ends_token(byte)


@inlined
def _same(text: int, start: int, stop: int, other_start: int, other_stop: int) -> bool:
    """Whether two tokens are the same bytes."""
    if stop - start != other_stop - other_start:
        return False
    for k in range(stop - start):
        if byte_at(text, start + k) != byte_at(text, other_start + k):
            return False
    return True


@inlined
def _query(text: int, position: int) -> Any:
    """Return where the query ends that may follow, its number, and whether all is usual."""
    start = behind_blanks(text, position)
    for k in range(4):
        if byte_at(text, start + k) != QID[k]:
            return position, NO_QUERY, True
    stop, query = behind_digits(text, start + 4, U(0))
    usual = 0 < stop - start - 4 <= 18 and ends_token(byte_at(text, stop))
    return stop, np.int64(query), usual


@compiled
def _sorted(indices: NDArray[np.int32], data: NDArray[Any], start: int, stop: int) -> bool:
    """Sort the entries of a row by feature; return whether no feature stands twice.

    Shell's sort: it needs no memory of its own, and is insertion for short rows.
    """
    gap = 1
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for here in range(start + gap, stop):
            index, value, there = indices[here], data[here], here
            while there - gap >= start and indices[there - gap] > index:
                indices[there], data[there] = indices[there - gap], data[there - gap]
                there -= gap
            indices[there], data[there] = index, value
        gap //= 3
    twins = 0
    for here in range(start + 1, stop):
        twins += indices[here] == indices[here - 1]
    return twins == 0
