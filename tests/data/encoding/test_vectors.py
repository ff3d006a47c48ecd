import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from rosenblatt import AveragedPerceptron, TableEncoder, load, save, train_files
from rosenblatt.cli import main
from rosenblatt.errors import InputError, UnfamiliarDataWarning
from rosenblatt.models.train import model_from_files


def drawn(n: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Return vectors of length 6 around a common centre, and labels that they tell."""
    rng = np.random.default_rng(seed)
    X = rng.normal(5.0, 2.0, (n, 6)).astype(np.float32)
    return X, np.where(X @ [1, -1, 1, -1, 1, -1] > 0, "up", "down")


def scaled(X: NDArray[Any]) -> NDArray[Any]:
    """Centre rows and divide them by the root of their mean squared length, in plain NumPy."""
    apart = X.astype(float) - X.astype(float).mean(axis=0)
    found: NDArray[Any] = apart / np.sqrt((apart**2).sum(axis=1).mean())
    return found


FRAMES: dict[str, Callable[[NDArray[Any]], Any]] = {
    "pandas": lambda X: pd.DataFrame({"v": list(X)}),
    "polars": lambda X: pl.DataFrame({"v": X}),
    "list": lambda X: pl.DataFrame({"v": X.tolist()}, schema={"v": pl.List(pl.Float32)}),
    "dictionaries": lambda X: [{"v": row} for row in X],
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_give_one_block(kind: str) -> None:
    """Vectors become features by place, centred, of mean squared length 1, in every frame."""
    X, _ = drawn(50)
    encoder = TableEncoder()
    rows = encoder.fit_transform(FRAMES[kind](X))
    np.testing.assert_allclose(rows.toarray(), scaled(X), atol=1e-6)
    assert rows.dtype == np.float32
    assert list(encoder.get_feature_names_out()) == [f"v[{k}]" for k in range(6)]


@pytest.mark.parametrize("gap", [None, np.nan])
@pytest.mark.parametrize("place", [0, 7])
def test_a_missing_vector_among_arrays(gap: float | None, place: int) -> None:
    """Cells of arrays may lack one, the first too; float32 stays."""
    X, _ = drawn(50)
    cells: list[Any] = list(X)
    cells[place] = gap
    for frame in (pd.DataFrame({"v": cells}), [{"v": cell} for cell in cells]):
        encoder = TableEncoder()
        rows = encoder.fit_transform(frame)
        assert rows.dtype == np.float32
        assert rows.toarray()[place].tolist() == [0.0] * 6 + [1.0]
        others = np.delete(np.arange(50), place)
        np.testing.assert_allclose(rows.toarray()[others, :6], scaled(X[others]), atol=1e-6)


def test_arrays_that_are_odd() -> None:
    """Arrays of objects are vectors where they hold numbers; arrays of two dimensions are not."""
    X, _ = drawn(30)
    rows = TableEncoder().fit_transform(pd.DataFrame({"v": [row.astype(object) for row in X]}))
    np.testing.assert_allclose(rows.toarray(), scaled(X), atol=1e-6)
    mixed = pd.DataFrame({"v": [*X[:9], None, X[10].tolist(), *X[11:]]})
    assert TableEncoder().fit_transform(mixed).shape == (30, 7)
    square = pd.DataFrame({"v": [row.reshape(2, 3) for row in X]})
    with pytest.raises(InputError, match=r"no column is left to learn from\. 'v': it holds lists"):
        TableEncoder().fit(square)
    with pytest.raises(InputError, match="Column 'v' of X must hold values of one kind; got"):
        TableEncoder().fit(pd.DataFrame({"v": [*X[:29], "text"]}))
    with pytest.raises(InputError, match="row 0: the vector in column 'v' has a value beyond 1e"):
        TableEncoder().fit(pd.DataFrame({"v": list(X.astype(float) * 1e200)}))


def test_a_block_beside_other_columns_does_not_drown_them() -> None:
    """Numbers, categories and vectors stand side by side; a missing vector has a feature."""
    X, _ = drawn(40)
    X *= 1000
    vectors = [*X[:39].tolist(), None]
    frame = pl.DataFrame({"v": vectors, "n": range(40), "c": ["a", "b"] * 20})
    encoder = TableEncoder(numeric=["n"])
    rows = encoder.fit_transform(frame).toarray()
    names = encoder.get_feature_names_out().tolist()
    block = rows[:, [names.index(f"v[{k}]") for k in range(6)]]
    assert (block[:39] ** 2).sum(axis=1).mean() == pytest.approx(1.0)
    assert not block[39].any()
    assert rows[:, names.index("v is missing")].tolist() == [0.0] * 39 + [1.0]
    assert {"n", "c=a", "c=b"} <= {*names}
    with pytest.raises(InputError, match="row 39: column 'v' has no value; fill it"):
        TableEncoder(missing="error", numeric=["n"]).fit(frame)


def files(folder: Path, X: NDArray[Any], y: NDArray[Any]) -> dict[str, str]:
    """Write the same rows in each format that has vectors."""
    frame = pl.DataFrame({"label": y, "v": X})
    frame.write_parquet(folder / "rows.parquet")
    frame.write_ipc(folder / "rows.arrow")
    lists = frame.with_columns(pl.col("v").arr.to_list())
    lists.write_parquet(folder / "lists.parquet")
    rows = zip(y.tolist(), X.tolist(), strict=True)
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps({"label": label, "v": row}) + "\n" for label, row in rows)
    )
    np.save(folder / "rows.npy", X)
    (folder / "rows.labels.txt").write_text("\n".join(y) + "\n")
    names = ("rows.parquet", "rows.arrow", "lists.parquet", "rows.jsonl", "rows.npy")
    return {name: str(folder / name) for name in names}


def test_every_format_gives_the_same_model(tmp_path: Path) -> None:
    """Parquet and Arrow lists and fixed-size lists, JSON arrays and .npy are the same vectors."""
    X, y = drawn(300)
    Z, z = drawn(200, 1)
    weights = []
    for name, file in files(tmp_path, X, y).items():
        model = train_files(file, label="label", recipe="plain")
        column = "vector" if name.endswith(".npy") else "v"
        answers = model.predict(pl.DataFrame({column: Z}))
        assert np.mean(answers != z) < 0.06, name
        assert model.model_.encoder is not None
        assert model.model_.encoder.name(3) == f"{column}[3]"
        weights.append(model.coef_)
    np.testing.assert_allclose(weights, [weights[0]] * len(weights), atol=1e-5)


def test_a_saved_model_predicts_alike(tmp_path: Path) -> None:
    """Centre and scale of vectors are in the model file."""
    X, y = drawn(300)
    model = train_files(files(tmp_path, X, y)["rows.parquet"], label="label")
    save(model, tmp_path / "one.model")
    again: Any = load(tmp_path / "one.model")
    rows = pl.DataFrame({"v": drawn(50, 2)[0]})
    np.testing.assert_array_equal(model.decision_function(rows), again.decision_function(rows))


FAULTS = {
    "[1, 2]": "line 3: the vector in column 'v' has 2 values; expected 3",
    "[1, 2, null]": "line 3: the vector in column 'v' has a value that is not a finite number",
    **dict.fromkeys(
        ("[]", '["a", "b", "c"]', "[[1], [2], [3]]", "[1, 2, true]", "{}", '"1 2 3"', "1"),
        "line 3: column 'v' has no numbers; expected 3",
    ),
}


@pytest.mark.parametrize("vector", FAULTS)
def test_faulty_vectors_are_named_with_their_place(vector: str, tmp_path: Path) -> None:
    """Another length or a gap in a vector is an error with file and line, or skipped."""
    good = "".join(f'{{"y": "{"ab"[k % 2]}", "v": [{k % 2}, 1.5, {k}]}}\n' for k in range(60))
    lines = good.splitlines(keepends=True)
    lines[2] = f'{{"y": "a", "v": {vector}}}\n'
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(lines))
    with pytest.raises(InputError, match=FAULTS[vector]):
        train_files(str(path), label="y")
    path.write_text("".join([lines[2], *lines[:2], *lines[3:]]))  # the first row decides nothing
    with pytest.raises(InputError, match=FAULTS[vector].replace("3", "1", 1)):
        train_files(str(path), label="y")
    model = model_from_files(str(path), label="y", bad_rows="skip")
    assert model.training["n_rows"] == 59
    assert model.n_features == 3


@pytest.mark.parametrize("first", [[], [1.0, 2.0], None])
def test_most_vectors_say_the_length(first: list[float] | None, tmp_path: Path) -> None:
    """A first vector that is empty, short or missing does not make all others bad."""
    X, y = drawn(50)
    frame = pl.DataFrame({"y": y, "v": [first, *X[1:].tolist()]})
    frame.write_parquet(tmp_path / "rows.parquet")
    model = model_from_files(str(tmp_path / "rows.parquet"), bad_rows="skip", max_bad_share=0.1)
    assert model.training["n_rows"] == (50 if first is None else 49)
    assert model.n_features == 6 + (first is None)


def test_lists_of_lists_alone_are_no_columns(tmp_path: Path) -> None:
    """Where every column is left out, the error says why."""
    rows = pl.DataFrame({"y": ["a", "b"] * 20, "tags": [[["x"]], [["y", "z"]]] * 20})
    rows.write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(
        InputError, match=r"no column is left to learn from\. 'tags': it holds lists"
    ):
        train_files(str(tmp_path / "rows.parquet"), label="y")


def test_labels_beside_an_array(tmp_path: Path) -> None:
    """An array without labels predicts; labels must be as many as its rows."""
    X, y = drawn(100)
    path = tmp_path / "X.npy"
    np.save(path, X)
    with pytest.raises(
        InputError, match=r"has no labels; write them beside it, into X\.labels\.txt"
    ):
        train_files(str(path))
    np.save(tmp_path / "X.labels.npy", y[:99])
    with pytest.raises(InputError, match="must hold 100 labels, one for each row of"):
        train_files(str(path))
    np.save(tmp_path / "X.labels.npy", y)
    run = CliRunner()
    done = run.invoke(main, ["train", str(path), "-o", str(tmp_path / "m"), "--json"])
    assert json.loads(done.stdout)["classes"] == ["down", "up"]
    np.save(tmp_path / "new.npy", X)
    done = run.invoke(main, ["predict", str(tmp_path / "m"), str(tmp_path / "new.npy")])
    assert np.mean(np.array(done.stdout.split()) != y) < 0.1
    np.save(path, np.zeros(3))
    with pytest.raises(InputError, match="must hold a table of numbers; it holds float64"):
        train_files(str(path))


def test_vectors_of_another_model_are_told(tmp_path: Path) -> None:
    """Vectors that are shifted or of another size are remarked on; new ones of the same kind no."""
    X, y = drawn(300)
    model = train_files(files(tmp_path, X, y)["rows.parquet"], label="label")
    Z = drawn(60, 3)[0]
    model.predict(pl.DataFrame({"v": Z}))  # a warning would be an error
    for other in (Z + 6, 10 * Z, Z / 100):
        with pytest.warns(
            UnfamiliarDataWarning, match=r"'v': its vectors are .* the same model\?$"
        ):
            model.predict(pl.DataFrame({"v": other}))


def test_equal_vectors_are_no_surprise() -> None:
    """Where all vectors of training were equal, the same ones are not told as strange."""
    X, y = drawn(100)
    rows = pl.DataFrame({"v": [[1.0, 2.0]] * 100, "x": X[:, 0]})
    model = make_pipeline(TableEncoder(), AveragedPerceptron()).fit(rows, y)
    model.predict(rows)  # a warning would be an error
    with pytest.warns(UnfamiliarDataWarning, match="Column 'v': its vectors are"):
        model.predict(rows.with_columns(v=pl.Series([[9.0, 9.0]] * 100)))
