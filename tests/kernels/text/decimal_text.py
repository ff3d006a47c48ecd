"""Decimal numbers that are hard to round, by the million, and the reader's answer to them.

``python -m tests.kernels.text.decimal_text 10000000 [seed]`` compares ten million with ``float``;
the test suite fewer.
"""

import math
import random
import struct
import sys
from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sources import PADDING
from rosenblatt.data.svmlight import Conventions, parse_scanned

EXACT = Context(prec=2000)
CHUNK = 20_000

Generator = random.Random


def _digits(generator: Generator, least: int, most: int) -> str:
    return "".join(generator.choices("0123456789", k=generator.randint(least, most)))


def _with_point(generator: Generator, digits: str) -> str:
    place = generator.randint(0, len(digits))
    return f"{digits[:place]}.{digits[place:]}" if generator.random() < 0.8 else digits


def _double(generator: Generator) -> float:
    """Return any finite double, by its bits."""
    while True:
        value: float = struct.unpack("<d", generator.randbytes(8))[0]
        if math.isfinite(value):
            return value


def usual(generator: Generator) -> str:
    """A number as data files have them."""
    form = generator.choice(("%.6f", "%.4f", "%.3g", "%.7e", "%d", "%.1f", "%.16g"))
    return form % generator.uniform(-1, 1) if form != "%d" else str(generator.randint(-999, 9999))


def short(generator: Generator) -> str:
    """Up to 19 digits and an exponent."""
    text = _with_point(generator, _digits(generator, 1, 19))
    return text if generator.random() < 0.3 else f"{text}e{generator.randint(-345, 289)}"


def fraction(generator: Generator) -> str:
    """A number below one as programs print it, with a zero before the point."""
    return f"0.{_digits(generator, 15, 22)}"


def long(generator: Generator) -> str:
    """More digits than fit a word."""
    text = _with_point(generator, _digits(generator, 20, 60))
    return text if generator.random() < 0.3 else f"{text}e{generator.randint(-380, 240)}"


def printed(generator: Generator) -> str:
    """Any double as programs print it."""
    form = generator.choice(("%r", "%.17g", "%.20g", "%.16e", "%.15g", "%.18e", "%.30g"))
    return form % _double(generator)


def half_way(generator: Generator) -> str:
    """The exact middle between two doubles, or a hair beside it, or cut off."""
    low = abs(_double(generator)) * 10.0 ** generator.randint(-300, 0)
    high = math.nextafter(low, math.inf)
    middle = EXACT.divide(EXACT.add(Decimal(low), Decimal(high)), Decimal(2))
    text = f"{middle:e}"
    mantissa, _, exponent = text.partition("e")
    kind = generator.random()
    if kind < 0.3:
        mantissa += generator.choice(("0", "1", "00000000001"))
    elif kind < 0.7:
        mantissa = mantissa[: generator.randint(16, 22)]
    return f"{mantissa}e{exponent}"


def short_half_way(generator: Generator) -> str:
    """A middle between two doubles that has at most 19 digits: the ties that round to even."""
    bits = generator.randint(54, 63)
    odd = 2 * generator.getrandbits(53) + 1
    number = (odd | 1 << 53) << (bits - 54)
    shift = generator.randint(0, 4)
    exact = EXACT.divide(Decimal(number), Decimal(2**shift))
    return f"{exact:f}" if generator.random() < 0.5 else f"{exact:e}"


def subnormal(generator: Generator) -> str:
    """About the smallest numbers, down to those that round to zero."""
    steps = generator.choice((0, 1, 2, generator.randrange(1000), generator.getrandbits(52)))
    half = EXACT.multiply(Decimal(2 * steps + 1), Decimal(math.ulp(0.0)))
    exact = EXACT.divide(half, Decimal(2))
    text = f"{exact:e}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa[: generator.choice((17, 19, 21, 30, 800))]}e{exponent}"


def largest(generator: Generator) -> str:
    """About the largest double, and below what rounds to infinity."""
    return f"1.79769313486231{generator.randint(0, 580793):06d}e308"


FAMILIES: tuple[Callable[[Generator], str], ...] = (
    usual,
    short,
    fraction,
    long,
    printed,
    half_way,
    short_half_way,
    subnormal,
    largest,
)


def read(tokens: list[str]) -> NDArray[np.float64]:
    """Return what the compiled scan makes of these values, one a row."""
    text = "".join(f"0 1:{token}\n" for token in tokens).encode()
    held = np.frombuffer(bytearray(text + bytes(PADDING)), np.uint8)
    return parse_scanned(held, len(text), Conventions(0)).data


def compare(tokens: list[str]) -> None:
    """Assert that every value is the double that ``float`` gives, bit for bit."""
    expected = np.array([float(token) for token in tokens])
    different = np.flatnonzero(read(tokens).view(np.uint64) != expected.view(np.uint64))
    assert not len(different), [tokens[k] for k in different[:5]]


if __name__ == "__main__":
    number, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    source = Generator(seed)
    for _ in range(0, number, CHUNK * len(FAMILIES)):
        for family in FAMILIES:
            compare([family(source) for _ in range(CHUNK)])
    sys.stdout.write(f"{number} decimals are read as float reads them.\n")
