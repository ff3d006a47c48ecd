"""The command trace: a training step by step, from a file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rosenblatt.cli import main
from rosenblatt.models.model import Model
from tests.examples import WORKED_X, WORKED_Y, XOR_X, XOR_Y


def traced(*arguments: str) -> Result:
    """Run the command on numbers as they are."""
    return CliRunner().invoke(main, ["trace", "--no-scale", *arguments], catch_exceptions=False)


def test_scaled_and_named(tmp_path: Path) -> None:
    """By default numbers are scaled as train does, and the columns have their names."""
    lines = [f"{i * i % 11},{1000 * (i % 7)},{'up' if i % 3 else 'down'}\n" for i in range(30)]
    (tmp_path / "toy.csv").write_text("age,income,trend\n" + "".join(lines))
    options = ["--label", "trend", "--rule", "perceptron", "--memory", "last", "--max-iter", "2"]
    result = CliRunner().invoke(main, ["trace", "toy.csv", *options, "--json"])
    steps = [json.loads(line) for line in result.stdout.splitlines()]
    order = ["--shuffle", "no", "--bins", "0", "--no-early-stopping", "-o", "toy.model"]
    assert CliRunner().invoke(main, ["train", "toy.csv", *options, *order]).exit_code == 0
    (w,) = Model.load("toy.model").weights.tolist()
    assert steps[-1]["w"] == pytest.approx(w[:2])
    text = CliRunner().invoke(main, ["trace", "toy.csv", *options]).stdout
    assert "  x [age income]  " in text.splitlines()[0]
    assert "  w [age income]  " in text.splitlines()[0]
    wide = ",".join(f"n{k}" for k in range(30))
    rows = "".join(
        f"{','.join(['1' if i == k else '0' for k in range(30)])},{'ab'[i % 2]}\n"
        for i in range(30)
    )
    (tmp_path / "wide.csv").write_text(f"{wide},y\n{rows}")
    assert "[n0:1]" in traced("wide.csv", "--label", "y", "--steps", "2").stdout


def csv_file(path: Path, rows: list[list[int]], labels: list[int]) -> str:
    """Write rows as a table."""
    names = [f"x{k + 1}" for k in range(len(rows[0]))]
    lines = [",".join(map(str, [*row, y])) for row, y in zip(rows, labels, strict=True)]
    path.write_text("\n".join([",".join([*names, "label"]), *lines]) + "\n")
    return str(path)


def test_xor(tmp_path: Path) -> None:
    """The introduction's table of XOR, line by line, with rows counted from 1."""
    path = csv_file(tmp_path / "xor.csv", [list(map(int, x)) for x in XOR_X], list(XOR_Y))
    lines = traced(path, "--zero", "negative", "--max-iter", "1").stdout.splitlines()
    assert [" ".join(line.split()) for line in lines[1:5]] == [
        "1 1 [0 0] -1 0 right [0 0] 0",
        "1 2 [0 1] +1 0 wrong +1 [0 1] 1",
        "1 3 [1 1] -1 2 wrong -1 [-1 0] 0",
        "1 4 [1 0] +1 -1 wrong +1 [0 0] 1",
    ]


def test_json_lines_of_updates(tmp_path: Path) -> None:
    """--json gives one object a step; --only-updates leaves out rows that change nothing."""
    path = csv_file(tmp_path / "toy.csv", [list(map(int, x)) for x in WORKED_X], list(WORKED_Y))
    found = traced(path, "--only-updates", "--json").stdout.splitlines()
    steps = [json.loads(line) for line in found]
    assert [step["row"] for step in steps] == [1, 3, 5, 7, 1]
    assert steps[-1]["w"] == [0, -2, 0]
    assert steps[-1]["b"] == 1


def test_second_order(tmp_path: Path) -> None:
    """A second-order rule shows α, β and the variances; the convergence proof is refused."""
    path = csv_file(tmp_path / "and.csv", [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, -1, -1, 1])
    lines = traced(path, "--rule", "arow", "--r", "1", "--max-iter", "1").stdout.splitlines()
    heading = " ".join(lines[0].split())
    assert heading.endswith("margin its variance α β w [x1 x2] b variance of w of b")
    assert " ".join(lines[2].split()) == (
        "1 2 [0 1] -1 -0.5 right, too close 0.5 1.5 -0.2 0.4 [0 -0.2] -0.6 [1 0.6] 0.4"
    )
    refused = traced(path, "--rule", "scw1", "--proof")
    assert refused.exit_code == 2
    assert "convergence proof does not cover --rule scw1" in refused.stderr


@pytest.mark.parametrize(("form", "first"), [("markdown", "|"), ("html", "<")])
def test_forms(tmp_path: Path, form: str, first: str) -> None:
    """A trace can be printed as Markdown and as HTML."""
    path = csv_file(tmp_path / "toy.csv", [list(map(int, x)) for x in WORKED_X], list(WORKED_Y))
    assert traced(path, "--as", form, "--passes", "2-3").stdout.startswith(first)


def test_bad_passes(tmp_path: Path) -> None:
    """What is no range of passes is refused."""
    path = csv_file(tmp_path / "toy.csv", [list(map(int, x)) for x in WORKED_X], list(WORKED_Y))
    result = traced(path, "--passes", "4-2")
    assert result.exit_code == 2
    assert "--passes must be a number or a range" in result.stderr


def test_proof(tmp_path: Path) -> None:
    """--proof shows both inequalities of the theorem hold at every update, and the bound."""
    path = csv_file(tmp_path / "toy.csv", [list(map(int, x)) for x in WORKED_X], list(WORKED_Y))
    lines = traced(path, "--proof", "--only-updates").stdout.splitlines()
    for line in lines[1:-1]:
        projection, at_least, sqnorm, at_most = map(float, line.split()[-4:])
        assert projection >= at_least * (1 - 1e-5)  # as printed
        assert sqnorm <= at_most
    assert lines[-1].endswith("R²/γ² = 20.")
    xor = csv_file(tmp_path / "xor.csv", [list(map(int, x)) for x in XOR_X], list(XOR_Y))
    result = traced(xor, "--proof")
    assert result.exit_code == 2
    assert "The rows are inseparable" in result.stderr
