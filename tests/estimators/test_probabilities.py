"""predict_proba: from rows that were not learned from, and never against the label."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    KernelPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    VotedPerceptron,
    load,
    save,
)
from rosenblatt.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LEARNERS = [
    Perceptron(max_iter=5),
    AveragedPerceptron(),
    AveragedPerceptron(fit_intercept=False),
    AveragedPerceptron(early_stopping=True),
    PassiveAggressiveClassifier(C=0.1),
    ConfidenceWeightedClassifier(),
    VotedPerceptron(max_iter=2),
    KernelPerceptron(max_iter=3),
]


def overlapping(n_classes: int, n_rows: int = 400) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows of classes that overlap, the first more often than the others."""
    X, y = make_classification(
        n_rows,
        6,
        n_informative=4,
        n_classes=n_classes,
        weights=[0.6] + [0.4 / (n_classes - 1)] * (n_classes - 1),
        flip_y=0.1,
        random_state=0,
    )
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("calibrate", [True, "sigmoid", "temperature", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_estimator_has_probabilities(learner: Any, calibrate: Any, n_classes: int) -> None:
    """They sum to one, the label is the most probable class, and they beat the shares alone."""
    X, y = overlapping(n_classes)
    clf = type(learner)(**learner.get_params() | {"calibrate": calibrate})
    if n_classes == 3 and calibrate in ("sigmoid", "isotonic"):
        with pytest.raises(InputError, match=rf"calibrate='{calibrate}' needs two classes; got 3"):
            clf.fit(X[:200], y[:200])
        return
    shares = clf.fit(X[:200], y[:200]).predict_proba(X[200:])
    assert shares.shape == (200, n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    clear = np.sort(shares, axis=1)[:, -1] > np.sort(shares, axis=1)[:, -2]
    predicted = clf.predict(X[200:])
    assert (clf.classes_[shares.argmax(axis=1)] == predicted)[clear].all()
    assert clear.mean() > 0.6
    base = np.bincount(np.searchsorted(clf.classes_, y[:200])) / 200
    guess = log_loss(y[200:], np.tile(base, (200, 1)))
    moves = learner.fit_intercept and calibrate in (True, "sigmoid")
    assert log_loss(y[200:], shares) < (guess if moves else 1.1 * guess)


@pytest.mark.parametrize("n_rows", [300, 12_000], ids=["folds", "one part"])
def test_rows_learned_from_are_not_those_fitted_to(n_rows: int) -> None:
    """Labels at random are memorised, and the probabilities know that they say nothing."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, 60 if n_rows < 1000 else 5)), rng.integers(0, 2, n_rows)
    clf = Perceptron(calibrate=True, max_iter=20).fit(X, y)
    assert np.abs(clf.predict_proba(X) - 0.5).max() < 0.25


def test_without_calibration_the_attribute_is_missing() -> None:
    """``hasattr`` says no, with a sentence on what to do; a vote has shares in any case."""
    X, y = overlapping(2)
    clf = AveragedPerceptron()
    assert not hasattr(clf, "predict_proba")
    assert not hasattr(clf.fit(X, y), "predict_proba")
    sentence = "This AveragedPerceptron has no probabilities: fit it with calibrate=True, or use"
    with pytest.raises(AttributeError, match=sentence):
        _ = clf.predict_proba
    with pytest.raises(NotFittedError):
        AveragedPerceptron(calibrate=True).predict_proba(X)
    voted = VotedPerceptron().fit(X, y)
    shares = voted.predict_proba(X)
    np.testing.assert_allclose(shares[:, 1] - shares[:, 0], voted.decision_function(X), atol=1e-12)


def test_the_ecosystem_uses_them() -> None:
    """Log-loss is scored, soft votes are taken, and CalibratedClassifierCV works as before."""
    X, y = overlapping(2)
    ours = AveragedPerceptron(calibrate=True)
    scores = cross_val_score(ours, X, y, scoring="neg_log_loss", cv=3)
    theirs = CalibratedClassifierCV(AveragedPerceptron(), ensemble=False, cv=5)
    others = cross_val_score(theirs, X, y, scoring="neg_log_loss", cv=3)
    np.testing.assert_allclose(scores, others, rtol=0.1)
    soft = VotingClassifier([("a", ours), ("b", ours)], voting="soft").fit(X, y)
    assert soft.predict_proba(X).shape == (400, 2)


@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
def test_they_are_kept_in_files(tmp_path: Path, calibrate: str) -> None:
    """A saved estimator has the same probabilities, and its weights the same bias."""
    X, y = overlapping(2)
    clf = AveragedPerceptron(calibrate=calibrate).fit(sparse.csr_array(X), y)
    save(clf, tmp_path / "m")
    again = load(tmp_path / "m")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.intercept_ == clf.intercept_


def test_learning_on_goes_on_from_what_was_learned(tmp_path: Path) -> None:
    """The bias that moved for the probabilities moves back before more rows are learned."""
    X, y = overlapping(2)
    plain = AveragedPerceptron(shuffle=False).fit(X, y)
    moved = AveragedPerceptron(shuffle=False, calibrate=True).fit(X, y)
    assert plain.intercept_ != moved.intercept_
    save(moved, tmp_path / "m")
    with pytest.raises(InputError, match=r"^partial_fit sees no held-out rows: set calibrate=Fal"):
        moved.partial_fit(X, y)
    for clf in (moved, load(tmp_path / "m")):
        clf.set_params(calibrate=False).partial_fit(X[:9], y[:9])
        assert not hasattr(clf, "predict_proba")
        expected = AveragedPerceptron(shuffle=False).fit(X, y).partial_fit(X[:9], y[:9])
        np.testing.assert_allclose(clf.coef_, expected.coef_, rtol=1e-9)
        np.testing.assert_allclose(clf.intercept_, expected.intercept_, rtol=1e-9)


def test_what_cannot_be_calibrated() -> None:
    """Single rows, going on, and other methods are refused with a sentence."""
    with pytest.raises(InputError, match=r"^calibrate needs at least two rows of a class, to hold"):
        AveragedPerceptron(calibrate=True).fit([[0.0], [1.0]], [0, 1])
    X, y = overlapping(2)
    with pytest.raises(InputError, match=r"^calibrate needs all rows in one fit: set warm_start="):
        AveragedPerceptron(calibrate=True, warm_start=True).fit(X, y)
    with pytest.raises(InputError, match="must be True, False, 'sigmoid', 'temperature' or 'isot"):
        AveragedPerceptron(calibrate="platt").fit(X, y)


def test_a_precomputed_kernel() -> None:
    """Folds take rows and columns of the matrix of kernel values."""
    X, y = make_blobs(80, 2, centers=2, cluster_std=4.0, random_state=0)
    clf = KernelPerceptron(kernel="precomputed", calibrate=True, max_iter=2).fit(X @ X.T, y)
    shares = clf.predict_proba(X @ X.T)
    assert (clf.classes_[shares.argmax(axis=1)] == clf.predict(X @ X.T)).mean() > 0.95
