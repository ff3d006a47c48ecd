"""How good a recipe is, found without a model: train on all folds but one, and try that one."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Files
from rosenblatt.data.sources import Paths
from rosenblatt.errors import InputError, Parameter
from rosenblatt.models.forms import FittedForm
from rosenblatt.models.held_out import with_held_out
from rosenblatt.models.kernel_machine import kernel_model
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.rows import FileRows, first_equal, source_rows
from rosenblatt.models.train import TrainingPlan, plan_of
from rosenblatt.models.weights import trained_weights
from rosenblatt.tasks.evaluation import AnyEvaluation, Judged
from rosenblatt.tasks.metrics import METRICS
from rosenblatt.training.holdout import folds as divisions


@dataclass(frozen=True)
class CrossValidation:
    """What the folds say of a recipe."""

    metric: str
    values: tuple[float, ...]  # of the metric, one a fold
    learned: tuple[int, ...]  # rows that the model of each fold learned from
    # Of all rows, each judged by the model that has not seen it
    evaluation: AnyEvaluation
    title: str  # of the learner
    files: Files  # which know how they were read
    notes: list[str]  # on columns, and on rows that were skipped
    recipes: dict[str, int] = field(default_factory=dict)  # that races chose, in how many folds
    # Of the figures of the evaluation over the folds, where rows may have several labels
    standard_errors: dict[str, Any] | None = None

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.values))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean.

        Folds share training rows and so vary less than new data would; the variance is enlarged by
        n_test/n_train for that (Nadeau & Bengio, Machine Learning 52, 2003).
        """
        from scipy.special import stdtrit

        k = len(self.values)
        share = self.evaluation.n_rows / k / (sum(self.learned) / k)
        deviation = float(np.std(self.values, ddof=1)) * math.sqrt(1 / k + share)
        half = float(stdtrit(k - 1, 0.975)) * deviation
        return max(self.mean - half, 0.0), self.mean + half

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        errors = self.standard_errors
        return {
            "metric": self.metric,
            "mean": self.mean,
            "interval_95": self.interval,
            "folds": list(self.values),
            "learner": self.title,
            "recipes": self.recipes,
            **self.evaluation.report(),
            **({} if errors is None else {"standard_errors": errors}),
        }


def cross_validate(
    paths: Paths,
    *,
    folds: int = 10,
    metric: str = "error",
    tell: Callable[[int], object] = lambda _: None,
    **parameters: Any,
) -> CrossValidation:
    r"""Judge a recipe by k folds of the rows of files.

    Every fold has its share of each class. What the columns are, the words of texts with their
    rarity and the scaling of numbers are taken from all rows once, without their labels; the rest
    of a training happens anew for each fold. Where rows may have several labels, folds are drawn
    from all rows alike, and the error is the share of rows whose labels are not exactly right.
    ``tell`` is called with the number of each fold when it is done; the parameters are those of
    ``rosenblatt.train_files`` that say what to learn.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rosenblatt.tuning.folds import cross_validate
    >>> _ = Path("mail.csv").write_text("label,body\n" + "spam,buy now\nham,see you\n" * 20)
    >>> cross_validate("mail.csv", folds=4, text="body").mean
    0.0
    """
    check_metric(metric)
    plan = plan_of(paths, **parameters | {"calibrate": metric == "log-loss"})
    if plan.kernel is not None:
        unavailable = {"threshold": plan.wanted.threshold, "metric": metric == "log-loss"}
        plan.kernel.check(plan.learner, **unavailable)
    task = plan.learner.answer
    task.check_metric(metric, searched=False)
    rows, results = judged_folds(plan.with_raced_columns()[0], folds)
    evaluation: Any = task.evaluation(rows.classes)
    values, learned, recipes, figures = [], [], Counter[str](), []
    for number, fold in enumerate(results, 1):
        recipes.update(fold.recipe)
        judged = fold.judged
        value, own = task.judged_fold(metric, judged, fold.model.probabilities_of)
        values.append(value)
        figures.append(own)
        evaluation.add(judged.truth, judged.answers, judged.scores)
        learned.append(fold.n_learned)
        tell(number)
    found = tuple(values), tuple(learned), evaluation, plan.title, rows.files, rows.notes()
    return CrossValidation(metric, *found, dict(recipes.most_common()), _standard_errors(figures))


