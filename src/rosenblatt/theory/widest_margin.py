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
    search = _Search(system, v, length, deadline)
    with suppress(OutOfTimeError):  # what is known until then serves
        search.widen()
    ends = search.ends([v] if search.v is v else [search.v, v], *search.fractions())
    if not ends.are_close and system.width <= MOST_VARIABLES:
        with suppress(OutOfTimeError):
            for better in search.exact_ends(ends.v):
                ends = ends.joined(better)
                if ends.are_close:
                    break
    return ends


class _Search:
    """The search for the widest margin: the best v from below, weights from above, so far.

    The margin is the least a·v over the length of v, in the variables that ``length`` says.
    """

    def __init__(
        self, system: Inequalities, v: NDArray[Any], length: NDArray[Any], deadline: Deadline
    ) -> None:
        self._system, self._length, self._deadline = system, length, deadline
        self.v, self._low, self._high = v, -inf, inf
        self._numbers, self._weights = np.empty(0, np.int64), np.empty(0)

    def widen(self) -> None:
        """Improve both sides of the margin, on a working set that grows."""
        system = self._system
        self._deadline.check()
        self._raise(self.v, system.leads(self.v).values)
        numbers = first_set(system, self.v)
        for _ in range(ROUNDS):
            self._deadline.check()
            if is_too_large(system, numbers):
                return
            working = system.working_set(numbers)
            seconds = STEPS * seconds_for(working)
            if min(working.A.shape) > LARGEST_SYSTEM or seconds > self._deadline.left:
                return
            leads = self._improve(working)
            if leads is None or self._high - self._low <= GAP * self._high:
                return
            missing = np.setdiff1d(worst(system, leads, 1 - 1e-9), numbers)
            if not len(missing):
                return
            numbers = np.union1d(numbers, missing)

    def _improve(self, working: WorkingSet) -> Leads | None:
        """Improve both sides by solutions on the working set; return the leads of the best one."""
        own_length = working.narrow(self._length)
        closest, leads = -inf, None
        for proposal in shortest(working, own_length, working.narrow(self.v), self._deadline):
            weights = self._balanced(working.A, proposal.weights)
            high = norm((working.A.T @ weights)[own_length])
            if high < self._high:
                used = weights > 1e-13 * weights.max()
                self._numbers, self._weights = working.numbers[used], weights[used]
                self._high = high
            v = working.wide(proposal.v)
            all_leads = self._system.leads(v)
            low = self._raise(v, all_leads.values)
            own_low = self._relative(float((working.A @ proposal.v).min()), v)
            if max(low, own_low) > closest:
                closest, leads = max(low, own_low), all_leads
            if high - closest <= GAP * high:
                break
        return leads

    def _raise(self, v: NDArray[Any], leads: NDArray[Any]) -> float:
        """Take v for the lower side if it is better, with its best bias; return its margin."""
        least = float(leads.min())
        if self._system.n_classes == 2 and not self._length.all():
            positive = self._system.rows.numbers == 1
            above, below = float(leads[positive].min()), float(leads[~positive].min())
            v, least = v.copy(), above / 2 + below / 2
            v[-1] += below / 2 - above / 2
        low = self._relative(least, v)
        if low > self._low:
            self.v, self._low = v, low
        return low

    def _relative(self, least: float, v: NDArray[Any]) -> float:
        size = norm(v[self._length])
        return least / size if 0 < size < inf else -inf

    def _balanced(self, A: Any, weights: NDArray[Any]) -> NDArray[Any]:
        """Return weights that sum to 1, half on either side if two classes have a free bias."""
        weights = weights / weights.max()
        share: Any = weights.sum()
        if self._system.n_classes == 2 and not self._length.all():
            last = A[:, [-1]].toarray().ravel() if sparse.issparse(A) else A[:, -1]
            sums = weights[last > 0].sum(), weights[last < 0].sum()
            if min(sums) > 0:
                share = np.where(last > 0, 2 * sums[0], 2 * sums[1])
        return np.asarray(weights / share)

    def fractions(self) -> tuple[NDArray[Any], list[Fraction]]:
        """Return the weights as fractions that sum to 1; to 1/2 on either side of a free bias."""
        numbers, weights = self._numbers, self._weights
        parts = [np.arange(len(numbers))]
        if self._system.n_classes == 2 and not self._length.all():
            parts = [np.flatnonzero(self._system.rows.numbers[numbers] == k) for k in (0, 1)]
        if not all(len(part) and weights[part].max() > 0 for part in parts):
            return np.empty(0, np.int64), []
        exact = [weight / len(parts) for part in parts for weight in whole_parts(weights[part])]
        positive = [i for i, weight in enumerate(exact) if weight]
        return numbers[np.concatenate(parts)][positive], [exact[i] for i in positive]

    def exact_ends(self, v: NDArray[Any]) -> Iterator[MarginInterval]:
        """Yield intervals proved by the nearest points of a growing working set, exactly."""
        system = self._system
        numbers = np.union1d(self._numbers, first_set(system, v))
        likely = self._numbers[self._weights > LIKELY * self._weights.max(initial=0.0)]
        for _ in range(ROUNDS):
            nearest = nearest_point(system, numbers, self._length, likely, self._deadline)
            if nearest is None:
                return
            likely = nearest.numbers
            witnesses = [*nearest.roundings(8), v]
            yield self.ends(witnesses, nearest.numbers, nearest.weights)
            leads = system.leads(witnesses[0])
            least = leads.values[system.rows_of(likely)].max()  # of the set, but for rounding
            missing = np.setdiff1d(worst(system, leads, least * (1 - 1e-9)), numbers)
            if not len(missing):
                return
            numbers = np.union1d(numbers, missing)

    def ends(
        self, witnesses: list[NDArray[Any]], numbers: NDArray[Any], weights: list[Fraction]
    ) -> MarginInterval:
        """Return the interval that weights and the best of some witnesses prove."""
        high, proof = self._upper(numbers, weights)
        unit = witnesses[0] / (norm(witnesses[0][self._length]) or 1.0)
        best, low = unit, -inf
        for v in (unit, *witnesses):  # of unit length, unless the norm rounds badly
            margin = self._system.margin_of(v, self._length)
            if margin > low:
                best, low = v, margin
            ends = MarginInterval(best, low, high, proof)
            if ends.are_close or (low > 0 and self._deadline.passed):
                break
        return ends

    def _upper(self, numbers: NDArray[Any], weights: list[Fraction]) -> tuple[float, Proof | None]:
        """Return ‖Σ λ·a‖ rounded up, and the weights: no margin is above it (weak duality).

        Of two classes with a free bias that is half the distance of the two points of the hulls. Of
        K classes the weights may leave a little of a bias over; b's differences are at most √2·R
        for a unit W that separates, so what is left over counts √2·R times.
        """
        if not len(numbers):
            return inf, None
        system, length = self._system, self._length
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


def whole_parts(weights: NDArray[Any]) -> list[Fraction]:
    """Return weights as fractions that sum to exactly 1; very small ones as zero."""
    parts = [int(weight * UNITS) for weight in weights / weights.max()]
    total = sum(parts)
    return [Fraction(part, total) for part in parts]


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
