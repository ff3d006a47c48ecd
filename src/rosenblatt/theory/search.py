"""The search for a proof: a witness that meets every inequality, or weights that forbid one.

Both loops keep a working set of inequalities, let a solver answer for it, and add those of all the
others that the answer violates most, until none is left or the answer holds for every row.
"""

from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.errors import WeightOverflowError
from rosenblatt.rules import Perceptron
from rosenblatt.theory.certificate import Proof
from rosenblatt.theory.deadline import Deadline, OutOfTimeError
from rosenblatt.theory.exact import kernel_point
from rosenblatt.theory.inequalities import SMALLEST, Inequalities, Leads
from rosenblatt.theory.labelled_rows import LabelledRows
from rosenblatt.theory.nearest_point import any_witness
from rosenblatt.theory.solvers import Strip, widest_strips
from rosenblatt.training.loop import Plan
from rosenblatt.training.state import State, fit

THIN = 1e-5  # a strip that may be none at all
THRESHOLDS = (1e-7, 1e-11, 0.0)  # relative weights below which a row is left out
ROUNDS = 200
MOST_VALUES = 30_000_000  # that a working set stores
VISITED = 1_000_000_000  # values times passes: a second or two
UNEVEN = 16.0  # ratio of the sizes of columns above which they are scaled


def first_set(system: Inequalities, v: NDArray[Any]) -> NDArray[Any]:
    """Return the inequalities that v meets worst, from every class."""
    values, numbers = system.leads(v)
    count = max(20, 8 * (min(system.rows.n_features, 500) + 2) // system.n_classes)
    worst_of_each = []
    for k in range(system.n_classes):
        own = np.flatnonzero(system.rows.numbers == k)
        worst_of_each.append(own[_smallest(values[own], count)])
    return np.unique(numbers[np.concatenate(worst_of_each)])


def is_too_large(system: Inequalities, numbers: NDArray[Any]) -> bool:
    """Return whether a working set of these inequalities would take too much memory."""
    each = system.rows.n_values / system.rows.n_rows + 1
    return len(numbers) * each * min(2, system.blocks) > MOST_VALUES


def _smallest(values: NDArray[Any], count: int) -> NDArray[Any]:
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, count)[:count]


def worst(system: Inequalities, leads: Leads, limit: float) -> NDArray[Any]:
    """Return the inequalities below the limit that are furthest below it."""
    below = np.flatnonzero(leads.values < limit)
    count = 2 * (min(system.rows.n_features, 500) + 2)
    return np.asarray(leads.numbers[below[_smallest(leads.values[below], count)]])


def decide(system: Inequalities, run: "PerceptronRun | None", deadline: Deadline) -> Proof:
    """Return a witness or weights that forbid one; neither, and a note, where it stays undecided.

    It begins with the weights that a perceptron ended with, if there are any.
    """
    proof, width = Proof(), 0.0
    try:
        deadline.check()
        numbers = first_set(system, np.zeros(system.width) if run is None else run.v)
        for _ in range(ROUNDS):
            deadline.check()
            if is_too_large(system, numbers):
                note = f"a linear program on {len(numbers)} inequalities was too large"
                return proof.noting(note)
            strip, proof = _strip_or_proof(system, numbers, deadline)
            if proof.numbers is not None:
                return proof
            if strip is None:
                break
            v, width = strip.v, strip.width
            if width > 0 and is_witness(system, v):
                return replace(proof, v=v)
            deadline.check()
            leads = system.leads(v)
            limit = max(0.01 * float(np.median(leads.values)), SMALLEST) if width > 0 else 0.0
            missing = np.setdiff1d(worst(system, leads, limit), numbers)
            if not len(missing):
                break
            numbers = np.union1d(numbers, missing)
        proof = _decide_exactly(system, numbers, deadline)
    except OutOfTimeError:
        return proof.noting("the time limit was reached during the linear program")
    if proof.v is None and proof.numbers is None:
        proof = proof.noting(
            f"a linear program on {len(numbers)} inequalities found a strip of relative width "
            f"{max(width, 0.0):.1g}, but no witness or certificate that holds in exact arithmetic"
        )
    return proof


