"""Baselines that a model is compared with: guessing, and models of scikit-learn."""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.screen import Screen
from rosenblatt.data.batch import Batch, join
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.files import Layout
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.models.model import Model
from rosenblatt.tasks.evaluation import Judged, mcnemar
from rosenblatt.wording import counted, printable, word_list

MOST_TREE_VALUES = 1 << 28  # 2 GB
MOST_CATEGORIES = 254  # of a column, that scikit-learn takes
NUMBER, MISSING, NOWHERE = -1, -2, -1  # codes of features, and the place of those left out
NOISE = 0.05  # a p-value above this counts as no difference

Predict = Callable[[Batch], NDArray[Any]]


class Comparison:
    """Another way to predict, judged on the same rows as the model."""

    def __init__(
        self, name: str, title: str, model: Model, predict: Predict, seconds: float | None
    ) -> None:
        self.name, self.title, self.seconds = name, title, seconds
        self._task = model.task
        self.evaluation: Any = model.task.evaluation(model.classes)
        self.only_model_wrong = self.only_other_wrong = 0
        self._predict = predict

    def add(self, judged: Judged) -> None:
        """Count a batch of which the model says so."""
        answers = self._predict(judged.batch)[judged.rows]
        other = judged._replace(answers=answers, scores=None, confidence=None)
        self.evaluation.count(other)
        right, other_right = self._task.right(judged), self._task.right(other)
        self.only_model_wrong += int(np.count_nonzero(~right & other_right))
        self.only_other_wrong += int(np.count_nonzero(right & ~other_right))

    @property
    def p_value(self) -> float:
        """How likely so large a difference is if both were equally good."""
        return mcnemar(self.only_model_wrong, self.only_other_wrong)

    @property
    def verdict(self) -> str:
        """What the difference means."""
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"
        if self.p_value > NOISE:
            return f"could be chance, {p}"
        better = self.only_model_wrong < self.only_other_wrong
        return f"model {'better' if better else 'worse'}, {p}"

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        return {
            "name": self.name,
            "title": self.title,
            "training_seconds": self.seconds,
            "only_model_wrong": self.only_model_wrong,
            "only_other_wrong": self.only_other_wrong,
            "mcnemar_p": self.p_value,
            **self.evaluation.report(),
        }


def comparisons_with(
    names: Iterable[str], model: Model, train: Sequence[str], layout: Layout, screen: Screen
) -> list[Comparison]:
    """Return the comparisons of these names, trained where they need it."""
    comparisons = []
    learned: Batch | None = None
    for name in names:
        if name == "most-frequent":
            comparisons.append(_most_frequent(model))
            continue
        if learned is None:
            learned = _training_rows(model, train, layout, screen)
        comparisons.append(_scikit_learn(name, model, learned, screen))
    return comparisons


def _most_frequent(model: Model) -> Comparison:
    if not model.training.get("class_counts"):
        raise InputError("The model file does not store how often each class occurred in training.")
    best = model.task.most_frequent(model.training)
    said = model.task.one_answer(best)
    title = f"always {printable(word_list([str(model.classes[k]) for k in best]))}"
    predict = lambda rows: np.full((rows.n_rows, *np.shape(said)), said)  # noqa: E731
    return Comparison("most-frequent", title, model, predict, None)


def _training_rows(model: Model, train: Sequence[str], layout: Layout, screen: Screen) -> Batch:
    files = train or model.training.get("files") or ()
    if not files or "-" in files or not (train or all(Path(name).exists() for name in files)):
        advice = Sentence(
            "The training data of the model cannot be read again; name training data for the"
            f" scikit-learn models with {Parameter('train')}."
        )
        raise InputError(advice)
    batches = list(model.rows(files, layout=layout))
    if not batches:
        raise InputError(f"{' '.join(files)}: no rows to train on.")
    rows = join(batches)
    n = counted(rows.n_rows, "row")
    screen.say(f"scikit-learn trains on {n} of {printable(' '.join(files))} for comparison.")
    return rows


