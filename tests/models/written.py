"""Model files in memory, also changed ones whose checksum matches again."""

import hashlib
import io

from rosenblatt.models.file import write_to
from rosenblatt.models.model import Model


def written(model: Model) -> bytes:
    """Return the bytes that are written for a model."""
    file = io.BytesIO()
    write_to(file, model)
    return file.getvalue()


def summed(data: bytes) -> bytes:
    """Return the bytes of a file with the checksum that they should have, if it has one at all."""
    place = data.find(b'"checksum":"') + len(b'"checksum":"')
    if place < len(b'"checksum":"'):
        return data
    zeros = data[:place] + b"0" * 64 + data[place + 64 :]
    return data[:place] + hashlib.sha256(zeros).hexdigest().encode() + data[place + 64 :]
