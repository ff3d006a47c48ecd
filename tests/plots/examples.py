"""Small data sets with answers that are known without the code under test."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import Perceptron

Data = tuple[NDArray[Any], NDArray[Any]]

# Separated by x₁ + x₂ = 3: AND with room around it.
AND_X = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]])
AND_Y = np.array(["no", "no", "no", "yes"])


def blobs(n_rows: int = 60, gap: float = 2.5, n_features: int = 2, seed: int = 0) -> Data:
    """Return two clouds, apart along the first two features."""
    generator = np.random.default_rng(seed)
    side = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    X = generator.normal(size=(n_rows, n_features))
    X[:, 0] += 0.8 * gap * side
    X[:, 1] += 0.6 * gap * side
    return X, np.where(side > 0, "spam", "ham")


def ring_of_classes(n_classes: int, n_each: int = 8) -> Data:
    """Return clouds around a circle, one a class."""
    generator = np.random.default_rng(0)
    numbers = np.repeat(np.arange(n_classes), n_each)
    turn = 2 * np.pi * numbers / n_classes
    X = np.column_stack([np.cos(turn), np.sin(turn)]) * 6
    return X + generator.normal(size=X.shape) * 0.3, numbers


def with_weights(w: list[float], b: float, y: Any) -> Perceptron:
    """Return a perceptron of two classes that has these weights, whatever the rows."""
    classes = np.unique(y)
    clf = Perceptron().partial_fit(np.zeros((1, len(w))), classes[:1], classes=classes)
    clf._state.weights[:] = [*w, b]  # noqa: SLF001  # ours
    return clf
