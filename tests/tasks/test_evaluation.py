"""Predictions are judged as scikit-learn and SciPy judge them."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from rosenblatt.tasks.evaluation import MOST_UNKNOWN, Evaluation, mcnemar, wilson


def judged(truth: Any, guess: Any, n_classes: int, scores: Any = None) -> Evaluation:
    """Return the evaluation of these rows, given in three batches."""
    evaluation = Evaluation(range(n_classes))
    for part in np.array_split(np.arange(len(truth)), 3):
        of_part = None if scores is None else np.asarray(scores)[part]
        evaluation.add(np.asarray(truth)[part], np.asarray(guess)[part], of_part)
    return evaluation


@given(st.integers(2, 5), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1))
def test_against_scikit_learn(n_classes: int, pairs: list[tuple[int, int]]) -> None:
    """Confusion, accuracy, precision, recall, F1 and their means are those of scikit-learn."""
    truth, guess = np.array(pairs).T % n_classes
    ours = judged(truth, guess, n_classes)
    labels = list(range(n_classes))
    assert (ours.confusion == metrics.confusion_matrix(truth, guess, labels=labels)).all()
    assert ours.accuracy == metrics.accuracy_score(truth, guess)
    undefined = {"labels": labels, "zero_division": np.nan}
    theirs = metrics.precision_recall_fscore_support(truth, guess, **undefined)
    for name, values in zip(("precision", "recall", "f1", "support"), theirs, strict=True):
        mine = [getattr(report, name) for report in ours.by_class]
        np.testing.assert_allclose(np.array(mine, float), values, rtol=1e-15)
    means = metrics.precision_recall_fscore_support(truth, guess, average="macro", **undefined)
    np.testing.assert_allclose(np.array([*ours.macro.values()], float), means[:3], rtol=1e-14)


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1))
def test_area_under_the_roc_curve(rows: list[tuple[bool, int]]) -> None:
    """It is exact: the share of ordered pairs, ties counted half; nothing without both classes."""
    truth, scores = [int(positive) for positive, _ in rows], [score / 7 for _, score in rows]
    ours = judged(truth, [0] * len(rows), 2, scores).roc_auc
    if len(set(truth)) < 2:
        assert ours is None
        return
    low = [s for t, s in zip(truth, scores, strict=True) if not t]
    high = [s for t, s in zip(truth, scores, strict=True) if t]
    pairs = sum(2 if h > s else h == s for h in high for s in low)
    assert ours == pairs / (2 * len(low) * len(high))
    assert ours == pytest.approx(metrics.roc_auc_score(truth, scores), abs=1e-12)


def test_labels_unknown_to_the_model() -> None:
    """They have rows of their own, count as wrong, and have no precision; scikit-learn agrees."""
    evaluation = Evaluation(("a", "b"))
    evaluation.add([0, 1, 2, -1], [0, 0, 1, 1], classes=("a", "b", "new"))
    evaluation.add([3, 2], [1, 1], classes=("a", "b", "new", "newer"))
    assert evaluation.confusion.tolist() == [[1, 0], [1, 0], [0, 2], [0, 1]]
    assert (evaluation.n_rows, evaluation.n_unknown, evaluation.n_unlabelled) == (5, 3, 1)
    assert evaluation.n_wrong == 4
    assert evaluation.by_class[2] == ("new", None, 0.0, 0.0, 2, 0)
    truth, guess = [0, 1, 2, 3, 2], [0, 0, 1, 1, 1]
    expected = metrics.f1_score(truth, guess, average="macro", zero_division=np.nan)
    assert evaluation.macro["f1"] == pytest.approx(expected)


def test_many_unknown_labels_share_a_row() -> None:
    """A column that holds no classes at all cannot fill the memory."""
    evaluation = Evaluation((0, 1))
    n = 5000
    evaluation.add(np.arange(n), np.zeros(n, int), classes=range(n))
    assert evaluation.confusion.shape == (2 + MOST_UNKNOWN + 1, 2)
    assert evaluation.labels[-1] == "(others)"
    assert evaluation.n_rows == n
    assert evaluation.by_class[-1].support == n - 2 - MOST_UNKNOWN


def test_nothing_to_judge() -> None:
    """Without rows every figure is None, and the report is JSON."""
    evaluation = Evaluation((0, 1))
    evaluation.add([-1], [0], [0.5])
    report = json.loads(json.dumps(evaluation.report(), allow_nan=False))
    assert report["accuracy"] is report["error"] is report["roc_auc"] is None
    assert report["error_interval_95"] is None
    assert report["macro"] == {"precision": None, "recall": None, "f1": None}
    assert report["rows_without_label"] == 1


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson(share: tuple[int, int]) -> None:
    """The interval of an error is the one that SciPy gives."""
    interval = stats.binomtest(*share).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson(*share) or (), interval, atol=1e-12)


@given(st.integers(0, 1200), st.integers(0, 1200))
def test_mcnemar(first: int, second: int) -> None:
    """The p-value is that of the binomial test, for many rows up to the normal limit."""
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    tolerance = 1e-9 if first + second <= 1000 else 2e-3
    assert mcnemar(first, second) == pytest.approx(expected, abs=tolerance)
