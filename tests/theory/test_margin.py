"""The margin of given weights."""

from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.errors import InputError
from rosenblatt.theory.margin import margin, row_margins

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND = np.array(["no", "no", "no", "yes"])


@pytest.mark.parametrize("rows", [X, sparse.csr_array(X), X.astype(np.float32), X.astype(np.uint8)])
def test_eq_4_8(rows: Any) -> None:
    """The margin is the least y·(w·x + b), and −inf where a row is not on its side."""
    assert margin(rows, AND, [2, 2], -3) == 1.0
    assert margin(rows, AND, [2, 2], -3, normalize=True) == 1 / sqrt(8)
    assert margin(rows, AND, [1, 1], -1) == -inf  # two rows on the boundary
    assert margin(rows, AND, [0, 0], -1) == -inf
    assert margin(rows, AND, [0, 0], -1, normalize=True) == -inf
    assert row_margins(rows, AND, [2, 2], -3).tolist() == [3, 1, 1, 1]


def test_the_bias_is_zero_unless_given() -> None:
    """Without b the boundary goes through the origin."""
    assert margin([[1.0], [-2.0]], [1, 0], [3.0]) == 3.0


def test_of_a_model() -> None:
    """A fitted model gives what its weights give."""
    for model in (Perceptron(), AveragedPerceptron(max_iter=50)):
        model.fit(X, AND)
        given_weights = margin(X, AND, model.coef_[0], model.intercept_[0], normalize=True)
        assert margin(X, AND, model, normalize=True) == pytest.approx(given_weights)


def test_of_several_classes() -> None:
    """For K classes the margin is the least lead over the best rival."""
    y = np.array([0, 1, 2, 1])
    W, b = np.array([[-1.0, 0.0], [0.0, 2.0], [2.0, -1.0]]), np.array([1.0, 0.0, 0.0])
    scores = X @ W.T + b
    leads = [scores[i, k] - max(np.delete(scores[i], k)) for i, k in enumerate(y)]
    assert row_margins(X, y, W, b).tolist() == leads
    assert margin(X, y, W, b) == min(leads)
    model = Perceptron().fit(X, y)
    assert margin(X, y, model) == margin(X, y, model.coef_, model.intercept_) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, AND, [1.0]), r"w must have shape \(2,\); got \(1,\)"),
        ((X, AND, [1.0, np.nan]), "w must be finite numbers"),
        ((X, AND, [1.0, 1.0], [1.0, 2.0]), r"b must be one number; got shape \(2,\)"),
        ((X, [0, 1, 2, 2], np.ones((3, 2)), 1.0), "b must be 3 numbers, one a class"),
        ((X, [1, 1, 1, 1], [1.0, 1.0]), "y must hold at least two classes; got one class, 1"),
        ((X * np.nan, AND, [1.0, 1.0]), "Row 0 of X, feature 0, is NaN"),
        ((X, AND, Perceptron().fit(X, AND), 1.0), "b is part of a fitted model"),
        ((X, [0, 1, 2, 3], Perceptron().fit(X, [0, 0, 0, 1])), "label 2 in y is not a class"),
        ((X, AND[:2], Perceptron().fit(X, AND)), "y must have one label per row, 4 in all"),
    ],
)
def test_bad_input(arguments: tuple[Any, ...], message: str) -> None:
    """What is wrong is said in one sentence."""
    with pytest.raises(InputError, match=message):
        margin(*arguments)
