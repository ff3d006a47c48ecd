"""Words of 64 bits as the processor handles them: loads, stores, masks, bits, wide products.

Numba has no names for these instructions. Text is given by the address of its first byte: numba
counts the references to an array at every call that it is passed to, even an inlined one, which
took a sixth of the time of a scan. Whoever passes an address keeps the array alive, and asks only
for bytes that are inside it. The first byte of a word is its lowest eight bits, on any machine.
"""

import struct
from ctypes import c_uint8, c_uint64, string_at
from typing import Any

import numpy as np

from rosenblatt.kernels.compiling import instruction

SPAN = 64  # bytes that a mask looks at, one bit each


def mask_of(bits: Any) -> Any:
    """Return the word whose bits are these, the first one lowest."""
    return np.packbits(bits, bitorder="little").view(np.uint64)[0]


def span_at(text: int, position: int) -> Any:
    """Return the 64 bytes from this position on."""
    return np.frombuffer(string_at(text + int(position), SPAN), np.uint8)


@instruction
def byte_at(text: int, position: int) -> int:
    """Return the byte at this position of the text."""
    return c_uint8.from_address(text + int(position)).value


@instruction
def word_at(text: int, position: int) -> Any:
    """Return the eight bytes from this position on as one word, the first byte lowest."""
    return np.uint64(c_uint64.from_address(text + int(position)).value)


@instruction
def nondigits_at(text: int, position: int) -> Any:
    """Return a mask of the 64 bytes from here on: a bit is set where no decimal digit stands."""
    span = span_at(text, position)
    return mask_of((span < ord("0")) | (span > ord("9")))


@instruction
def count_at(text: int, position: int, byte: int) -> int:
    """Return how many of the 64 bytes from here on are this one, a constant of the program."""
    return string_at(text + int(position), SPAN).count(byte)


@instruction
def trailing_zeros(word: Any) -> int:
    """Return the number of the lowest bit that is set; 64 where none is."""
    bits = int(word)
    return (bits & -bits).bit_length() - 1 if bits else 64


@instruction
def leading_zeros(word: Any) -> int:
    """Return how many bits above the highest one that is set; 64 where none is."""
    return 64 - int(word).bit_length()


@instruction
def high_product(left: Any, right: Any) -> Any:
    """Return the upper 64 of the 128 bits of a product; the lower ones are left * right."""
    return np.uint64((int(left) * int(right)) >> 64)


@instruction
def double_of_bits(word: Any) -> float:
    """Return the double whose bits these are."""
    (double,) = struct.unpack("d", struct.pack("Q", int(word)))
    return float(double)


@instruction
def word_bytes_at(text: int, position: int) -> Any:
    """Return a mask of the 64 bytes from here on: a bit is set for A-Z, a-z, 0-9 and above 127."""
    span = span_at(text, position)
    return mask_of(_letters_and_digits(span) | (span > 127))


@instruction
def symbol_bytes_at(text: int, position: int) -> Any:
    """Return a mask of the 64 bytes from here on: a bit is set for symbols and above 127."""
    span = span_at(text, position)
    return mask_of((span > 0x20) & (span != 0x7F) & ~_letters_and_digits(span))


def _letters_and_digits(span: Any) -> Any:
    letter, digit = (span | 0x20) - ord("a"), span - ord("0")  # what is below wraps around
    return (letter < 26) | (digit < 10)


@instruction
def store_word(text: int, position: int, word: Any) -> None:
    """Write eight bytes from this position on, the first one lowest in the word."""
    c_uint64.from_address(text + int(position)).value = int(word)


@instruction
def store_byte(text: int, position: int, byte: int) -> None:
    """Write one byte at this position."""
    c_uint8.from_address(text + int(position)).value = int(byte)
