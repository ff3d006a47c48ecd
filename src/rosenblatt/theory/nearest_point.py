"""The point of a hull that is nearest to the origin, in exact arithmetic, of few vectors.

By Gordan's theorem the vectors a of a system of inequalities a·v > 0 have the origin in their hull,
or the point x of it that is nearest to the origin is a witness: a·x ≥ ‖x‖² for all of them, and no
margin is above ‖x‖. Wolfe's algorithm walks to it over the hulls of few vectors ("Finding the
nearest point in a polytope", 1976). Each step solves a small linear system, here with integers and
fractions: thin strips, columns of any size and points that just touch make no difference to it.

Variables that do not count in the length (a free bias) ask for weights that balance: they are more
conditions beside Σ λ = 1, with multipliers of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.deadline import Deadline
from rosenblatt.theory.exact import solve, units_of
from rosenblatt.theory.inequalities import Inequalities

MOST_VALUES = 20_000  # in all vectors
MOST_VARIABLES = 40
MOST_BITS = 20_000  # of a number times the number of variables

Weights = dict[int, Fraction]  # by the number of a vector


@dataclass(frozen=True)
class NearestPoint:
    """The nearest point as a mixture, and the v that it amounts to."""

    numbers: NDArray[Any]  # of the inequalities with a weight
    weights: list[Fraction]  # above 0; they sum to 1
    v: list[Fraction]  # all zero where nothing separates: then the weights say why

    def roundings(self, count: int) -> Iterator[NDArray[Any]]:
        """Yield v in floating point, at several lengths: each of them rounds otherwise."""
        for k in range(count):
            yield floats([x * Fraction(count + k, count) for x in self.v])


def nearest_point(
    system: Inequalities,
    numbers: NDArray[Any],
    length: NDArray[Any],
    likely: NDArray[Any],
    deadline: Deadline,
) -> NearestPoint | None:
    """Return the nearest point of the hull of few inequalities; None where they are too many.

    ``length`` says which variables count; ``likely`` are those of the numbers to begin with.
    """
    if not is_small(system, numbers):
        return None
    vectors = _integers(system, numbers)
    scales: NDArray[Any] = np.full(system.width, Fraction(1))
    is_free = ~length
    sides = [np.arange(len(numbers))]
    if is_free.any() and system.n_classes == 2:  # both classes have half of the weight
        sides = [np.flatnonzero(system.rows.numbers[numbers] == k) for k in (0, 1)]
        if not all(map(len, sides)):
            return None
    elif is_free.any():  # biases that are free cost next to nothing when they are long
        scales[is_free] = Fraction(abs(vectors).max() << 60)
        is_free = np.zeros_like(is_free)
    begun = [side[np.isin(numbers[side], likely)][: system.width // len(sides)] for side in sides]
    starts = [_even(begun), _even([side[:1] for side in sides])]
    return _nearest(numbers, vectors, scales, ~is_free, starts, deadline)


def _even(sides: Sequence[NDArray[Any]]) -> Weights:
    """Return even weights on the vectors of each side, and the same on all sides."""
    if not all(map(len, sides)):
        return {}
    return {int(i): Fraction(1, len(sides) * len(side)) for side in sides for i in side}


def any_witness(
    system: Inequalities, numbers: NDArray[Any], deadline: Deadline
) -> NearestPoint | None:
    """Return the nearest point in even coordinates, whose v is zero or meets these inequalities.

    Where lengths do not matter, columns lose what their values have in common, which keeps the
    numbers short.
    """
    if not is_small(system, numbers):
        return None
    vectors = _integers(system, numbers)
    scales = np.array([Fraction(1, gcd(*column) or 1) for column in vectors.T])
    every, start = np.ones(system.width, bool), {0: Fraction(1)}
    return _nearest(numbers, vectors, scales, every, [start], deadline)


def is_small(system: Inequalities, numbers: NDArray[Any]) -> bool:
    """Return whether exact arithmetic on these inequalities takes a second or so."""
    return system.width <= MOST_VARIABLES and 0 < len(numbers) * system.width <= MOST_VALUES


def _integers(system: Inequalities, numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the vectors of inequalities as Python's integers, up to one factor."""
    stored = system.exact_vectors(numbers)
    assert stored is not None  # noqa: S101  # stored values always are fractions
    return np.array([[a.get(j, 0) for j in range(system.width)] for a in stored[0]], object)


def _nearest(
    numbers: NDArray[Any],
    vectors: NDArray[Any],
    scales: NDArray[Any],
    length: NDArray[Any],
    starts: Sequence[Weights],
    deadline: Deadline,
) -> NearestPoint | None:
    """Return the nearest point of vectors whose variables are scaled first, to whole numbers."""
    scaled = np.vectorize(int, "O")(vectors * scales)
    if abs(scaled).max().bit_length() * len(scales) > MOST_BITS:
        return None
    for start in starts:
        mixture = nearest_mixture(scaled, length, start, deadline) if start else None
        if mixture is not None:
            weights, v = mixture
            return NearestPoint(numbers[list(weights)], list(weights.values()), list(v * scales))
    return None


