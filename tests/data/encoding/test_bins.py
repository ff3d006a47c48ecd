"""Bins of numbers: equally frequent ranges beside the numbers, the same however rows are read."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.encoding.features import FeatureColumn, KeptNumbering
from rosenblatt.data.encoding.numbers import (
    ColumnStatistics,
    NumberBins,
    RowSample,
    edge_between,
    quantile_edges,
)
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from rosenblatt.tuning.folds import cross_validate


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(1, 30))
def test_the_sample_does_not_depend_on_blocks(lengths: list[int], room: int) -> None:
    """Rows come in blocks of any length; the sample is that of all of them at once."""
    rows = np.arange(float(sum(lengths)))[:, None]
    cut, whole = RowSample(1), RowSample(1)
    cut._room = whole._room = room  # noqa: SLF001  # so that few rows are many
    for block in np.split(rows, np.cumsum(lengths)):
        cut.add(block)
    whole.add(rows)
    np.testing.assert_array_equal(cut._rows, whole._rows)  # noqa: SLF001
    assert len(whole._rows) <= room  # noqa: SLF001


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60), st.integers(2, 8))
def test_edges_part_the_values(values: list[int], n_bins: int) -> None:
    """Edges ascend, lie between values that occur, and leave no bin empty."""
    given_values = np.array(values, float)
    edges = quantile_edges(given_values, n_bins)
    assert len(edges) < n_bins
    assert not set(edges) & set(given_values)
    counts = np.bincount(np.searchsorted(edges, given_values, "right"), minlength=len(edges) + 1)
    assert (counts > 0).all()


@given(st.floats(-1e140, 1e140), st.floats(-1e140, 1e140), st.integers(1, 40))
def test_an_edge_lies_midway(one: float, other: float, steps: int) -> None:
    """An edge tells two numbers apart, however near; with room it is in their middle half."""
    near = one
    for _ in range(steps):
        near = math.nextafter(near, math.inf)
    assert one < edge_between(one, near) <= near
    low, high = sorted((one, other))
    if high - low > 1e-9 * max(-low, high):
        room = 0.2 * (high - low)
        assert low + room < edge_between(low, high) < high - room


def test_edges_have_few_digits() -> None:
    """An edge has as few digits as tell the two numbers apart."""
    found = [edge_between(*pair) for pair in ((3.0, 4.0), (0.1, 0.2), (17.31, 22.9), (-8.0, 7.0))]
    assert found == [3.5, 0.15, 20.0, 0.0]
    days = np.arange(20_170_101.0, 20_170_131.0)
    edges = quantile_edges(days, 3)
    assert edges.tolist() == [20170110.5, 20170120.5]
    column = FeatureColumn("day", "numeric")
    numbering = KeptNumbering(10)
    NumberBins.named([edges], [column], numbering)
    names = [numbering.name(k)[1] for k in range(3)]
    assert names == ["below 20170110.5", "from 20170110.5 to 20170120.5", "from 20170120.5"]


def test_rounding_changes_no_label(tmp_path: Path) -> None:
    """Numbers written as float32, or rounded at the tenth decimal, have the same labels."""
    rows = np.random.default_rng(4).integers(1, 400, (3000, 2)) / 30
    labels = np.where(np.sin(rows[:, 0]) + np.cos(rows[:, 1]) > 0, "yes", "no")
    path = tmp_path / "train.csv"
    lines = [f"{a!r},{b!r},{k}" for (a, b), k in zip(rows.tolist(), labels, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines, ""]))
    model = model_from_files(str(path), label="label", bins=20)
    written = (rows, rows.astype(np.float32).astype(float), rows.round(10))
    plain, *others = (
        model.predict([dict(zip("ab", row, strict=True)) for row in numbers.tolist()])
        for numbers in written
    )
    for guess in others:
        np.testing.assert_array_equal(guess, plain)


def waves(folder: Path, n_rows: int = 600) -> str:
    """Write a number that means yes in the middle and no at both ends."""
    x = np.random.default_rng(0).normal(size=n_rows)
    lines = [f"{v:.4f},{'yes' if abs(v) < 0.7 else 'no'}" for v in x]
    lines[5] = ",no"
    path = folder / "waves.csv"
    path.write_text("\n".join(["x,label", *lines, ""]))
    return str(path)


def test_what_bends_is_learned(tmp_path: Path) -> None:
    """A linear model of a number cannot tell the middle from the ends; with bins it can."""
    path = waves(tmp_path)
    assert cross_validate(path, folds=4, label="label", bins=0).mean > 0.3
    assert cross_validate(path, folds=4, label="label", bins=20).mean < 0.1
    model = model_from_files(path, label="label", bins=4)
    names = [model.encoder.name(k) for k in range(model.n_features)] if model.encoder else []
    assert names[0] == "x"
    assert names[1] == "x is missing"
    assert names[2].startswith("x below -0.")
    assert names[-1].startswith("x from 0.")
    assert len(names) == 6


def test_a_model_file_holds_the_bins(tmp_path: Path) -> None:
    """A model that is loaded predicts as the one that was trained, hashed or not, in blocks too."""
    path = waves(tmp_path)
    for hash_bits, buffer in ((None, None), (8, None), (None, 4096)):
        model = model_from_files(path, label="label", bins=10, hash_bits=hash_bits, buffer=buffer)
        model.save(tmp_path / "m.model")
        again = Model.load(tmp_path / "m.model")
        batch, same = next(iter(model.rows(path))), next(iter(again.rows(path)))
        np.testing.assert_array_equal(batch.indices, same.indices)
        np.testing.assert_array_equal(model.scores(batch), again.scores(same))
        error = again.evaluate(path).error
        assert error is not None
        assert error < 0.15


def test_refusals(tmp_path: Path) -> None:
    """A number of bins that is none is refused."""
    with pytest.raises(InputError, match="bins must be a whole number from 0 to 1000; got -1"):
        model_from_files(waves(tmp_path), label="label", bins=-1)


def test_far_values_are_drawn_nearer_and_back() -> None:
    """One value far out does not rule the others, and the number it was is found again."""
    numbers = np.append(np.linspace(-1, 1, 99), 1e6)[:, None]
    statistics = ColumnStatistics.empty(1)
    statistics.add(numbers)
    scaled = statistics.finished(numbers, "mean", scale=True)
    assert scaled.max() < 5
    assert (np.diff(scaled[:, 0]) > 0).all()
    back = statistics.unscaled(scaled)[:, 0].tolist()
    np.testing.assert_allclose(back, numbers[:, 0], rtol=1e-6, atol=1e-6)
