"""The widest margin of separable rows: searched for in floating point, proved in exact arithmetic.

A quadratic program on a working set proposes a witness and the weights of the nearest points of the
hulls; both ends of the margin are then computed exactly from the data and rounded outward.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.theory.certificate import Proof
from rosenblatt.theory.deadline import Deadline, OutOfTimeError
from rosenblatt.theory.exact import adds_up, norm, root_bounds, rounded_up, squared_norm
from rosenblatt.theory.inequalities import Inequalities, Leads, WorkingSet
from rosenblatt.theory.labelled_rows import LabelledRows
from rosenblatt.theory.nearest_point import MOST_VARIABLES, nearest_point
from rosenblatt.theory.search import ROUNDS, first_set, is_too_large, worst
from rosenblatt.theory.solvers import seconds_for, shortest

GAP = 1e-7  # relative; beyond it further rounds gain nothing that is reported
REPORTED_GAP = 1e-6  # wider intervals get a note
LIKELY = 1e-4  # relative weight of a row that is likely to hold the margin
UNITS = 1 << 62  # weights are rounded to multiples of 1/UNITS
NEAR = 1e-9  # rows so near to the longest are measured exactly
MEASURED = 100_000  # values at most; of more the length is known to that part only
LARGEST_SYSTEM = 8000  # equations in a step of the quadratic program: 256 MB
STEPS = 12  # that the quadratic program takes at least


@dataclass
class MarginCandidate:
    """Best bounds of the margin so far: v from below, weights from above."""

    v: NDArray[Any]
    low: float
    numbers: NDArray[Any]
    weights: NDArray[Any]
    high: float


@dataclass(frozen=True)
class MarginInterval:
    """The interval of a margin, with the proof of either end."""

    v: NDArray[Any]  # of length 1, as far as rounding lets it
    low: float
    high: float
    proof: Proof | None  # the weights behind the upper end

    @property
    def are_close(self) -> bool:
        """Whether the interval is as narrow as it is reported."""
        return self.high < inf and self.high - self.low <= REPORTED_GAP * self.high

    def joined(self, other: "MarginInterval") -> "MarginInterval":
        """Return the better of both ends."""
        lower = self if self.low >= other.low else other
        upper = self if self.high <= other.high else other
        return MarginInterval(lower.v, lower.low, upper.high, upper.proof)


def measure(
    system: Inequalities, v: NDArray[Any], length: NDArray[Any], deadline: Deadline
) -> MarginInterval:
    """Return the widest margin, from a witness v; ``length`` says which variables count."""
    widest = MarginCandidate(v, -inf, np.empty(0, np.int64), np.empty(0), inf)
    with suppress(OutOfTimeError):  # what is known until then serves
        _widen(system, widest, length, deadline)
    witnesses = [v] if widest.v is v else [widest.v, v]
    ends = _ends(system, witnesses, length, *_fractions(system, widest, length), deadline)
    if not ends.are_close and system.width <= MOST_VARIABLES:
        numbers = np.union1d(widest.numbers, first_set(system, ends.v))
        likely = widest.numbers[widest.weights > LIKELY * widest.weights.max(initial=0.0)]
        with suppress(OutOfTimeError):
            for better in _exact_ends(system, ends.v, numbers, length, likely, deadline):
                ends = ends.joined(better)
                if ends.are_close:
                    break
    return ends


def _exact_ends(
    system: Inequalities,
    v: NDArray[Any],
    numbers: NDArray[Any],
    length: NDArray[Any],
    likely: NDArray[Any],
    deadline: Deadline,
) -> Iterator[MarginInterval]:
    """Yield what the nearest points of a working set prove, in exact arithmetic, while it grows."""
    for _ in range(ROUNDS):
        nearest = nearest_point(system, numbers, length, likely, deadline)
        if nearest is None:
            return
        likely = nearest.numbers
        witnesses = [*nearest.roundings(8), v]
        yield _ends(system, witnesses, length, nearest.numbers, nearest.weights, deadline)
        leads = system.leads(witnesses[0])
        least = leads.values[system.rows_of(nearest.numbers)].max()  # of the set, but for rounding
        missing = np.setdiff1d(worst(system, leads, least * (1 - 1e-9)), numbers)
        if not len(missing):
            return
        numbers = np.union1d(numbers, missing)


def _ends(
    system: Inequalities,
    witnesses: list[NDArray[Any]],
    length: NDArray[Any],
    numbers: NDArray[Any],
    weights: list[Fraction],
    deadline: Deadline,
) -> MarginInterval:
    """Return the interval that weights and the best of some witnesses prove."""
    high, proof = high_margin(system, numbers, weights, length)
    unit = witnesses[0] / (norm(witnesses[0][length]) or 1.0)
    best, low = unit, -inf
    for v in (unit, *witnesses):  # of unit length, unless the norm rounds badly
        margin = system.margin_of(v, length)
        if margin > low:
            best, low = v, margin
        ends = MarginInterval(best, low, high, proof)
        if ends.are_close or (low > 0 and deadline.passed):
            break
    return ends


def _fractions(
    system: Inequalities, widest: MarginCandidate, length: NDArray[Any]
) -> tuple[NDArray[Any], list[Fraction]]:
    """Return the weights as fractions that sum to 1; to 1/2 on either side of a free bias."""
    numbers, weights = widest.numbers, widest.weights
    if system.n_classes > 2 or length.all():
        parts = [np.arange(len(numbers))]
    else:
        parts = [np.flatnonzero(system.rows.numbers[numbers] == k) for k in (0, 1)]
    if not all(len(part) and weights[part].max() > 0 for part in parts):
        return np.empty(0, np.int64), []
    exact = [weight / len(parts) for part in parts for weight in whole_parts(weights[part])]
    positive = [i for i, weight in enumerate(exact) if weight]
    return numbers[np.concatenate(parts)][positive], [exact[i] for i in positive]


def whole_parts(weights: NDArray[Any]) -> list[Fraction]:
    """Return weights as fractions that sum to exactly 1; very small ones as zero."""
    parts = [int(weight * UNITS) for weight in weights / weights.max()]
    total = sum(parts)
    return [Fraction(part, total) for part in parts]


def high_margin(
    system: Inequalities, numbers: NDArray[Any], weights: list[Fraction], length: NDArray[Any]
) -> tuple[float, Proof | None]:
    """Return ‖Σ λ·a‖ rounded up, and the weights: no margin is above it (weak duality).

    Of two classes with a free bias that is half the distance of the two points of the hulls. Of K
    classes the weights may leave a little of a bias over; b's differences are at most √2·R for a
    unit W that separates, so what is left over counts √2·R times.
    """
    if not len(numbers):
        return inf, None
    common = lcm(*(weight.denominator for weight in weights))
    stored = system.exact_vectors(numbers)
    assert stored is not None  # noqa: S101  # stored values always are fractions
    vectors, d = stored
    total = adds_up(vectors, weights)
    square = sum(n * n for place, n in total.items() if length[place])
    high = root_bounds(Fraction(square, (common * d) ** 2))[1]
    if not length.all() and system.n_classes > 2:
        left = sum(abs(n) for place, n in total.items() if not length[place])
        reach = Fraction(root_bounds(2 * squared_radius(system.rows))[1])
        high = rounded_up(Fraction(high) + Fraction(left, common * d) * reach)
    return high, Proof(numbers=numbers, weights=weights)


def squared_radius(rows: LabelledRows) -> Fraction:
    """Return R² = max ‖x‖² + 1, exactly where few values decide it, else a little above."""
    values: Any = rows.X.data if rows.is_sparse else rows.X
    largest = float(abs(values).max(initial=0.0))
    if largest == 0.0:
        return Fraction(1)
    scale = float(np.ldexp(1.0, int(np.clip(-np.frexp(largest)[1], -1000, 1000))))
    squares = _squares(rows, scale)  # the largest is near 1: none overflows, few vanish
    near = np.flatnonzero(squares >= squares.max() * (1 - NEAR))
    if len(near) * (rows.n_values / rows.n_rows) <= MEASURED:
        return max(squared_norm(rows.row(int(row))[1]) for row in near) + 1
    above = Fraction(float(squares.max())) * (1 + 2 * Fraction(NEAR))
    return (above + Fraction(rows.n_features, 1 << 1070)) / Fraction(scale) ** 2 + 1


def _squares(rows: LabelledRows, scale: float) -> NDArray[Any]:
    """Return ‖scale·x‖² of each row, in floating point."""
    squares = np.empty(rows.n_rows)
    for part, block in rows.blocks():
        if rows.is_sparse:
            squares[part] = (block * scale).power(2).sum(axis=1)
        else:
            scaled = block * scale
            squares[part] = np.einsum("ij,ij->i", scaled, scaled)
    return squares


def _widen(
    system: Inequalities, best: MarginCandidate, length: NDArray[Any], deadline: Deadline
) -> None:
    """Improve both sides of the margin, the least a·v over its length, on a growing working set."""
    deadline.check()
    _raise(system, best, best.v, system.leads(best.v).values, length)
    numbers = first_set(system, best.v)
    for _ in range(ROUNDS):
        deadline.check()
        if is_too_large(system, numbers):
            return
        working = system.working_set(numbers)
        if min(working.A.shape) > LARGEST_SYSTEM or STEPS * seconds_for(working) > deadline.left:
            return
        leads = _improve(system, best, working, length, deadline)
        if leads is None or best.high - best.low <= GAP * best.high:
            return
        missing = np.setdiff1d(worst(system, leads, 1 - 1e-9), numbers)
        if not len(missing):
            return
        numbers = np.union1d(numbers, missing)


def _improve(
    system: Inequalities,
    best: MarginCandidate,
    working: WorkingSet,
    length: NDArray[Any],
    deadline: Deadline,
) -> Leads | None:
    """Improve both sides by what solves the working set; return the leads of what does so best."""
    own_length = working.narrow(length)
    closest, leads = -inf, None
    for proposal in shortest(working, own_length, working.narrow(best.v), deadline):
        weights = balance(working.A, proposal.weights, own_length, system)
        high = norm((working.A.T @ weights)[own_length])
        if high < best.high:
            used = weights > 1e-13 * weights.max()
            best.numbers, best.weights, best.high = working.numbers[used], weights[used], high
        v = working.wide(proposal.v)
        all_leads = system.leads(v)
        low = _raise(system, best, v, all_leads.values, length)
        own_low = _relative(float((working.A @ proposal.v).min()), v, length)
        if max(low, own_low) > closest:
            closest, leads = max(low, own_low), all_leads
        if high - closest <= GAP * high:
            break
    return leads


def _raise(
    system: Inequalities,
    best: MarginCandidate,
    v: NDArray[Any],
    leads: NDArray[Any],
    length: NDArray[Any],
) -> float:
    """Take v for the lower side if it is better, with its best bias; return the margin it has."""
    least = float(leads.min())
    if not length.all():
        v, least = _middle(system, v, leads)
    low = _relative(least, v, length)
    if low > best.low:
        best.v, best.low = v, low
    return low


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
    size = norm(v[length])
    return least / size if 0 < size < inf else -inf


def balance(
    A: Any, weights: NDArray[Any], length: NDArray[Any], system: Inequalities
) -> NDArray[Any]:
    """Return weights that sum to 1, half of it on either side if two classes have a free bias."""
    weights = weights / weights.max()
    share: Any = weights.sum()
    if system.n_classes == 2 and not length.all():
        last = A[:, [-1]].toarray().ravel() if sparse.issparse(A) else A[:, -1]
        sums = weights[last > 0].sum(), weights[last < 0].sum()
        if min(sums) > 0:
            share = np.where(last > 0, 2 * sums[0], 2 * sums[1])
    return np.asarray(weights / share)
