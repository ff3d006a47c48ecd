"""Training without options on real data sets: format, labels and kinds are found out."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rosenblatt.cli import main

pytestmark = pytest.mark.data


def trained(model: Path, *arguments: str) -> dict[str, Any]:
    """Train and return the report."""
    command = ["train", *arguments, "-o", str(model), "--json"]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    report: dict[str, Any] = json.loads(result.stdout)
    return report


@pytest.mark.parametrize(
    ("name", "n_rows", "n_features", "n_classes", "error"),
    [
        ("a9a.svm.gz", 32_561, 123, 2, 0.16),
        ("mushrooms.svm.gz", 6_513, 126, 2, 0.002),
        ("adult.train.csv.gz", 32_561, 108, 2, 0.16),
        ("sms_spam.tsv.gz", 5_574, None, 2, 0.03),
        ("elec2.csv.gz", 45_312, 8, 2, 0.2),
        ("small/iris.csv", 150, 4, 3, 0.15),
        ("small/sonar.csv", 208, 60, 2, 0.4),
        ("small/wine.csv", 178, 13, 3, 0.12),
    ],
)
def test_no_options(
    data_folder: Path,
    tmp_path: Path,
    name: str,
    n_rows: int,
    n_features: int | None,
    n_classes: int,
    error: float,
) -> None:
    """Rows, features and classes are those of the set, and the error is what others get.

    Bins and pairs of columns that held-out rows choose come on top.
    """
    report = trained(tmp_path / "m.model", str(data_folder / name))
    assert report["n_rows"] == n_rows
    assert n_features is None or report["n_features"] >= n_features
    assert len(report["classes"]) == n_classes
    assert report["held_out_error"] <= error


def test_texts(data_folder: Path, tmp_path: Path) -> None:
    """Newsgroup posts are told apart better than by the averaged perceptron of others (79.1 %)."""
    train, test = (str(data_folder / f"20news.{part}.tsv.gz") for part in ("train", "test"))
    options = ["--hash-bits", "18", "--max-iter", "5", "--no-early-stopping"]
    report = trained(tmp_path / "m.model", train, "--test", test, *options)
    assert report["test"]["rows"] == 7_528
    assert report["test"]["error"] < 0.24


def test_unclear_labels(data_folder: Path, tmp_path: Path) -> None:
    """Where it is not clear which column holds the labels, the flag that names it is told."""
    command = ["train", str(data_folder / "flights3m.parquet"), "-o", str(tmp_path / "m")]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    assert result.exit_code == 2
    assert "no column has few different words or whole numbers, as labels have." in result.stderr
    assert "name it with --label" in result.stderr
    assert "'delay'" in result.stderr
