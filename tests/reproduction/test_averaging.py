"""The last weights, their average and their vote, against all the vectors of a training."""

import numpy as np
import pytest

from reproduction.averaging import Errors, compare, errors
from reproduction.data_sets import Problem
from rosenblatt.training.examples import Order, row_numbers


def problem(seed: int) -> Problem:
    """Return two clouds that overlap."""
    generator = np.random.default_rng(seed)
    y = np.where(generator.random(120) < 0.5, -1, 1)
    X = generator.normal(size=(120, 4)) + 0.5 * y[:, np.newaxis]
    return Problem.of(X[:60], y[:60], X[60:], y[60:])


def test_errors_are_those_of_all_vectors() -> None:
    """The three errors are those of the definitions, with every weight vector written down."""
    one = problem(0)
    found = errors(one, 3, 2)
    order = Order(row_numbers(60), shuffle=True, generator=np.random.default_rng(3))
    X = np.hstack([one.X_train, np.ones((60, 1))])
    vectors = [np.zeros(5)]  # after each row, the first before any
    for _ in range(2):
        for i in order.next():
            wrong = one.y_train[i] * (vectors[-1] @ X[i]) <= 0
            vectors.append(vectors[-1] + one.y_train[i] * X[i] * wrong)
    activations = np.hstack([one.X_test, np.ones((60, 1))]) @ np.array(vectors).T
    votes = np.where(activations[:, 1:] > 0, 1, -1).sum(axis=1)  # the zero vector has no side
    for error, scores in zip(
        found, (activations[:, -1], activations.sum(axis=1), votes), strict=True
    ):
        wrong = np.where(scores > 0, 1, -1) != one.y_test
        assert error == pytest.approx(100 * wrong.mean(), abs=1e-9)


def test_differences_are_paired() -> None:
    """Differences are taken seed by seed, so what all three have in common cancels."""
    found = [Errors(last=20.0 + k, average=10.0 + k, vote=10.1 + k) for k in range(5)]
    by_average, by_vote, alike = compare("rows", "1 pass", found)
    assert (by_average.ours.mean, by_average.ours.deviation) == (10.0, 0.0)
    assert by_vote.ours.mean == pytest.approx(9.9)
    assert alike.ours.mean == pytest.approx(-0.1)
    assert [one.verdict for one in (by_average, by_vote, alike)] == ["reproduced"] * 3
    assert alike.name == "rows (1 pass)"
