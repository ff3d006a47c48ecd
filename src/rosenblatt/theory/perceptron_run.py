"""The perceptron's own answer, where a search for a witness begins."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.errors import WeightOverflowError
from rosenblatt.rules import Perceptron
from rosenblatt.theory.labelled_rows import LabelledRows, kernel_rows
from rosenblatt.theory.solvers import Deadline
from rosenblatt.training.examples import Examples
from rosenblatt.training.fit import Plan, fit
from rosenblatt.training.labels import targets_of
from rosenblatt.training.state import State

VISITED = 1_000_000_000  # values times passes: a second or two
UNEVEN = 16.0  # ratio of the sizes of columns above which they are scaled


class Run(NamedTuple):
    """How a perceptron ended."""

    v: NDArray[Any]  # the weights, class by class, each with its bias last
    converged: bool
    passes: int
    mistakes: int


def run_perceptron(rows: LabelledRows, deadline: Deadline, *, scaled: bool) -> Run | None:
    """Train for a bounded number of passes; None where the weights overflow.

    Scaled: on columns that lie around zero and are of one size, mapped back to the data's own.
    """
    centre, scale = _frame(rows) if scaled else (np.zeros(rows.n_features), None)
    X = rows.X
    if scale is not None and sparse.issparse(X):
        X = (X.astype(np.float64) @ sparse.diags_array(scale)).tocsr()
    elif scale is not None:
        X = X.astype(np.float64)
        X -= centre  # in place: one copy of the data, not three
        X *= scale
    examples = Examples(kernel_rows(X), targets_of(rows.numbers, len(rows.classes)))
    values = rows.X.nnz if rows.is_sparse else rows.X.size
    passes = int(np.clip(VISITED // (values + rows.n_rows), 10, 1000))
    seconds = None if np.isinf(deadline.left) else max(0.05, deadline.left / 4)
    plan = Plan(Perceptron(), passes, time_limit=seconds)
    state = State.zeros(rows.n_features, len(rows.classes), averaged=False)
    try:
        outcome = fit(state, examples, plan, np.random.Generator(np.random.PCG64(0)))
    except WeightOverflowError:
        return None
    V = np.array(state.by_class(state.weights))
    if scale is not None:
        V[:, :-1] *= scale
        V[:, -1] -= V[:, :-1] @ centre
    mistakes = sum(record.mistakes for record in outcome.history)
    return Run(V.ravel(), outcome.converged, len(outcome.history), mistakes)


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
