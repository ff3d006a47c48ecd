"""A model that the command line trained takes the same rows in Python."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner, Result
from scipy import sparse

from rosenblatt import explain, load, save
from rosenblatt.cli import main
from rosenblatt.errors import InputError

WORDS = ("good", "bad", "fine", "poor", "soft", "hard")


def run(*arguments: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [*arguments], catch_exceptions=False)


def people(n_rows: int = 120) -> pd.DataFrame:
    """Return rows with numbers, categories, truth values, dates and texts, some missing."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, n_rows)
    days = pd.to_timedelta(rng.integers(0, 300, n_rows), "D")
    age = rng.normal(40 + 8 * label, 10, n_rows).round(1)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, age),
            "city": rng.choice(np.array(["Rome", "Oslo", "?", None]), n_rows),
            "member": rng.choice(["True", "False"], n_rows),
            "size": rng.choice(["1.0", "2.5", "10.0"], n_rows),
            "price": [f"${price:,}" for price in rng.integers(100, 9999, n_rows)],
            "day": (pd.Timestamp("2024-01-01") + days).strftime("%Y-%m-%d"),
            "note": [f"{' '.join(rng.choice(WORDS, 6))} no{k}" for k in range(n_rows)],
            "label": np.array(["low", "mid", "high"])[label],
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table and the model that a command made of it."""
    folder = tmp_path_factory.mktemp("people")
    people().to_csv(folder / "people.csv", index=False)
    options = ["--category", "size", "--calibrate", "-o", str(folder / "people.model")]
    assert run("train", str(folder / "people.csv"), *options).exit_code == 0
    return folder


def predicted(folder: Path, name: str = "people") -> pd.DataFrame:
    """Return what the command predicts."""
    files = [str(folder / f"{name}.{ending}") for ending in ("model", "csv")]
    lines = run("predict", *files, "--scores", "--proba", "--json").stdout.splitlines()
    return pd.DataFrame([json.loads(line) for line in lines])


FORMS = {
    "pandas": pd.read_csv,
    "pandas with dates": lambda path: pd.read_csv(path, parse_dates=["day"]),
    "pandas with zones": lambda path: pd.read_csv(path).assign(
        day=lambda frame: pd.to_datetime(frame["day"]).dt.tz_localize("Asia/Tokyo")
    ),
    "pandas of its own types": lambda path: pd.read_csv(path).convert_dtypes(),
    "pandas categories": lambda path: pd.read_csv(path).astype({"city": "category"}),
    "pandas of text": lambda path: pd.read_csv(path, dtype=str),
    "polars": pl.read_csv,
    "polars with dates": lambda path: pl.read_csv(path, try_parse_dates=True),
    "Arrow": lambda path: pl.read_csv(path).to_arrow(),
    "dictionaries": lambda path: pd.read_csv(path).to_dict("records"),
    "other order": lambda path: pd.read_csv(path)[people().columns[::-1]],
    "no labels": lambda path: pd.read_csv(path).drop(columns="label"),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_rows_agree_with_the_commands(folder: Path, form: str) -> None:
    """Labels, scores and probabilities are those of the command, in whatever form rows come."""
    clf = load(folder / "people.model")
    X = FORMS[form](folder / "people.csv")
    expected = predicted(folder)
    assert clf.predict(X).tolist() == expected["label"].tolist()
    scores = np.array([list(row.values()) for row in expected["scores"]])
    assert np.array_equal(clf.decision_function(X), scores)
    shares = np.array([list(row.values()) for row in expected["probabilities"]])
    assert np.array_equal(clf.predict_proba(X), shares)
    labels = people()["label"]
    report = run("evaluate", str(folder / "people.model"), str(folder / "people.csv"), "--json")
    assert clf.score(X, labels) == json.loads(report.stdout)["accuracy"]


def test_names_of_the_columns(folder: Path) -> None:
    """The names that it takes are those of the columns, and it keeps them when saved again."""
    clf = load(folder / "people.model")
    assert clf.feature_names_in_.tolist() == people().columns[:-1].tolist()
    assert clf.n_features_in_ == 7
    save(clf, folder / "again.model")
    again = load(folder / "again.model")
    assert again.feature_names_in_.tolist() == clf.feature_names_in_.tolist()
    X = pd.read_csv(folder / "people.csv")
    assert np.array_equal(again.decision_function(X), clf.decision_function(X))


def test_explanations_agree_with_the_command(folder: Path) -> None:
    """One row, as a frame or a dictionary, is explained as the command explains it."""
    model, table = folder / "people.model", folder / "people.csv"
    shown = json.loads(run("explain", str(model), str(table), "--row", "4", "--json").stdout)
    frame = pd.read_csv(table)
    for x in (frame.iloc[[3]], frame.to_dict("records")[3], pl.read_csv(table)[3]):
        found = explain(load(model), x)
        assert (found.total, found.bias) == (shown["total"], shown["bias"])
        assert [term.name for term in found.terms] == [term["name"] for term in shown["terms"]]
    with pytest.raises(InputError, match=r"^explain takes one row; got 120\.$"):
        explain(load(model), frame)


UNNAMED = (
    "X must hold the columns 'age', 'city', 'member', 'size', 'price', 'day', 'note': give a data "
    "frame (pandas, polars or Arrow) or a list of dictionaries"
)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (
            np.zeros((3, 7)),
            f"{UNNAMED}; got a ndarray.",
        ),
        (
            sparse.csr_array((3, 7)),
            f"{UNNAMED}; got a csr_array.",
        ),
        ([{"age": 30.0, "city": "Rome"}], "X has no column 'member'; it has 'age', 'city'."),
        (pl.LazyFrame(), "X is a LazyFrame of polars: give X.collect()."),
        (people(0), "X has no rows."),
        (
            people(2).assign(age="old"),
            "X, row 0: 'old' in column 'age' is not a finite number; for a column of words use ",
        ),
        (
            [{"age": [1]}, {"age": 2}],
            "Column 'age' of X must hold values of one kind; got int",
        ),
        ([{"age": 1}, 7], "Row 1 of X must be a dictionary whose keys are the names of columns."),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_other_rows_are_refused(folder: Path, X: Any, sentence: str) -> None:
    """Arrays, missing columns and wrong values are refused with what to give."""
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        load(folder / "people.model").predict(X)


def test_learning_goes_on_by_columns(folder: Path) -> None:
    """A loaded model learns on from frames as it was trained, and forgets them by a new fit."""
    clf = load(folder / "people.model")
    X = pd.read_csv(folder / "people.csv")
    before = clf.coef_.copy()
    clf.set_params(early_stopping=False).partial_fit(X, X["label"])
    assert clf.coef_.shape == before.shape
    assert clf.predict(X).shape == (120,)
    with pytest.raises(
        InputError, match=r"^y must have one label per row, 120 in all; got shape \(3,\)\.$"
    ):
        clf.partial_fit(X, ["low", "mid", "high"])
    clf.fit([[0.0], [1.0]], ["a", "b"])
    assert clf.predict([[2.0]]).tolist() == ["b"]
    assert not hasattr(clf, "feature_names_in_")


def test_texts_alone(tmp_path: Path) -> None:
    """A model of one column of texts takes a list of texts, or any column of them."""
    texts = [f"{word} day {k}" for k in range(60) for word in ("good", "bad")]
    frame = pd.DataFrame({"review": texts, "label": ["up", "down"] * 60})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    model = str(tmp_path / "texts.model")
    options = ["--text", "review", "--calibrate", "-o", model]
    assert run("train", str(tmp_path / "texts.csv"), *options).exit_code == 0
    clf, expected = load(model), predicted(tmp_path, "texts")
    columns = [texts, np.array(texts), frame["review"], pl.Series(texts), frame, tuple(texts)]
    for X in columns:
        assert np.array_equal(clf.decision_function(X), expected["score"])
    assert explain(clf, texts[0]).total == pytest.approx(expected["score"][0])
    with pytest.warns(UserWarning, match=r"^2 of 2 rows have no feature that the model knows: are"):
        clf.predict(["zzz", "qqq"])
    with pytest.raises(InputError, match=r"dictionaries or of texts; got a ndarray\.$"):
        clf.predict(np.zeros((2, 3)))


def test_columns_without_names(tmp_path: Path) -> None:
    """A file without a header gives a model that takes a frame whose columns are numbered."""
    rows = [f"{k % 7},{k % 5},{'a' if k % 7 > 3 else 'b'}\n" for k in range(70)]
    (tmp_path / "plain.csv").write_text("".join(rows))
    assert run("train", str(tmp_path / "plain.csv"), "-o", str(tmp_path / "m")).exit_code == 0
    X = pd.read_csv(tmp_path / "plain.csv", header=None)
    assert load(tmp_path / "m").score(X, X[2]) > 0.9


def test_numbered_features_come_as_arrays(tmp_path: Path) -> None:
    """A model of svmlight text takes arrays and sparse matrices."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, 3)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] > X[:, 2], 1, -1)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{value}" for j, value in enumerate(row) if value)
        for label, row in zip(y, X, strict=True)
    ]
    (tmp_path / "xor.svm").write_text("\n".join(lines) + "\n")
    path, model = str(tmp_path / "xor.svm"), str(tmp_path / "m")
    assert run("train", path, "-o", model).exit_code == 0
    expected = [int(line) for line in run("predict", model, path).stdout.split()]
    clf = load(model)
    assert clf.n_features_in_ == 3
    assert clf.predict(X).tolist() == expected
    assert clf.predict(sparse.csr_array(X)).tolist() == expected
    assert clf.set_params(early_stopping=False).partial_fit(X, y).coef_.shape == (1, 3)
    with pytest.raises(ValueError, match="X has 2 features, but"):
        clf.predict(X[:, :2])
