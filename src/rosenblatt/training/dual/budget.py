"""A kernel perceptron that keeps no more than so many rows, so that a stream may have no end."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.budget import budget_block
from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import join, take
from rosenblatt.kernels.shuffling import random_words
from rosenblatt.rules import Rule
from rosenblatt.training.dual.budget_state import BudgetState
from rosenblatt.training.dual.gram import gram_between
from rosenblatt.training.dual.kernel import Kernel
from rosenblatt.training.dual.targets import Targets
from rosenblatt.training.state import overflow

BLOCK = 64  # rows at a time
SAFE = 1e100  # kernel values up to this cannot overflow a score of any number of rows


class BudgetPasses:
    """Passes over rows that change a state with a budget."""

    def __init__(
        self,
        state: BudgetState,
        kernel: Kernel,
        rows: Rows,
        labels: NDArray[Any],  # class numbers
        weight: NDArray[Any] | None,
        rule: Rule,
        zero: int,
    ) -> None:
        self._state, self._kernel, self._rows = state, kernel, rows
        self._labels, self._weight = labels.astype(np.int64), weight
        self._rule, self._zero = rule, zero
        self._first = state.n_met  # the number of the first row
        state.n_met += rows.shape[0]

    def blocks(self, order: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield the rows of a pass, block by block, each to be visited before the next."""
        for start in range(0, len(order), BLOCK):
            yield order[start : start + BLOCK]

    def finish(self) -> None:
        """Nothing to do: the state has been changed on the way."""

    def mistakes(self, order: NDArray[Any]) -> int:
        """Count the mistakes that the last weights make on these rows."""
        state, found = self._state, 0
        last = state.coefficients(averaged=False)
        joint = state.joint and state.n_classes > 2
        for start in range(0, len(order), BLOCK):
            here = order[start : start + BLOCK]
            scores = kept_scores(state, self._kernel, take(self._rows, here), last)
            targets = Targets.of_numbers(self._labels[here], state.n_classes, joint, None)
            found += targets.mistakes(scores, self._zero)
        return found

    def visit(self, here: NDArray[Any]) -> Counts:
        """Change the state by a visit to each of these rows."""
        state, size = self._state, len(here)
        state.make_room(size)
        gram = self._gram(here)
        largest = np.abs(gram).max()
        before = copy.deepcopy((state.slots, state.n_kept)) if largest > SAFE else None
        state.slots.column[state.by_age] = np.arange(state.n_kept)
        mistakes, updates, loss, state.n_kept = budget_block(
            self._labels[here],
            None if self._weight is None else self._weight[here],
            gram,
            self._rule,
            self._zero,
            state.joint and state.n_classes > 2,
            state.limit,
            random_words(state.key, state.count, size),
            state.count,
            state.n_kept,
            state.slots,
            np.empty(state.n_columns),
            np.empty(state.n_columns),
            np.empty(len(state.slots.ages)),
        )
        finite = np.isfinite(loss) and np.isfinite(state.slots.coef[state.by_age]).all()
        if before is not None and not (finite and np.isfinite(largest)):
            state.slots, state.n_kept = before
            raise overflow(when=f"in a block of {size} rows, which are not learned")
        state.count += size
        if updates:
            self._take_in(here)
        return Counts(mistakes, updates, loss)

    def _gram(self, here: NDArray[Any]) -> NDArray[Any]:
        """Return the kernel values of these rows against those that are kept, then themselves."""
        state, rows = self._state, take(self._rows, here)
        left = np.concatenate([state.numbers, here]) if self._is_given else self._with_kept(rows)
        gram = gram_between(self._kernel, left, rows)
        values = gram.panel(np.arange(len(here)))(np.arange(state.n_kept + len(here)))
        return np.ascontiguousarray(values.T)

    def _with_kept(self, rows: Rows) -> Rows:
        return rows if self._state.rows is None else join([self._state.rows, rows])

    @property
    def _is_given(self) -> bool:
        return self._kernel.name == "precomputed"

    def _take_in(self, here: NDArray[Any]) -> None:
        """Change the rows of the state to those that now stand in its slots."""
        state = self._state
        where = state.slots.column[state.by_age]
        if not self._is_given:
            state.rows = take(self._with_kept(take(self._rows, here)), where)
        state.numbers = np.concatenate([state.numbers, self._first + here])[where]
        state.labels = np.concatenate([state.labels, self._labels[here]])[where]


def kept_scores(
    state: BudgetState, kernel: Kernel, rows: Rows, coefficients: NDArray[Any]
) -> NDArray[Any]:
    """Return the scores of rows under coefficients of the kept rows: (columns, rows)."""
    if not state.n_kept:
        return np.zeros((len(coefficients), rows.shape[0]))
    left = state.numbers if state.rows is None else state.rows
    gram = gram_between(kernel, left, rows)
    with np.errstate(over="ignore", invalid="ignore"):  # noticed by who looks at the scores
        values = gram.panel(np.arange(rows.shape[0]))(np.arange(state.n_kept))
        return np.asarray(coefficients @ values)
