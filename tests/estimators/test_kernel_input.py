"""What the kernel perceptron says to what it cannot use."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from rosenblatt import KernelPerceptron
from rosenblatt.errors import InputError, WeightOverflowError

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
Y = [0, 1, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"kernel": "sigmoid"},
            "kernel of KernelPerceptron must be 'linear', 'poly', 'rbf', 'precomputed' or a fun",
        ),
        ({"kernel": 3}, "'precomputed' or a function of two matrices; got 3."),
        ({"gamma": -1.0}, "gamma of KernelPerceptron must be 'scale', 'auto' or a finite number"),
        ({"gamma": 0}, "'scale', 'auto' or a finite number above 0; got 0."),
        ({"gamma": "wide"}, "'scale', 'auto' or a finite number above 0; got 'wide'."),
        ({"degree": 0}, "degree of KernelPerceptron must be an integer of at least 1; got 0."),
        ({"degree": 2.5}, "must be an integer of at least 1; got 2.5."),
        ({"coef0": np.inf}, "coef0 of KernelPerceptron must be a finite number; got inf."),
        ({"rule": "mira"}, "must be 'perceptron', 'margin', 'pa', 'pa1' or 'pa2'"),
        ({"memory": "best"}, "must be 'last', 'average' or 'vote'; got 'best'."),
        ({"multi_class": "ovo"}, "must be 'joint' or 'one-vs-rest'; got 'ovo'."),
        (
            {"cache_size": 0},
            "cache_size of KernelPerceptron must be a finite number above 0; got 0.",
        ),
        ({"C": 0}, "must be a number above 0"),
    ],
)
def test_parameters(parameters: dict[str, Any], message: str) -> None:
    """Which parameter must be what, or which two do not go together, and what to do."""
    for learn in ("fit", "partial_fit"):
        with pytest.raises(InputError) as caught:
            getattr(KernelPerceptron(**parameters), learn)(X, Y)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        ([[np.nan, 1.0], [0.0, 1.0]], [0, 1], "Row 0 of X, feature 0, is NaN, a missing value"),
        (sparse.csr_matrix([[0.0, np.inf], [1.0, 1.0]]), [0, 1], "Row 0 of X, feature 1, is inf"),
        (X, [1, 1, 1], "y must hold at least two classes; got one class, 1, in 3 rows"),
        (X, [0, 1], "inconsistent numbers of samples"),
    ],
)
def test_data(rows: Any, labels: Any, message: str) -> None:
    """What is wrong with the rows, and where."""
    with pytest.raises(ValueError, match=message):
        KernelPerceptron().fit(rows, labels)


def test_gram_matrix() -> None:
    """It must be square to learn from, dense, and as wide as the training rows to predict."""
    clf = KernelPerceptron(kernel="precomputed")
    with pytest.raises(InputError, match=r"X must be a square matrix, .*; got shape \(3, 2\)"):
        clf.fit(X, Y)
    with pytest.raises(InputError, match="a sparse X is not supported: X must be a dense array"):
        clf.fit(sparse.csr_matrix(X @ X.T), Y)
    with pytest.raises(AttributeError) as caught:
        clf.partial_fit(X @ X.T, Y)
    assert "partial_fit cannot take a precomputed Gram matrix" in str(caught.value.__cause__)
    clf.set_params(warm_start=True).fit(X @ X.T, Y)
    with pytest.raises(InputError, match="warm_start cannot go on with a precomputed Gram matrix"):
        clf.fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="X has 2 features, but KernelPerceptron is expecting 3"):
        clf.predict(X)


def test_kernel_functions() -> None:
    """A function that returns no Gram matrix is told what it must return."""
    with pytest.raises(InputError, match=r"one value for each pair of rows, shape \(3, 3\)"):
        KernelPerceptron(kernel=lambda a, _b: a).fit(X, Y)
    with pytest.raises(InputError, match="returned NaN or an infinity"):
        KernelPerceptron(kernel=lambda a, b: a @ b.T * np.nan).fit(X, Y)


def test_a_machine_goes_on_as_it_began() -> None:
    """A kernel changed between two calls is noticed; set back, learning goes on."""
    clf = KernelPerceptron(gamma=1.0).partial_fit(X, Y)
    for change in ({"gamma": 2.0}, {"kernel": "poly"}, {"multi_class": "one-vs-rest"}):
        before = {name: clf.get_params()[name] for name in change}
        name = next(iter(change))
        with pytest.raises(InputError, match=f"{name} was .* when this KernelPerceptron began"):
            clf.set_params(**change).partial_fit(X, Y)
        clf.set_params(**before).partial_fit(X, Y)
    with pytest.raises(InputError, match='class_weight="balanced" needs all the labels'):
        clf.set_params(class_weight="balanced").partial_fit(X, Y)


def test_memory_set_to_what_is_not_there() -> None:
    """A memory set after the fit is checked in the same words."""
    clf = KernelPerceptron().fit(X, Y)
    with pytest.raises(InputError, match="memory of KernelPerceptron must be 'last', 'average'"):
        clf.set_params(memory="first").predict(X)


def test_overflow() -> None:
    """Values too large for float64 are reported, and a stream stays as it was before them."""
    clf = KernelPerceptron(kernel="poly", gamma=1.0, degree=4, memory="last")
    clf.partial_fit(X, Y)
    before = clf.decision_function(X)
    for rows in ([[1e90, 1.0]], [[1e76, 0.0], [-1e77, 1.0]]):
        with pytest.raises(WeightOverflowError, match="which are not learned"):
            clf.partial_fit(np.array(rows), [0, 1][: len(rows)])
        assert np.array_equal(clf.decision_function(X), before)
    with pytest.raises(WeightOverflowError, match="The activation of row 1 overflowed"):
        clf.predict([[0.0, 0.0], [1e90, 1e90]])
    with pytest.raises(WeightOverflowError, match="scale the features"):
        clf.fit([[1e90, 1.0], [1.0, 1.0]], [0, 1])
    assert np.array_equal(clf.decision_function(X), before)
