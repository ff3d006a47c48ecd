"""Machine code on disk: records that prove themselves whole, in the package and in the cache.

Standard library only: the build of the wheel reads this file by itself.
"""

import hashlib
import json
import os
import struct
import sys
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import time
from typing import NamedTuple

FOLDER = Path(__file__).parent / "machine_code"  # of the package: a file for each processor
MAGIC = b"rosenblatt machine code 1\n"
HEAD = struct.Struct("<I32s64s")  # length of the index, digest, digest of the sources
ENTRY = struct.Struct("<39sQI")  # of the index: symbol, where its record stands, its length
DAYS_UNUSED = 30  # after which what other sources left in the cache is removed


PACKAGE = Path(__file__).parents[2]
COMPILED_FOLDERS = ("kernels", "rules")  # where what is compiled stands


@cache
def source_digest() -> str:
    """Return a digest of every file whose code can end up inside a compiled kernel."""
    digest = hashlib.sha256()
    for folder in COMPILED_FOLDERS:
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(file.relative_to(PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


class Record(NamedTuple):
    """Machine code of one kernel for one signature, and all that says whether it fits."""

    name: str  # of the kernel, with the signature
    result: str  # the form of what it returns
    processor: str
    sources: str  # digest of the files that it was made from
    code: bytes  # an object file


def packed(record: Record) -> bytes:
    """Return a record as bytes that begin with their digest."""
    head = json.dumps(record[:4]).encode()
    body = struct.pack("<I", len(head)) + head + zlib.compress(record.code, 9)
    return MAGIC + hashlib.sha256(body).digest() + body


def unpacked(data: bytes) -> Record | None:
    """Return a record, or None where the bytes are not whole."""
    start = len(MAGIC) + 32
    body = data[start:]
    if not data.startswith(MAGIC) or hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
        return None
    (length,) = struct.unpack_from("<I", body)
    name, result, processor, sources = json.loads(body[4 : 4 + length])
    return Record(name, result, processor, sources, zlib.decompress(body[4 + length :]))


class PackageCode:
    """The machine code that came with the package, for one processor: one file with an index."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index, self._start = b"", 0
        self.sources = ""  # digest of the files that all was made from
        with suppress(OSError, struct.error), path.open("rb") as file:
            head = file.read(len(MAGIC) + HEAD.size)
            length, digest, sources = HEAD.unpack_from(head, len(MAGIC))
            index = file.read(length)
            if head.startswith(MAGIC) and hashlib.sha256(sources + index).digest() == digest:
                self._index, self._start = index, len(head) + length
                self.sources = sources.decode()

    def __len__(self) -> int:
        return len(self._index) // ENTRY.size

    def load(self, symbol: str) -> Record | None:
        """Return the record of a symbol, or None."""
        place = self._index.find(symbol.encode())
        if place < 0:
            return None
        _, offset, length = ENTRY.unpack_from(self._index, place)
        try:
            with self._path.open("rb") as file:
                file.seek(self._start + offset)
                return unpacked(file.read(length))
        except OSError:
            return None


def write_package_code(path: Path, sources: str, records: dict[str, Record]) -> None:
    """Write the machine code of a package for one processor, made from files of this digest."""
    packs = [packed(records[symbol]) for symbol in sorted(records)]
    offset, entries = 0, []
    for symbol, pack in zip(sorted(records), packs, strict=True):
        entries.append(ENTRY.pack(symbol.encode(), offset, len(pack)))
        offset += len(pack)
    index = b"".join(entries)
    digest = hashlib.sha256(sources.encode() + index).digest()
    head = MAGIC + HEAD.pack(len(index), digest, sources.encode())
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(head + index + b"".join(packs))


@cache
def package_code(processor: str) -> PackageCode:
    """Return what the package has for a processor."""
    return PackageCode(FOLDER / f"{processor}.code")


def cache_folder() -> Path | None:
    """Return the folder of this user's cache; None if it cannot be trusted.

    ``ROSENBLATT_CACHE`` names another place. What others could write to is not used: it would be
    run. Nor does the administrator leave files in a home that is not theirs.
    """
    try:
        folder = Path(os.environ.get("ROSENBLATT_CACHE") or _usual_cache_folder())
        place = folder
        while not place.exists():
            place = place.parent
        if os.name == "posix":
            status, user = place.stat(), os.geteuid()
            if place == folder and (status.st_uid != user or status.st_mode & 0o022):
                return None
            if status.st_uid not in {user, 0}:
                return None
    except (OSError, RuntimeError):  # no home at all
        return None
    return folder


def _usual_cache_folder() -> Path:
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "rosenblatt" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rosenblatt"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rosenblatt"


class UserCache:
    """The machine code that was compiled on this machine: a file for each record."""

    def __init__(self, sources: str, processor: str) -> None:
        self._sources, self._processor = sources[:16], processor

    def _path(self, symbol: str) -> Path | None:
        folder = cache_folder()
        return folder and folder / self._sources / f"{symbol}.{self._processor}.code"

    def load(self, symbol: str) -> Record | None:
        """Return the record of a symbol, or None."""
        path = self._path(symbol)
        try:
            return None if path is None else unpacked(path.read_bytes())
        except OSError:
            return None

    def save(self, symbol: str, record: Record) -> None:
        """Write a record where that can be done, whole or not at all."""
        path = self._path(symbol)
        if path is None:
            return
        part = path.with_name(f".{os.urandom(8).hex()}.part")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.write_bytes(packed(record))
            part.replace(path)
        except OSError:  # a full disk, a folder that can't be written: compiled anew next time
            with suppress(OSError):
                part.unlink(missing_ok=True)
            return
        self._tidy(path.parent)

    def _tidy(self, folder: Path) -> None:
        """Remove what other sources left behind long ago."""
        with suppress(OSError):
            for other in folder.parent.iterdir():
                unused = time() - other.stat().st_mtime
                if other != folder and unused > DAYS_UNUSED * 24 * 3600:
                    for file in other.iterdir():
                        file.unlink()
                    other.rmdir()
