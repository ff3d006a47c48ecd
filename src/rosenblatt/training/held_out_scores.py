"""What the final weights say of held-out rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.shapes import take
from rosenblatt.training.state import State
from rosenblatt.training.supply import Part
from rosenblatt.training.vote_count import count_votes, vote_scores
from rosenblatt.training.votes import Votes


def part_scores(
    state: State, part: Part, votes: Votes | None = None, zero: int = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the activations, or the shares of votes, and class numbers of the rows of a part."""
    rows = take(part.examples.rows, part.order)
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
