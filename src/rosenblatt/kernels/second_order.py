"""One pass of a second-order rule: each weight has a variance, and moves the more the larger it is.

The covariance Σ is kept as its diagonal, laid out as the weights are. An update is
w ← w + alpha·y·Σx and Σ ← Σ − beta·Σx(Σx)ᵀ, of which the diagonal is kept.
"""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from rosenblatt.kernels.binary import break_tie
from rosenblatt.kernels.compiling import Changed, compiled
from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.multiclass import best_rival, pair_margin
from rosenblatt.kernels.rows import Rows


class GaussianWeights(NamedTuple):
    """A normal distribution of weights."""

    w: NDArray[Any]  # the mean
    sigma: NDArray[Any]  # the diagonal of Σ, laid out as the mean


@compiled
def second_order_pass(
    rows: Rows,
    y: NDArray[Any],  # −1 or +1 for each row
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    order: NDArray[Any],  # row numbers, in the order to come
    rule: Any,
    zero: int,
    gaussian: Changed[GaussianWeights],
    u: Changed[NDArray[Any]],  # the ledger of the average; empty: none
    c: int,  # Algorithm 7's counter before this pass
    direction: NDArray[Any],  # room for Σx
) -> Counts:
    """Visit the rows in order, step where the rule says so, and return what happened."""
    w, sigma = gaussian
    mistakes, updates, loss = 0, 0, 0.0
    for t in range(len(order)):
        i = order[t]
        margin = break_tie(y[i] * rows.dot_ahead(order, t, w), y[i], zero)
        if not margin > 0.0:
            mistakes += 1
            loss -= margin
        alpha, beta = rule.step(margin, rows.scaled(i, sigma, direction))
        if len(weight):
            alpha *= weight[i]
        if alpha != 0.0:
            rows.move(i, alpha * y[i], direction, w)
            if len(u):
                rows.move(i, alpha * y[i] * (c + t), direction, u)
            rows.narrow(i, beta, direction, sigma)
            updates += 1
    return Counts(mistakes, updates, loss)


@compiled
def second_order_multiclass_pass(
    rows: Rows,
    y: NDArray[Any],  # the number of each row's class
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    order: NDArray[Any],  # row numbers, in the order to come
    rule: Any,
    zero: int,
    gaussian: Changed[GaussianWeights],  # laid out as the rows want it
    u: Changed[NDArray[Any]],  # the ledger of the average; empty: none
    c: int,  # Algorithm 7's counter before this pass
    rooms: tuple[NDArray[Any], ...],  # for class scores, and Σx of the class and of its rival
) -> Counts:
    """Visit the rows in order, step where the rule says so, and return what happened.

    The lead of class k over its rival has the variance of both: xᵀΣₖx + xᵀΣᵣx.
    """
    (w, sigma), (scores, direction, against) = gaussian, rooms
    mistakes, updates, loss = 0, 0, 0.0
    for t in range(len(order)):
        rows.prefetch(order, t)
        i = order[t]
        k = y[i]
        rows.scores(i, w, 0, scores)
        rival = best_rival(scores, k, zero)
        margin = pair_margin(scores, k, rival, zero)
        if not margin > 0.0:
            mistakes += 1
            loss -= margin
        variance = rows.scaled(i, rows.of_class(sigma, k), direction)
        variance += rows.scaled(i, rows.of_class(sigma, rival), against)
        alpha, beta = rule.step(margin, variance)
        if len(weight):
            alpha *= weight[i]
        if alpha != 0.0:
            rows.move(i, alpha, direction, rows.of_class(w, k))
            rows.move(i, -alpha, against, rows.of_class(w, rival))
            if len(u):
                rows.move(i, alpha * (c + t), direction, rows.of_class(u, k))
                rows.move(i, -alpha * (c + t), against, rows.of_class(u, rival))
            rows.narrow(i, beta, direction, rows.of_class(sigma, k))
            rows.narrow(i, beta, against, rows.of_class(sigma, rival))
            updates += 1
    return Counts(mistakes, updates, loss)
