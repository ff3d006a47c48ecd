"""The best learner for some rows: of arrays as a fitted estimator, of files as parameters."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.encoding import TableEncoding
from rosenblatt.kernels.shapes import dense_values, matrix_of
from rosenblatt.models.rows import MOST_DENSE_COLUMNS, read_rows
from rosenblatt.models.train import PARTS, TEXT_RULE, settings, settings_for
from rosenblatt.rules import rule_parameters
from rosenblatt.training.examples import Examples, class_weights, encode, targets_of
from rosenblatt.tuning.candidates import FEW_ROWS, Candidate, candidates, encodings, learners
from rosenblatt.tuning.folds import check_metric
from rosenblatt.tuning.judging import EncodedRows, RowJudge
from rosenblatt.tuning.kernels import KERNELS, KernelJudge, is_kernel, kernel_machine
from rosenblatt.tuning.search import Judge, Search, SearchStatus, halving

if TYPE_CHECKING:
    from rosenblatt.estimators.base import FittedClassifier

FEW_ROWS_TO_FOLD = 20_000  # up to here five folds, beyond one split
MOST_VALUES = 20_000_000  # in rows of the default encoding for others to be tried, too
SHARED = ("shuffle", "zero", "fit_intercept", "random_state")
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
    random_state: int = 0,
    tell: Tell = lambda _: None,
) -> "FittedClassifier":
    """Return the estimator that is best on held-out rows, fitted to all rows.

    Rules, their parameters, memories and numbers of passes are tried by successive halving; where
    there are few rows, voted and kernel perceptrons as well.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        Features of about the same size: scale them before.
    y : array of shape (n_rows,)
    metric : "error", "f1", "balanced-accuracy", "roc-auc" or "log-loss"
        What decides; F1 is the mean over the classes.
    folds : int, default None
        Number of folds, or 1 to hold out a fifth; 5 by default, and 1 beyond 20,000 rows.
    time_limit : float, default None
        Seconds that the search may take; Ctrl-C ends it as well. The best so far is fitted.
    n_jobs : int, default None
        Number of threads; one a processor by default.
    class_weight : "balanced" or dictionary of class: weight, default None
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
    from rosenblatt import estimators
    from rosenblatt.estimators.validation import check_classes, check_rows

    check_metric(metric)
    rows, labels = check_rows(estimators.AveragedPerceptron(), X, y, reset=True)
    classes, numbers = np.unique(labels, return_inverse=True)
    check_classes(classes, labels, None)
    weights = class_weights(class_weight, classes.tolist(), np.bincount(numbers))
    weight = None if weights is None else weights[numbers]
    encoded = EncodedRows(Examples(rows, encode(labels, classes), weight), numbers, len(classes))
    search = Search(metric, len(labels), _folds(folds, len(labels)))
    judge = RowJudge(
        lambda _: encoded,
        numbers,
        metric=metric,
        folds=search.folds,
        seed=random_state,
        shared={"random_state": random_state},
    )
    pool = candidates(learners({}, len(labels)), [()])
    judged: Judge = judge
    shared = {"class_weight": class_weight, "random_state": random_state}
    if len(labels) <= FEW_ROWS:
        machines = KernelJudge(judge, lambda _: X, labels, None, **shared)
        pool, judged = [*pool, *KERNELS], machines
    halving(search, pool, judged, time_limit=time_limit, n_jobs=n_jobs, tell=tell)
    best = search.best
    candidate = Candidate((("rule", "perceptron"),)) if best is None else best.candidate
    passes = None if best is None else best.passes
    if is_kernel(candidate):
        fitted: Any = kernel_machine(candidate, **shared)
    else:
        learner = candidate.learner_with(passes, random_state=random_state)
        kind: Any = getattr(estimators, learner.estimator)
        fitted = kind(**learner.options() | {"class_weight": class_weight})
    with warnings.catch_warnings():
        advice = ".* stopped after max_iter"
        warnings.filterwarnings("ignore", advice)  # held-out rows chose the passes
        fitted.fit(X, y)
    fitted.search_ = search
    found: FittedClassifier = fitted
    return found


