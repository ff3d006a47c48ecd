"""What learns from rows: a state without a limit, or one with a budget."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.rows import Rows
from rosenblatt.rules import Rule
from rosenblatt.training.dual.budget import BudgetPasses
from rosenblatt.training.dual.budget_state import BudgetState
from rosenblatt.training.dual.gram import gram_between
from rosenblatt.training.dual.kernel import Kernel
from rosenblatt.training.dual.passes import DualPasses
from rosenblatt.training.dual.scoring import scores_of
from rosenblatt.training.dual.sizes import Sizes
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.dual.targets import Targets

State = DualState | BudgetState


class DualLearning:
    """Passes over rows whose steps are added to a state when they are over."""

    def __init__(
        self,
        state: DualState,
        kernel: Kernel,
        rows: Rows,
        labels: NDArray[Any],  # class numbers
        weight: NDArray[Any] | None,
        rule: Rule,
        zero: int,
        sizes: Sizes,
        *,
        passes: int,  # how many at most
    ) -> None:
        self._state, self._rows, self._labels = state, rows, labels
        self._given = kernel.name == "precomputed"
        n_rows = rows.shape[0]
        left = np.arange(n_rows) if self._given else rows
        if state.n_support:
            scores = scores_of(state, kernel, rows, sizes)["last"]
        else:
            scores = np.zeros((state.n_columns, n_rows))
        self._passes = DualPasses(
            gram_between(kernel, left, rows),
            Targets.of_numbers(labels, state.n_classes, state.joint, weight),
            scores,
            rule,
            zero,
            state.count,
            sizes,
            keep=passes > 1,
        )

    def blocks(self, order: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield the rows of a pass, block by block."""
        return self._passes.blocks(order)

    def visit(self, block: NDArray[Any]) -> Counts:
        """Visit each row of a block; return what happened."""
        return self._passes.visit(block)

    def mistakes(self, order: NDArray[Any]) -> int:
        """Count the mistakes that the last weights make on these rows."""
        return self._passes.mistakes(order)

    def finish(self) -> None:
        """Change the state by all that was learned."""
        passes = self._passes
        self._state.extend(
            None if self._given else self._rows,
            self._labels,
            passes.steps.values,
            n_rows=self._rows.shape[0],
            count=passes.count,
        )


def learning_of(
    state: State,
    kernel: Kernel,
    rows: Rows,
    labels: NDArray[Any],
    weight: NDArray[Any] | None,
    rule: Rule,
    zero: int,
    sizes: Sizes,
    *,
    passes: int,
) -> DualLearning | BudgetPasses:
    """Return what changes this state by passes over these rows."""
    if isinstance(state, BudgetState):
        return BudgetPasses(state, kernel, rows, labels, weight, rule, zero)
    return DualLearning(state, kernel, rows, labels, weight, rule, zero, sizes, passes=passes)
