"""Held-out rows and early stopping on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.shuffling import random_words
from rosenblatt.training.examples import Examples
from rosenblatt.training.order import permute
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


def drawn_rows(first: int, n_rows: int, fraction: float, key: int) -> NDArray[Any]:
    """Return for each of successive rows whether it is held out, by its number and the key alone.

    So a stream can hold out rows before it knows how many there are, and the same ones in every
    pass.
    """
    if not fraction:
        return np.zeros(n_rows, bool)
    drawn: NDArray[Any] = random_words(key, first, n_rows) < np.uint64(fraction * 2.0**64)
    return drawn


@dataclass
class Validation:
    """The accuracy on held-out rows at its best, and the state that had it."""

    best_score: float = -1.0
    best_pass: int = 0
    best: Snapshot | None = None

    def note(self, pass_: int, score: float, state: State) -> None:
        """Compare the accuracy after this pass with the best one so far."""
        if score > self.best_score:
            self.best_score, self.best_pass, self.best = score, pass_, state.snapshot()

    def restore_best(self, state: State) -> None:
        """Change the state back to the pass that scored highest; of equals, the first."""
        if self.best is not None:
            state.restore(self.best)
