"""Choose the pairs of columns that the mistakes of a first training ask for.

Rows that a training with bins gets wrong, or not right by a margin, may lean to one class in some
cells of a pair of columns and to another in others: the idea of FAST in Lou, Caruana, Gehrke &
Hooker, "Accurate intelligible models with pairwise interactions" (KDD 2013). Here the residuals are
the steps that a rule with a margin would still take.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.encoding.grids import Cells
from rosenblatt.errors import InputError, Parameter
from rosenblatt.models.learner import Learner
from rosenblatt.tasks.leads import leads_of, targets_of
from rosenblatt.training.examples import ArraySupply, Examples
from rosenblatt.training.state import fit_supply
from rosenblatt.wording import word_list

# The training whose mistakes choose
FIRST: dict[str, Any] = {"rule": "arow", "values": {"r": 100.0}, "memory": "average"}
PASSES = 5
MARGIN = 1.0  # rows with less would still be learned from
PRIOR_ROWS = 10.0  # by which the mean of a cell with few rows is drawn to 0
MOST_CLASSES = 8  # those with most residuals; others are one class together
MOST_LOOKUPS = 30_000_000  # rows times pairs: about a third of a second
FEWEST_ROWS = 2_000  # that are looked at, however many pairs there are
FEWEST_DEVIATIONS = 2.0
MOST_COLUMNS = 120  # that are paired with each other
MOST_NAMED = 12


class RankedPair(NamedTuple):
    """A pair of columns, what it gains, and by how many standard deviations that is no chance."""

    columns: tuple[int, int]  # places
    gain: float
    deviations: float


def ranked_pairs(
    cells: Mapping[int, Cells],
    codes: NDArray[Any],
    numbers: NDArray[Any],
    scores: NDArray[Any],
) -> list[RankedPair]:
    """Return all pairs of columns, those that rows ask for most first.

    Parameters
    ----------
    cells : mapping of places to cells
        Of the columns, on a coarse grid.
    codes : array of shape (n_columns, n_rows)
        The code of each column in each row.
    numbers : array of shape (n_rows,)
        The class of each row.
    scores : array of shape (n_rows,) or (n_rows, n_classes)
        By a first training, which knows the columns one by one.

    Rows with a margin below 1 are residuals: +1 for their class, −1 for its best rival. With R
    their sum in a cell, less what the two columns alone explain, n its rows and s² their mean
    square, a pair gains Σ (R² − n·s²)/(n + 10), which is 0 on average where cells differ by chance,
    with variance Σ 2·(n·s²/(n + 10))².
    """
    n_columns = min(len(cells), MOST_COLUMNS)
    n_looked_up = n_columns * (n_columns - 1) // 2 * len(numbers)
    step = max(min(-(-n_looked_up // MOST_LOOKUPS), len(numbers) // FEWEST_ROWS), 1)
    numbers, scores = numbers[::step], scores[::step]
    places, found, sizes = _leaning(cells, codes[:, ::step], numbers)
    order, residuals = _residuals(scores, numbers)
    found = found[:, order]
    pairs = [
        RankedPair((int(places[a]), int(places[a + 1 + k])), *figures)
        for a in range(len(places) - 1)
        for k, figures in enumerate(_gains(found[a:], sizes[a:], residuals).T.tolist())
    ]
    return sorted(pairs, key=lambda pair: -pair.gain)


def beyond_chance(pairs: Sequence[RankedPair]) -> list[RankedPair]:
    """Return the pairs whose gain is larger than the largest to be expected of as many of noise."""
    least = max(FEWEST_DEVIATIONS, math.sqrt(2.0 * math.log(max(len(pairs), 1))))
    return [pair for pair in pairs if pair.deviations > least]


def _leaning(
    cells: Mapping[int, Cells], codes: NDArray[Any], numbers: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return columns with several cells, of many those that lean most, their cells and sizes."""
    places, found, leaning = [], [], []
    n_classes, totals = int(numbers.max()) + 1, np.bincount(numbers)
    for place, own in cells.items():
        here = own.numbers[codes[place]]
        counts = np.bincount(here * n_classes + numbers, minlength=own.size * n_classes)
        counts = counts.reshape(own.size, n_classes)
        n_rows = counts.sum(axis=1)[:, None]
        n_cells = int(np.count_nonzero(n_rows))
        if n_cells > 1:
            expected = n_rows * totals / len(numbers)
            distance = np.square(counts - expected) / np.maximum(expected, 1e-9)
            places.append(place)
            found.append(here)
            leaning.append(float(distance.sum()) / (n_cells - 1))
    chosen = np.sort(np.argsort(-np.array(leaning), kind="stable")[:MOST_COLUMNS])
    sizes = np.array([cells[place].size for place in places], np.int64)
    together = np.reshape(np.array(found, np.int64), (-1, len(numbers)))
    return np.array(places, np.int64)[chosen], together[chosen], sizes[chosen]


class _Side(NamedTuple):
    """Rows, and the kind of residual that each adds to its cells or takes from them."""

    rows: slice
    kinds: NDArray[Any]  # classes; 0 where the second of two is told from the first


