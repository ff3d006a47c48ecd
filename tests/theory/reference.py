"""The margin of small sets by trying every subset of rows: plain fractions, and nothing of ours.

The points of two hulls that are nearest to each other are mixtures of rows that are independent of
each other. So each set of independent rows is tried: weights of any sign with the shortest
difference come from a linear system, and count where none is negative.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any


def squared_margin(X: Iterable[Sequence[Any]], y: Sequence[Any]) -> Fraction:
    """Return γ² of two classes over unit w and any b; 0 where nothing separates them."""
    vectors = _signed(X, y)
    return _squared_distance([v[:-1] for v in vectors], [[Fraction(1), v[-1]] for v in vectors])


def squared_augmented_margin(X: Iterable[Sequence[Any]], y: Sequence[Any]) -> Fraction:
    """Return the same of the vectors (x, 1), over unit (w, b)."""
    vectors = _signed(X, y)
    return _squared_distance(vectors, [[Fraction(1)] for _ in vectors])


def _signed(X: Iterable[Sequence[Any]], y: Sequence[Any]) -> list[list[Fraction]]:
    """Return y·(x, 1) of each row, for y = +1 in the second class and −1 in the first."""
    second = max(y)
    return [
        [(1 if label == second else -1) * value for value in (*map(Fraction, row), Fraction(1))]
        for row, label in zip(X, y, strict=True)
    ]


def _squared_distance(g: list[list[Fraction]], h: list[list[Fraction]]) -> Fraction:
    """Return the least ‖Σ λ·g‖² over λ ≥ 0 with Σ λ·h = (1, 0 …)."""
    best: Fraction | None = None
    conditions = len(h[0])
    for size in range(conditions, len(g[0]) + conditions + 1):
        for used in combinations(range(len(g)), size):
            weights = _shortest([g[i] for i in used], [h[i] for i in used])
            if weights is None or min(weights) < 0:
                continue
            sums = [
                sum(w * g[i][j] for w, i in zip(weights, used, strict=True))
                for j in range(len(g[0]))
            ]
            square = Fraction(sum(s * s for s in sums))
            best = square if best is None else min(best, square)
    assert best is not None
    return best


def _shortest(g: list[list[Fraction]], h: list[list[Fraction]]) -> list[Fraction] | None:
    """Return λ of any sign with Σ λ·h = (1, 0 …) and the least ‖Σ λ·g‖; None if it is not one."""
    n, k = len(g), len(h[0])
    lines = [
        [sum((a * b for a, b in zip(p, q, strict=True)), Fraction(0)) for q in g]
        + h[i]
        + [Fraction(0)]
        for i, p in enumerate(g)
    ]
    for j in range(k):
        right = Fraction(1 if j == 0 else 0)
        lines.append([condition[j] for condition in h] + [Fraction(0)] * k + [right])
    for column in range(n + k):  # Gauss and Jordan
        pivot = next((i for i in range(column, n + k) if lines[i][column]), None)
        if pivot is None:
            return None
        lines[column], lines[pivot] = lines[pivot], lines[column]
        first = lines[column][column]
        lines[column] = [value / first for value in lines[column]]
        for i in range(n + k):
            if i != column and (factor := lines[i][column]):
                lines[i] = [a - factor * b for a, b in zip(lines[i], lines[column], strict=True)]
    return [lines[i][-1] for i in range(n)]
