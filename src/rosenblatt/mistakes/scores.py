"""Scores of rows by a list of mistakes: by its last weights, their average, their vote.

The scores of all weight vectors on a row are prefix sums of τᵢ·yᵢ·K(xᵢ, x) over the updates; each
vector votes by its own, as often as there were rows that it survived (Freund & Schapire 1999). That
is the definition here. It equals keeping the vectors themselves bit for bit on whole numbers, and
to rounding otherwise.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import score_overflow
from rosenblatt.kernels.prefix_sums import Leaders, Steps, add_steps, column_votes, joint_votes
from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.gram import Numbers, Panel, Sizes, gram_between
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.threads import run_in_parts
from rosenblatt.mistakes.updates import Mistakes, Support, n_columns, steps_of

VALUES = 1 << 23  # kernel values under way at most: 64 MB
VOTING = Sizes(256, VALUES // 256, 0.0)
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


class UpdateChunk(NamedTuple):
    """Consecutive updates, few enough for one block of kernel values."""

    teachers: Numbers  # whose rows they are, ascending
    steps: Steps  # by the place of each row among those


def update_chunks(steps: Steps, n_rows: int) -> list[UpdateChunk]:
    """Split updates so that no chunk needs more than VALUES kernel values for ``n_rows`` rows."""
    length = max(VALUES // max(n_rows, 1), 1)
    found = []
    for start in range(0, len(steps.row), length):
        here = Steps(*(column[start : start + length] for column in steps))
        teachers, place = np.unique(here.row, return_inverse=True)
        found.append(UpdateChunk(teachers, here._replace(row=place)))
    return found


class Tally:
    """The scores and votes of all weight vectors so far on some rows."""

    def __init__(
        self,
        n_rows: int,
        n_classes: int,
        *,
        joint: bool = True,  # one machine for all classes; else each class against the rest
        memories: tuple[str, ...] = ("vote",),
        positive: bool = False,  # whether a zero is of the second class, and a tie of the last
    ) -> None:
        shape = n_columns(n_classes), n_rows
        self.scores = np.zeros(shape)  # of the last vector
        self._n_classes, self._positive = n_classes, positive
        self._above = -SMALLEST if positive else 0.0
        self._ledger = np.zeros(shape) if "average" in memories else None
        self._votes = np.zeros(shape) if "vote" in memories else None
        self._since = np.ones(shape[0], np.int64)
        self._leaders: Leaders | None = None
        if joint and n_classes > 2:
            winner = np.full(n_rows, n_classes - 1.0 if positive else 0.0)
            top, second = np.zeros(n_rows), np.zeros(n_rows)
            self._leaders = Leaders(winner, top, second, np.ones(n_rows, np.int64))

    def advance(self, update_chunks: list[UpdateChunk], panel: Panel) -> None:
        """Change by further updates; the panel has the kernel values of their rows."""
        for teachers, steps in update_chunks:
            gram = panel(teachers)
            if self._votes is None:
                add_in_threads(steps, gram, self.scores)
            else:
                self._vote(steps, gram, self._votes)
            if self._ledger is not None:
                add_in_threads(steps._replace(size=steps.size * steps.seen), gram, self._ledger)

    def _vote(self, steps: Steps, gram: NDArray[Any], votes: NDArray[Any]) -> None:
        leaders, scores = self._leaders, self.scores
        if leaders is not None:

            def part(begin: int, end: int) -> None:
                joint_votes(steps, gram, self._positive, begin, end, leaders, scores, votes)
        else:

            def part(begin: int, end: int) -> None:
                since = self._since.copy()  # each thread counts on its own
                column_votes(steps, gram, self._above, begin, end, since, scores, votes)

        run_in_parts(part, scores.shape[1])
        if leaders is None:
            np.maximum.at(self._since, steps.gain, steps.seen)

    def scores_of(self, memory: str, end: int) -> NDArray[Any]:
        """Return the scores of a memory at Algorithm 7's counter ``end``: (columns, rows).

        The average is the mean of all vectors so far, w − u/c. The vote of a column is the sum of
        ± counts; of a joint machine, each class's count of the vectors that score it highest.
        """
        if memory == "average" and self._ledger is not None:
            return self.scores - self._ledger / end
        if memory == "vote" and self._votes is not None:
            votes = self._votes.copy()
            if self._leaders is None:
                sides = np.where(self.scores > self._above, 1.0, -1.0)
                return votes + (end - self._since)[:, None] * sides
            winner, _, _, since = self._leaders
            votes[winner.astype(np.intp), np.arange(len(winner))] += end - since
            return votes
        return self.scores

    def counts(self, end: int) -> NDArray[Any]:
        """Return how many rows of training the vectors lasted that vote for each class, (n, K)."""
        if self._n_classes == 1:  # nothing to tell it from
            return np.full((self.scores.shape[1], 1), end - 1.0)
        votes = self.scores_of("vote", end).T
        if self._n_classes != 2:
            return votes
        return np.concatenate([end - 1 - votes, end - 1 + votes], axis=1) / 2


def add_in_threads(steps: Steps, gram: NDArray[Any], scores: NDArray[Any]) -> None:
    """Change scores by these steps, the rows at hand shared among threads."""
    run_in_parts(lambda begin, end: add_steps(steps, gram, begin, end, scores), scores.shape[1])


def tallies(
    mistakes: Mistakes,
    kernel: Kernel,
    rows: Rows,
    n_classes: int,
    sizes: Sizes = VOTING,
    **how: Any,  # see ``Tally``
) -> Iterator[tuple[slice, Tally]]:
    """Yield the tally of a list on rows, some of them at a time.

    Raises
    ------
    WeightOverflowError
        Where a score is beyond the range of float64.
    """
    support, n_rows = mistakes.support or Support(), rows.shape[0]
    left: Any = support.numbers if support.rows is None else support.rows
    if not len(support):
        left = rows  # of which none will be asked for
    gram = gram_between(kernel, left, rows)
    at_a_time = sizes.rows_against(len(support))
    joint = how.get("joint", True) and n_classes > 2
    parts = update_chunks(steps_of(mistakes.updates, joint=joint), at_a_time)
    for start in range(0, n_rows, at_a_time):
        some = slice(start, min(start + at_a_time, n_rows))
        tally = Tally(some.stop - start, n_classes, **how)
        tally.advance(parts, gram(np.arange(some.start, some.stop)))
        finite = np.isfinite(tally.scores).all(axis=0)
        if not finite.all():
            raise score_overflow(start + int(np.argmin(finite)))
        yield some, tally


def vote_counter(
    mistakes: Mistakes, n_classes: int, end: int, *, positive: bool
) -> Callable[[Rows], NDArray[Any]]:
    """Return a function that counts the votes of a linear learner's weight vectors on rows.

    It returns how many rows of training the vectors lasted that vote for each class, (n, K), or
    raises WeightOverflowError. ``end`` is Algorithm 7's counter after the last row of training. A
    tie goes to the first class, or to the last if ``positive``.
    """

    def count(rows: Rows) -> NDArray[Any]:
        counts = np.empty((rows.shape[0], n_classes))
        kernel = Kernel("linear", constant=rows.constant * rows.constant)
        for some, tally in tallies(mistakes, kernel, rows, n_classes, positive=positive):
            counts[some] = tally.counts(end)
        return counts

    return count


def vote_scores(counts: NDArray[Any]) -> NDArray[Any]:
    """Return the lead of the second of two classes as a share, (n,), else the share of each."""
    shares: NDArray[Any] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    if shares.shape[1] != 2:
        return shares
    lead: NDArray[Any] = shares[:, 1] - shares[:, 0]
    return lead