def _standard_errors(figures: Sequence[Any]) -> Any:
    """Return the standard errors of figures, one a fold, or of each entry of dictionaries."""
    if isinstance(figures[0], dict):
        names = (name for name in figures[0] if name != "rows")
        return {name: _standard_errors([one[name] for one in figures]) for name in names}
    given = [value for value in figures if value is not None]
    return float(np.std(given, ddof=1)) / math.sqrt(len(given)) if len(given) > 1 else None


class FoldResult(NamedTuple):
    """What the model of all other folds says of the rows of one."""

    tried: NDArray[Any]  # numbers of the rows
    judged: Judged
    model: Model
    n_learned: int  # rows that it learned from
    recipe: list[str]  # that a race chose, where one was held


def judged_folds(
    plan: TrainingPlan, folds: int, *, together: bool = False
) -> tuple[FileRows, Iterator[FoldResult]]:
    """Read the rows of a plan, and return them with what each fold of them gives.

    Equal rows fall into one fold if they are to be ``together``, up to as many as there are folds:
    rows that come more often are common values, whose labels tell of each other.
    """
    if plan.source.files.draw is not None:
        raise InputError(f"Folds take all rows: leave {Parameter('guarantee')} out.")
    raced = plan.race() is not None
    intercept = plan.learner.fit_intercept
    rows = source_rows(plan.source, fit_intercept=intercept, encoded=not raced)
    alike = plan.learner.answer.strata(rows.numbers)
    first = first_equal(rows.rows, folds) if together else None
    parts = divisions(alike, folds, plan.learner.random_state, rows.groups, first)

    def judged(train: NDArray[Any], test: NDArray[Any]) -> FoldResult:
        source = FoldSource(plan, rows, train, raced=raced)
        by_kernel = plan.kernel is not None
        model = kernel_model(plan, rows.take(train)) if by_kernel else _model(plan, source)
        batch = source.encoded(rows.batch(test))
        truths, scores = model.task.truths(model.classes), model.scores(batch)
        said = truths.judged(batch, scores, model.answers)
        return FoldResult(test, said, model, len(train), source.chosen)

    return rows, starmap(judged, parts)


def check_metric(metric: str) -> None:
    """Raise InputError for what is no metric."""
    if metric not in METRICS:
        names = ", ".join(METRICS)
        raise InputError(f"{Parameter('metric')} must be one of {names}; got {metric!r}.")


class FoldSource:
    """The rows of a fold as a source; they are finished in the form that a race chooses."""

    rereadable = True

    def __init__(
        self, plan: TrainingPlan, rows: FileRows, train: NDArray[Any], *, raced: bool
    ) -> None:
        self.batch, self._plan = rows.batch(train), plan
        self.is_open = raced and plan.source.is_open
        self.width, self.classes = rows.rows.n_features, rows.classes
        self.race = plan.race() if raced else None

    @property
    def chosen(self) -> list[str]:
        """The name of the recipe, where a race was held."""
        return [] if self.race is None or self.race.result is None else [self.race.result.chosen]

    @property
    def _fitted(self) -> FittedForm | None:
        """The form that a race chose."""
        return None if self.race is None else self.race.fitted

    @property
    def n_features(self) -> int:
        """The number of features of the rows in their form."""
        return self.width if self._fitted is None else self._fitted.encoding.n_features

    def batches(self) -> list[Batch]:
        """Return the batch."""
        return [self.batch]

    def encoded(self, block: Batch) -> Batch:
        """Return rows, those of the fold or others, in their form."""
        if self._fitted is not None:
            return self._fitted.form(block)._replace(n_features=self.n_features)
        return self._plan.source.encoded(block) if self.is_open else block


def _model(plan: TrainingPlan, source: FoldSource) -> Model:
    """Return what the recipe makes of some rows."""
    trained, fitted = plan.fit(source, source.race)
    learner = plan.learner if source.race is None else source.race.learner
    trained.state.widen(source.n_features)
    model = Model(
        LearnerRecord.of(learner),
        source.classes,
        trained_weights(learner, trained),
    )
    return with_held_out(model, fitted)
