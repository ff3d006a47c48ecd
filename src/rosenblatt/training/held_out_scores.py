"""What the final weights say of held-out rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.rows import CSR
from rosenblatt.training.chosen_rows import chosen_rows
from rosenblatt.training.state import State
from rosenblatt.training.supply import Part
from rosenblatt.training.vote_count import count_votes, vote_scores
from rosenblatt.training.votes import Votes


def part_scores(
    state: State, part: Part, votes: Votes | None = None, zero: int = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the activations, or the shares of votes, and class numbers of the rows of a part."""
    rows = _taken(part)
    targets = part.examples.targets[part.order]
    if votes is not None:
        count = state.n_classes, state.count
        scores = vote_scores(count_votes(votes, rows, *count, positive=zero > 0))
        return scores, (targets > 0 if state.n_classes == 2 else targets).astype(np.int64)
    state.arrange_for(rows)
    if state.n_classes == 2:
        scores = np.empty(len(part.order))
        activations(rows, state.average(), scores)
        return scores, (targets > 0).astype(np.int64)
    scores = np.empty((len(part.order), state.n_classes))
    class_scores(rows, state.average(), scores)
    return scores, targets.astype(np.int64)


def _taken(part: Part) -> CSR:
    """Return the rows of a part, and no others, as a matrix of their own."""
    rows = part.examples.rows
    if not isinstance(rows, CSR):
        msg = "Held-out rows are scored from files, which give sparse rows."
        raise TypeError(msg)
    return chosen_rows(rows, part.order)
