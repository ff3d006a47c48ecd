"""What is learned from: rows, the target of each, and how much it counts.

Targets are labels as the kernels read them: −1 and +1 for two classes, class numbers for more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Label, classes_of
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import take

ClassWeight = str | Mapping[Any, float]  # "balanced", or what multiplies the steps of a class
BLOCK = 1 << 16  # rows at a time, so that a wide intermediate never has the length of the data


def row_numbers(n_rows: int) -> NDArray[Any]:
    """Return 0 … n_rows − 1 in the one type that the kernels take for an order."""
    return np.arange(n_rows, dtype=np.int64)


def or_empty(array: NDArray[Any] | None, ndim: int = 1) -> NDArray[Any]:
    """Return an array as a pass takes it; an empty one for None.

    So a pass is compiled once, whether or not rows have weights and the weights an average.
    """
    return np.empty((0,) * ndim) if array is None else array


@dataclass(frozen=True)
class Examples:
    """Rows with their targets (see ``encode``) and what multiplies each one's step."""

    rows: Rows
    targets: NDArray[Any]
    weight: NDArray[Any] | None = None  # None: 1 for all

    def numbers(self) -> NDArray[Any]:
        """Return the numbers of the rows that count at all; weight zero is as if not given."""
        numbers = row_numbers(len(self.targets))
        return numbers if self.weight is None else numbers[self.weight != 0.0]

    def take(self, numbers: NDArray[Any]) -> "Examples":
        """Return a copy of the examples of these numbers, in their order."""
        weight = None if self.weight is None else self.weight[numbers]
        return Examples(take(self.rows, numbers), self.targets[numbers], weight)


def numbers_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return each label's number among the sorted classes; undefined for unknown labels."""
    numbers = classes.searchsorted(y)
    return np.minimum(numbers, len(classes) - 1, out=numbers)


def targets_of(numbers: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return class numbers as targets."""
    return (2 * numbers - 1 if n_classes == 2 else numbers).astype(np.int32)


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


def check_count(y: NDArray[Any], n_rows: int) -> None:
    """Raise InputError where there is not one label for each row."""
    if y.shape != (n_rows,):
        msg = f"y must have one label per row, {n_rows} in all; got shape {y.shape}."
        raise InputError(msg)


def known_numbers(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the number of each label; raise InputError for a label unknown to the model."""
    strange = np.setdiff1d(labels, classes)
    if len(strange):
        msg = (
            f"The label {strange.tolist()[0]!r} in y is not a class of the model; the classes are "
            f"{classes.tolist()}."
        )
        raise InputError(msg)
    return numbers_of(labels, classes)


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the target of each label."""
    if len(y) <= BLOCK:
        return targets_of(numbers_of(y, classes), len(classes))
    parts = (y[start : start + BLOCK] for start in range(0, len(y), BLOCK))
    return np.concatenate([targets_of(numbers_of(part, classes), len(classes)) for part in parts])


def sorted_classes(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the classes that labels name, in order; see ``classes_of``."""
    different: set[Any] = {*classes_of(labels).values()}
    return tuple(sorted(different))


def ranks_of(labels: Sequence[Label], classes: Sequence[Label]) -> NDArray[np.int32]:
    """Return the number of each label among the sorted classes of these and other labels."""
    number, class_of = {one: k for k, one in enumerate(classes)}, classes_of((*classes, *labels))
    return np.array([number[class_of[label]] for label in labels], np.int32)


def class_weights(
    class_weight: ClassWeight | None, classes: Sequence[Label], counts: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Return the factor of each class on the steps of its rows, from the class counts.

    None stands for 1 for all. Balanced classes count alike: n / (K·count), as in scikit-learn. A
    class may be named by its text.

    >>> class_weights("balanced", ("ham", "spam"), np.array([30, 10]))
    array([0.66666667, 2.        ])
    >>> class_weights({"1": 5}, (0, 1), np.array([30, 10]))
    array([1., 5.])
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return np.asarray(counts.sum() / (len(classes) * np.where(counts > 0, counts, 1.0)))
    weights, texts = np.ones(len(classes)), [str(label) for label in classes]
    for label, value in class_weight.items():
        if label in classes:
            number = list(classes).index(label)
        elif str(label) in texts:
            number = texts.index(str(label))
        else:
            known = f" names {label!r}, which is not a class; the classes are {list(classes)}."
            raise InputError(Sentence(Parameter("class_weight"), known))
        if not (np.isfinite(value) and value >= 0):
            needed = f" of {label!r} must be a number of at least 0; got {value!r}."
            raise InputError(Sentence(Parameter("class_weight"), needed))
        weights[number] = value
    return weights