def floats(v: list[Fraction]) -> NDArray[Any]:
    """Return v in floating point, scaled by a power of two so that nothing is lost."""
    sizes = [abs(x.numerator).bit_length() - x.denominator.bit_length() for x in v if x]
    if not sizes:
        return np.zeros(len(v))
    shift = -max(sizes)
    if min(sizes) + shift < -1000:  # small values would lose digits: use the upper half as well
        shift = min(-min(sizes) - 1000, 1000 - max(sizes))
    return np.array([float(x * Fraction(2) ** shift) for x in v])


def nearest_mixture(
    vectors: NDArray[Any], length: NDArray[Any], start: Weights, deadline: Deadline
) -> tuple[Weights, NDArray[Any]] | None:
    """Return the weights of the nearest point and its v; None where the start does not serve.

    Its weights sum to 1 and balance in the variables that do not count; its vectors have to be
    independent of each other.
    """
    ones = np.ones((len(vectors), 1), object)
    walk = _Walk(vectors[:, length], np.hstack([ones, vectors[:, ~length]]), start)
    while True:
        multipliers = walk.move_to_nearest(deadline)
        if multipliers is None:
            return None
        x = walk.point()
        entering = walk.furthest_below(x, multipliers)
        if entering is None:
            break
        walk.weights[entering] = Fraction(0)
    v = np.empty(len(length), object)
    v[length], v[~length] = x, [-multiplier for multiplier in multipliers[1:]]
    return walk.weights, v


def even_mixture(vectors: NDArray[Any], deadline: Deadline) -> tuple[Weights, NDArray[Any]]:
    """Return the weights of the nearest point in even columns, and its v as integers.

    v is above 0 at all the vectors, or 0.
    """
    scale = np.array([gcd(*column) or 1 for column in vectors.T], object)
    every, start = np.ones(len(scale), bool), {0: Fraction(1)}
    mixture = nearest_mixture(vectors // scale, every, start, deadline)
    assert mixture is not None  # noqa: S101  # one vector is a start
    weights, v = mixture
    units, _ = units_of([x / int(n) for x, n in zip(v, scale, strict=True)])
    return weights, np.array(units, object)


class _Walk:
    """Weights on few vectors, moved until they are those of the nearest point of all."""

    def __init__(self, g: NDArray[Any], h: NDArray[Any], start: Weights) -> None:
        self._g, self._h = g, h  # what counts in the length; what has to balance
        self._products: dict[tuple[int, int], int] = {}
        self.weights = dict(start)

    def move_to_nearest(self, deadline: Deadline) -> list[Fraction] | None:
        """Move to the nearest point of the hull of the vectors in use; return the multipliers.

        Vectors whose weight comes to zero on the way leave.
        """
        while True:
            deadline.check()
            solved = self._affine()
            if solved is None:
                return None
            wanted, multipliers = solved
            if all(weight > 0 for weight in wanted.values()):
                self.weights = wanted
                return multipliers
            step = min(
                self.weights[i] / (self.weights[i] - weight)
                for i, weight in wanted.items()
                if weight <= 0 and self.weights[i] > weight
            )
            moved = {i: w + step * (wanted[i] - w) for i, w in self.weights.items()}
            self.weights = {i: weight for i, weight in moved.items() if weight > 0}

    def _affine(self) -> tuple[Weights, list[Fraction]] | None:
        """Return weights of any sign with the shortest sum, and the multipliers."""
        used = list(self.weights)
        h, n = self._h[used], len(used)
        matrix = np.zeros((n + h.shape[1],) * 2, dtype=object)
        matrix[:n, :n] = [[self._product(i, j) for j in used] for i in used]
        matrix[:n, n:], matrix[n:, :n] = h, h.T
        right = [0] * len(matrix)
        right[n] = 1
        solved = solve(matrix, right)
        if solved is None:
            return None
        return dict(zip(used, solved[:n], strict=True)), [-value for value in solved[n:]]

    def _product(self, i: int, j: int) -> int:
        key = (i, j) if i <= j else (j, i)
        if key not in self._products:
            self._products[key] = self._g[i] @ self._g[j]
        return self._products[key]

    def point(self) -> list[Fraction]:
        """Return Σ λ·g."""
        units, common = units_of(self.weights.values())
        return [Fraction(t, common) for t in _products(self._g[list(self.weights)].T, units)]

    def furthest_below(self, x: list[Fraction], multipliers: list[Fraction]) -> int | None:
        """Return the vector with the least g·x − h·μ, if that is below 0."""
        units, _ = units_of([*x, *multipliers])
        values = _products(self._g, units[: len(x)]) - _products(self._h, units[len(x) :])
        least = int(np.argmin(values))
        return least if values[least] < 0 else None


def _products(matrix: NDArray[Any], units: list[int]) -> NDArray[Any]:
    """Return a matrix of Python's integers times a vector of them."""
    return np.asarray(matrix @ np.array(units, object))
