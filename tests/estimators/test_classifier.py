"""``Classifier``: what ``train`` does with a file, done with rows in memory."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score

from rosenblatt import Classifier, load
from rosenblatt.errors import InputError
from rosenblatt.models.train import model_from_files


def people(n_rows: int = 400) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return numbers, categories and texts, and labels that follow from all of them."""
    generator = np.random.default_rng(0)
    words = ["good", "bad", "so", "it", "was", "not"]
    frame = pd.DataFrame(
        {
            "age": generator.normal(size=n_rows).round(3),
            "city": generator.choice(["Rome", "Oslo", "Bonn"], n_rows),
            "note": [" ".join(generator.choice(words, 5)) for _ in range(n_rows)],
        }
    )
    score = frame["age"] + (frame["city"] == "Rome") + 0.8 * frame["note"].str.contains("good")
    return frame, np.where(score > 1.0, "yes", "no")


def test_rows_in_memory_give_the_model_of_their_file(tmp_path: Path) -> None:
    """Columns, recipe and weights are those that train makes of the same rows in a file."""
    X, y = people()
    pl.DataFrame(X.to_dict("list") | {"label": y}).write_parquet(tmp_path / "people.parquet")
    model = model_from_files(tmp_path / "people.parquet", label="label", calibrate=True)
    fitted = Classifier().fit(X, y)
    np.testing.assert_array_equal(fitted.model_.weights, model.weights)
    assert fitted.model_.encoding == model.encoding
    assert fitted.model_.training["recipe"] == model.training["recipe"]
    assert fitted.feature_names_in_.tolist() == ["age", "city", "note"]
    np.testing.assert_array_equal(fitted.predict_proba(X), model.probabilities(X))
    assert fitted.score(X, y) > 0.9


def test_tools_of_scikit_learn_take_it() -> None:
    """It is cloned, folded, searched, calibrated and pickled."""
    X, y = people()
    fitted = Classifier(calibrate=False).fit(X, y)
    assert cross_val_score(fitted, X, y, cv=3).mean() > 0.85
    assert GridSearchCV(Classifier(), {"bins": [0, 10]}, cv=2).fit(X, y).best_score_ > 0.85
    assert CalibratedClassifierCV(fitted, cv=2).fit(X, y).score(X, y) > 0.85
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301  # its own
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert clone(fitted).get_params() == fitted.get_params()


def test_a_loaded_model_of_columns_is_fitted_anew(tmp_path: Path) -> None:
    """A clone of what load returns is a classifier of the same columns."""
    X, y = people()
    Classifier(text="city").fit(X, y).save(tmp_path / "people.model")
    loaded = load(tmp_path / "people.model")
    assert clone(loaded).text == ["city", "note"]
    assert cross_val_score(loaded, X, y, cv=3).mean() > 0.8
    assert CalibratedClassifierCV(loaded, cv=2).fit(X, y).score(X, y) > 0.8
    fitted = Classifier.of_model(str(tmp_path / "people.model"))
    np.testing.assert_array_equal(fitted.predict(X), loaded.predict(X))


@pytest.mark.parametrize(
    "labels",
    [[False, True], [0, 3], [0.0, 1.0], ["10", "9"], ["b", "a"]],
    ids=str,
)
def test_labels_come_back_as_they_were_given(labels: list[Any]) -> None:
    """Sorted as NumPy sorts them, with scores and probabilities in that order."""
    X, y = people()
    given = np.array(labels)[(y == "yes").astype(int)]
    fitted = Classifier(recipe="plain").fit(X, given)
    assert fitted.classes_.tolist() == np.unique(given).tolist()
    assert fitted.predict(X).dtype == given.dtype
    assert fitted.score(X, given) > 0.8
    positive = fitted.predict(X) == fitted.classes_[1]
    assert ((fitted.decision_function(X) > 0) == positive).all()
    assert ((fitted.predict_proba(X).argmax(axis=1) == 1) == positive).mean() > 0.9


def test_three_classes_of_texts_alone_and_of_arrays() -> None:
    """Texts need no column, arrays no names; the scores are in the order of the classes."""
    X, y = people(600)
    labels = np.where(X["age"] > 0.5, "10", y)
    texts = [f"{note} {label}" for note, label in zip(X["note"], labels, strict=True)]
    fitted = Classifier().fit(texts, labels)
    assert fitted.classes_.tolist() == ["10", "no", "yes"]
    assert fitted.predict(["so it was yes", "good bad 10"]).tolist() == ["yes", "10"]
    best = fitted.classes_[fitted.decision_function(texts).argmax(axis=1)]
    assert (best == fitted.predict(texts)).all()
    array = X[["age"]].to_numpy()
    assert Classifier().fit(array, labels == "10").score(array, labels == "10") > 0.9


def test_weights_groups_and_columns_of_the_same_names() -> None:
    """Rows of weight 0 teach nothing; a column may be called label."""
    X, y = people()
    X = X.rename(columns={"city": "label"})
    weight = np.where(np.arange(len(y)) < 200, 1.0, 0.0)
    some = Classifier(random_state=1).fit(X, y, sample_weight=weight)
    assert some.model_.training["n_rows"] == 200
    grouped = Classifier().fit(X, y, groups=np.arange(len(y)) // 4)
    assert grouped.model_.training["held_out_by"] == {"group": "group", "folds": 5}
    with pytest.raises(InputError, match="X has 400 rows, and label_ has 3 values"):
        Classifier().fit(X, ["a", "b", "a"])
