"""Exact arithmetic against Python's fractions."""

from fractions import Fraction
from math import inf, isclose, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.theory.exact import (
    decimal_integers,
    integers,
    kernel_point,
    norm,
    root_bounds,
    rounded_down,
    rounded_up,
    solve,
    squared_norm,
    twofold_dots,
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
        assert round(np.linalg.det(matrix.astype(float) / limit), 6) == 0.0
        return
    assert [sum(a * value for a, value in zip(line, x, strict=True)) for line in matrix] == right


values = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 0.1, -0.1, 1e-9, 1e15, -1e15, 1 / 3])


@given(st.lists(st.tuples(values, values), min_size=1, max_size=8), values)
def test_twofold_dots(pairs: list[tuple[float, float]], bias: float) -> None:
    """The bound on the error holds, and is far below what single digits would lose."""
    x, w = (np.array(side) for side in zip(*pairs, strict=True))
    twofold = twofold_dots(x[None], np.append(w, bias))
    if twofold is None:
        assert any(0 < abs(value) < 2.0**-450 for value in (*x, *w, bias))
        return
    (total,), (rest,), (error,) = twofold
    exact = sum((Fraction(a) * Fraction(c) for a, c in pairs), Fraction(bias))
    assert abs(Fraction(total) + Fraction(rest) - exact) <= Fraction(error)
    assert error <= 1e-28 * (abs(x) @ abs(w) + abs(bias))


def test_twofold_dots_refuse_what_may_be_lost() -> None:
    """Products beyond the range of float64 are left to exact arithmetic."""
    assert twofold_dots(np.array([[1e200, 1.0]]), np.array([1e200, 1.0, 0.0])) is None
    assert twofold_dots(np.array([[5e-324]]), np.array([1.0, 0.0])) is None


@pytest.mark.parametrize("size", [10_001, 40_000])
def test_norms_of_long_vectors(size: int) -> None:
    """Of many values the squared norm is rounded up, by next to nothing."""
    v = np.random.default_rng(0).standard_normal(size) * 1e-200
    exact = sum(Fraction(x) ** 2 for x in v.tolist())
    assert exact <= squared_norm(v) <= exact * (1 + Fraction(1, 10**14))
    assert isclose(norm(v), float(np.linalg.norm(v * 1e200)) * 1e-200)


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
