"""One pass of learning where a row may have several labels, or none.

A mistake can be read in two ways. *Each label* is a two-class problem of its own over the same row:
any rule works on it as it stands. By *ranking* every label of a row is to stand above every other
one (Crammer & Singer, "A family of additive online algorithms for category ranking", JMLR 3, 2003):
the pairs that do not share one step, each label by its part of them. With one label a row and one
wrong pair that is the step of ``multiclass_pass``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import break_tie
from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.counts import NO_LOG, Counts, Log, note
from rosenblatt.kernels.multiclass import pair_margin
from rosenblatt.kernels.rows import Rows


class SetTargets(NamedTuple):
    """The labels of each row: rows with the same ones share a set."""

    number: NDArray[Any]  # of the set of each row
    members: NDArray[Any]  # the labels of all sets, one set after the other
    ends: NDArray[Any]  # where each set begins, and the last one ends


WRONG, UPDATED = 1, 2  # marks of a row
NO_MARKS = np.empty(0, np.uint8)  # where none are to be written
NO_LINES = np.empty(0, np.int64)  # of a log


class Workspace(NamedTuple):
    """What a pass writes over with every row, for as many labels as it learns.

    Labels that do not rank are learned in parts, side by side: none depends on another.
    """

    activations: NDArray[Any]  # the activation of each label
    sides: NDArray[Any]  # +1 for the labels of the row at hand, −1 for the others
    steps: NDArray[Any]  # the steps of labels that move, or of each its share in one by ranking
    moving: NDArray[Any]  # labels that move
    direction: NDArray[Any]  # Σx of a label
    marks: NDArray[Any] = NO_MARKS  # what happened to each row of the order, label by label
    log: Log = NO_LOG  # gets a line for each label that a row moved
    n_lines: NDArray[Any] = NO_LINES  # one number: how many it got
    first: int = 0  # label that is learned


@inlined
def take_sides(labels: SetTargets, i: int, work: Workspace) -> None:
    """Write +1 for the labels of row i and −1 for the others."""
    work.sides[:] = -1.0
    for p in range(labels.ends[labels.number[i]], labels.ends[labels.number[i] + 1]):
        k = labels.members[p] - work.first
        if 0 <= k < len(work.sides):
            work.sides[k] = 1.0


@inlined
def plan_step(work: Workspace, n: int, lines: int, row: int, k: int, step: float, seen: int) -> int:
    """Write that a row moves label k, after n others; return how many lines the log has then.

    In the log ±(k + 1) gains, as of columns that learn alone.
    """
    work.moving[n] = k
    work.steps[n] = step
    if not len(work.n_lines):
        return lines
    own = k + 1 if step > 0.0 else -k - 1
    note(work.log, lines, row, own, -own, abs(step), seen)
    return lines + 1


@inlined
def take_steps(
    rows: Rows, i: int, n: int, work: Workspace, w: NDArray[Any], u: NDArray[Any], seen: int
) -> None:
    """Change the weights of the n labels that row i moves, and the ledger where there is one."""
    rows.add_each(i, n, work.moving, work.steps, w)
    if len(u):
        for q in range(n):
            work.steps[q] *= seen
        rows.add_each(i, n, work.moving, work.steps, u)


@compiled
def each_label_pass(
    rows: Rows,
    labels: SetTargets,
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    order: NDArray[Any],  # row numbers, in the order to come
    rule: Any,
    zero: int,
    work: Changed[Workspace],
    w: Changed[NDArray[Any]],  # laid out as the rows want it
    u: Changed[NDArray[Any]],  # the ledger of the average; empty: none
    c: int,  # Algorithm 7's counter before this pass
) -> Counts:
    """Visit the rows in order, step for each label where the rule says so."""
    mistakes, updates, lines, loss = 0, 0, 0, 0.0
    for t in range(len(order)):
        rows.prefetch(order, t)
        i = order[t]
        rows.scores(i, w, work.first, work.activations)
        take_sides(labels, i, work)
        sqnorm = rows.sqnorm(i)
        wrong, n = False, 0
        for k in range(len(work.activations)):
            side = work.sides[k]
            margin = break_tie(side * work.activations[k], side, zero)
            if not margin > 0.0:
                wrong = True
                loss -= margin
            tau = rule.step(margin, sqnorm)
            if len(weight):
                tau *= weight[i]
            if tau != 0.0:
                lines = plan_step(work, n, lines, i, work.first + k, side * tau, c + t)
                n += 1
        take_steps(rows, i, n, work, w, u, c + t)
        mistakes += wrong
        updates += n > 0
        if len(work.marks):
            work.marks[t] = WRONG * wrong + UPDATED * (n > 0)
    if len(work.n_lines):
        work.n_lines[0] = lines
    return Counts(mistakes, updates, loss)


@compiled
def second_order_label_pass(
    rows: Rows,
    labels: SetTargets,
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    order: NDArray[Any],  # row numbers, in the order to come
    rule: Any,
    enough: float,  # the margin from which on the rule changes nothing
    zero: int,
    work: Changed[Workspace],
    weights: Changed[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],  # w, Σ's diagonals, ledger
    c: int,  # Algorithm 7's counter before this pass
) -> Counts:
    """Visit the rows in order, step for each label where a second-order rule says so.

    The variance of a label is asked for only where its margin is not enough.
    """
    mistakes, updates, loss = 0, 0, 0.0
    w, sigma, u = weights
    for t in range(len(order)):
        rows.prefetch(order, t)
        i = order[t]
        rows.scores(i, w, work.first, work.activations)
        take_sides(labels, i, work)
        wrong, updated = False, False
        for k in range(len(work.activations)):
            side = work.sides[k]
            margin = break_tie(side * work.activations[k], side, zero)
            if not margin > 0.0:
                wrong = True
                loss -= margin
            if margin >= enough:
                continue
            label = work.first + k
            variance = rows.scaled(i, rows.of_class(sigma, label), work.direction)
            alpha, beta = rule.step(margin, variance)
            if len(weight):
                alpha *= weight[i]
            if alpha != 0.0:
                rows.move(i, side * alpha, work.direction, rows.of_class(w, label))
                if len(u):
                    rows.move(i, side * alpha * (c + t), work.direction, rows.of_class(u, label))
                rows.narrow(i, beta, work.direction, rows.of_class(sigma, label))
                updated = True
        mistakes += wrong
        updates += updated
        if len(work.marks):
            work.marks[t] = WRONG * wrong + UPDATED * updated
    return Counts(mistakes, updates, loss)


@inlined
def share_out(work: Workspace, rule: Any, sqnorm: float, zero: int) -> int:
    """Write the share of each label in the pairs that a rule would change; return whether any is.

    The result is 0 where no pair is to change, 1 where one is, 2 where one is wrong.
    """
    scores, sides, shares = work.activations, work.sides, work.steps
    shares[:] = 0.0
    n_pairs, worst = 0, 0
    for k in range(len(scores)):
        if sides[k] > 0.0:
            for r in range(len(scores)):
                if sides[r] < 0.0:
                    lead = pair_margin(scores, k, r, zero)
                    if rule.step(lead, 2.0 * sqnorm) != 0.0:
                        shares[k] += 1.0
                        shares[r] -= 1.0
                        n_pairs += 1
                        worst = max(worst, 1)
                    if not lead > 0.0:
                        worst = 2
    for k in range(len(scores)):
        shares[k] /= max(n_pairs, 1)
    return worst


@compiled
def ranking_pass(
    rows: Rows,
    labels: SetTargets,
    weight: NDArray[Any],  # multiplies the step of each row; empty: 1 for all
    order: NDArray[Any],  # row numbers, in the order to come
    rule: Any,
    zero: int,
    work: Changed[Workspace],
    w: Changed[NDArray[Any]],  # laid out as the rows want it
    u: Changed[NDArray[Any]],  # the ledger of the average; empty: none
    c: int,  # Algorithm 7's counter before this pass
) -> Counts:
    """Visit the rows in order, and step where a label of a row does not lead another one.

    The shares s of the labels, which sum to 1 above and to −1 below, make one two-class problem of
    all pairs at fault: its margin is Σ s·a, its squared length Σ s²·‖x‖².
    """
    mistakes, updates, lines, loss = 0, 0, 0, 0.0
    for t in range(len(order)):
        rows.prefetch(order, t)
        i = order[t]
        rows.scores(i, w, work.first, work.activations)
        take_sides(labels, i, work)
        sqnorm = rows.sqnorm(i)
        worst = share_out(work, rule, sqnorm, zero)
        if worst == 0:
            continue
        margin, square = 0.0, 0.0
        for k in range(len(work.activations)):
            margin += work.steps[k] * work.activations[k]
            square += work.steps[k] * work.steps[k]
        if worst == 2:
            mistakes += 1
            loss -= min(margin, 0.0)
        tau = rule.step(margin, square * sqnorm)
        if len(weight):
            tau *= weight[i]
        if tau == 0.0:
            continue
        updates += 1
        n = 0
        for k in range(len(work.activations)):
            step = tau * work.steps[k]
            if step != 0.0:
                lines = plan_step(work, n, lines, i, k, step, c + t)
                n += 1
        take_steps(rows, i, n, work, w, u, c + t)
    if len(work.n_lines):
        work.n_lines[0] = lines
    return Counts(mistakes, updates, loss)
