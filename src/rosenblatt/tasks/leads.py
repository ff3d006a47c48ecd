"""Class numbers and targets, winners and how far they lead."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Label, classes_of


def numbers_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return each label's number among the sorted classes; undefined for unknown labels."""
    numbers = classes.searchsorted(y)
    return np.minimum(numbers, len(classes) - 1, out=numbers)


def targets_of(numbers: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return class numbers as targets."""
    return (2 * numbers - 1 if n_classes == 2 else numbers).astype(np.int32)


def class_numbers(targets: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return targets as class numbers."""
    return np.asarray(targets > 0 if n_classes == 2 else targets, np.int64)


def winners(scores: NDArray[Any], *, positive: bool) -> NDArray[np.intp]:
    """Return the class of each row: of two the sign of its score, (n,), else the highest, (n, K).

    Zero is the first class, and so is the first of equals; if ``positive`` the second and the last.
    """
    if scores.ndim == 1:
        return (scores >= 0 if positive else scores > 0).astype(np.intp)
    if positive:
        last: NDArray[np.intp] = scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)
        return last
    first: NDArray[np.intp] = scores.argmax(axis=1)
    return first


def leads_of(scores: NDArray[Any], numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return how far the class of each row is ahead of its best rival, and which that is.

    The scores, (n, K), are written over.
    """
    every = np.arange(len(scores))
    own = scores[every, numbers]
    scores[every, numbers] = -np.inf
    rivals = scores.argmax(axis=1)
    return own - scores[every, rivals], rivals


def winner_leads(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the lead of the predicted class over the second; of votes it is the vote margin."""
    if scores.ndim == 1:
        return np.asarray(np.abs(scores))
    if scores.shape[1] == 1:
        return scores[:, 0].copy()
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


def lead_over(
    scores: NDArray[Any], numbers: NDArray[Any], predicted: NDArray[Any]
) -> NDArray[np.float64]:
    """Return by how much the predicted class of each row is ahead of another one."""
    if scores.ndim == 1:
        return np.where(predicted == numbers, 0.0, np.abs(scores))
    at = np.arange(len(scores))
    return np.asarray(scores[at, predicted] - scores[at, numbers])


def ranks_of(labels: Sequence[Label], classes: Sequence[Label]) -> NDArray[np.int32]:
    """Return the number of each label among the sorted classes of these and other labels."""
    number, class_of = {one: k for k, one in enumerate(classes)}, classes_of((*classes, *labels))
    return np.array([number[class_of[label]] for label in labels], np.int32)
