"""Estimators to files and back."""

import copy
import io
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron as OtherPerceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import AveragedPerceptron, PassiveAggressiveClassifier, Perceptron
from rosenblatt.data.encoding import SvmlightEncoding
from rosenblatt.errors import InputError
from rosenblatt.estimators.storage import load, save
from rosenblatt.models.file import read, read_from, write, write_to
from rosenblatt.models.model import Model, Spread
from rosenblatt.tasks.calibration import Calibration
from tests.estimators.test_fit import quiet_fit
from tests.examples import Drawn, data_sets, tries
from tests.models.models import linear

ATTRIBUTES = [
    *("n_features_in_", "n_iter_", "best_iter_", "n_mistakes_", "converged_", "stop_reason_"),
    "history_",
]
X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array(["no", "no", "no", "yes"])


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a place for a model."""
    return tmp_path_factory.mktemp("files") / "m.model"


def again(estimator: Any, path: Path) -> Any:
    """Return an estimator as it comes back from a file."""
    save(estimator, path)
    return load(path)


def assert_equal(one: Any, two: Any, *, seconds: bool = True) -> None:
    """Assert that two estimators are the same, to the last bit, and would go on the same."""
    assert type(one) is type(two)
    assert one.get_params() == two.get_params()
    for name in ATTRIBUTES if seconds else set(ATTRIBUTES) - {"history_"}:
        assert getattr(one, name) == getattr(two, name)
        assert type(getattr(one, name)) is type(getattr(two, name))
    assert one.classes_.dtype == two.classes_.dtype
    assert one.classes_.tolist() == two.classes_.tolist()
    states = [estimator._state for estimator in (one, two)]  # noqa: SLF001
    assert states[0].count == states[1].count
    for name in ("weights", "ledger"):
        values = [getattr(state, name) for state in states]
        assert (values[0] is None) == (values[1] is None)
        if values[0] is not None:
            by_class = [state.by_class(part) for state, part in zip(states, values, strict=True)]
            assert by_class[0].tobytes() == by_class[1].tobytes()


learners = st.sampled_from(
    [
        Perceptron(max_iter=3),
        AveragedPerceptron(max_iter=3, shuffle="once", warm_start=True),
        AveragedPerceptron(max_iter=2, margin=0.5, fit_intercept=False, zero="positive"),
        PassiveAggressiveClassifier(max_iter=2, C=float("inf")),
        PassiveAggressiveClassifier(
            max_iter=3, average=True, loss="squared_hinge", warm_start=True
        ),
    ]
)
small = st.one_of(st.integers(-9, 9).map(float), st.floats(-10, 10))


@tries(40)
@given(
    st.sampled_from([2, 3]).flatmap(lambda n: data_sets(small, n_classes=n)),
    learners,
    st.sampled_from([np.asarray, sparse.csr_array]),
    st.sampled_from([np.asarray, sparse.csr_array]),
    st.booleans(),
)
def test_training_goes_on_as_if_never_saved(
    path: Path, drawn: Drawn, learner: Any, before: Any, after: Any, streamed: bool
) -> None:
    """From a file, fit and partial_fit go on bit for bit, from dense and sparse rows in turn."""
    rows, labels = np.array(drawn.rows), np.array(drawn.labels)
    if len(np.unique(labels)) < 2 or rows.shape[1] == 0:
        return
    kept = clone(learner)
    if streamed:
        kept.partial_fit(before(rows), labels)
    else:
        quiet_fit(kept, before(rows), labels)
    loaded = again(kept, path)
    assert_equal(loaded, kept)
    for estimator in (loaded, kept):
        estimator.partial_fit(after(rows), labels)
    assert_equal(loaded, kept)
    assert np.array_equal(loaded.decision_function(rows), kept.decision_function(rows))
    for estimator in (loaded, kept):
        quiet_fit(estimator, after(rows), labels)
    for one, two in zip(loaded.history_, kept.history_, strict=True):
        assert one._replace(seconds=0.0) == two._replace(seconds=0.0)
    assert_equal(loaded, kept, seconds=False)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 0, 0, 1], np.int8),
        np.array([-1, -1, -1, 1], np.float32),
        np.array([False, False, False, True]),
        np.array(["no", "no", "no", "yes"], object),
        np.array(["no", "no", "no", "yes"], "<U20"),
        np.array([0, 1, 2, 2**64 - 1], np.uint64),
        np.array([0.1, 0.1, 1.0, 2.5]).round() + 0.0,
        np.array([1, 2, 2, 1], ">i4"),
    ],
)
def test_labels_keep_their_type(labels: Any, path: Path) -> None:
    """Predictions have the type that the labels had."""
    clf = quiet_fit(Perceptron(max_iter=5), X, labels)
    loaded = again(clf, path)
    assert_equal(loaded, clf)
    assert loaded.predict(X).dtype == clf.predict(X).dtype


def test_one_class_alone(path: Path) -> None:
    """A stream that has met one class so far can be kept."""
    clf = AveragedPerceptron().partial_fit([[1.0], [2.0]], ["yes", "yes"])
    loaded = again(clf, path)
    assert loaded.predict([[-5.0]]).tolist() == ["yes"]
    for estimator in (clf, loaded):
        estimator.partial_fit([[3.0], [-1.0]], ["no", "yes"])
    assert_equal(loaded, clf)


def test_feature_names(path: Path) -> None:
    """The names of columns come back, and scikit-learn's check of them works."""
    frame = pd.DataFrame(X, columns=["height", "größe"])
    clf = Perceptron().fit(frame, Y)
    loaded = again(clf, path)
    assert loaded.feature_names_in_.tolist() == ["height", "größe"]
    assert loaded.feature_names_in_.dtype == object
    assert loaded.predict(frame).tolist() == clf.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame.rename(columns={"height": "width"}))
    assert not hasattr(again(Perceptron().fit(X, Y), path), "feature_names_in_")