def _scikit_learn(name: str, model: Model, rows: Batch, screen: Screen) -> Comparison:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression, Perceptron
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    columns: Callable[[Batch], Any] = partial(_matrix, model)
    learner: Any
    if name == "hist-gradient-boosting":
        columns = trees = TreeColumns(model, rows)
        learner = HistGradientBoostingClassifier(
            categorical_features=trees.categorical, random_state=0
        )
        if trees.n_text_features:
            n = counted(trees.n_text_features, "feature")
            screen.say(f"Trees take no texts and lists; {n} of these are left out for them.")
    else:
        learner = {
            "perceptron": Perceptron(),
            "logistic-regression": LogisticRegression(max_iter=1000),
            "linear-svc": LinearSVC(),
        }[name]
    title = type(learner).__name__
    learner = model.task.learner_of_others(learner, OneVsRestClassifier)
    known, targets = model.task.truths(model.classes).known(rows)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            learner.fit(columns(rows)[known], targets)
        except ValueError as error:
            msg = f"scikit-learn's {title} cannot be trained on these rows: {error}"
            raise InputError(msg) from error
    seconds = time.perf_counter() - started
    unfinished = any(warning.category.__name__ == "ConvergenceWarning" for warning in caught)
    screen.say(f"{title}: {seconds:.2f} s{', did not converge' if unfinished else ''}.")
    predict = lambda batch: np.asarray(learner.predict(columns(batch)), targets.dtype)  # noqa: E731
    return Comparison(name, title, model, predict, seconds)


def _matrix(model: Model, batch: Batch) -> Any:
    from scipy.sparse import csr_array

    rows = batch.below(model.n_features)
    fits = len(rows.data) < 2**31  # into the row starts that scikit-learn takes
    starts = rows.indptr.astype(np.int32) if fits else rows.indptr
    return csr_array((rows.data, rows.indices, starts), shape=(rows.n_rows, model.n_features))


class TreeColumns:
    """Makes rows columns again, as trees take them: a number, or the code of a category.

    Bins of numbers and pairs of features are left out, since trees find them by themselves, and so
    are words of texts, which are too many. A number that is missing is NaN, and so is a category
    that is not among the most frequent ones of its column.
    """

    def __init__(self, model: Model, rows: Batch) -> None:
        encoder: Any = getattr(model.encoder, "inner", model.encoder)
        n_features = model.n_features if encoder is None else encoder.n_features
        numbers = np.arange(n_features)
        self._place, self._code = numbers.copy(), np.full(n_features, NUMBER)
        self.categorical = np.zeros(n_features, bool)
        self.n_text_features = 0
        if isinstance(encoder, TableEncoding):
            self._group(encoder, np.bincount(rows.indices, minlength=n_features))
        n_columns = len(self.categorical)
        if not n_columns:
            msg = "Trees take no texts, and the model has no other columns: compare it with others."
            raise InputError(msg)
        if n_columns * rows.n_rows > MOST_TREE_VALUES:
            raise InputError(
                f"hist-gradient-boosting keeps all values in memory: {rows.n_rows:,} rows of "
                f"{n_columns:,} columns are too many for it."
            )

    def _group(self, encoder: TableEncoding, counts: NDArray[Any]) -> None:
        """Find the column of each feature, and number the categories of each by frequency."""
        roles = [column.role for column in encoder.features]
        kept = [k for k, role in enumerate(roles) if role in ("numeric", "category")]
        places = {k: place for place, k in enumerate(kept)}
        numeric = [k for k in kept if roles[k] == "numeric"]
        categorical = [roles[k] == "category" for k in kept]
        self._place[: len(numeric)] = [places[k] for k in numeric]
        seen = [0] * len(roles)
        for feature in sorted(range(len(numeric), len(self._place)), key=lambda i: -counts[i]):
            column, term = encoder.numbering.name(feature - len(numeric)) or (None, "")
            if column is None:
                raise InputError("Trees need columns, and the features of the model are hashed.")
            self._place[feature] = places.get(column, NOWHERE)
            self.n_text_features += roles[column] in ("text", "list")
            if roles[column] == "vector" and term:  # each place is a column of numbers
                self._place[feature] = len(categorical)
                categorical.append(False)
            elif roles[column] == "numeric":  # "is missing", or a bin
                self._code[feature] = MISSING
                self._place[feature] = NOWHERE if term else places[column]
            else:
                self._code[feature] = seen[column] if seen[column] < MOST_CATEGORIES else MISSING
                seen[column] += 1
        self.categorical = np.array(categorical, bool)

    def __call__(self, batch: Batch) -> NDArray[np.float64]:
        """Return rows as an array."""
        values = np.zeros((batch.n_rows, len(self.categorical)))
        values[:, self.categorical] = np.nan
        of_rows = np.repeat(np.arange(batch.n_rows), np.diff(batch.indptr))
        known = batch.indices < len(self._place)
        known[known] = self._place[batch.indices[known]] >= 0
        features, row = batch.indices[known], of_rows[known]
        code, place = self._code[features], self._place[features]
        values[row, place] = np.where(code >= 0, code, batch.data[known])
        missing = code == MISSING
        values[row[missing], place[missing]] = np.nan  # also where the mean stands for a number
        return values
