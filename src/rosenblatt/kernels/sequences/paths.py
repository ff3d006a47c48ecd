"""Paths of tags through a sentence: what tokens score, the best path, and how two paths differ.

A path scores the sum of its tokens and of its steps. Weights are a matrix with one column a tag.
Its first K rows are the steps from each tag to each other, row K those from the start of a
sentence, row K + 1 those to its end; the rows of features follow. So a step is a feature like any
other, and one rule, one ledger and one variance serve both.

A feature gets its row at its first step, in the order of steps; until then its weights are 0.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.rows import sparse_scores, value_at

NO_ROW = -1
START, END = 0, 1  # of a sentence: their rows of weights stand behind those of K tags
EDGES = 2
TAG_BITS = 16  # of the key of a weight: K is at most 2¹⁶
MIX = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio


class Places(NamedTuple):
    """Which row of weights each feature has."""

    rows: NDArray[np.int32]  # of each feature; ``NO_ROW``: not yet
    n_rows: NDArray[np.int64]  # one number: rows that are given


class Sentences(NamedTuple):
    """The tokens of sentences and the features of each token."""

    bounds: NDArray[np.int64]  # where the tokens of each sentence begin, and where the last end
    starts: NDArray[np.int64]  # where the features of each token begin, and where the last end
    features: NDArray[np.int32]  # numbers
    values: NDArray[Any]  # of each feature; bool: all are 1
    places: Places  # changes with each step
    barred: NDArray[np.bool_]  # (K + 2, K), steps that are impossible
    sets: NDArray[np.bool_]  # (numbers, K), the tags that a number of known tags stands for
    n_features: int  # rows of weights that there is room for, without the constant one

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sentences and of rows of weights."""
        return len(self.bounds) - 1, self.n_features

    @property
    def n_values(self) -> int:
        """Number of stored values; a pass waits for no memory as one over long rows does."""
        return 0

    @property
    def sparse(self) -> bool:
        """Whether weights of several tags stand by feature."""
        return True

    @property
    def constant(self) -> float:
        """The constant feature: templates have one of their own."""
        return 0.0

    def compact(self) -> "Sentences":
        """Return the sentences as they are."""
        return self


class Lattice(NamedTuple):
    """Room for the sentence at hand: the longest has n tokens."""

    emissions: NDArray[np.float64]  # (n, K), of each tag of each token
    best: NDArray[np.float64]  # (n, K), of the best path that ends in a tag of a token
    steps: NDArray[np.float64]  # (K + 2, K), of each step; −inf: impossible
    rows: NDArray[np.int32]  # of the features of a token
    values: NDArray[Any]  # likewise; bool: all are 1
    truth: NDArray[np.int32]  # (n,)
    path: NDArray[np.int32]


class Differences(NamedTuple):
    """Room for Δφ, what the true path has more often than another: a table of open addressing."""

    keys: NDArray[np.int64]  # one more than the key of a weight; 0: empty
    counts: NDArray[np.float64]
    places: NDArray[np.int64]  # of the keys, in their order of appearance


@inlined
def write_scores(rows: Sentences, i: int, w: NDArray[Any], room: Lattice) -> None:
    """Write what each tag of each token of sentence i scores."""
    first = rows.bounds[i]
    for t in range(rows.bounds[i + 1] - first):
        n = 0
        for p in range(rows.starts[first + t], rows.starts[first + t + 1]):
            row = rows.places.rows[rows.features[p]]
            if row != NO_ROW:
                room.rows[n] = row
                room.values[n] = value_at(rows.values, p)
                n += 1
        sparse_scores(room.values, room.rows, 0, n, w, 0, room.emissions[t])


@compiled
def best_path(
    n: int,
    scores: NDArray[Any],
    steps: NDArray[Any],
    tags: NDArray[Any],  # numbers of sets that tokens must be of, −1: any; empty: none must
    first: int,  # of these is the first token's
    sets: NDArray[np.bool_],
    best: Changed[NDArray[Any]],
    path: Changed[NDArray[Any]],
) -> Any:
    """Write the best path through n tokens and return its score: Viterbi (1967).

    Of equals the one whose last tag comes first, then the one before it. The way back is found by
    doing the winning comparison again, so that the way there needs no more than sums and maxima.
    """
    n_tags = scores.shape[1]
    for k in range(n_tags):
        best[0, k] = steps[n_tags + START, k] + scores[0, k]
    keep_tags(tags, first, sets, best, 0)
    for t in range(1, n):
        for k in range(n_tags):
            best[t, k] = best[t - 1, 0] + steps[0, k]
        for j in range(1, n_tags):
            so_far = best[t - 1, j]
            for k in range(n_tags):
                score = so_far + steps[j, k]
                best[t, k] = max(best[t, k], score)
        for k in range(n_tags):
            best[t, k] += scores[t, k]
        keep_tags(tags, first + t, sets, best, t)
    last, top = 0, best[n - 1, 0] + steps[n_tags + END, 0]
    for k in range(1, n_tags):
        score = best[n - 1, k] + steps[n_tags + END, k]
        if score > top:
            last, top = k, score
    path[n - 1] = last
    for t in range(n - 1, 0, -1):
        before, there = 0, best[t - 1, 0] + steps[0, last]
        for j in range(1, n_tags):
            score = best[t - 1, j] + steps[j, last]
            if score > there:
                before, there = j, score
        last = before
        path[t - 1] = last
    return top


