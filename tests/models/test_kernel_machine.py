"""Kernel perceptrons from files: the same as from arrays, used by the commands, chosen by tune."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from rosenblatt import KernelPerceptron, load, save
from rosenblatt.cli import main
from rosenblatt.data.files import Columns, Layout
from rosenblatt.errors import InputError
from rosenblatt.kernels.shapes import dense_values
from rosenblatt.models.model import Model
from rosenblatt.models.rows import read_rows
from rosenblatt.models.train import model_from_files
from rosenblatt.rules import RULES
from rosenblatt.tuning.folds import cross_validate
from rosenblatt.tuning.tune import tune_files

KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.7, "memory": "last", "rule": "pa1"},
    {"kernel": "poly", "kernel_degree": 3, "memory": "vote"},
]


@pytest.fixture
def board(tmp_path: Path) -> str:
    """Write two classes in the squares of a chessboard, with a colour that says nothing."""
    generator = np.random.default_rng(0)
    path = tmp_path / "board.csv"
    with path.open("w", newline="") as file:
        write = csv.writer(file).writerow
        write(["x", "y", "colour", "class"])
        for x, y in generator.uniform(-1, 1, (240, 2)).round(3):
            write([x, y, generator.choice(["red", "blue"]), "same" if x * y > 0 else "other"])
    return str(path)


def estimator_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of train_files by the names that the estimator has for them."""
    options = dict(given)
    if options["kernel"] == "poly":
        options |= {"degree": options.pop("kernel_degree"), "coef0": 1.0}
    return options


@pytest.mark.parametrize("given", KERNELS)
def test_files_give_the_machine_of_their_rows(given: dict[str, Any], board: str) -> None:
    """It is the estimator on the encoded rows, and a file of it scores by the same bits."""
    model = model_from_files(board, **given, max_iter=3, early_stopping=False)
    rows = read_rows([board], Layout(), Columns())
    clf = KernelPerceptron(**estimator_options(given), max_iter=3)
    scores = clf.fit(dense_values(rows.rows), rows.labels).decision_function(
        dense_values(rows.rows)
    )
    batch = rows.batch(np.arange(len(rows.numbers)))
    np.testing.assert_array_equal(model.scores(batch), scores)
    path = Path(board).with_suffix(".model")
    model.save(path)
    np.testing.assert_array_equal(Model.load(path).scores(batch), scores)
    save(load(path), path)  # as an estimator, too
    np.testing.assert_array_equal(Model.load(path).scores(batch), scores)


def test_weights_of_classes_and_rows_count(board: str) -> None:
    """They multiply each other, as they do for linear learners."""
    lines = Path(board).read_text().splitlines()
    weighed = [f"{line},{1 + number % 3}" for number, line in enumerate(lines[1:])]
    Path(board).write_text("\n".join([f"{lines[0]},w", *weighed, ""]))
    how: dict[str, Any] = {"max_iter": 2, "early_stopping": False}
    columns: dict[str, Any] = {"label": "class", "weight": "w"}
    model = model_from_files(board, kernel="rbf", class_weight={"same": 3.0}, **columns, **how)
    rows = read_rows([board], Layout(), Columns(**columns))
    clf = KernelPerceptron(class_weight={"same": 3.0}, max_iter=2)
    X = dense_values(rows.rows)
    clf.fit(X, rows.labels, rows.weights)
    batch = rows.batch(np.arange(len(rows.numbers)))
    np.testing.assert_array_equal(model.scores(batch), clf.decision_function(X))


def test_held_out_rows_choose_and_all_are_learned(board: str) -> None:
    """The second training has all rows; few held-out ones do not choose its passes."""
    model = model_from_files(board, kernel="rbf")
    kept = model_from_files(board, kernel="rbf", refit=False)
    assert model.training["held_out_rows"] == kept.training["held_out_rows"] == 23
    assert model.training["held_out_error"] == kept.training["held_out_error"] < 0.25
    assert (model.training["refit_passes"], kept.training["refit_passes"]) == (
        RULES["perceptron"].passes["average"],
        0,
    )
    assert model.machine.count > kept.machine.count


def test_the_commands_take_it(board: str) -> None:
    """Train, predict, evaluate and folds know kernels; what needs weights says that it does."""
    model = str(Path(board).with_suffix(".model"))

    def ran(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(main, words)
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    shown = ran("train", board, "--kernel", "rbf", "-o", model)
    assert "Averaged perceptron with an RBF kernel" in shown
    assert "weights" not in shown
    assert "Verdict" not in shown
    assert "of 240 rows wrong" in ran("evaluate", model, board)
    assert ran("predict", model, board).split()[0] in {"same", "other"}
    assert "with an RBF kernel" in ran("evaluate", board, "--folds", "3", "--kernel", "rbf")
    assert "without --kernel" in ran("predict", model, board, "--proba", code=2)
    out = f"{board}.out"
    for words in (
        ["explain", model, board],
        ["report", model, "-o", out],
        ["train", board, "--from", model, "-o", out],
    ):
        assert "has no weights" in ran(*words, code=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gamma": 1.0}, "gamma= has no effect without kernel="),
        ({"kernel": "rbf", "kernel_degree": 2}, "has no effect without kernel='poly'"),
        ({"kernel": "cubic"}, "kernel= must be 'rbf' or 'poly'; got 'cubic'"),
        ({"kernel": "rbf", "gamma": -1.0}, "gamma of train_files must be"),
        ({"kernel": "rbf", "rule": "arow"}, "rule='arow' keeps a variance"),
        ({"kernel": "rbf", "calibrate": True}, "calibrate= is not available with kernel='rbf'"),
        ({"kernel": "rbf", "record_mistakes": True}, "record_mistakes= is not available"),
    ],
)
def test_what_a_kernel_cannot_do(given: dict[str, Any], message: str, board: str) -> None:
    """Nothing is accepted and ignored."""
    with pytest.raises(InputError, match=message):
        model_from_files(board, **given)


def test_a_precomputed_kernel_has_no_rows_in_files() -> None:
    """Its values were computed elsewhere."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    clf = KernelPerceptron(kernel="precomputed").fit(X @ X.T + 1, [0, 0, 1, 1])
    with pytest.raises(InputError, match="kernel values that were computed elsewhere"):
        clf.model_.scores(X @ X.T)


def test_folds_judge_a_kernel(board: str) -> None:
    """A chessboard is no matter for a line."""
    linear = cross_validate(board, folds=3, bins=0).mean
    assert cross_validate(board, folds=3, kernel="rbf").mean < 0.15 < linear


def test_the_search_finds_a_kernel(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it returns trains the machine that it judged best."""
    few = {rule: RULES[rule] for rule in ("perceptron", "pa1")}
    monkeypatch.setattr("rosenblatt.tuning.candidates.RULES", few)
    fixed = ["bins"]
    found = tune_files(board, {"bins": 0}, fixed, folds=3)
    assert found.parameters["kernel"] in {"rbf", "poly"}
    model = model_from_files(board, **found.parameters)
    assert (model.learner, model.training["n_rows"]) == ("KernelPerceptron", 240)
    error = model.evaluate(board).error
    assert error is not None
    assert error < 0.1
    rules = tune_files(board, {"bins": 0, "rule": "pa1"}, ["rule", *fixed], folds=3)
    assert all("kernel" not in trial.candidate.parameters for trial in rules.search.trials)
