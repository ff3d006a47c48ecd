"""Learning as data arrives."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rosenblatt import AveragedPerceptron, PassiveAggressiveClassifier, Perceptron
from rosenblatt.errors import InputError, WeightOverflowError
from tests.estimators.test_fit import quiet_fit
from tests.examples import Drawn, data_sets, integers, same_bits

CLASSIFIERS = [Perceptron, AveragedPerceptron, PassiveAggressiveClassifier]


@given(data_sets(integers, n_classes=3).filter(lambda d: d.rows[0]), st.sampled_from(CLASSIFIERS))
def test_rows_one_by_one_are_one_pass(drawn: Drawn, classifier: Any) -> None:
    """partial_fit row by row, from sparse and dense in turn, is one pass of fit in that order."""
    X, y = np.array(drawn.rows), np.array(drawn.labels)
    if len(np.unique(y)) < 2:
        return
    whole = quiet_fit(classifier(max_iter=1, shuffle=False), X, y)
    stream = classifier()
    for i in range(len(y)):
        x = X[i : i + 1] if i % 3 else sparse.csr_array(X[i : i + 1])
        stream.partial_fit(x, y[i : i + 1], classes=np.unique(y))
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-9, atol=1e-9)
    assert stream.n_mistakes_ == whole.n_mistakes_ or classifier is PassiveAggressiveClassifier
    if classifier is not PassiveAggressiveClassifier:
        assert same_bits(stream.coef_, whole.coef_)
        assert same_bits(stream.intercept_, whole.intercept_)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_classes_may_come_at_any_call(classifier: Any) -> None:
    """A third and a fourth class are learned when they come, whatever their place in the sort."""
    clf = classifier()
    corners = {"m": [1, 0, 0, 0], "t": [0, 1, 0, 0], "a": [0, 0, 1, 0], "z": [0, 0, 0, 1]}
    known = []
    for label in corners:
        known.append(label)
        for _ in range(10):
            for k in known:
                clf.partial_fit([corners[k]], [k])
        assert clf.classes_.tolist() == sorted(known)
        assert clf.predict([corners[k] for k in known]).tolist() == known
    assert clf.coef_.shape == (4, 4)


def test_one_class_alone_predicts_itself() -> None:
    """Before a second class is known every row is of the first."""
    clf = Perceptron().partial_fit([[1.0], [2.0]], ["yes", "yes"])
    assert clf.predict([[-5.0]]).tolist() == ["yes"]
    assert clf.n_mistakes_ == 0


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_batch_of_weight_zero_changes_nothing(classifier: Any) -> None:
    """Not the weights, not the average, not the classes, not the counts."""
    clf = classifier().partial_fit([[1.0], [-2.0]], [1, 0])
    before = clf.coef_, clf.intercept_, clf.n_iter_, clf.n_mistakes_, clf._state.count  # noqa: SLF001
    clf.partial_fit([[7.0], [9.0]], [0, 5], sample_weight=[0.0, 0.0])
    assert same_bits(clf.coef_, before[0])
    assert same_bits(clf.intercept_, before[1])
    assert (clf.n_iter_, clf.n_mistakes_, clf._state.count) == before[2:]  # noqa: SLF001
    assert clf.classes_.tolist() == [0, 1]


def test_some_rows_of_weight_zero() -> None:
    """They are as if not given."""
    a = AveragedPerceptron().partial_fit([[1.0], [5.0], [-2.0]], [1, 9, 0], sample_weight=[1, 0, 1])
    b = AveragedPerceptron().partial_fit([[1.0], [-2.0]], [1, 0])
    assert a.classes_.tolist() == [0, 1]
    assert same_bits(a.coef_, b.coef_)


def test_class_weight_in_a_stream() -> None:
    """A dictionary of class weights works call by call."""
    clf = Perceptron(class_weight={1: 4.0}).partial_fit([[1.0]], [1], classes=[0, 1])
    assert clf.coef_.tolist() == [[4.0]]


def test_an_overflowing_batch_is_not_learned() -> None:
    """The model stays as it was before the rows that broke it, sparse or dense."""
    for form in (np.array, sparse.csr_array):
        clf = PassiveAggressiveClassifier().partial_fit(form([[1.0, 0.0], [0.0, 1.0]]), [1, 0])
        before = clf.coef_
        with pytest.raises(WeightOverflowError, match="in these rows, which are not learned"):
            clf.partial_fit(form([[1e200, 0.0]]), [0])
        assert same_bits(clf.coef_, before)


def test_only_touched_features_are_looked_at() -> None:
    """A short row of a wide matrix that overflows one weight is noticed, and not learned."""
    wide = Perceptron(fit_intercept=False).partial_fit(sparse.csr_array((2, 1000)), [1, 0])
    row = sparse.csr_array(([1.7e308], [3], [0, 1]), (1, 1000))
    with pytest.raises(WeightOverflowError, match="which are not learned"):
        wide.partial_fit(row, [1], sample_weight=[2.0])
    assert not wide.coef_.any()
    assert wide.partial_fit(row, [1]).coef_[0, 3] == 1.7e308


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], [3], [0, 1]), r"The label 3 in y is not in classes=\[0, 1\]"),
        (([[1.0, 2.0]], [0]), "X has 2 features, but Perceptron is expecting 1 features as input"),
        (([[1.0]], ["a"]), r"The labels \['a'\] are of another type than the classes learned"),
        (([[float("nan")]], [0]), "Row 0 of X, feature 0, is NaN"),
        (([[1.0]], [0], None, [-1.0]), "the weight of row 0 is -1.0"),
    ],
)
def test_bad_batches(arguments: tuple[Any, ...], message: str) -> None:
    """A batch that cannot be learned says why, and a model goes on after it."""
    clf = Perceptron()
    if "classes=" not in message:
        clf.partial_fit([[1.0]], [1], classes=[0, 1])
    with pytest.raises(InputError if "expecting" not in message else ValueError, match=message):
        clf.partial_fit(*arguments)
    clf.partial_fit([[-1.0]], [0], classes=[0, 1])
    assert clf.predict([[-1.0]]).tolist() == [0]


def test_options_that_need_all_rows_are_refused() -> None:
    """Early stopping and balanced weights cannot work row by row, and say so."""
    with pytest.raises(InputError, match="partial_fit sees no held-out rows"):
        Perceptron(early_stopping=True).partial_fit([[1.0]], [1])
    with pytest.raises(InputError, match='class_weight="balanced" needs all the labels'):
        Perceptron(class_weight="balanced").partial_fit([[1.0]], [1])


def test_parameters_are_checked_at_every_call() -> None:
    """A parameter set wrong between two calls is noticed."""
    clf = Perceptron().partial_fit([[1.0]], [1])
    with pytest.raises(InputError, match="eta0 of Perceptron must be a finite number above 0"):
        clf.set_params(eta0=-1.0).partial_fit([[1.0]], [0])


def test_fast_and_checked_paths_agree() -> None:
    """Plain arrays take a short cut through the checks; lists do not; the models are the same."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (50, 4)).astype(float), rng.integers(0, 2, 50)
    fast, checked = (Perceptron().partial_fit(X[:2], [0, 1]) for _ in range(2))
    for i in range(50):
        fast.partial_fit(X[i : i + 1], y[i : i + 1])
        checked.partial_fit(X[i : i + 1].tolist(), y[i : i + 1].tolist())
    assert same_bits(fast.coef_, checked.coef_)
    with pytest.raises(InputError, match="is NaN"):
        fast.partial_fit(np.full((1, 4), np.nan), y[:1])
