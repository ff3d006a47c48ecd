"""Exact arithmetic on floats, which are fractions: sums, roots rounded outward, linear systems."""

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from math import fsum, gcd, inf, isqrt, lcm, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.deadline import Deadline, OutOfTimeError

MOST_EXACT = 10_000  # values whose squares are summed as fractions
NO_DEADLINE = Deadline(None)
MOST_VECTORS = 1000
PRIMES = (2_097_143, 2_097_133, 2_097_131)  # below 2²¹: products stay far below 2⁶³


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
    return units_of(decimal_fractions(values))


def units_of(fractions: Collection[Fraction]) -> tuple[list[int], int]:
    """Return integers n and the least denominator d such that n/d are the fractions."""
    d = lcm(*(fraction.denominator for fraction in fractions))
    return [fraction.numerator * (d // fraction.denominator) for fraction in fractions], d


def decimal_fractions(values: Iterable[Any]) -> list[Fraction]:
    """Return the values as they print, which depends on their type: a float32 prints shorter."""
    return [Fraction(str(value)) for value in values]


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


def norm(v: NDArray[Any]) -> float:
    """Return ‖v‖ in floating point, without overflow or underflow of squares."""
    largest = float(abs(v).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(v / largest))


def two_sum(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a + b in floating point and what it lacks, exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: NDArray[Any], b: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a·b in floating point and what it lacks, exactly (Dekker)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    total = a * b
    rest = ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low
    return total, rest


def _halves(a: Any) -> tuple[Any, Any]:
    """Return two numbers of half the digits whose sum this is (Veltkamp)."""
    scaled = a * 134_217_729.0  # 2²⁷ + 1
    high = scaled - (scaled - a)
    return high, a - high


def twofold_dots(
    X: NDArray[Any], w: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    """Return x·w of each row as a sum of two, and a bound on its error; the last of w is a bias.

    Twice the digits of floating point (Ogita, Rump and Oishi, "Accurate sum and dot product",
    2005); None where a product could overflow or lose digits to underflow.
    """
    sizes = [abs(values[values != 0.0]) for values in (X, w)]
    largest, least = (
        [f(s.max(initial=1.0), s.min(initial=1.0)) for s in sizes] for f in (max, min)
    )
    if not (max(largest) < 2.0**450 and min(least) > 2.0**-450):
        return None
    total, rest, size = np.full(len(X), w[-1]), np.zeros(len(X)), np.full(len(X), abs(w[-1]))
    for j in np.flatnonzero(w[:-1]):
        product, lost = _two_product(X[:, j], w[j])
        total, more = two_sum(total, product)
        rest += lost + more
        size += abs(product)
    terms = float(np.count_nonzero(w) + 2)
    return total, rest, (4.0 * terms * 2.0**-53) ** 2 * size


def squared_norm(v: NDArray[Any]) -> Fraction:
    """Return ‖v‖², exactly where v is short, and else at most a part in 2⁵⁰ above it."""
    if v.size <= MOST_EXACT:
        numbers, d = integers(v)
        return Fraction(sum(n * n for n in numbers), d * d)
    largest = float(abs(v).max())
    if largest == 0.0:
        return Fraction(0)
    above = Fraction(fsum((v / largest) ** 2)) * (1 + Fraction(1, 1 << 50))
    return (above + Fraction(v.size, 1 << 1070)) * Fraction(largest) ** 2


def kernel_point(
    vectors: list[dict[int, int]], guess: NDArray[Any], deadline: Deadline = NO_DEADLINE
) -> list[Fraction] | None:
    """Return weights near the guess with which the integer vectors add up to zero, exactly.

    They are at least 0 and sum to 1. None where none are found, or the vectors are too many.
    """
    if not 0 < len(vectors) <= MOST_VECTORS or not guess.max() > 0:
        return None
    order = np.argsort(-guess, kind="stable")  # the largest are solved for, the smallest kept
    matrix = _columns([vectors[i] for i in order])
    guess = guess[order] / guess.max()
    for prime in PRIMES:
        rows, columns = pivots(matrix, prime, deadline)
        others = np.setdiff1d(np.arange(len(vectors)), columns)
        if not len(others):
            return None  # independent modulo a prime is independent
        for largest_part in (64, 10**12):
            given = [Fraction(guess[j]).limit_denominator(largest_part) for j in others]
            if len(others) == 1:
                given = [Fraction(1)]  # only the ratios matter
            solved = _completed(matrix[rows], columns, others, given, deadline)
            if solved is None or min(solved) < 0 or not any(solved):
                continue
            total = sum(solved)
            weights = [Fraction(0)] * len(vectors)
            for i, weight in zip(order, solved, strict=True):
                weights[i] = weight / total
            if not adds_up(vectors, weights):
                return weights
            break  # some equations were dependent modulo this prime alone
        else:
            return None
    return None


def _columns(vectors: list[dict[int, int]]) -> NDArray[Any]:
    """Return vectors as the columns of a matrix, each line of it without its common divisor."""
    places = sorted(set().union(*vectors))
    matrix = np.zeros((len(places), len(vectors)), dtype=object)
    line = {place: i for i, place in enumerate(places)}
    for j, vector in enumerate(vectors):
        for place, n in vector.items():
            matrix[line[place], j] = n
    divisors = [gcd(*entries) or 1 for entries in matrix.tolist()]
    return np.asarray(matrix // np.array(divisors, dtype=object)[:, None], dtype=object)


def _completed(
    matrix: NDArray[Any],
    columns: list[int],
    others: NDArray[Any],
    given: list[Fraction],
    deadline: Deadline,
) -> list[Fraction] | None:
    """Return x with matrix·x = 0 and the given values in some places."""
    scale = lcm(*(value.denominator for value in given))
    units = np.array([int(value * scale) for value in given], dtype=object)
    right = [-int(n) for n in matrix[:, others] @ units]
    solved = solve(matrix[:, columns], right, deadline)
    if solved is None:
        return None
    x = [Fraction(0)] * matrix.shape[1]
    for j, value in zip([*others, *columns], [*units, *solved], strict=True):
        x[j] = Fraction(value)
    return x


def adds_up(vectors: list[dict[int, int]], weights: list[Fraction]) -> dict[int, int]:
    """Return the places where Σ weight·vector is not zero, with it, up to one factor."""
    total: dict[int, int] = {}
    for vector, units in zip(vectors, units_of(weights)[0], strict=True):
        if units:
            for place, n in vector.items():
                total[place] = total.get(place, 0) + units * n
    return {place: n for place, n in total.items() if n}


def pivots(
    matrix: NDArray[Any], prime: int, deadline: Deadline = NO_DEADLINE
) -> tuple[list[int], list[int]]:
    """Return rows and columns of a largest square part that is regular modulo the prime."""
    left = (matrix % prime).astype(np.int64)
    rows: list[int] = []
    columns: list[int] = []
    for column in range(left.shape[1]):
        deadline.check()
        candidates = np.flatnonzero(left[:, column])
        if not len(candidates):
            continue
        row = int(candidates[0])
        line = left[row] * pow(int(left[row, column]), -1, prime) % prime
        left[candidates] -= left[candidates, column][:, None] * line
        left[candidates] %= prime
        left[row] = 0
        rows.append(row)
        columns.append(column)
    return rows, columns


def solve(
    matrix: NDArray[Any], right: list[int], deadline: Deadline = NO_DEADLINE
) -> list[Fraction] | None:
    """Return x with matrix·x = right, of integers; None if the matrix is singular.

    Nothing can interrupt FLINT, which lifts the solution digit by digit (Dixon 1982), so a system
    is not begun that would take longer than there is time. The rates were measured.
    """
    from flint import fmpz_mat  # only a proof needs it

    _check_time(matrix, deadline)
    try:
        x = fmpz_mat(matrix.tolist()).solve(fmpz_mat([[n] for n in right]))
    except ZeroDivisionError:
        return None
    return [Fraction(int(q.p), int(q.q)) for q in x.entries()]


def has_positive_solution(B: NDArray[Any], c: NDArray[Any], x: NDArray[Any]) -> bool:
    """Return whether B·z = c has a solution z > 0, which x is near to: certain in floating point.

    Each entry may be off by two units in the last place of the largest one of its column of B, or
    of c. With R near the inverse of B and ‖I − R·B‖ ≤ 1/2, z exists and is at most 2·‖R·(B·x − c)‖
    away from x, in the maximum norm (Rump, "Verification methods", Acta Numerica 2010).
    """
    n = len(B)
    if B.shape != (n, n) or not n:
        return False
    try:
        R = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return False
    unit = (n + 8) * 2.0**-52
    sizes = abs(B).max(axis=0) * np.ones((n, 1))
    apart = abs(np.eye(n) - R @ B) + unit * (abs(R) @ sizes + 1.0)
    left = abs(B @ x - c) + unit * (sizes @ abs(x) + abs(c).max())
    away = 2.0 * (abs(R) @ left) * (1.0 + unit)
    return bool(apart.sum(axis=1).max() < 0.5 and (x > away.max()).all())


def _check_time(matrix: NDArray[Any], deadline: Deadline) -> None:
    bits = max(map(abs, matrix.flat), default=0).bit_length()
    if 10.0 * (len(matrix) / 600) ** 3.5 * max(bits / 60, 1.0) ** 2.3 > deadline.left:
        raise OutOfTimeError


def null_space(
    lines: NDArray[Any], deadline: Deadline = NO_DEADLINE
) -> tuple[NDArray[Any], list[int]]:
    """Return all v with lines·v = 0 as the columns of a matrix of integers, and its free places.

    Each column has a free place of its own, where all the others are 0: a combination of them is
    known by its values there.

    >>> null_space(np.array([[1, 1, 1], [2, 2, 2]], object))
    (array([[-1, -1],
           [1, 0],
           [0, 1]], dtype=object), [1, 2])
    """
    from flint import fmpz_mat

    width = lines.shape[1]
    if not len(lines):
        return np.eye(width, dtype=int).astype(object), [*range(width)]
    _check_time(lines, deadline)
    reduced, found, rank = fmpz_mat(lines.tolist()).rref()
    places = [next(j for j in range(width) if reduced[i, j] != 0) for i in range(rank)]
    free = [j for j in range(width) if j not in {*places}]
    basis = np.zeros((width, len(free)), object)
    for column, j in enumerate(free):
        basis[j, column] = int(found)
        for i, place in enumerate(places):
            basis[place, column] = -int(reduced[i, j])
        basis[:, column] //= gcd(*basis[:, column]) * (1 if found > 0 else -1)
    return basis, free


def unit_exponent(values: NDArray[Any]) -> int:
    """Return the largest e such that all of the floats are multiples of 2ᵉ.

    >>> unit_exponent(np.array([3.0, 0.25, 0.0])), unit_exponent(np.array([12.0]))
    (-2, 2)
    """
    fractions, exponents = np.frexp(values[values != 0])
    if not len(fractions):
        return 0
    whole = (abs(fractions) * 2.0**53).astype(np.int64)
    return int((np.frexp((whole & -whole).astype(np.float64))[1] - 1 + exponents - 53).min())
