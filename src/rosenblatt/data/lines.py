"""A stream of bytes cut into blocks of whole lines."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sources import ByteSource
from rosenblatt.errors import InputError

NEWLINE = ord("\n")
PADDING = 64  # bytes behind the text that a scan may read
LONGEST_LINE = 1 << 28  # bytes, so that a file without newlines cannot take all memory
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # with which some programs begin UTF-8 text


class TextBlock(NamedTuple):
    """Whole lines: text[:length], which ends in a newline, and padding."""

    text: NDArray[np.uint8]
    length: int
    offset: int  # bytes of text before this block
    bytes_read: int  # of the file, packed as it may be, up to the end of the block or a little more


def whole_lines(source: ByteSource, size: int, *, prompt: bool = False) -> Iterator[TextBlock]:
    """Yield the lines of a stream in blocks of about ``size`` bytes, or of one longer line.

    Reading is one copy into memory of our own rather than a map of the file: a mapped file that
    someone shortens meanwhile kills the process. With ``prompt`` a block is what has arrived.
    """
    text, filled, offset = _room_for(size), 0, 0
    while True:
        room = len(text) - PADDING
        arrived = _fill(source, text[filled:room], prompt=prompt)
        searched, filled = filled, filled + arrived
        if arrived == 0 and filled < room:
            if filled:
                text[filled] = NEWLINE
                yield _block(text, filled + 1, offset, source)
            return
        cut = _behind_last_newline(text, searched, filled)
        if cut:
            rest = text[cut:filled]
            following = _room_for(max(size, 2 * len(rest)))
            following[: len(rest)] = rest
            yield _block(text, cut, offset, source)
            text, filled, offset = following, len(rest), offset + cut
        elif filled == room:
            if room >= LONGEST_LINE:
                msg = f"{source.name} has a line of more than {LONGEST_LINE >> 20} MiB."
                raise InputError(msg)
            text = np.concatenate([text[:room], _room_for(room)])


def _room_for(size: int) -> NDArray[np.uint8]:
    return np.empty(size + PADDING, np.uint8)  # a bytearray would be set to zeros first


def _fill(source: ByteSource, text: NDArray[np.uint8], *, prompt: bool) -> int:
    """Read into the array until it is full or the stream ends; return by how much.

    With ``prompt`` one read is enough.
    """
    filled = 0
    with memoryview(text) as view:  # type: ignore[arg-type]  # arrays are buffers, but not by type
        while filled < len(view) and (count := source.readinto(view[filled:])):
            filled += count
            if prompt:
                break
    return filled


def _behind_last_newline(text: NDArray[np.uint8], start: int, stop: int) -> int:
    """Return the place behind the last newline in text[start:stop], or 0."""
    window = 1 << 12  # bytes, from the end backwards; lines are rarely longer
    while start < stop:
        low = max(start, stop - window)
        found = text[low:stop].tobytes().rfind(b"\n")
        if found >= 0:
            return low + found + 1
        stop, window = low, 4 * window
    return 0


def _block(text: NDArray[np.uint8], length: int, offset: int, source: ByteSource) -> TextBlock:
    if offset == 0 and text[:3].tobytes() == BYTE_ORDER_MARK:
        text[:3] = ord(" ")
    return TextBlock(text, length, offset, source.bytes_read)
