"""explain --why: which training rows taught a model a decision."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.models.file import read, write
from tests.cli.running import invoked
from tests.cli.test_train import svmlight_file, table_file
from tests.models.models import with_list
from tests.models.test_labels import LABELS, made, written

SEVERAL = ["--label", "tags", "--label-separator", ";", "--text", "text", "--record-mistakes"]


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


def test_a_wrong_row(tmp_path: Path) -> None:
    """Rows and features are both those of the lead over the label."""
    lines = [f"{'abc'[k % 3]} 1:{k % 3 - 1} 2:{k % 5}\n" for k in range(30)]
    (tmp_path / "toy.svm").write_text("".join(lines))
    (tmp_path / "wrong.svm").write_text("c 1:-1 2:0\n")
    invoked("train", "toy.svm", "--rule", "perceptron", "--record-mistakes", "-o", "m")
    found = json.loads(invoked("explain", "m", "wrong.svm", "--why", "--json").stdout)
    assert (found["predicted"], found["negative"]) == ("a", "c")
    assert (found["why"]["positive"], found["why"]["negative"]) == ("a", "c")
    assert found["why"]["total"] == pytest.approx(found["total"])


def test_without_the_list(tmp_path: Path) -> None:
    """A model that does not hold its mistakes, or damaged ones, is told."""
    path = svmlight_file(tmp_path / "toy.svm")
    invoked("train", path, "-o", "m")
    result = invoked("explain", "m", path, "--why")
    assert result.exit_code == 2
    assert "train it with --record-mistakes" in result.stderr
    invoked("train", path, "-o", "m", "--record-mistakes")
    model = read("m")
    arrays = model.machine.arrays()
    for name, array in arrays.items():
        if not len(array):
            continue
        for damaged in (array[:-1], array.astype(np.float32).reshape(1, -1)):
            write(with_list(model, arrays | {name: damaged}), "damaged")
            result = invoked("explain", "damaged", path, "--why")
            assert result.exit_code == 2
            assert "is damaged" in result.stderr


def test_no_checkpoint_of_a_list(tmp_path: Path) -> None:
    """A checkpoint does not hold the list, so both together are refused."""
    path = svmlight_file(tmp_path / "toy.svm")
    result = invoked("train", path, "--record-mistakes", "--checkpoint", "c")
    assert result.exit_code == 2
    assert "leave one of them out" in result.stderr


def why_of(model: str, data: str, *options: str) -> Any:
    """Return what explain says of a row, the fifth if no other is named."""
    result = invoked("explain", model, data, "--row", "5", "--why", "--json", *options)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("goal", ["each", "ranking"])
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--max-iter", "3"],
        ["--rule", "perceptron", "--memory", "last", "--no-early-stopping"],
    ],
)
def test_several_labels(tmp_path: Path, goal: str, options: list[str]) -> None:
    """The rows that taught a label sum to its score, from files, saved, loaded and gone on with."""
    path = written(tmp_path, "tsv")
    how = [*SEVERAL, "--goal", goal, *options]
    assert invoked("train", path, *how, "-o", "m").exit_code == 0
    invoked("train", path, *[one for one in how if one != "--record-mistakes"], "-o", "plain")
    assert np.array_equal(read("m").weights, read("plain").weights)
    more, texts = made(50, seed=1)
    more = [
        [*own, "new"] if "chess" in text else own for own, text in zip(more, texts, strict=True)
    ]
    (tmp_path / "later").mkdir()
    later = written(tmp_path / "later", "tsv", more, texts)
    assert invoked("train", later, "--from", "m", "-o", "n").exit_code == 0
    for model, labels in (("m", LABELS), ("n", LABELS + more)):
        known = read(model).classes
        assert ("new" in known) == (model == "n")
        for label in known:
            found = why_of(model, path, "--class", str(label))
            own = found["why"]
            assert (own["positive"], own["negative"]) == (label, None)
            assert own["total"] == found["scores"][label]
            total = sum(term["amount"] for term in own["terms"])
            assert total == pytest.approx(own["total"], rel=1e-9, abs=1e-9)
            assert own["terms"]
            for term in own["terms"]:  # the numbers are those of the rows in all files
                assert term["label"] == (label if label in labels[term["row"]] else None)
    best = why_of("m", path)
    assert best["why"]["positive"] == max(best["scores"], key=best["scores"].get)
    text = invoked("explain", "n", path, "--why", "--class", "perl", "-n", "400").stdout
    assert "rows.tsv behind the decision: positive amounts speak for perl, negative ones" in text
    assert " not perl " in text


def test_a_damaged_list_of_labels(tmp_path: Path) -> None:
    """Labels that the model does not have, or in another order of time, are told."""
    path = written(tmp_path, "tsv")
    invoked("train", path, *SEVERAL, "-o", "m")
    model = read("m")
    arrays = model.machine.arrays()
    label, seen = arrays["mistakes.label"], arrays["mistakes.seen"]
    for name, damaged in (
        ("label", np.where(label > 0, len(model.classes) + 1, label).astype(np.int32)),
        ("label", np.zeros_like(label)),
        ("rival", label),
        ("seen", seen[::-1].copy()),
    ):
        write(with_list(model, arrays | {f"mistakes.{name}": damaged}), "damaged")
        result = invoked("explain", "damaged", path, "--why")
        assert result.exit_code == 2
        assert "is damaged" in result.stderr


@pytest.mark.parametrize("labels", [(-1, 1, 3), ("a", "b", "c", "d")])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_a_list_goes_on(tmp_path: Path, labels: Any, rule: str) -> None:
    """After --from, twice, the rows of all files that taught are known, and new classes, too."""
    first = svmlight_file(tmp_path / "a.svm", labels=labels[:-1])
    later = svmlight_file(tmp_path / "b.svm", n_rows=90, seed=1, labels=labels)
    invoked("train", first, "--record-mistakes", "--rule", rule, "-o", "m")
    lines = Path(first).read_text().splitlines()
    for data in (later, first):
        assert invoked("train", data, "--from", "m", "-o", "n").exit_code == 0
        Path("n").replace("m")
        lines += Path(data).read_text().splitlines()
        found = why_of("m", first)["why"]
        total = sum(term["amount"] for term in found["terms"])
        assert total == pytest.approx(found["total"], rel=1e-9, abs=1e-9)
        for term in found["terms"]:
            assert lines[term["row"]].split()[0] == str(term["label"])
    numbers = {term["row"] for term in found["terms"]}
    assert min(numbers) < 300
    assert numbers & {*range(300, 390)}
    assert numbers & {*range(390, 690)}
