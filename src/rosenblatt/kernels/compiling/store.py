"""Machine code on disk: records that prove themselves whole."""

import hashlib
import json
import struct
import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

MAGIC = b"rosenblatt machine code 1\n"

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