def test_parameters(path: Path) -> None:
    """Parameters come back, whatever type of number they are, and class weights by their labels."""
    parameters: dict[str, Any] = {
        "C": np.float32(0.5),
        "max_iter": np.int64(3),
        "shuffle": "once",
        "time_limit": float("inf"),
        "class_weight": {"no": 1, "yes": np.float64(2.5)},
        "fit_intercept": np.True_,
        "validation_fraction": Fraction(1, 4),
        "random_state": np.int32(7),
        "observers": (),
    }
    clf = PassiveAggressiveClassifier(**parameters)
    loaded = again(quiet_fit(clf, X, Y), path)
    expected = clf.get_params() | {"observers": None}
    assert loaded.get_params() == expected
    by_number = again(Perceptron(class_weight={0: 1.0, 3: 2.0}).fit(X, [0, 0, 0, 3]), path)
    assert by_number.class_weight == {0: 1.0, 3: 2.0}
    assert by_number.partial_fit(X, [0, 0, 0, 3]).classes_.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"random_state": np.random.default_rng(0)},
            "random_state is a Generator, which a model file cannot hold: it will be None in",
        ),
        (
            {"random_state": np.random.RandomState(0)},
            "random_state is a RandomState, which a model file cannot hold: it will be None in",
        ),
        (
            {"observers": [lambda _: None]},
            "observers is a list, which a model file cannot hold: it will be None in what is",
        ),
    ],
)
def test_what_a_file_cannot_hold(parameters: Any, sentence: str, path: Path) -> None:
    """A long training is saved whatever its parameters; a warning says what is left out."""
    clf = Perceptron(**parameters).fit(X, Y)
    with pytest.warns(UserWarning, match=re.escape(sentence)) as told:
        save(clf, path)
    assert told[0].filename == __file__
    loaded = load(path)
    assert [getattr(loaded, name) for name in parameters] == [None]
    assert loaded.predict(X).tolist() == Y.tolist()


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (Perceptron(), "This Perceptron has learned nothing yet: fit it before it is saved."),
        (
            OtherPerceptron(),
            "of rosenblatt; got a Perceptron of sklearn.linear_model._perceptron.",
        ),
        (make_pipeline(StandardScaler(), Perceptron()), "This Perceptron has learned nothing yet"),
        (None, "got a NoneType of builtins."),
        (type("Perceptron", (Perceptron,), {})(), "save takes a fitted Perceptron, "),
        (
            Perceptron().partial_fit(X, Y, sample_weight=[0, 0, 0, 0]),
            "This Perceptron has learned nothing yet: fit it before it is saved.",
        ),
    ],
)
def test_what_is_not_saved(estimator: Any, sentence: str, tmp_path: Path) -> None:
    """Other objects, and those that are not fitted, are refused and leave no file."""
    with pytest.raises(InputError) as told:
        save(estimator, tmp_path / "m.model")
    assert sentence in str(told.value)
    assert not list(tmp_path.iterdir())


def stored(**changes: Any) -> Model:
    """Return the model of a small perceptron, with anything changed."""
    file = io.BytesIO()
    parts: dict[str, Any] = {
        "learner": "Perceptron",
        "options": {},
        "classes": (0, 1),
        "weights": np.array([[2.0, 1.0, -1.0]]),
        "outcome": {"stop_reason": "converged"},
    }
    write_to(file, linear(**parts | changes))
    return read_from(io.BytesIO(file.getvalue()))


