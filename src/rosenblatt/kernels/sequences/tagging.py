"""Answers by a lattice of scores: the best path, the n best, and sums over words that come again.

The score of a token is a sum over templates. Templates that look at one word give every token of
that word the same, so their sums are made once for each word and place of it, and a token adds a
few rows in place of looking for twenty features. Both kinds of sum are in this order: group after
group of templates that look at the same place, then the combinations.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.sequences.paths import END, START, allowed_path
from rosenblatt.kernels.sequences.words import (
    Combinations,
    combination_key,
    place_of,
    word_at,
)


class Groups(NamedTuple):
    """Templates of one word that look at the same place, with the sums of their weights."""

    offsets: NDArray[np.int64]  # of the word from the token
    columns: NDArray[np.int64]  # of the word
    sums: NDArray[np.float64]  # (groups, words, K)


@compiled
def write_sums(
    rows: NDArray[np.int32],  # (words, templates) of weights; −1: none
    first: int,  # word that has no sum yet
    last: int,
    bounds: NDArray[np.int64],  # of the templates of each group
    w: NDArray[Any],
    sums: Changed[NDArray[Any]],
) -> None:
    """Write for each word the sum of the weights of each group of templates."""
    for g in range(len(bounds) - 1):
        for v in range(first, last):
            for k in range(w.shape[1]):
                sums[g, v, k] = 0.0
            for f in range(bounds[g], bounds[g + 1]):
                row = rows[v, f]
                if row >= 0:
                    for k in range(w.shape[1]):
                        sums[g, v, k] += w[row, k]


@inlined
def add_groups(
    words: NDArray[Any], t: int, first: int, last: int, groups: Groups, scores: NDArray[Any]
) -> None:
    """Write the sums of all groups for token t of the sentence from ``first`` to ``last``."""
    here = t - first
    for k in range(scores.shape[1]):
        scores[here, k] = 0.0
    for g in range(len(groups.offsets)):
        v = word_at(words, groups.columns[g], t + groups.offsets[g], first, last)
        for k in range(scores.shape[1]):
            scores[here, k] += groups.sums[g, v, k]


@compiled
def token_scores(
    words: NDArray[Any],  # (columns, tokens), the word of each
    bounds: NDArray[np.int64],
    i: int,  # the sentence
    groups: Groups,
    combinations: Combinations,
    functions: NDArray[np.uint64],  # (words, functions)
    slots: NDArray[np.uint64],  # the rows of weights by the hash of their features
    w: NDArray[Any],
    scores: Changed[NDArray[Any]],
) -> None:
    """Write what each tag of each token of a sentence scores."""
    first, last = bounds[i], bounds[i + 1]
    for t in range(first, last):
        add_groups(words, t, first, last, groups, scores)
        for f in range(len(combinations.seeds)):
            key = combination_key(words, t, first, last, f, combinations, functions)
            row = place_of(key, slots)
            if row >= 0:
                for k in range(scores.shape[1]):
                    scores[t - first, k] += w[row, k]


class Answers(NamedTuple):
    """What is known of the tags that are looked for, and room for them."""

    forced: NDArray[np.int32]  # numbers of sets of tags that tokens must have; see ``Sentences``
    sets: NDArray[np.bool_]
    steps: NDArray[np.float64]  # −inf: impossible
    emissions: NDArray[np.float64]  # room for the longest sentence
    best: NDArray[np.float64]
    tags: NDArray[np.int32]  # of all tokens


@compiled
def tag_sentences(
    words: NDArray[Any],
    bounds: NDArray[np.int64],
    groups: Groups,
    combinations: Combinations,
    functions: NDArray[np.uint64],
    slots: NDArray[np.uint64],
    w: NDArray[Any],
    room: Changed[Answers],
) -> None:
    """Write the best path through each sentence."""
    for i in range(len(bounds) - 1):
        first, n = bounds[i], bounds[i + 1] - bounds[i]
        if n == 0:
            continue
        token_scores(words, bounds, i, groups, combinations, functions, slots, w, room.emissions)
        path = room.tags[first : first + n]
        forced, sets = room.forced, room.sets
        allowed_path(n, room.emissions, room.steps, w, forced, first, sets, room.best, path)


class Ranks(NamedTuple):
    """Room for the n best paths of a sentence."""

    best: NDArray[np.float64]  # (tokens, K, n), the scores of the best paths to a tag
    tags: NDArray[np.int32]  # (tokens, K, n), the tag before
    ranks: NDArray[np.int32]  # (tokens, K, n), which of the paths to that tag
    taken: NDArray[np.int64]  # (K,)


@inlined
def next_best(before: NDArray[Any], steps: NDArray[Any], k: int, taken: NDArray[Any]) -> Any:
    """Return the tag before the best path to k that is not taken, and the path's score."""
    tag, top = -1, -np.inf
    for j in range(before.shape[0]):
        if taken[j] < before.shape[1]:
            score = before[j, taken[j]] + steps[j, k]
            if score > top:
                tag, top = j, score
    return tag, top


@inlined
def write_path(n: int, last: int, rank: int, room: Ranks, paths: NDArray[Any], place: int) -> None:
    """Write the path of this rank among those that end in a tag."""
    for t in range(n - 1, -1, -1):
        paths[place, t] = last
        if t:
            last, rank = room.tags[t, last, rank], room.ranks[t, last, rank]


@compiled
def best_paths(
    n: int,
    scores: NDArray[Any],
    steps: NDArray[Any],
    room: Changed[Ranks],
    paths: Changed[NDArray[Any]],  # (most, tokens)
    totals: Changed[NDArray[Any]],  # (most,)
) -> int:
    """Write the best paths, the best first, and their scores; return how many there are."""
    n_tags, most = scores.shape[1], len(totals)
    for k in range(n_tags):
        for r in range(most):
            room.best[0, k, r] = -np.inf
        room.best[0, k, 0] = steps[n_tags + START, k] + scores[0, k]
    for t in range(1, n):
        for k in range(n_tags):
            room.taken[:] = 0
            for r in range(most):
                tag, top = next_best(room.best[t - 1], steps, k, room.taken)
                room.best[t, k, r] = top if tag < 0 else top + scores[t, k]
                if tag >= 0:
                    room.tags[t, k, r], room.ranks[t, k, r] = tag, room.taken[tag]
                    room.taken[tag] += 1
    room.taken[:] = 0
    for r in range(most):
        last, top = -1, -np.inf
        for j in range(n_tags):
            if room.taken[j] < most:
                score = room.best[n - 1, j, room.taken[j]] + steps[n_tags + END, j]
                if score > top:
                    last, top = j, score
        if last < 0:
            return r
        totals[r] = top
        rank = room.taken[last]
        room.taken[last] += 1
        write_path(n, last, rank, room, paths, r)
    return most
