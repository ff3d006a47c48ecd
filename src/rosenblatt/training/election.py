"""Early stopping of a vote: held-out rows, on which the vectors of each further pass vote too."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.shapes import take
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.training.state import State
from rosenblatt.training.supply import Part, Supply
from rosenblatt.training.tally import Tally, tally_of
from rosenblatt.training.vote_count import in_threads, vote_overflow, winners
from rosenblatt.training.vote_products import BLOCK_ROWS, Teachers
from rosenblatt.training.votes import Votes


class Election:
    """The votes on the held-out rows so far.

    A pass costs the products of its mistakes with the held-out rows, however many went before.
    """

    def __init__(self, state: State, zero: int, earlier: Votes | None = None) -> None:
        self._positive = zero > 0
        self._coming = [] if earlier is None else [(earlier, None)]  # and the weights before it
        self._weights = state.by_class(state.weights).copy()
        self._n_updates = 0  # of the list that have voted
        self._tallies: list[Tally] = []

    def mistakes(self, supply: Supply, mistakes: Mistakes, state: State) -> int:
        """Count the held-out rows that the vote of all vectors up to now misclassifies."""
        rows = supply.rows()
        if rows is None:
            msg = "Rows that taught have to be kept for a vote."
            raise RuntimeError(msg)
        new = Log(*(column[self._n_updates :] for column in mistakes.updates))
        self._n_updates = len(mistakes)
        coming: list[Any] = [*self._coming, (Votes.of(new, rows), self._weights)]
        self._coming, self._weights = [], state.by_class(state.weights).copy()
        rounds = []
        for votes, start in coming:
            steps = votes.steps(state.n_classes)
            rounds.append((Teachers(votes.rows, steps.row), steps, start))

        def judge(block: tuple[int, Part, NDArray[Any]]) -> int:
            number, part, order = block
            tally, held_out = self._tallies[number], take(part.examples.rows, order)
            for teachers, steps, start in rounds:
                bad = tally.advance(held_out, teachers, steps, start)
                if bad >= 0:
                    raise vote_overflow(part.first_row + int(order[bad]))
            targets = part.examples.targets[order]
            numbers = targets > 0 if state.n_classes == 2 else targets
            voted = winners(tally.counts(state.count), positive=self._positive)
            return int(np.count_nonzero(voted != numbers))

        return sum(in_threads(judge, self._blocks(supply, state.n_classes)))

    def _blocks(self, supply: Supply, n_classes: int) -> Iterator[tuple[int, Part, NDArray[Any]]]:
        """Yield the held-out rows in blocks, each with the number of its tally."""
        number = 0
        for part in supply.held_out_parts():
            for first in range(0, len(part.order), BLOCK_ROWS):
                order = part.order[first : first + BLOCK_ROWS]
                if number == len(self._tallies):
                    tally = tally_of(len(order), n_classes, positive=self._positive)
                    self._tallies.append(tally)
                yield number, part, order
                number += 1
