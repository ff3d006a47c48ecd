"""One row at a time takes a shorter way, and nobody can tell."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    VotedPerceptron,
)
from rosenblatt.estimators import base, single_row
from tests.examples import same_bits

GENERATOR = np.random.default_rng(0)
X: NDArray[Any] = GENERATOR.normal(size=(24, 5)).astype(np.float32).astype(np.float64)
NUMBERS = GENERATOR.integers(3, size=24)
NAMES = list("abcde")

ROWS: dict[str, Any] = {
    "array": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "list": lambda x: x.tolist(),
    "CSR": sparse.csr_matrix,
    "CSR array": sparse.csr_array,
    "pandas": lambda x: pd.DataFrame(x, columns=NAMES),
    "polars": lambda x: pl.DataFrame(x, schema=NAMES),
}
LABELS: dict[str, NDArray[Any]] = {
    "whole numbers": NUMBERS,
    "floats": NUMBERS.astype(float),
    "texts": np.array(["no", "yes", "maybe"])[NUMBERS],
    "bools": NUMBERS > 0,
}


def stream(clf: Any, kind: str, y: NDArray[Any], *, listed: bool) -> tuple[Any, list[Any]]:
    """Learn row by row, predict each row before it is learned, and return both."""
    predicted = []
    for i in range(len(X)):
        x, label = ROWS[kind](X[i : i + 1]), y[i : i + 1]
        if i:
            predicted += clf.predict(x).tolist()
        given = {"classes": np.unique(y)} if i == 0 else {}
        clf.partial_fit(x, label.tolist() if listed else label, **given)
    return clf, predicted


@pytest.mark.parametrize(
    ("kind", "labels"),
    [*product(ROWS, ["whole numbers"]), *product(["array"], LABELS), ("CSR", "bools")],
)
def test_the_short_way_is_the_long_way(
    kind: str, labels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights, counts and predictions are the same bit for bit, for every kind of row and label."""
    clf, predicted = stream(AveragedPerceptron(), kind, LABELS[labels], listed=kind == "list")
    taken = []
    monkeypatch.setattr(base, "learn_single_row", lambda *given: taken.append(given))
    monkeypatch.setattr(base, "predict_single_row", lambda *_: None)
    long, expected = stream(AveragedPerceptron(), kind, LABELS[labels], listed=kind == "list")
    assert len(taken) == len(X) - 1
    assert predicted == expected
    assert type(predicted[0]) is type(expected[0])
    assert np.array_equal(clf.coef_, long.coef_)
    assert np.array_equal(clf.intercept_, long.intercept_)
    assert (clf.n_iter_, clf.n_mistakes_) == (long.n_iter_, long.n_mistakes_)


@pytest.mark.parametrize(
    ("kind", "labels"), [*product(ROWS, ["bools"]), *product(["list"], LABELS)]
)
def test_usual_rows_take_the_short_way(kind: str, labels: str) -> None:
    """From the second call on, no row of a documented kind needs the long way."""
    clf = Perceptron()
    y, seen = LABELS[labels], np.unique(LABELS[labels])
    clf.partial_fit(ROWS[kind](X[:1]), y[:1], classes=seen)
    for i in range(1, 5):
        x, learner = ROWS[kind](X[i : i + 1]), clf._checked_learner()  # noqa: SLF001  # ours
        assert single_row.learn_single_row(clf, learner, x, y[i : i + 1].tolist())
        assert single_row.predict_single_row(clf, x) is not None


