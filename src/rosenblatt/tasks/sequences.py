"""Paths of tags: a sentence is a row, and its answer has a tag for each token."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.sequences.paths import (
    EDGES,
    NO_ROW,
    Differences,
    Lattice,
    Places,
    Sentences,
)
from rosenblatt.rules import Rule

USUAL_COST = 1.0


def cost_of(rule: Rule) -> float:
    """Return what a wrong token costs: the margin that the rule wants of a row, or 1 at most.

    A rule without a margin, the perceptron, is told of no cost: its rival is the best path.
    """
    return rule.target if isfinite(rule.target) else USUAL_COST


def rows_for(n_features: int, n_tags: int) -> Places:
    """Return which rows of weights features have before the first step: none."""
    return Places(np.full(n_features, NO_ROW, np.int32), np.array([n_tags + EDGES]))


def room_for(rows: Sentences, n_tags: int) -> tuple[Lattice, Differences]:
    """Return room for the longest sentence: its lattice, and how two paths of it differ."""
    lengths, sizes = np.diff(rows.bounds), np.diff(rows.starts)
    longest = int(lengths.max(initial=1))
    features = rows.starts[rows.bounds]
    most = 2 * (int(np.diff(features).max(initial=0)) + longest + 1)  # keys of a difference
    return lattice_for(longest, n_tags, int(sizes.max(initial=1)), rows.values.dtype), Differences(
        np.zeros(1 << (2 * most).bit_length(), np.int64),
        np.empty(1 << (2 * most).bit_length()),
        np.empty(most, np.int64),
    )


def lattice_for(longest: int, n_tags: int, n_values: int, dtype: Any = bool) -> Lattice:
    """Return room for a sentence of so many tokens, with so many features a token."""
    rows, values = np.empty(n_values, np.int32), np.ones(n_values, dtype)
    scores, best = np.empty((2, longest, n_tags))
    truth, path = np.zeros((2, longest), np.int32)
    return Lattice(scores, best, np.zeros((n_tags + EDGES, n_tags)), rows, values, truth, path)


def no_bars(n_tags: int) -> NDArray[np.bool_]:
    """Return that every step from tag to tag is possible."""
    return np.zeros((n_tags + EDGES, n_tags), bool)
