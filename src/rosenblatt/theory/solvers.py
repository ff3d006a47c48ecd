"""The questions that existing solvers answer: strips and supports (LP), the nearest points (QP).

HiGHS, which SciPy ships, solves the linear program by the simplex method, so that its weights are
those of a vertex: few rows, which exact arithmetic can then take over. Clarabel solves the
quadratic program: an interior-point method that reaches twelve digits where SciPy has no solver.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.theory.deadline import Deadline
from rosenblatt.theory.inequalities import WorkingSet

TOLERANCE = 1e-10  # HiGHS takes no smaller one
THIN = 1e-4  # part of the usual activation that a strip must have to be solved for as it is
REFINEMENTS = (2.0**18, 2.0**36)
LEAST_SECONDS = 0.001  # that a solver is given: none at all would mean no limit


@dataclass(frozen=True)
class Coordinates:
    """Coordinates in which columns lie around zero and are of one size, by powers of two."""

    centre: NDArray[Any]  # of the features
    scale: NDArray[Any]  # of the variables
    blocks: int

    @classmethod
    def of(cls, A: Any, blocks: int) -> "Coordinates":
        """Return coordinates for these vectors."""
        centre = np.zeros(A.shape[1] // blocks - 1)
        if not sparse.issparse(A):
            parts = A.reshape(len(A), blocks, -1)
            x = (parts[:, :, :-1] * parts[:, :, -1:]).reshape(len(A) * blocks, len(centre))
            used = parts[:, :, -1].ravel() != 0
            centre = np.median(x[used], axis=0)
        coordinates = cls(centre, np.ones(A.shape[1]), blocks)
        B = coordinates.moved(A)
        largest = abs(B).max(axis=0)
        largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
        exponents = np.frexp(np.where(largest > 0, largest, 1.0))[1]
        return cls(centre, np.ldexp(1.0, np.clip(-exponents, -1000, 1000)), blocks)

    def moved(self, A: Any) -> Any:
        """Return vectors in these coordinates."""
        if sparse.issparse(A):
            return (A @ sparse.diags_array(self.scale)).tocsr()
        parts = A.reshape(len(A), self.blocks, -1)
        if self.centre.any():
            parts = parts.copy()
            parts[:, :, :-1] -= self.centre * parts[:, :, -1:]
        return parts.reshape(A.shape) * self.scale

    def back(self, v: NDArray[Any]) -> NDArray[Any]:
        """Return a solution in the coordinates of the data."""
        V = (v * self.scale).reshape(self.blocks, -1)
        V[:, -1] -= V[:, :-1] @ self.centre
        return np.asarray(V.ravel())

    def forward(self, v: NDArray[Any]) -> NDArray[Any]:
        """Return a solution in these coordinates."""
        V = v.reshape(self.blocks, -1).copy()
        V[:, -1] += V[:, :-1] @ self.centre
        return np.asarray(V.ravel() / self.scale)

    def quadratic(self, length: NDArray[Any]) -> Any:
        """Return P such that u·P·u is the squared length in data coordinates, up to a factor."""
        largest = (self.scale * length).max(initial=0.0)
        scale = self.scale / (largest or 1.0)  # so that the square of none overflows
        if not self.centre.any() or not length.all():  # a free bias takes up every shift
            return sparse.diags_array((scale * length) ** 2)
        width = len(self.centre) + 1
        shift = np.append(-self.centre, 1.0)
        one = np.outer(shift, shift)
        one[np.arange(width - 1), np.arange(width - 1)] += 1.0
        P = sparse.block_diag([sparse.csc_array(one)] * self.blocks)
        return sparse.diags_array(scale) @ P @ sparse.diags_array(scale)


class Strip(NamedTuple):
    """A strip between the classes."""

    v: NDArray[Any]
    width: float  # the least a·v, in even coordinates; near 0 where there is no strip
    weights: NDArray[Any]  # λ of the rows that hold it; Σ λ·a = 0, up to rounding, where none is


def widest_strips(working: WorkingSet, deadline: Deadline) -> Iterator[Strip]:
    """Yield the widest strip with coordinates of v at most 1; nothing where the solver gives up.

    As long as more are asked for, the program is solved again for the remainder, magnified
    (iterative refinement): so a strip far thinner than the solver's tolerance is still found.
    """
    coordinates = Coordinates.of(working.A, working.blocks)
    B = coordinates.moved(working.A)
    one = np.ones(B.shape[1])
    first = _strip(B, np.zeros(B.shape[0]), -one, one, deadline) if is_finite(B) else None
    if first is None:
        return
    v, weights = first
    yield Strip(working.wide(coordinates.back(v)), float((B @ v).min()), weights)
    for magnified in REFINEMENTS:
        offset = (B @ v) * magnified
        step = _strip(B, offset, (-1 - v) * magnified, (1 - v) * magnified, deadline)
        if step is None:
            return
        better = v + step[0] / magnified
        if (B @ better).min() > (B @ v).min():
            v = better
        yield Strip(working.wide(coordinates.back(v)), float((B @ v).min()), step[1])


def is_finite(A: Any) -> bool:
    """Return whether a matrix, dense or sparse, has kept within the range of float64."""
    return bool(np.isfinite(A.data if sparse.issparse(A) else A).all())


def _strip(
    B: Any, offset: NDArray[Any], low: NDArray[Any], high: NDArray[Any], deadline: Deadline
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return δ within its bounds with the greatest least B·δ + offset, and the weights."""
    from scipy.optimize import linprog

    deadline.check()
    one = np.ones((B.shape[0], 1))
    upper = sparse.hstack([-B, one]) if sparse.issparse(B) else np.hstack([-B, one])
    target = np.zeros(B.shape[1] + 1)
    target[-1] = -1.0
    bounds = np.vstack([np.column_stack([low, high]), [-np.inf, np.inf]])
    options = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    if deadline.is_set:
        options["time_limit"] = max(LEAST_SECONDS, deadline.left)
    answer = linprog(target, upper, offset, bounds=bounds, method="highs-ds", options=options)
    deadline.check()
    if answer.status != 0:
        return None
    return answer.x[:-1], np.maximum(-answer.ineqlin.marginals, 0.0)


