"""The best learner for some rows: of arrays as a fitted estimator, of files as parameters."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from numbers import Integral
from typing import Any, cast

import numpy as np

from rosenblatt import estimators
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.files import Files, TrainingFiles
from rosenblatt.data.sources import Paths
from rosenblatt.errors import InputError, Parameter
from rosenblatt.estimators.base import FittedClassifier
from rosenblatt.estimators.encoders import behind, encoded_words
from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.estimators.multilabel import encoded_rows, usual_learner
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.shapes import dense_values, matrix_of
from rosenblatt.models.forms import PAIRS, FittedForm, TableForms
from rosenblatt.models.kernel_machine import KernelChoice
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.rows import MOST_DENSE_COLUMNS, source_rows
from rosenblatt.models.search import (
    Candidate,
    Curve,
    EncodedRows,
    RowJudge,
    Search,
    SearchStatus,
    Settings,
    halving,
)
from rosenblatt.models.train import PARTS, TEXT_RULE, TrainingPlan, plan_of
from rosenblatt.rules import rule_parameters
from rosenblatt.tasks import task_of
from rosenblatt.training.examples import Examples
from rosenblatt.training.streaming import Reading
from rosenblatt.tuning.candidates import (
    FEW_ROWS,
    candidates,
    encodings,
    learners,
    rungs,
)
from rosenblatt.tuning.folds import check_metric

FEW_ROWS_TO_FOLD = 20_000  # up to here five folds, beyond one split
MOST_VALUES = 20_000_000  # in rows of the default encoding for others to be tried, too
SHARED = ("shuffle", "zero", "fit_intercept", "random_state")
KERNEL_PASSES = 5
KERNELS = tuple(  # where there are so few rows that they can be fitted
    Candidate((("rule", "perceptron"), *entry.items()))
    for entry in (
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.1},
        {"kernel": "poly", "kernel_degree": 2},
        {"kernel": "poly", "kernel_degree": 3},
    )
)
Tell = Callable[[SearchStatus], object]


@dataclass(frozen=True)
class FileChoice:
    """What a search over files found: the parameters of ``train_files`` that do best."""

    parameters: dict[str, Any]
    search: Search


def tune(
    X: Any,
    y: Any,
    *,
    metric: str = "error",
    folds: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    class_weight: Any = None,
    goal: str | None = None,
    random_state: int = 0,
    tell: Tell = lambda _: None,
) -> FittedClassifier:
    """Return the estimator that is best on held-out rows, fitted to all rows.

    Rules, their parameters, memories and numbers of passes are tried by successive halving; of few
    rows voted and kernel perceptrons, too. Several labels a row are judged by the share of them
    that is not ranked first; the estimator is a ``MultilabelClassifier`` with thresholds.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features), or data frame
        Features of about the same size. Words are encoded by ``TableEncoder``, in a pipeline.
    y : array of shape (n_rows,)
        Or, where rows may have several labels, what ``MultilabelClassifier`` takes: an indicator or
        a list of labels for each row.
    metric : "error", "f1", "balanced-accuracy", "roc-auc" or "log-loss"
        What decides; F1 is the mean over the classes. Not for several labels a row.
    folds : int, default None
        Number of folds, or 1 to hold out a fifth; 5 by default, and 1 beyond 20,000 rows.
    time_limit : float, default None
        Seconds that the search may take; Ctrl-C ends it as well. The best so far is fitted.
    n_jobs : int, default None
        Number of threads; one a processor.
    class_weight : "balanced" or dictionary of class: weight, default None
    goal : "each" or "ranking", default None
        When a row of several labels is right, as in ``MultilabelClassifier``; by default "each".
    random_state : int
        Random seed. Without a time limit the same seed chooses the same.
    tell : function of a ``SearchStatus``
        Called while the search runs.

    Returns
    -------
    fitted estimator
        With ``search_``: ``search_.best`` and ``search_.ranked()`` say what was tried.

    Examples
    --------
    >>> from rosenblatt import tune
    >>> X = [[i % 7, i % 5] for i in range(70)]
    >>> clf = tune(X, [a > b for a, b in X], folds=3)
    >>> clf.score(X, [a > b for a, b in X]), clf.search_.best.mean < 0.1
    (1.0, True)
    """
    check_metric(metric)
    X, encoder = encoded_words(X)
    usual = usual_learner(y, goal)
    task = usual.answer
    task.check_metric(metric, searched=True)
    if class_weight is not None:
        task.refuse(Parameter("class_weight"))
    encoded = encoded_rows(X, y, class_weight)
    shared = {"random_state": random_state, "task": usual.task}
    n_rows = len(encoded.numbers)
    pool = candidates(learners({}, n_rows, usual), [()])
    pool += KERNELS if n_rows <= FEW_ROWS and task.by_kernels else ()
    search = Search(metric, n_rows, _folds(folds, n_rows), task=usual.task)
    judge = KernelJudge(lambda *_: encoded, encoded, search, shared)
    how: dict[str, Any] = {"time_limit": time_limit, "n_jobs": n_jobs, "tell": tell}
    best = halving(search, rungs(pool, n_rows, task), judge, **how).best
    candidate, passes = (pool[0], None) if best is None else (best.candidate, best.passes)
    fitted = _estimator(candidate, passes, class_weight, shared)
    with warnings.catch_warnings():
        advice = ".* stopped after max_iter"
        warnings.filterwarnings("ignore", advice)  # held-out rows chose the passes
        fitted.fit(X, y)
    fitted.search_ = search
    return cast("FittedClassifier", fitted if encoder is None else behind(encoder, fitted))


def _estimator(
    candidate: Candidate, passes: int | None, class_weight: Any, shared: dict[str, Any]
) -> Any:
    """Return the estimator of a candidate."""
    if by_kernel(candidate):
        return kernel_perceptron(candidate, class_weight=class_weight, **shared)
    learner = candidate.learner_with(passes, **shared)
    made_by = LearnerRecord.of(learner)
    kind: Any = getattr(estimators, made_by.name)
    return kind(**made_by.options | {"class_weight": class_weight})


def tune_files(
    paths: Paths,
    given: Mapping[str, Any],
    fixed: Sequence[str] = (),
    *,
    metric: str = "error",
    folds: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    tell: Tell = lambda _: None,
) -> FileChoice:
    """Return the parameters of ``train_files`` that are best on held-out rows of files.

    Of the parameters ``given`` those that are ``fixed`` stay as they are, and those that say
    nothing of columns, files, learner or classes are passed over; the others are as in ``tune``.
    Several labels a row are judged by the share of them that is not ranked first, as by early
    stopping, which then stays on: it holds out the rows that thresholds are fitted to.
    """
    check_metric(metric)
    known = {"class_weight", "threshold", "goal", *rule_parameters()}.union(*PARTS.values())
    given = {name: value for name, value in given.items() if name in known}
    plan = plan_of(paths, **given)
    task = plan.learner.answer
    task.check_metric(metric, searched=True)
    source, encoded = plan.source, cache(partial(_encoded_rows, plan))
    paired = _named_pairs(source)
    base = encoded(())
    n_rows, features = len(base.numbers), base.examples.rows
    chosen = {*fixed} & {"rule", "memory", "max_iter", *rule_parameters()}
    kept = {name: given[name] for name in given if name in chosen}
    large = not source.rereadable or len(cast("CSR", features).data) > MOST_VALUES
    ways = encodings(
        fixed,
        has_text=base.has_text,
        n_features=features.shape[1],
        sparse=large or paired,
    )
    pool = candidates(learners(kept, n_rows, plan.learner), ways)
    default = TEXT_RULE if base.has_text and task.races else plan.learner.rule
    pool.sort(key=lambda one: (one.encoding != (), dict(one.learner)["rule"] != default))
    if n_rows <= FEW_ROWS and task.by_kernels and not chosen - {"max_iter"}:
        pool += [Candidate((*entry.learner, *kept.items())) for entry in KERNELS]
    search = Search(metric, n_rows, _folds(folds, n_rows), task=task.name)
    shared = {name: given[name] for name in SHARED if name in given} | {"task": task.name}
    judge = KernelJudge(lambda way, _: encoded(way), base, search, shared)
    how: dict[str, Any] = {"time_limit": time_limit, "n_jobs": n_jobs, "tell": tell}
    best = halving(search, rungs(pool, n_rows, task), judge, **how).best
    if best is None:
        return FileChoice({}, search)
    # What else held-out rows would decide is decided
    rest = {"recipe": "plain"} if task.needs_held_out else {"early_stopping": False}
    return FileChoice(best.candidate.parameters | {"max_iter": best.passes} | rest, search)


def _named_pairs(source: TrainingFiles) -> bool:
    """Return whether there are pairs of columns; they must have names."""
    pairs = source.columns.column_pairs
    if pairs and isinstance(pairs, Integral):
        raise InputError(
            f"{Parameter('column_pairs', pairs)} chooses pairs for one training; to tune with pairs"
            f" of columns, name them: {Parameter('column_pairs', 'A:B')}."
        )
    return bool(pairs)


def _encoded_rows(plan: TrainingPlan, encoding: Settings) -> EncodedRows:
    """Read the rows of files, encoded so."""
    source: TrainingFiles = plan.source
    if encoding:
        files = Files(source.files.names, source.files.layout)
        source = TrainingFiles(files, replace(source.columns, **dict(encoding)))

    def choose(reading: Reading) -> FittedForm | None:
        if not source.columns.column_pairs:  # by name
            return None
        return TableForms(source, reading, plan.learner).of_all(PAIRS, reading)

    rows = source_rows(source, choose=choose, fit_intercept=plan.learner.fit_intercept)
    numbers, n_classes = rows.numbers, len(rows.classes)
    weight = rows.row_weights(plan.class_weight)
    targets = task_of(plan.learner.task, n_classes).targets(numbers)
    examples = Examples(rows.rows, targets, weight, sets=rows.sets)
    has_text = isinstance(rows.encoding, TableEncoding) and rows.encoding.has_text
    return EncodedRows(examples, numbers, n_classes, has_text, rows.groups)


class KernelJudge(RowJudge):
    """Judges kernel machines, which see all rows, as well."""

    def __call__(
        self, candidate: Candidate, share: float, fold: int, stopped: Callable[[], bool]
    ) -> Curve:
        """Return the metric on the fold; of a kernel machine it is known after the last pass."""
        if not by_kernel(candidate):
            return super().__call__(candidate, share, fold, stopped)
        examples, (train, test) = self._rows(candidate, fold).examples, self.folds[fold]
        machine = kernel_perceptron(candidate, **self._shared)
        wide = examples.rows.shape[1] > MOST_DENSE_COLUMNS
        X: Any = matrix_of(examples.rows) if wide else dense_values(examples.rows)
        weight = None if examples.weight is None else examples.weight[train]
        machine.fit(X[train], self._numbers[train], weight)
        scores = np.asarray(machine.decision_function(X[test]))
        return self._last_value(scores, test, machine.max_iter)


def by_kernel(candidate: Candidate) -> bool:
    """Return whether a candidate is a kernel machine."""
    return "kernel" in candidate.parameters


def kernel_perceptron(candidate: Candidate, **shared: Any) -> KernelPerceptron:
    """Return the estimator of a candidate, with what all candidates share."""
    given, names = dict(candidate.learner), ("kernel", "gamma", "kernel_degree")
    choice = KernelChoice.from_parameters(**{name: given.pop(name, None) for name in names})
    class_weight = shared.pop("class_weight", None)
    learner = Candidate(tuple(given.items())).learner_with(KERNEL_PASSES, **shared)
    return KernelPerceptron(**choice.options(learner), class_weight=class_weight)


def _folds(folds: int | None, n_rows: int) -> int:
    if folds is not None:
        return folds
    return 5 if n_rows <= FEW_ROWS_TO_FOLD else 1