class _Residuals(NamedTuple):
    """What a first training leaves."""

    added: _Side
    taken: _Side
    squares: NDArray[Any]  # mean of the squares of each kind over all rows


def _residuals(scores: NDArray[Any], numbers: NDArray[Any]) -> tuple[NDArray[Any], _Residuals]:
    """Return the rows in an order in which those with residuals come first, and the residuals."""
    if scores.ndim == 1:
        short = np.where(numbers == 1, scores, -scores) < MARGIN
        order = np.argsort(np.where(short, 1 - numbers, 2), kind="stable")
        n_added, n = np.count_nonzero(short & (numbers == 1)), np.count_nonzero(short)
        none = np.zeros(n, np.int64)
        sides = _Side(slice(0, n_added), none[:n_added]), _Side(slice(n_added, n), none[n_added:])
    else:
        leads, rival = leads_of(scores.copy(), numbers)
        short = leads < MARGIN
        order, n = np.argsort(~short, kind="stable"), np.count_nonzero(short)
        pairs = np.stack([numbers, rival])[:, order[:n]]
        common = np.argsort(-np.bincount(pairs.ravel(), minlength=scores.shape[1]), kind="stable")
        kind = np.empty(len(common), np.int64)
        kind[common] = np.minimum(np.arange(len(common)), MOST_CLASSES - 1)
        sides = _Side(slice(0, n), kind[pairs[0]]), _Side(slice(0, n), kind[pairs[1]])
    squares = np.bincount(np.concatenate([side.kinds for side in sides]), minlength=1)
    return order, _Residuals(*sides, squares / len(numbers))


def _gains(codes: NDArray[Any], sizes: NDArray[Any], residuals: _Residuals) -> NDArray[np.float64]:
    """Return what the first of some columns gains with each of the others, and its deviations."""
    added, taken, squares = residuals
    size, n_kinds, starts = int(sizes[0]), len(squares), np.cumsum([0, *sizes[1:-1]])
    counts, differences = [], []
    for own, width in zip(codes[1:], sizes[1:].tolist(), strict=True):  # what stays in the cache
        keys = codes[0] * width + own
        counts.append(np.bincount(keys, minlength=size * width).reshape(size, width))
        more, less = (
            np.bincount(keys[side.rows] * n_kinds + side.kinds, minlength=size * width * n_kinds)
            for side in (added, taken)
        )
        differences.append((more - less).reshape(size, width, n_kinds))
    n, sums = np.concatenate(counts, axis=1), np.concatenate(differences, axis=1).astype(float)
    # What the first column, then each of the others, explains alone
    of_first = (
        np.add.reduceat(sums, starts, axis=1)
        / np.maximum(np.add.reduceat(n, starts, axis=1), 1)[..., None]
    )
    sums -= n[..., None] * np.repeat(of_first, sizes[1:], axis=1)
    sums -= n[..., None] * (sums.sum(axis=0) / np.maximum(n.sum(axis=0), 1)[:, None])
    noise = n[..., None] * squares
    gains = ((sums**2 - noise) / (n[..., None] + PRIOR_ROWS)).sum(axis=(0, 2))
    spread = 2.0 * np.square(noise / (n[..., None] + PRIOR_ROWS)).sum(axis=(0, 2))
    gain, variance = np.add.reduceat(gains, starts), np.add.reduceat(spread, starts)
    return np.stack([gain, gain / np.sqrt(np.maximum(variance, 1e-12))])


def first_scores(
    learner: Learner, rows: Batch, n_features: int, numbers: NDArray[Any], n_classes: int
) -> NDArray[Any]:
    """Return the scores of rows with bins by a short training on them."""
    first = replace(learner, early_stopping=False, record_mistakes=False, **FIRST)
    plan = replace(first.plan(), max_iter=PASSES, time_limit=None, shuffle=True)
    examples = Examples(rows.csr(n_features, first.constant), targets_of(numbers, n_classes))
    state = first.start(n_features, n_classes)
    generator = np.random.default_rng(first.random_state)
    fit_supply(state, ArraySupply(examples, plan.shuffle, generator), plan)
    return state.scores(examples.rows)


def named_pairs(encoding: TableEncoding, asked: str | Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of columns that are named as "A:B"; a name may have a colon."""
    able = [column for column in encoding.features if column.role in ("numeric", "category")]
    places = {column.title: column.place for column in able}
    pairs = []
    for text in [asked] if isinstance(asked, str) else asked:
        ends = [k for k, letter in enumerate(text) if letter == ":"]
        found = [(text[:k], text[k + 1 :]) for k in ends]
        known = [(a, b) for a, b in found if a in places and b in places and a != b]
        if not known:
            raise InputError(
                f"{Parameter('column_pairs', text)} must name two columns of numbers, categories or"
                f" dates, as A:B; there are {word_list(map(repr, places), MOST_NAMED)}."
            )
        pairs.append((places[known[0][0]], places[known[0][1]]))
    return pairs
