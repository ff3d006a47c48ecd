"""Nested grids, blocks of cells and their sums, against lists and counting."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rosenblatt import Classifier, load
from rosenblatt.data.encoding.grids import FINEST, LEVELS, GridEncoding, nested_edges
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files


def naive_edges(values: list[float], level: int) -> set[tuple[float, float]]:
    """Return the neighbours between which a grid has its edges, by counting weights in lists."""
    ascending = sorted(set(values))
    counts = [values.count(value) for value in ascending]
    weights = [float(n) for n in counts]
    for _ in range(8):
        most = sum(weights) / FINEST
        weights = [min(n, most) for n in counts]
    found, below = set(), 0.0
    places = [k / level for k in range(1, level)]
    for k, weight in enumerate(weights):
        share = below / sum(weights)
        reached = [place for place in places if place <= share + 1e-12]
        if k and reached:
            found.add((ascending[k - 1], ascending[k]))
        places = [place for place in places if place > share + 1e-12]
        below += weight
    return found


@pytest.mark.parametrize("kind", ["even", "often zero", "few values", "heavy tail"])
def test_edges_are_nested_and_follow_their_definition(kind: str) -> None:
    """Every grid has the edges of its definition, all of them those of the finer grids."""
    generator = np.random.default_rng(3)
    values = {
        "even": generator.normal(size=500),
        "often zero": np.where(generator.random(500) < 0.7, 0.0, generator.random(500)),
        "few values": generator.integers(0, 9, 500).astype(float),
        "heavy tail": np.exp(3.0 * generator.normal(size=500)).round(1),
    }[kind]
    found = nested_edges(values)
    ascending = np.unique(values)
    for level in LEVELS:
        edges = found.of_level(level).edges
        above = np.searchsorted(ascending, edges)
        pairs = zip(ascending[above - 1].tolist(), ascending[above].tolist(), strict=True)
        assert {*pairs} == naive_edges(values.tolist(), level)
        assert {*edges.tolist()} <= {*found.edges.tolist()}
        assert len(edges) < level
    assert len(nested_edges(np.ones(9)).edges) == 0


def rows_of(folder: Path, n_rows: int = 1500, n_classes: int = 2) -> str:
    """Write a table in which only columns together tell: gaps, rare levels and few values, too."""
    generator = np.random.default_rng(7)
    x, y = generator.normal(size=(2, n_rows)).round(3)
    kind = generator.choice([*"abcdefgh"], n_rows, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.03, 0.01, 0.01])
    few = generator.integers(0, 4, n_rows)
    score = (x > 0) ^ (kind < "b") if n_classes == 2 else (x > 0) * 1 + (few > y) * 1
    lines = [
        f"{'' if k % 17 == 3 else a},{b},{'' if k % 23 == 5 else c},{d},{'pqr'[int(s)]}"
        for k, (a, b, c, d, s) in enumerate(zip(x, y, kind, few, score, strict=True))
    ]
    path = folder / f"t{n_classes}.csv"
    path.write_text("\n".join(["x,y,kind,few,label", *lines, ""]))
    return str(path)


def trained(path: str, form: str = "triples", **how: Any) -> Model:
    """Return a model of this form."""
    plain: dict[str, Any] = {"rule": "arow", "memory": "average", "max_iter": 5}
    return model_from_files(path, label="label", form=form, recipe="plain", **plain | how)


def naive_cells(model: Model, frame: pl.DataFrame) -> list[set[str]]:
    """Return the names of the blocks' features of each row, by looking names up in lists."""
    encoder: Any = model.encoder
    found = []
    batch = encoder.inner.encode_frame(frame)
    for row in range(batch.n_rows):
        own = batch.indices[batch.indptr[row] : batch.indptr[row + 1]]
        codes = {}
        for column in encoder.inner.features:
            levels = [f for f in own.tolist() if encoder.grids.owners[f] == column.place]
            default = 0 if column.role == "numeric" else 1
            codes[column.place] = encoder.grids.codes[levels[0]] if levels else default
        features = {*own.tolist()}
        for k, block in enumerate(encoder.blocks):
            key, first = 0, int(encoder.first[k])
            for place in block.columns:
                cells = encoder.grids.cells(place, len(block.columns), block.level, block.shifted)
                key = key * cells.size + int(cells.numbers[codes[place]])
            if len(block.columns) == 1:
                features.add(first + key)
            else:
                known = encoder.cells[k].tolist()
                features.add(first + 1 + known.index(key) if key in known else first)
        found.append(features)
    return found


def test_rows_have_the_cells_of_their_columns(tmp_path: Path) -> None:
    """Each row has one cell of each block: gaps, new categories, values beyond all edges."""
    model = trained(rows_of(tmp_path))
    encoder: Any = model.encoder
    assert isinstance(encoder, GridEncoding)
    assert {len(block.columns) for block in encoder.blocks} == {1, 2, 3}
    frame = pl.DataFrame(
        {
            "x": [0.5, None, -99.0, 99.0],
            "y": [0.1, 0.2, 0.3, None],
            "kind": ["a", None, "new", "h"],
            "few": [0, 1, 2, 7],
        }
    )
    batch = encoder.expand(encoder.inner.encode_frame(frame))
    ends = zip(batch.indptr, batch.indptr[1:], strict=False)
    assert [{*batch.indices[a:b].tolist()} for a, b in ends] == naive_cells(model, frame)
    of_blocks = batch.indices >= encoder.inner.n_features
    assert (batch.data[of_blocks] == 1.0).all()
    assert np.bincount(batch.row_numbers[of_blocks]).tolist() == 4 * [len(encoder.blocks)]


