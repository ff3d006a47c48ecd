"""Text at the very end of the memory that may be read: a read beyond kills the process."""

import ctypes
import mmap
import sys

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sources import PADDING

NOTHING = 0  # PROT_NONE


class GuardedText:
    """Room for text, with the padding that it needs and then a page that nobody may touch."""

    def __init__(self, room: int) -> None:
        pages = -(-(room + PADDING) // mmap.PAGESIZE)
        self._size = pages * mmap.PAGESIZE
        self._map = mmap.mmap(-1, self._size + mmap.PAGESIZE)
        self._bytes = np.frombuffer(self._map, np.uint8)
        if sys.platform == "linux":
            guard = ctypes.c_void_p(self._bytes.ctypes.data + self._size)
            if ctypes.CDLL(None).mprotect(guard, ctypes.c_size_t(mmap.PAGESIZE), NOTHING):
                message = "mprotect failed"
                raise OSError(message)

    def hold(self, text: bytes, padding: bytes = b"1" * PADDING) -> NDArray[np.uint8]:
        """Return an array of the text and the padding, which end where the guarded page starts."""
        start = self._size - PADDING - len(text)
        held = self._bytes[start : self._size]
        held[:] = np.frombuffer(text + padding, np.uint8)
        return held
