"""Files and standard input: their bytes, unpacked, and their text as UTF-8 in blocks of lines."""

import codecs
import glob
import io
import os
import re
import sys
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.parameters import check_setting
from rosenblatt.wording import nearest, word_list

if TYPE_CHECKING:
    from zipfile import ZipInfo

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
XZ = b"\xfd7zXZ"
BZIP2 = tuple(b"BZh%d1AY&SY" % level for level in range(1, 10))
PACKED_MARKS = (GZIP, ZSTANDARD, XZ, *BZIP2)
ZIP = b"PK\x03\x04"
DEFLATE64, LOCKED = 9, 1  # of a file in it: the method, and the flag of a password
HIDDEN = re.compile(r"(?:^|/)(?:__MACOSX/|\.)")  # what systems add to an archive
ZIPPED_KINDS = {  # by a part of the name of a file in it
    "xl/workbook": "a spreadsheet; save its table as CSV",
    "word/document": "a text document; save its table as CSV",
    "META-INF/manifest": "an office document; save its table as CSV",
    ".npy": "an archive of NumPy arrays; write the array with numpy.save, and its labels beside it",
    "data.pkl": "a saved PyTorch object, which is never loaded; write its table as Parquet or CSV",
}
PEEKED_BYTES = 1 << 16  # enough to tell a format by
Source = str | os.PathLike[str]
Paths = Source | Sequence[Source]
NEWLINE, RETURN = ord("\n"), ord("\r")
PADDING = 64  # bytes behind the text that a scan may read
USUAL_LINE = 1 << 14  # bytes
LONGEST_LINE = 1 << 28  # bytes, so that a file without newlines cannot take all memory
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # with which some programs begin UTF-8 text
WIDE_MARKS = {  # of text of 32 and 16 bits a character; the longer ones come first
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


class StoredBytes(io.RawIOBase):
    """The stored bytes of a file or a pipe, counted; those that were looked at come again."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        self.raw, self.name = raw, name
        self._kept = bytearray()
        self.restart(keep=True)
        # Of text the first byte is enough to know that it is not packed, and need not wait for more
        while wanted := [m for m in PACKED_MARKS if m.startswith(self._kept)]:
            if not self.readinto(bytearray(max(map(len, wanted)) - len(self._kept))):
                break
        self.head = bytes(self._kept)
        self.restart(keep=False)

    def restart(self, *, keep: bool) -> None:
        """Begin again at the first byte; with ``keep`` also keep the bytes that follow."""
        self.n_bytes = 0
        self._place = 0  # in what is kept; beyond its end the stream itself is read
        self._keeps = keep

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as one read does, first with what was kept."""
        view = memoryview(buffer).cast("B")
        piece = self._kept[self._place : self._place + len(view)]
        if piece:
            view[: len(piece)] = piece
            count = len(piece)
        else:
            count = self._fill(view)
            if self._keeps:
                self._kept += view[:count]
        self._place += count
        self.n_bytes += count
        return count

    def _fill(self, view: memoryview) -> int:
        try:
            count = self.raw.readinto(view)  # type: ignore[attr-defined]  # all that open() gives
        except OSError as error:
            raise unreadable(self.name, error) from error
        except zip_faults() as error:
            raise damaged(self.name, error) from error
        if count is None:
            raise InputError(f"{self.name} does not wait for its data; open it in blocking mode.")
        return int(count)


class ByteSource:
    """The bytes of a file after unpacking.

    Whether and how it is packed is told by its first bytes, not by its name: so standard input may
    be packed, and a file that was unpacked on its way is read though it is still called .gz.
    """

    def __init__(self, stored: StoredBytes) -> None:
        self.name = stored.name
        self.ends_with_return = False  # whether a carriage return ends lines, as on the first Macs
        self.stored = stored
        self._stream: Any = stored
        self._damages: tuple[type[Exception], ...] = ()  # what the unpacking raises
        if stored.head.startswith(GZIP):
            self._stream, self._damages = _gunzip(stored)
        elif stored.head.startswith(ZSTANDARD):
            self._stream, self._damages = _unzstd(stored)
        elif stored.head.startswith(XZ):
            lzma = import_module("lzma")
            self._stream, self._damages = lzma.LZMAFile(stored), (EOFError, lzma.LZMAError)
        elif stored.head.startswith(BZIP2):
            self._stream = import_module("bz2").BZ2File(stored)
            self._damages = (EOFError, OSError, ValueError)

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file have been taken, before unpacking."""
        return self.stored.n_bytes

    def readinto(self, view: memoryview) -> int:
        """Fill the buffer as far as is ready; return by how much, 0 at the end."""
        try:
            return self._stream.readinto(view) or 0
        except self._damages as error:
            raise damaged(self.name, error) from error


def unreadable(name: str, error: OSError) -> InputError:
    """Return the error that says that a file cannot be read, and why."""
    return InputError(f"{name} cannot be read: {error.strerror or error}.")


def damaged(name: str, error: Exception, what: str = "damaged") -> InputError:
    """Return the error that says that a file is damaged, and how that was found out."""
    return InputError(f"{name} is {what}: {str(error)[:200].rstrip('.')}.")


def name_of(source: Source) -> str:
    """Return what messages call a source."""
    return "standard input" if source == "-" else os.fspath(source)


@contextmanager
def opened(source: Source) -> Iterator[ByteSource]:
    """Open a file, or standard input for ``-``; what ``peek`` has seen of it comes again."""
    stored = _stored(source, keep=False)
    try:
        yield ByteSource(stored)
    finally:
        if source != "-":
            stored.raw.close()


def peek(source: Source, size: int = PEEKED_BYTES, *, prompt: bool = False) -> bytes:
    """Return the first ``size`` bytes after unpacking, or all if there are fewer.

    With ``prompt`` the first line is enough. Of standard input and of named pipes nothing is lost:
    the next reader gets the same bytes again.
    """
    stored, head, filled = _stored(source, keep=True), bytearray(size), 0
    try:
        stream, view = ByteSource(stored), memoryview(head)
        while filled < size and (count := stream.readinto(view[filled:])):
            filled += count
            if prompt and b"\n" in head[:filled]:
                break
        return bytes(view[:filled])
    finally:
        if source == "-" or not Path(source).is_file():  # its bytes come once
            _looked_at[os.fspath(source)] = stored
        else:
            stored.raw.close()


_looked_at: dict[str, StoredBytes] = {}  # pipes, by the name under which they will be opened


def _stored(source: Source, *, keep: bool) -> StoredBytes:
    """Return the bytes of a source from the first on, those of a pipe that were looked at, too."""
    stored = _looked_at.pop(os.fspath(source), None)
    if stored is None or (source == "-" and stored.raw is not _standard_input()):
        stored = StoredBytes(_raw(source), name_of(source))
    stored.restart(keep=keep)
    return stored


def _raw(source: Source) -> Any:
    """Return the stream of stored bytes: the file, the one in a zip archive, or standard input."""
    if source == "-":
        return _standard_input()
    try:
        member = zip_member(source)
        if member is not None:
            from zipfile import ZipFile  # slow to import, and wanted by few

            return ZipFile(source).open(member)
        return Path(source).open("rb", buffering=0)
    except OSError as error:
        raise unreadable(name_of(source), error) from error


def zip_faults() -> tuple[type[Exception], ...]:
    """Return what is raised where a zip archive is damaged, or packed in a way that is not read."""
    zipfile: Any = import_module("zipfile")
    of_lzma = getattr(zipfile.lzma, "LZMAError", EOFError)  # a Python may be made without lzma
    return zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error, ValueError, of_lzma


def zip_member(source: Source) -> "ZipInfo | None":
    """Return the one file that a zip archive holds; None where this is no zip archive."""
    path, name = Path(source), name_of(source)
    if source == "-" or not path.is_file():
        return None
    with path.open("rb") as file:
        if file.read(4) != ZIP:
            return None
        from zipfile import ZipFile

        try:
            archive = ZipFile(file)
            entries = archive.infolist()
            files = [one for one in entries if not one.is_dir() and not HIDDEN.search(one.filename)]
            if len(files) == 1 and not files[0].flag_bits & LOCKED:
                archive.open(files[0]).close()
        except NotImplementedError:
            how = "with Deflate64" if files[0].compress_type == DEFLATE64 else "in an unusual way"
            msg = f"{name} is a zip archive packed {how}, which is not read: unpack it yourself."
            raise InputError(msg) from None
        except zip_faults() as error:
            raise damaged(name, error, "a damaged zip archive") from None
    for begin, what in ZIPPED_KINDS.items():
        if any(begin in entry.filename for entry in entries):
            raise InputError(f"{name} is {what}.")
    if len(files) == 1 and not files[0].flag_bits & LOCKED:
        return files[0]
    what = "locked by a password" if len(files) == 1 else f"a zip archive of {len(files)} files"
    names = word_list((repr(one.filename) for one in files), 5)
    raise InputError(f"{name} is {what} ({names}): unpack it and name a file.")


def stored_size(name: Source) -> int:
    """Return the size of a file as ``bytes_read`` counts it: that of a zip archive unpacked."""
    if name == "-":
        return 0
    member = zip_member(name)
    return Path(name).stat().st_size if member is None else member.file_size


def _standard_input() -> Any:
    # Not through Python's buffer: a thread that waits in it would hinder the interpreter's end.
    if sys.stdin is None:
        raise InputError("Standard input is closed; name a file, or pipe data into the command.")
    stdin: Any = sys.stdin.buffer
    return getattr(stdin, "raw", stdin)


def _gunzip(stored: StoredBytes) -> tuple[Any, tuple[type[Exception], ...]]:
    """Unpack gzip by ISA-L where it is installed, else by the standard library.

    ISA-L takes a third of the time: 400 to 1130 MB/s of text, against 120 to 410 by zlib.
    """
    if find_spec("isal"):
        from isal.igzip import IGzipFile
        from isal.igzip_lib import IsalError

        stream: Any = IGzipFile(fileobj=stored)  # type: ignore[no-untyped-call]
        return stream, (EOFError, OSError, IsalError)  # type: ignore[return-value]  # wrong stub
    from gzip import GzipFile

    return GzipFile(fileobj=stored), (EOFError, OSError, zlib.error)


def _unzstd(stored: StoredBytes) -> tuple[Any, tuple[type[Exception], ...]]:
    """Unpack Zstandard as Python 3.14 does, or by the same code made for older ones.

    The package ``zstandard`` would take a file that was cut off for one that has ended.
    """
    if sys.version_info >= (3, 14):
        from compression import zstd
    elif find_spec("backports") and find_spec("backports.zstd"):
        from backports import zstd
    else:
        msg = f"{stored.name} is packed with Zstandard; to read it, pip install backports.zstd."
        raise InputError(msg)
    return zstd.ZstdFile(stored), (EOFError, OSError, zstd.ZstdError)


def expand(paths: Paths) -> list[str]:
    """Return the files that paths name, in their order; those of a pattern sorted by name.

    A path is a file, a pattern such as ``part-*.csv.gz`` (``**`` reaches into folders below), or
    ``-`` for standard input, which can be read only once. What exists under just the given name is
    taken for a file, whatever characters the name has. Raises InputError where there is none.
    """
    names = [
        os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)
    ]
    if names.count("-") > 1:
        raise InputError("Standard input (-) can be read only once; it is given more than once.")
    return [file for name in names for file in _files(name)]


def _files(path: str) -> list[str]:
    if path == "-":
        return [path]
    if not path:
        raise InputError("The name of a file must not be empty.")
    place = Path(path)
    try:
        is_folder, exists = place.is_dir(), place.exists()
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise unreadable(path, error) from None
    if is_folder:
        msg = f"{path} is a folder; name its files, for instance by '{place / '*.csv'}'."
        raise InputError(msg)
    if exists:
        return [path]
    if glob.has_magic(path):
        found = sorted(file for file in glob.glob(path, recursive=True) if Path(file).is_file())  # noqa: PTH207  # keeps the path as the user wrote it
        if not found:
            raise InputError(f"No file matches {path}.")
        return found
    there = [one.name for one in place.parent.iterdir()] if place.parent.is_dir() else []
    meant = nearest(place.name, there)
    advice = "" if meant is None else f" Did you mean {place.with_name(meant)}?"
    raise InputError(f"There is no file {path}.{advice}")


def kept_names(names: Sequence[str]) -> list[str]:
    """Return names of files as a model keeps them: below this folder with their path, else without.

    >>> kept_names(["-", "data/a.csv", "/somewhere/else/b.csv"])
    ['-', 'data/a.csv', 'b.csv']
    """
    here, kept = Path.cwd(), []
    for name in names:
        path = Path(name)
        own = path.relative_to(here) if path.is_relative_to(here) else path.name
        kept.append(str(own) if path.is_absolute() else name)
    return kept


def places_digest(names: Sequence[str]) -> str:
    """Return what tells files of the same names in other folders apart, and not where they are."""
    places = "\0".join(str(Path(name).resolve()) for name in names)
    return sha256(places.encode("utf-8", "surrogateescape")).hexdigest()[:16]


class TextBlock(NamedTuple):
    """Whole lines, or rows of a table: text[:length], which ends in a newline, and padding."""

    text: NDArray[np.uint8]
    length: int
    offset: int  # bytes of text before this block
    bytes_read: int  # of the file, packed as it may be, up to the end of the block or a little more
    quotes: NDArray[np.int64] | None = None  # of rows: where there are quotes that enclose fields
    regular: bool = True  # whether each of them opens, closes or doubles another

    def tobytes(self) -> bytes:
        """Return the text."""
        return self.text[: self.length].tobytes()


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
                raise InputError(f"{source.name} has a line of more than {LONGEST_LINE >> 20} MiB.")
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
    if is_utf_8(encoding):
        marked = (name for mark, name in WIDE_MARKS.items() if head.startswith(mark))
        encoding = next(marked, encoding)
    if not is_utf_8(encoding):
        head = head.decode(encoding, "ignore").encode()
    return head, encoding


class _Transcoded(ByteSource):
    def __init__(self, source: ByteSource, encoding: str, errors: str) -> None:
        self.name, self.stored = source.name, source.stored
        self.ends_with_return = False
        self._source = source
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._piece = bytearray(1 << 16)
        self._ready = b""  # UTF-8 that there was no room for
        self._n_decoded = 0
        self._ended = False

    def readinto(self, view: memoryview) -> int:
        """Fill the buffer as far as is ready; return by how much, 0 at the end."""
        while not self._ready and not self._ended:
            count = self._source.readinto(memoryview(self._piece))
            self._ended = count == 0
            try:
                text = self._decoder.decode(bytes(self._piece[:count]), final=self._ended)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{self.name} is not {self._encoding} text: byte"
                    f" 0x{error.object[error.start]:02x} at {self._n_decoded + error.start:,};"
                    f" name another {Parameter('encoding')}, or replace what cannot be read with "
                    f"{Parameter('encoding_errors', 'replace')}."
                ) from None
            self._n_decoded += count
            self._ready = text.encode("utf-8", "replace")  # half of a character becomes ?
        piece = self._ready[: len(view)]
        view[: len(piece)] = piece
        self._ready = self._ready[len(piece) :]
        return len(piece)


def _room_for(size: int) -> NDArray[np.uint8]:
    return np.empty(size + PADDING, np.uint8)  # a bytearray would be set to zeros first


def _fill(source: ByteSource, text: NDArray[np.uint8], *, prompt: bool) -> int:
    """Read once, or until the array is full or the stream ends; return by how much."""
    filled = 0
    with memoryview(text) as view:  # type: ignore[arg-type]  # arrays are buffers, but not by type
        while filled < len(view) and (count := source.readinto(view[filled:])):
            filled += count
            if prompt:
                break
    return filled


def _behind_last_newline(text: NDArray[np.uint8], start: int, stop: int) -> int:
    for low in (max(start, stop - USUAL_LINE), start):
        found = text[low:stop].tobytes().rfind(b"\n")
        if found >= 0:
            return low + found + 1
    return 0


def _block(text: NDArray[np.uint8], length: int, offset: int, source: ByteSource) -> TextBlock:
    start = len(BYTE_ORDER_MARK) if offset == 0 and text[:3].tobytes() == BYTE_ORDER_MARK else 0
    return TextBlock(text[start:], length - start, offset, source.bytes_read)