def test_cells_of_two_rows_have_features(tmp_path: Path) -> None:
    """A cell of several columns has a feature where two rows or more had it, counted in lists."""
    model = trained(rows_of(tmp_path), early_stopping=False)
    encoder: Any = model.encoder
    frame = pl.read_csv(rows_of(tmp_path)).drop("label")
    codes = encoder.grids.of_rows_in(encoder.inner.encode_frame(frame))
    for block, cells in zip(encoder.blocks, encoder.cells, strict=True):
        if len(block.columns) > 1:
            keys = encoder.grids.keys(codes, block)[0].tolist()
            assert cells.tolist() == sorted({key for key in keys if keys.count(key) > 1})


@pytest.mark.parametrize("n_classes", [2, 3])
def test_merged_tables_give_the_same_scores(tmp_path: Path, n_classes: int) -> None:
    """One table for the same columns is the sum of their blocks, wherever rows are from."""
    path = rows_of(tmp_path, n_classes=n_classes)
    model = trained(path, "more-pairs")
    merged, frame = model.merged, pl.read_csv(path).drop("label")
    assert merged is not model
    encoder: Any = merged.encoder
    assert len(encoder.blocks) == len(encoder.terms)
    encoded = model.encoder.expand(model.encoder.inner.encode_frame(frame))  # type: ignore[union-attr]
    np.testing.assert_allclose(merged.scores(frame), model.scores(encoded), rtol=0, atol=1e-12)
    whole = next(iter(model.rows(path)))
    np.testing.assert_allclose(model.scores(whole), model.scores(frame), rtol=0, atol=1e-12)
    row = frame.row(11, named=True)
    explained = model.explain(row)
    total = sum(term.amount for term in explained.terms) + explained.bias
    assert explained.total == pytest.approx(total, abs=1e-12)
    scores = model.scores([row])
    lead = abs(float(scores[0])) if n_classes == 2 else float(np.diff(np.sort(scores[0]))[-1])
    assert abs(explained.total) == pytest.approx(lead, abs=1e-12)
    names = [term.name for term in explained.terms]
    assert len({*names}) == len(names)  # one term for each set of columns


def test_what_is_stored_is_what_was_learned(tmp_path: Path) -> None:
    """A model file, a classifier of it and a new fit on the frame give the same scores."""
    path = rows_of(tmp_path)
    model = trained(path)
    model.save(tmp_path / "m.model")
    again = Model.load(tmp_path / "m.model")
    frame = pl.read_csv(path)
    np.testing.assert_array_equal(again.scores(frame), model.scores(frame))
    read = load(tmp_path / "m.model")
    scores = read.decision_function(frame.drop("label"))
    np.testing.assert_allclose(scores, model.scores(frame), rtol=0, atol=1e-12)
    names = model.encoder.names(range(model.n_features))  # type: ignore[union-attr]
    assert names == again.encoder.names(range(model.n_features))  # type: ignore[union-attr]
    clf = Classifier(form="pairs", random_state=1).fit(frame.drop("label"), frame["label"])
    assert clf.score(frame.drop("label"), frame["label"]) > 0.9


def test_a_form_learns_what_lines_cannot(tmp_path: Path) -> None:
    """Where only a number and a category together tell, the race finds their pair."""
    path = rows_of(tmp_path)
    model = model_from_files(path, label="label")
    assert model.training["recipe"]["chosen"].startswith(("pairs", "triples", "more pairs"))
    plain = model_from_files(path, label="label", form="plain")
    errors = [one.evaluate(path).error or 0.0 for one in (model, plain)]
    assert errors[0] < 0.06
    assert errors[1] > 0.3


def test_columns_without_cells_stand_beside_others(tmp_path: Path) -> None:
    """A constant number, one category and a text, in any order, do no harm to pairs of others."""
    generator = np.random.default_rng(2)
    x, z = generator.normal(size=(2, 300)).round(2)
    lines = [
        f"some words to read {k % 7} here,{a},only,{b},3,{'ab'[int((a > 0) ^ (b > 0))]}"
        for k, (a, b) in enumerate(zip(x, z, strict=True))
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["note,x,one,z,const,label", *lines, ""]))
    said: dict[str, Any] = {"label": "label", "text": "note", "category": "one"}
    for asked in ({"column_pairs": 3}, {"form": "more-pairs", "recipe": "plain"}):
        model = model_from_files(str(path), **said, **asked)
        model.save(tmp_path / "m.model")
        again = Model.load(tmp_path / "m.model")
        error = again.evaluate(str(path)).error
        assert error == model.evaluate(str(path)).error
        assert error is not None
        assert error < 0.2
    tiny = tmp_path / "tiny.csv"
    tiny.write_text("c,d,label\n" + "u,v,a\nu,v,b\n" * 60)
    model = model_from_files(str(tiny), label="label", column_pairs="c:d")
    model.save(tmp_path / "m.model")
    assert Model.load(tmp_path / "m.model").merged.n_features >= model.merged.n_features
