"""Decimal to double, correctly rounded: the double that Python's ``float`` gives, bit for bit.

D. Lemire, "Number parsing at a gigabyte per second" (2021), after M. Eisel; that no number of up to
19 digits needs more is proved in N. Mushtak and D. Lemire, "Fast number parsing without fallback"
(2023). A product of two 64-bit words, sometimes of two more, decides the 53 bits of the result.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import compiled, inlined
from rosenblatt.kernels.text.words import byte_at, double_of_bits, high_product, leading_zeros

MOST_DIGITS = 19  # any number of so many digits fits a word
LEAST_POWER = -342  # below it even 10¹⁹ − 1 times the power rounds to zero
MOST_POWER = 308  # above it any number rounds to infinity
EXACT_POWER = 22  # the largest power of ten that is a double
POINT = ord(".")

U = np.uint64  # a plain integer beside an unsigned one would make numba turn to floating point


def _powers_of_five() -> NDArray[np.uint64]:
    """Return the upper 128 bits of 5^q for every q as two words, the higher first.

    Cut off, and only where one division is exact enough to be undone (q ≥ −27) rounded up.
    """
    words = []
    for q in range(LEAST_POWER, MOST_POWER + 1):
        power = 5 ** abs(q)
        if q < 0:
            length = power.bit_length() + (127 if q >= -27 else 256)
            bits = (1 << length) // power + 1
        else:
            bits = power << 128
        bits >>= max(bits.bit_length() - 128, 0)
        words.append((bits >> 64, bits & (2**64 - 1)))
    return np.array(words, np.uint64)


FIVES = _powers_of_five()
TENS = np.array([10**k for k in range(MOST_DIGITS + 1)], np.uint64)
EXACT_TENS = np.array([10.0**k for k in range(EXACT_POWER + 1)])


@inlined
def double_of(digits: Any, power: int) -> Any:
    """Return digits · 10^power rounded to a double, or NaN where it is out of range."""
    if digits <= U(1 << 53) and -EXACT_POWER <= power <= EXACT_POWER:
        # Both factors are doubles, so one operation rounds once, and rightly (Clinger, 1990).
        if power < 0:
            return np.float64(digits) / EXACT_TENS[U(-power)]
        return np.float64(digits) * EXACT_TENS[U(power)]
    return eisel_lemire(digits, power)


@compiled
def eisel_lemire(digits: Any, power: int) -> Any:
    """Return digits · 10^power rounded to a double, or NaN where it is out of range."""
    if digits == U(0) or power < LEAST_POWER:
        return 0.0
    if power > MOST_POWER:
        return np.nan
    zeros = leading_zeros(digits)
    normal = digits << U(zeros)
    row = U(power - LEAST_POWER)
    high, low = high_product(normal, FIVES[row, 0]), normal * FIVES[row, 0]
    if high & U(0x1FF) == U(0x1FF):  # what is below might carry into the bits that decide
        more = high_product(normal, FIVES[row, 1])
        low += more
        if low < more:
            high += U(1)
    top = high >> U(63)
    shift = top + U(9)  # keeps 54 bits: those of the result and one to round by
    bits = high >> shift
    # ⌊log₂ 10^power⌋ as a multiplication; the bias of the exponent of a double is 1023
    exponent = ((217706 * power) >> 16) + 63 + 1023 + np.int64(top) - zeros
    if exponent <= 0:  # subnormal: fewer bits
        if exponent < -62:
            return 0.0
        bits >>= U(1 - exponent)
        bits = (bits + (bits & U(1))) >> U(1)
        return double_of_bits(bits)  # a carry into bit 52 is the smallest normal number, rightly
    if low <= U(1) and -4 <= power <= 23 and bits & U(3) == U(1) and bits << shift == high:
        bits &= ~U(1)  # exactly half way: to the even one, which is below
    bits = (bits + (bits & U(1))) >> U(1)
    if bits == U(1 << 53):
        bits >>= U(1)
        exponent += 1
    if exponent >= 0x7FF:
        return np.nan
    return double_of_bits((bits & U((1 << 52) - 1)) | (U(exponent) << U(52)))


@compiled
def long_decimal(text: int, start: int, stop: int, power: int) -> Any:
    """Return the double of the digits from start to stop, with or without a point, times 10^power.

    With more than 19 digits that count, the number lies between the first 19 and the same plus one.
    Where those two round differently, or out of range, the answer is NaN.
    """
    digits = U(0)
    n_digits, after_point, dropped = 0, False, False
    for position in range(start, stop):
        byte = byte_at(text, position)
        if byte == POINT:
            after_point = True
            continue
        if n_digits < MOST_DIGITS:
            digits = digits * U(10) + U(byte - ord("0"))
            if digits != U(0):  # leading zeros do not count
                n_digits += 1
            if after_point:
                power -= 1
        else:
            dropped = dropped or byte != ord("0")
            if not after_point:
                power += 1
    value = double_of(digits, power)
    if dropped and double_of(digits + U(1), power) != value:
        return np.nan
    return value
