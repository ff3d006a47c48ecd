"""The command trace: a training step by step, from a file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rosenblatt.cli import main
from tests.examples import WORKED_X, WORKED_Y, XOR_X, XOR_Y


def traced(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["trace", *arguments], catch_exceptions=False)


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
    assert heading.endswith("margin its variance α β w b variance of w of b")
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
