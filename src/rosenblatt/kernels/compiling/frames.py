"""Frames: the words by which a call passes its arguments and a kernel its result."""

import ctypes
from typing import Any, NamedTuple

import numpy as np

MOST_WORDS = 256
LONGEST_KEY = 192
RESULT_WORDS = 4  # of a result at most, where a frame is used again
DEEPEST = 8  # tuples within tuples

KNOWN_OBJECTS = (np.ndarray, float, int, bool, True, type(None), np.int64, np.float64, np.uint64)

# Where in a frame things stand, in bytes.
WORDS = 0  # arguments; the result takes their place
KEY = WORDS + 8 * MOST_WORDS
KNOWN = KEY + 8 * LONGEST_KEY  # the addresses of the types below
STACK = KNOWN + 8 * len(KNOWN_OBJECTS)  # three words for each tuple that a value is within
SIZE = STACK + 24 * DEEPEST

# What of an array's flags belongs to its form: C, F, aligned and writeable.
FLAGS_OF_FORM = 0x1 | 0x2 | 0x100 | 0x400


class CallFrame(NamedTuple):
    """Room for one call at a time."""

    address: int
    room: Any


def new_frame() -> CallFrame:
    """Return a frame that nobody else has."""
    room = ctypes.create_string_buffer(SIZE)
    known = (ctypes.c_int64 * len(KNOWN_OBJECTS)).from_buffer(room, KNOWN)
    known[:] = [id(thing) for thing in KNOWN_OBJECTS]
    return CallFrame(ctypes.addressof(room), room)
