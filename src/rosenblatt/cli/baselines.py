"""Baselines that a model is compared with: guessing, and linear models of scikit-learn."""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.screen import Screen
from rosenblatt.data.batch import Batch, join
from rosenblatt.data.files import Layout
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.models.evaluation import Evaluation, mcnemar
from rosenblatt.models.model import Model
from rosenblatt.models.rows import model_rows
from rosenblatt.wording import counted, printable

NOISE = 0.05  # a p-value above this counts as no difference

Predict = Callable[[Batch], NDArray[Any]]


class Comparison:
    """Another way to predict, judged on the same rows as the model."""

    def __init__(
        self, name: str, title: str, model: Model, predict: Predict, seconds: float | None
    ) -> None:
        self.name, self.title, self.seconds = name, title, seconds
        self.evaluation = Evaluation(model.classes)
        self.only_model_wrong = self.only_other_wrong = 0
        self._predict = predict

    def add(self, batch: Batch, _scores: NDArray[Any], guess: NDArray[Any]) -> None:
        """Count a batch for which the model guesses so."""
        other = self._predict(batch)
        self.evaluation.add(batch.labels, other, None, batch.classes)
        labelled = batch.labels >= 0
        right, other_right = guess == batch.labels, other == batch.labels
        self.only_model_wrong += int(np.count_nonzero(labelled & ~right & other_right))
        self.only_other_wrong += int(np.count_nonzero(labelled & right & ~other_right))

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
    counts = model.training.get("class_counts")
    if not counts:
        msg = "The model file does not store how often each class occurred in training."
        raise InputError(msg)
    best = int(np.argmax(counts))

    def predict(batch: Batch) -> NDArray[Any]:
        return np.full(batch.n_rows, best)

    title = f"always {printable(str(model.classes[best]))}"
    return Comparison("most-frequent", title, model, predict, None)


def _training_rows(model: Model, train: Sequence[str], layout: Layout, screen: Screen) -> Batch:
    files = train or model.training.get("files") or ()
    if not files or "-" in files or not (train or all(Path(name).exists() for name in files)):
        advice = Sentence(
            "The training data of the model cannot be read again; name training data for the "
            "scikit-learn models with ",
            *(Parameter("train"), "."),
        )
        raise InputError(advice)
    batches = list(model_rows(model, files, layout=layout))
    if not batches:
        msg = f"{' '.join(files)}: no rows to train on."
        raise InputError(msg)
    rows = join(batches)
    n = counted(rows.n_rows, "row")
    screen.say(f"scikit-learn trains on {n} of {printable(' '.join(files))} for comparison.")
    return rows


def _scikit_learn(name: str, model: Model, rows: Batch, screen: Screen) -> Comparison:
    from sklearn.linear_model import LogisticRegression, Perceptron
    from sklearn.svm import LinearSVC

    learner: Any = {
        "perceptron": Perceptron(),
        "logistic-regression": LogisticRegression(max_iter=1000),
        "linear-svc": LinearSVC(),
    }[name]
    title = type(learner).__name__
    known = (rows.labels >= 0) & (rows.labels < len(model.classes))
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            learner.fit(_matrix(model, rows)[known], rows.labels[known])
        except ValueError as error:
            msg = f"scikit-learn's {title} cannot be trained on these rows: {error}"
            raise InputError(msg) from error
    seconds = time.perf_counter() - started
    unfinished = any(warning.category.__name__ == "ConvergenceWarning" for warning in caught)
    screen.say(f"{title}: {seconds:.2f} s{', did not converge' if unfinished else ''}.")

    def predict(batch: Batch) -> NDArray[Any]:
        return np.asarray(learner.predict(_matrix(model, batch)))

    return Comparison(name, title, model, predict, seconds)


def _matrix(model: Model, batch: Batch) -> Any:
    from scipy.sparse import csr_array

    n_features = max(model.n_features, batch.n_features)
    fits = len(batch.data) < 2**31  # into the row starts that scikit-learn takes
    starts = batch.indptr.astype(np.int32) if fits else batch.indptr
    matrix = csr_array((batch.data, batch.indices, starts), shape=(batch.n_rows, n_features))
    return matrix[:, : model.n_features] if n_features > model.n_features else matrix
