"""explain --why: which training rows taught a model a decision."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.models.file import read, write
from tests.cli.running import invoked
from tests.cli.test_train import svmlight_file, table_file


@pytest.mark.parametrize("labels", [(-1, 1), ("a", "b", "c")])
@pytest.mark.parametrize(
    "options",
    [
        ["--memory", "last", "--no-early-stopping"],
        ["--buffer", "4K"],
        ["--buffer", "4K", "--max-iter", "1", "--no-early-stopping"],
        ["--rule", "pa1"],
    ],
)
def test_the_rows_sum_to_the_score(tmp_path: Path, labels: Any, options: list[str]) -> None:
    """What the training rows put in is what the model says, in memory and from blocks."""
    path = svmlight_file(tmp_path / "toy.svm", n_rows=1000, labels=labels)
    assert invoked("train", path, "--record-mistakes", "-o", "m", *options).exit_code == 0
    found = json.loads(invoked("explain", "m", path, "--row", "7", "--why", "--json").stdout)
    terms = found["why"]["terms"]
    if "score" in found:
        total = found["score"]
    else:
        runner_up, best = sorted(found["scores"].values())[-2:]
        total = best - runner_up
    assert found["why"]["total"] == pytest.approx(total, rel=1e-12)
    assert sum(term["amount"] for term in terms) == pytest.approx(total, rel=1e-9, abs=1e-9)
    lines = Path(path).read_text().splitlines()
    for term in terms[:20]:  # the numbers are those of the rows in the file
        assert lines[term["row"]].split()[0] == str(term["label"])


def test_on_a_screen(tmp_path: Path) -> None:
    """A table names the rows, how often each taught, and how much it counts."""
    table_file(tmp_path / "table.csv")
    invoked("train", "table.csv", "--record-mistakes")
    output = invoked("explain", "table.model", "table.csv", "--why", "-n", "3").stdout
    assert "Training rows of table.csv behind the decision" in output
    assert "training row" in output
    assert "= total" in output


def test_without_the_list(tmp_path: Path) -> None:
    """A model that does not hold its mistakes, or damaged ones, is told."""
    path = svmlight_file(tmp_path / "toy.svm")
    invoked("train", path, "-o", "m")
    result = invoked("explain", "m", path, "--why")
    assert result.exit_code == 2
    assert "train it with --record-mistakes" in result.stderr
    invoked("train", path, "-o", "m", "--record-mistakes")
    model = read("m")
    for name, array in model.arrays.items():
        if not len(array):
            continue
        for damaged in (array[:-1], array.astype(np.float32).reshape(1, -1)):
            write(replace(model, arrays=model.arrays | {name: damaged}), "damaged")
            result = invoked("explain", "damaged", path, "--why")
            assert result.exit_code == 2
            assert "is damaged" in result.stderr


def test_no_checkpoint_of_a_list(tmp_path: Path) -> None:
    """A checkpoint does not hold the list, so both together are refused."""
    path = svmlight_file(tmp_path / "toy.svm")
    result = invoked("train", path, "--record-mistakes", "--checkpoint", "c")
    assert result.exit_code == 2
    assert "leave one of them out" in result.stderr
