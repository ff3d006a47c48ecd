"""The vote of all weight vectors so far, from the list of mistakes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.lab.run import Update, survivals

AT_A_TIME = 64  # vectors


class Votes:
    """The votes at fixed places, which are added up as a training goes on.

    The activation of vector k is that of vector k − 1 and τ·y·⟨xᵢ, x⟩ more, so no vector is kept. A
    vector, w₀ = 0 among them, votes once for each row that it lasted, as in ``VotedPerceptron``.
    """

    def __init__(self, products: NDArray[Any], zero: str) -> None:
        """Take the inner products of the places with all rows, (m, n)."""
        self._products = products
        self._for_zero = 1.0 if zero == "positive" else -1.0
        self._restart()

    def _restart(self) -> None:
        self._taken = 0  # updates
        self._activation = np.zeros(len(self._products))  # of the vector after them
        self._total = np.zeros(len(self._products))  # of the vectors before that one

    def at(self, updates: Sequence[Update], at: int) -> NDArray[Any]:
        """Return the sum of votes, each −1 or +1, after ``at`` visits with these updates.

        Updates are those of the same training as at the last call, more or fewer of them.
        """
        if len(updates) < self._taken:
            self._restart()
        lasted = survivals(tuple(updates), at)
        while self._taken < len(updates):
            self._take(updates[self._taken : self._taken + AT_A_TIME], lasted)
        return np.asarray(self._total + lasted[-1] * self._signs(self._activation))

    def _take(self, updates: Sequence[Update], lasted: NDArray[Any]) -> None:
        rows = [update.row for update in updates]
        added = self._products[:, rows] * np.array([update.amount for update in updates])
        activations = np.column_stack([self._activation, added]).cumsum(axis=1)
        first, last = self._taken, self._taken + len(updates)
        self._total += self._signs(activations[:, :-1]) @ lasted[first:last]
        self._activation = activations[:, -1]
        self._taken = last

    def _signs(self, activations: NDArray[Any]) -> NDArray[Any]:
        signs: NDArray[Any] = np.sign(activations)
        signs[signs == 0.0] = self._for_zero
        return signs

    def share(self, updates: Sequence[Update], at: int) -> NDArray[Any]:
        """Return the lead of the positive votes as a share of all, from −1 to +1."""
        return np.asarray(self.at(updates, at) / max(at, 1), np.float64)
