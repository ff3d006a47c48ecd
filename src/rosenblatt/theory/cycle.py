"""Cycles: the same weights at the same point of a pass, so that training never ends."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.counts import NO_LOG, Log
from rosenblatt.rules import ZERO_CONVENTIONS, Perceptron
from rosenblatt.theory.labelled_rows import LabelledRows, check_labelled_rows
from rosenblatt.training.state import State, recorded_pass

WHOLE = 2.0**53  # integers up to here are exact in float64


@dataclass(frozen=True)
class Cycle:
    """The weights after pass ``first`` come again after pass ``again``.

    ``updates`` counts how often each row (for K classes each row and rival) changed the weights in
    between. They add up to no change at all: so they are a certificate of inseparability, too.
    """

    first: int  # 0: the weights that training began with
    again: int
    updates: tuple[tuple[int, Any, int], ...]  # row, the label that lost by it, how often

    @property
    def length(self) -> int:
        """Number of passes in the cycle."""
        return self.again - self.first

    def weights(self) -> dict[tuple[int, Any], Fraction]:
        """Return the share of each (row, rival) in the updates of the cycle."""
        total = sum(count for _, _, count in self.updates)
        return {(row, rival): Fraction(count, total) for row, rival, count in self.updates}

    def __str__(self) -> str:
        start = "at the start" if self.first == 0 else f"after pass {self.first}"
        return (
            f"The weights after pass {self.again} are those {start}: in this order training "
            f"repeats every {self.length} pass{'es' * (self.length != 1)} and never converges."
        )


def find_cycle(X: Any, y: Any, *, max_passes: int = 1000, zero: str = "mistake") -> Cycle | None:
    """Return the first cycle of a perceptron that visits rows of integers in the order given.

    None where it converges, or neither happens within ``max_passes``. On other data than integers
    rounding would blur what "the same weights" means, so they are refused.

    Examples
    --------
    >>> from rosenblatt.theory.cycle import find_cycle
    >>> cycle = find_cycle([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], zero="negative")
    >>> cycle.first, cycle.again
    (2, 3)
    """
    rows = check_labelled_rows(X, y)
    if zero not in ZERO_CONVENTIONS:
        msg = f"zero must be one of {', '.join(map(repr, ZERO_CONVENTIONS))}; got {zero!r}."
        raise InputError(msg)
    values = rows.X.data if rows.is_sparse else rows.X
    broken = values[values != np.floor(values)]
    if len(broken):
        msg = f"Cycles are found on integers only; X holds {broken[0]}: scale it to whole numbers."
        raise InputError(msg)
    seen: dict[bytes, int] = {}
    for again, (weights, _) in enumerate(islice(_passes(rows, zero), max_passes + 1)):
        digest = blake2b((weights + 0.0).tobytes(), digest_size=16).digest()
        first = seen.setdefault(digest, again)
        if first != again:
            return _confirmed(rows, zero, first, again)
    return None


def _passes(rows: LabelledRows, zero: str) -> Iterator[tuple[NDArray[Any], Log]]:
    """Yield the weights of a perceptron at the start and after each pass, and its updates.

    Rows are visited in the order given; a pass without an update is the end.
    """
    examples = rows.examples()
    state = State.zeros(rows.n_features, len(rows.classes), averaged=False)
    visit = examples, examples.numbers(), Perceptron(1.0), ZERO_CONVENTIONS[zero]
    updates = NO_LOG
    while True:
        yield state.weights, updates
        _, updates = recorded_pass(state, *visit)
        if not len(updates.row):
            return


def _confirmed(rows: LabelledRows, zero: str, first: int, again: int) -> Cycle | None:
    """Run once more, compare the weights themselves and count the updates between."""
    passes = islice(_passes(rows, zero), first, again + 1)
    weights, _ = next(passes)
    start, counts = weights.copy(), Counter[tuple[int, int]]()
    for weights, updates in passes:  # noqa: B007  # the last ones are compared below
        counts.update(zip(updates.row.tolist(), updates.rival.tolist(), strict=True))
    if not (np.abs(weights).max() < WHOLE and np.array_equal(start, weights)):
        return None
    classes = rows.classes.tolist()
    two = len(classes) == 2
    updated = (
        (row, classes[(rival + 1) // 2 if two else rival], count)
        for (row, rival), count in sorted(counts.items())
    )
    return Cycle(first, again, tuple(updated))
