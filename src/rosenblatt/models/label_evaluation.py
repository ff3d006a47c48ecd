"""How good labels are where a row may have several: counted batch by batch."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import SetNumbers
from rosenblatt.models.evaluation import ClassReport, ratio
from rosenblatt.models.model import Model, Scorer
from rosenblatt.training.examples import has_label

PLACES = (1, 3, 5)  # of the ranking, up to which precision is measured


class LabelEvaluation:
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
        self.classes = tuple(classes)
        self.labels = self.classes  # and those that the model does not know
        self.counts = np.zeros((3, len(self.classes)), np.int64)  # right, said, true; by label
        self.n_rows = self.n_exact = self.n_unlabelled = self.n_unknown = 0
        self._hits = dict.fromkeys((k for k in PLACES if k <= len(self.classes)), 0)
        self.remarks: list[str] = []  # sentences on what makes the figures misleading

    def add(
        self,
        truth: NDArray[np.bool_],
        said: NDArray[np.bool_],
        scores: NDArray[Any],
        labels: Sequence[Any] | None = None,
    ) -> None:
        """Count rows: which has which label, (n, K) or more if ``labels`` names unknown ones."""
        self.labels = self.labels if labels is None else tuple(labels)
        n_known, n_new = len(self.classes), truth.shape[1] - self.counts.shape[1]
        self.counts = np.pad(self.counts, ((0, 0), (0, max(n_new, 0))))
        known, strange = truth[:, :n_known], truth[:, n_known:]
        self.counts[0, :n_known] += (known & said).sum(axis=0)
        self.counts[1, :n_known] += said.sum(axis=0)
        self.counts[2, : truth.shape[1]] += truth.sum(axis=0)
        self.n_rows += len(truth)
        self.n_unknown += int(strange.any(axis=1).sum())
        self.n_exact += int(((known == said).all(axis=1) & ~strange.any(axis=1)).sum())
        order = np.argsort(-scores, axis=1, kind="stable")[:, : max(self._hits, default=0)]
        ranked = np.take_along_axis(known, order, axis=1)
        for k in self._hits:
            self._hits[k] += int(ranked[:, :k].sum())

    @property
    def n_wrong(self) -> int:
        """Rows whose labels are not exactly those that they have."""
        return self.n_rows - self.n_exact

    @property
    def exact_match(self) -> float | None:
        """Share of the rows whose labels are exactly those that they have."""
        return ratio(self.n_exact, self.n_rows)

    @property
    def error(self) -> float | None:
        """Share of the others."""
        return ratio(self.n_wrong, self.n_rows)

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

    @property
    def macro(self) -> dict[str, float | None]:
        """The means of precision, recall and F1 over the labels that have them."""
        means: dict[str, float | None] = {}
        for name in ("precision", "recall", "f1"):
            given = [getattr(one, name) for one in self.by_class if getattr(one, name) is not None]
            means[name] = math.fsum(given) / len(given) if given else None
        return means

    @property
    def by_class(self) -> list[ClassReport]:
        """How well each label is recognised, those that the model does not know last."""
        counts = zip(self.labels, *self.counts.tolist(), strict=True)
        return [
            ClassReport(label, ratio(r, p), ratio(r, s), ratio(2 * r, p + s), s, p)
            for label, r, p, s in counts
        ]

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


def label_evaluation_of(
    model: Model, batches: Iterable[Batch], told: Sequence[str] = ()
) -> LabelEvaluation:
    """Judge a model by the rows of batches, which may have several labels.

    ``told`` has, once all rows are read, sentences on what was unusual about them.
    """
    evaluation, scorer = LabelEvaluation(model.classes), Scorer(model)
    numbers = SetNumbers(model.classes)
    for batch in batches:
        sets, given = numbers.sets(batch.classes), batch.labels >= 0
        evaluation.n_unlabelled += int((~given).sum())
        truth = has_label(sets, batch.labels[given], len(numbers.labels))
        scores = scorer.scores(batch)[given]
        evaluation.add(truth, model.has_label(scores), scores, numbers.labels)
    evaluation.remarks = list(told)
    return evaluation
