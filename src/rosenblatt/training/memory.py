"""Which weights predict: the last, their average, the vote of all, or the best on held-out rows.

The last weights and their average are in the ``State``: it keeps a ledger where an average is
wanted. The vote is made of the list of updates. The best is whichever of them scored highest on
held-out rows (``loop.Best``).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import score_overflow
from rosenblatt.kernels.shapes import take
from rosenblatt.mistakes.gram import gram_between
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.scores import Tally, update_chunks
from rosenblatt.mistakes.updates import Mistakes, steps_of
from rosenblatt.tasks.leads import class_numbers, winners
from rosenblatt.training.examples import Examples, RowSupply
from rosenblatt.training.state import State

BLOCK_ROWS = 256  # to vote on at a time


class Vote:
    """The votes of all weight vectors so far on the held-out rows.

    A pass costs the products of its mistakes with the held-out rows, however many went before.
    ``earlier`` are updates that the weights are made of and that vote as well.
    """

    def __init__(self, zero: int, earlier: Mistakes | None = None) -> None:
        self._positive = zero > 0
        self._coming = [] if earlier is None else [earlier]
        self._n_updates = 0  # of the list that have voted
        self._tallies: list[Tally] = []

    def tried_mistakes(self, state: State, supply: RowSupply, updates: Mistakes) -> int:
        """Count the held-out rows that the vote of all vectors up to now misclassifies."""
        rows = supply.rows()
        if rows is None:
            raise RuntimeError("Rows that taught have to be kept for a vote.")
        new = updates.since(self._n_updates)
        coming = [*self._coming, Mistakes.of_rows(new, rows, state.count)]
        self._coming, self._n_updates = [], len(updates)
        joint, wrong = state.n_classes > 2, 0
        lists = [
            (made.support, update_chunks(steps_of(made.updates, joint=joint), BLOCK_ROWS))
            for made in coming
        ]
        kernel = Kernel("linear", constant=rows.constant * rows.constant)
        for tally, part, order in self._blocks(supply, state.n_classes):
            tried = take(part.rows, order)
            for support, parts in lists:
                if support is not None and support.rows is not None and parts:
                    gram = gram_between(kernel, support.rows, tried)
                    tally.advance(parts, gram(np.arange(len(order))))
            finite = np.isfinite(tally.scores).all(axis=0)
            if not finite.all():
                raise score_overflow(part.first_row + int(order[np.argmin(finite)]))
            voted = winners(tally.counts(state.count), positive=self._positive)
            wrong += int(
                np.count_nonzero(voted != class_numbers(part.targets[order], state.n_classes))
            )
        return wrong

    def _blocks(
        self, supply: RowSupply, n_classes: int
    ) -> Iterator[tuple[Tally, Examples, NDArray[Any]]]:
        """Yield the held-out rows in blocks, each with its tally."""
        number = 0
        for part in supply.tried():
            for first in range(0, len(part.order), BLOCK_ROWS):
                order = part.order[first : first + BLOCK_ROWS]
                if number == len(self._tallies):
                    self._tallies.append(Tally(len(order), n_classes, positive=self._positive))
                yield self._tallies[number], part, order
                number += 1
