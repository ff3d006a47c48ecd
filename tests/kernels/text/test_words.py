import random
import struct
from typing import Any

import numpy as np

from rosenblatt.kernels.compiling import compiled
from rosenblatt.kernels.text.words import (
    SPAN,
    byte_at,
    count_at,
    double_of_bits,
    high_product,
    leading_zeros,
    nondigits_at,
    trailing_zeros,
    word_at,
)

GENERATOR = random.Random(0)  # noqa: S311  # no secret
TEXT = np.frombuffer(bytes(GENERATOR.choices(b"0123456789:. \n/;", k=256)), np.uint8)


@compiled
def _masks(text: int, position: int) -> Any:
    return (
        byte_at(text, position),
        word_at(text, position),
        nondigits_at(text, position),
        count_at(text, position, 58),
    )


@compiled
def _bits(left: Any, right: Any) -> Any:
    return (
        trailing_zeros(left),
        leading_zeros(left),
        high_product(left, right),
        double_of_bits(left),
    )


def test_bytes_words_and_masks_are_those_of_the_text() -> None:
    """From any position, aligned or not, a load gives the bytes that stand there."""
    raw = TEXT.tobytes()
    for position in range(len(raw) - SPAN):
        span = raw[position : position + SPAN]
        byte, word, nondigits, colons = _masks(TEXT.ctypes.data, position)
        assert byte == span[0]
        assert word == int.from_bytes(span[:8], "little")
        assert nondigits == sum(1 << k for k, b in enumerate(span) if not 48 <= b <= 57)
        assert colons == span.count(b":")


def test_bits_and_products_are_those_of_whole_numbers() -> None:
    """Zeros, the upper half of a product and the double of bits agree with Python's integers."""
    numbers = [0, 1, 2**63, 2**64 - 1, *(GENERATOR.getrandbits(64) for _ in range(200))]
    for left in numbers:
        right = GENERATOR.choice(numbers)
        trailing, leading, high, double = _bits(np.uint64(left), np.uint64(right))
        assert trailing == ((left & -left).bit_length() - 1 if left else 64)
        assert leading == 64 - left.bit_length()
        assert high == (left * right) >> 64
        assert struct.pack("<d", double) == left.to_bytes(8, "little")
