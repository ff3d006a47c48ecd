"""The recipe that held-out rows choose: the same bits as if it had been asked for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from rosenblatt.tuning.folds import cross_validate


def table(folder: Path, *, bends: bool, n_rows: int = 700) -> str:
    """Write two numbers, of which some are missing, and a word: the label bends, or it does not."""
    generator = np.random.default_rng(3)
    x, noise = generator.normal(size=(2, n_rows))
    z = generator.integers(0, 3, n_rows)
    score = (0.8 - np.abs(x) if bends else x) + 0.2 * noise
    numbers = ["" if k % 50 == 7 else f"{value:.4f}" for k, value in enumerate(x)]
    lines = [
        f"{a},{b:.3f},{'abc'[c]},{'yes' if s > 0 else 'no'}"
        for a, b, c, s in zip(numbers, noise, z, score, strict=True)
    ]
    path = folder / f"{bends}{n_rows}.csv"
    path.write_text("\n".join(["x,noise,word,label", *lines, ""]))
    return str(path)


@pytest.mark.parametrize("buffer", [None, 8192], ids=["in memory", "on disk"])
def test_chosen_bins_are_those_that_one_asks_for(tmp_path: Path, buffer: int | None) -> None:
    """Where a number bends it has ten bins, and the model is that of bins=10, bit for bit.

    Rows on disk come in the same order only where they are as long.
    """
    path = table(tmp_path, bends=True)
    found = model_from_files(path, label="label", buffer=buffer)
    race = found.training["recipe"]
    best, plain = (one for one in race["tried"] if one["name"] in (race["chosen"], "plain"))
    assert best["bins"] == 10
    assert best["error"] < 0.5 * plain["error"]
    assert race["rows"] == 700
    values = {name: best[name] for name in ("rule", "C", "r") if name in best}
    asked = model_from_files(path, label="label", bins=10, buffer=buffer, **values)
    assert asked.training["recipe"] is None
    told = dict(found.training["read_as"])
    assert told["recipe"] == race["chosen"]
    n_tried = len(race["tried"])
    assert told["tried"].startswith(f"{n_tried} recipes on 700 held-out rows: bins")
    assert not found.training["notes"]
    if buffer is None:
        np.testing.assert_array_equal(found.weights, asked.weights)
    assert found.encoding == asked.encoding
    assert found.encoding_arrays.keys() == asked.encoding_arrays.keys()
    for name, array in found.encoding_arrays.items():
        np.testing.assert_array_equal(array, asked.encoding_arrays[name])
    found.save(tmp_path / "m.model")
    again, error = Model.load(tmp_path / "m.model"), found.evaluate(path).error
    assert error is not None
    assert error < 0.15
    assert again.evaluate(path).error == error


def test_a_line_needs_no_bins(tmp_path: Path) -> None:
    """Where a number does not bend the model is the plain one, bit for bit."""
    path = table(tmp_path, bends=False)
    found = model_from_files(path, label="label")
    without = model_from_files(path, label="label", recipe="plain")
    assert found.training["recipe"]["chosen"] == "plain"
    assert without.training["recipe"] is None
    np.testing.assert_array_equal(found.weights, without.weights)
    assert found.encoding == without.encoding


@pytest.mark.parametrize(
    "options",
    [
        {"recipe": "plain"},
        {"rule": "pa1", "bins": 0},
        {"early_stopping": False},
        {"memory": "vote"},
        {"memory": "average", "hash_bits": 6},
        {"C": 0.5, "degree": 2},
    ],
    ids=str,
)
def test_where_nothing_is_tried(tmp_path: Path, options: Any) -> None:
    """Nothing is tried where all is decided, nothing is held out, or bins cannot be added."""
    model = model_from_files(table(tmp_path, bends=True), label="label", **options)
    assert model.training["recipe"] is None


@pytest.mark.parametrize(
    ("options", "tried"),
    [
        ({"rule": "arow"}, [{"rule": "arow"}, {"rule": "arow", "bins": 10}]),
        ({"C": 0.5}, [{"rule": "pa1", "C": 0.5}, {"rule": "pa1", "C": 0.5, "bins": 10}]),
    ],
    ids=str,
)
def test_what_one_says_is_not_tried(tmp_path: Path, options: Any, tried: list[Any]) -> None:
    """A rule or its parameter decides on the learner, and the rest is tried with it."""
    model = model_from_files(table(tmp_path, bends=True), label="label", **options)
    found = model.training["recipe"]["tried"]
    names = ("rule", "C", "r", "bins")
    by_bins = sorted(({n: one[n] for n in names if n in one} for one in found), key=len)
    assert by_bins == tried
    assert {"rule", *options} <= {"rule", *by_bins[0]}


def test_bins_that_one_says_leave_the_rule_open(tmp_path: Path) -> None:
    """Rows that have bins in any case are learned by the rule that held-out rows choose."""
    model = model_from_files(table(tmp_path, bends=True), label="label", bins=7)
    race = model.training["recipe"]
    assert {one["rule"] for one in race["tried"]} == {"pa1", "arow"}
    assert all("bins" not in one for one in race["tried"])
    assert model.encoding is not None
    assert model.encoding["settings"]["bins"] == 7


def test_folds_choose_as_training_does(tmp_path: Path) -> None:
    """Every fold chooses by its own rows, and rows without bins are those that never had any."""
    bent, straight = table(tmp_path, bends=True), table(tmp_path, bends=False)
    found = cross_validate(bent, folds=3, label="label")
    assert sum(found.recipes.values()) == 3
    assert all(name.startswith("bins") for name in found.recipes)
    assert found.mean < 0.15
    found = cross_validate(straight, folds=3, label="label", rule="pa1")
    assert found.recipes == {"plain": 3}
    plain = cross_validate(straight, folds=3, label="label", recipe="plain")
    assert found.values == plain.values
    assert not plain.recipes


def test_few_rows_are_not_raced(tmp_path: Path) -> None:
    """Below a hundred rows nothing is tried, in training and in folds."""
    path = table(tmp_path, bends=True, n_rows=90)
    assert model_from_files(path, label="label").training["recipe"] is None
    found = cross_validate(path, folds=3, label="label")
    assert not found.recipes
    assert found.values == cross_validate(path, folds=3, label="label", recipe="plain").values
