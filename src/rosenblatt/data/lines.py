"""Text of a stream of bytes: converted to UTF-8 where it is not, cut into blocks of whole lines."""

import codecs
from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sources import ByteSource, Source, opened, peek
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.parameters import check_setting

NEWLINE, RETURN = ord("\n"), ord("\r")
PADDING = 64  # bytes behind the text that a scan may read
LONGEST_LINE = 1 << 28  # bytes, so that a file without newlines cannot take all memory
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # with which some programs begin UTF-8 text
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


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
        if source.ends_with_return:
            new = text[searched:filled]
            new[new == RETURN] = NEWLINE
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


def check_encoding(encoding: str, errors: str) -> None:
    """Raise InputError where an encoding is not known, or what to do with its errors."""
    try:
        codecs.lookup(encoding)
        "".encode(encoding)  # not of text are base64 and the like
    except (LookupError, ValueError, TypeError):
        msg = f"encoding must name a text encoding, such as utf-8 or latin-1; got {encoding!r}."
        raise InputError(msg) from None
    check_setting("encoding_errors", errors)


def is_utf_8(encoding: str) -> bool:
    """Whether a name of an encoding means UTF-8."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")


def text_lines(
    source: Source,
    size: int,
    encoding: str = "utf-8",
    errors: str = "strict",
    *,
    prompt: bool = False,
) -> Generator[TextBlock, None, None]:
    """Yield the lines of a file as UTF-8, whatever its encoding is.

    What claims to be UTF-8 is not looked at, unless errors are to be replaced: whoever parses it
    finds what is none, and on which line. UTF-16 is known by its first bytes. Lines end with a
    newline, or in a text whose first 64 KiB have none, with a carriage return.
    """
    head, encoding = head_of(source, encoding, prompt=prompt)
    with opened(source) as stream:
        converts = not is_utf_8(encoding) or errors == "replace"
        text = _Transcoded(stream, encoding, errors) if converts else stream
        text.ends_with_return = b"\r" in head and b"\n" not in head
        yield from whole_lines(text, size, prompt=prompt)


def head_of(source: Source, encoding: str, *, prompt: bool) -> tuple[bytes, str]:
    """Return the first bytes of a file as UTF-8, and the encoding that it has."""
    head = peek(source, prompt=prompt)
    if is_utf_8(encoding) and head.startswith(UTF_16_MARKS):
        encoding = "utf-16"
    if not is_utf_8(encoding):
        head = head.decode(encoding, "ignore").encode()
    return head, encoding


class _Transcoded(ByteSource):
    """A stream of text converted to UTF-8."""

    def __init__(self, source: ByteSource, encoding: str, errors: str) -> None:
        self.name = source.name
        self.ends_with_return = False
        self._source = source
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._piece = bytearray(1 << 16)
        self._ready = b""  # UTF-8 that there was no room for
        self._n_decoded = 0
        self._ended = False

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file have been taken, before unpacking."""
        return self._source.bytes_read

    def readinto(self, view: memoryview) -> int:
        """Fill the buffer as far as is ready; return by how much, 0 at the end."""
        while not self._ready and not self._ended:
            count = self._source.readinto(memoryview(self._piece))
            self._ended = count == 0
            try:
                text = self._decoder.decode(bytes(self._piece[:count]), final=self._ended)
            except UnicodeDecodeError as error:
                msg = Sentence(
                    f"{self.name} is not {self._encoding} text: byte"
                    f" 0x{error.object[error.start]:02x} at {self._n_decoded + error.start:,};"
                    f" name another {Parameter('encoding')}, or replace what cannot be read with "
                    f"{Parameter('encoding_errors', 'replace')}."
                )
                raise InputError(msg) from None
            self._n_decoded += count
            self._ready = text.encode("utf-8", "replace")  # half of a character becomes ?
        piece = self._ready[: len(view)]
        view[: len(piece)] = piece
        self._ready = self._ready[len(piece) :]
        return len(piece)


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
