"""Separable rows of known margin."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def separable_rows(
    n_rows: int, n_features: int, margin: float, seed: int
) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Return unit vectors at least ``margin`` away from a hyperplane through 0, and their sides.

    They are uniform on the sphere but for the belt that is left out. In high dimensions most of it
    lies in the belt (the distance has the deviation 1/√n_features), so rows are drawn until there
    are enough: choose a margin that is not many times as large.
    """
    generator = np.random.default_rng(seed)
    normal = generator.standard_normal(n_features)
    normal /= np.linalg.norm(normal)
    kept: list[NDArray[Any]] = []
    while sum(map(len, kept)) < n_rows:
        X = generator.standard_normal((n_rows, n_features))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        kept.append(X[np.abs(X @ normal) >= margin])
    X = np.concatenate(kept)[:n_rows]
    return X, np.where(X @ normal > 0, 1, -1).astype(np.int8)
