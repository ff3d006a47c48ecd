"""The voted perceptron as its definition has it: every weight vector is kept, in plain lists.

Imports nothing of rosenblatt.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from tests.reference import Arithmetic, Vector


class Update(NamedTuple):
    """One line of the list of mistakes."""

    row: int
    label: int  # −1 or +1, or a class number
    rival: int
    tau: float
    seen: int  # the number of the row, counted from 1


def survivals(updates: Sequence[Update], end: int) -> list[int]:
    """Return how many rows each vector lasted, that of zeros first."""
    times = [1, *(update.seen for update in updates), end]
    return [later - earlier for earlier, later in pairwise(times)]


def vectors(
    rows: Sequence[Vector], updates: Sequence[Update], n_classes: int, constant: float
) -> Iterator[list[Vector]]:
    """Yield the weights before the first update and after each: one vector, or one a class."""
    d = len(rows[0])
    w = [[0.0] * (d + 1) for _ in range(1 if n_classes == 2 else n_classes)]
    yield [list(v) for v in w]
    for update in updates:
        for j, value in enumerate([*rows[update.row], constant]):
            if n_classes == 2:
                w[0][j] += update.tau * update.label * value
            else:
                w[update.label][j] += update.tau * value
                w[update.rival][j] += -update.tau * value
        yield [list(v) for v in w]


def vote(w: list[Vector], x: Vector, constant: float, how: Arithmetic, *, positive: bool) -> int:
    """Return the class number that one vector votes for; −1 where an activation overflows."""
    scores = [how.dot(x, v[:-1]) + constant * v[-1] for v in w]
    if not all(isfinite(score) for score in scores):
        return -1
    if len(scores) == 1:
        return int(scores[0] >= 0 if positive else scores[0] > 0)
    numbers = range(len(scores))
    return max(reversed(numbers) if positive else numbers, key=lambda c: scores[c])


def count(
    rows: Sequence[Vector],
    updates: Sequence[Update],
    tests: Sequence[Vector],
    n_classes: int,
    end: int,
    *,
    constant: float,
    how: Arithmetic,
    positive: bool,
) -> list[list[int]] | None:
    """Return the votes of each row by class; None where an activation overflows."""
    counts = [[0] * n_classes for _ in tests]
    lasted = survivals(updates, end)
    for w, times in zip(vectors(rows, updates, n_classes, constant), lasted, strict=True):
        for x, votes in zip(tests, counts, strict=True):
            voted = vote(w, x, constant, how, positive=positive)
            if voted < 0:
                return None
            votes[voted] += times
    return counts
