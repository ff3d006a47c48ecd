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
from rosenblatt.models.explanation import Ranking, ranked_weights, ranking_misleads
from rosenblatt.models.guarantee import certainty_of
from rosenblatt.models.judging import evaluation_of
from rosenblatt.models.model import Model
from rosenblatt.report.hardest import HardestRows, MisjudgedRow
from rosenblatt.tasks import Task
from rosenblatt.tasks.certainty import Certainty
from rosenblatt.tasks.evaluation import ClassCounts, Judged
from rosenblatt.tasks.held_out_fits import TriedRows
from rosenblatt.tasks.metrics import Reliability
from rosenblatt.training.history import separability_counts
from rosenblatt.wording import counted

WEIGHTS = 12  # names on either side
MOST_RANKED = 30  # classes whose weights are shown
MOST_TRIED = 60  # features
MOST_ROWS = 50_000  # rows that are looked at
FEWEST_JUDGED = 10  # test rows of a class or label, that something is said about it
MOST_NAMED = 3  # features of a warning


class Giveaway(NamedTuple):
    """A feature that tells a class from the others, but for a few rows."""

    feature: str
    label: Any
    n_wrong: int
    n_rows: int


class Giveaways:
    """Looks at the leading features of each class, alone, on rows with labels."""

    def __init__(self, rankings: Sequence[Ranking], task: Task) -> None:
        self._task = task
        self._names: dict[int, str] = {}
        most = max(1, MOST_TRIED // (2 * max(len(rankings), 1)))
        for ranking in rankings:
            for weight in (*ranking.top[:most], *ranking.bottom[:most]):
                self._names[weight.feature] = weight.name
        self._rows = SpreadRows(MOST_ROWS)

    def add(self, judged: Judged) -> None:
        """Keep the labels of some rows and their values of these features."""
        batch, numbers = judged.batch, self._task.class_numbers(judged)

        def taken(places: NDArray[np.int64]) -> NDArray[Any]:
            rows = matrix_of(batch.csr(max(batch.n_features, *self._names) + 1, 0.0))
            values = csr_array(rows)[places][:, sorted(self._names)].toarray()
            return np.column_stack([numbers[places], values])

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
        of_class = [labels == number for number in range(self._task.n_classes)]
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
    evaluation: ClassCounts | None = None
    hardest: list[MisjudgedRow] = field(default_factory=list)
    test_names: tuple[str, ...] = ()
    giveaways: list[Giveaway] = field(default_factory=list)
    largest: float = 0.0  # value of the test rows

    @property
    def judged(self) -> ClassCounts | None:
        """The evaluation, unless no row has a label that the model knows."""
        found = self.evaluation
        return found if found is not None and found.n_rows > found.n_unknown else None

    @property
    def never_found(self) -> list[str]:
        """Labels that many test rows have and the model gives to none of them, with the number."""
        reports = [] if self.evaluation is None else self.evaluation.by_class
        missed = [one for one in reports if one.support >= FEWEST_JUDGED and not one.recall]
        missed.sort(key=lambda one: -one.support)
        return [f"{one.label} ({counted(one.support, 'row')})" for one in missed]

    @property
    def n_passes(self) -> int:
        """How many passes made the weights, over all rows where it was fitted again."""
        passes = self.model.training.get("refit_passes") or len(self.model.history)
        return int(passes)

    @property
    def error_before_bias(self) -> float | None:
        """The held-out error of the pass that is kept, where the bias then moved on these rows."""
        model = self.model
        best = model.outcome.get("best_pass", 0)
        score = model.history[best - 1]["validation_score"] if model.history and best else None
        tried = TriedRows.told(model.training)
        in_folds = "folds" in (tried.by or {})  # other rows than before
        if score is None or in_folds or not model.training.get("bias_moved"):
            return None
        before = 1.0 - float(score)
        after = float(tried.error or 0.0)
        return None if abs(before - after) < 1e-9 else before

    @property
    def separated(self) -> bool:
        """Whether a pass without a mistake proved the rows separable, and that says something."""
        model, training = self.model, self.model.training
        errors = TriedRows.told(training).error, None if self.judged is None else self.judged.error
        counts = separability_counts(model.n_features, training.get("n_rows", inf), *errors)
        return counts and model.outcome.get("stop_reason") == "converged"

    @property
    def apart(self) -> Certainty | None:
        """The rows that the model holds for a guarantee, if any."""
        return certainty_of(self.model)

    @property
    def by_scores(self) -> bool:
        """Whether scores decide, and not votes."""
        return not self.model.by_vote

    @property
    def reliability(self) -> Reliability | None:
        """How far the probabilities of a calibrated model were right on the test rows."""
        found = None if self.evaluation is None else self.evaluation.reliability
        fitted = self.model.calibration is not None and self.by_scores
        return found if fitted and found is not None and found.n_rows else None

    @property
    def warnings(self) -> Iterator[str]:
        """Warnings on misleading figures."""
        if self.evaluation is not None:
            yield from self.evaluation.warnings(self.model.training.get("class_counts"))
        for given in self.giveaways[:MOST_NAMED]:
            yield (
                f"The feature {given.feature} alone tells {given.label} from the other rows, with "
                f"{given.n_wrong:,} of {given.n_rows:,} wrong. Is it known when the model is used? "
                "If it was recorded with the label or after it, leave it out and train again."
            )

    @property
    def survival(self) -> NDArray[Any] | None:
        """How many rows each weight vector lasted, the zero one first, where mistakes are kept."""
        mistakes = self.model.mistakes
        return None if mistakes is None else mistakes.lifetimes


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
    rankings = ranked_weights(model, WEIGHTS, by_effect=by_effect)
    if counts := model.task.listed_by(model.training):
        rows = dict(zip(model.classes, counts, strict=True))
        rankings.sort(key=lambda ranking: -rows[ranking.label])
    rankings = rankings[:MOST_RANKED]
    found = Findings(name, model, rankings, by_effect, test_names=test_names)
    if test is None:
        return found
    hardest, alone = HardestRows(model), Giveaways(rankings, model.task)
    judged = evaluation_of(model, test, hardest.add, alone.add, told=told)
    return replace(
        found,
        evaluation=judged,
        hardest=hardest.rows(),
        giveaways=alone.by_class(model.classes),
        largest=hardest.largest,
    )
