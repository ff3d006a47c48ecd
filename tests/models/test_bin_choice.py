"""Bins by default: where held-out rows say so, the same bits as if they had been asked for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.files import Columns, Layout
from rosenblatt.models.model import Model
from rosenblatt.models.rows import read_rows
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
    asked = model_from_files(path, label="label", bins=10, buffer=buffer)
    tried = found.training["bins_tried"]
    assert tried["chosen"]
    assert tried["error"] < 0.5 * tried["plain_error"]
    assert tried["n_rows"] == 700
    title, words = found.training["read_as"][-1]
    assert title == "bins"
    assert words.startswith("10 for each number: error ")
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
    """Where a number does not bend the model is that of bins=0, bit for bit."""
    path = table(tmp_path, bends=False)
    found = model_from_files(path, label="label")
    without = model_from_files(path, label="label", bins=0)
    assert not found.training["bins_tried"]["chosen"]
    assert without.training["bins_tried"] is None
    np.testing.assert_array_equal(found.weights, without.weights)
    assert found.encoding == without.encoding


@pytest.mark.parametrize(
    "options",
    [{"bins": 0}, {"early_stopping": False}, {"memory": "vote"}, {"hash_bits": 6}, {"degree": 2}],
    ids=str,
)
def test_where_bins_are_not_tried(tmp_path: Path, options: Any) -> None:
    """Nothing is tried where nothing is held out, or bins cannot be added."""
    model = model_from_files(table(tmp_path, bends=True), label="label", **options)
    assert model.training["bins_tried"] is None


def test_folds_choose_as_training_does(tmp_path: Path) -> None:
    """Every fold chooses by its own rows, and rows without bins are those that never had any."""
    bent, straight = table(tmp_path, bends=True), table(tmp_path, bends=False)
    found = cross_validate(bent, folds=3, label="label")
    assert found.n_binned == 3
    assert found.mean < 0.15
    found = cross_validate(straight, folds=3, label="label")
    assert found.n_binned == 0
    assert found.values == cross_validate(straight, folds=3, label="label", bins=0).values


def test_rows_with_bins_on_offer(tmp_path: Path) -> None:
    """What is left when the bins on offer are dropped is what is read without them."""
    path = table(tmp_path, bends=True)
    columns = Columns(label="label")
    plain = read_rows([path], Layout(), columns)
    offered = read_rows([path], Layout(), columns, offer_bins=True)
    asked = read_rows([path], Layout(), Columns(label="label", bins=10))
    assert isinstance(offered.encoding, TableEncoding)
    assert offered.offer is not None
    for one, other in zip(offered.rows, asked.rows, strict=True):
        np.testing.assert_array_equal(one, other)
    found = offered.rows
    held = Batch(found.data, found.indices, found.indptr, n_features=found.n_features)
    rows = offered.offer.plain(held)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(plain.rows, name))


def test_few_rows_have_no_bins(tmp_path: Path) -> None:
    """Below a hundred rows nothing is tried, in training and in folds."""
    path = table(tmp_path, bends=True, n_rows=90)
    assert model_from_files(path, label="label").training["bins_tried"] is None
    found = cross_validate(path, folds=3, label="label")
    assert found.n_binned == 0
    assert found.values == cross_validate(path, folds=3, label="label", bins=0).values
