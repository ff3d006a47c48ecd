"""Pairs of columns that mistakes ask for: found in noise, the same wherever a model is used."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from rosenblatt import load
from rosenblatt.data.batch import Batch
from rosenblatt.data.conjunctions import ColumnPairs, levels_of
from rosenblatt.data.encoding.grids import Cells
from rosenblatt.errors import InputError
from rosenblatt.models.column_pairs import PRIOR_ROWS, beyond_chance, ranked_pairs
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from rosenblatt.service.columns import ColumnFeatures
from rosenblatt.tuning.folds import cross_validate
from rosenblatt.tuning.tune import tune_files


def houses(folder: Path, n_rows: int = 900) -> str:
    """Write houses whose price is high with many rooms by the sea or few rooms elsewhere."""
    generator = np.random.default_rng(5)
    rooms, age, tax = generator.normal(5.0, 2.0, (3, n_rows))
    sea = generator.integers(0, 2, n_rows)
    price = np.where((rooms > 5.0) == (sea == 1), "high", "low")
    lines = [
        f"{'' if k % 40 == 3 else f'{a:.3f}'},{b:.3f},{c:.3f},{['no', 'yes'][s]},{p}"
        for k, (a, b, c, s, p) in enumerate(zip(rooms, age, tax, sea, price, strict=True))
    ]
    path = folder / f"houses{n_rows}.csv"
    path.write_text("\n".join(["rooms,age,tax,sea,price", *lines, ""]))
    return str(path)


def naive_deviations(
    one: NDArray[Any], other: NDArray[Any], numbers: NDArray[Any], scores: NDArray[Any]
) -> float:
    """Return how far a pair differs from chance, cell by cell as the formula has it."""
    n_classes = 2 if scores.ndim == 1 else scores.shape[1]
    amounts = np.zeros((len(numbers), n_classes))
    for i, y in enumerate(numbers):
        if n_classes == 2:
            if (scores[i] if y else -scores[i]) < 1.0:
                amounts[i, 1] = 1.0 if y else -1.0
            continue
        rival = max((k for k in range(n_classes) if k != y), key=lambda k: scores[i, k])
        if scores[i, y] - scores[i, rival] < 1.0:
            amounts[i, y] += 1.0
            amounts[i, rival] -= 1.0
    square = (amounts**2).mean(axis=0)
    for a in set(one.tolist()):
        amounts[one == a] -= amounts[one == a].mean(axis=0)
    for b in set(other.tolist()):
        amounts[other == b] -= amounts[other == b].mean(axis=0)
    gain = variance = 0.0
    for a, b in set(zip(one.tolist(), other.tolist(), strict=True)):
        here = (one == a) & (other == b)
        n = here.sum()
        gain += ((amounts[here].sum(axis=0) ** 2 - n * square) / (n + PRIOR_ROWS)).sum()
        variance += 2.0 * ((n * square / (n + PRIOR_ROWS)) ** 2).sum()
    return float(gain / np.sqrt(variance))


def columns_of(levels: NDArray[Any]) -> tuple[dict[int, Cells], NDArray[Any]]:
    """Return the cells of columns of levels, each its own cell, and the codes of rows."""
    codes = (levels - levels.min(axis=0)).T.astype(np.int32)
    sizes = [int(own.max()) + 1 for own in codes]
    return {k: Cells(np.arange(n, dtype=np.int32), n) for k, n in enumerate(sizes)}, codes


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_ranking_follows_its_formula(n_classes: int) -> None:
    """Pairs have the deviations of the formula, and those of noise are left out."""
    generator = np.random.default_rng(n_classes)
    levels = generator.integers(0, 5, (600, 4)) + np.arange(0, 20, 5)
    levels[generator.random(600) < 0.1, 2] = -1  # no level
    numbers = (levels[:, 0] % 5 + levels[:, 3] % 5) % n_classes
    shape = (600,) if n_classes == 2 else (600, n_classes)
    scores = generator.normal(size=shape)
    found = ranked_pairs(*columns_of(levels), numbers, scores)
    assert found[0].columns == (0, 3)
    expected = naive_deviations(levels[:, 0], levels[:, 3], numbers, scores)
    assert found[0].deviations == pytest.approx(expected)
    assert len(found) == 6
    assert [pair.columns for pair in beyond_chance(found)] == [(0, 3)]


def test_noise_has_no_pairs() -> None:
    """Of 1,225 pairs of columns that say nothing none is chosen."""
    generator = np.random.default_rng(0)
    levels = (generator.integers(0, 8, (1500, 50)) + 8 * np.arange(50)).astype(np.int32)
    numbers, scores = generator.integers(0, 2, 1500), generator.normal(size=1500)
    assert beyond_chance(ranked_pairs(*columns_of(levels), numbers, scores)) == []


def test_columns_of_very_many_levels_do_not_hide_a_pair() -> None:
    """A column with a level for every row costs neither memory nor the pair of two others."""
    generator = np.random.default_rng(1)
    levels = np.column_stack(
        [generator.integers(0, 4, 3000), 4 + generator.integers(0, 4, 3000), 8 + np.arange(3000)]
    ).astype(np.int32)
    numbers = (levels[:, 0] + levels[:, 1]) % 2
    few = np.minimum(levels, 40)  # as a coarse grid has them: the rarest are one
    found = ranked_pairs(*columns_of(few), numbers, generator.normal(size=3000))
    assert [pair.columns for pair in beyond_chance(found)] == [(0, 1)]


def test_rows_have_the_cells_that_occur() -> None:
    """A row has the feature of its cell of each pair; a cell that does not occur has none."""
    codes = np.array([[0, 3, 6], [1, 4, 6], [2, 5, 7], [0, 4, 8]])
    rows = Batch(np.ones(12), codes.ravel().astype(np.int32), np.arange(0, 13, 3), n_features=9)
    owners = np.repeat(np.arange(3), 3)
    np.testing.assert_array_equal(levels_of(rows, owners), codes)
    pairs = ColumnPairs.of_rows([(0, 2), (2, 1)], [rows.block(0, 3)], owners)
    expanded = pairs.expand(rows)
    assert (pairs.n_columns, expanded.n_features) == (15, 15)
    assert np.diff(expanded.indptr).tolist() == [5, 5, 5, 3]
    np.testing.assert_array_equal(expanded.indices[5:10], [1, 4, 6, 10, 13])


@pytest.mark.parametrize("buffer", [None, 8192], ids=["in memory", "on disk"])
def test_the_pair_that_mistakes_ask_for_is_learned(tmp_path: Path, buffer: int | None) -> None:
    """XOR of a number and a category is learned with one pair, wherever the rows come from."""
    path = houses(tmp_path)
    model = model_from_files(path, label="price", column_pairs=5, buffer=buffer)
    assert model.training["read_as"][-1] == ["combined", "1: 'rooms' and 'sea'"]
    without = model_from_files(path, label="price", column_pairs=0, buffer=buffer)
    error, plain = model.evaluate(path).error, without.evaluate(path).error
    assert error is not None
    assert plain is not None
    assert error < 0.05
    assert plain > 0.3
    # The file, frames and the service
    model.save(tmp_path / "m.model")
    again = Model.load(tmp_path / "m.model")
    assert again.evaluate(path).error == error
    frame = pl.read_csv(path)
    scores = load(tmp_path / "m.model").decision_function(frame.drop("price"))
    guess = np.array(again.classes)[(scores > 0).astype(int)]
    assert float(np.mean(guess != frame["price"].to_numpy())) == error
    row = {"rooms": 8.0, "age": 5.0, "tax": 5.0, "sea": "yes"}
    served = ColumnFeatures(again).rows([row], again.n_features, again.n_features, 1.0)
    names = {again.encoder.name(k) for k in served.indices.tolist()}  # type: ignore[union-attr]
    pairs = [name for name in names if " and " in name]
    assert len(pairs) > 3  # on several grids
    top = max(again.explain(row).terms, key=lambda term: abs(term.amount))
    assert top.name.startswith("rooms from ")
    assert top.name.endswith(" and sea=yes")
    assert sum(" and " in term.name for term in again.explain(row).terms) == 1


def test_missing_values_are_cells_and_new_cells_share_a_feature(tmp_path: Path) -> None:
    """A missing number has cells of its own; cells that did not occur have one feature a block."""
    path = houses(tmp_path)
    model = model_from_files(path, label="price", column_pairs="rooms:sea")
    encoder: Any = model.encoder
    names = [encoder.name(k) for k in range(encoder.inner.n_features, encoder.n_features)]
    assert "rooms is missing and sea=no" in names
    batch = encoder.inner.encode_frame([{"rooms": 8.0, "age": 1.0, "tax": 1.0, "sea": "maybe"}])
    found = encoder.expand(batch).indices.tolist()
    assert found[: len(batch.indices)] == batch.indices.tolist()
    of_pairs = [name for name in encoder.names(found) if name.startswith("rooms and sea")]
    assert of_pairs
    assert {*of_pairs} == {"rooms and sea: others"}


def test_named_pairs_stand_beside_texts_and_asked_bins(tmp_path: Path) -> None:
    """Where rows are read twice, for texts or bins, pairs are added to them as well."""
    path = tmp_path / "t.csv"
    lines = [
        f"{k % 3},{'ab'[k % 2]},word{k % 5} of many,{'xy'[(k % 3 + k) % 2]}" for k in range(300)
    ]
    path.write_text("\n".join(["n:1,kind,note,label", *lines, ""]))
    model = model_from_files(str(path), label="label", text="note", bins=5, column_pairs="n:1:kind")
    assert model.encoding is not None
    assert model.encoding["blocks"] == [[[0, 1], 64, False]]  # the bins that are asked for
    assert model.evaluate(str(path)).error == 0.0
    with pytest.raises(InputError, match="two columns of numbers, categories or dates, as A:B"):
        model_from_files(str(path), label="label", text="note", column_pairs="note:kind")


def test_a_single_pass_has_pairs(tmp_path: Path) -> None:
    """One pass without held-out rows keeps the rows to choose by, and learns the pair."""
    path = houses(tmp_path)
    model = model_from_files(
        path, label="price", column_pairs=3, max_iter=1, early_stopping=False, buffer=8192
    )
    assert model.training["read_as"][-1][1] == "1: 'rooms' and 'sea'"
    error = model.evaluate(path).error
    assert error is not None
    assert error < 0.1


def test_folds_choose_pairs_by_their_own_rows(tmp_path: Path) -> None:
    """Cross-validation chooses anew for each fold; pairs by name are the same in all."""
    path = houses(tmp_path)
    for asked in (5, "rooms:sea"):
        assert cross_validate(path, folds=3, label="price", column_pairs=asked).mean < 0.06
    assert cross_validate(path, folds=3, label="price", column_pairs=0).mean > 0.3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"column_pairs": -1}, "a number of pairs up to 1000, or pairs of columns as A:B"),
        ({"column_pairs": ["rooms"]}, "a number of pairs up to 1000, or pairs of columns as A:B"),
        ({"column_pairs": "rooms:roof"}, "there are 'rooms', 'age', 'tax' and 'sea'"),
        ({"column_pairs": 3, "hash_bits": 8}, "is not available with hash_bits"),
        (
            {"column_pairs": 3, "kernel": "rbf"},
            "column_pairs= is not available with kernel='rbf': leave one out",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_combined(tmp_path: Path, options: Any, words: str) -> None:
    """A wrong wish names the parameter and what it must be."""
    with pytest.raises(InputError, match=words):
        model_from_files(houses(tmp_path, 200), label="price", **options)


def test_tuning_takes_names(tmp_path: Path) -> None:
    """A number of pairs is chosen by labels, so a search takes pairs by name."""
    path = houses(tmp_path, 200)
    with pytest.raises(InputError, match="to tune with pairs of columns, name them"):
        tune_files(path, {"label": "price", "column_pairs": 4})
    found = tune_files(path, {"label": "price", "column_pairs": "rooms:sea"}, ["column_pairs"])
    assert found.search.best is not None


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """Blocks of columns that the model does not have are an error, not a crash."""
    model = model_from_files(houses(tmp_path, 200), label="price", column_pairs="rooms:sea")
    assert model.encoding is not None
    first, *rest = model.encoding["blocks"]
    for wrong in ([[0, 9], 8, False], [[0, 0], 8, False], ["ab", 8, False], [[0, True], 8, False]):
        broken = model.encoding | {"blocks": [wrong, *rest]}
        with pytest.raises(InputError, match="blocks"):
            _ = StoredEncoding(broken, model.encoding_arrays).encoder
    for blocks in (7, [first], [first[:2], *rest], [[*first[:2], 0], *rest]):
        broken = model.encoding | {"blocks": blocks}
        with pytest.raises(InputError, match=r"blocks|grid_offsets"):
            _ = StoredEncoding(broken, model.encoding_arrays).encoder
    for name, value in (("grid_codes", 99), ("grid_cells", 1 << 40), ("grid_levels", 5)):
        array = model.encoding_arrays[name].copy()
        array[-1] = value
        arrays = model.encoding_arrays | {name: array}
        with pytest.raises(InputError, match=name):
            _ = StoredEncoding(model.encoding, arrays).encoder
