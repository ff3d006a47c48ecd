"""One pass of learning paths of tags: the true path of a sentence against the best other one.

M. Collins, "Discriminative training methods for hidden Markov models" (EMNLP 2002): the vector of a
path counts its features, a mistake is a wrong path and its rival the best one, so w ← w + τ·Δφ. A
rule that wants a margin gets the rival with a cost for each of its wrong tokens (Taskar, Guestrin &
Koller 2003): the hinge of the rule is then the structured loss, and ‖Δφ‖² its squared length.
"""

from typing import Any

from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.counts import Counts, Log, note
from rosenblatt.kernels.second_order import GaussianWeights
from rosenblatt.kernels.sequences.paths import (
    EDGES,
    Differences,
    Lattice,
    Sentences,
    allowed_path,
    n_wrong,
    own_row,
    path_score,
    row_of,
    write_difference,
    write_scores,
    write_steps,
)
from rosenblatt.rules.confidence_weighted import LEAST_VARIANCE

TAG_MASK = (1 << 16) - 1


@inlined
def lead(
    rows: Sentences,
    tags: NDArray[Any],
    i: int,
    cost: float,
    w: NDArray[Any],
    room: Lattice,
) -> Any:
    """Write the true path of sentence i and its rival, the best with its cost.

    Return by how much the true one leads, without the cost of the rival and with it. Tags that
    are not known, −1, are those of the best path that agrees with the others.
    """
    first = rows.bounds[i]
    n = rows.bounds[i + 1] - first
    write_scores(rows, i, w, room)
    known = True
    for t in range(n):
        room.truth[t] = tags[first + t]
        known = known and tags[first + t] >= 0
    if not known:
        allowed_path(
            n, room.emissions, room.steps, w, tags, first, rows.sets, room.best, room.truth
        )
    if cost > 0.0:
        for t in range(n):
            if tags[first + t] >= 0:
                for k in range(room.emissions.shape[1]):
                    room.emissions[t, k] += 0.0 if k == room.truth[t] else cost
    allowed_path(n, room.emissions, room.steps, w, tags[:0], 0, rows.sets, room.best, room.path)
    with_cost = path_score(n, room.emissions, w, room.truth)
    with_cost -= path_score(n, room.emissions, w, room.path)
    margin = with_cost
    for t in range(n):
        if room.path[t] != room.truth[t] and tags[first + t] >= 0:
            margin += cost
    return margin, with_cost + cost


@compiled
def path_pass(
    rows: Changed[Sentences],  # features get their places
    tags: NDArray[Any],  # the number of each token's tag; −1: not known
    weight: NDArray[Any],  # multiplies the step of each sentence; empty: 1 for all
    order: NDArray[Any],  # numbers of sentences, in the order to come
    rule: Any,
    cost: float,  # of a wrong token
    room: Changed[tuple[Lattice, Differences, Log]],  # the log may have no lines
    w: Changed[NDArray[Any]],
    u: Changed[NDArray[Any]],  # the ledger of the average; empty: none
    c: int,  # Algorithm 7's counter before this pass
) -> Counts:
    """Visit the sentences in order, step where the rule says so, and return what happened."""
    (lattice, found, log), barred = room, rows.barred
    n_tags = w.shape[1]
    mistakes, updates, loss = 0, 0, 0.0
    write_steps(w, barred, lattice.steps)
    for t in range(len(order)):
        i = order[t]
        n_tokens = rows.bounds[i + 1] - rows.bounds[i]
        if n_tokens == 0:
            continue
        margin, structured = lead(rows, tags, i, cost, w, lattice)
        if n_wrong(n_tokens, lattice) == 0:
            continue
        if not margin > 0.0:
            mistakes += 1
            loss -= margin
        n, sqnorm = write_difference(rows, i, lattice, found), 0.0
        for q in range(n):
            sqnorm += found.counts[found.places[q]] * found.counts[found.places[q]]
        tau = rule.step(structured, sqnorm)
        if len(weight):
            tau *= weight[i]
        for q in range(n):
            slot = found.places[q]
            count, key = found.counts[slot], found.keys[slot]
            found.keys[slot] = 0
            if count != 0.0 and tau != 0.0:
                row, k = own_row(key, n_tags, rows.places), key - 1 & TAG_MASK
                w[row, k] += tau * count
                if len(u):
                    u[row, k] += tau * (c + t) * count
                if row < n_tags + EDGES and not barred[row, k]:
                    lattice.steps[row, k] = w[row, k]
        if len(log.row):
            note(log, updates, i, 0, 0, tau, c + t)
        updates += tau != 0.0
    return Counts(mistakes, updates, loss)


@compiled
def second_order_path_pass(
    rows: Changed[Sentences],  # features get their places
    tags: NDArray[Any],  # the number of each token's tag; −1: not known
    weight: NDArray[Any],  # multiplies the step of each sentence; empty: 1 for all
    order: NDArray[Any],  # numbers of sentences, in the order to come
    rule: Any,
    cost: float,  # of a wrong token
    room: Changed[tuple[Lattice, Differences, Log]],  # the log may have no lines
    gaussian: Changed[GaussianWeights],
    u: Changed[NDArray[Any]],  # the ledger of the average; empty: none
    c: int,  # Algorithm 7's counter before this pass
) -> Counts:
    """Visit the sentences in order, step where a second-order rule says so.

    The margin has the variance Δφᵀ Σ Δφ, of the diagonal Σ.
    """
    (lattice, found, log), (w, sigma), barred = room, gaussian, rows.barred
    n_tags = w.shape[1]
    mistakes, updates, loss = 0, 0, 0.0
    write_steps(w, barred, lattice.steps)
    for t in range(len(order)):
        i = order[t]
        n_tokens = rows.bounds[i + 1] - rows.bounds[i]
        if n_tokens == 0:
            continue
        margin, structured = lead(rows, tags, i, cost, w, lattice)
        if n_wrong(n_tokens, lattice) == 0:
            continue
        if not margin > 0.0:
            mistakes += 1
            loss -= margin
        n, variance = write_difference(rows, i, lattice, found), 0.0
        for q in range(n):
            slot = found.places[q]
            row, k = row_of(found.keys[slot], n_tags, rows.places), found.keys[slot] - 1
            spread = 1.0 if row < 0 else sigma[row, k & TAG_MASK]
            variance += found.counts[slot] * found.counts[slot] * spread
        alpha, beta = rule.step(structured, variance)
        if len(weight):
            alpha *= weight[i]
        for q in range(n):
            slot = found.places[q]
            count, key = found.counts[slot], found.keys[slot]
            found.keys[slot] = 0
            if count != 0.0 and alpha != 0.0:
                row, k = own_row(key, n_tags, rows.places), key - 1 & TAG_MASK
                moved = sigma[row, k] * count
                w[row, k] += alpha * moved
                if len(u):
                    u[row, k] += alpha * (c + t) * moved
                sigma[row, k] = max(sigma[row, k] - beta * (moved * moved), LEAST_VARIANCE)
                if row < n_tags + EDGES and not barred[row, k]:
                    lattice.steps[row, k] = w[row, k]
        if len(log.row):
            note(log, updates, i, 0, 0, alpha, c + t)
        updates += alpha != 0.0
    return Counts(mistakes, updates, loss)
