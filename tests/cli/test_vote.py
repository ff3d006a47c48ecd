"""Voting from files: trained with --memory vote, and what the other commands make of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from rosenblatt import VotedPerceptron, load, prune, save
from rosenblatt.errors import InputError
from rosenblatt.models.file import read, write
from rosenblatt.tasks.metrics import coverage_curve
from tests.cli.running import invoked
from tests.cli.test_train import svmlight_file
from tests.models.models import with_list, with_vectors


def done(*arguments: str) -> Any:
    """Run a command that must succeed; return its JSON."""
    result = invoked(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(params=[(-1, 1), (1, 2, 3)], ids=["two", "three"], scope="module")
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file of rows of two classes or of three."""
    folder = tmp_path_factory.mktemp("rows")
    return svmlight_file(folder / "toy.svm", n_rows=1000, labels=request.param)


@pytest.fixture(scope="module")
def voted(data: str) -> str:
    """Return the file of a model that votes."""
    path = str(Path(data).with_name("voted.model"))
    done("train", data, "--memory", "vote", "-o", path)
    return path


@pytest.mark.parametrize("size", ["4K", "1M"])
def test_a_file_gives_the_model_of_an_array(data: str, size: str) -> None:
    """Passes over a file, in small buffers too, vote as the estimator fitted on its rows does."""
    options = ["--no-early-stopping", "--shuffle", "no", "--max-iter", "2", "--buffer", size]
    done("train", data, "--memory", "vote", "-o", "m", *options)
    from_file = load("m")
    X, y = load_svmlight_file(data)
    clf = VotedPerceptron(max_iter=2, shuffle=False).fit(X, y)
    assert from_file.survival_.tolist() == clf.survival_.tolist()
    assert (from_file.decision_function(X) == clf.decision_function(X)).all()
    labels = invoked("predict", "m", data).stdout.split()
    assert labels == [str(int(label)) for label in clf.predict(X)]
    assert done("evaluate", "m", data)["error"] == pytest.approx(1 - clf.score(X, y))


def test_early_stopping_keeps_the_best_vote(data: str) -> None:
    """The error on held-out rows is that of the vote, and later vectors are gone."""
    report = done(
        "train", data, "--memory", "vote", "-o", "m", "--n-iter-no-change", "2", "--no-refit"
    )
    scores = [record["validation_score"] for record in report["history"]]
    assert report["learner"] == "VotedPerceptron"
    assert report["best_pass"] == int(np.argmax(scores)) + 1
    assert report["held_out_error"] == pytest.approx(1 - max(scores))
    kept = sum(record["updates"] for record in report["history"][: report["best_pass"]])
    clf = load("m")
    assert clf.n_vectors_ == kept + 1
    assert clf.survival_.sum() == report["best_pass"] * report["n_learned"]


def test_saved_loaded_and_gone_on(data: str, voted: str) -> None:
    """A model of the command and one of Python are the same kind of file, and both learn on."""
    X, y = load_svmlight_file(data)
    first = load(voted)
    save(first, "n")
    second = load("n")
    for clf in (first, second):
        clf.set_params(early_stopping=False).partial_fit(X[:50], y[:50])
    assert first.survival_.tolist() == second.survival_.tolist()
    assert (first.decision_function(X) == second.decision_function(X)).all()
    ours, theirs = (read(one).machine.arrays() for one in (voted, "n"))
    assert sorted(ours) == sorted(theirs)
    assert all((ours[name] == theirs[name]).all() for name in ours)


def test_exports(voted: str) -> None:
    """The export to JSON holds the mistakes; ONNX is refused with a reason."""
    done("export", voted, "-o", "m.json")
    assert set(json.loads(Path("m.json").read_text())["arrays"]) == set(
        read(voted).machine.arrays()
    )
    result = invoked("export", voted, "-o", "m.onnx")
    assert result.exit_code == 2
    assert "votes of many weight vectors" in result.stderr


def test_the_coverage_curve(data: str, voted: str) -> None:
    """Evaluate shows what abstaining gains; its JSON has the curve in steps of a percent."""
    X, y = load_svmlight_file(data)
    curve = done("evaluate", voted, data)["coverage_curve"]
    clf = load(voted)
    whole = coverage_curve(clf.vote_margin(X), clf.predict(X) != y).thinned()
    assert curve["coverage"] == whole.coverage.tolist()
    assert curve["error"] == pytest.approx(whole.error.tolist())
    assert curve["threshold"] == whole.threshold.tolist()
    assert len(curve["coverage"]) <= 100
    half = f"Of the most certain half of the rows {100 * whole.error_at(0.5):.2f}% are wrong"
    assert half in invoked("evaluate", voted, data).stdout
    done("train", data, "-o", "mean")
    clf = load("mean")
    scores = clf.decision_function(X)
    order = np.sort(scores) if scores.ndim > 1 else np.stack([-abs(scores), 0 * scores], axis=1)
    whole = coverage_curve(order[:, -1] - order[:, -2], clf.predict(X) != y).thinned()
    curve = done("evaluate", "mean", data)["coverage_curve"]
    assert curve["error"] == pytest.approx(whole.error.tolist())


