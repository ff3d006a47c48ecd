"""Exact arithmetic against Python's fractions."""

from fractions import Fraction
from math import inf, nextafter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.theory.exact import (
    decimal_integers,
    integers,
    kernel_point,
    root_bounds,
    rounded_down,
    rounded_up,
    solve,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, max_size=5))
def test_integers(values: list[float]) -> None:
    """Integers over one denominator are the floats themselves."""
    numbers, d = integers(values)
    assert [Fraction(n, d) for n in numbers] == [Fraction(value) for value in values]


def test_short_decimals_only() -> None:
    """A tenth is a tenth as printed; a third was never written as a decimal."""
    assert decimal_integers([np.float64(0.1), np.float64(-2.5e-3)]) == ([40, -1], 400)
    assert decimal_integers([np.float32(0.1)]) == ([1], 10)
    assert decimal_integers([np.float64(1 / 3)]) is None
    assert decimal_integers([np.float32(1 / 3)]) is None


@given(st.fractions(min_value=0))
def test_roots(square: Fraction) -> None:
    """The bounds enclose the root and are at most two floats apart."""
    low, high = root_bounds(square)
    assert Fraction(low) ** 2 <= square <= Fraction(high) ** 2
    assert high <= nextafter(nextafter(low, inf), inf)


@given(st.fractions())
def test_outward(value: Fraction) -> None:
    """Rounding down never goes up, nor up down, and by one float at most."""
    assert Fraction(rounded_down(value)) <= value <= Fraction(rounded_up(value))
    assert rounded_up(value) <= nextafter(rounded_down(value), inf)


@given(st.integers(1, 6), st.integers(1, 80), st.randoms(use_true_random=False))
def test_linear_systems(size: int, bits: int, random: object) -> None:
    """A solution satisfies every equation exactly."""
    draw = random.randint  # type: ignore[attr-defined]
    limit = 2**bits
    matrix = np.array([[draw(-limit, limit) for _ in range(size)] for _ in range(size)], object)
    right = [draw(-limit, limit) for _ in range(size)]
    x = solve(matrix, right)
    if x is None:
        return  # singular modulo the prime
    assert [sum(a * value for a, value in zip(line, x, strict=True)) for line in matrix] == right


def test_weights_that_add_up_to_zero() -> None:
    """Weights come out exact from a guess with noise, and none where there are none."""
    vectors = [{0: 3, 1: 1}, {0: -1, 1: 1}, {0: -1, 1: -3}]
    weights = kernel_point(vectors, np.array([0.2501, 0.49, 0.25]))
    assert weights is not None
    assert [weight / sum(weights) for weight in weights] == [
        Fraction(1, 4),
        Fraction(1, 2),
        Fraction(1, 4),
    ]
    assert kernel_point([{0: 1, 1: 1}, {0: -1, 1: 1}], np.array([0.5, 0.5])) is None
