"""Rows that a user holds out: their own, or whole groups, where random rows deceive."""

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, cross_val_score

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    KernelPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    RuleClassifier,
    VotedPerceptron,
)
from rosenblatt.errors import InputError
from rosenblatt.training.holdout import HoldOut

STOPPING: dict[str, Any] = {"early_stopping": True, "random_state": 0}
ESTIMATORS = [
    Perceptron(max_iter=20, **STOPPING),
    AveragedPerceptron(**STOPPING),
    PassiveAggressiveClassifier(**STOPPING),
    ConfidenceWeightedClassifier(**STOPPING),
    RuleClassifier(**STOPPING),
    VotedPerceptron(max_iter=5, **STOPPING),
    KernelPerceptron(kernel="rbf", **STOPPING),
]


def repeated(n_groups: int = 40, n_rows: int = 15) -> tuple[Any, Any, Any]:
    """Return rows that are nearly alike within a group, whose label is a coin's."""
    generator = np.random.default_rng(0)
    centres, labels = generator.normal(size=(n_groups, 30)), generator.integers(2, size=n_groups)
    groups = generator.permutation(np.arange(n_groups).repeat(n_rows))
    noise = 0.01 * generator.normal(size=(len(groups), 30))
    return centres[groups] + noise, np.array(["no", "yes"])[labels[groups]], groups


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_groups_are_held_out_together(estimator: Any) -> None:
    """By random rows nothing is left to learn; by groups the labels are seen to be a coin's."""
    X, y, groups = repeated()
    deceived = estimator.fit(X, y).history_
    assert max(record.validation_score for record in deceived) > 0.95
    honest = estimator.fit(X, y, groups=[f"group {k}" for k in groups]).history_
    assert max(record.validation_score for record in honest) < 0.85
    again = estimator.fit(X, y, groups=[f"group {k}" for k in groups]).history_
    assert [one.validation_score for one in again] == [one.validation_score for one in honest]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_own_rows_choose_the_pass(estimator: Any, form: Any) -> None:
    """They are never learned from, in any form, and their error is the score of each pass."""
    X, y, groups = repeated()
    late = groups >= 30
    fitted = estimator.fit(X[~late], y[~late], X_val=form(X[late]), y_val=y[late])
    scores = [record.validation_score for record in fitted.history_]
    assert max(scores) == pytest.approx(fitted.score(X[late], y[late]))
    alone = type(estimator)(**estimator.get_params() | {"early_stopping": False})
    alone.set_params(max_iter=int(np.argmax(scores)) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        alone.fit(X[~late], y[~late])
    assert np.array_equal(alone.predict(X), fitted.predict(X))


def test_own_rows_fit_probabilities() -> None:
    """Calibrated by its own rows, nothing is known of groups that were not met."""
    X, y, groups = repeated()
    late = groups >= 25
    clf = AveragedPerceptron(calibrate=True)
    sure = clf.fit(X[~late], y[~late]).predict_proba(X[late]).max(axis=1)
    unsure = clf.fit(X[~late], y[~late], X_val=X[late], y_val=y[late])
    assert unsure.predict_proba(X[late]).max(axis=1).mean() < sure.mean()
    by_groups = AveragedPerceptron(calibrate=True, early_stopping=True).fit(X, y, groups=groups)
    assert by_groups.predict_proba(X).max(axis=1).mean() < sure.mean()


def test_weights_and_three_classes() -> None:
    """Rows of weight 0 are neither learned from nor held out."""
    X, y, groups = repeated()
    y = np.where(X[:, 0] > 1.0, "other", y)
    weight = (groups != 3).astype(float)
    clf = AveragedPerceptron(**STOPPING)
    fitted = clf.fit(X, y, sample_weight=weight, groups=groups).coef_
    some = groups != 3
    expected = clf.fit(X[some], y[some], groups=groups[some]).coef_
    assert fitted.shape == expected.shape == (3, 30)
    val = {"X_val": X[~some], "y_val": y[~some]}
    own = clf.fit(X, y, sample_weight=weight, **val).coef_
    np.testing.assert_array_equal(own, clf.fit(X[some], y[some], **val).coef_)


@pytest.mark.parametrize(
    ("parameters", "given", "sentence"),
    [
        ({}, {"X_val": [[0.0]]}, "fit needs X_val and y_val, or neither; got one"),
        ({}, {"X_val": [[0.0]], "y_val": [2]}, "The label 2 in y_val is not a class of the model"),
        ({}, {"X_val": [[0.0, 1.0]], "y_val": [1]}, "X has 2 features, but .* is expecting 1"),
        ({}, {"X_val": [[np.nan]], "y_val": [1]}, "Row 0 of X, feature 0, is NaN"),
        ({}, {"groups": [1]}, "groups must have one value per row, 4 in all; got shape"),
        ({}, {"groups": [1] * 4}, "all rows are of one group"),
        ({"early_stopping": False}, {"groups": [1, 1, 2, 2]}, "groups are held out for early"),
        (
            {},
            {"X_val": [[0.0]], "y_val": [1], "groups": [1, 1, 2, 2]},
            "X_val and groups both say which rows are held out",
        ),
        (
            {"early_stopping": False},
            {"X_val": [[0.0]], "y_val": [1]},
            "X_val and y_val are held out for early stopping: set early_stopping=True",
        ),
    ],
)
def test_what_cannot_be_held_out(parameters: Any, given: Any, sentence: str) -> None:
    """Sentences say what is missing or of no effect."""
    clf = AveragedPerceptron(**STOPPING | parameters)
    with pytest.raises(ValueError, match=sentence):
        clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], **given)


def test_a_gram_matrix_has_no_own_rows() -> None:
    """A precomputed kernel has no row for others."""
    clf = KernelPerceptron(kernel="precomputed", **STOPPING)
    with pytest.raises(InputError, match="X_val is not available with a precomputed kernel"):
        clf.fit(np.eye(4), [0, 1, 0, 1], X_val=np.eye(4), y_val=[0, 1, 0, 1])


def test_groups_pass_through_scikit_learn() -> None:
    """Its folds of groups agree that there is nothing to learn."""
    X, y, groups = repeated()
    with sklearn.config_context(enable_metadata_routing=True):
        clf = AveragedPerceptron(**STOPPING).set_fit_request(groups=True)
        found = cross_val_score(clf, X, y, cv=GroupKFold(4), params={"groups": groups})
    assert found.mean() < 0.7


def test_the_share_of_groups() -> None:
    """Groups have about the share of the rows that is asked for, and never all of them."""
    generator = np.random.default_rng(1)
    groups = generator.integers(0, 200, 5_000).astype(np.uint64)
    for key in range(20):
        held_out = HoldOut(0.1, key).of_groups(groups).mask(np.arange(5_000))
        assert 0.1 <= held_out.mean() < 0.12
        assert not set(groups[held_out]) & set(groups[~held_out])
    large = np.array([1] * 90 + [2] * 10, np.uint64)
    assert {len(HoldOut(0.01, k).of_groups(large).between(0, 100).tried) for k in range(9)} == {10}
