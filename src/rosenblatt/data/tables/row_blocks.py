"""Separated text cut into blocks of whole rows, where a quoted field may go on for many lines."""

from collections.abc import Generator, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.blocks import LONGEST_LINE, Block
from rosenblatt.data.tables.fields import NEWLINE, QUOTE, Dialect, FieldError, row_at

Places = NDArray[np.int64]


class RowBlock(NamedTuple):
    """Whole rows, as far as the text is what it should be."""

    text: bytes
    quotes: Places | None  # where quotes stand; None where there are none, or they mean nothing
    regular: bool  # whether each quote opens, closes or doubles another, so that they can be paired
    bytes_read: int  # of the file


def whole_rows(blocks: Iterable[Block], dialect: Dialect) -> Generator[RowBlock, None, None]:
    """Yield the rows of blocks of lines, cut anew where a cut was inside of a quoted field."""
    held, waiting = b"", b""  # the beginning of a row, and what has come since it was looked at
    bytes_read = 0
    for block in blocks:
        bytes_read = block.bytes_read
        waiting += memoryview(block.text)[: block.length]  # type: ignore[arg-type]  # as buffers
        if len(waiting) < len(held) and len(held) >= len(block.text):
            continue  # else a field without an end would be looked through again for every block
        text, waiting = (held + waiting if held else waiting), b""
        whole = row_block(text, dialect, bytes_read)
        cut = _behind_last_row(whole, dialect)
        held = text[cut:]
        if cut == len(text):
            yield whole
        elif cut:
            yield row_block(text[:cut], dialect, bytes_read)
        if len(held) > LONGEST_LINE:
            break
    if held or waiting:
        yield row_block(held + waiting, dialect, bytes_read)


def places_of(byte: int, letters: NDArray[np.uint8]) -> Places:
    """Return where a byte stands in a text."""
    return np.flatnonzero(letters == byte)


def row_block(text: bytes, dialect: Dialect, bytes_read: int) -> RowBlock:
    """Return a text with its quotes."""
    if not dialect.quoting or b'"' not in text:
        return RowBlock(text, None, regular=True, bytes_read=bytes_read)
    letters = np.frombuffer(text, np.uint8)
    quotes = places_of(QUOTE, letters)
    regular = _are_regular(letters, quotes, ord(dialect.separator))
    return RowBlock(text, quotes, regular, bytes_read)


def _are_regular(letters: NDArray[np.uint8], quotes: Places, separator: int) -> bool:
    """Whether every other quote begins a field and the ones between end it.

    A doubled quote ends a field and at once begins one. The text ends in a newline.
    """
    opening, closing = quotes[::2], quotes[1::2]
    before = letters[opening - 1]  # of the first letter of all: the last one, a newline
    after, next_but_one = letters[closing + 1], letters[np.minimum(closing + 2, len(letters) - 1)]
    opens = (before == separator) | (before == NEWLINE) | (before == QUOTE)
    closes = (after == separator) | (after == NEWLINE) | (after == QUOTE)
    closes |= (after == ord("\r")) & (next_but_one == NEWLINE)
    return bool(opens.all() and closes.all())


def _behind_last_row(block: RowBlock, dialect: Dialect) -> int:
    """Return the place behind the last row that is whole."""
    text, quotes = block.text, block.quotes
    if quotes is None:
        return len(text)
    if not block.regular:
        return _behind_last_row_read(text, dialect)
    if len(quotes) % 2 == 0:
        return len(text)
    for k in range(len(quotes) - 1, -1, -2):  # opening quotes, from the one that is not closed
        start = int(quotes[k - 1]) + 1 if k else 0
        newline = text.rfind(b"\n", start, int(quotes[k]))
        if newline >= 0:
            return newline + 1
    return 0


def _behind_last_row_read(text: bytes, dialect: Dialect) -> int:
    place = 0
    try:
        while place < len(text):
            place = row_at(text, place, dialect)[1]
    except FieldError as error:
        return place if error.unclosed else len(text)
    return place