RECORD = {
    "pass_": 1,
    "mistakes": 3,
    "updates": 3,
    "loss": 0.5,
    "validation_score": None,
    "seconds": 0.1,
}


def test_a_model_of_the_command_line(path: Path) -> None:
    """What only estimators store is filled in from the history and the classes."""
    write(stored(classes=("a", "b"), history=(RECORD, RECORD | {"pass_": 2, "mistakes": 0})), path)
    clf = load(path)
    assert clf.predict([[1.0, 1.0], [-1.0, 0.0]]).tolist() == ["b", "a"]
    assert (clf.n_iter_, clf.n_mistakes_, clf.best_iter_, clf.converged_) == (2, 3, 2, True)
    assert clf.get_params() == Perceptron().get_params()
    write(stored(classes=(0, 10**20)), path)
    assert load(path).classes_.tolist() == [0.0, 1e20]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"learner": "QuantumPerceptron"},
            "m.model holds a 'QuantumPerceptron', and this version of rosenblatt knows Perceptron",
        ),
        (
            {"options": {"beta": 1}},
            "m.model cannot be used: Perceptron has no parameter 'beta'; upgrade rosenblatt.",
        ),
        (
            {"options": {"max_iter": 0}},
            "m.model cannot be used: The parameter max_iter of Perceptron must be an integer of at",
        ),
        ({"options": {"class_weight": [[[], 1]]}}, "m.model cannot be used: "),
        (
            {"training": {"label_type": "<U1"}, "classes": ("no", "yes")},
            "m.model cannot be used: its classes do not fit into their type, <U1.",
        ),
        (
            {"training": {"label_type": "<M8[s]"}},
            "m.model cannot be used: its labels are of an unknown type, '<M8[s]'; upgrade",
        ),
        ({"training": {"label_type": "<U99999999"}}, "its labels are of an unknown type"),
        ({"history": ({"pass_": 1},)}, "a pass in its history has no 'loss'."),
        ({"outcome": {"n_iter": "1"}}, "its n_iter must be an integer; got '1'."),
        ({"outcome": {"stop_reason": "bored"}}, "its stop_reason is 'bored'; upgrade rosenblatt."),
        ({"outcome": {"stop_reason": []}}, "its stop_reason is []; upgrade rosenblatt."),
    ],
)
def test_files_that_are_no_estimators(changes: Any, sentence: str, path: Path) -> None:
    """What this version cannot make an estimator of is named."""
    write(stored(**changes), path)
    with pytest.raises(InputError) as told:
        load(path)
    assert sentence in str(told.value)


def from_columns() -> Model:
    """Return a model with all that only a training from a file has."""
    spread = Spread(np.zeros(2), np.ones(2), np.ones(2), 4)
    return stored(
        spread=spread,
        calibration=Calibration(1.0, 0.5, 9),
        verdict={"status": "separable"},
        training={"files": ["a.csv"]},
        outcome={"stop_reason": "converged", "n_rows": 4},
        feature_names=("a", "b"),
    )


def test_what_a_file_held_is_kept_while_it_is_true(path: Path) -> None:
    """Loaded and saved, nothing is lost; trained on, what new rows made untrue is left out."""
    write(from_columns(), path)
    clf = load(path)
    before = read(path)
    save(copy.deepcopy(clf), path)
    after = read(path)
    for name in ("spread", "calibration", "verdict"):
        assert repr(getattr(after, name)) == repr(getattr(before, name))
    assert after.training == before.training | {"label_type": "<i8"}
    assert dict(after.outcome)["n_rows"] == 4
    assert after.feature_names == ("a", "b")
    frame = pd.DataFrame(X, columns=["a", "b"])
    save(clf.partial_fit(frame, [0, 0, 0, 1]), path)
    assert read(path).calibration is None
    assert read(path).training == {"label_type": "<i8"}
    save(clf.fit(X, [0, 0, 0, 1]), path)
    assert read(path).feature_names is None


def test_a_model_with_an_encoding(path: Path) -> None:
    """Its estimator takes encoded rows, has the encoding beside it, and keeps it when saved."""
    encoding = SvmlightEncoding(zero_based=False, n_features=2).as_json()
    write(stored(encoding=encoding, feature_names=("a", "b")), path)
    clf = load(path)
    assert clf.encoding_.as_json() == encoding
    assert not hasattr(clf, "feature_names_in_")
    save(clf.partial_fit(sparse.csr_array(X), [0, 0, 0, 1]), path)
    assert read(path).encoding == encoding
    assert read(path).feature_names == ("a", "b")
    write(stored(encoding={"kind": "table"}), path)
    with pytest.raises(InputError, match=r"m\.model cannot be used: The encoding of this model is"):
        load(path)
