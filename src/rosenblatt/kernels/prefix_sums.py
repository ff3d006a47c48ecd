"""What the weight vectors of a list of updates say of rows, from products of rows alone.

The weights are sums over the rows that taught, so the scores of successive vectors on a row x are
prefix sums of τᵢ·yᵢ·K(xᵢ, x): a block of those values, rows that taught by rows at hand, is all
that is needed, and no vector is ever formed. Rows at hand run along the inner axis, where LLVM
makes vector instructions of the loops; ``begin`` and ``end`` let threads share them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined


class Steps(NamedTuple):
    """Updates in order, as changes of columns of scores."""

    row: NDArray[Any]  # which of the rows that taught
    gain: NDArray[Any]  # the column that gains size·K(row, ·)
    lose: NDArray[Any]  # the column that loses it; −1: none
    size: NDArray[Any]  # by how much, with its sign
    seen: NDArray[Any]  # Algorithm 7's counter when it came


@inlined
def add_row(
    scores: Changed[NDArray[Any]],
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
def add_steps(
    steps: Steps,
    gram: NDArray[Any],  # K of the rows that taught against the rows at hand
    begin: int,
    end: int,
    scores: Changed[NDArray[Any]],  # (columns, rows at hand)
) -> None:
    """Change the scores by these steps, in their order."""
    for e in range(len(steps.row)):
        add_row(scores, steps.gain[e], steps.size[e], gram, steps.row[e], begin, end)
        if steps.lose[e] >= 0:
            add_row(scores, steps.lose[e], -steps.size[e], gram, steps.row[e], begin, end)


@compiled
def column_votes(
    steps: Steps,
    gram: NDArray[Any],  # K of the rows that taught against the rows at hand
    above: float,  # a score above this votes +1
    begin: int,
    end: int,
    since: Changed[NDArray[Any]],  # the counter up to which each column's votes are counted
    scores: Changed[NDArray[Any]],  # (columns, rows at hand)
    votes: Changed[NDArray[Any]],  # likewise: Σ ± rows that each vector lasted
) -> None:
    """Make steps; before each, its column votes for as long as it has lasted."""
    for e in range(len(steps.row)):
        k, size, row = steps.gain[e], steps.size[e], steps.row[e]
        count = float(steps.seen[e] - since[k])
        since[k] = steps.seen[e]
        for r in range(begin, end):
            a = scores[k, r]
            votes[k, r] += count if a > above else -count
            scores[k, r] = a + size * gram[row, r]


class Leaders(NamedTuple):
    """Of each row at hand the class in the lead; all of it changes."""

    winner: NDArray[Any]  # its number, as a float for the vectors' sake
    top: NDArray[Any]  # its score
    second: NDArray[Any]  # no other class has more than this
    since: NDArray[Any]  # the counter from which its votes are not counted


@inlined
def move_leaders(
    leaders: Leaders,
    gain: int,
    lose: int,
    size: float,
    gram: NDArray[Any],
    row: int,
    begin: int,
    end: int,
    scores: NDArray[Any],
) -> None:
    """Make one step; of the other classes none has moved, so ``second`` stays a bound."""
    gaining, losing, line = scores[gain], scores[lose], gram[row]
    up, down = float(gain), float(lose)
    winner, top, second = leaders.winner, leaders.top, leaders.second
    for r in range(begin, end):
        change = size * line[r]
        gained, lost = gaining[r] + change, losing[r] - change
        gaining[r], losing[r] = gained, lost
        wins, loses = winner[r] == up, winner[r] == down
        top[r] = gained if wins else (lost if loses else top[r])
        one, other = -np.inf if wins else gained, -np.inf if loses else lost
        most, bound = max(other, one), second[r]
        second[r] = max(bound, most)


@compiled
def joint_votes(
    steps: Steps,
    gram: NDArray[Any],  # K of the rows that taught against the rows at hand
    last_of_equals: bool,  # whether a tie goes to the last class
    begin: int,
    end: int,
    leaders: Changed[Leaders],
    scores: Changed[NDArray[Any]],  # (classes, rows at hand)
    votes: Changed[NDArray[Any]],  # likewise: rows that the vectors lasted that vote for a class
) -> None:
    """Make steps; a class is credited when it loses the lead.

    Most steps leave the winner of a row in the lead, which ``top`` and ``second`` tell without a
    look at the other classes: on MNIST 94 of 100.
    """
    winner, top, second, since = leaders.winner, leaders.top, leaders.second, leaders.since
    for e in range(len(steps.row)):
        move_leaders(
            leaders, steps.gain[e], steps.lose[e], steps.size[e], gram, steps.row[e], begin, end,
            scores,
        )  # fmt: skip
        for r in range(begin, end):
            if top[r] > second[r]:
                continue
            best, highest, next_highest = 0, scores[0, r], -np.inf
            for c in range(1, len(scores)):
                score = scores[c, r]
                next_highest = max(next_highest, min(score, highest))
                if score > highest or (last_of_equals and score == highest):
                    best, highest = c, score
            top[r], second[r] = highest, next_highest
            if best != winner[r]:
                votes[int(winner[r]), r] += steps.seen[e] - since[r]
                winner[r], since[r] = best, steps.seen[e]
