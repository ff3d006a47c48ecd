"""What successive weight vectors vote on some rows, equal to the definition vote for vote.

The definition forms every vector in float64, update by update, and takes its product with the row.
Here the activations are prefix sums of products of rows: the same numbers but for rounding, which
is bounded. Where an activation, or the lead of a class, is within that bound, the vector is formed
after all, by replaying the updates, and the definition decides.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.voting import (
    Products,
    Steps,
    Undecided,
    count_many,
    count_two,
    decide_many,
    decide_two,
)
from rosenblatt.training.vote_products import Teachers
from rosenblatt.training.vote_rounding import SMALLEST, Reach, sizes_of

ROOM = 1 << 16  # votes that may be open at a time


class Replay:
    """The weights after some update, which only open votes ask for."""

    def __init__(
        self, rows: Rows, teachers: CSR, steps: Steps, n_classes: int, start: NDArray[Any] | None
    ) -> None:
        self.fixed = rows, teachers, steps
        self.at = 0  # the update that is made next
        self._n_classes = n_classes
        self._start = start
        self._weights: NDArray[Any] | None = None

    @property
    def weights(self) -> NDArray[Any]:
        """One vector for two classes, else those of the classes, as the rows read them."""
        if self._weights is None:
            rows, teachers, _ = self.fixed
            vectors = 1 if self._n_classes == 2 else self._n_classes
            start = np.zeros((vectors, teachers.n_features + 1))
            if self._start is not None:
                start[:] = self._start
            by_feature = isinstance(rows, CSR) and vectors > 1
            self._weights = np.ascontiguousarray(start.T) if by_feature else start
        return self._weights[0] if self._n_classes == 2 else self._weights


class Tally(ABC):
    """The votes on some rows so far, and what the vector at hand says of them."""

    def __init__(self, n_classes: int, *, positive: bool) -> None:
        self.n_classes = n_classes
        self.positive = positive
        self.reach = Reach()

    def advance(
        self, rows: Rows, teachers: Teachers, steps: Steps, start: NDArray[Any] | None = None
    ) -> int:
        """Let the vectors of further updates vote on the rows, which are the same ones every time.

        ``start`` are the weights before these updates, by class; None: zero. Returns the number of
        a row that overflows, and −1 if all is well.
        """
        sizes, n_rows = sizes_of(rows), rows.shape[0]
        replay = Replay(rows, teachers.rows, steps, self.n_classes, start)
        line, left = np.empty(n_rows), Undecided(*np.empty((2, max(ROOM, n_rows)), np.int64))
        peak = float(sizes.peak.max(initial=0.0))
        pairing = teachers.facing(rows)
        for stretch in pairing.stretches:
            here = slice(stretch.start, stretch.stop)
            totals = teachers.sizes.total[steps.row[here]]
            self.reach.extend(steps.amount[here], totals, whole=teachers.sizes.whole)
            exact = self.reach.is_exact(sizes)
            products = pairing.products(stretch, peak, whole=exact)
            limit = np.full(n_rows, -1.0) if exact else self.reach.error(sizes, rows.shape[1])
            k = stretch.start
            while k < stretch.stop:
                k, n_open = self._count(products, steps, k, stretch.stop, limit, line, left)
                bad = self._decide(replay, left, n_open) if n_open else -1
                if bad >= 0:
                    return bad
        return -1

    @abstractmethod
    def counts(self, end: int) -> NDArray[Any]:
        """Return the votes for each class up to Algorithm 7's counter ``end``, (rows, classes)."""

    @abstractmethod
    def _count(
        self,
        products: Products,
        steps: Steps,
        start: int,
        stop: int,
        limit: NDArray[Any],
        line: NDArray[Any],
        left: Undecided,
    ) -> tuple[int, int]:
        """Make updates; return which is the next and how many votes are open."""

    @abstractmethod
    def _decide(self, replay: Replay, left: Undecided, n_open: int) -> int:
        """Decide open votes as the definition does; return a row that overflows, or −1."""


def tally_of(n_rows: int, n_classes: int, *, positive: bool) -> Tally:
    """Return what counts votes for so many classes, before any update."""
    kind = TwoClasses if n_classes == 2 else ManyClasses
    return kind(n_rows, n_classes, positive=positive)


class TwoClasses(Tally):
    """Votes between two classes: the sign of one activation."""

    def __init__(self, n_rows: int, n_classes: int, *, positive: bool) -> None:
        super().__init__(n_classes, positive=positive)
        self._above = -SMALLEST if positive else 0.0
        self._since = 1
        self._activation, self._votes = np.zeros((2, n_rows))
        self._side = np.full(n_rows, 1.0 if positive else -1.0)

    def counts(self, end: int) -> NDArray[Any]:
        """Return the votes for each class."""
        lead = self._votes + (end - self._since) * self._side
        return np.stack([end - 1 - lead, end - 1 + lead], axis=1) / 2

    def _count(
        self,
        products: Products,
        steps: Steps,
        start: int,
        stop: int,
        limit: NDArray[Any],
        line: NDArray[Any],
        left: Undecided,
    ) -> tuple[int, int]:
        mine = self._activation, self._side, self._votes
        since = self._since
        k, n_open = count_two(
            products, steps, start, stop, since, limit, self._above, *mine, line, left
        )
        self._since = int(steps.seen[k - 1]) if k > start else since
        return k, n_open

    def _decide(self, replay: Replay, left: Undecided, n_open: int) -> int:
        replay.at, bad = decide_two(
            *replay.fixed,
            left,
            n_open,
            self._above,
            replay.at,
            replay.weights,
            self._side,
            self._votes,
        )
        return bad


class ManyClasses(Tally):
    """Votes among classes that each have an activation: the highest wins."""

    def __init__(self, n_rows: int, n_classes: int, *, positive: bool) -> None:
        super().__init__(n_classes, positive=positive)
        self._scores, self._votes = np.zeros((2, n_classes, n_rows))
        self._winner = np.full(n_rows, n_classes - 1.0 if positive else 0.0)
        self._top, self._second = np.zeros((2, n_rows))
        self._since = np.ones(n_rows, np.int64)

    def counts(self, end: int) -> NDArray[Any]:
        """Return the votes for each class."""
        votes = self._votes.T.copy()
        rows = np.arange(len(votes))
        votes[rows, self._winner.astype(np.intp)] += end - self._since
        return votes

    def _count(
        self,
        products: Products,
        steps: Steps,
        start: int,
        stop: int,
        limit: NDArray[Any],
        line: NDArray[Any],
        left: Undecided,
    ) -> tuple[int, int]:
        mine = self._scores, self._winner, self._top, self._second, self._since, self._votes
        return count_many(products, steps, start, stop, limit, self.positive, *mine, line, left)

    def _decide(self, replay: Replay, left: Undecided, n_open: int) -> int:
        rows, w = replay.fixed[0], replay.weights
        replay.at, bad = decide_many(
            *replay.fixed,
            left,
            n_open,
            self.positive,
            replay.at,
            w,
            w if isinstance(rows, CSR) else w.T,
            np.empty(self.n_classes),
            self._winner,
            self._votes,
        )
        return bad
