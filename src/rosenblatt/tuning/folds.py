"""How good a recipe is, found without a model: train on all folds but one, and try that one."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Files
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.mistakes.arrays import list_arrays
from rosenblatt.models.bin_choice import BinOffer, BinTrial
from rosenblatt.models.evaluation import Evaluation
from rosenblatt.models.held_out import recorded
from rosenblatt.models.kernel_machine import kernel_model
from rosenblatt.models.learner import Learner
from rosenblatt.models.metrics import METRICS, log_loss, measured
from rosenblatt.models.model import Model
from rosenblatt.models.rows import source_rows
from rosenblatt.models.scoring import Scorer
from rosenblatt.models.train import TrainingPlan, plan_of
from rosenblatt.training.examples import permute
from rosenblatt.training.reading import Finish

Names = str | Sequence[str]


@dataclass(frozen=True)
class CrossValidation:
    """What the folds say of a recipe."""

    metric: str
    values: tuple[float, ...]  # of the metric, one a fold
    learned: tuple[int, ...]  # rows that the model of each fold learned from
    evaluation: Evaluation  # of all rows, each judged by the model that has not seen it
    title: str  # of the learner
    files: Files  # which know how they were read
    n_binned: int = 0  # folds in which held-out rows were for bins of numbers

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
        return {
            "metric": self.metric,
            "mean": self.mean,
            "interval_95": self.interval,
            "folds": list(self.values),
            "learner": self.title,
            "binned_folds": self.n_binned,
            **self.evaluation.report(),
        }


def cross_validate(
    paths: Names,
    *,
    folds: int = 10,
    metric: str = "error",
    tell: Callable[[int], object] = lambda _: None,
    **parameters: Any,
) -> CrossValidation:
    r"""Judge a recipe by k folds of the rows of files.

    Every fold has its share of each class. What the columns are, the words of texts with their
    rarity and the scaling of numbers are taken from all rows once, without their labels; the rest
    of a training happens anew for each fold. ``tell`` is called with the number of each fold
    when it is done; the parameters are those of ``rosenblatt.train_files`` that say what to learn.

    Examples
    --------
    >>> from rosenblatt.tuning.folds import cross_validate
    >>> path = getfixture("tmp_path") / "mail.csv"
    >>> _ = path.write_text("label,body\n" + "spam,buy now\nham,see you\n" * 20)
    >>> cross_validate(str(path), folds=4, text="body").mean
    0.0
    """
    check_metric(metric)
    plan = plan_of(paths, **parameters | {"calibrate": metric == "log-loss"})
    learner, kernel = plan.learner, plan.kernel
    if kernel is not None:
        unavailable = {"threshold": plan.wanted.threshold, "metric": metric == "log-loss"}
        kernel.check(learner, **unavailable)
    rows = source_rows(plan.source, fit_intercept=learner.fit_intercept, offer_bins=plan.tries_bins)
    evaluation, values, learned, n_binned = Evaluation(rows.classes), [], [], 0
    for number, (train, test) in enumerate(splits(rows.numbers, folds, learner.random_state), 1):
        source = BatchSource(rows.batch(train), learner, rows.offer)
        model = _model(plan, source) if kernel is None else kernel_model(plan, rows.take(train))
        n_binned += source.binned
        batch, scorer = rows.batch(test), Scorer(model)
        scores = scorer.scores(batch)
        guess = scorer.numbers(scores)
        if metric == "log-loss":
            values.append(log_loss(model.probabilities_of(scores), batch.labels))
        else:
            values.append(measured(metric, scores, batch.labels, guess))
        evaluation.add(batch.labels, guess, scores)
        learned.append(len(train))
        tell(number)
    return CrossValidation(
        metric, tuple(values), tuple(learned), evaluation, plan.title, rows.files, n_binned
    )


def check_metric(metric: str) -> None:
    """Raise InputError for what is no metric."""
    if metric not in METRICS:
        names = ", ".join(METRICS)
        msg = Sentence(f"{Parameter('metric')} must be one of {names}; got {metric!r}.")
        raise InputError(msg)


def splits(
    numbers: NDArray[Any], folds: int, seed: Any
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the rows to learn from and to try of each fold; folds have equal shares of a class.

    >>> [test.tolist() for _, test in splits(np.array([0, 0, 0, 1, 1, 1]), 3, 0)]
    [[2, 4], [0, 5], [1, 3]]
    """
    if folds < 2 or folds > len(numbers):
        msg = Sentence(
            f"{Parameter('folds')} must be at least 2 and at most the number of rows, "
            f"{len(numbers):,}; got {folds}."
        )
        raise InputError(msg)
    generator, fold = np.random.default_rng(seed), np.empty(len(numbers), np.int64)
    dealt = 0
    for number in np.unique(numbers):
        members = np.flatnonzero(numbers == number)
        permute(members, generator)
        fold[members] = (np.arange(len(members)) + dealt) % folds
        dealt += len(members)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]


class BatchSource:
    """One batch as a source of rows; bins that it has are tried, and dropped unless chosen."""

    rereadable = True

    def __init__(self, batch: Batch, learner: Learner, bins: BinOffer | None) -> None:
        self.batch, self._bins = batch, bins
        self.trial = None if bins is None else BinTrial(learner, lambda _: bins)

    @property
    def binned(self) -> bool:
        """Whether bins were chosen."""
        choice = None if self.trial is None else self.trial.choice
        return choice is not None and choice.chosen

    def batches(self) -> list[Batch]:
        """Return the batch."""
        return [self.batch]

    def finish(self) -> Finish | None:
        """Return what drops bins that were not chosen."""
        return None if self._bins is None or self.binned else self._bins.plain


def _model(plan: TrainingPlan, source: BatchSource) -> Model:
    """Return what the recipe makes of some rows."""
    done = plan.fit(source, prepare=source.trial)
    state, votes = done.trained.state, recorded(done.trained)
    state.widen(source.batch.n_features)
    model = Model(
        plan.learner.estimator,
        plan.learner.options(),
        source.batch.classes,
        **state.vectors(),
        arrays={} if votes is None else list_arrays(votes),
    )
    return done.fits.applied_to(model)
