"""Activations of one set of weights, and the classes that scores predict."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.rows import Rows
from rosenblatt.training.state import State


def linear_scores(state: State, rows: Rows) -> NDArray[Any]:
    """Return the activation of each row, (n,) for two classes, else (n, classes)."""
    weights = state.average()
    if state.n_classes == 2:
        scores = np.empty(rows.shape[0])
        activations(rows, weights, scores)
    else:
        scores = np.empty((rows.shape[0], state.n_classes))
        class_scores(rows, state.laid_out_for(rows, weights), scores)
    bad = first_not_finite(scores)
    if bad >= 0:
        row = bad // scores.shape[-1] if scores.ndim == 2 else bad
        msg = f"The activation of row {row} overflowed: its values are too large."
        raise WeightOverflowError(msg)
    return scores


def predicted_numbers(scores: NDArray[Any], *, positive: bool) -> NDArray[np.intp]:
    """Return the number of the class that each score predicts.

    Zero is the first class, or the second if ``positive``; a tie of several classes goes to the
    first of them, or likewise to the last.
    """
    if scores.ndim == 1:
        return (scores >= 0 if positive else scores > 0).astype(np.intp)
    if positive:
        last: NDArray[np.intp] = scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)
        return last
    first: NDArray[np.intp] = scores.argmax(axis=1)
    return first
