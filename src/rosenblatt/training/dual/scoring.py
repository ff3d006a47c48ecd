"""The scores of rows under the last weights, their average, or the vote of all of them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.dual import column_votes, joint_votes
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import take
from rosenblatt.training.dual.budget import kept_scores
from rosenblatt.training.dual.budget_state import BudgetState
from rosenblatt.training.dual.gram import gram_between
from rosenblatt.training.dual.kernel import Kernel
from rosenblatt.training.dual.passes import add_in_threads
from rosenblatt.training.dual.sizes import Sizes
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.dual.step_list import survival
from rosenblatt.training.dual.threads import shared

MEMORIES = ("last", "average", "vote")


def scores_of(
    state: DualState | BudgetState,
    kernel: Kernel,
    rows: Rows,
    sizes: Sizes,
    memories: Sequence[str] = ("last",),
    *,
    positive: bool = False,  # whether a zero activation is of the second class
) -> dict[str, NDArray[Any]]:
    """Return the scores of rows by each memory, (columns, rows), from one Gram block a few rows.

    The average is the mean of all vectors so far, w − u/c. The vote of a column is the sum of
    ±counts; of a joint machine, each class's count of the vectors that score it highest. A budget
    keeps no vectors of the past: it knows the last weights and their average.
    """
    n_rows = rows.shape[0]
    if isinstance(state, BudgetState):
        return _scores_within_budget(state, kernel, rows, sizes, memories)
    found = {memory: np.zeros((state.n_columns, n_rows)) for memory in memories}
    voters = _voter(state, positive=positive) if "vote" in memories else None
    support = state.numbers.values if state.store is None else state.store.rows
    if not state.n_support:
        support = rows  # of which none will be asked for
    gram = gram_between(kernel, support, rows)
    everything, steps = np.arange(state.n_support), state.steps.values
    ledger = steps._replace(size=steps.size * steps.seen)
    at_a_time = sizes.rows_against(state.n_support)
    for start in range(0, n_rows, at_a_time):
        some = slice(start, min(start + at_a_time, n_rows))
        block = gram.panel(np.arange(some.start, some.stop))(everything)
        scores = np.zeros((state.n_columns, some.stop - some.start))
        if voters is None:
            add_in_threads(steps, block, scores)
        else:
            found["vote"][:, some] = voters(block, scores)
        if "last" in memories:
            found["last"][:, some] = scores
        if "average" in memories:
            total = np.zeros_like(scores)
            add_in_threads(ledger, block, total)
            found["average"][:, some] = scores - total / state.count
    return found


def _scores_within_budget(
    state: BudgetState, kernel: Kernel, rows: Rows, sizes: Sizes, memories: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Return the scores by each memory from the coefficients of the kept rows."""
    n_rows, width = rows.shape[0], state.n_columns
    parts = [state.coefficients(averaged=memory == "average") for memory in memories]
    together = np.concatenate(parts)
    found = np.empty((len(together), n_rows))
    at_a_time = sizes.rows_against(state.n_kept)
    for start in range(0, n_rows, at_a_time):
        here = np.arange(start, min(start + at_a_time, n_rows))
        found[:, here] = kept_scores(state, kernel, take(rows, here), together)
    return {memory: found[m * width : (m + 1) * width] for m, memory in enumerate(memories)}


def _voter(
    state: DualState, *, positive: bool
) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]:
    """Return the function that changes scores by every step and returns the votes on the way."""
    steps, n_columns = state.steps.values, state.n_columns
    joint = state.joint and state.n_classes > 2
    lasted = survival(steps, n_columns, state.count, joint=joint)
    start, lasted = lasted[:n_columns], lasted[n_columns:]

    def of_columns(block: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
        votes = np.empty_like(scores)
        votes[:] = (start if positive else -start)[:, None]
        tie = 0.0 if positive else np.nan
        shared(
            lambda begin, end: column_votes(steps, lasted, block, tie, begin, end, scores, votes),
            scores.shape[1],
        )
        return votes

    def of_machine(block: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
        votes = np.zeros_like(scores)
        votes[-1 if positive else 0] = start.sum()
        best, winner = np.empty(scores.shape[1]), np.empty(scores.shape[1], np.int64)
        shared(
            lambda begin, end: joint_votes(
                steps, lasted, block, positive, begin, end, best, winner, scores, votes
            ),
            scores.shape[1],
        )
        return votes

    return of_machine if joint else of_columns
