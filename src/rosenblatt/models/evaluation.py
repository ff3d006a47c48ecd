"""How good predictions are: counted batch by batch, so that a file of any size can be judged.

A row has one class, or any number of labels.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import SetNumbers
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
from rosenblatt.training.examples import has_label, winner_leads
from rosenblatt.wording import word_list

Z_95 = 1.959963984540054  # a normal variable is within ±z with probability 95 %
MOST_UNKNOWN = 100  # labels that get a row of their own although the model does not know them
LEAST_NEGLECTED = 10  # rows of a class, of which none is found; of two classes any
EXACT_PAIRS = 1000  # up to here the p-value of McNemar's test is the exact one
PLACES = (1, 3, 5)  # of the ranking of labels, up to which precision is measured


class ClassReport(NamedTuple):
    """How well one class is recognised; None is 0/0: nothing to judge by."""

    label: Any
    precision: float | None  # share of the rows predicted as this class that are of it
    recall: float | None  # share of the rows of this class that are predicted as it
    f1: float | None  # harmonic mean of both
    support: int  # rows of this class
    predicted: int


class ClassCounts:
    """What can be said of predictions by what is counted of each class or label."""

    n_rows: int  # that are judged
    n_wrong: int

    def __init__(self, classes: Sequence[Any]) -> None:
        self.classes = tuple(classes)
        self.labels = self.classes  # and behind them those that the model does not know
        self.n_unlabelled = 0
        self.remarks: list[str] = []  # sentences on what makes the figures misleading

    @property
    def error(self) -> float | None:
        """Share of the rows predicted wrongly."""
        return ratio(self.n_wrong, self.n_rows)

    @abstractmethod
    def _counts(self) -> NDArray[Any]:
        """Return how many rows of each label are right, predicted and true, (3, n_labels)."""

    @property
    def by_class(self) -> list[ClassReport]:
        """How well each class is recognised, those that the model does not know last."""
        return [
            ClassReport(label, ratio(r, p), ratio(r, s), ratio(2 * r, p + s), s, p)
            for label, r, p, s in zip(self.labels, *self._counts().tolist(), strict=True)
        ]

    @property
    def macro(self) -> dict[str, float | None]:
        """The means of precision, recall and F1 over the classes that have them."""
        means: dict[str, float | None] = {}
        for name in ("precision", "recall", "f1"):
            values = [getattr(report, name) for report in self.by_class]
            given = [value for value in values if value is not None]
            means[name] = math.fsum(given) / len(given) if given else None
        return means


class Evaluation(ClassCounts):
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
        super().__init__(classes)
        self.confusion = np.zeros((len(self.classes), len(self.classes)), np.int64)
        self._sure: list[tuple[NDArray[Any], ...]] = []  # margins, and whether it was wrong
        self._scores: tuple[list[NDArray[Any]], list[NDArray[Any]]] = ([], [])
        self.reliability: Reliability | None = None  # of probabilities, where there are any

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
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows that have a label."""
        return int(self.confusion.sum())

    @property
    def n_unknown(self) -> int:
        """Rows with a label that the model does not know."""
        return int(self.confusion[len(self.classes) :].sum())

    @property
    def n_wrong(self) -> int:  # type: ignore[override]
        """Rows predicted wrongly."""
        return self.n_rows - int(np.trace(self.confusion))

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

    def _counts(self) -> NDArray[Any]:
        square = self._square
        return np.stack([np.diagonal(square), square.sum(axis=0), square.sum(axis=1)])

    @property
    def _square(self) -> NDArray[Any]:
        """The confusion matrix with a column for each row; labels unknown to it are no guess."""
        n_rows, n_columns = self.confusion.shape
        return np.pad(self.confusion, ((0, 0), (0, n_rows - n_columns)))

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


