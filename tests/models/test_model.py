"""``Model``, the one fitted thing: every estimator holds one, and both say the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from rosenblatt import (
    AveragedPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    VotedPerceptron,
    explain,
    load,
    save,
)
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model, model_of
from tests.estimators.test_fit import quiet_fit
from tests.models.models import assert_same, example

RNG = np.random.default_rng(0)
X = RNG.integers(-5, 6, (120, 4)).astype(float)
LABELS = {2: np.where(X @ [1, -2, 1, 0] > 0, "up", "down"), 3: (X @ [1, 1, 0, 2] // 8) % 3}
LEARNERS: list[Any] = [
    Perceptron(max_iter=4),
    AveragedPerceptron(max_iter=4, zero="positive"),
    PassiveAggressiveClassifier(max_iter=4, fit_intercept=False),
    VotedPerceptron(max_iter=3),
]


def fitted(learner: Any, n_classes: int, form: Any = np.asarray) -> Any:
    """Return a copy of the learner, fitted, without a word about passes."""
    return quiet_fit(clone(learner), form(X), LABELS[n_classes])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_model_and_estimator_say_the_same(learner: Any, n_classes: int, form: Any) -> None:
    """Scores are equal up to the order of additions, labels and their type in any case."""
    clf = fitted(learner, n_classes, form)
    model = clf.model_
    assert np.allclose(model.scores(form(X)), clf.decision_function(form(X)), rtol=1e-12)
    assert model.predict(form(X)).tolist() == clf.predict(form(X)).tolist()
    assert model.predict(X).dtype == clf.predict(X).dtype
    assert np.array_equal(model.deciding_weights[:, :-1], clf.coef_)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_what_is_saved_is_the_model(learner: Any, tmp_path: Path) -> None:
    """The file of an estimator holds its model, and gives an estimator around the same one."""
    clf = fitted(learner, 3)
    save(clf, tmp_path / "a.model")
    clf.model_.save(tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    assert_same(load(tmp_path / "a.model").model_, Model.load(tmp_path / "a.model"))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_model_that_was_taken_stays(learner: Any) -> None:
    """Learning on changes the estimator and not the model that somebody took from it."""
    clf = fitted(learner, 2)
    taken = clf.model_
    kept = [taken.weights.tobytes(), taken.count, dict(taken.outcome), len(taken.arrays)]
    clf.partial_fit(X[:50], LABELS[2][::-1][:50])
    assert [taken.weights.tobytes(), taken.count, dict(taken.outcome), len(taken.arrays)] == kept
    assert clf.model_.count == taken.count + 50


def test_parameters_are_those_of_the_moment() -> None:
    """A parameter that is set after fit is the model's, too."""
    clf = fitted(Perceptron(max_iter=4), 2)
    assert not clf.model_.positive
    assert clf.set_params(zero="positive").model_.positive


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_explanation_adds_up(n_classes: int) -> None:
    """The terms of a row and the bias are its score, or the lead of the winner."""
    clf = fitted(AveragedPerceptron(max_iter=4), n_classes)
    for row in X[:10]:
        found, scores = explain(clf, row), clf.decision_function(row[None])[0]
        lead = scores if n_classes == 2 else np.sort(scores)[-1] - np.sort(scores)[-2]
        assert found.total == pytest.approx(lead)
        assert sum(term.amount for term in found.terms) + found.bias == pytest.approx(lead)
        assert explain(clf.model_, sparse.csr_array(row[None])) == found


def test_names_are_those_of_the_columns() -> None:
    """Terms have the names of a data frame's columns, or the numbers of features."""
    model = example(2, 2, feature_names=("height", "width"), spread=None)
    assert {term.name for term in model.explain([1.0, 1.0]).terms} <= {"height", "width"}
    assert explain(fitted(LEARNERS[0], 2), X[0]).terms[0].name.startswith("feature ")


@pytest.mark.parametrize(
    ("given", "row", "sentence"),
    [
        (Perceptron(), [1.0], "A fitted estimator of rosenblatt or a Model is needed; got a Perc"),
        (3, [1.0], "A fitted estimator of rosenblatt or a Model is needed; got a int"),
        (example(), [1.0, 2.0], "X has 2 features; the model was trained on 4"),
        (example(), [[1.0] * 4] * 2, "explain takes one row; got 2"),
    ],
)
def test_bad_rows_to_explain(given: Any, row: Any, sentence: str) -> None:
    """What cannot be explained is told in a sentence."""
    with pytest.raises(InputError, match=sentence):
        explain(given, row)


def test_probabilities_need_a_calibration() -> None:
    """A model without one says how to get it."""
    with pytest.raises(InputError, match="train it with calibrate=True"):
        example(calibration=None).probabilities(np.zeros((1, 4)))
    shares = example().probabilities(np.ones((2, 4)))
    assert np.allclose(shares.sum(axis=1), 1.0)


def test_model_of() -> None:
    """Whoever takes an estimator takes its model, too."""
    clf = fitted(LEARNERS[1], 2)
    assert model_of(clf).learner == "AveragedPerceptron"
    assert model_of(model := clf.model_) is model
