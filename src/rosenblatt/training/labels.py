"""Labels as the kernels read them: −1 and +1 for two classes, class numbers for more."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Label

BLOCK = 1 << 16  # rows at a time, so that a wide intermediate never has the length of the data


def numbers_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the number of each label among the sorted classes; any number if it is none."""
    numbers = classes.searchsorted(y)
    return np.minimum(numbers, len(classes) - 1, out=numbers)


def targets_of(numbers: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return class numbers as targets."""
    if n_classes == 2:
        return (2 * numbers - 1).astype(np.int8)
    return numbers.astype(np.int32)


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the target of each label."""
    if len(y) <= BLOCK:
        return targets_of(numbers_of(y, classes), len(classes))
    parts = (y[start : start + BLOCK] for start in range(0, len(y), BLOCK))
    return np.concatenate([targets_of(numbers_of(part, classes), len(classes)) for part in parts])


def sorted_classes(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the different labels in order, all as words if one of them is a word."""
    different = set(labels)
    if any(isinstance(label, str) for label in different):
        return tuple(sorted({str(label) for label in different}))
    return tuple(sorted(different))


def ranks_of(labels: Sequence[Label], classes: Sequence[Label]) -> NDArray[np.int32]:
    """Return the number of each label among sorted classes."""
    words = any(isinstance(label, str) for label in classes)
    number = {label: k for k, label in enumerate(classes)}
    return np.array([number[str(label) if words else label] for label in labels], np.int32)
