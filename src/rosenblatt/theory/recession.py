"""The directions in which no likelihood falls: which rows they leave at zero, which way they point.

v with a·v ≥ 0 for all inequalities are a cone C: along each of them the likelihood of a logistic
regression never falls (Albert and Anderson, "On the existence of maximum likelihood estimates in
logistic regression models", Biometrika 71, 1984). An inequality is *held* where a·v = 0 for all of
C. That is proved by weights λ > 0 with Σ λ·a = 0: each term of Σ λ·a·v = 0 is at least 0 in C, so
all are 0, and so is a·v for every a that is a combination of those with a weight (Stiemke). That
no other one is held is proved by one v in C that is above 0 at all the others.

A coordinate of v grows without bound in every sequence of weights whose likelihood comes to its
supremum, if it is never negative in C and positive somewhere: by Farkas it is a sum of μ·a, μ ≥ 0,
with one of them not held, where a·v has to grow, while it settles at those that are held. If C has
both signs, nothing fixes one, and some such sequences leave it where it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.certificate import Proof
from rosenblatt.theory.deadline import Deadline, OutOfTimeError
from rosenblatt.theory.exact import (
    PRIMES,
    has_positive_solution,
    integers,
    kernel_point,
    null_space,
    pivots,
    solve,
    units_of,
)
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows
from rosenblatt.theory.nearest_point import (
    MOST_VALUES,
    MOST_VARIABLES,
    even_mixture,
    floats,
    is_small,
)
from rosenblatt.theory.search import ROUNDS, first_set, is_too_large
from rosenblatt.theory.solvers import largest_support, nearest_sum, positive_weights

EXACT_ROWS = 20_000  # whose a·v is computed with integers
DENOMINATORS = (1, 64, 10**6)  # of short directions, which are tried first
MOST_COLUMNS = 200  # of whose coefficients something is said: 150 of 2,000 rows take 10 s
WIDEST = 4000  # variables of a system whose cone is looked for
POOL = 1 << 16  # rows nearest to the boundary, which are tried before all
MOST_RELATIONS = 50  # of columns, from which the best to leave out are chosen
MOST_ADDED = 40  # inequalities that a direction is below 0 at, to the working set


@dataclass(frozen=True)
class Face:
    """Which inequalities are held, with the weights and the direction that prove it."""

    held: NDArray[Any]  # in the form of ``Inequalities.values``
    v: list[int]
    proof: Proof  # the weights; without any, nothing is held
    basis: NDArray[Any]  # of all v that leave those with a weight at 0, as columns


class Sides(NamedTuple):
    """Where a direction is below 0, and where it is 0 without a proof that it has to be."""

    below: NDArray[Any]  # numbers, the lowest first
    loose: NDArray[Any]
    held: NDArray[Any]  # in the form of ``Inequalities.values``

    @property
    def is_proof(self) -> bool:
        """Whether the direction lies in the cone, and is above 0 wherever it can be."""
        return not len(self.below) and not len(self.loose)


def sides_of(system: Inequalities, v: list[int], basis: NDArray[Any]) -> Sides | None:
    """Return at which inequalities v is below 0, and 0 although not held; None if undecided.

    v is a combination of the basis.
    """
    rivals = np.arange(1 if system.n_classes == 2 else system.n_classes)
    unsure = np.ones((system.rows.n_rows, len(rivals)), bool)
    below, loose, values = np.empty(0, np.int64), np.empty(0, np.int64), np.zeros(unsure.shape)
    if system.n_classes > 2:
        unsure &= system.rows.numbers[:, None] != rivals
    if any(v):
        rounded = floats([Fraction(x) for x in v])
        values, error = system.values(rounded), system.error(rounded)
        below = np.flatnonzero(values < -error)
        unsure &= abs(values) <= error
    held = system.vanishing(basis, unsure)
    rest = np.flatnonzero(unsure & ~held)
    if len(rest) > EXACT_ROWS:
        return None
    if len(rest):
        products = np.array([(n > 0) - (n < 0) for n in system.products(rest, v)])
        below, loose = np.append(below, rest[products < 0]), rest[products == 0]
    return Sides(below[np.argsort(values.flat[below], kind="stable")], loose, held)


def face_of(system: Inequalities, start: NDArray[Any], deadline: Deadline) -> Face | None:
    """Return which inequalities are held; None if that stays undecided.

    A linear program on a working set proposes, which begins with ``start``; exact arithmetic makes
    weights and direction of it, and what the direction does not meet is added.
    """
    if system.width > WIDEST:
        return None
    numbers = np.union1d(start, first_set(system, np.zeros(system.width)))
    count = 2 * (min(system.rows.n_features, 500) + 2)
    for _ in range(ROUNDS):
        for face in _faces_of_some(system, numbers, deadline):
            deadline.check()
            sides = sides_of(system, face.v, face.basis)
            if sides is None:
                continue
            if sides.is_proof:
                return replace(face, held=sides.held)
            missing = np.append(sides.below[:count], sides.loose[:count])
            missing = np.setdiff1d(missing, numbers)
            if len(missing):
                numbers = np.union1d(numbers, missing)
                break
        else:
            return None
    return None


def _faces_of_some(
    system: Inequalities, numbers: NDArray[Any], deadline: Deadline
) -> Iterator[Face]:
    """Yield what is held among some inequalities: by linear programs, then by exact arithmetic."""
    deadline.check()
    if is_too_large(system, numbers):
        return
    working = system.working_set(numbers)
    support = largest_support(working, deadline)
    none = np.empty(0, bool)
    if support is not None:
        proof = _weights_on(system, numbers[support.weights > 0], deadline)
        if proof is not None:
            basis, free = null_space(lines_of(system, proof), deadline)
            others = working.A[np.flatnonzero(support.weights <= 0)]
            for v in _directions(support.v, basis, free):
                near = others @ working.narrow(floats([Fraction(x) for x in v]))
                if (near > 0).all():
                    yield Face(none, v, proof, basis)
                    break
    if is_small(system, numbers):
        yield _exact_face(system, numbers, deadline)


def _exact_face(system: Inequalities, numbers: NDArray[Any], deadline: Deadline) -> Face:
    """Return what is held among a few inequalities, by exact arithmetic alone.

    The point of the hull that is nearest to 0 is a direction above 0 at all of them, or 0 itself:
    its weights then say which are held, and the search goes on in the directions that hold them.
    """
    A = _dense(system, numbers)
    weights = dict[int, Fraction]()
    basis = np.eye(system.width, dtype=int).astype(object)
    while True:
        B = A @ basis
        others = np.flatnonzero(B.any(axis=1))
        u = np.zeros(basis.shape[1], object)
        found = dict[int, Fraction]()
        if len(others):
            found, u = even_mixture(B[others], deadline)
        if u.any() or not len(others):
            proof = Proof()
            if weights:
                total = sum(weights.values())
                own = [weight / total for weight in weights.values()]
                proof = Proof(numbers=numbers[[*weights]], weights=own)
            return Face(np.empty(0, bool), [int(x) for x in basis @ u], proof, basis)
        weights = _joined(A, weights, {int(others[i]): w for i, w in found.items()})
        basis, _ = null_space(A[[*weights]], deadline)


def _joined(
    A: NDArray[Any], weights: dict[int, Fraction], more: dict[int, Fraction]
) -> dict[int, Fraction]:
    """Return weights above 0 on the lines of both, that add up to 0.

    Those of the first do; those of the second to a combination of the same lines.
    """
    if not weights:
        return more
    units, _ = units_of(more.values())
    left = np.array(units, object) @ A[[*more]]
    shares = null_space(np.column_stack([A[[*weights]].T, left]))[0]
    line = next(column for column in shares.T if column[-1])
    owed = [Fraction(int(n), int(line[-1])) for n in line[:-1]]  # Σ owed·a + left = 0
    often = max(
        [Fraction(0)] + [-n / weight for n, weight in zip(owed, weights.values(), strict=True)]
    )
    first = {
        i: weight * (often + 1) + n for (i, weight), n in zip(weights.items(), owed, strict=True)
    }
    return first | dict(zip(more, map(Fraction, units), strict=True))


def lines_of(system: Inequalities, proof: Proof) -> NDArray[Any]:
    """Return the vectors of the inequalities with a weight as integers, a line each."""
    numbers = np.empty(0, np.int64) if proof.numbers is None else proof.numbers
    return _dense(system, numbers)


def _dense(system: Inequalities, numbers: NDArray[Any]) -> NDArray[Any]:
    lines = np.zeros((len(numbers), system.width), object)
    stored = system.exact_vectors(numbers)
    assert stored is not None  # noqa: S101  # stored values always are fractions
    for line, a in zip(lines, stored[0], strict=True):
        line[list(a)] = list(a.values())
    return lines


def _weights_on(system: Inequalities, numbers: NDArray[Any], deadline: Deadline) -> Proof | None:
    """Return weights above 0 on some of the inequalities, which the others are combinations of."""
    if not len(numbers):
        return Proof()
    stored = system.exact_vectors(numbers)
    assert stored is not None  # noqa: S101  # stored values always are fractions
    vectors = stored[0]
    _, independent = pivots(_dense(system, numbers).T, PRIMES[0], deadline)
    weights = positive_weights(system.working_set(numbers), independent, deadline)
    if weights is None:
        return None
    used = np.flatnonzero(weights > 1e-9 * weights.max())
    exact = kernel_point([vectors[i] for i in used], weights[used], deadline)
    if exact is None:
        return None
    positive = [i for i, weight in enumerate(exact) if weight]
    return Proof(numbers=numbers[used[positive]], weights=[exact[i] for i in positive])


def _directions(v: NDArray[Any], basis: NDArray[Any], free: list[int]) -> Iterator[list[int]]:
    """Yield combinations of a basis near v, those of short numbers first."""
    if not free:
        yield [0] * len(basis)
        return
    given = v[free]
    size = abs(given).max() or 1.0
    for most in (*DENOMINATORS, None):
        parts = [Fraction(float(x)) for x in given / size]
        if most is not None:
            parts = [part.limit_denominator(most) for part in parts]
        columns = zip(parts, free, basis.T, strict=True)
        units, _ = units_of([part / int(column[place]) for part, place, column in columns])
        found = basis @ np.array(units, object)
        common = gcd(*found) or 1
        yield [int(x) // common for x in found]


@dataclass
class Coefficients:
    """Which coefficients have no finite estimate, by place: class (of two: 0), then column."""

    infinite: dict[tuple[int, int], int] = field(default_factory=dict)  # +1 or −1
    undetermined: list[tuple[int, int]] = field(default_factory=list)
    unknown: list[tuple[int, int]] = field(default_factory=list)  # undecided
    collinear: list[int] = field(default_factory=list)  # columns whose coefficient is left out


def coefficients_of(system: Inequalities, face: Face, deadline: Deadline) -> Coefficients:
    """Return which coefficients have no finite estimate.

    Of columns that are combinations of others some are left out, and so is the first of several
    classes, to which the others are compared: this changes no likelihood. Raise OutOfTimeError.
    """
    relations = column_relations(system.rows, deadline)
    shape = system.blocks, len(relations), face.basis.shape[1]
    collinear = _left_out(relations, face.basis.reshape(shape))
    found = Coefficients(collinear=collinear)
    if not any(face.v):
        return found
    fixed = np.zeros((system.blocks, relations.shape[0]), bool)
    fixed[:, collinear] = True
    fixed[0] |= system.blocks > 1
    lines = np.eye(system.width, dtype=int).astype(object)[fixed.ravel()]
    basis, free = null_space(np.vstack([lines_of(system, face.proof), lines]), deadline)
    v = _moved(np.array(face.v, object).reshape(system.blocks, -1), relations, collinear)
    u = [v[j] / int(column[j]) for j, column in zip(free, basis.T, strict=True)]
    search = _Signs(system, face, basis, u)
    pending = dict[int, int]()
    for place in np.flatnonzero(basis.any(axis=1)).tolist():
        where = divmod(place, relations.shape[0])
        if v[place] == 0:  # inside of the cone: so near by there are both signs
            found.undetermined.append(where)
        else:
            pending[place] = 1 if v[place] > 0 else -1
    for place, sign in search.decided(pending, deadline):
        where = divmod(place, relations.shape[0])
        if sign is None:
            found.unknown.append(where)
        elif sign:
            found.infinite[where] = sign
        else:
            found.undetermined.append(where)
    found.undetermined.sort()
    return found


def column_relations(rows: LabelledRows, deadline: Deadline) -> NDArray[Any]:
    """Return all v with (x, 1)·v = 0 in every row as columns of integers, exactly."""
    two = replace(rows, numbers=np.minimum(rows.numbers, 1), classes=rows.classes[:2])
    system = Inequalities(two)
    count = min(rows.n_rows, 2 * system.width)
    numbers = np.unique(np.linspace(0, rows.n_rows - 1, count).astype(np.int64))
    order = np.append(rows.n_features, np.arange(rows.n_features))  # the constant comes first
    while True:
        lines = _dense(system, numbers)[:, order]
        kept, places = pivots(lines, PRIMES[0], deadline)
        basis = np.zeros((system.width, 0), object)
        if len(places) == system.width:
            return basis
        basis, _ = null_space(lines[kept], deadline)
        basis = basis[np.argsort(order)]
        among = np.ones((rows.n_rows, 1), bool)
        others = np.flatnonzero(~system.vanishing(basis, among))
        if not len(others):
            return basis
        numbers = np.append(numbers[kept], others[: system.width])


def _left_out(relations: NDArray[Any], bases: NDArray[Any]) -> list[int]:
    """Return a column for each relation that is left out to make the coefficients unique.

    Of all categories of a column, which add up to the constant 1, one is left out. The others are
    compared to it, so it should be one of those whose own score is finite: then the fewest are
    infinite. Two coefficients are comparable if all directions change them in one proportion.
    Where there are many relations any columns do.
    """
    if relations.shape[1] > MOST_RELATIONS:
        return sorted(pivots(relations[:-1].T, PRIMES[0])[1])
    chosen: list[int] = []
    reduced = [basis - bases[0] if len(bases) > 1 else basis for basis in bases]
    while relations.shape[1]:
        like = [_proportional(basis) for basis in reduced]
        candidates = np.flatnonzero(relations[:-1].any(axis=1)).tolist()
        best = max(candidates, key=lambda d: (sum(int(n[d]) for n in like), d))
        chosen.append(best)
        relations = _without(relations, best)
        reduced = [_without(basis, best) for basis in reduced]
    return sorted(chosen)


def _proportional(basis: NDArray[Any]) -> NDArray[Any]:
    """Return how many lines of a matrix of integers are proportional to each."""
    keys = []
    for line in basis.tolist():
        common = gcd(*line) or 1
        first = next((n for n in line if n), 1)
        keys.append(tuple(n // common * (1 if first > 0 else -1) for n in line))
    counts = dict.fromkeys(keys, 0)
    for key in keys:
        counts[key] += 1
    return np.array([counts[key] for key in keys])


def _without(basis: NDArray[Any], place: int) -> NDArray[Any]:
    """Return a basis of those combinations of columns that are 0 in a place."""
    used = np.flatnonzero(basis[place])
    if not len(used):
        return basis
    pivot = used[0]
    others = np.delete(np.arange(basis.shape[1]), pivot)
    left = basis[:, others] * basis[place, pivot] - basis[:, [pivot]] * basis[place, others]
    return np.asarray(left // np.array([gcd(*column) or 1 for column in left.T], object))


def _moved(V: NDArray[Any], relations: NDArray[Any], left_out: list[int]) -> list[Fraction]:
    """Return the same direction with 0 for the first class and for the columns left out."""
    if len(V) > 1:
        V = V - V[0]
    moved: list[Fraction] = []
    for v in V:
        line = [Fraction(int(x)) for x in v]
        if left_out:
            shares = solve(relations[left_out], [int(x) for x in v[left_out]])
            assert shares is not None  # noqa: S101  # a column for each relation was chosen
            line = [x - part for x, part in zip(line, relations @ shares, strict=True)]
        moved += line
    return moved


class _Answer(NamedTuple):
    """Whether a product has one sign in a cone, or a u where it has the other; maybe neither."""

    is_fixed: bool
    u: NDArray[Any] | None = None


class _Signs:
    """The search for the signs that coordinates have in the cone.

    Directions are combinations u of a basis, which is 0 where inequalities are held; ``inside`` is
    one that is above 0 at all the others.
    """

    def __init__(
        self, system: Inequalities, face: Face, basis: NDArray[Any], inside: list[Fraction]
    ) -> None:
        self._system, self._held, self._basis = system, face.held.ravel(), basis
        self._inside = np.array(units_of(inside)[0], object)
        values = system.values(self._rounded(self._inside)).ravel()
        values[self._held] = np.inf
        usable = int(np.isfinite(values).sum())
        count = min(usable, POOL)
        pool = np.argpartition(values, count - 1)[:count]
        self._pool = pool[np.argsort(values[pool], kind="stable")]
        self._near = system.working_set(self._pool)
        self._whole = usable > count
        width = basis.shape[1]
        self._is_whole_space = width == system.width and bool((basis == np.eye(width)).all())
        self._numbers = np.empty(0, np.int64)
        self._lines = np.empty((0, width), object)
        self._floats, self._shifts = np.empty((0, width)), np.empty(0, np.int64)
        self._add(self._pool[: max(40, 8 * (min(width, 500) + 2))])

    def _rounded(self, u: NDArray[Any]) -> NDArray[Any]:
        return floats([Fraction(int(x)) for x in self._basis @ u])

    def _add(self, numbers: NDArray[Any]) -> None:
        """Add inequalities to the working set."""
        lines = _dense(self._system, numbers)
        if not self._is_whole_space:
            lines = lines @ self._basis
        rounded, shifts = _floats(lines)
        self._numbers = np.append(self._numbers, numbers)
        self._lines = np.vstack([self._lines, lines])
        self._floats = np.vstack([self._floats, rounded])
        self._shifts = np.append(self._shifts, shifts)

    def decided(
        self, pending: dict[int, int], deadline: Deadline
    ) -> Iterator[tuple[int, int | None]]:
        """Yield places with the sign that they have throughout, 0 if both, None if undecided.

        ``pending`` has the sign of each that has been seen.
        """
        pending, hard = dict(pending), set[int]()
        try:
            for _ in range(ROUNDS):
                tried: dict[int, NDArray[Any]] = {}
                for place, sign in [*pending.items()]:
                    answer = self._answer(sign * self._basis[place], place in hard, deadline)
                    if answer.is_fixed:
                        yield place, sign
                        del pending[place]
                    elif answer.u is not None:
                        tried[place] = answer.u
                below = self._below(tried, deadline)
                for place in [place for place in tried if not len(below[place])]:
                    yield place, 0
                    del pending[place], below[place]
                new = {place: np.setdiff1d(below[place], self._numbers) for place in below}
                stuck = {place for place in new if not len(new[place])} - hard
                hard |= stuck
                missing = np.unique(np.concatenate([[], *new.values()])).astype(np.int64)
                if not len(missing) and not stuck:
                    break
                self._add(missing)
        except OutOfTimeError:
            pass
        yield from ((place, None) for place in pending)

    def _answer(self, c: NDArray[Any], is_hard: bool, deadline: Deadline) -> "_Answer":
        """Return whether c·u is never below 0 in the working set, or a u where it is.

        By least squares in floating point; where that does not decide, or is known not to, by exact
        arithmetic.
        """
        deadline.check()
        (aim,), (shift,) = _floats(c[None])
        nearest = None if is_hard else nearest_sum(self._floats, aim)
        if nearest is not None:
            weights, u = nearest
            used = np.flatnonzero(weights)
            if has_positive_solution(self._floats[used].T, aim, weights[used]):
                return _Answer(is_fixed=True)
            against = self._against(c, u)
            if against is not None:
                return _Answer(is_fixed=False, u=against)
            if self._is_sum(c, np.ldexp(weights, shift - self._shifts), deadline):
                return _Answer(is_fixed=True)
        return self._exact_answer(c, deadline)

    def _exact_answer(self, c: NDArray[Any], deadline: Deadline) -> "_Answer":
        """Return whether c·u is never below 0, or a u where it is, by exact arithmetic alone.

        The hull of −c and the lines holds 0, or its nearest point to it is above 0 at all of them.
        """
        lines = np.vstack([self._lines, -c])
        if lines.shape[1] > MOST_VARIABLES or lines.size > MOST_VALUES:
            return _Answer(is_fixed=False)
        _, u = even_mixture(lines, deadline)
        return _Answer(not any(u), u if any(u) else None)

    def _is_sum(self, c: NDArray[Any], weights: NDArray[Any], deadline: Deadline) -> bool:
        """Return whether c is a sum of the lines with weights of at least 0, exactly."""
        if not weights.max(initial=0.0) > 0:
            return False
        for threshold in (1e-9, 1e-13):
            used = np.flatnonzero(weights > threshold * weights.max())
            scale = max(abs(self._lines[used]).max(), abs(c).max())
            lines = [*self._lines[used], -c]
            vectors = [{j: int(n) for j, n in enumerate(line) if n} for line in lines]
            guess = np.append(weights[used], 1.0)
            exact = kernel_point(vectors, guess, deadline) if scale else None
            if exact is not None and exact[-1] > 0:
                return True
        return False

    def _against(self, c: NDArray[Any], u: NDArray[Any]) -> NDArray[Any] | None:
        """Return integers u with c·u < 0, a little to the inside of what a program found."""
        if not np.isfinite(u).all():
            return None
        units, common = integers(u)
        exact = np.array(units, object)
        down, up = int(c @ exact), int(c @ self._inside)
        if down >= 0:
            return None
        # (c·inside)·u − (c·u)/2·inside: of its c·u is half of what it was
        found = exact * 2 * up - self._inside * down
        return found // (gcd(*found) or 1) if c @ found < 0 and common else None

    def _below(self, tried: dict[int, NDArray[Any]], deadline: Deadline) -> dict[int, NDArray[Any]]:
        """Return for directions, by place, some inequalities that they are below 0 at."""
        if not tried:
            return {}
        V = np.array([self._rounded(u) for u in tried.values()])
        near = self._near.A @ np.array([self._near.narrow(v) for v in V]).T
        found: dict[int, NDArray[Any]] = {}
        for (place, u), v, values in zip(tried.items(), V, near.T, strict=True):
            deadline.check()
            found[place] = self._below_in(u, v, self._pool, values)
        left = [i for i, place in enumerate(tried) if self._whole and not len(found[place])]
        if not left:
            return found
        places = [*tried]
        for numbers, block in self._system.values_of(V[left]):
            deadline.check()
            block[:, self._held[numbers]] = np.inf
            for i, values in zip(left, block, strict=True):
                place = places[i]
                if len(found[place]) < MOST_ADDED:
                    more = self._below_in(tried[place], V[i], numbers, values)
                    found[place] = np.append(found[place], more)
        return found

    def _below_in(
        self, u: NDArray[Any], v: NDArray[Any], numbers: NDArray[Any], values: NDArray[Any]
    ) -> NDArray[Any]:
        """Return some of the inequalities that u is below 0 at, by their values in floats."""
        error = self._system.error(v)
        places = np.flatnonzero(values < -error)
        if len(places) > MOST_ADDED:
            places = places[np.argpartition(values[places], MOST_ADDED)[:MOST_ADDED]]
        doubt = numbers[abs(values) <= error]
        if len(doubt) > EXACT_ROWS:
            return np.append(numbers[places], doubt[:MOST_ADDED])
        signs = self._system.products(doubt, (self._basis @ u).tolist()) if len(doubt) else []
        return np.append(numbers[places], doubt[[n < 0 for n in signs]][:MOST_ADDED])


def _floats(lines: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return lines of integers divided by powers of two, in floating point, and the exponents."""
    sizes = [max((abs(int(n)).bit_length() for n in line), default=0) for line in lines]
    shifts = np.maximum(np.array(sizes, np.int64) - 62, 0)
    found = [
        [float(int(n) >> shift) for n in line]
        for line, shift in zip(lines, shifts.tolist(), strict=True)
    ]
    return np.array(found).reshape(lines.shape), shifts
