"""Held-out rows and early stopping on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.training.examples import Examples
from rosenblatt.training.order import permute
from rosenblatt.training.passes import count_mistakes
from rosenblatt.training.state import Snapshot, State


@dataclass(frozen=True)
class EarlyStopping:
    """Hold rows out, and stop when their score has not risen for some passes."""

    validation_fraction: float = 0.1
    n_iter_no_change: int = 5


def split(
    examples: Examples, fraction: float, generator: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the numbers of rows to learn from and of rows held out, drawn class by class."""
    numbers = examples.numbers()
    targets = examples.targets[numbers]
    held_out = np.zeros(len(numbers), bool)
    for target in np.unique(targets):
        members = np.flatnonzero(targets == target)
        permute(members, generator)
        held_out[members[: int(fraction * len(members))]] = True
    if not held_out.any():
        msg = (
            f"validation_fraction={fraction} of {len(numbers)} rows leaves no row of any class to "
            "validate on; give more rows, a larger fraction, or early_stopping=False."
        )
        raise InputError(msg)
    return numbers[~held_out], numbers[held_out]


class Validation:
    """Scores a state after every pass on held-out rows and keeps the best one."""

    def __init__(
        self, examples: Examples, held_out: NDArray[Any], zero: int, patience: int
    ) -> None:
        self._examples = examples
        self._held_out = held_out
        self._zero = zero or -1  # at test time a zero activation has to predict something
        self._patience = patience
        self._best_score = -1.0
        self._best: Snapshot | None = None
        self.best_pass = 0
        self.patience_ended = False

    def score(self, pass_: int, state: State) -> float:
        """Return the accuracy of the weights that the state would return after this pass."""
        weights = state.average()
        wrong = count_mistakes(state, weights, self._examples, self._held_out, self._zero)
        score = 1.0 - wrong / len(self._held_out)
        if score > self._best_score:
            self._best_score, self.best_pass, self._best = score, pass_, state.snapshot()
        self.patience_ended = pass_ - self.best_pass >= self._patience
        return score

    def restore_best(self, state: State) -> None:
        """Change the state back to the pass that scored highest; of equals, the first."""
        if self._best is not None:
            state.restore(self._best)
