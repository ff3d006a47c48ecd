"""Recipes are judged on folds as a loop over scikit-learn's folds would do it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import AveragedPerceptron, audit, train_files
from rosenblatt.errors import InputError
from rosenblatt.tasks.evaluation import LabelEvaluation
from rosenblatt.training.holdout import folds as divisions
from rosenblatt.tuning.folds import cross_validate


@given(st.lists(st.integers(0, 3), min_size=6, max_size=40), st.integers(2, 6))
def test_folds_part_the_rows(numbers: list[int], folds: int) -> None:
    """Every row is tried once, and folds and their classes differ by at most one row."""
    found = divisions(np.array(numbers), folds, seed=0)
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
        1 - clf.fit(X[train], y[train]).score(X[test], y[test])
        for train, test in divisions(y, 5, 0)
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


def tagged(path: Path, X: np.ndarray, tags: list[str]) -> str:
    """Write rows with three numbers and any number of labels, and return the name of the file."""
    lines = [f"{a},{b},{c},{own}" for (a, b, c), own in zip(X.tolist(), tags, strict=True)]
    path.write_text("\n".join(["a,b,c,tags", *lines, ""]))
    return str(path)


@pytest.mark.parametrize("goal", ["each", "ranking"])
def test_several_labels_are_judged_as_by_hand(tmp_path: Path, goal: str) -> None:
    """Each fold has the figures of train_files on the others, thresholds from held-out rows."""
    generator = np.random.default_rng(2)
    X = np.round(generator.normal(size=(240, 3)), 3)
    has = X + generator.normal(scale=0.5, size=X.shape) > 0.4
    tags = [";".join(np.array(["red", "round", "soft"])[row]) for row in has]
    assert "" in tags
    path = tagged(tmp_path / "rows.csv", X, tags)
    how: dict[str, Any] = {"label": "tags", "label_separator": ";", "goal": goal}
    how |= {"scale": False, "recipe": "plain"}
    found = cross_validate(path, folds=3, **how)
    judged: list[Any] = []
    for train, test in divisions(np.zeros(240, int), 3, 0):
        one = tagged(tmp_path / "train.csv", X[train], [tags[i] for i in train])
        other = tagged(tmp_path / "test.csv", X[test], [tags[i] for i in test])
        model = train_files(one, **how).model_
        assert model.thresholds.any()
        judged.append(model.evaluate(other))
    assert isinstance(found.evaluation, LabelEvaluation)
    assert found.values == tuple(one.error for one in judged)
    assert np.array_equal(found.evaluation.counts, sum(one.counts for one in judged))
    assert found.evaluation.n_exact == sum(one.n_exact for one in judged)
    assert found.evaluation.precision_at[1] == pytest.approx(
        np.mean([one.precision_at[1] for one in judged])
    )
    errors: Any = found.standard_errors
    for name in ("micro", "macro"):
        f1 = [getattr(one, name)["f1"] for one in judged]
        assert errors[name]["f1"] == pytest.approx(np.std(f1, ddof=1) / np.sqrt(3))
    assert found.report()["standard_errors"] == errors
    by_f1 = cross_validate(path, folds=3, metric="f1", **how)
    assert by_f1.values == tuple(one.macro["f1"] for one in judged)


def test_labels_without_thresholds_of_their_own(tmp_path: Path) -> None:
    """Where nothing is held out to fit thresholds, those of the labels are 0, however many sets."""
    X = np.repeat(np.eye(3), 8, axis=0)
    path = tagged(tmp_path / "rows.csv", X, ["red", "red;round", ""] * 8)
    how: dict[str, Any] = {"label": "tags", "label_separator": ";", "early_stopping": False}
    evaluation = cross_validate(path, folds=2, **how).evaluation
    assert (evaluation.classes, evaluation.n_rows) == (("red", "round"), 24)
    assert audit(path, folds=2, **how).n_rows == 24


@pytest.mark.parametrize("metric", ["balanced-accuracy", "roc-auc", "log-loss"])
def test_metrics_of_one_label_are_refused(tmp_path: Path, metric: str) -> None:
    """Of several labels a row there are the error and F1."""
    path = tagged(tmp_path / "rows.csv", np.eye(3), ["red", "red;round", ""])
    how: dict[str, Any] = {"label": "tags", "label_separator": ";"}
    refused = "is not available where a row may have several labels"
    with pytest.raises(InputError, match=f"metric='{metric}' {refused}"):
        cross_validate(path, folds=2, metric=metric, **how)


def test_refusals(tmp_path: Path) -> None:
    """One fold, more folds than rows and unknown metrics are refused."""
    path = rows_file(tmp_path)[0]
    with pytest.raises(InputError, match="folds= must be at least 2 and at most the number"):
        cross_validate(path, folds=91)
    with pytest.raises(InputError, match="metric= must be one of error, f1"):
        cross_validate(path, metric="beauty")
