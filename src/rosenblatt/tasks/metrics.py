"""Measures of predictions and probabilities, curves over the scores, and the best threshold."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt import parameters
from rosenblatt.errors import InputError
from rosenblatt.parameters import COUNTED
from rosenblatt.tasks.calibration import fit_calibration, probabilities

N_BINS = 10  # of probabilities
Counts = NDArray[Any]  # of rows, (…, true class, predicted class)


def error(counts: Counts) -> NDArray[Any]:
    """Return the share of rows predicted wrongly."""
    right = np.trace(counts, axis1=-2, axis2=-1)
    return np.asarray(1.0 - right / np.maximum(counts.sum(axis=(-2, -1)), 1))


def mean_f1(counts: Counts) -> NDArray[Any]:
    """Return the mean of the F1 of the classes that occur or are predicted."""
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    both = counts.sum(axis=-1) + counts.sum(axis=-2)
    return _mean_where(2 * right, both)


def balanced_accuracy(counts: Counts) -> NDArray[Any]:
    """Return the mean of the recall of the classes that occur."""
    return _mean_where(np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-1))


def roc_auc(scores: ArrayLike, positive: ArrayLike) -> float | None:
    """Return the chance that a positive row scores above a negative one, ties half; exact.

    >>> roc_auc([0.1, 0.4, 0.35, 0.8], [False, False, True, True])
    0.75
    """
    values, given = np.asarray(scores, np.float64), np.asarray(positive, bool)
    low, high = np.sort(values[~given]), values[given]
    if not len(low) or not len(high):
        return None
    below = np.searchsorted(low, high, "left").sum() + np.searchsorted(low, high, "right").sum()
    return int(below) / (2 * len(low) * len(high))


class PrecisionRecallCurve(NamedTuple):
    """One point for each score that occurs, from the highest to the lowest."""

    precision: NDArray[Any]  # share of the rows of at least this score that are positive
    recall: NDArray[Any]  # share of the positive rows that have at least this score
    threshold: NDArray[Any]  # the score

    @property
    def average_precision(self) -> float:
        """The mean of the precision over the recall: Σ (Rₖ − Rₖ₋₁)·Pₖ."""
        return float((np.diff(self.recall, prepend=0.0) * self.precision).sum())

    def thinned(self, parts: int = 100) -> "PrecisionRecallCurve":
        """Return the points where the recall first reaches 1/parts, 2/parts … of the rows."""
        return PrecisionRecallCurve(*_thinned(self, self.recall, parts))


def precision_recall_curve(scores: ArrayLike, positive: ArrayLike) -> PrecisionRecallCurve | None:
    """Return precision and recall where the rows from a score on are called positive.

    Rows of the same score enter together. None where no row is positive.

    >>> curve = precision_recall_curve([0.1, 0.4, 0.35, 0.8], [False, False, True, True])
    >>> curve.recall.tolist(), f"{curve.average_precision:.3f}"
    ([0.5, 0.5, 1.0, 1.0], '0.833')
    """
    levels, called, right = _from_the_top(scores, positive)
    if not len(right) or not right[-1]:
        return None
    return PrecisionRecallCurve(right / called, right / right[-1], levels)


def _from_the_top(scores: ArrayLike, marked: ArrayLike) -> tuple[NDArray[Any], ...]:
    """Return the scores that occur, highest first, the rows from each on, and the marked ones."""
    levels, where = np.unique(-np.asarray(scores, np.float64), return_inverse=True)
    rows = np.cumsum(np.bincount(where, minlength=len(levels)))
    return -levels, rows, np.cumsum(np.bincount(where, np.asarray(marked, float), len(levels)))


def _thinned(
    curve: Iterable[NDArray[Any]], shares: NDArray[Any], parts: int
) -> Iterator[NDArray[Any]]:
    places = np.unique(np.searchsorted(shares, np.arange(1, parts + 1) / parts))
    return (column[places[places < len(shares)]] for column in curve)


class Metric(NamedTuple):
    """A measure of predictions; the counts of right and wrong ones decide, or the scores."""

    title: str
    of_counts: Callable[[Counts], NDArray[Any]] | None = None
    greater_is_better: bool = True

    @property
    def sign(self) -> int:
        """1 where greater values are better, else −1."""
        return 1 if self.greater_is_better else -1

    def best(self, values: ArrayLike) -> int:
        """Return the place of the best value, the first of equal ones."""
        return int(np.argmax(self.sign * np.asarray(values)))


OF_COUNTS = dict(zip(COUNTED, (error, mean_f1, balanced_accuracy), strict=True))
METRICS = {
    name: Metric(title, OF_COUNTS.get(name), name not in ("error", "log-loss"))
    for name, title in parameters.METRICS.items()
}


def measured(
    metric: str, scores: NDArray[Any], numbers: NDArray[Any], guess: NDArray[Any]
) -> float:
    """Return a metric of the scores, the classes and the predicted classes of some rows.

    The area under the ROC curve of more than two classes is the mean of each against the others.
    The log-loss is that of probabilities fitted to one half of the rows and tried on the other.
    """
    n_classes = 2 if scores.ndim == 1 else scores.shape[1]
    of_counts = METRICS[metric].of_counts
    if of_counts is not None:
        counts = np.bincount(numbers * n_classes + guess, minlength=n_classes * n_classes)
        return float(of_counts(counts.reshape(n_classes, n_classes)))
    if metric == "log-loss":
        return _cross_fitted_log_loss(scores, numbers)
    sides = [scores] if scores.ndim == 1 else list(scores.T)
    areas = [roc_auc(side, numbers == k) for k, side in enumerate(sides, scores.ndim == 1)]
    found = [area for area in areas if area is not None]
    return sum(found) / len(found) if found else 0.5


def log_loss(shares: NDArray[Any], numbers: NDArray[Any]) -> float:
    """Return the mean of −ln p of the class that each row has, of probabilities (n, K).

    >>> f"{log_loss(np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([0, 1])):.4f}"
    '0.3993'
    """
    chosen = shares[np.arange(len(numbers)), numbers]
    return float(-np.log(np.maximum(chosen, np.finfo(float).tiny)).mean())


def _cross_fitted_log_loss(scores: NDArray[Any], numbers: NDArray[Any]) -> float:
    halves = [np.arange(first, len(numbers), 2) for first in (0, 1)]
    total = 0.0
    for fitted, tried in (halves, halves[::-1]):
        try:
            calibration = fit_calibration(scores[fitted], numbers[fitted])
        except InputError:  # rows of one class: nothing to fit
            return math.inf
        total += log_loss(probabilities(calibration, scores[tried]), numbers[tried]) * len(tried)
    return total / len(numbers)


class Threshold(NamedTuple):
    """From where on a score means the second class, and what that is worth on held-out rows."""

    metric: str
    value: float
    score: float  # the metric at this threshold
    score_at_zero: float
    error: float


def best_threshold(scores: NDArray[Any], numbers: NDArray[Any], metric: str) -> Threshold:
    """Return the threshold between scores of two classes that is best by a metric.

    A row is of the second class where its score is above the threshold. It lies halfway between
    two scores that occur; of equally good ones, the one nearest to zero.

    >>> best_threshold(np.array([-2.0, -1.0, -0.5, 3.0]), np.array([0, 0, 1, 1]), "error")
    Threshold(metric='error', value=-0.75, score=0.0, score_at_zero=0.25, error=0.0)
    """
    measure = METRICS[metric]
    if measure.of_counts is None:
        raise InputError(f"A threshold is chosen by {', '.join(COUNTED)}; got {metric!r}.")
    levels, where = np.unique(np.asarray(scores, np.float64), return_inverse=True)
    between = np.minimum((levels[:-1] + levels[1:]) / 2, np.nextafter(levels[1:], -np.inf))
    cuts = np.append(between, 0.0)
    order = np.argsort(np.abs(cuts), kind="stable")
    below = [np.append(0, np.cumsum(np.bincount(where[numbers == k], minlength=len(levels))))
             for k in (0, 1)]  # rows of the class that score less than each level  # fmt: skip
    n_low = np.stack([counts[np.searchsorted(levels, cuts, "right")] for counts in below], axis=-1)
    n_rows = np.array([np.count_nonzero(numbers == k) for k in (0, 1)])
    counts = np.stack([n_low, n_rows - n_low], axis=-1)
    values = measure.of_counts(counts)
    best = int(order[measure.best(values[order])])
    if not measure.sign * (values[best] - values[-1]) > 0:
        best = len(cuts) - 1
    figures = values[best], values[-1], error(counts)[best]
    return Threshold(metric, float(cuts[best]), *map(float, figures))


def _mean_where(parts: NDArray[Any], wholes: NDArray[Any]) -> NDArray[Any]:
    """Return the mean over the last axis of the shares that are not 0/0."""
    given = wholes > 0
    shares = np.where(given, parts / np.maximum(wholes, 1), 0.0)
    return np.asarray(shares.sum(axis=-1) / np.maximum(given.sum(axis=-1), 1))


class CoverageCurve(NamedTuple):
    """One point for each margin that occurs, from the rows that are surest to all of them."""

    coverage: NDArray[Any]  # share of the rows that are answered: those of at least this margin
    error: NDArray[Any]  # share of those that are answered wrongly
    threshold: NDArray[Any]  # the margin

    def error_at(self, coverage: float) -> float:
        """Return the error where at least this share of the rows is answered."""
        return float(self.error[int(np.searchsorted(self.coverage, coverage - 1e-12))])

    def thinned(self, parts: int = 100) -> "CoverageCurve":
        """Return the points where the coverage first reaches 1/parts, 2/parts … of the rows."""
        return CoverageCurve(*_thinned(self, self.coverage, parts))


def coverage_curve(margin: ArrayLike, wrong: ArrayLike) -> CoverageCurve:
    """Return how the error falls as more rows, those of the lowest margin first, are abstained on.

    Rows of the same margin enter together, so that their order does not matter.

    >>> curve = coverage_curve([0.9, 0.1, 0.5, 0.1], [False, True, False, False])
    >>> curve.coverage, curve.error, curve.threshold
    (array([0.25, 0.5 , 1.  ]), array([0.  , 0.  , 0.25]), array([0.9, 0.5, 0.1]))
    """
    levels, answered, errors = _from_the_top(margin, wrong)
    n_rows = max(answered[-1:].sum(), 1)
    return CoverageCurve(answered / n_rows, errors / np.maximum(answered, 1), levels)


class ReliabilityBin(NamedTuple):
    """Rows of about the same probability."""

    low: float  # probabilities from here
    high: float  # to here
    probability: float  # their mean
    share: float  # of the rows that are of the class
    n_rows: int


class Reliability:
    """Judges probabilities batch by batch, in memory for the bins alone.

    Of two classes the bins are those of the probability of the second one, of more classes those of
    the most probable one. The Brier score is the mean of (p − y)², with y 1 for rows of the second
    class and else 0; of more classes it is the sum over all of them (Brier 1950).

    >>> reliability = Reliability(2)
    >>> reliability.add(np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]]), np.array([0, 1, 0]))
    >>> f"{reliability.brier_score:.4f} {reliability.log_loss:.4f}"
    '0.2300 0.6460'
    >>> [(f"{one.probability:.1f}", one.share, one.n_rows) for one in reliability.bins]
    [('0.2', 0.0, 1), ('0.6', 1.0, 1), ('0.7', 0.0, 1)]
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self._square = self._log = 0.0
        self._bins = np.zeros((3, N_BINS))  # rows, probabilities, rows of the class

    def add(self, shares: NDArray[Any], numbers: NDArray[Any]) -> None:
        """Count rows with these probabilities, (n, K); those of no known class are left out."""
        known = (numbers >= 0) & (numbers < self.n_classes)
        p, y = shares[known], numbers[known]
        own = p[np.arange(len(y)), y]
        if self.n_classes == 2:
            judged, came = p[:, 1], y == 1
            self._square += float(((1.0 - own) ** 2).sum())
        else:
            guess = p.argmax(axis=1)
            judged, came = p[np.arange(len(y)), guess], guess == y
            self._square += float((p**2).sum() - 2.0 * own.sum() + len(y))
        self._log -= float(np.log(np.maximum(own, np.finfo(float).tiny)).sum())
        place = np.minimum((judged * N_BINS).astype(np.intp), N_BINS - 1)
        self._bins += [np.bincount(place, amounts, N_BINS) for amounts in (None, judged, came)]

    @property
    def n_rows(self) -> int:
        """Rows that were judged."""
        return int(self._bins[0].sum())

    @property
    def brier_score(self) -> float:
        """The mean squared error of the probabilities; 0 is perfect, NaN without rows."""
        return self._mean(self._square)

    @property
    def log_loss(self) -> float:
        """The mean of −ln p of the class that a row has; 0 is perfect, NaN without rows."""
        return self._mean(self._log)

    @property
    def bins(self) -> list[ReliabilityBin]:
        """The bins that have rows, from low to high probabilities."""
        return [
            ReliabilityBin(k / N_BINS, (k + 1) / N_BINS, promised / n, came / n, int(n))
            for k, (n, promised, came) in enumerate(self._bins.T.tolist())
            if n
        ]

    @property
    def calibration_error(self) -> float:
        """The mean distance of promised and true shares, over the rows."""
        return self._mean(sum(abs(one.probability - one.share) * one.n_rows for one in self.bins))

    def _mean(self, total: float) -> float:
        return total / self.n_rows if self.n_rows else math.nan

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        return {
            "brier_score": self.brier_score,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            "bins": [one._asdict() for one in self.bins],
        }
