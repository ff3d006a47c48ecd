"""The command ``weights``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rosenblatt import explain, load
from rosenblatt.cli.train import train
from rosenblatt.cli.weights import weights
from tests.cli.models import fruit_model, rows_file, spam_model, spread


def ran(*arguments: str) -> Result:
    """Return what the command printed and how it ended."""
    return CliRunner().invoke(weights, arguments)


def test_two_classes(tmp_path: Path) -> None:
    """Each side has a table of names, with the bias and the number of weights above."""
    done = ran(spam_model(tmp_path))
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "AveragedPerceptron: 2 classes, 3 features.",
        "",
        "3 weights nonzero, bias -0.5000, speaks for ham",
        "",
        "Speaks for spam",
        "feature   weight",
        "money     +2.000",
        "the      +0.2500",
        "",
        "Speaks for ham",
        "feature  weight",
        "meeting  -1.000",
    ]


def test_chosen_class(tmp_path: Path) -> None:
    """--class turns the signs, so that positive weights speak for it; -n limits each side."""
    lines = ran(spam_model(tmp_path), "--class", "ham", "-n", "1").stdout.splitlines()
    assert lines[lines.index("Speaks for ham") + 2] == "meeting  +1.000"
    assert lines[lines.index("Speaks for spam") + 2] == "money    -2.000"
    done = ran(spam_model(tmp_path), "--class", "eggs")
    assert done.exit_code == 2
    assert done.stderr == "Error: The model knows no class 'eggs'; it knows ham and spam.\n"


def test_misleading_ranges(tmp_path: Path) -> None:
    """Features of different ranges are ranked by weight × deviation, with a warning."""
    done = ran(spam_model(tmp_path, spread=spread(0.01, 1.0, 2.0)))
    assert "Warning: the features have very different ranges" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[lines.index("Speaks for spam") + 1 :][:3] == [
        "feature   weight  × deviation",
        "the      +0.2500      +0.5000",
        "money     +2.000     +0.02000",
    ]


def test_json(tmp_path: Path) -> None:
    """The document names features with their numbers, weights and effects."""
    path = spam_model(tmp_path, spread=spread(1.0, 1.0, 2.0))
    document = json.loads(ran(path, "--json").stdout)
    assert document["ranked_by"] == "weight"
    (ranking,) = document["rankings"]
    assert (ranking["label"], ranking["against"], ranking["bias"]) == ("spam", "ham", -0.5)
    money = {"feature": 0, "name": "money", "weight": 2.0, "effect": 2.0, "uncertainty": None}
    the = {"feature": 2, "name": "the", "weight": 0.25, "effect": 0.5, "uncertainty": None}
    assert ranking["top"] == [money, the]


def test_several_classes(tmp_path: Path) -> None:
    """A few classes have tables each, many a line each."""
    few = ran(fruit_model(tmp_path)).stdout
    assert "Class banana: 1 weight nonzero, bias 0\n" in few
    assert "Speaks for cherry\nfeature    weight\nfeature 3  +2.000\n" in few
    many = ran(fruit_model(tmp_path, 9))
    assert "banana       0        1  feature 2 +2.000\n" in many.stdout
    assert "--class LABEL" in many.stderr
    one = ran(fruit_model(tmp_path, 9), "--class", "banana").stdout
    assert "feature 2  +2.000" in one
    assert "feature 1" not in one


def test_all(tmp_path: Path) -> None:
    """--all writes every weight other than 0 and the bias, exactly, tab-separated or as JSON."""
    names = ("a\tb", "plain", "αβγ")
    path = spam_model(tmp_path, feature_names=names)
    lines = ran(path, "--all").stdout.splitlines()
    assert lines == [
        "class\tfeature\tname\tweight",
        "spam\t0\ta\\tb\t2.0",
        "spam\t1\tplain\t-1.0",
        "spam\t2\tαβγ\t0.25",
        "spam\t\tbias\t-0.5",
    ]
    documents = [json.loads(line) for line in ran(path, "--all", "--json").stdout.splitlines()]
    assert [d["name"] for d in documents] == [*names, "bias"]
    assert documents[0] == {"class": "spam", "feature": 0, "name": "a\tb", "weight": 2.0}
    assert documents[-1]["feature"] is None


def test_missing_model(tmp_path: Path) -> None:
    """A model that is not there is told in a line, and in JSON."""
    path = str(tmp_path / "nothing.model")
    done = ran(path, "--json")
    assert done.exit_code == 2
    assert "nothing.model cannot be read: No such file or directory." in done.stderr
    assert "nothing.model" in json.loads(done.stdout)["error"]


def test_how_sure_weights_are(tmp_path: Path) -> None:
    """A second-order model shows beside each weight how sure it is; others do not."""
    path = rows_file(tmp_path, "spam 1:1\nham 2:1\n" * 20 + "spam 3:1\n")
    model, plain = str(tmp_path / "a.model"), str(tmp_path / "p.model")
    for rule, output in (("arow", model), ("perceptron", plain)):
        options = ["--rule", rule, "--no-early-stopping", "--no-intercept", "--max-iter", "1"]
        assert CliRunner().invoke(train, [path, *options, "-o", output]).exit_code == 0
    top = json.loads(ran(model, "--json").stdout)["rankings"][0]["top"]
    settled = {weight["name"]: weight["uncertainty"] for weight in top}
    sure, rare = load(model).confidence_[0, [0, 2]] ** 0.5
    assert settled["feature 1"] == pytest.approx(sure)
    assert settled["feature 3"] == pytest.approx(rare)
    assert sure < rare < 1.0
    shown = ran(model).stdout
    assert "± shows how unsure the model is of a weight: 1 at first" in shown
    assert f"{rare:.2f}" in shown
    assert "±" not in ran(plain).stdout
    terms = explain(load(model), [1.0, 0.0, 1.0]).terms
    assert {term.uncertainty for term in terms} == {sure, rare}
