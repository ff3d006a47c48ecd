"""Answers with a guarantee on the command line, by rows of a model or of a file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt import guarantee, load
from rosenblatt.models.guarantee import rows_apart
from rosenblatt.models.model import Model
from tests.cli.running import invoked


def write_rows(path: Path, seed: int, n_rows: int, classes: str) -> str:
    """Write rows of two numbers whose class is seldom unclear."""
    generator = np.random.default_rng(seed)
    numbers = generator.integers(0, len(classes), n_rows)
    X = np.round(generator.normal(size=(n_rows, 2)) * 0.8, 3)
    X[:, 0] += 2 * numbers
    X[:, 1] += 2 * (numbers == 1)
    lines = [f"{a},{b},{classes[k]}" for (a, b), k in zip(X.tolist(), numbers, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines, ""]))
    return str(path)


@pytest.fixture(params=["xy", "xyz"], ids=["two", "three"], scope="module")
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return rows to learn from, rows apart, new rows, and a model that holds a guarantee."""
    folder, names = tmp_path_factory.mktemp("rows"), ("train", "apart", "new")
    sizes = (400, 1500, 500)
    paths = [
        write_rows(folder / f"{name}.csv", seed, n, request.param)
        for seed, (name, n) in enumerate(zip(names, sizes, strict=True))
    ]
    model = str(folder / "m")
    result = invoked("train", paths[0], "--guarantee", paths[1], "-o", model)
    assert result.exit_code == 0, result.stderr
    assert "Guarantee by 1,500 rows, 95% confidence: answers" in result.stdout
    return *paths, model


def expected(model: str, apart: str, new: str, error: float) -> tuple[Any, Any]:
    """Return the guarantee and the rows that the command is asked for."""
    lines = [line.split(",") for line in Path(apart).read_text().split()[1:]]
    rows = [{"a": float(a), "b": float(b)} for a, b, _ in lines]
    sure = guarantee(load(model), rows, np.array([label for *_, label in lines]), error=error)
    others = [line.split(",") for line in Path(new).read_text().split()[1:]]
    return sure, [{"a": float(a), "b": float(b)} for a, b, _ in others]


def test_answers_are_those_of_python(files: Any) -> None:
    """The model's own rows and the same rows of a file abstain as guarantee does in Python."""
    _, apart, new, model = files
    sure, rows = expected(model, apart, new, 0.02)
    answers = sure.predict(rows, abstain="?").tolist()
    assert 0 < answers.count("?") < 400
    result = invoked("predict", model, new, "--error-at-most", "2%")
    assert result.stdout.split() == answers
    assert "at most 2% of the answers are wrong, with 95% confidence" in result.stderr
    again = invoked("predict", model, new, "--error-at-most", "0.02", "--guarantee", apart)
    assert again.stdout == result.stdout
    lines = invoked("predict", model, new, "--error-at-most", "2%", "--json").stdout.splitlines()
    assert [json.loads(line)["label"] or "?" for line in lines] == answers


def test_sets(files: Any) -> None:
    """A set stands beside the label: a list in JSON, else joined by semicolons."""
    _, apart, new, model = files
    sure, rows = expected(model, apart, new, 0.01)
    sets = sure.predict_sets(rows)
    assert {1, 2} <= {len(one) for one in sets}
    lines = invoked("predict", model, new, "--sets", "0.01", "--json").stdout.splitlines()
    assert [json.loads(line)["set"] for line in lines] == sets
    heading, *plain = invoked("predict", model, new, "--sets", "1%").stdout.splitlines()
    assert heading == "label\tset"
    assert [line.partition("\t")[2] for line in plain] == [";".join(one) for one in sets]


def test_no_promise_is_the_answer_no(files: Any) -> None:
    """Where nothing can be promised every answer is ?, and the exit code is 1."""
    _, _, new, model = files
    result = invoked("predict", model, new, "--error-at-most", "0.0001")
    assert result.exit_code == 1
    assert set(result.stdout.split()) == {"?"}
    assert "No answer can be given with an error of at most 0.01%" in result.stderr
    assert "it takes 59,912 answers without a mistake" in result.stderr


def test_sets_of_all_labels_are_told(files: Any) -> None:
    """Too few rows for so few misses give sets of all labels, with a warning."""
    _, _, new, model = files
    result = invoked("predict", model, new, "--sets", "0.0001", "--json")
    assert "Every set has all labels: --sets 0.0001 needs 9,999 rows at least" in result.stderr
    n_classes = len(Model.load(model).classes)
    assert all(len(json.loads(line)["set"]) == n_classes for line in result.stdout.splitlines())


def test_what_has_no_rows_is_told(files: Any) -> None:
    """Without rows apart, without labels in them, and without a question, a sentence helps."""
    train, apart, new, model = files
    assert invoked("train", train, "-o", "plain").exit_code == 0
    result = invoked("predict", "plain", new, "--error-at-most", "2%")
    assert result.exit_code == 2
    assert "The model has no rows for a guarantee" in result.stderr
    result = invoked("predict", model, new, "--guarantee", apart)
    assert "--guarantee has no effect without --error-at-most or --sets" in result.stderr
    unlabelled = Path(apart).with_name("unlabelled.csv")
    unlabelled.write_text("a,b,label\n1,2,\n3,4,\n")
    result = invoked("predict", model, new, "--sets", "5%", "--guarantee", str(unlabelled))
    assert result.exit_code == 2
    assert "A guarantee needs rows with labels" in result.stderr


def test_a_model_that_goes_on_can_have_one(files: Any) -> None:
    """With --from a model loses the old guarantee, and sets a new one by --guarantee."""
    train, apart, _, model = files
    assert invoked("train", train, "--from", model, "-o", "n").exit_code == 0
    assert rows_apart(Model.load("n")) is None
    result = invoked("train", train, "--from", model, "--guarantee", apart, "-o", "n")
    assert result.exit_code == 0
    found = rows_apart(Model.load("n"))
    assert found is not None
    assert len(found.lead) == 1500


def test_the_report_draws_it(files: Any) -> None:
    """The report has the summary, and the curve of the rows apart."""
    *_, model = files
    assert invoked("report", model, "-o", "r.html").exit_code == 0
    page = Path("r.html").read_text()
    assert "Guarantee by 1,500 rows, 95% confidence: answers" in page
    assert "share of rows answered" in page
