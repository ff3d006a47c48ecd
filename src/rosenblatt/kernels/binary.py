"""One pass of two-class learning."""

from typing import Any

from numpy.typing import NDArray

from rosenblatt import rules
from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.counts import Counts, Log, note
from rosenblatt.kernels.rows import Rows

break_tie = inlined(rules.break_tie)


@compiled
def binary_pass(
    rows: Rows,
    y: NDArray[Any],  # −1 or +1 for each row
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    order: NDArray[Any],  # row numbers, in the order to come
    rule: Any,
    zero: int,
    w: Changed[NDArray[Any]],
    u: Changed[NDArray[Any]],  # the ledger of the average, Algorithm 7's u and β; empty: none
    c: int,  # Algorithm 7's counter before this pass
    log: Changed[Log],  # empty: none
) -> Counts:
    """Visit the rows in order, step where the rule says so, and return what happened."""
    mistakes, updates, loss = 0, 0, 0.0
    for t in range(len(order)):
        i = order[t]
        margin = break_tie(y[i] * rows.dot_ahead(order, t, w), y[i], zero)
        tau = rule.step(margin, rows.sqnorm(i))
        if margin > 0.0 and tau == 0.0:
            continue
        if not margin > 0.0:  # true of "not a number" too, so that an overflow shows in the loss
            mistakes += 1
            loss -= margin
        if len(weight):
            tau *= weight[i]
        if tau != 0.0:
            rows.add(i, tau * y[i], w)
            if len(u):
                rows.add(i, tau * y[i] * (c + t), u)
            if len(log.row):
                note(log, updates, i, y[i], -y[i], tau, c + t)
            updates += 1
    return Counts(mistakes, updates, loss)


@compiled
def activations(rows: Rows, w: NDArray[Any], out: Changed[NDArray[Any]]) -> None:
    """Write the activation of each row to out."""
    for i in range(len(out)):
        out[i] = rows.dot(i, w)