class LargestSupport(NamedTuple):
    """A v with a·v ≥ 0 and as many a·v ≥ 1 as there can be, and the weights of the others."""

    v: NDArray[Any]
    weights: NDArray[Any]  # λ ≥ 1 where every v leaves a·v = 0, and else 0; Σ λ·a = 0


def largest_support(working: WorkingSet, deadline: Deadline) -> LargestSupport | None:
    """Return a solution of {a·v ≥ 0} that is above 0 wherever one can be; None without an answer.

    The linear program is the greatest Σ min(λ, 1) over λ ≥ 0 with Σ λ·a = 0. Its dual is the v with
    the greatest Σ min(a·v, 1): any v is as long as it needs to be, so each term is 0 or 1.
    """
    coordinates = Coordinates.of(working.A, working.blocks)
    B = coordinates.moved(working.A)
    if not is_finite(B):
        return None
    B, sizes = _even_lines(B)
    m = B.shape[0]
    solved = _linear(
        np.append(-np.ones(m), np.zeros(m)),
        (B.T, B.T),
        np.column_stack([np.zeros(2 * m), np.append(np.ones(m), np.full(m, np.inf))]),
        deadline,
    )
    if solved is None:
        return None
    weights = solved.x[:m] + solved.x[m:]
    weights[weights < 0.5] = 0.0
    return LargestSupport(working.wide(coordinates.back(-solved.eqlin.marginals)), weights / sizes)


def positive_weights(
    working: WorkingSet, above: Sequence[int], deadline: Deadline
) -> NDArray[Any] | None:
    """Return few weights with Σ λ·a = 0, at least 1 on some of the vectors; None without any."""
    B, sizes = _even_lines(Coordinates.of(working.A, working.blocks).moved(working.A))
    least = np.zeros(B.shape[0])
    least[above] = 1.0
    ends = np.column_stack([least, np.full(len(least), np.inf)])
    solved = _linear(np.ones(len(least)), (B.T,), ends, deadline)
    return None if solved is None else np.asarray(solved.x / sizes)


