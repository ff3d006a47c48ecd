"""Cycles: the same weights at the same point of a pass, so that training never ends."""

from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.kernels.counts import empty_log
from rosenblatt.rules import ZERO_CONVENTIONS, Perceptron
from rosenblatt.theory.labelled_rows import LabelledRows, check_labelled_rows
from rosenblatt.training.state import State, run_pass

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
        times = f"{self.length} pass{'es' * (self.length != 1)}"
        return (
            f"The weights after pass {self.again} are those {start}: in this order training "
            f"repeats every {times} and never converges."
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
    _check_whole(rows)
    seen: dict[bytes, int] = {}
    training = _Training(rows, zero)
    for pass_ in range(max_passes + 1):
        first = seen.setdefault(training.digest(), pass_)
        if first != pass_:
            return _confirmed(rows, zero, first, pass_)
        if pass_ < max_passes and not training.run():
            return None  # converged
    return None


class _Training:
    """A perceptron that visits the rows in the order given."""

    def __init__(self, rows: LabelledRows, zero: str) -> None:
        self.examples = rows.examples()
        self.state = State.zeros(rows.n_features, len(rows.classes), averaged=False)
        self.order = self.examples.numbers()
        self.log = empty_log(len(self.order))
        self._zero = ZERO_CONVENTIONS[zero]

    def run(self) -> int:
        """Make one pass; return the number of updates."""
        rule = Perceptron(1.0)
        counts = run_pass(self.state, self.examples, self.order, rule, self._zero, self.log)
        return int(counts.updates)

    def digest(self) -> bytes:
        return blake2b((self.state.weights + 0.0).tobytes(), digest_size=16).digest()


def _confirmed(rows: LabelledRows, zero: str, first: int, again: int) -> Cycle | None:
    """Run once more, compare the weights themselves and count the updates between."""
    training = _Training(rows, zero)
    for _ in range(first):
        training.run()
    start = training.state.weights.copy()
    counts: dict[tuple[int, int], int] = {}
    for _ in range(again - first):
        updates = training.run()
        pairs = zip(training.log.row[:updates], training.log.rival[:updates], strict=True)
        for row, rival in pairs:
            key = int(row), int(rival)
            counts[key] = counts.get(key, 0) + 1
    exact = np.abs(training.state.weights).max() < WHOLE
    if not (exact and np.array_equal(start, training.state.weights)):
        return None
    classes = rows.classes.tolist()
    two = len(classes) == 2
    return Cycle(
        first,
        again,
        tuple(
            (row, classes[(rival + 1) // 2 if two else rival], count)
            for (row, rival), count in sorted(counts.items())
        ),
    )


def _check_whole(rows: LabelledRows) -> None:
    values = rows.X.data if rows.is_sparse else rows.X
    bad = np.flatnonzero((values != np.floor(values)).ravel())
    if len(bad):
        value = values.ravel()[bad[0]]
        msg = f"Cycles are found on integers only; X holds {value}: scale it to whole numbers."
        raise InputError(msg)
