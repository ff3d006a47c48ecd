"""Arrays of bytes in IDX files, the format of the MNIST digits."""

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sources import opened
from rosenblatt.errors import InputError

UNSIGNED_BYTES = 0x08
MOST_VALUES = 1 << 31


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Return the array that a file holds, packed or not.

    The file begins with two zero bytes, the type of the values (here always unsigned bytes), the
    number of dimensions, and the length of each as a big-endian 32-bit integer; then the values.

    Raises
    ------
    InputError
        Where the file cannot be read or is no IDX file of bytes, with the reason.
    """
    with opened(path) as source:
        head = _take(source, 4)
        if len(head) < 4 or head[:2] != b"\0\0":
            msg = f"{path} is no IDX file: it begins with {head!r}, not with two zero bytes."
            raise InputError(msg)
        if head[2] != UNSIGNED_BYTES:
            msg = f"{path} holds values of type 0x{head[2]:02x}; only bytes (0x08) are read."
            raise InputError(msg)
        sizes = _take(source, 4 * head[3])
        if len(sizes) < 4 * head[3]:
            msg = f"{path} ends within its header."
            raise InputError(msg)
        shape = tuple(np.frombuffer(sizes, ">u4").tolist())
        if not shape or prod(shape) > MOST_VALUES:
            msg = f"{path} says that its shape is {shape}, which cannot be: is it damaged?"
            raise InputError(msg)
        values = _take(source, prod(shape))
        if len(values) < prod(shape):
            msg = f"{path} holds {len(values):,} values; its header promises {prod(shape):,}."
            raise InputError(msg)
        if _take(source, 1):
            msg = f"{path} goes on after the {prod(shape):,} values that its header promises."
            raise InputError(msg)
    return np.frombuffer(values, np.uint8).reshape(shape)


def _take(source: Any, size: int) -> bytearray:
    """Return the next bytes, fewer where the file ends."""
    taken, filled = bytearray(size), 0
    with memoryview(taken) as view:
        while filled < size and (count := source.readinto(view[filled:])):
            filled += count
    return taken[:filled]
