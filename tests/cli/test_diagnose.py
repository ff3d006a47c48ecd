"""The command diagnose, and the verdict of train."""

import json
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.models.file import read
from tests.cli.running import invoked
from tests.cli.test_trace import csv_file
from tests.cli.test_train import svmlight_file, table_file
from tests.examples import WORKED_X, WORKED_Y, XOR_X, XOR_Y


def test_xor(tmp_path: Path) -> None:
    """XOR is inseparable, by its two diagonals, and its training goes in circles; exit code 1."""
    path = csv_file(tmp_path / "xor.csv", [list(map(int, x)) for x in XOR_X], list(XOR_Y))
    result = invoked("diagnose", path)
    assert result.exit_code == 1
    assert "inseparable" in result.stdout
    assert "1/2 × row" in result.stdout
    assert "the same weights after" in result.stdout
    found = json.loads(invoked("diagnose", path, "--json").stdout)
    assert found["status"] == "inseparable"
    assert found["cycle"] is not None


def test_separable(tmp_path: Path) -> None:
    """The introduction's example is separable: a margin, the bound, and exit code 0."""
    path = csv_file(tmp_path / "toy.csv", [list(map(int, x)) for x in WORKED_X], list(WORKED_Y))
    result = invoked("diagnose", path)
    assert result.exit_code == 0
    assert "separable (8 rows, 3 features, 2 classes)" in result.stdout
    assert "margin γ  0.5 " in result.stdout
    found = json.loads(invoked("diagnose", path, "--json").stdout)
    assert found["margin_low"] == pytest.approx(0.5, rel=1e-6)
    assert found["mistakes"] <= found["bound"]


def test_sparse_rows_and_tables(tmp_path: Path) -> None:
    """Rows of svmlight and of tables with words are judged too."""
    assert "separable" in invoked("diagnose", svmlight_file(tmp_path / "a.svm", n_rows=60)).stdout
    assert "separable" in invoked("diagnose", table_file(tmp_path / "b.csv", n_rows=60)).stdout


def test_labels_of_svmlight_that_are_not_whole(tmp_path: Path) -> None:
    """Labels such as 0.5 and 1.5 are two classes, here as in train, and in pictures."""
    path = tmp_path / "halves.svm"
    path.write_text("0.5 1:1\n1.5 2:1\n0.5 1:1 2:1\n1.5 1:0.3 2:0.2\n")
    result = invoked("diagnose", str(path))
    assert result.exit_code == 0, result.stderr
    assert "separable (4 rows, 2 features, 2 classes)" in result.stdout
    assert json.loads(invoked("diagnose", str(path), "--json").stdout)["classes"] == ["0.5", "1.5"]
    assert invoked("plot", "errors", str(path), "-o", str(tmp_path / "a.svg")).exit_code == 0


@pytest.mark.parametrize("scale", [[], ["--scale"]])
def test_whole_numbers_that_would_be_rounded_are_refused(tmp_path: Path, scale: list[str]) -> None:
    """Whole numbers above 2^53, different in the file and equal once read, give no verdict."""
    table, lines = tmp_path / "big.csv", tmp_path / "big.svm"
    table.write_text("a,b,label\n1,7,p\n1,9007199254740993,p\n1,9007199254740992,q\n2,1,q\n")
    lines.write_text("1 1:7\n1 1:9007199254740993\n2 1:9007199254740992\n")
    for path, feature in ((table, "b"), (lines, "feature 1")):
        result = invoked("diagnose", str(path), *(scale if path == table else ()))
        assert result.exit_code == 2
        words = f"row 2 has 9007199254740992 in '{feature}'. From 2^53 on, different whole numbers"
        assert words in " ".join(result.stderr.split())


def test_how_the_file_was_read_is_said(tmp_path: Path) -> None:
    """The label and its reason, kinds, columns left out and warnings come with the verdict."""
    lines = [f"{i};{i % 7};{i % 2};{'yes' if i % 2 else 'no'}" for i in range(1, 61)]
    path = tmp_path / "shop.csv"
    path.write_text("\n".join(["id;size;paid;bought", *lines]))
    result = invoked("diagnose", str(path))
    assert "  read as: csv, separator ';', with a header" in result.stdout
    assert "  label: 'bought', the last column\n" in result.stdout
    assert "  numbers: 2: 'size', 'paid'" in result.stdout
    assert "  left out: 'id': it counts the rows: 1, 2, 3, …" in result.stdout
    assert "Column 'paid' alone decides 100 %" in result.stderr
    assert "--ignore paid" in result.stderr
    found = json.loads(invoked("diagnose", str(path), "--json").stdout)
    assert found["decisions"]["label_reason"] == "the last column"
    assert found["bad_rows"] == {"count": 0, "without_label": 0, "first": []}