def nearest_sum(B: NDArray[Any], c: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return μ ≥ 0 with Σ μ·b nearest to c, and what is missing of it, negated; None in doubt.

    What is missing, u, is 0 if c is such a sum; if not, B·u ≥ 0 and c·u < 0 (Farkas).
    """
    from scipy.optimize import nnls

    B, sizes = _even_lines(B)
    scale = np.maximum(abs(B).max(axis=0, initial=0.0), 2.0**-100)
    B, c = B / scale, c / scale
    try:
        weights, _ = nnls(B.T, c)
    except RuntimeError:  # it went in circles
        return None
    return weights / sizes, (weights @ B - c) / scale


def _even_lines(B: Any) -> tuple[Any, NDArray[Any]]:
    """Return vectors divided by their sizes, and these."""
    sizes = abs(B).max(axis=1)
    sizes = sizes.toarray().ravel() if sparse.issparse(sizes) else sizes
    sizes = np.where(sizes > 0, sizes, 1.0)
    B = (sparse.diags_array(1.0 / sizes) @ B).tocsr() if sparse.issparse(B) else B / sizes[:, None]
    return B, sizes


def _linear(target: NDArray[Any], parts: Any, ends: NDArray[Any], deadline: Deadline) -> Any | None:
    """Return the answer of the least target·x within ends such that the columns add up to zero."""
    from scipy.optimize import linprog

    deadline.check()
    stack = sparse.hstack if sparse.issparse(parts[0]) else np.hstack
    options = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    if deadline.is_set:
        options["time_limit"] = max(LEAST_SECONDS, deadline.left)
    lines = stack(parts)
    zero = np.zeros(lines.shape[0])
    answer = linprog(target, A_eq=lines, b_eq=zero, bounds=ends, method="highs-ds", options=options)
    deadline.check()
    return answer if answer.status == 0 else None


class ShortVector(NamedTuple):
    """A short v with a·v ≥ 1 for all a of a working set, and its weights."""

    v: NDArray[Any]  # of the variables of the set
    weights: NDArray[Any]  # those of the nearest points of the hulls, up to a factor


def shortest(
    working: WorkingSet, length: NDArray[Any], start: NDArray[Any], deadline: Deadline
) -> Iterator[ShortVector]:
    """Yield proposals of the shortest v with a·v ≥ 1, the likeliest first; maybe none.

    ``length`` says which variables count in its length. Where the vectors leave ``start`` a thin
    strip only, what is solved for first is the difference from it, magnified: the strip is then as
    wide as any. It may also be that ``start`` is far from the best and the strip not thin at all,
    so the plain program comes last.
    """
    coordinates = Coordinates.of(working.A, working.blocks)
    B = coordinates.moved(working.A)
    P = coordinates.quadratic(length)
    if not (is_finite(B) and is_finite(P.tocsr())):
        return
    u = coordinates.forward(start)
    u /= abs(u).max(initial=0.0) or 1.0
    u /= np.sqrt(u @ (P @ u)) or 1.0
    values = B @ u
    least, middle = float(values.min()), float(np.median(abs(B) @ abs(u)))
    if np.isfinite(u).all() and 0 < least < THIN * middle < np.inf:
        thinness = float(np.log2(middle) - np.log2(least))
        for power in (1.0, 0.75, 0.5):  # far from the shortest the solver wants a wider view
            magnified = 2.0 ** np.round(power * thinness)
            answer = _quadratic(P / magnified, P @ u, B, (least - values) * magnified, deadline)
            if answer is not None:
                yield ShortVector(coordinates.back(u + answer[0] / magnified) / least, answer[1])
    size = float(np.median(abs(B).max(axis=1))) if not sparse.issparse(B) else 1.0
    answer = _quadratic(P, np.zeros(B.shape[1]), B, np.full(B.shape[0], size or 1.0), deadline)
    if answer is not None:
        yield ShortVector(coordinates.back(answer[0]) / (size or 1.0), answer[1])


def seconds_for(working: WorkingSet) -> float:
    """Return about how long one step of the quadratic program takes, which nothing can interrupt.

    It is the elimination of the longer side of the matrix and a dense system of the shorter one;
    the rates were measured.
    """
    A = working.A
    axis = 1 if A.shape[0] >= A.shape[1] else 0
    filled = A.count_nonzero(axis=axis) if sparse.issparse(A) else np.count_nonzero(A, axis=axis)
    return float((filled.astype(np.float64) ** 2).sum() / 5e8 + min(A.shape) ** 3.0 / 3e10)


def _quadratic(
    P: Any, q: NDArray[Any], B: Any, low: NDArray[Any], deadline: Deadline
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return u with the least u·P·u/2 + q·u such that B·u ≥ low, and the multipliers."""
    import clarabel  # type: ignore[import-untyped]  # it ships none

    deadline.check()
    factor = 1.0 / (max(float(P.diagonal().max()), float(abs(q).max(initial=0.0))) or 1.0)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 100
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    if deadline.is_set:
        settings.time_limit = max(LEAST_SECONDS, deadline.left)
    answer = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.triu(P * factor)),
        q * factor,
        sparse.csc_matrix(-B),
        -low,
        [clarabel.NonnegativeConeT(B.shape[0])],
        settings,
    ).solve()
    u, weights = np.array(answer.x), np.maximum(np.array(answer.z), 0.0)
    usable = np.isfinite(u).all() and np.isfinite(weights).all() and weights.any() and u.any()
    return (u, weights) if usable and "Infeasible" not in str(answer.status) else None
