"""The search for a proof: a witness that meets every inequality, or weights that forbid one.

Both loops keep a working set of inequalities, let a solver answer for it, and add those of all the
others that the answer violates most, until none is left or the answer holds for every row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.theory.exact import kernel_point
from rosenblatt.theory.inequalities import SMALLEST, Inequalities, Leads
from rosenblatt.theory.proof import Proof
from rosenblatt.theory.solvers import Deadline, Strip, shortest, widest_strips

GAP = 1e-7  # relative; beyond it further rounds gain nothing that is reported
THIN = 1e-5  # a strip that may be none at all
THRESHOLDS = (1e-7, 1e-11, 0.0)  # relative weights below which a row is left out
ROUNDS = 200
LARGEST_SET = 60_000_000  # values in a dense working set
LARGEST_SPARSE_SET = 10_000  # rows: factors of a sparse system are as wide as there are rows


@dataclass
class Widest:
    """The best of both sides of the margin: v from below, weights from above."""

    v: NDArray[Any]
    low: float
    numbers: NDArray[Any]
    weights: NDArray[Any]
    high: float


def first_set(system: Inequalities, v: NDArray[Any]) -> NDArray[Any]:
    """Return the inequalities that v meets worst, from every class."""
    values, numbers = system.leads(v)
    count = 4 * (min(system.rows.n_features, 500) + 2)
    kept = []
    for k in range(system.n_classes):
        own = np.flatnonzero(system.rows.numbers == k)
        kept.append(own[_smallest(values[own], count)])
    return np.unique(numbers[np.concatenate(kept)])


def _is_too_large(system: Inequalities, working: NDArray[Any]) -> bool:
    """Return whether a solver would need more memory or time than is reasonable."""
    if system.rows.is_sparse:
        return len(working) > LARGEST_SPARSE_SET
    return len(working) * system.width > LARGEST_SET


def _smallest(values: NDArray[Any], count: int) -> NDArray[Any]:
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, count)[:count]


def _worst(system: Inequalities, leads: Leads, limit: float) -> NDArray[Any]:
    """Return the inequalities below the limit that are furthest below it."""
    below = np.flatnonzero(leads.values < limit)
    count = 2 * (min(system.rows.n_features, 500) + 2)
    return np.asarray(leads.numbers[below[_smallest(leads.values[below], count)]])


def decide(system: Inequalities, v: NDArray[Any], deadline: Deadline) -> Proof:
    """Return a witness or weights that forbid one; neither where it stays undecided."""
    proof = Proof()
    working = first_set(system, v)
    width = 0.0
    for round_ in range(1, ROUNDS + 1):
        if deadline.passed:
            proof.notes.append(f"the time limit came in round {round_} of the linear program")
            return proof
        if _is_too_large(system, working):
            proof.notes.append(f"a working set of {len(working)} inequalities was too large")
            return proof
        strip = _strip_or_proof(system, working, proof, deadline)
        if proof.numbers is not None:
            return proof
        if strip is None:
            proof.notes.append(f"the linear program on {len(working)} inequalities gave no answer")
            return proof
        v, width = strip.v, strip.width
        if width > 0 and is_witness(system, v):
            proof.v = v
            return proof
        leads = system.leads(v)
        limit = max(0.01 * float(np.median(leads.values)), SMALLEST) if width > 0 else 0.0
        missing = np.setdiff1d(_worst(system, leads, limit), working)
        if not len(missing):
            break
        working = np.union1d(working, missing)
    proof.notes.append(
        f"a linear program on {len(working)} inequalities found a strip of relative width "
        f"{max(width, 0.0):.1g}: neither a witness nor a certificate held in exact arithmetic"
    )
    return proof


def _strip_or_proof(
    system: Inequalities, working: NDArray[Any], proof: Proof, deadline: Deadline
) -> Strip | None:
    """Return a strip for the working set, or write exact weights that forbid one to the proof."""
    strip, tried = None, set[bytes]()
    for strip in widest_strips(system.vectors(working), system.blocks, deadline):
        if strip.width > THIN:
            break
        for decimal in (False, True):
            if _forbidden(system, working, strip.weights, proof, tried, decimal=decimal):
                return strip
    return strip


def is_witness(system: Inequalities, v: NDArray[Any]) -> bool:
    """Return whether v is certain to meet every inequality."""
    if not np.isfinite(v).all():
        return False
    least = system.least(v)
    return least is not None and least > 0


def _forbidden(
    system: Inequalities,
    working: NDArray[Any],
    weights: NDArray[Any],
    proof: Proof,
    tried: set[bytes],
    *,
    decimal: bool,
) -> bool:
    """Write exact weights that add up to zero to the proof; return whether there are any."""
    for threshold in THRESHOLDS:
        kept = np.flatnonzero(weights > threshold * weights.max())
        key = kept.tobytes() + bytes([decimal])
        if not len(kept) or key in tried:
            continue
        tried.add(key)
        vectors = system.exact_vectors(working[kept], decimal=decimal)
        exact = None if vectors is None else kernel_point(vectors[0], weights[kept])
        if exact is None:
            continue
        total = sum(exact)
        used = [i for i, weight in enumerate(exact) if weight]
        proof.numbers = working[kept[used]]
        proof.weights = [exact[i] / total for i in used]
        proof.arithmetic = "decimal" if decimal else "exact"
        return True
    return False


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
        if deadline.passed or _is_too_large(system, working):
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
        missing = np.setdiff1d(_worst(system, leads, 1 - 1e-9), working)
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
