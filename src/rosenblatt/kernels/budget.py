"""A pass in the dual with a limit on the rows that are kept, and three ways to keep to it.

Rows that are kept stand in slots; ``ages`` lists the slots that are in use, the oldest first. A row
that teaches is given a slot or is projected on those that are there. The Projectron never drops a
row, so it can keep the ledger of an exact average beside the coefficients.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import break_tie
from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.multiclass import best_rival, pair_margin

RANDOM, FORGETRON, PROJECTRON = range(3)
WITHIN = 1e-13  # of K(x, x): a squared distance to the span that is nothing but rounding
FORGETTING = 15.0 / 32.0  # of the mistakes: how much damage the Forgetron allows itself
DAMAGE, MISTAKES, RADIUS = range(3)  # what the Forgetron keeps count of


class Slots(NamedTuple):
    """What is known of the rows that are kept; all of it is changed by a pass."""

    ages: NDArray[Any]  # the slots in use, the oldest first
    column: NDArray[Any]  # where in the Gram block each slot's row stands
    coef: NDArray[Any]  # (slots, columns)
    ledger: NDArray[Any]  # likewise: Algorithm 7's u; of the Projectron only
    matrix: NDArray[Any]  # (slots, slots) Gram values, or their Cholesky factor for the Projectron
    tuning: NDArray[Any]  # of the Forgetron: damage so far, mistakes, largest squared length


class Limit(NamedTuple):
    """How many rows may be kept, and how."""

    kind: int
    most: int
    eta: float  # the Projectron's: how far from the span a row must be to be kept
    unit: float  # the perceptron's step, in which the Forgetron measures


@inlined
def row_steps(
    label: int,
    weight: float,
    square: float,  # K of the row with itself
    rule: Any,
    zero: int,
    joint: bool,
    scores: NDArray[Any],
    delta: Changed[NDArray[Any]],  # the step in each column
) -> tuple[int, int, float]:
    """Return mistakes, steps and loss of one row, whose steps are written to delta."""
    delta[:] = 0.0
    if joint:
        rival = best_rival(scores, label, zero)
        margin = pair_margin(scores, label, rival, zero)
        tau = rule.step(margin, 2.0 * square) * weight
        delta[label], delta[rival] = tau, -tau
        right = margin > 0.0  # not true of "not a number", so that an overflow shows in the loss
        return 0 if right else 1, 1 if tau != 0.0 else 0, 0.0 if right else -margin
    mistakes, steps, loss = 0, 0, 0.0
    second = 1 if len(scores) == 1 else 0  # of two classes the second is the positive one
    for k in range(len(scores)):
        y = 1 if label == k + second else -1
        margin = break_tie(y * scores[k], y, zero)
        tau = rule.step(margin, square) * weight
        delta[k] = tau * y
        steps += 1 if tau != 0.0 else 0
        if not margin > 0.0:
            mistakes += 1
            loss -= margin
    return mistakes, steps, loss


@compiled
def budget_block(
    block: tuple[NDArray[Any], ...],  # of each row the class, the weight if any, a random word
    gram: NDArray[Any],  # (rows, rows that are kept, then these rows)
    rule: Any,
    zero: int,
    joint: bool,
    limit: Limit,
    seen: int,  # Algorithm 7's counter before these rows
    n_kept: int,
    slots: Changed[Slots],
    rooms: tuple[NDArray[Any], ...],  # two numbers for each column, one for each slot
) -> tuple[int, int, float, int]:
    """Visit rows in order; return mistakes, updates, loss and how many rows are kept."""
    (labels, weight, words), (scores, delta, room) = block, rooms
    mistakes, updates, loss = 0, 0, 0.0
    first = gram.shape[1] - len(labels)  # where these rows stand in the Gram block
    for t in range(len(labels)):
        kept_scores(gram[t], n_kept, slots, scores)
        square, share = gram[t, first + t], weight[t] if len(weight) else 1.0
        wrong, changed, cost = row_steps(labels[t], share, square, rule, zero, joint, scores, delta)
        mistakes += wrong
        updates += changed
        loss += cost
        if changed > 0 and limit.kind == PROJECTRON:
            n_kept = project(gram[t], first + t, delta, seen + t, limit, n_kept, slots, room)
        elif changed > 0:
            if limit.kind == RANDOM and n_kept == limit.most:
                drop(draw(words[t], n_kept), n_kept, slots)
                n_kept -= 1
            enter(gram[t], first + t, delta, n_kept, slots)
            n_kept += 1
            if limit.kind == FORGETRON:
                squared = square * (2.0 if joint else 1.0)
                slots.tuning[MISTAKES] += 1.0
                slots.tuning[RADIUS] = max(slots.tuning[RADIUS], squared)
                if n_kept > limit.most:
                    forget(limit.unit, n_kept, slots)
                    n_kept -= 1
    return mistakes, updates, loss, n_kept


@inlined
def kept_scores(values: NDArray[Any], n_kept: int, slots: Slots, out: NDArray[Any]) -> None:
    """Write Σ coefficient·K over the rows that are kept, the oldest first, to out."""
    out[:] = 0.0
    for p in range(n_kept):
        slot = slots.ages[p]
        value = values[slots.column[slot]]
        for k in range(len(out)):
            out[k] += slots.coef[slot, k] * value


@inlined
def draw(word: Any, n_kept: int) -> int:
    """Return a place from 0 to n_kept − 1: the upper 32 bits of the word times n_kept."""
    return int(((word >> np.uint64(32)) * np.uint64(n_kept)) >> np.uint64(32))


@compiled
def enter(
    values: NDArray[Any], column: int, delta: NDArray[Any], n_kept: int, slots: Changed[Slots]
) -> None:
    """Give a row the next free slot, with its step as coefficients."""
    slot = slots.ages[n_kept]
    slots.column[slot] = column
    for k in range(len(delta)):
        slots.coef[slot, k] = delta[k]
    if len(slots.matrix):
        for p in range(n_kept + 1):
            other = slots.ages[p]
            slots.matrix[slot, other] = values[slots.column[other]]
            slots.matrix[other, slot] = slots.matrix[slot, other]


@compiled
def drop(place: int, n_kept: int, slots: Changed[Slots]) -> None:
    """Free the slot at this place of the ages; it is the next one to be given away."""
    slot = slots.ages[place]
    for p in range(place, n_kept - 1):
        slots.ages[p] = slots.ages[p + 1]
    slots.ages[n_kept - 1] = slot


@compiled
def forget(unit: float, n_kept: int, slots: Slots) -> None:
    """Shrink all coefficients by φ and drop the oldest row (the self-tuned Forgetron).

    φ is the largest number up to 1 for which the damage so far and the damage of this removal,
    Ψ = (σφ)² + 2σφ·(1 − φμ), are at most 15/32 of the mistakes; σ is the coefficient of the oldest
    row and μ its margin. Both are measured with steps of 1 and rows of length at most 1, as in the
    paper (Dekel, Shalev-Shwartz & Singer 2008, section 6).
    """
    ages, coef, tuning = slots.ages, slots.coef, slots.tuning
    oldest, n_columns = ages[0], slots.coef.shape[1]
    largest, margin = 0.0, 0.0
    for k in range(n_columns):
        largest = max(largest, abs(coef[oldest, k]))
        score = 0.0
        for p in range(n_kept):
            score += coef[ages[p], k] * slots.matrix[oldest, ages[p]]
        margin += coef[oldest, k] * score
    phi = 1.0
    if largest > 0.0 and tuning[RADIUS] > 0.0:
        sigma, mu = largest / unit, margin / largest / (unit * tuning[RADIUS])
        a, b = sigma * sigma - 2.0 * sigma * mu, 2.0 * sigma
        c = tuning[DAMAGE] - FORGETTING * tuning[MISTAKES]
        if a + b + c > 0.0:
            phi = -2.0 * c / (b + np.sqrt(b * b - 4.0 * a * c))
        tuning[DAMAGE] += a * phi * phi + b * phi
    for p in range(1, n_kept):
        for k in range(n_columns):
            coef[ages[p], k] *= phi
    drop(0, n_kept, slots)


@compiled
def project(
    values: NDArray[Any],
    column: int,
    delta: NDArray[Any],
    seen: int,
    limit: Limit,
    n_kept: int,
    slots: Changed[Slots],
    room: Changed[NDArray[Any]],
) -> int:
    """Project the step on the span of the kept rows, or keep the row; return how many are kept.

    The projection of x is Σ dᵢ·xᵢ with K·d = k and its squared distance K(x, x) − k·d (Orabona,
    Keshet & Caputo 2009, section 4). In place of the inverse of K its Cholesky factor is kept, row
    by row: as cheap, and sound where rows nearly depend on each other.
    """
    factor, coef, ledger = slots.matrix, slots.coef, slots.ledger
    distance = values[column]
    for i in range(n_kept):
        z = values[slots.column[i]]
        for j in range(i):
            z -= factor[i, j] * room[j]
        room[i] = z / factor[i, i]
        distance -= room[i] * room[i]
    full = n_kept == limit.most
    if not full and distance > max(limit.eta * limit.eta, WITHIN * values[column]):
        for j in range(n_kept):
            factor[n_kept, j] = room[j]
        factor[n_kept, n_kept] = np.sqrt(distance)
        slots.column[n_kept] = column
        for k in range(len(delta)):
            coef[n_kept, k] = delta[k]
            ledger[n_kept, k] = delta[k] * seen
        return n_kept + 1
    for i in range(n_kept - 1, -1, -1):
        share = room[i] / factor[i, i]
        for j in range(i):
            room[j] -= factor[i, j] * share
        for k in range(len(delta)):
            coef[i, k] += delta[k] * share
            ledger[i, k] += delta[k] * share * seen
    return n_kept
