"""The command plot: every kind from files, models and rows beside them, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from rosenblatt.cli import main
from rosenblatt.cli.pictures import KINDS
from tests.cli.models import rows_file, spam_model
from tests.plots.examples import blobs

pytest.importorskip("matplotlib")


def plotted(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["plot", *arguments], catch_exceptions=False)


def shown(*arguments: str) -> dict[str, object]:
    """Run the command for its JSON, which must be all that it prints there."""
    result = plotted(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def table(name: str, n_rows: int = 60, gap: float = 2.5, seed: int = 0) -> str:
    """Write a table with three columns of numbers and one of labels."""
    X, y = blobs(n_rows, gap, 3, seed)
    lines = [f"{a!r},{b!r},{c!r},{label}" for (a, b, c), label in zip(X.tolist(), y, strict=True)]
    Path(name).write_text("\n".join(["height,weight,age,kind", *lines]) + "\n")
    return name


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data(kind: str) -> None:
    """Each kind draws a table, says what is to be seen, and sums up its arrays."""
    found = shown(kind, table("a.csv"), "-o", "a.png")
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert found["kind"] == kind
    assert found["path"] == "a.png"
    assert str(found["shows"]).endswith(".")
    assert found["arrays"]


@pytest.mark.parametrize(
    "kind", [name for name, kind in KINDS.items() if "a model" in kind.subjects]
)
def test_every_kind_of_model(kind: str) -> None:
    """What a model can be drawn of is drawn, with rows beside it where they are needed."""
    data = table("a.csv", n_rows=300, gap=1.0)
    option = "--calibrate" if kind == "reliability" else "--record-mistakes"
    trained = ["train", data, "-o", "a.model", option]
    assert CliRunner().invoke(main, trained).exit_code == 0
    beside = ["--test", table("b.csv", seed=1)] if "a model" in KINDS[kind].beside else []
    shown(kind, "a.model", *beside, "-o", "a.svg")
    assert Path("a.svg").read_text().startswith("<?xml")


def test_what_a_model_lacks() -> None:
    """Probabilities and a class among several are asked for by the options that give them."""
    data = table("a.csv")
    assert CliRunner().invoke(main, ["train", data, "-o", "a.model"]).exit_code == 0
    done = plotted("reliability", "a.model", "--test", data, "-o", "a.png")
    assert done.stderr == "Error: a.model has no probabilities; train it with --calibrate.\n"
    Path("b.csv").write_text("x,kind\n" + "1,a\n2,b\n3,c\n" * 20)
    done = plotted("roc", "b.csv", "-o", "a.png")
    assert "The curve is that of one class against the others; name it with --class." in done.stderr


def test_sentence_and_path() -> None:
    """For people: the sentence goes to standard output, the path to standard error."""
    result = plotted("separability", table("a.csv"), "-o", "a.pdf")
    assert result.exit_code == 0
    assert result.stdout.startswith("60 rows are separable, with the margin γ = ")
    assert result.stderr == "Written to a.pdf.\n"


def test_features_by_name_and_number() -> None:
    """--x and --y choose columns; SVG carries their names as text that can be found."""
    data = table("a.csv")
    by_name = shown("boundary", data, "--x", "age", "--y", "height", "-o", "a.svg")
    by_number = shown("boundary", data, "--x", "2", "--y", "0", "-o", "b.svg")
    assert by_name["arrays"] == by_number["arrays"]
    assert by_name["arrays"]["axis_names"] == ["age", "height"]  # type: ignore[index]
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()
    weights = shown("boundary", data, "--plane", "weights", "-o", "c.svg")
    assert "projection onto w" in str(weights["arrays"])


def test_learner_options() -> None:
    """Rule, memory, passes and seed are those of the estimator that is drawn."""
    from rosenblatt import AveragedPerceptron

    data = table("a.csv", gap=0.8)
    found = shown("weights", data, "--memory", "average", "--max-iter", "3", "--seed", "5",
                  "-o", "a.png")  # fmt: skip
    X, y = blobs(60, 0.8, 3)
    clf = AveragedPerceptron(max_iter=3, random_state=5).fit(X, y)
    values = found["arrays"]["values"]  # type: ignore[index]
    np.testing.assert_allclose(np.sort(values), np.sort(clf.coef_[0]))
    assert found["arrays"]["title"] == "AveragedPerceptron"  # type: ignore[index]


@pytest.mark.parametrize("kind", ["comparison", "orders", "confusion"])
def test_seeds(kind: str) -> None:
    """The seed decides which rows are judged by, and in which order the others are learned."""
    data = table("a.csv", gap=0.5)
    found = [shown(kind, data, "--seed", seed, "-o", "a.png")["arrays"] for seed in "001"]
    assert found[0] == found[1]
    assert found[0] != found[2]


@pytest.mark.parametrize("kind", ["regions", "survival", "coverage", "errors", "orders"])
def test_votes(kind: str) -> None:
    """--memory vote draws a voted perceptron; pictures of one weight vector refuse it."""
    data = table("a.csv", gap=1.0)
    found = shown(kind, data, "--memory", "vote", "--max-iter", "2", "-o", "a.png")
    assert found["arrays"]["title"] == "VotedPerceptron"  # type: ignore[index]
    for other in ("boundary", "contributions"):
        result = plotted(other, data, "--memory", "vote", "-o", "b.png")
        assert result.exit_code == 2
        assert "no weight vector that decides" in result.stderr or "not a sum of" in result.stderr
    result = plotted(kind, data, "--memory", "vote", "--rule", "pa", "-o", "b.png")
    assert result.stderr.endswith(
        "--memory vote is not available with --rule pa; use --rule perceptron or margin.\n"
    )


def test_test_rows_are_encoded_like_the_data() -> None:
    """Rows of --test have the columns of the data, in whatever order the file has them."""
    data = table("a.csv", gap=1.0)
    X, y = blobs(30, 1.0, 3, seed=2)
    lines = [f"{label},{c!r},{b!r},{a!r}" for (a, b, c), label in zip(X.tolist(), y, strict=True)]
    Path("b.csv").write_text("\n".join(["kind,age,weight,height", *lines]) + "\n")
    found = shown("errors", data, "--test", "b.csv", "--label", "kind", "--max-iter", "2",
                  "-o", "a.png")  # fmt: skip
    from rosenblatt.plots import ErrorsDisplay

    own = ErrorsDisplay.from_data(*blobs(60, 1.0, 3), X, y, max_iter=2)
    assert own.test_error is not None
    assert found["arrays"]["test_error"] == own.test_error.tolist()  # type: ignore[index]


def test_one_row(tmp_path: Path) -> None:
    """Contributions of a row of a model: the terms of its score."""
    model = spam_model(tmp_path)
    rows = rows_file(tmp_path, "spam 1:2 3:1\nham 2:3\n")
    found = shown("contributions", model, "--test", rows, "--row", "2", "-o", "a.png")
    assert found["shows"] == "Row 2: ham, with the score -3.5."
    assert found["arrays"]["names"] == ["meeting = 3", "(bias)"]  # type: ignore[index]
    result = plotted("contributions", model, "--test", rows, "--row", "9", "-o", "a.png")
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: Row 9 does not exist; there are 2 rows.\n",
    )


def test_standard_input() -> None:
    """A dash reads rows from standard input."""
    Path("a.csv").write_text("x,y,label\n0,0,no\n0,2,no\n2,0,no\n2,2,yes\n")
    runner = CliRunner()
    command = ["plot", "separability", "-", "-o", "a.png"]
    result = runner.invoke(main, command, input=Path("a.csv").read_bytes())
    assert result.exit_code == 0
    assert "separable, with the margin γ = 0.7071" in result.stdout


def test_kinds_are_listed() -> None:
    """--list and --help name every kind with its sentence."""
    listed, helped = plotted("--list").stdout, plotted("--help").stdout
    for name, kind in KINDS.items():
        assert f"{name} " in listed
        assert kind.sentence in listed
        assert f"  {name} " in helped
    assert json.loads(plotted("--json", "--list").stdout)["regions"] == KINDS["regions"].sentence


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["pie", "a.csv", "-o", "a.png"], "'pie' is not one of 'boundary'"),
        (["boundary", "a.csv", "-o", "a.gif"], "a.gif must end in .png, .svg or .pdf"),
        (["boundary", "a.csv", "-o", "a"], "a must end in .png, .svg or .pdf"),
        (["boundary", "nowhere.csv", "-o", "a.png"], "nowhere.csv"),
        (["boundary", "a.csv", "--x", "age", "-o", "a.png"], "--x and --y must be given together."),
        (["boundary", "a.csv", "--x", "a", "--y", "b", "-o", "a.png"], "no feature 'a'"),
        (
            ["boundary", "a.csv", "--row", "1", "-o", "a.png"],
            "--row has no effect on the picture boundary; use it with contributions",
        ),
        (["update", "a.csv", "--test", "a.csv", "-o", "a.png"], "--test has no effect on"),
        (["update", "a.model", "-o", "a.png"], "needs a data file; DATA-OR-MODEL is a model."),
        (["boundary", "a.model", "-o", "a.png"], "also needs data. Name a file with --test."),
        (
            ["weights", "a.model", "--rule", "pa", "-o", "a.png"],
            "a model, which is already trained",
        ),
        (
            ["weights", "a.model", "--label", "x", "-o", "a.png"],
            "--label has no effect for a model",
        ),
        (["survival", "a.model", "-o", "a.png"], "train it with --record-mistakes"),
        (["boundary", "three.csv", "-o", "a.png"], "draw its regions"),
    ],
)
def test_refused(arguments: list[str], told: str) -> None:
    """What cannot be drawn ends with exit code 2, a sentence, and no file."""
    table("a.csv", n_rows=30)
    Path("three.csv").write_text("x,y,label\n0,0,a\n1,1,b\n1,0,c\n")
    if "a.model" in arguments:
        CliRunner().invoke(main, ["train", "a.csv", "-o", "a.model", "--no-early-stopping"])
    result = plotted(*arguments)
    assert result.exit_code == 2, result.output
    assert told in " ".join(result.stderr.split())
    assert not list(Path().glob("a.png"))


@pytest.mark.parametrize("kind", ["boundary", "separability", "mistakes", "angle"])
def test_one_class_against_the_rest(kind: str, tmp_path: Path) -> None:
    """Of three classes a picture of two takes one, against all others."""
    path = tmp_path / "three.csv"
    lines = [f"{k % 3 + k / 300},{k % 3 * (k % 5)},{'abc'[k % 3]}" for k in range(60)]
    path.write_text("\n".join(["x,y,class", *lines]))
    out = str(tmp_path / "one.svg")
    done = plotted(kind, str(path), "--class", "a", "-o", out)
    assert done.exit_code == 0, done.output
    assert "not a" in Path(out).read_text() or kind in ("mistakes", "angle")
    done = plotted(kind, str(path), "--class", "z", "-o", out)
    assert "three.csv has the label 'z'; there are a, b and c." in done.output


def test_comparison_says_what_was_learned_from(tmp_path: Path) -> None:
    """Learners of two named features saw no others, and the picture says so."""
    path = tmp_path / "wide.csv"
    lines = [f"{k % 7},{k % 5},{k % 3},{'ab'[k % 7 > 3]}" for k in range(40)]
    path.write_text("\n".join(["x,y,z,class", *lines]))
    out = tmp_path / "two.svg"
    done = plotted("comparison", str(path), "--x", "x", "--y", "y", "-o", str(out))
    assert done.exit_code == 0, done.output
    words = out.read_text()
    assert "at the mean" not in words
