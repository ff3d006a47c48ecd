"""The widest margin of separable rows: searched for in floating point, proved in exact arithmetic.

A quadratic program on a working set proposes a witness and the weights of the nearest points of the
hulls; both ends of the margin are then computed exactly from the data and rounded outward.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.theory.certificate import Proof
from rosenblatt.theory.exact import integers, root_bounds, rounded_up
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows
from rosenblatt.theory.search import ROUNDS, first_set, is_too_large, worst
from rosenblatt.theory.solvers import Deadline, shortest

GAP = 1e-7  # relative; beyond it further rounds gain nothing that is reported
UNITS = 1 << 62  # weights are whole multiples of one part in so many
NEAR = 1e-9  # rows so near to the longest are measured exactly
MEASURED = 1000  # at most; the others are taken to be as much longer


@dataclass
class Widest:
    """The best of both sides of the margin: v from below, weights from above."""

    v: NDArray[Any]
    low: float
    numbers: NDArray[Any]
    weights: NDArray[Any]
    high: float


@dataclass(frozen=True)
class Ends:
    """The interval of a margin, with the proof of either end."""

    v: NDArray[Any]  # of length 1, as far as rounding lets it
    low: float
    high: float
    proof: Proof | None  # the weights behind the upper end


def measure(
    system: Inequalities, v: NDArray[Any], length: NDArray[Any], deadline: Deadline
) -> Ends:
    """Return the widest margin, from a witness v; ``length`` says which variables count."""
    widest = widen(system, v, length, deadline)
    if widest is None:
        return Ends(v, low_margin(system, v, length), inf, None)
    high, proof = high_margin(system, widest.numbers, widest.weights, length)
    unit = widest.v / (np.linalg.norm(widest.v[length]) or 1.0)
    low = low_margin(system, unit, length)
    if low >= widest.low * (1 - 1e-9):
        return Ends(unit, low, high, proof)
    others = [(low_margin(system, other, length), other) for other in (widest.v, v)]
    low, best = max([(low, unit), *others], key=itemgetter(0))  # the norm may round badly
    return Ends(best, low, high, proof)


def low_margin(system: Inequalities, v: NDArray[Any], length: NDArray[Any]) -> float:
    """Return the margin of a witness, rounded down; −inf where it is none."""
    least = system.least(v)
    if least is None or least <= 0:
        return -inf
    numbers, d = integers(v[length])
    square = Fraction(sum(n * n for n in numbers), d * d)
    return root_bounds(least * least / square)[0] if square else inf


def whole_weights(
    system: Inequalities, numbers: NDArray[Any], weights: NDArray[Any], *, sided: bool
) -> list[Fraction]:
    """Return the weights as fractions that sum to exactly 1; sided: to 1/2 for either class."""
    if not sided:
        parts = [int(weight * UNITS) for weight in weights / weights.max()]
        total = sum(parts)
        return [Fraction(part, total) for part in parts]
    classes = system.rows.numbers[numbers]
    most = [weights[classes == side].max() for side in (0, 1)]
    parts = [int(w / most[k] * UNITS) for w, k in zip(weights, classes, strict=True)]
    totals = [sum(p for p, k in zip(parts, classes, strict=True) if k == side) for side in (0, 1)]
    return [Fraction(p, 2 * totals[k]) for p, k in zip(parts, classes, strict=True)]


def high_margin(
    system: Inequalities, numbers: NDArray[Any], weights: NDArray[Any], length: NDArray[Any]
) -> tuple[float, Proof | None]:
    """Return ‖Σ λ·a‖ rounded up, and the weights: no margin is above it (weak duality).

    Of two classes with a free bias that is half the distance of the two points of the hulls. Of K
    classes the weights may leave a little of a bias over; b's differences are at most √2·R for a
    unit W that separates, so what is left over counts √2·R times.
    """
    free = not length.all()
    if system.n_classes == 2 and free and len(set(system.rows.numbers[numbers].tolist())) < 2:
        return inf, None
    exact = whole_weights(system, numbers, weights, sided=system.n_classes == 2 and free)
    common = max(weight.denominator for weight in exact)
    for weight in exact:  # their least common multiple, but of few different ones
        if common % weight.denominator:
            common *= weight.denominator
    stored = system.exact_vectors(numbers)
    assert stored is not None  # noqa: S101  # stored values always are fractions
    vectors, d = stored
    total: dict[int, int] = {}
    for vector, weight in zip(vectors, exact, strict=True):
        units = weight.numerator * (common // weight.denominator)
        for place, n in vector.items():
            total[place] = total.get(place, 0) + units * n
    square = sum(n * n for place, n in total.items() if length[place])
    high = root_bounds(Fraction(square, (common * d) ** 2))[1]
    if free and system.n_classes > 2:
        left = sum(abs(n) for place, n in total.items() if not length[place])
        reach = Fraction(root_bounds(2 * squared_radius(system.rows))[1])
        high = rounded_up(Fraction(high) + Fraction(left, common * d) * reach)
    return high, Proof(numbers=numbers, weights=exact)


def squared_radius(rows: LabelledRows) -> Fraction:
    """Return R² = max ‖x‖² + 1, exactly where few rows are the longest, else a little above."""
    squares = _squares(rows, 1.0)
    if not np.isfinite(squares).all():  # beyond float64: which rows are longest shows smaller
        values: Any = rows.X.data if rows.is_sparse else rows.X
        squares = _squares(rows, 2.0**-1 / float(abs(values).max()))
    near = np.flatnonzero(squares >= squares.max() * (1 - NEAR))
    exact = [_square(rows, int(row)) for row in near[:MEASURED]]
    if len(near) > MEASURED:
        return max(exact) * (1 + 2 * Fraction(NEAR)) + 1
    return max(exact) + 1


def _squares(rows: LabelledRows, scale: float) -> NDArray[Any]:
    """Return ‖scale·x‖² of each row, in floating point."""
    squares = np.empty(rows.n_rows)
    with np.errstate(over="ignore"):
        for part, block in rows.blocks():
            if rows.is_sparse:
                squares[part] = (block * scale).power(2).sum(axis=1)
            else:
                scaled = block if scale == 1.0 else block * scale
                squares[part] = np.einsum("ij,ij->i", scaled, scaled)
    return squares


def _square(rows: LabelledRows, row: int) -> Fraction:
    numbers, d = integers(rows.row(row)[1])
    return Fraction(sum(n * n for n in numbers), d * d)


def widen(
    system: Inequalities, v: NDArray[Any], length: NDArray[Any], deadline: Deadline
) -> Widest | None:
    """Return a witness near the widest margin and weights that bound it from above.

    The margin is the least a·v over the length of v, where ``length`` says which variables count.
    """
    start = _relative(system.leads(v).values.min(), v, length)
    best = Widest(v, start, np.empty(0, np.int64), np.empty(0), np.inf)
    working = first_set(system, v)
    for _ in range(ROUNDS):
        if deadline.passed or is_too_large(system, working):
            break
        A = system.vectors(working)
        answer = shortest(A, length, system.blocks, best.v, deadline)
        if answer is None:
            break
        v, weights = answer
        high = upper_margin(A, weights, length, system)
        if high < best.high:
            kept = weights > 1e-13 * weights.max()
            best.numbers, best.weights, best.high = working[kept], weights[kept], high
        leads = system.leads(v)
        middle, least = v, float(leads.values.min())
        if not length.all():
            middle, least = _middle(system, v, leads.values)
        low = _relative(least, v, length)
        if low > best.low:
            best.v, best.low = middle, low
        if best.high - best.low <= GAP * best.high:
            break
        missing = np.setdiff1d(worst(system, leads, 1 - 1e-9), working)
        if not len(missing):
            break
        working = np.union1d(working, missing)
    return best if len(best.numbers) else None


def best_bias(system: Inequalities, v: NDArray[Any]) -> NDArray[Any]:
    """Return v with the bias that puts the boundary of two classes in the middle of their gap."""
    return _middle(system, v, system.leads(v).values)[0]


def _middle(
    system: Inequalities, v: NDArray[Any], leads: NDArray[Any]
) -> tuple[NDArray[Any], float]:
    """Return v with its best bias, and the least lead that it then has."""
    if system.n_classes != 2:
        return v, float(leads.min())
    positive = system.rows.numbers == 1
    above, below = float(leads[positive].min()), float(leads[~positive].min())
    moved = v.copy()
    moved[-1] += below / 2 - above / 2
    return moved, above / 2 + below / 2


def _relative(least: float, v: NDArray[Any], length: NDArray[Any]) -> float:
    norm = float(np.linalg.norm(v[length]))
    return float(least) / norm if norm > 0 else -np.inf


def upper_margin(
    A: Any, weights: NDArray[Any], length: NDArray[Any], system: Inequalities
) -> float:
    """Return ‖Σ λ·a‖ for these weights, made to balance where two classes have a free bias."""
    weights = balanced(A, weights, length, system)
    total = A.T @ weights
    return float(np.linalg.norm(total[length]))


def balanced(
    A: Any, weights: NDArray[Any], length: NDArray[Any], system: Inequalities
) -> NDArray[Any]:
    """Return weights that sum to 1, half of it on either side if two classes have a free bias."""
    share: Any = weights.sum()
    if system.n_classes == 2 and not length.all():
        last = A[:, [-1]].toarray().ravel() if sparse.issparse(A) else A[:, -1]
        sums = weights[last > 0].sum(), weights[last < 0].sum()
        if min(sums) > 0:
            share = np.where(last > 0, 2 * sums[0], 2 * sums[1])
    return np.asarray(weights / share)