@inlined
def keep_tags(
    tags: NDArray[Any], place: int, sets: NDArray[np.bool_], best: NDArray[Any], t: int
) -> None:
    """Leave token t no tags but those that it may have."""
    if len(tags) and tags[place] >= 0:
        for k in range(best.shape[1]):
            if not sets[tags[place], k]:
                best[t, k] = -np.inf


@compiled
def allowed_path(
    n: int,
    scores: NDArray[Any],
    steps: NDArray[Any],
    w: NDArray[Any],
    tags: NDArray[Any],
    first: int,
    sets: NDArray[np.bool_],
    best: Changed[NDArray[Any]],
    path: Changed[NDArray[Any]],
) -> Any:
    """Do what ``best_path`` does; where the tags leave no possible path take any step."""
    top = best_path(n, scores, steps, tags, first, sets, best, path)
    if top == -np.inf:
        top = best_path(n, scores, w, tags, first, sets, best, path)
    return top


@inlined
def path_score(n: int, scores: NDArray[Any], steps: NDArray[Any], path: NDArray[Any]) -> Any:
    """Return the score of a path, added from its first token to its last."""
    n_tags = scores.shape[1]
    total = steps[n_tags + START, path[0]] + scores[0, path[0]]
    for t in range(1, n):
        total = total + steps[path[t - 1], path[t]] + scores[t, path[t]]
    return total + steps[n_tags + END, path[n - 1]]


@inlined
def write_steps(w: NDArray[Any], barred: NDArray[np.bool_], steps: NDArray[Any]) -> None:
    """Write what steps score by these weights, those that are barred −inf."""
    for j in range(len(barred)):
        for k in range(barred.shape[1]):
            steps[j, k] = -np.inf if barred[j, k] else w[j, k]


@inlined
def count_difference(found: Differences, n: int, row: int, tag: int, count: float) -> int:
    """Add to what the true path has more often than the other; return how many keys there are."""
    key = (np.int64(row) << TAG_BITS) + tag + 1
    mask = np.uint64(len(found.keys) - 1)
    slot = (np.uint64(key) * MIX >> np.uint64(32)) & mask
    while found.keys[slot] != 0 and found.keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    if found.keys[slot] == 0:
        found.keys[slot] = key
        found.counts[slot] = 0.0
        found.places[n] = slot
        n += 1
    found.counts[slot] += count
    return n


@inlined
def write_difference(rows: Sentences, i: int, room: Lattice, found: Differences) -> int:
    """Write Δφ of the true path and another one through sentence i; return how many keys it has.

    The rows of features that have none yet stand for themselves: see ``row_of``.
    """
    first, n_tags = rows.bounds[i], room.emissions.shape[1]
    n_tokens = rows.bounds[i + 1] - first
    n = 0
    for t in range(n_tokens):
        own, other = room.truth[t], room.path[t]
        before = room.truth[t - 1] if t else n_tags + START
        rival = room.path[t - 1] if t else n_tags + START
        if own != other:
            for p in range(rows.starts[first + t], rows.starts[first + t + 1]):
                x, feature = value_at(rows.values, p), n_tags + EDGES + rows.features[p]
                n = count_difference(found, n, feature, own, x)
                n = count_difference(found, n, feature, other, -x)
        if own != other or before != rival:
            n = count_difference(found, n, before, own, 1.0)
            n = count_difference(found, n, rival, other, -1.0)
    own, other = room.truth[n_tokens - 1], room.path[n_tokens - 1]
    if own != other:
        n = count_difference(found, n, n_tags + END, own, 1.0)
        n = count_difference(found, n, n_tags + END, other, -1.0)
    return n


@inlined
def row_of(key: int, n_tags: int, places: Places) -> Any:
    """Return the row of weights that a key means; ``NO_ROW`` where its feature has none yet."""
    row = key - 1 >> TAG_BITS
    if row < n_tags + EDGES:
        return row
    return np.int64(places.rows[row - n_tags - EDGES])


@inlined
def own_row(key: int, n_tags: int, places: Places) -> Any:
    """Return the row of weights that a key means; its feature gets one where it has none."""
    row = row_of(key, n_tags, places)
    if row == NO_ROW:
        row = places.n_rows[0]
        places.rows[(key - 1 >> TAG_BITS) - n_tags - EDGES] = row
        places.n_rows[0] += 1
    return row


@inlined
def n_wrong(n: int, room: Lattice) -> int:
    """Return how many tokens have another tag by the path than by the true one."""
    wrong = 0
    for t in range(n):
        wrong += room.path[t] != room.truth[t]
    return wrong


@compiled
def sentence_scores(rows: Sentences, w: NDArray[Any], i: int, room: Changed[Lattice]) -> None:
    """Write what each tag of each token of a sentence scores."""
    write_scores(rows, i, w, room)


@compiled
def tag_rows(
    rows: Sentences,
    order: NDArray[Any],
    w: NDArray[Any],
    forced: NDArray[Any],  # numbers of sets of tags that tokens must have, −1: any; empty: none
    room: Changed[Lattice],
    tags: Changed[NDArray[Any]],  # of all tokens
) -> None:
    """Write the best path through each sentence of the order."""
    write_steps(w, rows.barred, room.steps)
    for t in range(len(order)):
        i = order[t]
        first, n = rows.bounds[i], rows.bounds[i + 1] - rows.bounds[i]
        if n > 0:
            write_scores(rows, i, w, room)
            path = tags[first : first + n]
            sets = rows.sets
            allowed_path(n, room.emissions, room.steps, w, forced, first, sets, room.best, path)