def tune_files(
    paths: str | Sequence[str],
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

    Parameters
    ----------
    given : dictionary
        Parameters of ``train_files``; those that say nothing of columns, files, learner or classes
        are passed over.
    fixed : names of those parameters
        They stay as they are; the search chooses the others that it can.
    metric, folds, time_limit, n_jobs, tell :
        As in ``tune``.
    """
    check_metric(metric)
    class_weight = given.get("class_weight")
    known = {*rule_parameters()}.union(*PARTS.values())
    given = {name: value for name, value in given.items() if name in known}
    source, learner = settings_for(paths, **given)
    files = source.files
    encoded = _FileEncodings(files.names, files.layout, given, class_weight)
    base = encoded(Candidate(()))
    chosen = {*fixed} & {"rule", "memory", "max_iter", *rule_parameters()}
    kept = {name: given[name] for name in given if name in chosen}
    search = Search(metric, len(base.numbers), _folds(folds, len(base.numbers)))
    shared = {name: given.get(name) for name in SHARED}
    judge = RowJudge(
        encoded,
        base.numbers,
        metric=metric,
        folds=search.folds,
        seed=given.get("random_state", 0),
        shared=shared,
    )
    ways = encodings(
        fixed,
        has_text=base.has_text,
        n_features=base.examples.rows.shape[1],
        sparse=source.columns.degree > 1 or not files.rereadable or encoded.n_values > MOST_VALUES,
    )
    pool = candidates(learners(kept, len(base.numbers)), ways)
    default = TEXT_RULE if base.has_text else learner.rule
    pool.sort(key=lambda one: (one.encoding != (), dict(one.learner)["rule"] != default))
    judged: Judge = judge
    if len(base.numbers) <= FEW_ROWS and not chosen - {"max_iter"}:
        weight = base.examples.weight
        judged = KernelJudge(
            judge, encoded.matrix, base.numbers, weight, class_weight=None, **shared
        )
        pool += [Candidate((*entry.learner, *kept.items())) for entry in KERNELS]
    halving(search, pool, judged, time_limit=time_limit, n_jobs=n_jobs, tell=tell)
    best = search.best
    if best is None:
        return FileChoice({}, search)
    found = best.candidate.parameters | {"max_iter": best.passes, "early_stopping": False}
    return FileChoice(found, search)


class _FileEncodings:
    """The rows of files by encoding, each read when it is first tried."""

    def __init__(
        self, names: Sequence[str], layout: Any, given: Mapping[str, Any], class_weight: Any
    ) -> None:
        self.n_values = 0  # of the first encoding
        self._names, self._layout, self._given = names, layout, given
        self._class_weight = class_weight
        self._known: dict[Any, EncodedRows] = {}
        self._lock = Lock()

    def __call__(self, candidate: Candidate) -> EncodedRows:
        """Return the rows as the candidate encodes them."""
        with self._lock:
            if candidate.encoding not in self._known:
                self._known[candidate.encoding] = self._read(dict(candidate.encoding))
            return self._known[candidate.encoding]

    def matrix(self, candidate: Candidate) -> Any:
        """Return the same rows as an array, or as a sparse matrix where they are wide."""
        rows = self(candidate).examples.rows
        return matrix_of(rows) if rows.shape[1] > MOST_DENSE_COLUMNS else dense_values(rows)

    def _read(self, encoding: Mapping[str, Any]) -> EncodedRows:
        _, columns, learner = settings(**dict(self._given) | dict(encoding))
        found = read_rows(self._names, self._layout, columns, fit_intercept=learner.fit_intercept)
        numbers, n_classes = found.numbers, len(found.classes)
        self.n_values = self.n_values or len(found.rows.data)
        weight = found.row_weights(self._class_weight)
        examples = Examples(found.rows, targets_of(numbers, n_classes), weight)
        inner = found.encoding
        has_text = isinstance(inner, TableEncoding) and inner.has_text
        return EncodedRows(examples, numbers, n_classes, has_text)


def _folds(folds: int | None, n_rows: int) -> int:
    if folds is not None:
        return folds
    return 5 if n_rows <= FEW_ROWS_TO_FOLD else 1
