"""A pass in the dual: weights are a sum over rows, and rows are seen through the kernel alone.

Scores stand one row a column: (columns, rows). Two classes have one column, whose positive side is
the second class; K classes have K. A step adds size·K(row, ·) to one column. The score of a row is
always the sum of the steps in the order in which they were made, whatever the blocks, so that one
block or many, one call or a stream of them give the same bits where the kernel values are the same.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import settle
from rosenblatt.kernels.compiling import compiled, inlined
from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.multiclass import best_rival, pair_margin


class Steps(NamedTuple):
    """The list that a machine in the dual is: each line changes one column by one row."""

    row: NDArray[Any]  # which of the rows that taught
    column: NDArray[Any]  # which score it changed
    size: NDArray[Any]  # by how much, with its sign
    seen: NDArray[Any]  # Algorithm 7's counter c when it came


def empty_steps(length: int) -> Steps:
    """Return room for so many steps."""
    return Steps(
        np.empty(length, np.int32),
        np.empty(length, np.int32),
        np.empty(length, np.float64),
        np.empty(length, np.int64),
    )


@inlined
def note_step(steps: Steps, line: int, row: int, column: int, size: float, seen: int) -> None:
    """Write one line of the list."""
    steps.row[line] = row
    steps.column[line] = column
    steps.size[line] = size
    steps.seen[line] = seen


@inlined
def add_row(
    scores: NDArray[Any],  # changed
    column: int,
    size: float,
    gram: NDArray[Any],
    row: int,
    begin: int,
    end: int,
) -> None:
    """Change one column of the scores by size·K(row, ·), from begin to end."""
    for r in range(begin, end):
        scores[column, r] += size * gram[row, r]


@compiled
def column_block(
    signs: NDArray[Any],  # −1 or +1: (columns, rows)
    weight: NDArray[Any] | None,  # multiplies the step of each row
    gram: NDArray[Any],  # K of these rows among themselves
    rule: Any,
    zero: int,
    scores: NDArray[Any],  # changed: (columns, rows)
    seen: int,  # Algorithm 7's counter before these rows
    steps: Steps,  # changed
) -> Counts:
    """Visit rows in order, each column learning by itself, and return what happened.

    One column is two-class learning; K columns are K learners, each of one class against the rest.
    """
    mistakes, updates, loss = 0, 0, 0.0
    n_rows = scores.shape[1]
    for t in range(n_rows):
        for k in range(len(scores)):
            y = signs[k, t]
            margin = settle(y * scores[k, t], y, zero)
            if not margin > 0.0:  # true of "not a number" too, so that an overflow shows
                mistakes += 1
                loss -= margin
            tau = rule.step(margin, gram[t, t])
            if weight is not None:
                tau *= weight[t]
            if tau != 0.0:
                add_row(scores, k, tau * y, gram, t, 0, n_rows)
                note_step(steps, updates, t, k, tau * y, seen + t)
                updates += 1
    return Counts(mistakes, updates, loss)


@compiled
def joint_block(
    labels: NDArray[Any],  # the number of each row's class
    weight: NDArray[Any] | None,  # multiplies the step of each row
    gram: NDArray[Any],  # K of these rows among themselves
    rule: Any,
    zero: int,
    scores: NDArray[Any],  # changed: (classes, rows)
    seen: int,  # Algorithm 7's counter before these rows
    steps: Steps,  # changed: two lines for each update
) -> Counts:
    """Visit rows in order, the true class against its best rival, and return what happened."""
    mistakes, updates, loss = 0, 0, 0.0
    n_rows = scores.shape[1]
    for t in range(n_rows):
        k = labels[t]
        rival = best_rival(scores[:, t], k, zero)
        margin = pair_margin(scores[:, t], k, rival, zero)
        if not margin > 0.0:
            mistakes += 1
            loss -= margin
        tau = rule.step(margin, 2.0 * gram[t, t])
        if weight is not None:
            tau *= weight[t]
        if tau != 0.0:
            add_row(scores, k, tau, gram, t, 0, n_rows)
            add_row(scores, rival, -tau, gram, t, 0, n_rows)
            note_step(steps, 2 * updates, t, k, tau, seen + t)
            note_step(steps, 2 * updates + 1, t, rival, -tau, seen + t)
            updates += 1
    return Counts(mistakes, updates, loss)


@compiled
def column_mistakes(signs: NDArray[Any], scores: NDArray[Any], zero: int) -> int:
    """Count the mistakes of all columns under these scores."""
    mistakes = 0
    for k in range(len(scores)):
        for t in range(scores.shape[1]):
            y = signs[k, t]
            if not settle(y * scores[k, t], y, zero) > 0.0:
                mistakes += 1
    return mistakes


@compiled
def joint_mistakes(labels: NDArray[Any], scores: NDArray[Any], zero: int) -> int:
    """Count the rows whose class does not lead under these scores."""
    mistakes = 0
    for t in range(scores.shape[1]):
        rival = best_rival(scores[:, t], labels[t], zero)
        if not pair_margin(scores[:, t], labels[t], rival, zero) > 0.0:
            mistakes += 1
    return mistakes


@compiled
def add_steps(
    row: NDArray[Any],
    column: NDArray[Any],
    size: NDArray[Any],
    gram: NDArray[Any],  # K of the rows that taught against the rows at hand
    begin: int,
    end: int,  # of the rows at hand, so that threads can share the work
    scores: NDArray[Any],  # changed: (columns, rows at hand)
) -> None:
    """Change the scores by these steps, in their order."""
    for e in range(len(row)):
        add_row(scores, column[e], size[e], gram, row[e], begin, end)


@compiled
def column_votes(
    steps: Steps,
    lasted: NDArray[Any],  # rows that the column survived after each step
    gram: NDArray[Any],  # K of the rows that taught against the rows at hand
    tie: float,  # the activation that votes +1 though it is not above 0: 0.0, or NaN for none
    begin: int,
    end: int,  # of the rows at hand
    scores: NDArray[Any],  # changed: (columns, rows at hand)
    votes: NDArray[Any],  # changed: likewise
) -> None:
    """Change the scores by these steps; after each, its column votes as long as it lasted."""
    for e in range(len(lasted)):
        k, size, row, count = steps.column[e], steps.size[e], steps.row[e], lasted[e]
        for r in range(begin, end):
            a = scores[k, r] + size * gram[row, r]
            scores[k, r] = a
            votes[k, r] += count if (a > 0.0) | (a == tie) else -count


@compiled
def joint_votes(
    steps: Steps,
    lasted: NDArray[Any],  # rows that the machine survived after each step
    gram: NDArray[Any],  # K of the rows that taught against the rows at hand
    last_of_equals: bool,
    begin: int,
    end: int,  # of the rows at hand
    best: NDArray[Any],  # room: a number for each row at hand
    winner: NDArray[Any],  # room: likewise
    scores: NDArray[Any],  # changed: (classes, rows at hand)
    votes: NDArray[Any],  # changed: likewise
) -> None:
    """Change the scores by these steps; after each update every row votes for its best class."""
    for e in range(len(lasted)):
        add_row(scores, steps.column[e], steps.size[e], gram, steps.row[e], begin, end)
        if lasted[e] == 0.0:  # the first half of an update
            continue
        for r in range(begin, end):
            best[r] = scores[0, r]
            winner[r] = 0
        for k in range(1, len(scores)):
            for r in range(begin, end):
                a = scores[k, r]
                better = (a > best[r]) | (last_of_equals & (a == best[r]))
                best[r] = a if better else best[r]
                winner[r] = k if better else winner[r]
        for k in range(len(scores)):
            for r in range(begin, end):
                votes[k, r] += lasted[e] if winner[r] == k else 0.0
