"""Metrics are those of scikit-learn, and a threshold is the best of all that there are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from rosenblatt.errors import InputError
from rosenblatt.parameters import COUNTED
from rosenblatt.tasks.metrics import METRICS, best_threshold, precision_recall_curve, roc_auc

SKLEARN: dict[str, Any] = {
    "error": lambda truth, guess: 1 - metrics.accuracy_score(truth, guess),
    "f1": lambda truth, guess: metrics.f1_score(truth, guess, average="macro"),
    "balanced-accuracy": metrics.balanced_accuracy_score,
}
ROWS = st.lists(st.tuples(st.booleans(), st.integers(-4, 4)), min_size=1, max_size=30)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
@pytest.mark.filterwarnings("ignore:y_pred contains classes", "ignore:A single label was found")
def test_counted_metrics(pairs: list[tuple[int, int]]) -> None:
    """Error, mean F1 and balanced accuracy of a confusion matrix are those of scikit-learn."""
    truth, guess = np.array(pairs).T
    counts = np.zeros((4, 4), int)
    np.add.at(counts, (truth, guess), 1)
    for name in COUNTED:
        measure = METRICS[name].of_counts
        assert measure is not None
        assert float(measure(counts)) == pytest.approx(SKLEARN[name](truth, guess), abs=1e-12)


@given(ROWS)
def test_curves(rows: list[tuple[bool, int]]) -> None:
    """Average precision and the area under the ROC curve are those of scikit-learn."""
    truth, scores = np.array([t for t, _ in rows]), np.array([s / 7 for _, s in rows])
    curve = precision_recall_curve(scores, truth)
    if not truth.any():
        assert curve is None
        return
    assert curve is not None
    expected = metrics.average_precision_score(truth, scores)
    assert curve.average_precision == pytest.approx(expected, abs=1e-12)
    assert curve.recall[-1] == 1.0
    if not truth.all():
        assert roc_auc(scores, truth) == pytest.approx(metrics.roc_auc_score(truth, scores))


@given(ROWS, st.sampled_from(COUNTED))
@pytest.mark.filterwarnings("ignore:y_pred contains classes", "ignore:A single label was found")
def test_threshold_is_the_best(rows: list[tuple[bool, int]], metric: str) -> None:
    """No other threshold between two scores is better, and zero stays where it is as good."""
    truth, scores = np.array([int(t) for t, _ in rows]), np.array([s / 7 for _, s in rows])
    found = best_threshold(scores, truth, metric)
    levels = np.unique(scores)
    tried = [0.0, *((levels[:-1] + levels[1:]) / 2)]
    values = [SKLEARN[metric](truth, (scores > cut).astype(int)) for cut in tried]
    best = max(values) if METRICS[metric].greater_is_better else min(values)
    at_it = SKLEARN[metric](truth, (scores > found.value).astype(int))
    assert found.score == pytest.approx(at_it, abs=1e-12)
    assert found.score == pytest.approx(best, abs=1e-12)
    assert found.error == pytest.approx(np.mean((scores > found.value) != truth))
    if values[0] == best:
        assert found.value == 0.0


def test_of_equal_values_the_first_is_best() -> None:
    """A search keeps the fewest passes of those that are equally good."""
    assert METRICS["error"].best([0.3, 0.2, 0.2, 0.25]) == 1
    assert METRICS["f1"].best([0.1, 0.4, 0.2, 0.4]) == 1


def test_other_metrics_choose_no_threshold() -> None:
    """A metric of scores does not depend on a threshold."""
    with pytest.raises(InputError, match="A threshold is chosen by error, f1, balanced-accuracy"):
        best_threshold(np.array([1.0]), np.array([1]), "roc-auc")
