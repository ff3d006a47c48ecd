"""A search for verdicts that do not hold."""

from collections import Counter
from typing import Any

import numpy as np

from rosenblatt.theory.diagnosis import diagnose
from tests.theory.checking import check

KINDS = ("integers", "decimals", "floats", "touching", "thin", "sizes", "extremes", "float32")


def draw(generator: np.random.Generator, kind: str) -> tuple[Any, Any]:
    """Return rows of one kind with two or three classes."""
    n, d, k = generator.integers(2, 40), generator.integers(1, 7), generator.integers(2, 4)
    X = generator.standard_normal((n, d))
    w = generator.standard_normal((d, k))
    y = (X @ w).argmax(axis=1) if generator.random() < 0.7 else generator.integers(0, k, n)
    if kind == "integers":
        X = np.round(2 * X)
    elif kind == "decimals":
        X = np.round(X, 1)
    elif kind == "touching":  # rows of one class in the middle of rows of another
        i, j, middle = generator.integers(0, n, 3)
        X = np.round(X * 8) / 8
        X[middle] = (X[i] + X[j]) / 2
        y[j], y[middle] = y[i], (y[i] + 1) % k
    elif kind == "thin":
        y = generator.integers(0, 2, n)
        unit = w[:, 0] / np.linalg.norm(w[:, 0])
        gap = 10.0 ** generator.uniform(-17, -3)
        X += np.outer((2 * y - 1) * gap - X @ unit, unit)
    elif kind == "sizes":
        X *= 10.0 ** generator.integers(-12, 12, d)
    elif kind == "extremes":
        X *= 10.0 ** generator.choice([-320, -300, -160, 0, 150, 290], (1, d))
    elif kind == "float32":
        X = X.astype(np.float32)
    if len(set(y.tolist())) < 2:
        y[0] = y[0] + 1
    return X, y


def search(n_sets: int, seed: int) -> Counter[str]:
    """Check the verdict on each of so many sets; return how often each verdict was given."""
    counts: Counter[str] = Counter()
    for number in range(n_sets):
        X, y = draw(np.random.default_rng((seed, number)), KINDS[number % len(KINDS)])
        verdict = diagnose(X, y)
        check(verdict, X, y)
        counts[verdict.status] += 1
    return counts