@pytest.mark.parametrize("classes", [[0, 1, 2], (2, 0, 1), np.array([0, 1, 2]), [1], None])
@pytest.mark.parametrize("weight", [[1.0], [0.3], (2,), np.array([0.7]), None])
def test_classes_and_weights_take_the_short_way(
    classes: Any, weight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known classes may be named at every call, and a row may have a weight: the same bits."""
    short, long = streaming(), streaming()
    learner = short._checked_learner()  # noqa: SLF001  # ours
    for i in range(4, 9):
        x, y = X[i : i + 1], NUMBERS[i : i + 1]
        assert single_row.learn_single_row(short, learner, x, y, classes, weight)
        with monkeypatch.context() as patched:
            patched.setattr("rosenblatt.estimators.base.learn_single_row", lambda *_: False)
            long.partial_fit(x, y, classes, weight)
    assert same_bits(short.coef_, long.coef_)
    for named, weights in (([0, 3], None), (None, [0.0]), (None, [1.0, 1.0]), (None, [np.nan])):
        assert not single_row.learn_single_row(short, learner, x, y, named, weights)


def streaming() -> Perceptron:
    """Return a perceptron that is on the short way."""
    clf = Perceptron()
    for i in range(4):
        clf.partial_fit(X[i : i + 1], NUMBERS[i : i + 1], classes=[0, 1, 2] if i == 0 else None)
    return clf


BAD: list[tuple[Any, Any, str]] = [
    ([[1.0, 2.0, np.nan, 4.0, 5.0]], [1], "Row 0 of X, feature 2, is NaN"),
    (np.array([[1.0, np.inf, 3.0, 4.0, 5.0]]), [1], "Row 0 of X, feature 1, is inf"),
    ([[1.0, 2.0, 3.0, 4.0]], [1], "X has 4 features, but Perceptron is expecting 5"),
    (np.ones((1, 6)), [1], "X has 6 features, but Perceptron is expecting 5"),
    (sparse.csr_matrix(np.ones((1, 6))), [1], "X has 6 features, but Perceptron is expecting 5"),
    (sparse.csr_matrix([[np.nan, 0, 0, 0, 1]]), [1], "Row 0 of X, feature 0, is NaN"),
    ([[1.0, 2.0, 3.0, 4.0, "x"]], [1], "could not convert string to float"),
    ([[1.0, 2.0, 3.0, 4.0, 5.0]], [0.5], "Unknown label type"),
    ([[1.0, 2.0, 3.0, 4.0, 5.0]], ["text"], "of another type than the classes learned so far"),
    ([[1.0, 2.0, 3.0, 4.0, 5.0]], [1, 2], "inconsistent numbers of samples"),
    ([1.0, 2.0, 3.0, 4.0, 5.0], [1], "Expected 2D array, got 1D array instead"),
]


@pytest.mark.parametrize(("x", "y", "message"), BAD)
def test_bad_rows_are_seen_on_the_short_way(x: Any, y: Any, message: str) -> None:
    """What cannot be learned from is refused in the words of a batch, and changes nothing."""
    clf = streaming()
    before = clf.coef_, clf.n_iter_
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(x, y)
    if y == [1]:
        with pytest.raises(ValueError, match=message):
            clf.predict(x)
    assert np.array_equal(clf.coef_, before[0])
    assert clf.n_iter_ == before[1]


def test_an_index_out_of_range_is_seen() -> None:
    """A CSR row that was made by hand cannot reach beyond the weights."""
    row = sparse.csr_matrix(np.ones((1, 5)))
    row.indices[4] = 5
    clf = streaming()
    with pytest.raises(ValueError, match="X is not a valid CSR matrix"):
        clf.partial_fit(row, [1])
    with pytest.raises(ValueError, match="X is not a valid CSR matrix"):
        clf.predict(row)


def test_a_new_class_is_learned() -> None:
    """A class that was not known comes up, and the short way goes on with it."""
    clf = streaming()
    clf.partial_fit(X[4:5], [7])
    assert clf.classes_.tolist() == [0, 1, 2, 7]
    clf.partial_fit(X[4:5], [7])
    assert clf.predict(X[4:5]).tolist() == [7]


def test_other_columns_are_seen() -> None:
    """Columns in another order, and arrays where there were names, are not taken for the same."""
    frame = pd.DataFrame(X, columns=NAMES)
    clf = Perceptron().partial_fit(frame[:2], NUMBERS[:2], classes=[0, 1, 2])
    clf.partial_fit(frame[2:3], NUMBERS[2:3])
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(frame[3:4][NAMES[::-1]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        clf.predict(X[3:4])


def test_parameters_may_change_on_the_way() -> None:
    """What set_params says holds from the next row on."""
    zeros = np.zeros((1, 5))
    fresh = Perceptron(fit_intercept=False).partial_fit(zeros, [0], classes=[0, 1])
    fresh.partial_fit(zeros, [0])
    assert fresh.predict(zeros).tolist() == [0]
    fresh.set_params(zero="positive")
    assert fresh.predict(zeros).tolist() == [1]
    fresh.partial_fit(zeros, [0])
    assert fresh.predict(zeros).tolist() == [1]


def test_what_overrides_a_method_is_asked() -> None:
    """A subclass with scores of its own predicts by them, and votes are counted."""

    class Contrary(Perceptron):
        def decision_function(self, X: Any) -> NDArray[Any]:
            return -super().decision_function(X)

    y = NUMBERS > 0
    contrary, usual = (kind().partial_fit(X, y) for kind in (Contrary, Perceptron))
    assert contrary.predict(X[:1]).tolist() == (~usual.predict(X[:1])).tolist()
    voted = VotedPerceptron().partial_fit(X[:12], y[:12])
    for i in range(12, 24):
        voted.partial_fit(X[i : i + 1], y[i : i + 1])
    whole = VotedPerceptron().partial_fit(X, y)
    assert np.array_equal(voted.survival_, whole.survival_)
    assert [voted.predict(x[None])[0] for x in X] == whole.predict(X).tolist()


def test_second_order_rows() -> None:
    """Variances are those of a batch."""
    y = NUMBERS > 0
    clf = ConfidenceWeightedClassifier().partial_fit(X[:2], y[:2], [0, 1])
    for i in range(2, 24):
        clf.partial_fit(X[i : i + 1], y[i : i + 1])
    whole = ConfidenceWeightedClassifier().partial_fit(X, y, [0, 1])
    assert np.array_equal(clf.confidence_, whole.confidence_)
    assert np.array_equal(clf.coef_, whole.coef_)


def test_an_update_ends_convergence() -> None:
    """After a row that moved the weights the fit is no longer one that converged."""
    X, y = [[0.0], [4.0]], [0, 1]
    for clf in (Perceptron(), PassiveAggressiveClassifier(C=10.0, max_iter=100)):
        clf.fit(X, y)
        assert clf.converged_
        clf.predict([[4.0]])
        clf.partial_fit([[3.9]], [0])
        clf.partial_fit([[3.9]], [0])
        assert not clf.converged_


def test_threads_predict_single_rows() -> None:
    """Threads that share an estimator do not mix their rows up."""
    clf = AveragedPerceptron(max_iter=5).fit(X, NUMBERS)
    clf.predict(X[:1])
    expected = clf.predict(X).tolist()
    numbers = list(range(len(X))) * 40
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: clf.predict(X[i : i + 1])[0], numbers))
    assert found == [expected[i] for i in numbers]


def test_copies_go_their_own_way() -> None:
    """A copy, by pickle or not, learns on and leaves the first alone."""
    clf = streaming()
    before = clf.coef_
    data = pickle.dumps(clf)
    for other in (copy.deepcopy(clf), pickle.loads(data)):  # noqa: S301  # ours
        for i in range(4, 20):
            other.partial_fit(X[i : i + 1], NUMBERS[i : i + 1])
        assert np.array_equal(clf.coef_, before)
        assert not np.array_equal(other.coef_, before)