class LabelEvaluation(ClassCounts):
    """Judges which row is said to have which label.

    Labels that the model does not know stand behind those that it does; rows that have them are
    wrong.

    >>> evaluation = LabelEvaluation(("game", "perl"))
    >>> truth, said = np.array([[1, 0], [1, 1], [0, 0]]), np.array([[1, 0], [1, 0], [0, 0]])
    >>> evaluation.add(truth == 1, said == 1, np.array([[2.0, -1.0], [1.0, -0.5], [-1.0, -2.0]]))
    >>> evaluation.exact_match, evaluation.micro["f1"], evaluation.precision_at
    (0.6666666666666666, 0.8, {1: 0.6666666666666666})
    """

    def __init__(self, classes: Sequence[Any]) -> None:
        super().__init__(classes)
        self.counts = np.zeros((3, len(self.classes)), np.int64)  # right, said, true; by label
        self.n_rows = self.n_exact = self.n_unknown = 0
        self._hits = dict.fromkeys((k for k in PLACES if k <= len(self.classes)), 0)

    def add(
        self,
        truth: NDArray[np.bool_],
        said: NDArray[np.bool_],
        scores: NDArray[Any] | None,
        labels: Sequence[Any] | None = None,
    ) -> None:
        """Count rows: which has which label, (n, K) or more if ``labels`` names unknown ones.

        Without scores there is no precision at a place.
        """
        self.labels = self.labels if labels is None else tuple(labels)
        n_known, n_new = len(self.classes), truth.shape[1] - self.counts.shape[1]
        self.counts = np.pad(self.counts, ((0, 0), (0, max(n_new, 0))))
        known, strange = truth[:, :n_known], truth[:, n_known:]
        self.counts[0, :n_known] += (known & said).sum(axis=0)
        self.counts[1, :n_known] += said.sum(axis=0)
        self.counts[2, : truth.shape[1]] += truth.sum(axis=0)
        self.n_rows += len(truth)
        self.n_unknown += int(strange.any(axis=1).sum())
        self.n_exact += int(exact_rows(truth, said).sum())
        if scores is None:
            self._hits = {}
            return
        order = np.argsort(-scores, axis=1, kind="stable")[:, : max(self._hits, default=0)]
        ranked = np.take_along_axis(known, order, axis=1)
        for k in self._hits:
            self._hits[k] += int(ranked[:, :k].sum())

    @property
    def n_wrong(self) -> int:  # type: ignore[override]
        """Rows whose labels are not exactly those that they have."""
        return self.n_rows - self.n_exact

    @property
    def exact_match(self) -> float | None:
        """Share of the rows whose labels are exactly those that they have."""
        return ratio(self.n_exact, self.n_rows)

    @property
    def hamming_loss(self) -> float | None:
        """Share of rows and labels, each with each, that are wrong."""
        right, said, true = self.counts.sum(axis=1).tolist()
        return ratio(said + true - 2 * right, self.n_rows * len(self.labels))

    @property
    def precision_at(self) -> dict[int, float | None]:
        """Share of the first 1, 3 and 5 labels by score, of each row, that it has."""
        return {k: ratio(hits, k * self.n_rows) for k, hits in self._hits.items()}

    @property
    def micro(self) -> dict[str, float | None]:
        """Precision, recall and F1 of all labels counted together."""
        right, said, true = self.counts.sum(axis=1).tolist()
        shares = ratio(right, said), ratio(right, true), ratio(2 * right, said + true)
        return dict(zip(("precision", "recall", "f1"), shares, strict=True))

    def _counts(self) -> NDArray[Any]:
        return self.counts

    def always_f1(self, report: ClassReport) -> float | None:
        """Return the F1 of a label that is said of every row, to hold its own against."""
        return ratio(2 * report.support, report.support + self.n_rows)

    def baseline(self, counts: Sequence[int] | None = None) -> tuple[tuple[Any, ...], float | None]:
        """Return the most frequent labels, about as many as a row has, and their micro F1.

        They are the most frequent ones in training where their counts there are given.
        """
        true = self.counts[2]
        frequency = true[: len(self.classes)] if counts is None else np.asarray(counts)
        n_said = max(1, round(int(true.sum()) / max(self.n_rows, 1)))
        said = np.argsort(-frequency, kind="stable")[:n_said]
        right, total = int(true[said].sum()), int(true.sum()) + len(said) * self.n_rows
        return tuple(self.classes[k] for k in said), ratio(2 * right, total)

    def figures(self) -> dict[str, Any]:
        """Return the figures of all labels together."""
        return {
            "rows": self.n_rows,
            "micro": self.micro,
            "macro": self.macro,
            "precision_at": {str(k): value for k, value in self.precision_at.items()},
            "exact_match": self.exact_match,
            "hamming_loss": self.hamming_loss,
        }

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        labels = [
            report._asdict() | {"always_f1": self.always_f1(report)} for report in self.by_class
        ]
        others = {
            "rows_without_label_column": self.n_unlabelled,
            "rows_of_unknown_labels": self.n_unknown,
            "wrong": self.n_wrong,
            "error": self.error,
            "by_label": labels,
        }
        return {"remarks": self.remarks} | self.figures() | others


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


def exact_rows(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows are said to have exactly their labels; those not known stand last."""
    known, strange = np.split(truth, [said.shape[1]], axis=1)
    exact: NDArray[np.bool_] = (known == said).all(axis=1) & ~strange.any(axis=1)
    return exact


def label_evaluation_of(
    model: Model,
    batches: Iterable[Batch],
    *watchers: Callable[[Batch, NDArray[Any], NDArray[Any], NDArray[Any], Sequence[Any]], object],
    told: Sequence[str] = (),
) -> LabelEvaluation:
    """Judge a model by the rows of batches, which may have several labels.

    Watchers see each, which of its rows have and are said to have which label, scores and labels.
    ``told`` has, once all rows are read, sentences on what was unusual about them.
    """
    evaluation, scorer = LabelEvaluation(model.classes), Scorer(model)
    numbers = SetNumbers(model.classes)
    for batch in batches:
        sets, given = numbers.sets(batch.classes), batch.labels >= 0
        evaluation.n_unlabelled += int((~given).sum())
        truth = has_label(sets, batch.labels[given], len(numbers.labels))
        scores = scorer.scores(batch)[given]
        said = model.has_label(scores)
        evaluation.add(truth, said, scores, numbers.labels)
        for watcher in watchers:
            watcher(batch, truth, said, scores, numbers.labels)
    evaluation.remarks = list(told)
    return evaluation


def neglected(
    confusion: NDArray[Any], classes: Sequence[Any], options: Mapping[str, Any]
) -> list[str]:
    """Return a sentence on classes of which the model finds no row, few as they may be.

    Of more than two classes, or where rows of others are taken for it, a few missed may be chance.
    """
    support = confusion.sum(axis=1)[: len(classes)]
    unsaid = (confusion.sum(axis=0)[: len(classes)] == 0) & (len(classes) == 2)
    enough = support >= np.where(unsaid, 1, LEAST_NEGLECTED)
    missed = np.flatnonzero(enough & (np.diagonal(confusion)[: len(classes)] == 0)).tolist()
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