def test_train_keeps_the_verdict(tmp_path: Path) -> None:
    """Train --verdict prints the proof beside the mistakes made, and the model keeps it."""
    path = csv_file(tmp_path / "toy.csv", [list(map(int, x)) for x in WORKED_X], list(WORKED_Y))
    how = ("--verdict", "--no-scale", "-o", "m")
    output = invoked("train", path, "--rule", "perceptron", *how).stdout
    assert "verdict  separable" in output
    assert "made in training" in output
    verdict = read("m").verdict
    assert verdict is not None
    assert verdict["status"] == "separable"
    assert verdict["mistakes"] <= verdict["bound"]
    output = invoked("train", path, *how).stdout  # by a rule that the theorem does not speak of
    assert "verdict  separable" in output
    assert "made in training" not in output
    verdict = read("m").verdict
    assert verdict is not None
    assert verdict["mistakes"] is None
    output = invoked("train", path, "-o", "m").stdout
    assert "Verdict: the training rows are separable" in output


def test_a_verdict_needs_all_rows(tmp_path: Path) -> None:
    """Rows that do not fit into memory are not judged; the model is kept, and a warning says so."""
    path = svmlight_file(tmp_path / "toy.svm", n_rows=2000)
    result = invoked("train", path, "--verdict", "--buffer", "4K", "-o", "m")
    assert result.exit_code == 0
    assert "do not fit into --buffer" in result.stderr
    assert read("m").verdict is None


def test_notes_name_options(tmp_path: Path) -> None:
    """What is advised where no proof was found is spelled as the command takes it."""
    generator = np.random.default_rng(0)
    rows = "".join(
        f"{','.join(map(repr, x))},{'ab'[i % 2]}\n"
        for i, x in enumerate(generator.normal(size=(400, 8)).tolist())
    )
    (tmp_path / "toy.csv").write_text("a,b,c,d,e,f,g,h,y\n" + rows)
    done = invoked("diagnose", "toy.csv", "--label", "y", "--time-limit", "1e-9")
    assert done.exit_code == 1
    assert "to decide it, raise --time-limit, or give fewer rows" in done.stdout


def test_logistic(tmp_path: Path) -> None:
    """With --logistic the separation comes first, rows counted from 1, columns by name; so JSON."""
    rows = ["colour,size,label", "red,1,a", "red,2,b", "red,3,a", "green,4,a", "green,2,b"]
    path = tmp_path / "shop.csv"
    path.write_text("\n".join([*rows, "green,2,a", "blue,1,b", "blue,4,b"]))
    result = invoked("diagnose", str(path), "--logistic", "--category", "colour")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith(" separation  quasi-complete: ")
    assert lines[1] == "         +∞  colour=blue"
    assert "on boundary  6 rows: 1, 2, 3, 4, 5 and 6" in lines
    assert "   logistic  quasi-complete separation: colour=blue +∞" in lines
    found = json.loads(invoked("diagnose", str(path), "--json", "--category", "colour").stdout)
    assert found["separation"] == "quasi-complete"
    assert found["infinite"] == {"colour=blue": 1}
    assert found["boundary_rows"] == [1, 2, 3, 4, 5, 6]
    invoked("train", str(path), "--verdict", "--category", "colour", "-o", "m")
    verdict = read("m").verdict
    assert verdict is not None
    assert verdict["separation"] == "quasi-complete"
    assert verdict["infinite"] == {"colour=blue": 1}
    page = invoked("report", "m", "-o", str(tmp_path / "m.html"))
    assert page.exit_code == 0, page.stderr
    assert "quasi-complete separation" in (tmp_path / "m.html").read_text()


def test_scaling_does_not_change_what_a_logistic_regression_finds(tmp_path: Path) -> None:
    """Rows on a line through decimals stay on it, though rounding moves them when scaled."""
    generator = np.random.default_rng(3)
    lines = ["a,b,y"]
    for k, b in enumerate((generator.integers(-20, 21, 40) / 10).tolist()):
        beyond = (k % 4 - 1) // 2  # −1, 0, 0 and 1
        a = round(1.7 - 2 * b + beyond * (k % 7 + 1) / 10, 1)
        lines.append(f"{a},{b},{('no', 'yes')[beyond > 0 or k % 4 == 1]}")
    path = tmp_path / "touching.csv"
    path.write_text("\n".join([*lines, "900.1,-3,yes", "-1200.4,2,no"]))  # far out: drawn nearer
    found = [invoked("diagnose", str(path), "--json", *how) for how in ([], ["--scale"])]
    plain, scaled = (json.loads(result.stdout) for result in found)
    invoked("train", str(path), "--verdict", "-o", "m")
    of_model = read("m").verdict
    assert of_model is not None
    assert plain["infinite"] == {"a": 1, "b": 1, "bias": -1}
    assert len(plain["boundary_rows"]) == 20
    assert plain["boundary_rows"] == scaled["boundary_rows"]
    for name in ("separation", "infinite", "direction"):
        assert plain[name] == scaled[name] == of_model[name]
