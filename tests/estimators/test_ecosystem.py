"""Data frames, pipelines, searches, routing: what scikit-learn users expect to work."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import AveragedPerceptron, PassiveAggressiveClassifier, Perceptron
from tests.processes import printed

pytestmark = pytest.mark.filterwarnings("ignore:.*stopped after max_iter")

COLUMNS = ["height", "weight"]
VALUES = {"height": [1.0, 2.0, -1.0, -2.0], "weight": [0.5, 1.0, 0.0, 0.5]}
LABELS = ["up", "up", "down", "down"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(frame: Any) -> None:
    """Pandas and polars frames are read, names are kept, and a renamed column is refused."""
    X = frame(VALUES)
    clf = Perceptron().fit(X, LABELS)
    assert clf.feature_names_in_.tolist() == COLUMNS
    assert clf.predict(X).tolist() == LABELS
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(
            X.rename(columns={"height": "h"})
            if frame is pd.DataFrame
            else X.rename({"height": "h"})
        )


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_labels_from_a_series(series: Any) -> None:
    """String labels come back as they went in."""
    clf = AveragedPerceptron().fit(list(zip(*VALUES.values(), strict=True)), series(LABELS))
    assert clf.classes_.tolist() == ["down", "up"]


def test_frames_in_a_stream() -> None:
    """A model trained on named columns goes on with named columns."""
    clf = Perceptron()
    for i in range(4):
        clf.partial_fit(pd.DataFrame(VALUES).iloc[[i]], [LABELS[i]], classes=["down", "up"])
    assert clf.feature_names_in_.tolist() == COLUMNS


def test_pipeline_with_frames_as_output() -> None:
    """set_output passes through a pipeline, and the classifier sees the names."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    pipe = make_pipeline(StandardScaler(), AveragedPerceptron()).set_output(transform="pandas")
    pipe.fit(X, y)
    assert pipe[-1].feature_names_in_.tolist() == X.columns.tolist()
    assert pipe.score(X, y) > 0.97


def test_text_pipeline() -> None:
    """Sparse words with string labels."""
    texts = ["good good film", "bad film", "very good", "very bad"]
    pipe = Pipeline([("words", CountVectorizer()), ("learner", Perceptron())])
    pipe.fit(texts, ["+", "-", "+", "-"])
    assert pipe.predict(["good", "bad"]).tolist() == ["+", "-"]


def test_search() -> None:
    """A grid search over rule and memory runs and keeps its best."""
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), PassiveAggressiveClassifier(max_iter=5))
    name = "passiveaggressiveclassifier"
    grid = {f"{name}__C": [0.01, 1.0], f"{name}__average": [False, True]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95


def test_cross_validation_and_one_against_rest() -> None:
    """The usual wrappers work."""
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(make_pipeline(StandardScaler(), Perceptron()), X, y).mean() > 0.93
    wrapped = OneVsRestClassifier(Perceptron()).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    assert wrapped.predict([[2.0]]).tolist() == [2]


def test_metadata_routing() -> None:
    """Sample weights are routed to the learner that asks for them."""
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.where(y == 1, 1.0, 3.0)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = Perceptron(max_iter=3).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipe = make_pipeline(scaler, learner).fit(X, y, sample_weight=weight)
    direct = Perceptron(max_iter=3).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    assert np.array_equal(pipe[-1].coef_, direct.coef_)


def test_clone_and_representations() -> None:
    """A clone has the parameters and nothing learned; text and HTML show what was chosen."""
    clf = Perceptron(eta0=0.5).fit([[0.0], [1.0]], [0, 1])
    copy = clone(clf)
    assert copy.get_params() == clf.get_params()
    assert not hasattr(copy, "coef_")
    assert repr(clf) == "Perceptron(eta0=0.5)"
    assert "Perceptron" in clf._repr_html_()


def test_the_package_itself_imports_nothing_slow() -> None:
    """``import rosenblatt`` leaves scikit-learn, numba and NumPy alone until a name is used."""
    printed(
        "import sys, rosenblatt; slow = {'sklearn', 'numba', 'numpy', 'rich'} & set(sys.modules); "
        "assert not slow, slow; rosenblatt.Perceptron; assert 'sklearn' in sys.modules"
    )


def test_names() -> None:
    """What is public is listed, and anything else is refused as Python does."""
    import rosenblatt

    assert set(rosenblatt.__all__) <= set(dir(rosenblatt))
    with pytest.raises(AttributeError, match="has no attribute 'Perceptrons'"):
        _ = rosenblatt.Perceptrons  # type: ignore[attr-defined]
