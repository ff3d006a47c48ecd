"""How good predictions are: counted batch by batch, so that a file of any size can be judged.

A row has one class, or any number of labels.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.errors import Parameter, Sentence
from rosenblatt.tasks.metrics import (
    CoverageCurve,
    PrecisionRecallCurve,
    Reliability,
    balanced_accuracy,
    coverage_curve,
    precision_recall_curve,
    roc_auc,
)
from rosenblatt.wording import Cell, counted, decimals, percent, printable, word_list

Z_95 = 1.959963984540054  # a normal variable is within ±z with probability 95 %
MOST_UNKNOWN = 100  # labels that get a row of their own although the model does not know them
LEAST_NEGLECTED = 10  # rows of a class, of which none is found; of two classes any
LEAST_HELD_OUT = 3  # where a tenth of the rows is held out and none of them is taken for it
EXACT_PAIRS = 1000  # up to here the p-value of McNemar's test is the exact one
PLACES = (1, 3, 5)  # of the ranking of labels, up to which precision is measured
MOST_REPORTED = 30  # classes or labels that are listed each
MOST_NAMED = 6  # labels of a warning

TableParts = tuple[Sequence[str], list[list[Cell]], str]  # headings, rows and title


class ClassReport(NamedTuple):
    """How well one class is recognised; None is 0/0: nothing to judge by."""

    label: Any
    precision: float | None  # share of the rows predicted as this class that are of it
    recall: float | None  # share of the rows of this class that are predicted as it
    f1: float | None  # harmonic mean of both
    support: int  # rows of this class
    predicted: int


class Judged(NamedTuple):
    """Rows of a batch, what they are and what was said of them."""

    batch: Batch
    truth: NDArray[Any]  # class numbers, −1 for none; of sets, which row has which label
    answers: NDArray[Any]  # likewise
    scores: Any  # that the answers come from; None where there are none
    labels: Sequence[Any]  # by number: behind those that the model knows stand others
    rows: Any = slice(None)  # of the batch, to which all this belongs
    confidence: NDArray[Any] | None = None  # how sure each answer is, where there are scores


class ClassCounts:
    """What can be said of predictions by what is counted of each class or label."""

    n_rows: int  # that are judged
    n_wrong: int
    n_unknown: int  # rows with a label that the model does not know
    noun: ClassVar[str] = "class"
    heading: ClassVar[str] = "Classes"  # of the table of them
    unit: ClassVar[str] = "row"
    meanings: ClassVar[Mapping[str, str]] = {}  # of metrics that do not say it themselves
    reliability: Reliability | None = None  # of probabilities, where there are any

    def __init__(self, classes: Sequence[Any]) -> None:
        self.classes = tuple(classes)
        self.labels = self.classes  # and behind them those that the model does not know
        self.n_unlabelled = 0
        self.remarks: list[str] = []  # sentences on what makes the figures misleading

    @abstractmethod
    def count(self, judged: Judged) -> None:
        """Count rows of a batch."""

    def count_probabilities(self, probabilities: NDArray[Any], judged: Judged) -> None:
        """Count how far probabilities of rows can be relied on, where that is asked of them."""

    def close(self, told: Sequence[str], options: Mapping[str, Any]) -> None:
        """Take what was unusual about the rows, and what other options could mend."""
        self.remarks = [*told]

    @property
    def error(self) -> float | None:
        """Share of the rows predicted wrongly."""
        return ratio(self.n_wrong, self.n_rows)

    @property
    def error_interval(self) -> str:
        """The interval that holds the error on new rows with 95 % confidence."""
        return interval(self.n_wrong, self.n_rows)

    @property
    def confusions(self) -> list[tuple[int, int, int]]:
        """Rows, number of the true class and of the predicted one, most frequent first."""
        return []

    @property
    def coverage_curve(self) -> CoverageCurve | None:
        """The error on the rows of a margin from a threshold on; None where no margins came."""
        return None

    @property
    def beside_error(self) -> dict[str, float | None]:
        """Figures that a comparison shows beside the error, by their headings."""
        return {}

    def leading_confusions(self, most: int) -> list[tuple[Any, Any, int, float]]:
        """Return the first: true and predicted label, rows, and their share of the true class."""
        return []

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""

    @abstractmethod
    def baseline_report(self, counts: Sequence[int] | None) -> dict[str, Any]:
        """Return what the most frequent answer in training reaches, as what JSON can hold."""

    @abstractmethod
    def headline(self) -> str:
        """Return the figure that matters most in a few words."""

    @abstractmethod
    def summary(self, counts: Sequence[int] | None) -> list[str]:
        """Return sentences on all rows, and on the most frequent answer in training."""

    @abstractmethod
    def test_summary(self, source: str, counts: Sequence[int] | None) -> list[str]:
        """Return lines on all rows of files of these names; see ``summary``."""

    def in_words(self) -> str:
        """Return what the figures mean, where that is not plain from them."""
        return ""

    def warnings(self, counts: Sequence[int] | None) -> Iterator[str]:
        """Yield what makes the figures misleading."""
        yield from self.remarks

    def confusion_table(self) -> TableParts | None:
        """Return how many rows of each class are taken for which; None where that is no table."""
        return None

    def table(self) -> TableParts:
        """Return precision, recall and F1 of each class; of many, of those that say most."""
        reports, title = self.by_class, self.heading
        if len(reports) > MOST_REPORTED:
            reports, which = self._listed(reports)
            title = f"The {len(reports)} {which.format(f'{len(self.labels):,}')}"
        before, after = self._columns(reports)
        names = ("precision", "recall", "f1")
        rows: list[list[Cell]] = [
            [str(r.label), *(decimals(getattr(r, name)) for name in names)] for r in reports
        ]
        columns = {**before, f"{self.unit}s": [report.support for report in reports], **after}
        for values in columns.values():
            for row, value in zip(rows, values, strict=True):
                row.append(value)
        return [self.noun, "precision", "recall", "F1", *columns], rows, title

    @abstractmethod
    def _listed(self, reports: list[ClassReport]) -> tuple[list[ClassReport], str]:
        """Return those of many that are listed, and in words which these are."""

    @abstractmethod
    def _columns(self, reports: list[ClassReport]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return further columns of the table by heading, before and behind the rows."""

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

    def count(self, judged: Judged) -> None:
        """Count the rows of a batch; see ``add``."""
        _, truth, answers, scores, labels, _, confidence = judged
        self.add(truth, answers, scores, labels, confidence)

    def count_probabilities(self, probabilities: NDArray[Any], judged: Judged) -> None:
        """Count how far probabilities of rows can be relied on."""
        if self.reliability is None:
            self.reliability = Reliability(len(self.classes))
        self.reliability.add(probabilities, judged.truth)

    def close(self, told: Sequence[str], options: Mapping[str, Any]) -> None:
        """Take what was unusual about the rows, and tell of classes that are never predicted."""
        self.remarks = [*told, *neglected(self.confusion, self.classes, options)]

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows that have a label."""
        return int(self.confusion.sum())

    @property
    def n_unknown(self) -> int:  # type: ignore[override]
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

    def baseline_report(self, counts: Sequence[int] | None) -> dict[str, Any]:
        """Return the most frequent class in training and its error, as what JSON can hold."""
        return dict(zip(("label", "error"), self.baseline(counts), strict=True))

    def headline(self) -> str:
        """Return the error in a few words."""
        return f" error {percent(self.error)}"

    def summary(self, counts: Sequence[int] | None) -> list[str]:
        """Return sentences on the error, the baseline and figures that weigh classes alike."""
        (label, baseline), area = self.baseline(counts), self.roc_auc
        line = f"Accuracy {percent(self.accuracy)}"
        line += "" if area is None else f", ROC AUC {area:.4f}"
        wrong = f"{self.n_wrong:,} of {counted(self.n_rows, 'row')}"
        balanced, mean_f1 = decimals(self.balanced_accuracy), decimals(self.macro["f1"])
        return [
            f"Error {percent(self.error)} (95% interval {self.error_interval}): {wrong} wrong.",
            f"Baseline: always predicting {printable(str(label))} has error {percent(baseline)}.",
            f"{line}, balanced accuracy {balanced}, mean F1 of the classes {mean_f1}.",
        ]

    def test_summary(self, source: str, counts: Sequence[int] | None) -> list[str]:
        """Return the error on files of these names; nothing where no row has a label."""
        if self.error is None:
            return []
        label, baseline = self.baseline(counts)
        always = f"(always {printable(str(label))}: {percent(baseline)})"
        figures = f"{percent(self.error)}, 95% interval {self.error_interval} {always}"
        return [f"Error on {counted(self.n_rows, 'row')} of {source}: {figures}"]

    def warnings(self, counts: Sequence[int] | None) -> Iterator[str]:
        """Yield remarks, labels that the model has never met, and an error that anybody has."""
        yield from super().warnings(counts)
        if self.n_unknown:
            yield self._unknown_labels()
        baseline, error = self.baseline(counts)[1], self.error
        if self.n_rows > self.n_unknown and error and baseline is not None and error >= baseline:
            yield "The model is no better than always answering the most common class."

    def _unknown_labels(self) -> str:
        """Say how many rows have labels that the model has never met, and which."""
        n_known = len(self.classes)
        support = self.confusion[n_known:].sum(axis=1).tolist()
        met = [str(label) for label, n in zip(self.labels[n_known:], support, strict=True) if n]
        known = word_list([str(label) for label in self.classes], MOST_NAMED)
        which = f"{self.n_unknown:,} of {self.n_rows:,}"
        which = "All" if self.n_unknown == self.n_rows else which
        return (
            f"{which} test rows have labels that the model does not know "
            f"({word_list(met, MOST_NAMED)}) and count as wrong; it knows {known}. Are the labels "
            "in the right column, and written as in training?"
        )

    def confusion_table(self) -> TableParts:
        """Return how many rows of each class are taken for which."""
        rows: list[list[Cell]] = [
            [str(label), *counts]
            for label, counts in zip(self.labels, self.confusion.tolist(), strict=True)
        ]
        title = "Confusion table: one line per true class, one column per predicted class"
        return ["", *map(str, self.classes)], rows, title

    def _listed(self, reports: list[ClassReport]) -> tuple[list[ClassReport], str]:
        met = [report for report in reports if report.f1 is not None]
        worst = sorted(met, key=lambda report: report.f1 or 0.0)[:MOST_REPORTED]
        return worst, "classes of {} with the lowest F1"

    def _columns(self, reports: list[ClassReport]) -> tuple[dict[str, Any], dict[str, Any]]:
        if not (precisions := self.average_precision):
            return {}, {}
        values = [*precisions, *[None] * len(reports)][: len(reports)]
        return {}, {"average precision": [decimals(value) for value in values]}

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

    noun: ClassVar[str] = "label"
    heading: ClassVar[str] = "Labels"
    meanings: ClassVar[Mapping[str, str]] = {"error": "rows without exactly their labels, "}

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

    def count(self, judged: Judged) -> None:
        """Count the rows of a batch; see ``add``."""
        self.n_unlabelled += judged.batch.n_rows - len(judged.truth)
        self.add(judged.truth, judged.answers, judged.scores, judged.labels)

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

    @property
    def beside_error(self) -> dict[str, float | None]:
        """Micro F1: few rows have exactly their labels."""
        return {"micro F1": self.micro["f1"]}

    def baseline_report(self, counts: Sequence[int] | None) -> dict[str, Any]:
        """Return the most frequent labels in training and their micro F1, as what JSON can hold."""
        return dict(zip(("labels", "micro_f1"), self.baseline(counts), strict=True))

    def headline(self) -> str:
        """Return all figures of all labels together."""
        return f": {label_figures(self.figures())}"

    def in_words(self) -> str:
        """Return how good the labels are, counted on a hundred of them."""
        return f"On {counted(self.n_rows, 'test row')}: {label_sentence(self.figures())}."

    def summary(self, counts: Sequence[int] | None) -> list[str]:
        """Return sentences on all labels together and the baseline."""
        return [f"{counted(self.n_rows, 'row')}{self.headline()}.", self._always(counts)]

    def test_summary(self, source: str, counts: Sequence[int] | None) -> list[str]:
        """Return lines on all labels of files of these names and the baseline."""
        rows = f"On {counted(self.n_rows, 'row')} of {source}"
        return [f"{rows}{self.headline()}.", f"  {self._always(counts)}"]

    def _always(self, counts: Sequence[int] | None) -> str:
        """Return what the labels that are most frequent in training would reach on every row."""
        labels, f1 = self.baseline(counts)
        listed = printable(word_list(map(str, labels)))
        return f"Baseline: always predicting {listed} has micro F1 {decimals(f1)}."

    def _listed(self, reports: list[ClassReport]) -> tuple[list[ClassReport], str]:
        frequent = sorted(reports, key=lambda report: -report.support)[:MOST_REPORTED]
        return frequent, "most frequent labels of {}"

    def _columns(self, reports: list[ClassReport]) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"F1 of always": [decimals(self.always_f1(one)) for one in reports]}, {}

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


def label_figures(figures: Mapping[str, Any]) -> str:
    """Return in a sentence how good the labels of rows are that may have several."""
    places = [f"at {k} {decimals(value)}" for k, value in figures["precision_at"].items()]
    micro, macro = (decimals(figures[name]["f1"]) for name in ("micro", "macro"))
    return (
        f"micro F1 {micro}, macro F1 {macro}, precision {', '.join(places)}, exact match "
        f"{percent(figures['exact_match'])}, Hamming loss {percent(figures['hamming_loss'])}"
    )


def label_sentence(figures: Mapping[str, Any]) -> str:
    """Return how good labels are, counted on a hundred of them.

    >>> share = {"precision": 0.76, "recall": 0.52}
    >>> label_sentence({"micro": share, "exact_match": 0.34})
    'of 100 labels that it gives, 76 are right; it finds 52 of 100; 34.00% of rows are exact'
    """
    given, found = (
        round(100 * (figures["micro"][name] or 0.0)) for name in ("precision", "recall")
    )
    exact = percent(figures["exact_match"])
    return (
        f"of 100 labels that it gives, {given} are right; it finds {found} of 100; "
        f"{exact} of rows are exact"
    )


def exact_rows(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows are said to have exactly their labels; those not known stand last."""
    known, strange = np.split(truth, [said.shape[1]], axis=1)
    exact: NDArray[np.bool_] = (known == said).all(axis=1) & ~strange.any(axis=1)
    return exact


def neglected(
    confusion: NDArray[Any],
    classes: Sequence[Any],
    options: Mapping[str, Any],
    *,
    least: int = LEAST_NEGLECTED,
) -> list[str]:
    """Return a sentence on classes of which the model finds no row, few as they may be.

    Of more than two classes, or where rows of others are taken for it, a few missed may be chance:
    ``least`` rows of a class that none is taken for suffice.
    """
    support = confusion.sum(axis=1)[: len(classes)]
    unsaid = confusion.sum(axis=0)[: len(classes)] == 0
    enough = support >= np.where(unsaid, 1 if len(classes) == 2 else least, LEAST_NEGLECTED)
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


def interval(n_wrong: int, n_rows: int) -> str:
    """Return the interval that holds an error with 95% confidence (Wilson)."""
    low, high = wilson(n_wrong, n_rows) or (0.0, 1.0)
    return f"{percent(low)} to {percent(high)}"


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


AnyEvaluation = Evaluation | LabelEvaluation  # of what rows have, whatever it is
