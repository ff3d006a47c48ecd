"""Exact arithmetic on floats, which are fractions: sums, roots rounded outward, linear systems."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, isqrt, lcm, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.linear_system import pivots, solve

LARGEST_SYSTEM = 1000  # vectors; 150 with all the digits of floats take a second


def integers(values: Iterable[Any]) -> tuple[list[int], int]:
    """Return integers n and one denominator d such that n/d are the values, exactly as stored."""
    ratios = [float(value).as_integer_ratio() for value in values]
    d = max((d for _, d in ratios), default=1)  # powers of two: the largest serves all
    return [n * (d // own) for n, own in ratios], d


def decimal_integers(values: Sequence[Any]) -> tuple[list[int], int] | None:
    """Return integers and one denominator for the values as they print: 0.1 is a tenth.

    None where a value has too many digits to have been written as a decimal number.
    """
    digits = 12 if not values or np.asarray(values[0]).dtype.itemsize > 4 else 5
    texts = [str(value) for value in values]
    if any(len(text.partition("e")[0].strip("-0.").replace(".", "")) > digits for text in texts):
        return None
    ratios = [Fraction(text) for text in texts]
    d = lcm(*(ratio.denominator for ratio in ratios))
    return [ratio.numerator * (d // ratio.denominator) for ratio in ratios], d


def rounded_down(value: Fraction) -> float:
    """Return the largest float that is not above the value."""
    near = _nearest(value)
    return near if near == -inf or (near < inf and near <= value) else nextafter(near, -inf)


def rounded_up(value: Fraction) -> float:
    """Return the smallest float that is not below the value."""
    return -rounded_down(-value)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def root_bounds(square: Fraction) -> tuple[float, float]:
    """Return floats that enclose the root of a fraction of at least 0, next to each other."""
    if square == 0:
        return 0.0, 0.0
    n, d = square.numerator, square.denominator
    shift = 64 - (n.bit_length() - d.bit_length()) // 2  # 128 bits: more than a float's root has
    scaled = (n << 2 * shift) // d if shift >= 0 else n // (d << -2 * shift)
    root = isqrt(scaled)
    unit = Fraction(1, 1 << shift) if shift >= 0 else Fraction(1 << -shift)
    above = root if root * root == scaled and root * root * unit * unit == square else root + 1
    return rounded_down(root * unit), rounded_up(above * unit)


def kernel_point(vectors: list[dict[int, int]], guess: NDArray[Any]) -> list[Fraction] | None:
    """Return weights ≥ 0 near the guess with which the integer vectors add up to zero, exactly.

    None where none are found, or the vectors are too many.
    """
    if not 0 < len(vectors) <= LARGEST_SYSTEM:
        return None
    order = np.argsort(-guess, kind="stable")  # the largest are solved for, the smallest kept
    places = sorted(set().union(*vectors))
    matrix = np.zeros((len(places), len(vectors)), dtype=object)
    line = {place: i for i, place in enumerate(places)}
    for j, i in enumerate(order):
        for place, n in vectors[i].items():
            matrix[line[place], j] = n
    rows, columns = pivots(matrix)
    kept = np.setdiff1d(np.arange(len(vectors)), columns)
    if not len(kept):
        return None
    square, others = matrix[rows][:, columns], matrix[rows][:, kept]
    for largest_part in (64, 10**12):
        given = [_near(guess[order[j]] / guess.max(), largest_part) for j in kept]
        if len(kept) == 1:
            given = [Fraction(1)]  # only the ratios matter
        scale = lcm(*(value.denominator for value in given))
        units = np.array([int(value * scale) for value in given], dtype=object)
        solved = solve(square, [-int(n) for n in others @ units])
        if solved is None or min(solved, default=Fraction(0)) < 0:
            continue
        weights = np.zeros(len(vectors), dtype=object)
        weights[order[kept]] = given
        weights[order[columns]] = [value / scale for value in solved]
        found: list[Fraction] = weights.tolist()
        if not adds_up(vectors, found):
            return found
    return None


def adds_up(vectors: list[dict[int, int]], weights: list[Fraction]) -> dict[int, int]:
    """Return the places where Σ weight·vector is not zero, with it, up to one factor."""
    common = lcm(*(weight.denominator for weight in weights))
    total: dict[int, int] = {}
    for vector, weight in zip(vectors, weights, strict=True):
        units = weight.numerator * (common // weight.denominator)
        if units:
            for place, n in vector.items():
                total[place] = total.get(place, 0) + units * n
    return {place: n for place, n in total.items() if n}


def _near(value: float, largest_part: int) -> Fraction:
    return Fraction(value).limit_denominator(largest_part)
