"""One pass of learning with K classes in one machine: the true class against its best rival."""

from typing import Any

from numpy.typing import NDArray

from rosenblatt.kernels.binary import break_tie
from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.counts import Counts, Log, note
from rosenblatt.kernels.rows import Rows


@inlined
def best_rival(scores: NDArray[Any], k: int, zero: int) -> int:
    """Return the highest-scoring class but k; of equals the first, or the last if zero is +1.

    That is the class that a tie predicts under the convention: it decides whether k is right.
    """
    rival = -1
    for r in range(len(scores)):
        if r != k and (
            rival < 0 or scores[r] > scores[rival] or (zero == 1 and scores[r] == scores[rival])
        ):
            rival = r
    return rival


@inlined
def pair_margin(scores: NDArray[Any], k: int, rival: int, zero: int) -> float:
    """Return by how much class k leads its rival; a tie is settled as a zero activation is."""
    return break_tie(scores[k] - scores[rival], 1 if k > rival else -1, zero)


@compiled
def multiclass_pass(
    rows: Rows,
    y: NDArray[Any],  # the number of each row's class
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    order: NDArray[Any],  # row numbers, in the order to come
    rule: Any,
    zero: int,
    scores: NDArray[Any],  # room for the activation of each class
    w: Changed[NDArray[Any]],  # laid out as the rows want it
    u: Changed[NDArray[Any]],  # the ledger of the average; empty: none
    c: int,  # Algorithm 7's counter before this pass
    log: Changed[Log],  # empty: none
) -> Counts:
    """Visit the rows in order, step where the rule says so, and return what happened.

    The pair (k, rival) is a two-class problem whose vector is x for class k and −x for the rival,
    so its margin is the lead of k and its squared length 2‖x‖²: any rule works on it as it stands.
    """
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
        tau = rule.step(margin, 2.0 * rows.sqnorm(i))
        if len(weight):
            tau *= weight[i]
        if tau != 0.0:
            rows.add(i, tau, rows.of_class(w, k))
            rows.add(i, -tau, rows.of_class(w, rival))
            if len(u):
                rows.add(i, tau * (c + t), rows.of_class(u, k))
                rows.add(i, -tau * (c + t), rows.of_class(u, rival))
            if len(log.row):
                note(log, updates, i, k, rival, tau, c + t)
            updates += 1
    return Counts(mistakes, updates, loss)


@compiled
def class_scores(rows: Rows, w: NDArray[Any], out: Changed[NDArray[Any]]) -> None:
    """Write the activation of every class on each row to out, (rows, classes)."""
    for i in range(len(out)):
        rows.scores(i, w, 0, out[i])
