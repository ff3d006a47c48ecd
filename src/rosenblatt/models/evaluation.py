"""How good predictions are: counted batch by batch, so that a file of any size can be judged."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.errors import Parameter, Sentence
from rosenblatt.models.metrics import (
    CoverageCurve,
    PrecisionRecallCurve,
    Reliability,
    balanced_accuracy,
    coverage_curve,
    precision_recall_curve,
    roc_auc,
)
from rosenblatt.models.model import Model, Scorer
from rosenblatt.training.examples import winner_leads
from rosenblatt.wording import word_list

Z_95 = 1.959963984540054  # a normal variable is within ±z with probability 95 %
MOST_UNKNOWN = 100  # labels that get a row of their own although the model does not know them
LEAST_NEGLECTED, SHARE_NEGLECTED = 10, 0.02  # rows of a class, of which none is found
EXACT_PAIRS = 1000  # up to here the p-value of McNemar's test is the exact one


class ClassReport(NamedTuple):
    """How well one class is recognised; None is 0/0: nothing to judge by."""

    label: Any
    precision: float | None  # share of the rows predicted as this class that are of it
    recall: float | None  # share of the rows of this class that are predicted as it
    f1: float | None  # harmonic mean of both
    support: int  # rows of this class
    predicted: int


class Evaluation:
    """Judges predicted class numbers by the true ones.

    The rows of ``confusion`` are true classes, its columns predicted ones. Below the classes that
    the model knows stand labels that it does not; from the 101st on they share the last row.

    >>> evaluation = Evaluation(("ham", "spam"))
    >>> evaluation.add([0, 1, 1, -1], [0, 1, 0, 1], scores=[-2.0, 1.5, -0.5, 3.0])
    >>> evaluation.n_rows, evaluation.n_unlabelled, evaluation.n_wrong
    (3, 1, 1)
    >>> evaluation.confusion
    array([[1, 0],
           [1, 1]])
    >>> evaluation.roc_auc
    1.0
    """

    def __init__(self, classes: Sequence[Any]) -> None:
        self.classes = tuple(classes)
        self.labels = self.classes  # those of the rows of the confusion matrix
        self.confusion = np.zeros((len(self.classes), len(self.classes)), np.int64)
        self.n_unlabelled = 0
        self._sure: list[tuple[NDArray[Any], ...]] = []  # margins, and whether it was wrong
        self._scores: tuple[list[NDArray[Any]], list[NDArray[Any]]] = ([], [])
        self.reliability: Reliability | None = None  # of probabilities, where there are any
        self.remarks: list[str] = []  # sentences on what makes the figures misleading

    def add(
        self,
        labels: NDArray[Any] | Sequence[int],
        predicted: NDArray[Any] | Sequence[int],
        scores: NDArray[Any] | Sequence[float] | None = None,
        classes: Sequence[Any] | None = None,
        margins: NDArray[Any] | None = None,
    ) -> None:
        """Count a batch.

        ``classes`` names the class numbers of ``labels``, those of the model first; −1 is a row
        without a label. ``scores`` (n,) are for the ROC curve, ``margins`` for the coverage curve.
        """
        truth, guess = np.asarray(labels), np.asarray(predicted)
        given = truth >= 0
        self.n_unlabelled += len(truth) - int(np.count_nonzero(given))
        K = len(self.classes)
        if classes is not None:
            most = K + MOST_UNKNOWN
            self.labels = (*classes[:most], *["(others)"] * (len(classes) > most))
        rows = np.minimum(truth[given].astype(np.int64), K + MOST_UNKNOWN)
        size = max(len(self.labels), int(rows.max(initial=0)) + 1)
        if size > len(self.confusion):
            more = np.zeros((size - len(self.confusion), K), np.int64)
            self.confusion = np.concatenate([self.confusion, more])
        counts = np.bincount(rows * K + guess[given], minlength=size * K)
        self.confusion[: len(counts) // K] += counts.reshape(-1, K)
        if margins is not None:
            wrong = truth[given] != guess[given]
            self._sure.append((np.asarray(margins, np.float64)[given], wrong))
        if scores is not None and K == 2:
            for number, kept in enumerate(self._scores):
                kept.append(np.asarray(scores, np.float64)[truth == number])

    @property
    def n_rows(self) -> int:
        """Rows that have a label."""
        return int(self.confusion.sum())

    @property
    def n_unknown(self) -> int:
        """Rows with a label that the model does not know."""
        return int(self.confusion[len(self.classes) :].sum())

    @property
    def n_wrong(self) -> int:
        """Rows predicted wrongly."""
        return self.n_rows - int(np.trace(self.confusion))

    @property
    def error(self) -> float | None:
        """Share of the rows predicted wrongly."""
        return ratio(self.n_wrong, self.n_rows)

    @property
    def accuracy(self) -> float | None:
        """Share of the rows predicted rightly."""
        return ratio(self.n_rows - self.n_wrong, self.n_rows)

    def baseline(self, counts: Sequence[int] | None = None) -> tuple[Any, float | None]:
        """Return the most frequent class, and the error of predicting it for every row.

        It is the most frequent one in training where the counts of its classes there are given.
        """
        support = self.confusion.sum(axis=1)
        frequency = counts or support[: len(self.classes)].tolist()
        guess = int(np.argmax(frequency))
        return self.classes[guess], ratio(self.n_rows - int(support[guess]), self.n_rows)

    @property
    def confusions(self) -> list[tuple[int, int, int]]:
        """Rows, number of the true class and of the predicted one, most frequent first."""
        found = [
            (n, true, guess)
            for true, counts in enumerate(self.confusion.tolist())
            for guess, n in enumerate(counts)
            if n and true != guess
        ]
        return sorted(found, key=lambda entry: (-entry[0], *entry[1:]))

    def leading_confusions(self, most: int) -> list[tuple[Any, Any, int, float]]:
        """Return the first: true and predicted label, rows, and their share of the true class."""
        support = self.confusion.sum(axis=1).tolist()
        return [
            (self.labels[true], self.classes[guess], n, n / support[true])
            for n, true, guess in self.confusions[:most]
        ]

    @property
    def by_class(self) -> list[ClassReport]:
        """How well each class is recognised, those that the model does not know last."""
        square = self._square
        counts = np.stack([np.diagonal(square), square.sum(axis=0), square.sum(axis=1)], axis=1)
        return [
            ClassReport(label, ratio(r, p), ratio(r, s), ratio(2 * r, p + s), s, p)
            for label, (r, p, s) in zip(self.labels, counts.tolist(), strict=True)
        ]

    @property
    def _square(self) -> NDArray[Any]:
        """The confusion matrix with a column for each row; labels unknown to it are no guess."""
        n_rows, n_columns = self.confusion.shape
        return np.pad(self.confusion, ((0, 0), (0, n_rows - n_columns)))

    @property
    def macro(self) -> dict[str, float | None]:
        """The means of precision, recall and F1 over the classes that have them."""
        means: dict[str, float | None] = {}
        for name in ("precision", "recall", "f1"):
            values = [getattr(report, name) for report in self.by_class]
            given = [value for value in values if value is not None]
            means[name] = math.fsum(given) / len(given) if given else None
        return means

    @property
    def roc_auc(self) -> float | None:
        """The chance that a row of the second of two classes scores above one of the first."""
        return roc_auc(*self.scores_for(1))

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of the recall of the classes that occur."""
        return float(balanced_accuracy(self._square)) if self.n_rows else None

    def precision_recall_curve(self, class_: int = 1) -> PrecisionRecallCurve | None:
        """Return precision and recall of one of two classes; None where no row is of it."""
        return precision_recall_curve(*self.scores_for(class_))

    @property
    def average_precision(self) -> list[float | None]:
        """The area under the precision-recall curve of each of two classes; else nothing."""
        curves = [self.precision_recall_curve(k) for k in (0, 1) if any(map(len, self._scores))]
        return [None if curve is None else curve.average_precision for curve in curves]

    def scores_for(self, class_: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the scores for one of two classes, and which rows are of it."""
        sides = [np.concatenate([np.empty(0), *kept]) for kept in self._scores]
        positive = np.arange(2).repeat([len(side) for side in sides]) == class_
        return np.concatenate(sides) * (1.0 if class_ else -1.0), positive

    @property
    def coverage_curve(self) -> CoverageCurve | None:
        """The error on the rows of a margin from a threshold on; None where no margins came."""
        if not self._sure:
            return None
        return coverage_curve(*(np.concatenate(side) for side in zip(*self._sure, strict=True)))

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold; curves in steps of one percent."""
        judged = self.reliability is not None and self.reliability.n_rows
        curve = self.coverage_curve
        recall_curve = self.precision_recall_curve()
        precision = self.average_precision or [None] * len(self.labels)
        by_class = [report._asdict() for report in self.by_class]
        for report, value in zip(by_class, precision, strict=False):
            report["average_precision"] = value
        return {
            "remarks": self.remarks,
            "rows": self.n_rows,
            "rows_without_label": self.n_unlabelled,
            "rows_of_unknown_classes": self.n_unknown,
            "wrong": self.n_wrong,
            "accuracy": self.accuracy,
            "error": self.error,
            "error_interval_95": wilson(self.n_wrong, self.n_rows),
            "roc_auc": self.roc_auc,
            "balanced_accuracy": self.balanced_accuracy,
            "average_precision": precision[1],
            "precision_recall_curve": _lists(recall_curve),
            "coverage_curve": _lists(curve),
            "probabilities": self.reliability.report() if judged and self.reliability else None,
            "macro": self.macro,
            "by_class": by_class,
            "confusion": {
                "labels": list(self.labels),
                "predicted": list(self.classes),
                "counts": self.confusion.tolist(),
            },
        }


def evaluation_of(
    model: Model,
    batches: Iterable[Batch],
    *watchers: Callable[[Batch, NDArray[Any], NDArray[Any]], object],
    told: Sequence[str] = (),
) -> Evaluation:
    """Judge a model by the rows of batches; watchers see each, its scores and its class numbers.

    ``told`` has, once all rows are read, sentences on what was unusual about them.
    """
    evaluation, scorer = Evaluation(model.classes), Scorer(model)
    if model.has_probabilities:
        evaluation.reliability = Reliability(len(model.classes))
    for batch in batches:
        scores = scorer.scores(batch)
        guess = scorer.numbers(scores)
        evaluation.add(batch.labels, guess, scores, batch.classes, winner_leads(scores))
        if evaluation.reliability is not None:
            evaluation.reliability.add(model.probabilities_of(scores), batch.labels)
        for watcher in watchers:
            watcher(batch, scores, guess)
    evaluation.remarks = [*told, *neglected(evaluation.confusion, model.classes, model.options)]
    return evaluation


def neglected(
    confusion: NDArray[Any], classes: Sequence[Any], options: Mapping[str, Any]
) -> list[str]:
    """Return a sentence on classes with many rows of which the model finds none."""
    support = confusion.sum(axis=1)[: len(classes)]
    least = max(LEAST_NEGLECTED, SHARE_NEGLECTED * int(confusion.sum()))
    missed = np.flatnonzero((support >= least) & (np.diagonal(confusion) == 0)).tolist()
    if not missed:
        return []
    rightly = " rightly" if confusion[:, missed].any() else ""
    shares = [f"{classes[k]} ({support[k] / confusion.sum():.2%} of the rows)" for k in missed]
    what = f"Never predicted{rightly}: {word_list(shares)}"
    ways = [Parameter("class_weight", "balanced")] * (not options.get("class_weight"))
    ways += [Parameter("threshold", "f1")] * (len(classes) == 2 and "kernel" not in options)
    if not ways:
        return [f"{what}."]
    advice = " or ".join(f"{way}" for way in reversed(ways))
    return [Sentence(f"{what}. To find such rows, train with {advice}.")]


def wilson(count: int, n: int, z: float = Z_95) -> tuple[float, float] | None:
    """Return the interval of a share, 95 % by default (Wilson 1927).

    >>> low, high = wilson(0, 100)
    >>> f"{low:.3f} {high:.3f}"
    '0.000 0.037'
    """
    if n == 0:
        return None
    share, room = count / n, z * z / n
    middle = (share + room / 2) / (1 + room)
    half = z / (1 + room) * math.sqrt(share * (1 - share) / n + room / (4 * n))
    return (0.0 if count == 0 else middle - half, 1.0 if count == n else middle + half)


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p-value of McNemar's test that two classifiers err equally often.

    The arguments count the rows that only the one or only the other gets wrong. Up to 1,000 such
    rows it is the exact binomial test, beyond the normal limit with its correction by one.

    >>> mcnemar(0, 6), mcnemar(5, 5)
    (0.03125, 1.0)
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    if n <= EXACT_PAIRS:
        tail = sum(math.comb(n, i) for i in range(fewer + 1))
        return float(min(1.0, 2 * tail / 2**n))
    z = max(abs(only_first - only_second) - 1, 0) / math.sqrt(n)
    return math.erfc(z / math.sqrt(2))


def _lists(curve: CoverageCurve | PrecisionRecallCurve | None) -> dict[str, list[float]] | None:
    if curve is None:
        return None
    return {name: column.tolist() for name, column in curve.thinned()._asdict().items()}


def ratio(part: int, whole: int) -> float | None:
    """Return a share; None where there is nothing to share."""
    return part / whole if whole else None