def _decide_exactly(system: Inequalities, numbers: NDArray[Any], deadline: Deadline) -> Proof:
    """Return what exact arithmetic decides, if a small working set suffices."""
    nearest, proof = None, Proof()
    for _ in range(ROUNDS):
        nearest = any_witness(system, numbers, deadline)
        if nearest is None:
            return proof
        if not any(nearest.v):
            return replace(proof, numbers=nearest.numbers, weights=nearest.weights)
        leads = system.leads(next(nearest.roundings(1)))
        missing = np.setdiff1d(worst(system, leads, SMALLEST), numbers)
        if not len(missing):
            break
        numbers = np.union1d(numbers, missing)
    for v in () if nearest is None else nearest.roundings(64):
        deadline.check()
        if is_witness(system, v):
            return replace(proof, v=v)
    return proof.noting("the rows are separable, but by no weights that float64 can hold")


def _strip_or_proof(
    system: Inequalities, numbers: NDArray[Any], deadline: Deadline
) -> tuple[Strip | None, Proof]:
    """Return a strip for the working set, or exact weights that forbid one."""
    strip, tried, proof = None, set[bytes](), Proof()
    for strip in widest_strips(system.working_set(numbers), deadline):
        if strip.width > THIN:
            break
        weights = strip.weights
        for decimal, threshold in product((False, True), THRESHOLDS):
            used = np.flatnonzero(weights > threshold * weights.max())
            key = used.tobytes() + bytes([decimal])
            if not len(used) or key in tried:
                continue
            tried.add(key)
            deadline.check()
            vectors = system.exact_vectors(numbers[used], decimal=decimal)
            exact = None if vectors is None else kernel_point(vectors[0], weights[used], deadline)
            if exact is not None:
                positive = [i for i, weight in enumerate(exact) if weight]
                return strip, replace(
                    proof,
                    numbers=numbers[used[positive]],
                    weights=[exact[i] for i in positive],
                    arithmetic="decimal" if decimal else "exact",
                )
    return strip, proof


def is_witness(system: Inequalities, v: NDArray[Any]) -> bool:
    """Return whether v is certain to meet every inequality."""
    if not np.isfinite(v).all():
        return False
    least = system.least(v)
    return least is not None and least > 0


class PerceptronRun(NamedTuple):
    """How a perceptron ended."""

    v: NDArray[Any]  # the weights, class by class, each with its bias last
    converged: bool
    mistakes: int


def run_perceptron(rows: LabelledRows, deadline: Deadline, *, scaled: bool) -> PerceptronRun | None:
    """Train for a bounded number of passes; None where the weights overflow.

    Scaled: on columns that lie around zero and are of one size, mapped back to the data's own.
    """
    deadline.check()
    centre, scale = _frame(rows) if scaled else (np.zeros(rows.n_features), None)
    X = rows.X
    if scale is not None and sparse.issparse(X):
        X = (X.astype(np.float64) @ sparse.diags_array(scale)).tocsr()
    elif scale is not None:
        X = X.astype(np.float64)
        X -= centre  # in place: one copy of the data, not three
        X *= scale
    passes = int(np.clip(VISITED // (rows.n_values + rows.n_rows), 10, 1000))
    seconds = deadline.left / 4 if deadline.is_set else None
    plan = Plan(Perceptron(), passes, time_limit=seconds)
    state = State.zeros(rows.n_features, len(rows.classes), averaged=False)
    try:
        generator = np.random.Generator(np.random.PCG64(0))
        outcome = fit(state, replace(rows, X=X).examples(), plan, generator)
    except WeightOverflowError:
        return None
    V = np.array(state.by_class(state.weights))
    if scale is not None:
        V[:, :-1] *= scale
        V[:, -1] -= V[:, :-1] @ centre
    mistakes = sum(record.mistakes for record in outcome.history)
    return PerceptronRun(V.ravel(), outcome.converged, mistakes)


def is_uneven(rows: LabelledRows) -> bool:
    """Return whether columns differ enough in size or place for scaling to help."""
    centre, scale = _frame(rows)
    sizes = 1.0 / scale
    return bool(len(sizes) and (sizes.max() > UNEVEN * min(sizes.min(), 1.0) or centre.any()))


def _frame(rows: LabelledRows) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the middle of each column (0 in sparse rows) and a power of two that scales it."""
    if rows.is_sparse:
        sizes = abs(rows.X).max(axis=0).toarray().ravel().astype(np.float64)
        centre = np.zeros(rows.n_features)
    else:
        low, high = rows.X.min(axis=0).astype(np.float64), rows.X.max(axis=0).astype(np.float64)
        centre = low / 2 + high / 2
        centre[abs(centre) <= 0.25 * (high - low)] = 0.0  # near enough
        sizes = high / 2 - low / 2
    exponents = np.frexp(np.where(sizes > 0, sizes, 1.0))[1]
    return centre, np.ldexp(1.0, np.clip(-exponents, -1000, 1000))
