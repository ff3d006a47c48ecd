"""Machine code on disk: records that prove themselves whole, and the file of them in the package.

Standard library only: the build of the wheel reads this file by itself.
"""

import hashlib
import json
import struct
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "machine_code"  # of the package: a file for each processor
MAGIC = b"rosenblatt machine code 1\n"
HEAD = struct.Struct("<I32s64s")  # length of the index, digest, digest of the sources
ENTRY = struct.Struct("<39sQI")  # of the index: symbol, where its record stands, its length

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
