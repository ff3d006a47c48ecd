"""Reproducible shuffling: the same on every platform and in every release of NumPy.

NumPy promises that its bit generators keep their streams, but not that ``Generator.permutation``
keeps its own; so the shuffle is ours and the words are NumPy's.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled


@compiled
def shuffle(order: Changed[NDArray[Any]], words: NDArray[Any], start: int) -> None:
    """Change order by the Fisher–Yates exchanges for positions start, start − 1, … (one a word).

    The upper 32 bits of a word times (position + 1) give the partner without a division. The bias
    is below (position + 1)/2³², which cannot be measured on fewer than 2³² rows.
    """
    for t in range(len(words)):
        here = start - t
        there = ((words[t] >> np.uint64(32)) * np.uint64(here + 1)) >> np.uint64(32)
        kept = order[here]
        order[here] = order[there]
        order[there] = kept


@compiled
def write_groups(
    rows: NDArray[Any], first: NDArray[Any], size: int, order: Changed[NDArray[Any]]
) -> None:
    """Write groups of neighbouring rows to order, by the places of their first ones."""
    n = 0
    for group in range(len(first)):
        for place in range(first[group], min(first[group] + size, len(rows))):
            order[n] = rows[place]
            n += 1


def random_words(key: int, first: int, length: int) -> NDArray[Any]:
    """Return a random word for each of successive rows, by its number and the key alone.

    So a stream draws the same in calls of any length, and in every pass. The number is mixed by the
    finalizer of SplitMix64 (Steele, Lea & Flood 2014).
    """
    word = np.arange(first, first + length, dtype=np.uint64)
    word = (word + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(word ^ (word >> np.uint64(31)))
