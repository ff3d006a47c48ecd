"""Counting the votes of every weight vector of a training, from products of rows alone.

The activations of successive vectors on a row x are prefix sums of τᵢ·yᵢ·⟨xᵢ, x⟩, so a block of
those products, teachers by rows, is all that is needed. Rows run along the inner axis, where LLVM
makes vector instructions of the loops. A vote nearer to a tie than rounding can tell is left open
here, and decided by ``decide_two`` and ``decide_many`` with the weights themselves.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import compiled, inlined
from rosenblatt.kernels.rows import CSR, Rows

OPEN = -1.0  # the winner of a vote that is not decided yet


class Steps(NamedTuple):
    """The updates of a training, in order."""

    row: NDArray[Any]  # which row taught
    amount: NDArray[Any]  # τ·y of two classes, τ of more
    label: NDArray[Any]  # of more than two classes: the one that gains
    rival: NDArray[Any]  # and the one that loses
    seen: NDArray[Any]  # Algorithm 7's counter when it came


class Products(NamedTuple):
    """A block of products of rows that taught with rows to vote on."""

    parts: NDArray[Any]  # (slices, teachers, rows): the sum over slices counts
    place: NDArray[Any]  # the line of each row that taught
    constant: float  # the product of the constant features


class Undecided(NamedTuple):
    """Room for votes left open, each by update and row, in the order of updates."""

    update: NDArray[Any]
    row: NDArray[Any]


@inlined
def product_line(products: Products, row: int, line: NDArray[Any]) -> None:
    """Write the products of one row that taught to line."""
    place = products.place[row]
    first = products.parts[0, place]
    for b in range(len(line)):
        line[b] = first[b] + products.constant
    for q in range(1, len(products.parts)):
        more = products.parts[q, place]
        for b in range(len(line)):
            line[b] += more[b]


@compiled
def count_two(
    products: Products,
    steps: Steps,
    start: int,  # the first update to make
    stop: int,
    since: int,  # the counter from which the sides have not been counted
    limit: NDArray[Any],  # an activation within ± of it leaves a vote open; below 0: none
    above: float,  # an activation above this votes for the second class
    activation: NDArray[Any],  # changed: of each row, by the vector at hand
    side: NDArray[Any],  # changed: what that vector votes, −1, +1, or 0 while it is open
    votes: NDArray[Any],  # changed: Σ count·side of the vectors before it
    line: NDArray[Any],  # room for a product with each row
    left: Undecided,  # changed
) -> tuple[int, int]:
    """Make updates while there is room; return which is the next, and how many votes are open."""
    n_open, n_rows = 0, len(line)
    for k in range(start, stop):
        if len(left.row) - n_open < n_rows:
            return k, n_open
        product_line(products, steps.row[k], line)
        amount, count, decided = steps.amount[k], float(steps.seen[k] - since), 0
        since = steps.seen[k]
        for b in range(n_rows):
            votes[b] += count * side[b]
            a = activation[b] + amount * line[b]
            activation[b] = a
            vote = 1.0 if a > above else -1.0
            side[b] = vote if abs(a) > limit[b] else 0.0
            decided += abs(a) > limit[b]
        if decided < n_rows:
            for b in range(n_rows):
                if side[b] == 0.0:
                    left.update[n_open], left.row[n_open] = k, b
                    n_open += 1
    return stop, n_open


@compiled
def decide_two(
    rows: Rows,
    teachers: CSR,
    steps: Steps,
    left: Undecided,
    n_open: int,
    above: float,
    at: int,  # the update to be made next
    w: NDArray[Any],  # changed: the weights of all updates before it
    side: NDArray[Any],  # changed
    votes: NDArray[Any],  # changed
) -> tuple[int, int]:
    """Decide open votes; return the update to be made next, and a row that overflows or −1."""
    for o in range(n_open):
        k, b = left.update[o], left.row[o]
        while at <= k:
            teachers.add(steps.row[at], steps.amount[at], w)
            at += 1
        a = rows.dot(b, w)
        if not np.isfinite(a):
            return at, b
        vote = 1.0 if a > above else -1.0
        if k + 1 < len(steps.seen):
            votes[b] += vote * (steps.seen[k + 1] - steps.seen[k])
        else:  # how long the last vector lives is not known yet
            side[b] = vote
    return at, -1


@inlined
def move_leaders(
    line: NDArray[Any],
    amount: float,
    label: float,
    rival: float,
    gaining: NDArray[Any],  # changed: the scores of the class that gains
    losing: NDArray[Any],  # changed: and of the one that loses
    winner: NDArray[Any],
    top: NDArray[Any],  # changed: the score of the winner
    second: NDArray[Any],  # changed: no other class has more than this
) -> None:
    """Make one update; of the other classes none has moved, so ``second`` stays a bound."""
    for b in range(len(line)):
        change = amount * line[b]
        gained, lost = gaining[b] + change, losing[b] - change
        gaining[b], losing[b] = gained, lost
        wins, loses = winner[b] == label, winner[b] == rival
        top[b] = gained if wins else (lost if loses else top[b])
        one, other = -np.inf if wins else gained, -np.inf if loses else lost
        most, bound = max(other, one), second[b]
        second[b] = max(bound, most)


@compiled
def count_many(
    products: Products,
    steps: Steps,
    start: int,  # the first update to make
    stop: int,
    limit: NDArray[Any],  # a lead within it leaves a vote open; below 0: none
    positive: bool,  # whether a tie goes to the last class
    scores: NDArray[Any],  # changed, (classes, rows): by the vector at hand
    winner: NDArray[Any],  # changed: the class that it votes for, as a float for the vectors' sake
    top: NDArray[Any],  # changed: the score of the winner
    second: NDArray[Any],  # changed: no other class has more than this
    since: NDArray[Any],  # changed: the counter from which each row's winner has not been counted
    votes: NDArray[Any],  # changed, (classes, rows)
    line: NDArray[Any],  # room for a product with each row
    left: Undecided,  # changed
) -> tuple[int, int]:
    """Make updates while there is room; return which is the next, and how many votes are open.

    Most updates leave the winner of a row in the lead, which ``top`` and ``second`` tell without a
    look at the other classes: on MNIST 94 of 100.
    """
    n_open, n_rows = 0, len(line)
    for k in range(start, stop):
        if len(left.row) - n_open < n_rows:
            return k, n_open
        product_line(products, steps.row[k], line)
        label, rival = steps.label[k], steps.rival[k]
        gaining, losing = scores[label], scores[rival]
        move_leaders(
            line, steps.amount[k], float(label), float(rival), gaining, losing, winner, top, second
        )
        for b in range(n_rows):
            if top[b] - second[b] > max(limit[b], 0.0):
                continue
            best, highest, next_highest = 0, scores[0, b], -np.inf
            for c in range(1, len(scores)):
                score = scores[c, b]
                next_highest = max(next_highest, min(score, highest))
                if score > highest or (positive and score == highest):
                    best, highest = c, score
            top[b], second[b] = highest, next_highest
            found = float(best)
            if not highest - next_highest > limit[b]:
                found, top[b] = OPEN, -np.inf  # so that the next update looks again
                left.update[n_open], left.row[n_open] = k, b
                n_open += 1
            if found != winner[b] or found == OPEN:
                if winner[b] != OPEN:
                    votes[int(winner[b]), b] += steps.seen[k] - since[b]
                winner[b], since[b] = found, steps.seen[k]
    return stop, n_open


@compiled
def decide_many(
    rows: Rows,
    teachers: CSR,
    steps: Steps,
    left: Undecided,
    n_open: int,
    positive: bool,
    at: int,  # the update to be made next
    w: NDArray[Any],  # changed: the weights of all updates before it, as the rows read them
    by_feature: NDArray[Any],  # the same, seen as (features, classes)
    scores: NDArray[Any],  # room for the activation of each class
    winner: NDArray[Any],  # changed
    votes: NDArray[Any],  # changed
) -> tuple[int, int]:
    """Decide open votes; return the update to be made next, and a row that overflows or −1."""
    for o in range(n_open):
        k, b = left.update[o], left.row[o]
        while at <= k:
            teachers.add_to_class(steps.row[at], steps.amount[at], by_feature, steps.label[at])
            teachers.add_to_class(steps.row[at], -steps.amount[at], by_feature, steps.rival[at])
            at += 1
        rows.scores(b, w, scores)
        best = 0
        for c in range(len(scores)):
            if not np.isfinite(scores[c]):
                return at, b
            if scores[c] > scores[best] or (positive and scores[c] == scores[best]):
                best = c
        if k + 1 < len(steps.seen):
            votes[best, b] += steps.seen[k + 1] - steps.seen[k]
        else:  # how long the last vector lives is not known yet
            winner[b] = best
    return at, -1
