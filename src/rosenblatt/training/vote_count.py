"""The votes of all weight vectors of a training on rows, block by block."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import between
from rosenblatt.training.tally import tally_of
from rosenblatt.training.vote_products import BLOCK_ROWS, Teachers
from rosenblatt.training.votes import Votes

Item = TypeVar("Item")
MOST_THREADS = 4  # each has a block of products of its own


class VoteCounter:
    """Counts the votes of a training on rows, batch after batch.

    ``end`` is Algorithm 7's counter after the last row of training. A tie goes to the first class,
    or to the last if ``positive``.
    """

    def __init__(self, votes: Votes, n_classes: int, end: int, *, positive: bool) -> None:
        self.n_classes = n_classes
        self.end = end
        self.positive = positive
        self._steps = votes.steps(n_classes)
        self._teachers = Teachers(votes.rows, self._steps.row)

    def count(self, rows: Rows) -> NDArray[Any]:
        """Return how many rows of training the vectors lasted that vote for each class, (n, K).

        Raises
        ------
        WeightOverflowError
            Where an activation is beyond the range of float64.
        """
        n_rows = rows.shape[0]
        counts = np.empty((n_rows, self.n_classes))

        def count(first: int) -> int:
            block = between(rows, first, min(first + BLOCK_ROWS, n_rows))
            tally = tally_of(block.shape[0], self.n_classes, positive=self.positive)
            bad = tally.advance(block, self._teachers, self._steps)
            counts[first : first + BLOCK_ROWS] = tally.counts(self.end)
            return bad if bad < 0 else first + bad

        for bad in in_threads(count, range(0, n_rows, BLOCK_ROWS)):
            if bad >= 0:
                raise vote_overflow(bad)
        return counts


def count_votes(
    votes: Votes, rows: Rows, n_classes: int, end: int, *, positive: bool
) -> NDArray[Any]:
    """Return the votes of a training on rows, (n, classes); see ``VoteCounter``."""
    return VoteCounter(votes, n_classes, end, positive=positive).count(rows)


def winners(counts: NDArray[Any], *, positive: bool) -> NDArray[np.intp]:
    """Return the class with most votes; of equals the first, or the last if ``positive``."""
    if positive:
        last: NDArray[np.intp] = counts.shape[1] - 1 - counts[:, ::-1].argmax(axis=1)
        return last
    first: NDArray[np.intp] = counts.argmax(axis=1)
    return first


def vote_scores(counts: NDArray[Any]) -> NDArray[Any]:
    """Return the lead of the second of two classes as a share, (n,), else the share of each."""
    shares: NDArray[Any] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    if shares.shape[1] != 2:
        return shares
    lead: NDArray[Any] = shares[:, 1] - shares[:, 0]
    return lead


def vote_margins(scores: NDArray[Any]) -> NDArray[Any]:
    """Return by which share of the votes the winner leads the second, from ``vote_scores``."""
    if scores.ndim == 1:
        return np.asarray(np.abs(scores))
    if scores.shape[1] == 1:
        return scores[:, 0].copy()
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


def in_threads(function: Callable[[Item], int], items: Iterable[Item]) -> Iterator[int]:
    """Yield the result of each item in turn, with no more items under way than threads."""
    threads = min(os.cpu_count() or 1, MOST_THREADS)
    pending: deque[Future[int]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            pending.append(pool.submit(function, item))
            if len(pending) > threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def vote_overflow(row: int) -> WeightOverflowError:
    """Return the error that says which row is beyond all numbers."""
    msg = f"The activation of row {row} overflowed: its values are too large."
    return WeightOverflowError(msg)
