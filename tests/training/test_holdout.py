"""A model is never judged by rows that it learned from, whatever they are held out for.

Each planted row, or group of rows, has a feature of its own and a label drawn by a coin: a model
that has learned from the row knows its label, and any other can only guess.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rosenblatt import (
    AveragedPerceptron,
    KernelPerceptron,
    MultilabelClassifier,
    Perceptron,
    VotedPerceptron,
    audit,
    train_files,
    tune,
)
from rosenblatt.models.guarantee import certainty_of
from rosenblatt.models.model import model_of
from rosenblatt.plots import ComparisonDisplay, ErrorsDisplay
from rosenblatt.training.holdout import Division, HoldOut, folds
from rosenblatt.tuning.folds import cross_validate

N_ROWS, PER_GROUP = 1_200, 3
GROUPS = np.arange(N_ROWS) // PER_GROUP
GUESSED = pytest.approx(0.5, abs=0.14)  # error of coins, over some hundred groups


def coins(n: int, seed: int = 0) -> Any:
    """Return labels drawn by a coin."""
    return np.random.default_rng(seed).integers(0, 2, n)


Y = coins(N_ROWS)
X = sparse.csr_array(np.eye(N_ROWS))
GROUPED_X = sparse.csr_array(np.eye(N_ROWS // PER_GROUP)[GROUPS])
GROUPED_Y = coins(N_ROWS // PER_GROUP)[GROUPS]


@pytest.fixture
def lines(tmp_path: Path) -> str:
    """Write planted rows as svmlight text, and return the name of the file."""
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{label} {k + 1}:1\n" for k, label in enumerate(Y.tolist())))
    return str(path)


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Write planted groups as a table, each with a word of its own."""
    path, rows = tmp_path / "rows.csv", zip(GROUPS.tolist(), GROUPED_Y.tolist(), strict=True)
    path.write_text("text,group,y\n" + "".join(f"word{k} row,g{k},{y}\n" for k, y in rows))
    return str(path)


HOW: dict[str, Any] = {"text": "text", "label": "y"}


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(max_iter=5),
        VotedPerceptron(max_iter=3),
        KernelPerceptron(kernel="linear", max_iter=3),
    ],
    ids=str,
)
@pytest.mark.parametrize("grouped", [False, True])
def test_passes_of_estimators(learner: Any, grouped: bool) -> None:
    """Early stopping of arrays, by rows and by groups of them."""
    learner = learner.set_params(early_stopping=True)
    if grouped:
        learner.fit(GROUPED_X, GROUPED_Y, groups=GROUPS)
    else:
        learner.fit(X, Y)
    assert 1.0 - max(record.validation_score for record in learner.history_) == GUESSED


@pytest.mark.parametrize("grouped", [False, True])
def test_probabilities_of_estimators(grouped: bool) -> None:
    """To scores of unseen rows no slope can be fitted."""
    clf = AveragedPerceptron(calibrate=True, early_stopping=grouped)
    clf.fit(*((GROUPED_X, GROUPED_Y) if grouped else (X, Y)), groups=GROUPS if grouped else None)
    calibration: Any = model_of(clf).calibration
    assert abs(calibration.slope) < 0.5


def test_probabilities_of_several_labels() -> None:
    """Of a label that is guessed, no row is surely right."""
    clf = MultilabelClassifier(max_iter=3, calibrate=True)
    clf.fit(X, np.column_stack([Y, coins(N_ROWS, 1)]))
    assert np.all(np.abs(clf.predict_proba(X) - 0.5) < 0.2)


def test_files(lines: str) -> None:
    """Passes, probabilities and a threshold of files, and the recipes of a race."""
    training = train_files(lines).model_.training
    assert training["held_out_error"] == GUESSED
    assert all(one["error"] == GUESSED for one in training["recipe"]["tried"])
    for how in ({"calibrate": True}, {"threshold": "error"}):
        assert train_files(lines, **how).model_.training["held_out_error"] == GUESSED


def test_rows_of_a_file_of_their_own(lines: str, tmp_path: Path) -> None:
    """Rows of validation are not learned from."""
    path = tmp_path / "others.svm"
    path.write_text("".join(f"{y} {k + 1}:1\n" for k, y in enumerate(coins(N_ROWS, 1).tolist())))
    found = train_files(lines, validation=str(path)).model_.training
    assert found["held_out_error"] == GUESSED


def test_groups_of_files(table: str) -> None:
    """Whole groups are held out, for passes and for the ways to read texts."""
    training = train_files(table, group="group", **HOW).model_.training
    assert training["held_out_error"] == GUESSED
    known = train_files(table, ignore="group", **HOW).model_.training
    assert known["held_out_error"] < 0.1  # where other rows of the group tell


@pytest.mark.parametrize("by", ["share", "file"])
def test_guarantee(lines: str, by: str, tmp_path: Path) -> None:
    """A guarantee is given by rows apart: nothing can be promised."""
    other = tmp_path / "others.svm"
    other.write_text("".join(f"{y} {k + 1}:1\n" for k, y in enumerate(coins(N_ROWS, 1).tolist())))
    clf: Any = train_files(lines, guarantee=0.3 if by == "share" else str(other))
    apart: Any = certainty_of(clf.model_)
    assert np.mean(apart.behind > 0) == GUESSED


def test_folds(lines: str, table: str) -> None:
    """Cross-validation, an audit and a search judge each fold by the others."""
    assert cross_validate(lines, folds=3).mean == GUESSED
    assert cross_validate(table, folds=3, group="group", **HOW).mean == GUESSED
    doubted = {row.line for row in audit(lines, folds=3).suspects}
    assert len(doubted) / N_ROWS == GUESSED
    clf: Any = tune(X, Y, folds=2)
    assert clf.search_.best.mean == GUESSED


def test_pictures() -> None:
    """Error curves and panels of learners are of rows put aside."""
    dense, y = np.eye(400), Y[:400]
    curve = ErrorsDisplay.from_data(dense, y, max_iter=3)
    assert curve.test_error is not None
    assert curve.test_error[-1] == GUESSED
    panels = ComparisonDisplay.from_data(np.random.default_rng(1).normal(size=(400, 2)), y)
    assert panels.panels[0].judged.sum() == 100


@given(st.integers(2, 60), st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_each_row_is_on_one_side(n_rows: int, share: float, seed: int) -> None:
    """Every division has each row once, and a group whole."""
    generator = np.random.default_rng(seed)
    groups = generator.integers(0, 1 + n_rows // 2, n_rows).astype(np.uint64)
    drawn = HoldOut.drawn(share, generator)
    divisions = [
        drawn.between(0, n_rows),
        HoldOut.of_classes(groups, share, generator).between(0, n_rows),
    ]
    n_groups = len(np.unique(groups))
    if n_groups > 1:
        whole = [
            drawn.of_groups(groups).between(0, n_rows),
            *folds(groups, min(n_groups, 3), seed, groups),
        ]
        assert not any({*groups[one.learned]} & {*groups[one.tried]} for one in whole)
        divisions += whole
    for one in divisions:
        assert sorted(np.concatenate(one)) == [*range(n_rows)]
    assert Division.of(drawn.mask(np.arange(n_rows))).tried.tolist() == divisions[0].tried.tolist()
