"""Shapes of columns: what the arrays say is what the model adds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.errors import InputError
from rosenblatt.models.column_shapes import ColumnShape, column_shapes
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from rosenblatt.plots import ShapeDisplay, figure_of


def trained(folder: Path, n_classes: int = 2, **options: Any) -> Model:
    """Return a model of two numbers, one of them with gaps, and a word."""
    generator = np.random.default_rng(n_classes)
    x, z = generator.normal(10.0, 3.0, (2, 600)).round(2)
    word = generator.choice(["a", "b", "c"], 600, p=[0.7, 0.2, 0.1])
    label = (np.int64(x > 10.0) + (word == "a") + (z > 12.0)) % n_classes
    lines = [
        f"{'' if k % 30 == 1 else a},{b},{w},{'pqr'[y]}"
        for k, (a, b, w, y) in enumerate(zip(x, z, word, label, strict=True))
    ]
    path = folder / "t.csv"
    path.write_text("\n".join(["x,z,word,label", *lines, ""]))
    return model_from_files(str(path), label="label", **options)


def score(model: Model, **row: Any) -> Any:
    """Return the score of a row, of more than two classes less their mean."""
    scores = np.atleast_1d(model.scores([row]))[0]
    return scores if model.weights.shape[0] == 1 else scores - scores.mean()


def amount(shape: ColumnShape, x: float) -> Any:
    """Return what a number adds, by the straight line between the ends of its range."""
    levels = shape.levels[0]
    (k,) = np.flatnonzero((levels.ends[:, 0] <= x) & (x < levels.ends[:, 1]))
    share = (x - levels.ends[k, 0]) / (levels.ends[k, 1] - levels.ends[k, 0])
    return shape.amounts[:, k, 0] * (1 - share) + shape.amounts[:, k, 1] * share


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["pa1", "arow"])
def test_shapes_are_what_columns_add(tmp_path: Path, n_classes: int, rule: str) -> None:
    """Where one column of a row changes, its score changes by the difference of the shape."""
    model = trained(tmp_path, n_classes, rule=rule, bins=8, column_pairs=0)
    of_x, of_word = column_shapes(model, ["x", "word"])
    base = score(model, x=8.0, z=9.0, word="a")
    np.testing.assert_allclose(
        score(model, x=11.0, z=9.0, word="a") - base,
        np.squeeze(amount(of_x, 11.0) - amount(of_x, 8.0)),
        atol=1e-9,
    )
    names = of_word.levels[0].names
    assert sorted(names) == ["a", "b", "c"]
    change = of_word.amounts[:, names.index("c"), 0] - of_word.amounts[:, names.index("a"), 0]
    np.testing.assert_allclose(
        score(model, x=8.0, z=9.0, word="c") - base, np.squeeze(change), atol=1e-9
    )
    missing = of_x.levels[0].names.index("is missing")
    gap = of_x.amounts[:, missing, 0] - amount(of_x, 8.0)
    np.testing.assert_allclose(
        score(model, x=None, z=9.0, word="a") - base, np.squeeze(gap), atol=1e-9
    )
    # Of all rows the mean is 0, and shares are those of the rows
    mean = (of_word.amounts[..., 0] * of_word.shares).sum(axis=1)
    np.testing.assert_allclose(mean, 0.0, atol=1e-9)
    assert of_word.shares[names.index("a")] == pytest.approx(0.7, abs=0.05)
    assert of_x.deviations is not None
    assert (of_x.deviations > 0.0).all()


def test_a_pair_is_what_both_add(tmp_path: Path) -> None:
    """The map of a pair has both columns and their cells; a cell without rows has no share."""
    model = trained(tmp_path, rule="pa1", bins=6, column_pairs="x:word")
    (pair,) = column_shapes(model, ["x:word"])
    assert pair.title == "x and word"
    ranges, words = pair.levels
    middle = ranges.ends[:6].mean(axis=1)
    base = score(model, x=middle[1], z=9.0, word="a")
    a, c = words.names.index("a"), words.names.index("c")
    found = score(model, x=middle[4], z=9.0, word="c") - base
    np.testing.assert_allclose(found, pair.amounts[0, 4, c] - pair.amounts[0, 1, a], atol=1e-9)
    assert pair.shares.sum() == pytest.approx(1.0)
    drawn = ShapeDisplay.from_estimator(model, column="x:word")
    figure = figure_of(drawn)
    assert figure.axes[0].get_xlabel() == "x"
    assert drawn.sentence.startswith("'x and word' adds from ")


def test_a_straight_number_is_a_line_about_its_mean(tmp_path: Path) -> None:
    """Without bins the shape is a line that is 0 at the mean of the number."""
    model = trained(tmp_path, rule="pa1", bins=0, column_pairs=0)
    (of_z,) = column_shapes(model, ["z"])
    assert of_z.levels[0].straight
    table: Any = model.table
    assert amount(of_z, float(table.statistics.mean[1])) == pytest.approx(0.0, abs=1e-6)
    change = score(model, x=8.0, z=11.0, word="a") - score(model, x=8.0, z=9.0, word="a")
    assert change == pytest.approx((amount(of_z, 11.0) - amount(of_z, 9.0)).item(), abs=1e-6)


def test_pictures_of_several_classes(tmp_path: Path) -> None:
    """Each class has a curve; a map is of one class, and all columns are drawn by default."""
    model = trained(tmp_path, 3, rule="arow", bins=6, column_pairs="x:word")
    every = ShapeDisplay.from_estimator(model)
    assert sorted(one.title for one in every.shapes) == ["word", "x", "z"]
    assert every.labels == ["p", "q", "r"]
    figure = figure_of(every)
    assert [text.get_text() for text in every.legend_.get_texts()] == ["p", "q", "r"]
    assert len(figure.axes) >= 3
    one = ShapeDisplay.from_estimator(model, class_="q")
    assert "x and word" in [shape.title for shape in one.shapes]
    assert one.shapes[0].amounts.shape[0] == 1
    with pytest.raises(InputError, match="choose the one whose map is drawn with class_"):
        ShapeDisplay.from_estimator(model, column="x:word")
    with pytest.raises(
        InputError, match="no column or pair of columns 'y'; it has 'x', 'z', 'word'"
    ):
        ShapeDisplay.from_estimator(model, column="y")


def test_the_other_class_of_two_turns_the_shape(tmp_path: Path) -> None:
    """The score of the first class is the negative of the second's."""
    model = trained(tmp_path, rule="pa1", bins=6, column_pairs=0)
    first, second = (ShapeDisplay.from_estimator(model, column="x", class_=c) for c in "pq")
    np.testing.assert_array_equal(first.shapes[0].amounts, -second.shapes[0].amounts)
    assert (first.labels, second.labels) == (["p"], ["q"])


def test_models_without_columns_have_no_shapes(tmp_path: Path) -> None:
    """Numbered and hashed features belong to no column that could be drawn."""
    path = tmp_path / "t.svm"
    path.write_text("1 1:1\n-1 2:1\n" * 20)
    with pytest.raises(InputError, match="needs a model of a table"):
        ShapeDisplay.from_estimator(model_from_files(str(path)))
    with pytest.raises(InputError, match="whose features have names"):
        ShapeDisplay.from_estimator(trained(tmp_path, hash_bits=6))
