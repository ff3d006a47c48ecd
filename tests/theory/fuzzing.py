"""A longer search for verdicts that do not hold: ``python -m tests.theory.fuzzing SECONDS``."""

import sys
from collections import Counter
from time import perf_counter
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


def main() -> None:
    """Diagnose sets until the time is up, and count the verdicts of each kind."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts: Counter[tuple[str, str]] = Counter()
    started, seed = perf_counter(), first
    while perf_counter() - started < seconds:
        generator = np.random.default_rng(seed)
        kind = KINDS[seed % len(KINDS)]
        X, y = draw(generator, kind)
        try:
            verdict = diagnose(X, y, time_limit=20)
            check(verdict, X, y)
        except BaseException:
            print(f"seed {seed}, {kind}")  # noqa: T201
            raise
        counts[kind, verdict.status] += 1
        seed += 1
    for (kind, status), count in sorted(counts.items()):
        print(f"{kind:>10} {status:<12} {count}")  # noqa: T201


if __name__ == "__main__":
    main()
