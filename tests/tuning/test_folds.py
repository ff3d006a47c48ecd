"""Recipes are judged on folds as a loop over scikit-learn's folds would do it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import AveragedPerceptron
from rosenblatt.errors import InputError
from rosenblatt.models.search import splits
from rosenblatt.tuning.folds import cross_validate


@given(st.lists(st.integers(0, 3), min_size=6, max_size=40), st.integers(2, 6))
def test_folds_part_the_rows(numbers: list[int], folds: int) -> None:
    """Every row is tried once, and folds and their classes differ by at most one row."""
    found = splits(np.array(numbers), folds, seed=0)
    tried = np.concatenate([test for _, test in found])
    assert sorted(tried.tolist()) == list(range(len(numbers)))
    for train, test in found:
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(len(numbers)))
    sizes = [len(test) for _, test in found]
    assert max(sizes) - min(sizes) <= 1
    for number in set(numbers):
        shares = [int((np.array(numbers)[test] == number).sum()) for _, test in found]
        assert max(shares) - min(shares) <= 1


def rows_file(folder: Path, n_rows: int = 90) -> tuple[str, np.ndarray, np.ndarray]:
    """Write rows with two numbers, and return them."""
    generator = np.random.default_rng(1)
    y = np.arange(n_rows) % 3
    X = np.round(generator.normal(size=(n_rows, 2)) + y[:, None], 3)
    path = folder / "rows.csv"
    lines = [f"{a},{b},c{k}" for (a, b), k in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines, ""]))
    return str(path), X, y


def test_against_a_loop_over_arrays(tmp_path: Path) -> None:
    """Without chance the error of each fold is that of an estimator fitted to the other rows."""
    path, X, y = rows_file(tmp_path)
    plain: dict[str, Any] = {"early_stopping": False, "shuffle": False, "scale": False}
    found = cross_validate(path, folds=5, memory="average", **plain)
    clf = AveragedPerceptron(shuffle=False)
    errors = [
        1 - clf.fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits(y, 5, 0)
    ]
    assert found.values == pytest.approx(errors, abs=1e-12)
    assert found.mean == pytest.approx(np.mean(errors))
    low, high = found.interval
    assert 0.0 <= low < found.mean < high
    assert found.evaluation.n_rows == 90
    assert found.evaluation.error == pytest.approx(found.mean)


@pytest.mark.parametrize("metric", ["f1", "balanced-accuracy", "roc-auc", "log-loss"])
def test_metrics(tmp_path: Path, metric: str) -> None:
    """Every metric is better than guessing on rows that can be told apart."""
    found = cross_validate(rows_file(tmp_path, 240)[0], folds=3, metric=metric)
    guessing = {"f1": 1 / 3, "balanced-accuracy": 1 / 3, "roc-auc": 0.5, "log-loss": np.log(3)}
    better = (
        found.mean < guessing[metric] if metric == "log-loss" else found.mean > guessing[metric]
    )
    assert better
    assert found.report()["metric"] == metric


def test_refusals(tmp_path: Path) -> None:
    """One fold, more folds than rows and unknown metrics are refused."""
    path = rows_file(tmp_path)[0]
    with pytest.raises(InputError, match="folds= must be at least 2 and at most the number"):
        cross_validate(path, folds=91)
    with pytest.raises(InputError, match="metric= must be one of error, f1"):
        cross_validate(path, metric="beauty")
