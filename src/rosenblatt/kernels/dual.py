"""A pass in the dual: weights are a sum over rows, and rows are seen through the kernel alone.

Scores stand one row a column: (columns, rows). Two classes have one column, whose positive side is
the second class; K classes have K. An update of a joint machine names the class that gains and the
one that loses; where each column learns by itself, it is ±(column + 1) that gains. The score of a
row is always the sum of the steps in the order in which they were made, whatever the blocks, so
that one block or many, one call or a stream of them give the same bits where the kernel values are
the same.
"""

from typing import Any

from numpy.typing import NDArray

from rosenblatt.kernels.binary import break_tie
from rosenblatt.kernels.compiling import Changed, compiled
from rosenblatt.kernels.counts import Counts, Log, note
from rosenblatt.kernels.multiclass import best_rival, pair_margin
from rosenblatt.kernels.prefix_sums import add_row


@compiled
def column_block(
    signs: NDArray[Any],  # −1 or +1: (columns, rows)
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    gram: NDArray[Any],  # K of these rows among themselves
    rule: Any,
    zero: int,
    scores: Changed[NDArray[Any]],  # (columns, rows)
    seen: int,  # Algorithm 7's counter before these rows
    log: Changed[Log],
) -> Counts:
    """Visit rows in order, each column learning by itself, and return what happened.

    One column is two-class learning; K columns are K learners, each of one class against the rest.
    """
    mistakes, updates, loss = 0, 0, 0.0
    n_rows = scores.shape[1]
    for t in range(n_rows):
        for k in range(len(scores)):
            y = signs[k, t]
            margin = break_tie(y * scores[k, t], y, zero)
            if not margin > 0.0:  # true of "not a number" too, so that an overflow shows
                mistakes += 1
                loss -= margin
            tau = rule.step(margin, gram[t, t])
            if len(weight):
                tau *= weight[t]
            if tau != 0.0:
                add_row(scores, k, tau * y, gram, t, 0, n_rows)
                note(log, updates, t, y * (k + 1), -y * (k + 1), tau, seen + t)
                updates += 1
    return Counts(mistakes, updates, loss)


@compiled
def joint_block(
    labels: NDArray[Any],  # the number of each row's class
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    gram: NDArray[Any],  # K of these rows among themselves
    rule: Any,
    zero: int,
    scores: Changed[NDArray[Any]],  # (classes, rows)
    seen: int,  # Algorithm 7's counter before these rows
    log: Changed[Log],
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
        if len(weight):
            tau *= weight[t]
        if tau != 0.0:
            add_row(scores, k, tau, gram, t, 0, n_rows)
            add_row(scores, rival, -tau, gram, t, 0, n_rows)
            note(log, updates, t, k, rival, tau, seen + t)
            updates += 1
    return Counts(mistakes, updates, loss)
