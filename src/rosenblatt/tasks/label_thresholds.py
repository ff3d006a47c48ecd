"""From which score on a label is predicted, where a row may have several."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = "thresholds"  # the name of the array in a model
PRIOR = 50  # labels of all kinds that join those of one where its threshold is chosen
EXACT = 2.0  # the weight of exact rows, where micro F1 has 1
SWEEPS = 4  # rounds over all labels; each label's best threshold depends on those of the others
STARTS = 8  # every so many of the marks are tried as one threshold for all labels


def predicted_labels(
    scores: NDArray[Any], thresholds: NDArray[Any], *, positive: bool
) -> NDArray[np.bool_]:
    """Return which row has which label: where its score is above the threshold of the label.

    The last threshold is for rows where no label is above its own: the label of the highest score
    is predicted where that is above it.
    """
    passes = np.greater_equal if positive else np.greater
    given: NDArray[np.bool_] = passes(scores, thresholds[:-1])
    empty = np.flatnonzero(~given.any(axis=1))
    best = scores[empty].argmax(axis=1)
    given[empty, best] = passes(scores[empty, best], thresholds[-1])
    return given


def fitted_thresholds(scores: NDArray[Any], truth: NDArray[Any]) -> NDArray[np.float64]:
    """Return thresholds for ``predicted_labels`` by which labels are predicted best on these rows.

    Best is the highest sum of micro F1 and twice the share of rows with exactly their labels: F1
    alone would predict far more labels than rows have, exact rows alone hardly any rare label. All
    labels begin with the threshold that is best for all, then each takes its own best, given the
    others. Of equals it is the one nearest to 0. A label that few rows have would take its
    threshold from chance: the gains of all labels, worth ``PRIOR`` rows that have it, are added to
    its own.
    """
    marks = _marks(scores, truth)
    places = np.argsort(scores, axis=0)
    in_order = np.take_along_axis(scores, places, axis=0)
    below = np.stack([column.searchsorted(marks, "right") for column in in_order.T], axis=1)
    common = (np.append(np.full(truth.shape[1], mark), np.inf) for mark in marks[::STARTS])
    best, thresholds = max(
        ((_worth(predicted_labels(scores, one, positive=False), truth), one) for one in common),
        key=lambda pair: pair[0],
    )
    tried = thresholds
    for _ in range(SWEEPS):
        tried = np.append(tried[:-1], _least_best(scores, truth, tried[:-1]))
        gains = np.take_along_axis(_gains(scores, truth, tried), places, axis=0)
        sums = np.vstack([np.zeros(truth.shape[1]), gains.cumsum(axis=0)])
        gained = sums[-1] - np.take_along_axis(sums, below, axis=0)  # by each mark and label
        usual = PRIOR / max(int(truth.sum()), 1) * gained.sum(axis=1, keepdims=True)
        tried = np.append(marks[(gained + usual).argmax(axis=0)], tried[-1])
        worth = _worth(predicted_labels(scores, tried, positive=False), truth)
        if worth > best:
            best, thresholds = worth, tried
    return thresholds


def _marks(scores: NDArray[Any], truth: NDArray[Any]) -> NDArray[np.float64]:
    """Return thresholds to try: between labels that are there and the highest that are not."""
    there = scores[truth]
    others = np.sort(scores[~truth])[-max(len(there), 1) :]
    steps = np.linspace(0.0, 1.0, 101)
    ends = [np.quantile(part, steps) for part in (there, others) if len(part)]
    marks = np.unique(np.concatenate(ends))
    all_of_them, none = np.nextafter(marks[0], -np.inf), marks[-1]
    between = np.array([0.0, *(marks[1:] + marks[:-1]) / 2.0, all_of_them, none])
    return between[np.argsort(np.abs(between), kind="stable")]


def _worth(given: NDArray[np.bool_], truth: NDArray[Any]) -> float:
    """Return the sum of micro F1 and twice the share of rows that are exactly right."""
    micro = 2.0 * (given & truth).sum() / max(int(given.sum() + truth.sum()), 1)
    return float(micro + EXACT * (given == truth).all(axis=1).mean())


def _gains(
    scores: NDArray[Any], truth: NDArray[Any], thresholds: NDArray[Any]
) -> NDArray[np.float64]:
    """Return by how much predicting each label on each row raises the sum, to first order."""
    own = scores > thresholds[:-1]
    by_f1 = _f1_gains(predicted_labels(scores, thresholds, positive=False), truth)
    wrong = own != truth
    others_right = wrong.sum(axis=1, keepdims=True) == wrong
    exact = np.where(others_right, np.where(truth, 1.0, -1.0), 0.0)
    # Where no other label is predicted, the best one is, in place of none
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    alone = own.sum(axis=1, keepdims=True) == own
    alone &= (scores[rows, best] > thresholds[-1])[:, None]
    right = truth & (truth.sum(axis=1, keepdims=True) == 1)
    exact -= np.where(alone, exact - right + right[rows, best][:, None], 0.0)
    by_exact = EXACT / len(scores) * exact
    gains: NDArray[np.float64] = by_f1 - alone * by_f1[rows, best][:, None] + by_exact
    return gains


def _f1_gains(given: NDArray[np.bool_], truth: NDArray[Any]) -> NDArray[np.float64]:
    """Return by how much predicting each label on each row raises micro F1, to first order."""
    total = max(int(given.sum() + truth.sum()), 1)
    found: NDArray[np.float64] = (2.0 * truth - 2.0 * (given & truth).sum() / total) / total
    return found


def _least_best(scores: NDArray[Any], truth: NDArray[Any], thresholds: NDArray[Any]) -> float:
    """Return the fallback threshold: that of the best label, for rows where none is above its own.

    It is infinite where that never helps, and minus infinity where it helps on all.
    """
    own = scores > thresholds
    rows = np.flatnonzero(~own.any(axis=1))
    if not len(rows):
        return float("inf")
    best = scores[rows].argmax(axis=1)
    n_labels = truth[rows].sum(axis=1)
    exact = (truth[rows, best] & (n_labels == 1)).astype(float) - (n_labels == 0)
    gains = _f1_gains(own, truth)[rows, best] + EXACT / len(scores) * exact
    highest = scores[rows, best]
    order = np.argsort(-highest, kind="stable")
    sums = np.append(0.0, gains[order].cumsum())
    ends = np.append(highest[order], -np.inf)
    last = int(sums.argmax())
    return float("inf") if last == 0 else float((ends[last - 1] + ends[last]) / 2.0)


def unfitted(n_labels: int) -> NDArray[np.float64]:
    """Return the thresholds of labels where none were fitted; see ``predicted_labels``."""
    return np.append(np.zeros(n_labels), np.inf)


def thresholds_of(arrays: Mapping[str, NDArray[Any]], n_labels: int) -> NDArray[Any]:
    """Return the thresholds among the arrays of a model, fitted or not."""
    found = arrays.get(THRESHOLDS)
    return unfitted(n_labels) if found is None else found


def thresholds_among(
    arrays: Mapping[str, NDArray[Any]], places: NDArray[Any], n_labels: int
) -> dict[str, NDArray[Any]]:
    """Return the thresholds that were fitted, at the places of their labels; of others 0."""
    if THRESHOLDS not in arrays:
        return {}
    *own, of_best = arrays[THRESHOLDS]
    found = np.append(np.zeros(n_labels), of_best)
    found[places] = own
    return {THRESHOLDS: found}
