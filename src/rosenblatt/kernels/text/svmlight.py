"""Rows of svmlight text, compiled: all but the lines that are unusual or wrong.

Nothing here words an error. At a line that it does not understand the scan stops, and the caller
has it parsed by ``line.parse_line``; so the scan may be simple, and must only never take for usual
what is not. The text, given by its address, ends in a newline, behind which 64 more bytes may be
read: that newline is what every loop below stops at.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.text import MOST_FEATURE
from rosenblatt.kernels.text.decimals import (
    COLON,
    HASH,
    NEWLINE,
    SPACE,
    ZERO,
    decimal,
    eight_digits,
    is_blank,
    is_digit,
    marks_from,
    next_mark,
    whole_number,
)
from rosenblatt.kernels.text.words import SPAN, byte_at, count_at, word_at

U = np.uint64
QID = U(int.from_bytes(b"qid:", "little"))
FNV_START, FNV_PRIME = U(0xCBF29CE484222325), U(0x100000001B3)


class ScanProgress(NamedTuple):
    """How far a scan came."""

    position: int  # the start of the line to go on with
    n_rows: int
    n_values: int
    n_labels: int  # distinct ones
    ascending: bool  # whether the features of every row do


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


class LabelTokens(NamedTuple):
    """The distinct tokens that stand as labels: where each stands first, and what finds them.

    A slot has 1 + the number of a token, or 0; their number is a power of two, and more than half
    of them stay empty.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    slots: NDArray[np.int32]


@compiled
def scan(
    text: int,
    length: int,
    base: int,
    rows: Changed[tuple[NDArray[Any], ...]],  # data, indices, indptr and labels
    tokens: Changed[LabelTokens],
    progress: ScanProgress,
) -> Any:
    """Write the rows of the text from ``progress`` on; return the progress made.

    Its position is the length of the text, or the start of a line that is not usual. The label of
    that line has then been written, if it has a label, and nothing else of it.

    A label is written as the number of its token among the distinct ones, in order of appearance.
    """
    data, indices, indptr, labels = rows
    line, row, filled, n_labels, ascending = progress
    indptr[0] = 0
    while line < length:
        start = _behind_blanks(text, line)
        if byte_at(text, start) == NEWLINE or byte_at(text, start) == HASH:
            line = newline_from(text, start) + 1
            continue

        stop, key, usual = _label(text, start)
        if not usual:
            break
        labels[U(row)], n_labels = _token_number(text, start, stop, key, tokens, n_labels)

        stop, usual = _behind_query(text, stop)
        if not usual:
            break
        place, previous = filled, -1
        span, marks = marks_from(text, stop)
        end, span, marks = next_mark(text, span, marks)
        while True:
            start = end + 1
            while is_blank(byte_at(text, end)) and not is_digit(byte_at(text, start)):
                end, span, marks = next_mark(text, span, marks)
                start = end + 1
            if not is_blank(byte_at(text, end)):
                break
            feature, value, end, span, marks = _entry(text, start, span, marks)
            if not abs(value) < np.inf:  # NaN is not, either
                usual = False
                break
            ascending &= feature > previous
            previous = feature
            indices[U(place)] = feature - base
            data[U(place)] = value
            place += 1
        if not usual or (byte_at(text, end) != NEWLINE and byte_at(text, end) != HASH):
            break

        row, filled = row + 1, place
        indptr[U(row)] = filled
        line = newline_from(text, end) + 1
    return ScanProgress(line, row, filled, n_labels, ascending)


@inlined
def _behind_blanks(text: int, position: int) -> int:
    while is_blank(byte_at(text, position)):
        position += 1
    return position


@inlined
def _ends_token(byte: int) -> bool:
    return is_blank(byte) or byte in (NEWLINE, HASH)


@inlined
def _label(text: int, start: int) -> Any:
    """Return where the label ends that starts here, a hash of it, and whether it is one."""
    stop, key = start, FNV_START
    byte = byte_at(text, stop)
    while byte > SPACE and byte not in (COLON, HASH):
        key = (key ^ U(byte)) * FNV_PRIME
        stop += 1
        byte = byte_at(text, stop)
    return stop, key ^ (key >> U(32)), _ends_token(byte)


@inlined
def _token_number(
    text: int, start: int, stop: int, key: Any, tokens: LabelTokens, n_tokens: int
) -> Any:
    """Return the number of a token, which may be new, and how many there are."""
    last_slot = U(len(tokens.slots) - 1)
    slot = key & last_slot
    while tokens.slots[slot] != 0:
        number = tokens.slots[slot] - 1
        if _same(text, tokens.starts[U(number)], tokens.stops[U(number)], start, stop):
            return number, n_tokens
        slot = (slot + U(1)) & last_slot
    tokens.starts[U(n_tokens)], tokens.stops[U(n_tokens)] = start, stop
    tokens.slots[slot] = n_tokens + 1
    return n_tokens, n_tokens + 1


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
def _behind_query(text: int, position: int) -> Any:
    """Return where the query ends that may follow, which is not used, and whether it is usual."""
    start = _behind_blanks(text, position)
    if word_at(text, start) & U(0xFFFFFFFF) != QID:
        return position, True
    start += 4
    stop = start
    while is_digit(byte_at(text, stop)) and stop - start < 18:
        stop += 1
    return stop, stop > start and _ends_token(byte_at(text, stop))


@inlined
def _entry(text: int, start: int, span: int, marks: Any) -> Any:
    """Read feature:value from a digit on; the value is NaN where that is not usual.

    Returns them, the mark that ends the value, and the span and the marks that remain.
    """
    colon, span, marks = next_mark(text, span, marks)
    if byte_at(text, colon) != COLON or colon - start > 10:
        return 0, np.nan, colon, span, marks
    if colon - start <= 8:
        feature = np.int64(eight_digits(text, start, colon - start))
    else:
        feature = np.int64(whole_number(text, start, colon - start))
        if feature > MOST_FEATURE:
            return feature, np.nan, colon, span, marks
    end, span, marks = next_mark(text, span, marks)
    if end - colon == 2 and byte_at(text, end) <= SPACE:  # one digit: a9a is read 1.7 times as fast
        return feature, np.float64(byte_at(text, colon + 1) - ZERO), end, span, marks
    value, end, span, marks = decimal(text, colon + 1, end, span, marks)
    return feature, value, end, span, marks
