"""Numbers in text, compiled: one byte after the other.

The loops end at the first byte that is not theirs, at the latest at the newline behind the text. A
search by masks of 64 bytes at once, as JSON parsers do it, was tried and was not faster (700 to
1000 MB/s, where the loop over bytes reads 1000 to 1300): the numbers are too short for it.
"""

from typing import Any

import numpy as np

from rosenblatt.compiling import inlined
from rosenblatt.data.decimals import MOST_DIGITS, double_of, long_decimal
from rosenblatt.data.line import MOST_FEATURE
from rosenblatt.data.words import byte_at

TAB, NEWLINE, RETURN, SPACE = ord("\t"), ord("\n"), ord("\r"), ord(" ")
HASH, COLON, POINT, PLUS, MINUS = ord("#"), ord(":"), ord("."), ord("+"), ord("-")
ZERO, LOWER_E, UPPER_E = ord("0"), ord("e"), ord("E")

U = np.uint64


@inlined
def is_blank(byte: int) -> bool:
    """Whether a byte parts tokens within a line, as ``bytes.split`` sees it."""
    return byte == SPACE or (TAB <= byte <= RETURN and byte != NEWLINE)


@inlined
def is_digit(byte: int) -> bool:
    """Whether a byte is a decimal digit."""
    return ZERO <= byte <= ZERO + 9


@inlined
def ends_token(byte: int) -> bool:
    """Whether a token is over where this byte stands."""
    return byte == SPACE or byte == NEWLINE or is_blank(byte) or byte == HASH  # noqa: PLR1714


@inlined
def behind_blanks(text: int, position: int) -> int:
    """Return the first position from here on at which no blank stands."""
    while is_blank(byte_at(text, position)):
        position += 1
    return position


@inlined
def behind_digits(text: int, position: int, number: Any) -> Any:
    """Return the first position at which no digit stands, and the number continued up to there.

    With more than 19 digits the number is wrong.
    """
    byte = byte_at(text, position)
    while is_digit(byte):
        number = number * U(10) + U(byte - ZERO)
        position += 1
        byte = byte_at(text, position)
    return position, number


@inlined
def decimal(text: int, start: int) -> Any:
    """Return the double of the decimal number that starts here, and where it ends.

    The double is NaN where this is no number, or one that takes longer thought.
    """
    negative = byte_at(text, start) == MINUS
    if negative or byte_at(text, start) == PLUS:
        start += 1
    stop, digits = behind_digits(text, start, U(0))
    n_digits, power = stop - start, 0
    if byte_at(text, stop) <= SPACE and 0 < n_digits < 16:
        whole = np.float64(np.int64(digits))
        return (-whole if negative else whole), stop
    if byte_at(text, stop) == POINT:
        point = stop
        stop, digits = behind_digits(text, point + 1, digits)
        power = point + 1 - stop
        n_digits = stop - start - 1
    end, exponent = stop, 0
    if byte_at(text, stop) == LOWER_E or byte_at(text, stop) == UPPER_E:
        end, exponent = _exponent(text, stop + 1)
    if n_digits < 1 or end < 0:
        return np.nan, stop
    if n_digits <= MOST_DIGITS:
        value = double_of(digits, power + exponent)
    else:
        value = long_decimal(text, start, stop, exponent)
    return (-value if negative else value), end


@inlined
def _exponent(text: int, start: int) -> Any:
    """Return where the exponent ends that starts here, and its number; −1 where it is unusual."""
    falling = byte_at(text, start) == MINUS
    if falling or byte_at(text, start) == PLUS:
        start += 1
    end, size = behind_digits(text, start, U(0))
    if end - start < 1 or end - start > 4:
        return -1, 0
    return end, (-np.int64(size) if falling else np.int64(size))


@inlined
def entry(text: int, start: int) -> Any:
    """Return feature and value of the token that starts here, and where it ends.

    The value is NaN where the token is not usual.
    """
    colon, feature = behind_digits(text, start, U(0))
    length = colon - start
    if byte_at(text, colon) != COLON or U(length - 1) >= U(9):
        if byte_at(text, colon) != COLON or length != 10 or feature > U(MOST_FEATURE):
            return 0, np.nan, colon
    value, end = decimal(text, colon + 1)
    return np.int64(feature), value, end
