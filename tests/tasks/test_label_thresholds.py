"""Thresholds of labels, fitted to scores of held-out rows."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from rosenblatt.tasks.label_thresholds import fitted_thresholds, predicted_labels


def worth(truth: NDArray[np.bool_], given: NDArray[np.bool_]) -> float:
    """Return the sum of micro F1 and twice the share of rows that are exactly right."""
    micro = f1_score(truth, given, average="micro")
    return float(micro + 2.0 * (truth == given).all(axis=1).mean())


def made_scores(n_rows: int, chances: list[float]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return scores of labels that rows have by chance, and which have them."""
    rng = np.random.default_rng(0)
    truth = rng.random((n_rows, len(chances))) < chances
    return np.where(truth, 1.0, -1.0) + rng.standard_normal(truth.shape), truth


def test_thresholds_are_the_best_of_all_on_their_rows() -> None:
    """No pair of thresholds on a grid has more F1 and exact rows than the fitted ones."""
    scores, truth = made_scores(2000, [0.4, 0.2])
    found = worth(truth, predicted_labels(scores, fitted_thresholds(scores, truth), positive=False))
    grid = np.linspace(-2, 2, 21)
    pairs = [np.array([a, b, np.inf]) for a in grid for b in grid]
    best = max(worth(truth, predicted_labels(scores, pair, positive=False)) for pair in pairs)
    assert found > best - 0.005


def test_a_rare_label_has_the_threshold_of_others() -> None:
    """The threshold of a label that two rows have is not the score of one of them."""
    scores, truth = made_scores(4000, [0.3, 0.3, 0.3, 0.0])
    truth[:2, 3] = True
    scores[:, 3] = np.minimum(scores[:, 3] - 3.0, -2.0)
    scores[:2, 3] = -0.9
    *usual, rare, _ = fitted_thresholds(scores, truth)
    assert min(usual) - 0.3 < rare < max(usual) + 0.3


@pytest.mark.parametrize("empty", [False, True])
def test_the_best_label_is_predicted_where_rows_always_have_one(empty: bool) -> None:
    """Rows without a label above its threshold get the best one, unless they often have none."""
    rng = np.random.default_rng(0)
    own = rng.integers(4, size=2000)
    truth = np.eye(4, dtype=bool)[own]
    scores = 0.7 * truth + 0.3 * rng.standard_normal(truth.shape) - 0.5
    if empty:
        scores[:1500] = 0.3 * rng.standard_normal((1500, 4)) - 0.8
        truth[:1500] = False
    thresholds = fitted_thresholds(scores, truth)
    some = np.asarray(predicted_labels(scores, thresholds, positive=False).any(axis=1))
    if empty:
        assert some[:1500].mean() < 0.1
    else:
        assert some.mean() > 0.99 > (scores > thresholds[:-1]).any(axis=1).mean()


def test_above_is_strict_unless_zero_is_positive() -> None:
    """A score on its threshold predicts the label where zero is positive alone."""
    scores, thresholds = np.array([[0.5, -1.0], [-2.0, -3.0]]), np.array([0.5, 0.0, -2.0])
    assert predicted_labels(scores, thresholds, positive=False).tolist() == [
        [True, False],
        [False, False],
    ]
    assert predicted_labels(scores, thresholds, positive=True).tolist() == [
        [True, False],
        [True, False],
    ]


@pytest.mark.parametrize("truth", [np.zeros((50, 2), bool), np.ones((50, 2), bool)])
def test_labels_of_all_rows_or_of_none(truth: NDArray[np.bool_]) -> None:
    """Where a label says nothing its rows are predicted right all the same."""
    scores = np.random.default_rng(0).standard_normal((50, 2))
    given = predicted_labels(scores, fitted_thresholds(scores, truth), positive=False)
    assert (given == truth).all(axis=1).mean() > 0.9


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (11, [-0.098, 1.649, 0.718, 2.059, np.inf]),
        (28, [0.007, 0.583, 0.567, 1.17, np.inf]),
        (36, [0.375, 0.485, 0.83, 1.974, 1.684]),
    ],
)
def test_thresholds_of_these_scores_never_change(seed: int, expected: list[float]) -> None:
    """Another prior, worth of exact rows, number of sweeps or of starts is another model."""
    rng = np.random.default_rng(seed)
    truth = rng.random((400, 4)) < [0.5, 0.3, 0.15, 0.04]
    scores = (np.where(truth, 0.6, -0.6) + rng.standard_normal(truth.shape)) * [1.0, 2.0, 0.5, 1.0]
    assert fitted_thresholds(scores, truth).round(3).tolist() == expected