def test_explaining_a_vote(data: str, voted: str) -> None:
    """The label is that of the vote; the terms are those of the average, which is said."""
    clf = load(voted)
    X, _ = load_svmlight_file(data)
    for row in (1, 7):
        found = done("explain", voted, data, "--row", str(row), "--why")
        x = X[row - 1]
        assert found["predicted"] == clf.predict(x)[0]
        assert found["vote_margin"] == pytest.approx(clf.vote_margin(x)[0])
        assert found["vectors_that_vote"] == clf.n_vectors_
        assert found["why"]["total"] == pytest.approx(found["total"], rel=1e-9)
    assert "A vote is not a sum of contributions" in invoked("explain", voted, data).stdout
    assert "below are their average" in invoked("weights", voted).stdout
    assert done("weights", voted)["vectors_that_vote"] == clf.n_vectors_


def test_probabilities_of_a_vote(data: str) -> None:
    """--calibrate fits probabilities to the shares of votes: they rise with the share."""
    done("train", data, "--memory", "vote", "--calibrate", "-o", "m")
    lines = invoked("predict", "m", data, "--json", "--scores", "--proba").stdout.splitlines()
    records = [json.loads(line) for line in lines]
    if "score" in records[0]:
        pairs = sorted((r["score"], r["probabilities"]["1"]) for r in records)
        shares = [share for _, share in pairs]
        assert shares == sorted(shares)
        assert min(shares) < 0.5 < max(shares)
    for record in records:
        assert sum(record["probabilities"].values()) == pytest.approx(1.0)


def test_what_does_not_go_with_a_vote(data: str, voted: str) -> None:
    """Rules without a voted learner, checkpoints and prune are refused, each with a reason."""
    result = invoked("train", data, "--memory", "vote", "--rule", "pa1")
    assert result.exit_code == 2
    assert (
        "--memory vote is not available with --rule pa1; use --rule perceptron or margin"
        in result.stderr
    )
    result = invoked("train", data, "--memory", "vote", "--checkpoint", "c")
    assert "--memory vote keeps a list that a checkpoint does not hold" in result.stderr
    with pytest.raises(InputError, match="VotedPerceptron decides by many"):
        prune(read(voted), 1)


def changed(values: Any, place: int, value: Any) -> Any:
    """Return an array with one value in place of another."""
    values = values.copy()
    values[place] = value
    return values


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("row", 0, 10**6),
        ("row", 0, -1),
        ("label", 0, 7),
        ("rival", 3, 7),
        ("tau", 1, np.nan),
        ("tau", 1, 0.0),
        ("seen", 2, 0),
        ("indices", 0, 10**6),
        ("indptr", 1, -1),
        ("data", 0, np.inf),
    ],
)
def test_a_damaged_list_is_told(data: str, voted: str, name: str, place: int, value: Any) -> None:
    """Whatever in the list cannot be is found before anything is predicted."""
    model = read(voted)
    key = f"mistakes.{name}"
    arrays = model.machine.arrays()
    damaged = changed(arrays[key], place, value)
    write(with_list(model, arrays | {key: damaged}), "damaged")
    with pytest.raises(InputError, match="list of mistakes in the model is damaged"):
        load("damaged")
    result = invoked("predict", "damaged", data)
    assert result.exit_code == 2
    assert "is damaged" in result.stderr


def test_a_model_without_its_list(voted: str) -> None:
    """A file that says it votes but holds no votes, or no average, is told to be damaged."""
    model = read(voted)
    write(with_list(model, {}), "empty")
    with pytest.raises(InputError, match="list of mistakes in the model is damaged"):
        load("empty")
    write(with_vectors(model, ledger=None), "last")
    with pytest.raises(InputError, match="no average, which a VotedPerceptron keeps"):
        load("last")


def test_rows_that_overflow_are_told_with_their_file(voted: str) -> None:
    """The file and the line from which the rows came stand before the number of the row."""
    Path("huge.svm").write_text("1 1:1e308 2:1e308 3:1e308 4:1e308\n" * 3)
    result = invoked("predict", voted, "huge.svm")
    assert result.exit_code == 2
    assert "huge.svm, from line 1 on: The activation of row" in result.stderr
