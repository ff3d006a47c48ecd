"""The contents of a report: figures of a model, and of test rows with the worst mistakes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding.label_column import SpreadRows, leaks, stump_errors
from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.models.evaluation import (
    Evaluation,
    LabelEvaluation,
    evaluation_of,
    label_evaluation_of,
)
from rosenblatt.models.explanation import Ranking, ranked_weights, ranking_misleads
from rosenblatt.models.guarantee import RowsApart, rows_apart
from rosenblatt.models.metrics import Reliability
from rosenblatt.models.model import Model
from rosenblatt.report.hardest import HardestRows, MisjudgedRow
from rosenblatt.training.history import separability_counts
from rosenblatt.wording import word_list

WEIGHTS = 12  # names on either side
MOST_RANKED = 30  # classes whose weights are shown
MOST_TRIED = 60  # features
MOST_ROWS = 50_000  # rows that are looked at
MOST_NAMED = 3  # features of a warning; of labels twice as many


class Giveaway(NamedTuple):
    """A feature that tells a class from the others, but for a few rows."""

    feature: str
    label: Any
    n_wrong: int
    n_rows: int


class Giveaways:
    """Looks at the leading features of each class, alone, on rows with labels."""

    def __init__(self, rankings: Sequence[Ranking], n_classes: int) -> None:
        self._n_classes = n_classes
        self._names: dict[int, str] = {}
        most = max(1, MOST_TRIED // (2 * max(len(rankings), 1)))
        for ranking in rankings:
            for weight in (*ranking.top[:most], *ranking.bottom[:most]):
                self._names[weight.feature] = weight.name
        self._rows = SpreadRows(MOST_ROWS)

    def add(self, batch: Batch, _scores: NDArray[Any], _predicted: NDArray[Any]) -> None:
        """Keep the labels of some rows and their values of these features."""

        def taken(places: NDArray[np.int64]) -> NDArray[Any]:
            rows = matrix_of(batch.csr(max(batch.n_features, *self._names) + 1, 0.0))
            values = csr_array(rows)[places][:, sorted(self._names)].toarray()
            return np.column_stack([batch.labels[places], values])

        if self._names:
            self._rows.add(batch.n_rows, taken)

    def by_class(self, classes: Sequence[Any]) -> list[Giveaway]:
        """Return a feature for each class that one tells from the others, the first of equals."""
        rows = np.concatenate([np.zeros((0, len(self._names) + 1)), *self._rows.parts])
        rows = rows[rows[:, 0] >= 0]
        labels, values = rows[:, 0], rows[:, 1:]
        if not len(labels):
            return []
        features = sorted(self._names)
        of_class = [labels == number for number in range(self._n_classes)]
        wrong = [[stump_errors(column, positive) for positive in of_class] for column in values.T]
        sizes = [int(positive.sum()) for positive in of_class]
        return [
            Giveaway(self._names[features[k]], classes[number], n_wrong, len(labels))
            for number, k, n_wrong in leaks(np.array(wrong), sizes)
        ]


@dataclass(frozen=True)
class Findings:
    """The contents of the page, before they are words and pictures."""

    name: str
    model: Model
    rankings: list[Ranking]
    by_effect: bool  # weights are ranked by weight × deviation, since ranges differ much
    evaluation: Evaluation | None = None
    hardest: list[MisjudgedRow] = field(default_factory=list)
    test_names: tuple[str, ...] = ()
    giveaways: list[Giveaway] = field(default_factory=list)
    largest: float = 0.0  # value of the test rows
    labels: LabelEvaluation | None = (
        None  # in place of the evaluation, where a row may have several
    )

    @property
    def judged(self) -> Evaluation | None:
        """The evaluation, unless no row has a label that the model knows."""
        found = self.evaluation
        return found if found is not None and found.n_rows > found.n_unknown else None

    @property
    def error_before_bias(self) -> float | None:
        """The held-out error of the pass that is kept, where the bias then moved on these rows."""
        model = self.model
        best = model.outcome.get("best_pass", 0)
        score = model.history[best - 1]["validation_score"] if model.history and best else None
        in_folds = "folds" in (model.training.get("held_out_by") or {})  # other rows than before
        if score is None or in_folds or not model.training.get("bias_moved"):
            return None
        before = 1.0 - float(score)
        after = float(model.training.get("held_out_error") or 0.0)
        return None if abs(before - after) < 1e-9 else before

    @property
    def separated(self) -> bool:
        """Whether a pass without a mistake proved the rows separable, and that says something."""
        model, training = self.model, self.model.training
        errors = training.get("held_out_error"), None if self.judged is None else self.judged.error
        counts = separability_counts(model.n_features, training.get("n_rows", inf), *errors)
        return counts and model.outcome.get("stop_reason") == "converged"

    @property
    def apart(self) -> RowsApart | None:
        """The rows that the model holds for a guarantee, if any."""
        return rows_apart(self.model)

    @property
    def reliability(self) -> Reliability | None:
        """How far the probabilities of a calibrated model were right on the test rows."""
        model, evaluation = self.model, self.evaluation
        found = None if evaluation is None else evaluation.reliability
        fitted = model.calibration is not None and not model.voted
        return found if fitted and found is not None and found.n_rows else None

    @property
    def kind(self) -> str:
        """The kind of the model in words that need no knowledge of learners."""
        if self.model.is_kernel:
            return "kernel model"
        return "vote of linear models" if self.model.voted else "linear model"

    @property
    def warnings(self) -> Iterator[str]:
        """Warnings on misleading figures."""
        evaluation, told = self.evaluation, self.evaluation or self.labels
        yield from () if told is None else told.remarks
        if evaluation is not None and evaluation.n_unknown:
            yield _unknown_labels(evaluation)
        if self.judged is not None and self.judged.error:
            _, baseline = self.judged.baseline(self.model.training.get("class_counts"))
            if baseline is not None and self.judged.error >= baseline:
                yield "The model is no better than always answering the most common class."
        for given in self.giveaways[:MOST_NAMED]:
            yield (
                f"The feature {given.feature} alone tells {given.label} from the other rows, with "
                f"{given.n_wrong:,} of {given.n_rows:,} wrong. Is it known when the model is used? "
                "If it was recorded with the label or after it, leave it out and train again."
            )

    @property
    def survival(self) -> NDArray[Any] | None:
        """How many rows each weight vector lasted, the zero one first, where mistakes are kept."""
        return self.model.votes.lifetimes if self.model.is_recorded else None


def _unknown_labels(evaluation: Evaluation) -> str:
    """Say how many rows have labels that the model has never met, and which."""
    n_known = len(evaluation.classes)
    counts = evaluation.confusion[n_known:].sum(axis=1).tolist()
    met = [str(label) for label, n in zip(evaluation.labels[n_known:], counts, strict=True) if n]
    known = word_list([str(label) for label in evaluation.classes], MOST_NAMED * 2)
    n_unknown, n_rows = evaluation.n_unknown, evaluation.n_rows
    which = "All" if n_unknown == n_rows else f"{n_unknown:,} of {n_rows:,}"
    return (
        f"{which} test rows have labels that the model does not know "
        f"({word_list(met, MOST_NAMED * 2)}) and count as wrong; it knows {known}. Are the labels "
        "in the right column, and written as in training?"
    )


def findings(
    model: Model,
    *,
    name: str = "model",
    test: Iterable[Batch] | None = None,
    test_names: tuple[str, ...] = (),
    told: Sequence[str] = (),
) -> Findings:
    """Return the contents of a report on a model, and on labelled rows if there are any.

    ``told`` has, once all rows are read, sentences on what was unusual about them.
    """
    by_effect = ranking_misleads(model)
    rankings = ranked_weights(model, WEIGHTS, by_effect=by_effect)[:MOST_RANKED]
    found = Findings(name, model, rankings, by_effect, test_names=test_names)
    if test is None:
        return found
    hardest, alone = HardestRows(model), Giveaways(rankings, len(model.classes))
    if model.several:
        labels = label_evaluation_of(model, test, hardest.add_labels, told=told)
        return replace(found, labels=labels, hardest=hardest.rows(), largest=hardest.largest)
    return replace(
        found,
        evaluation=evaluation_of(model, test, hardest.add, alone.add, told=told),
        hardest=hardest.rows(),
        giveaways=alone.by_class(model.classes),
        largest=hardest.largest,
    )
