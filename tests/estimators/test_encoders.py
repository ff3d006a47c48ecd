"""The encoders as transformers: what the command makes of columns, in pipelines and files."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import dump_svmlight_file, load_breast_cancer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import (
    AveragedPerceptron,
    FeatureConjunctions,
    TableEncoder,
    TextEncoder,
    VotedPerceptron,
    explain,
    load,
    save,
)
from rosenblatt.data.files import Columns
from rosenblatt.errors import InputError
from rosenblatt.models.file import read, write
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from tests.cli.running import ran
from tests.estimators.test_rows_of_training import people, run

FORMS: dict[str, Any] = {"category": ["size"]}


@parametrize_with_checks([TableEncoder(), TableEncoder(sparse_output=False)])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    """Every check of scikit-learn holds, on arrays whose columns have no names."""
    check(estimator)


@pytest.mark.parametrize("settings", [{}, {"bins": 4, "scale": False, "missing": "zero"}], ids=str)
def test_columns_become_what_the_command_makes_of_them(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    """Rows, names and notes are those of a model trained on the file."""
    frame = people()
    frame.to_csv(tmp_path / "people.csv", index=False)
    model = model_from_files(str(tmp_path / "people.csv"), recipe="plain", **FORMS, **settings)
    batch = next(iter(model.rows(str(tmp_path / "people.csv"))))
    shape = (batch.n_rows, model.n_features)
    expected = sparse.csr_array((batch.data, batch.indices, batch.indptr), shape=shape)
    X = pd.read_csv(tmp_path / "people.csv", dtype={"size": str}).drop(columns="label")
    encoder = TableEncoder(**FORMS, **settings).fit(X)
    assert np.array_equal(encoder.transform(X).toarray(), expected.toarray())
    assert model.encoder is not None
    names = model.encoder.names(range(model.n_features))
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.feature_names_in_.tolist() == X.columns.tolist()
    assert np.array_equal(
        clone(encoder).fit_transform(pl.from_pandas(X)).toarray(), expected.toarray()
    )


@pytest.mark.parametrize(
    "settings", [{}, {"word_pairs": False}, {"hash_bits": 8}, {"char_ngrams": (2, 3)}]
)
def test_texts_become_what_the_command_makes_of_them(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    """The output on a column of texts is that of training on it, and TF-IDF as it is known."""
    frame = people()[["note", "label"]]
    frame.to_csv(tmp_path / "notes.csv", index=False)
    model = model_from_files(str(tmp_path / "notes.csv"), text="note", recipe="plain", **settings)
    batch = next(iter(model.rows(str(tmp_path / "notes.csv"))))
    shape = (batch.n_rows, model.n_features)
    expected = sparse.csr_array((batch.data, batch.indices, batch.indptr), shape=shape).toarray()
    encoder = TextEncoder(**settings).fit(frame["note"])
    for X in (frame["note"], frame["note"].tolist(), frame[["note"]], pl.Series(frame["note"])):
        assert np.array_equal(encoder.transform(X).toarray(), expected)
    if not settings:
        other = TfidfVectorizer(
            sublinear_tf=True,
            ngram_range=(1, 2),
            token_pattern=r"[^\W_]+",  # noqa: S106  # of words
            dtype=np.float32,
        )
        theirs = other.fit_transform(frame["note"])
        names = encoder.get_feature_names_out().tolist()
        assert sorted(names) == sorted(other.get_feature_names_out())
        columns = [other.vocabulary_[name] for name in names]
        np.testing.assert_allclose(expected, theirs.toarray()[:, columns], rtol=1e-5)


def test_in_pipelines_and_column_transformers() -> None:
    """They are cloned, searched and put beside others, and frames come out where wanted."""
    frame = people()
    X, y = frame.drop(columns="label"), frame["label"]
    pipeline = make_pipeline(TableEncoder(**FORMS), AveragedPerceptron())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.4
    columns = ColumnTransformer(
        [("note", TextEncoder(min_count=2), "note"), ("rest", TableEncoder(), ["age", "city"])]
    )
    beside = make_pipeline(columns, AveragedPerceptron()).fit(X, y)
    assert beside.score(X, y) > 0.7
    names = columns.fit(X).get_feature_names_out().tolist()
    assert "rest__age" in names
    assert "note__good" in names
    dense = TableEncoder(sparse_output=False).set_output(transform="pandas")
    assert "city=Rome" in dense.fit_transform(X[["age", "city"]]).columns


@pytest.mark.parametrize(
    "steps",
    [
        [("table", TableEncoder(**FORMS)), ("model", AveragedPerceptron(max_iter=3))],
        [("table", TableEncoder(ignore=("note",))), ("model", VotedPerceptron(max_iter=1))],
        [
            (
                "table",
                TableEncoder(text=["note"], numeric=["age"], ignore=["size", "price", "day"]),
            ),
            ("pairs", FeatureConjunctions()),
            ("model", AveragedPerceptron(max_iter=2)),
        ],
    ],
    ids=["table", "voted", "pairs"],
)
def test_a_saved_pipeline_comes_back(tmp_path: Path, steps: list[Any]) -> None:
    """Its steps, parameters and scores are the same, and the commands predict with it."""
    frame = people()
    frame.to_csv(tmp_path / "people.csv", index=False)
    X = pd.read_csv(tmp_path / "people.csv")
    pipeline = clone(Pipeline(steps)).fit(X.drop(columns="label"), X["label"])
    save(pipeline, tmp_path / "m.model")
    again = load(tmp_path / "m.model")
    assert isinstance(again, Pipeline)
    assert [name for name, _ in again.steps] == [name for name, _ in steps]
    assert again[-1].get_params() == pipeline[-1].get_params()
    assert {k: str(v) for k, v in again[0].get_params().items() if v} == {
        k: str(tuple(v) if isinstance(v, list) else v)
        for k, v in pipeline[0].get_params().items()
        if v
    }
    assert np.array_equal(again.decision_function(X), pipeline.decision_function(X))
    paths = [str(tmp_path / name) for name in ("m.model", "people.csv")]
    assert run("predict", *paths).stdout.split() == again.predict(X).tolist()
    save(again, tmp_path / "n.model")
    once_more = load(tmp_path / "n.model")
    assert np.array_equal(once_more.decision_function(X), pipeline.decision_function(X))


def test_pipelines_of_texts_and_of_arrays(tmp_path: Path) -> None:
    """Texts alone, and conjunctions of an array, come back as well."""
    texts, y = ["good day", "bad day", "good work", "bad work"], [1, 0, 1, 0]
    of_texts = make_pipeline(TextEncoder(), AveragedPerceptron()).fit(texts, y)
    save(of_texts, tmp_path / "m")
    assert load(tmp_path / "m").predict(["good", "bad"]).tolist() == [1, 0]
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    pairs = make_pipeline(FeatureConjunctions(), AveragedPerceptron()).fit(X, [0, 1, 1, 0])
    save(pairs, tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == pairs.predict(X).tolist()


def test_what_a_file_cannot_hold_is_named(tmp_path: Path) -> None:
    """A step that is not ours is named with its class, and nothing is written."""
    frame = people()[["age", "label"]].dropna()
    encoder = ("encoder", TableEncoder(sparse_output=False))
    model = ("model", AveragedPerceptron())
    columns = ColumnTransformer([("age", TableEncoder(), ["age"])])
    for steps, sentence in (
        ([encoder, ("scaler", StandardScaler()), model], "the step 'scaler', StandardScaler: a"),
        (
            [("columns", columns), model],
            "the step 'columns', ColumnTransformer: a model file",
        ),
        ([encoder, ("nothing", "passthrough"), model], "the step 'nothing', passthrough: a model"),
    ):
        pipeline = Pipeline(steps).fit(frame[["age"]], frame["label"])
        with pytest.raises(InputError, match=re.escape(f"save cannot store {sentence}")):
            save(pipeline, tmp_path / "m.model")
    other = Pipeline([encoder, ("scaler", StandardScaler())]).fit(frame[["age"]])
    with pytest.raises(InputError, match="save takes as the last step 'scaler' a fitted"):
        save(other, tmp_path / "m.model")
    assert not (tmp_path / "m.model").exists()


def test_a_file_with_steps_that_are_not_known(tmp_path: Path) -> None:
    """Steps that nobody knows, or that do not fit, are refused."""
    texts, y = ["good day", "bad day"], [1, 0]
    save(make_pipeline(TextEncoder(), AveragedPerceptron()).fit(texts, y), tmp_path / "m")
    model = read(tmp_path / "m")
    for steps, reason in (
        ([["one", "Shell", {}]], "the steps of its pipeline are not known: 'Shell'."),
        ([["one", "TextEncoder", {"speed": 1}]], "the steps of its pipeline are not known: "),
        ([["one", "FeatureConjunctions", {}]], "the steps of its pipeline do not fit its encod"),
        (7, "the steps of its pipeline are not known: "),
    ):
        model.training["pipeline"]["steps"] = steps
        write(model, tmp_path / "n")
        with pytest.raises(InputError, match=re.escape(reason)):
            load(tmp_path / "n")


@pytest.mark.parametrize(
    ("encoder", "X", "sentence"),
    [
        (TableEncoder(), [], "Expected 2D array, got 1D array instead"),
        (TableEncoder(), pd.DataFrame({"a": []}), "X has no rows: found 0 sample(s)"),
        (TableEncoder(missing="guess"), [{"a": 1}], "missing must be 'mean', 'zero' or 'error'"),
        (
            TableEncoder(text="b"),
            [{"a": 1}],
            "X has no column 'b', named by text=. The",
        ),
        (
            TextEncoder(),
            [{"a": "x", "b": "y"}],
            "X must be one column of texts; got 2: a, b. Table",
        ),
        (TextEncoder(), [1, 2], "X must hold named columns: give a data frame (pandas, polars or"),
    ],
)
def test_bad_input(encoder: Any, X: Any, sentence: str) -> None:
    """What cannot be encoded is refused with a sentence."""
    with pytest.raises(ValueError, match=re.escape(sentence)):
        encoder.fit(X)


def test_every_option_of_columns_is_a_parameter() -> None:
    """What ``train`` can be told of columns, the encoder can be told, too."""
    of_rows = {"label", "label_separator", "weight", "group"}
    asked = {field.name for field in fields(Columns)} - of_rows - {"column_pairs", "form"}  # of all
    assert set(TableEncoder().get_params()) - {"sparse_output", "max_features"} == asked


def test_characters_and_bins() -> None:
    """Runs of characters and ranges of numbers are features of the encoders as of the command."""
    texts = TextEncoder(word_pairs=False, char_ngrams=(3, 3)).fit(["going home", "gone"])
    assert "characters 'goi'" in texts.get_feature_names_out().tolist()
    rows = [{"x": float(i)} for i in range(40)]
    encoder = TableEncoder(bins=4, sparse_output=False).fit(rows)
    assert encoder.get_feature_names_out().tolist() == [
        *("x", "x below 9.5", "x from 9.5 to 19.5", "x from 19.5 to 29.5", "x from 29.5"),
    ]
    assert encoder.transform(rows)[:, 1:].sum(axis=0).tolist() == [10.0] * 4


@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 1)),
        MaxAbsScaler(),
    ],
)
def test_scalers_of_scikit_learn(tmp_path: Path, scaler: Any, frame: bool) -> None:
    """A saved pipeline with a scaler comes back as it was; the model predicts the same."""
    path = tmp_path / "cancer.model"
    X, y = load_breast_cancer(return_X_y=True, as_frame=frame)
    for clf in (AveragedPerceptron(early_stopping=True), VotedPerceptron(max_iter=2)):
        pipeline = make_pipeline(scaler, clf).fit(X, y)
        save(pipeline, path)
        loaded: Any = load(path)
        assert np.array_equal(loaded.decision_function(X), pipeline.decision_function(X))
        fitted = vars(pipeline[0])
        assert {*vars(loaded[0])} >= {name for name in fitted if name.endswith("_")}
        model = Model.load(path)
        scores = pipeline.decision_function(X)
        np.testing.assert_allclose(model.scores(np.asarray(X)), scores, rtol=1e-9, atol=1e-9)
        found = explain(path, X[:1])
        assert found == explain(loaded, X[:1]) == explain(pipeline, X[:1])
        assert frame is (found.terms[0].name in load_breast_cancer().feature_names)
    rows = sparse.csr_array(np.asarray(X)[:9])
    dump_svmlight_file(rows, np.asarray(y)[:9], str(tmp_path / "rows.svm"), zero_based=True)
    shown = ran("predict", str(path), "rows.svm", folder=tmp_path)
    assert shown.split() == [str(label) for label in pipeline.predict(X)[:9]]


def test_scalers_that_a_file_cannot_hold(tmp_path: Path) -> None:
    """What a scaler does beside scaling is named."""
    X, y = [[0.0], [1.0]], [0, 1]
    clipped = make_pipeline(MinMaxScaler(clip=True), AveragedPerceptron()).fit(X, y)
    with pytest.raises(InputError, match="save cannot store a MinMaxScaler with clip=True"):
        save(clipped, tmp_path / "m.model")


def test_output_as_frames() -> None:
    """``set_output`` gives data frames of the features by name."""
    rows = [{"age": 20, "city": "Rome"}, {"age": 40, "city": "Oslo"}, {"age": 60}]
    for library in ("pandas", "polars"):
        encoder = TableEncoder(sparse_output=False).set_output(transform=library)
        found = encoder.fit_transform(rows)
        assert type(found).__module__.startswith(library)
        assert list(found.columns) == encoder.get_feature_names_out().tolist()
        plain = TableEncoder(sparse_output=False).fit_transform(rows)
        assert np.array_equal(found.to_numpy(), plain)


def test_indices_are_of_32_bits() -> None:
    """Estimators that refuse wider indices, such as LinearSVC, take the features as they are."""
    texts, labels = ["good film", "bad film", "good", "bad"], [1, 0, 1, 0]
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "town": ["a", "b", "a", "b"]})
    for encoder, X in ((TextEncoder(), texts), (TableEncoder(), frame)):
        rows = encoder.fit_transform(X)
        assert rows.indices.dtype == rows.indptr.dtype == np.int32
        assert LinearSVC().fit(rows, labels).score(rows, labels) == 1.0
