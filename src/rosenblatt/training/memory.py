"""Which weights predict: the last, their average, the vote of all, or the best on held-out rows.

The last weights and their average are in the ``State``: it keeps a ledger where an average is
wanted. The vote is made of the list of updates. The best is whichever of them scored highest on
held-out rows (``history.Best``).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.shapes import take
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.training.state import State
from rosenblatt.training.supply import Part, Supply
from rosenblatt.training.tally import Tally, tally_of
from rosenblatt.training.vote_count import (
    count_votes,
    in_threads,
    vote_overflow,
    vote_scores,
    winners,
)
from rosenblatt.training.vote_products import BLOCK_ROWS, Teachers
from rosenblatt.training.votes import Votes


class Vote:
    """The votes of all weight vectors so far on the held-out rows.

    A pass costs the products of its mistakes with the held-out rows, however many went before.
    """

    def __init__(self, state: State, zero: int, earlier: Votes | None = None) -> None:
        self._positive = zero > 0
        self._coming = [] if earlier is None else [(earlier, None)]  # and the weights before it
        self._weights = state.by_class(state.weights).copy()
        self._n_updates = 0  # of the list that have voted
        self._tallies: list[Tally] = []

    def held_out_mistakes(self, state: State, supply: Supply, updates: Mistakes) -> int:
        """Count the held-out rows that the vote of all vectors up to now misclassifies."""
        rows = supply.rows()
        if rows is None:
            msg = "Rows that taught have to be kept for a vote."
            raise RuntimeError(msg)
        new = Log(*(column[self._n_updates :] for column in updates.updates))
        self._n_updates = len(updates)
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
        for part in supply.sweep(held_out=True):
            for first in range(0, len(part.order), BLOCK_ROWS):
                order = part.order[first : first + BLOCK_ROWS]
                if number == len(self._tallies):
                    tally = tally_of(len(order), n_classes, positive=self._positive)
                    self._tallies.append(tally)
                yield number, part, order
                number += 1


def held_out_scores(
    state: State, part: Part, votes: Votes | None = None, zero: int = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the activations, or the shares of votes, and class numbers of the rows of a part."""
    rows = take(part.examples.rows, part.order)
    targets = part.examples.targets[part.order]
    numbers = (targets > 0 if state.n_classes == 2 else targets).astype(np.int64)
    if votes is not None:
        count = state.n_classes, state.count
        return vote_scores(count_votes(votes, rows, *count, positive=zero > 0)), numbers
    state.arrange_for(rows)
    shape = (len(numbers),) if state.n_classes == 2 else (len(numbers), state.n_classes)
    scores = np.empty(shape)
    (activations if state.n_classes == 2 else class_scores)(rows, state.average(), scores)
    return scores, numbers
