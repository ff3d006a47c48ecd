"""A task is one file and one line: ordered classes are learned, judged, stored and served."""

import json
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.cli import main
from rosenblatt.models.model import Model
from rosenblatt.models.train import trained_model
from rosenblatt.rules import Perceptron
from rosenblatt.tasks import TASKS
from rosenblatt.training.examples import Examples
from rosenblatt.training.state import State, run_pass
from tests.examples import csr
from tests.tasks.ordered import OrderedClasses

GRADES = "abcd"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line."""
    monkeypatch.setitem(TASKS, OrderedClasses.name, OrderedClasses)


def grades(path: Path, n_rows: int, seed: int) -> str:
    """Write rows of two numbers whose sum decides the grade; no line tells each from the others."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 2)).round(3)
    places = np.digitize(x @ [3.0, 2.0], [-3.0, 0.0, 3.0])
    lines = [f"{p},{q},{GRADES[k]}" for (p, q), k in zip(x.tolist(), places, strict=True)]
    path.write_text("\n".join(["one,two,grade", *lines]) + "\n")
    return str(path)


def test_the_pass_is_that_of_the_paper() -> None:
    """Weights and thresholds after some rows are those of PRank in plain lists."""
    rows = [[1.0, 2.0], [-1.0, 0.5], [0.0, -2.0], [2.0, 1.0], [-3.0, 0.0]]
    places = [2, 0, 0, 2, 1]
    w, cuts = [0.0, 0.0], [0.0, 0.0]
    for x, place in zip(rows, places, strict=True):
        score = sum(a * b for a, b in zip(w, x, strict=True))
        sides = [1 if place > r else -1 for r in range(2)]
        moves = [y if y * (score - cut) <= 0 else 0 for y, cut in zip(sides, cuts, strict=True)]
        w = [a + sum(moves) * b for a, b in zip(w, x, strict=True)]
        cuts = [cut - move for cut, move in zip(cuts, moves, strict=True)]
    state = State.zeros(2, 3, averaged=False, task=OrderedClasses.name)
    examples = Examples(csr(rows), np.array(places, np.int32))
    run_pass(state, examples, np.arange(5), Perceptron(), 0)
    vectors = state.by_class(state.weights)
    assert vectors[:, :-1].tolist() == [w, w]
    assert vectors[:, -1].tolist() == [-cut for cut in cuts]


def test_it_is_trained_judged_stored_and_loaded(tmp_path: Path) -> None:
    """From a file to a model and back: the same answers, far better than those of classes."""
    rows, test = (grades(tmp_path / f"{k}.csv", 600, k) for k in (1, 2))
    model = trained_model(rows, {"label": "grade", "goal": "ordered"}, None)
    assert model.task == OrderedClasses(4)
    assert model.weights.shape == (3, model.n_features + 1)
    assert (model.weights[0, :-1] == model.weights[2, :-1]).all()
    error = model.evaluate(test).error
    assert error is not None
    assert error < 0.1
    model.save(tmp_path / "grades.model")
    again = Model.load(tmp_path / "grades.model")
    x = [{"one": -2.0, "two": -1.0}, {"one": 0.1, "two": 0.2}, {"one": 2.0, "two": 1.5}]
    assert again.predict(x).tolist() == model.predict(x).tolist() == ["a", "c", "d"]
    assert again.evaluate(test).report() == model.evaluate(test).report()


def test_commands_take_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Train, evaluate and predict know the task without a line of their own."""
    rows, test = (grades(tmp_path / f"{k}.csv", 400, k) for k in (3, 4))
    path = str(tmp_path / "m")
    command = ["train", rows, "--label", "grade", "--goal", "ordered", "-o", path, "--json"]
    main.main(command, standalone_mode=False)
    assert len(json.loads(capsys.readouterr().out)["class_counts"]) == 4
    main.main(["evaluate", path, test, "--json"], standalone_mode=False)
    judged = json.loads(capsys.readouterr().out)
    assert judged.get("rows") == 400, judged
    assert judged["error"] < 0.15
    assert judged["confusion"]["predicted"] == [*GRADES]
    main.main(["predict", path, test], standalone_mode=False)
    said = capsys.readouterr().out.split()
    truth = [line.rpartition(",")[2] for line in Path(test).read_text().split()[1:]]
    said = [one for one in said if one in GRADES]
    wrong = sum(one != own for one, own in zip(said, truth, strict=True))
    assert wrong == judged["wrong"]
