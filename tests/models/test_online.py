"""The learner of single rows."""

import copy
import pickle
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_wine

import rosenblatt
from rosenblatt import MultilabelClassifier, OnlineLearner
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.compiling.function import CompiledFunction
from rosenblatt.kernels.rows import CSR, Dense
from rosenblatt.models.continuation import all_known, learn_batch, model_with_classes
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.weights import weights_of
from rosenblatt.parameters import MEMORIES
from rosenblatt.rules import RULES
from rosenblatt.training.examples import Examples, encode
from tests import reference

NAMES = "abcdef"
Row = dict[str, float]
values = st.floats(-4.0, 4.0, width=32)
rows_of_names = st.dictionaries(st.sampled_from(NAMES), values, max_size=5)
labels = st.sampled_from(["x", "y", "z"])
streams = st.lists(st.tuples(rows_of_names, labels), min_size=1, max_size=12)


def matrix(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """Return rows as a CSR matrix of these columns.

    It stores a 0 that a row names, since what is stored decides in which order values are summed.
    """
    stored = [[(k, row[name]) for k, name in enumerate(names) if name in row] for row in rows]
    pairs = [pair for row in stored for pair in row]
    indices, data = [column for column, _ in pairs], np.array([value for _, value in pairs], float)
    indptr = np.cumsum([0, *map(len, stored)])
    return sparse.csr_matrix((data, indices, indptr), shape=(len(rows), len(names)))


def batch_by_batch(learner: Learner, X: Any, y: NDArray[Any]) -> Model:
    """Learn from each row as from a batch, and meet classes as they come."""
    made_by, state = LearnerRecord.of(learner, "Perceptron", {}), learner.start(X.shape[1], 1)
    model = Model.empty(made_by, np.unique(y[:1]), weights_of(learner, state))
    for i, label in enumerate(y):
        if not all_known(y[i : i + 1], model.labels):
            model = model_with_classes(model, np.array([label]), learner.step)
        part, one = X[i : i + 1], np.ones(1)
        rows = Dense(part, 1.0)
        if sparse.issparse(X):
            rows = CSR(part.data, part.indices, part.indptr, X.shape[1], 1.0)  # type: ignore[assignment]
        learn_batch(model, learner, Examples(rows, encode(y[i : i + 1], model.labels), one))
    return model


def same_model(model: Model, other: Model) -> bool:
    """Whether all that was learned is the same, bit for bit."""
    pairs: list[tuple[Any, Any]] = [
        (model.weights, other.weights),
        (model.ledger, other.ledger),
        (model.variance, other.variance),
        (model.labels, other.labels),
        (model.count, other.count),
        (model.outcome["n_mistakes"], other.outcome["n_mistakes"]),
    ]
    return all(one is two or np.array_equal(one, two) for one, two in pairs)


def check_parity(rule: str, memory: str, stream: list[tuple[Row, str]], *, named: bool) -> None:
    """Compare one row after the other with batches of one row, and what both predict."""
    online = OnlineLearner(rule, memory=memory)
    names = list(dict.fromkeys(name for x, _ in stream for name in x)) if named else list(NAMES)
    X, y = matrix([x for x, _ in stream], names), np.array([label for _, label in stream])
    X = X if named else X.toarray()
    for k, (x, label) in enumerate(stream):
        online.learn_one(x if named else X[k], label)
    model = batch_by_batch(Learner(rule, memory), X, y)
    assert same_model(online.model_, model)
    if len(model.labels) > 1:
        found = [online.predict_one(x if named else X[k]) for k, (x, _) in enumerate(stream)]
        assert found == online.model_.predict(X).tolist()


@pytest.mark.parametrize(
    ("rule", "memory", "named"),
    [("perceptron", "average", True), ("arow", "last", True), ("pa1", "average", False)],
)
@given(streams)
def test_single_rows_equal_batches(
    rule: str, memory: str, named: bool, stream: list[tuple[Row, str]]
) -> None:
    """Weights, average, variances and predictions are those of ``partial_fit``, bit for bit."""
    check_parity(rule, memory, stream, named=named)


@pytest.mark.parametrize(("rule", "memory", "named"), [*product(RULES, MEMORIES, (False, True))])
def test_every_rule_learns_single_rows(
    rule: str, memory: str, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every rule and memory, in plain Python: nothing depends on what is compiled."""
    monkeypatch.setattr(CompiledFunction, "__call__", lambda self, *given: self.plain(*given))
    generator = np.random.default_rng(3)
    stream = [
        (
            {name: generator.normal() for name in NAMES if generator.random() < 0.7},
            "xyz"[k % 2 if k < 6 else generator.integers(3)],
        )
        for k in range(20)
    ]
    check_parity(rule, memory, stream, named=named)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_single_rows_equal_partial_fit(n_classes: int) -> None:
    """A stream of dicts gives the estimator that ``partial_fit`` on all the rows gives."""
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(60, 4)), generator.integers(n_classes, size=60)
    online = OnlineLearner("pa2", C=0.5, classes=range(n_classes))
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        online.learn_one(dict(zip("abcd", x, strict=True)), label)
    found = online.to_estimator()
    clf = rosenblatt.PassiveAggressiveClassifier(loss="squared_hinge", C=0.5, average=True)
    clf.partial_fit(sparse.csr_matrix(X), y)
    assert np.array_equal(found.coef_, clf.coef_)
    assert np.array_equal(found.intercept_, clf.intercept_)
    assert (found.loss, found.C, found.average) == ("squared_hinge", 0.5, True)
    assert found.n_mistakes_ == clf.n_mistakes_


def test_conventions_of_river() -> None:
    """learn_one returns nothing, predict_one None until a row was learned, then a known class."""
    learner = OnlineLearner()
    assert learner.predict_one({"a": 1.0}) is None
    assert learner.learn_one({"a": 1.0}, y=True) is None  # type: ignore[func-returns-value]
    assert learner.predict_one({"never seen": 1.0}) is True
    learner.learn_one({"a": -1.0}, y=False)
    learner.learn_one({"a": -1.0, "b": 2}, y=False)
    assert [learner.predict_one({"a": a}) for a in (2, -2.0)] == [True, False]
    assert (learner.n_rows, learner.n_mistakes, learner.n_features) == (3, 1, 2)
    assert learner.classes == [False, True]


def test_same_weights_as_river() -> None:
    """The last weights and the bias of the perceptron are river's."""
    theirs = pytest.importorskip("river.linear_model").Perceptron()
    ours = OnlineLearner(rule="perceptron", memory="last", classes=[False, True])
    generator = np.random.default_rng(1)
    for _ in range(300):
        x = {name: float(v) for name, v in zip("abc", generator.integers(-3, 4, 3), strict=True)}
        y = bool(x["a"] - x["b"] + generator.normal() > 0)
        theirs.learn_one(x, y)
        ours.learn_one(x, y)
    found = ours.to_estimator()
    assert dict(zip("abc", found.coef_[0], strict=True)) == theirs.weights
    assert found.intercept_[0] == theirs.intercept


def test_text_is_a_feature_of_its_own() -> None:
    """A value that is text counts as the feature "name=text", as in DictVectorizer."""
    learner = OnlineLearner()
    for colour, label in [("red", 1), ("green", 0)] * 3:
        learner.learn_one({"colour": colour, "size": 1}, label)
    assert [learner.predict_one({"colour": c, "size": 1}) for c in ("red", "green")] == [1, 0]
    assert learner.to_estimator().feature_names_in_.tolist() == [
        *("colour=red", "size", "colour=green")
    ]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"a": np.nan}, 1, "Feature 'a' of the row is nan; it must be a finite number."),
        ({"a": None}, 1, "Feature 'a' of the row is None; it must be a finite number."),
        ({"new": np.inf}, 1, "Feature 'new' of the row is inf; it must be a finite number."),
        ({("a",): 1.0}, 1, "The name of a feature must be text or a whole number; got ('a',)."),
        ({"a": 1.0}, 0.5, "A class must be text, a whole number or a bool; got 0.5."),
        ({"a": 1.0}, None, "A class must be text, a whole number or a bool; got None."),
        ({"a": 1.0}, "text", "are of another type than the classes learned so far"),
        ([1.0], 1, "has learned from dicts of named features; got a row of type list."),
    ],
)
def test_bad_named_rows_change_nothing(x: Any, y: Any, message: str) -> None:
    """A row that cannot be learned is refused in words and leaves the model alone."""
    learner = OnlineLearner()
    for a, label in [(1.0, 1), (-1.0, 0), (2.0, 1)]:
        learner.learn_one({"a": a}, label)
    before = learner.model_
    with pytest.raises(InputError) as error:
        learner.learn_one(x, y)
    assert message in str(error.value)
    assert same_model(learner.model_, before)
    assert learner.n_features == 1


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1.0], "A row must be 2 numbers; got [1.0]."),
        ([1.0, 2.0, 3.0], "A row must be 2 numbers; got"),
        (["a", "b"], "A row must be 2 numbers; got"),
        ([1.0, np.nan], "Feature 1 of the row is nan; it must be a finite number."),
        ({"a": 1.0}, "has learned from arrays; got a row of type dict."),
        ({}, "has learned from arrays; got a row of type dict."),
    ],
)
def test_bad_arrays_are_refused(x: Any, message: str) -> None:
    """Learning and predicting see another length, a NaN, another kind of row."""
    learner = OnlineLearner()
    learner.learn_one([1.0, 0.0], "yes")
    learner.learn_one(np.array([0, 1]), "no")
    for verb in (learner.predict_one, lambda row: learner.learn_one(row, "no")):
        with pytest.raises(InputError) as error:
            verb(x)
        assert message in str(error.value)


def test_weights_multiply_the_step() -> None:
    """A row of weight 2 moves the weights twice as far; of weight 0 it is left out altogether."""
    one, two = OnlineLearner(classes=[0, 1]), OnlineLearner(classes=[0, 1])
    one.learn_one({"a": 1.0}, 1)
    two.learn_one({"a": 1.0}, 1, w=2.0)
    two.learn_one({"b": 1.0}, 1, w=0.0)
    assert np.array_equal(2 * one.model_.weights, two.model_.weights)
    with pytest.raises(InputError, match="w must be a finite number of at least 0; got -1"):
        two.learn_one({"a": 1.0}, 1, w=-1)


def test_overflow_is_reported() -> None:
    """A step beyond float64 raises, and the row is not learned."""
    learner = OnlineLearner("pa", classes=[0, 1])
    with pytest.raises(WeightOverflowError, match="overflowed on this row, which is not learned"):
        learner.learn_one([1e200], 1)
    assert learner.n_rows == 0


def stream(n_rows: int) -> list[tuple[dict[str, Any], str]]:
    """Return rows of which later ones have more names and classes."""
    generator = np.random.default_rng(5)
    return [
        (
            {f"name {j}": generator.normal() for j in generator.integers(3 + k, size=4)},
            "abc"[generator.integers(2 + (k > n_rows // 2))],
        )
        for k in range(n_rows)
    ]


@pytest.mark.parametrize("hash_bits", [None, 6])
@pytest.mark.parametrize("way", ["file", "estimator", "model", "pickle", "copy"])
def test_learning_goes_on_elsewhere(way: str, hash_bits: int | None, tmp_path: Path) -> None:
    """A learner that was saved, converted or copied midway ends where one that was not ends."""
    straight = OnlineLearner("perceptron", hash_bits=hash_bits)
    for x, y in stream(40):
        straight.learn_one(x, y)
    learner = OnlineLearner("perceptron", hash_bits=hash_bits)
    for x, y in stream(40)[:25]:
        learner.learn_one(x, y)
    if way == "file":
        rosenblatt.save(learner, tmp_path / "a.model")
        learner = OnlineLearner.from_model(tmp_path / "a.model")
    elif way == "estimator":
        learner = OnlineLearner.from_model(learner.to_estimator(), hash_bits=hash_bits)
    elif way == "model":
        learner = OnlineLearner.from_model(learner.model_)
    else:
        data = pickle.dumps(learner)
        learner = copy.deepcopy(learner) if way == "copy" else pickle.loads(data)  # noqa: S301  # ours
    for x, y in stream(40)[25:]:
        learner.learn_one(x, y)
    assert same_model(learner.model_, straight.model_)
    assert learner.model_.feature_names == straight.model_.feature_names


def test_hashed_names_need_no_vocabulary() -> None:
    """Features are at most two to the power of hash_bits, whatever the names."""
    learner = OnlineLearner(hash_bits=3)
    for x, y in stream(60):
        learner.learn_one(x, y)
    assert learner.n_features == 8
    assert learner.model_.weights.shape == (3, 9)
    assert learner.to_estimator().n_features_in_ == 8


def test_models_that_cannot_go_on_are_refused() -> None:
    """Votes, kernels and class weights are not a single row's business."""
    X, y = [[0.0], [1.0]], [0, 1]
    for fitted, reason in (
        (rosenblatt.VotedPerceptron().fit(X, y), "that votes"),
        (rosenblatt.Perceptron(class_weight={0: 2.0}).fit(X, y), "that weighs its classes"),
        (rosenblatt.KernelPerceptron().fit(X, y), "has no weights"),
    ):
        with pytest.raises(InputError, match=reason):
            OnlineLearner.from_model(fitted)


def test_second_order_estimators_go_on() -> None:
    """A learner from an estimator that keeps variances is that estimator, row by row."""
    generator = np.random.default_rng(2)
    X, y = generator.normal(size=(30, 3)), generator.integers(2, size=30)
    clf = rosenblatt.ConfidenceWeightedClassifier().partial_fit(X[:10], y[:10])
    learner = OnlineLearner.from_model(clf)
    for x, label in zip(X[10:], y[10:], strict=True):
        learner.learn_one(x, label)
    clf.partial_fit(X[10:], y[10:])
    found = learner.to_estimator()
    assert np.array_equal(found.confidence_, clf.confidence_)
    assert np.array_equal(found.coef_, clf.coef_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": "nothing"}, "The parameter rule of OnlineLearner must be 'perceptron'"),
        ({"memory": "vote"}, "must be None, 'average' or 'last'; got 'vote'."),
        ({"hash_bits": 0}, "must be None or a whole number from 1 to 28; got 0."),
        ({"zero": 1}, "The parameter zero of OnlineLearner must be"),
        ({"C": 2.0}, "C= has no effect with rule='arow'"),
        ({"rule": "margin", "eta0": -1.0}, "eta0= must be"),
    ],
)
def test_bad_parameters_are_refused(given: dict[str, Any], message: str) -> None:
    """A parameter that is not what it must be is named."""
    with pytest.raises(InputError) as error:
        OnlineLearner(**given)
    assert message in str(error.value)


class Unusual(dict[Any, Any]):
    """A dict that takes the way through plain Python, name by name."""


def stream_of_layouts(seed: int) -> list[dict[Any, Any]]:
    """Return rows in runs of the same names: shared or fresh ones, in any order, more or fewer."""
    generator = np.random.default_rng(seed)
    kinds = (float, int, np.float64, lambda v: bool(v > 1))
    rows: list[dict[Any, Any]] = []
    while len(rows) < 120:
        pool = [f"name {k}" for k in range(12)] + [3, 7, -1]
        chosen = [pool[k] for k in generator.permutation(15)[: generator.integers(1, 9)]]
        convert = kinds[generator.integers(4)]
        fresh = generator.random() < 0.3  # equal names that are other objects, and die at once
        for _ in range(generator.integers(1, 6)):
            drawn = [convert(v) for v in generator.integers(-3, 4, len(chosen)) / 0.7]
            names = [f"{name}" if fresh and isinstance(name, str) else name for name in chosen]
            rows.append(dict(zip(names, drawn, strict=True)))
            if generator.random() < 0.3:
                rows.append(dict(list(rows[-1].items())[: len(chosen) // 2]))
    return rows


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hash_bits", [None, 3, 18])
def test_remembered_names_change_nothing(n_classes: int, hash_bits: int | None) -> None:
    """Rows with the names of the row before take a shorter way, to the same bits."""
    for seed in range(5):
        rows = stream_of_layouts(seed)
        known = range(n_classes)
        quick = OnlineLearner("pa1", classes=known, hash_bits=hash_bits)
        plain = OnlineLearner("pa1", classes=known, hash_bits=hash_bits)
        for number, row in enumerate(rows):
            label = int(np.random.default_rng(number).integers(n_classes))
            ahead = rows[(number + 7) % len(rows)]  # has names that are not known yet
            assert quick.predict_one(ahead) == plain.predict_one(Unusual(ahead))
            quick.learn_one(row, label)
            plain.learn_one(Unusual(row), label)
        assert same_model(quick.model_, plain.model_)


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1 << 2000, None])
def test_names_that_are_not_known_have_to_be_numbers(value: Any) -> None:
    """A new name counts for nothing in a prediction, and what its value is matters nonetheless."""
    learner = OnlineLearner(classes=["x", "y"])
    for label in "xyxy":
        learner.learn_one({"a": 1.0, "b": 2}, label)
    row = {"a": 1.0, "b": 2.0}
    expected = [learner.predict_one(row) for _ in range(3)]
    assert [learner.predict_one(row | {"new": 5, 9: True}) for _ in range(3)] == expected
    assert learner.predict_one(row | {"new": "text"}) == expected[0]
    with pytest.raises(InputError, match="Feature 'new' of the row"):
        learner.predict_one(row | {"new": value})
    assert learner.predict_one(row) == expected[0]


@pytest.mark.parametrize("form", [dict, list])
@pytest.mark.parametrize("known", [(), ("a", "b")])
def test_a_refused_row_adds_no_class(form: Any, known: Any) -> None:
    """A row with a NaN changes nothing: no class, no kind of rows, no weights."""

    def row(*values: float) -> Any:
        return dict(zip("xyz", values, strict=False)) if form is dict else list(values)

    learner = OnlineLearner("arow", classes=known)
    for _ in range(2):
        with pytest.raises(InputError, match="it must be a finite number"):
            learner.learn_one(row(1.0, np.nan, 2.0), "new")
        assert learner.classes == list(known)
    other = OnlineLearner("arow", classes=known)
    for k, label in enumerate("abab"):
        for one in (learner, other):
            one.learn_one(row(1.0, k), label)
        with pytest.raises(InputError, match="it must be a finite number"):
            learner.learn_one(row(np.nan, 1.0), "late")
    assert learner.classes == ["a", "b"]
    assert np.array_equal(learner.model_.weights, other.model_.weights)
    assert learner.model_.count == other.model_.count
    with pytest.raises(WeightOverflowError, match="which is not learned"):
        learner.learn_one(row(1e308, 1e308), "late")
    assert learner.classes == ["a", "b"]
    assert learner.predict_one(row(1.0, 3.0)) in {"a", "b"}


def measurements() -> tuple[Any, list[str]]:
    """Return rows whose features have very different scales."""
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], [f"wine {label}" for label in y[order]]


def scaled_by_hand(X: Any) -> Any:
    """Return each row by the mean and deviation of the rows up to it."""
    rows = []
    for n in range(1, len(X) + 1):
        mean, deviation = X[:n].mean(axis=0), X[:n].std(axis=0)
        varied = X[:n].min(axis=0) < X[:n].max(axis=0)
        rows.append(np.where(varied, (X[n - 1] - mean) / np.where(varied, deviation, 1.0), 0.0))
    return np.array(rows)


def test_running_scale() -> None:
    """Rows are scaled by what came before them, whether they are dicts or arrays."""
    X, y = measurements()
    names = [f"feature {j}" for j in range(X.shape[1])]
    array, named, by_hand = (OnlineLearner(scale=k < 2) for k in range(3))
    for x, z, label in zip(X, scaled_by_hand(X), y, strict=True):
        array.learn_one(x, label)
        named.learn_one(dict(zip(names, x.tolist(), strict=True)), label)
        by_hand.learn_one(z, label)
    weights = by_hand.model_.weights
    np.testing.assert_allclose(array.model_.weights, weights, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(named.model_.weights, weights, rtol=1e-6, atol=1e-9)


def test_scaling_helps_and_the_default_rule_is_the_better_one() -> None:
    """On rows of unequal scales AROW errs less than the perceptron, and scaled far less."""
    X, y = measurements()
    wrong = {}
    for name, learner in {
        "default": OnlineLearner(),
        "perceptron": OnlineLearner("perceptron"),
        "scaled": OnlineLearner(scale=True),
    }.items():
        wrong[name] = 0
        for x, label in zip(X, y, strict=True):
            wrong[name] += learner.predict_one(x) != label
            learner.learn_one(x, label)
    assert wrong["scaled"] < 0.1 * len(y) < 0.45 * len(y) < wrong["perceptron"]
    assert wrong["scaled"] < wrong["default"] < wrong["perceptron"]


def test_a_scaled_learner_is_saved_and_goes_on(tmp_path: Path) -> None:
    """The model scales as the learner did last, and ``from_model`` goes on as if nothing was."""
    X, y = measurements()
    rows = [{"a": x[0], "b": x[12], "kind": "red" if x[5] > 2 else "white"} for x in X]
    whole, part = OnlineLearner(scale=True), OnlineLearner(scale=True)
    for k, (row, label) in enumerate(zip(rows, y, strict=True)):
        whole.learn_one(row, label)
        part.learn_one(row, label)
        if k == 80:
            rosenblatt.save(part, tmp_path / "wine.model")
            part = OnlineLearner.from_model(tmp_path / "wine.model")
    assert np.array_equal(part.model_.weights, whole.model_.weights)
    clf = whole.to_estimator()
    names = [term.name for term in rosenblatt.explain(clf, [13.0, 500.0, 1.0, 0.0]).terms]
    assert {"a", "b"} <= set(names)
    first = [name.partition("=")[2] for name in whole.model_.encoding["names"][2:]]  # type: ignore[index]
    table = [[r["a"], r["b"], *(float(r["kind"] == kind) for kind in first)] for r in rows]
    assert clf.predict(table).tolist() == [whole.predict_one(row) for row in rows]
    before = part.model_
    with pytest.raises(InputError, match="it must be a finite number"):
        part.learn_one({"a": np.nan, "b": 1.0}, y[0])
    with pytest.raises(InputError, match="too large to be scaled; the row is not learned"):
        part.learn_one({"a": 1e308, "b": 1.0, "new": 1.0}, "wine 9")
    assert part.classes == whole.classes
    after = part.model_
    assert np.array_equal(after.encoding_arrays["centre"][:2], before.encoding_arrays["centre"][:2])
    with pytest.raises(InputError, match="cannot scale features that share a number"):
        OnlineLearner(scale=True, hash_bits=8)


def tagged_rows(n_rows: int) -> tuple[NDArray[Any], list[set[str]]]:
    """Return rows of whole numbers and their labels, which come up one after the other."""
    generator = np.random.default_rng(11)
    X = generator.integers(-3, 4, (n_rows, 5)).astype(float)
    tags = [{tag for tag in "abcd" if generator.random() < 0.4} for _ in X]
    for k, tag in enumerate("abcd"):  # no label at first
        tags[: 2 + 3 * k] = [known - {tag} for known in tags[: 2 + 3 * k]]
    return X, tags


@pytest.mark.parametrize("goal", ["each", "ranking"])
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("rule", RULES)
def test_several_labels_equal_partial_fit(rule: str, memory: str, goal: str) -> None:
    """Weights, averages, variances and labels are those of the classifier, row by row."""
    if goal == "ranking" and RULES[rule].order == 2:
        with pytest.raises(InputError, match=r"'ranking'.* needs a first-order rule"):
            OnlineLearner(rule, goal=goal)
        return
    X, tags = tagged_rows(50)
    online, named = (OnlineLearner(rule, memory=memory, goal=goal) for _ in range(2))
    clf = MultilabelClassifier(rule=rule, memory=memory, goal=goal)
    for x, labels in zip(X, tags, strict=True):
        online.learn_one(x, labels)
        named.learn_one({f"x{k}": value for k, value in enumerate(x)}, tuple(labels))
        clf.partial_fit(x[None], [labels])
    assert same_model(online.model_, clf.model_)
    assert same_model(named.model_, clf.model_)
    assert [tuple(sorted(online.predict_one(x))) for x in X] == clf.predict_labels(X)
    scores = [[*online.scores_one(x).values()] for x in X]
    assert np.array_equal(scores, clf.decision_function(X))
    loaded: Any = online.to_estimator()
    assert loaded.goal == goal
    assert loaded.predict_labels(X) == clf.predict_labels(X)


def test_each_label_is_a_perceptron_of_its_own() -> None:
    """A label learns as in plain lists, from the first row that has it."""
    X, tags = tagged_rows(80)
    online = OnlineLearner("perceptron", memory="last")
    for x, labels in zip(X, tags, strict=True):
        online.learn_one(x, labels)
    weights = dict(zip(online.classes, online.model_.weights.tolist(), strict=True))
    for tag in "abcd":
        first = next(k for k, labels in enumerate(tags) if tag in labels)
        rows, sides = X[first:].tolist(), [1 if tag in labels else -1 for labels in tags[first:]]
        learned = reference.train_binary(rows, sides, reference.perceptron(), [range(len(rows))])
        assert learned.w == weights[tag]


def test_the_first_row_decides_between_a_class_and_labels() -> None:
    """What has one class a row refuses sets, and the other way round; a refused row decides not."""
    tags, classes = OnlineLearner(classes=["a", "b", "c"]), OnlineLearner()
    with pytest.raises(InputError, match="must be a finite number"):
        tags.learn_one({"x": np.nan}, "a")
    with pytest.raises(InputError, match="must be a finite number"):
        tags.learn_one({"x": np.nan}, {"a"})
    assert tags.predict_one({"x": 1.0}) is None
    tags.learn_one({"x": 1.0}, ["c", "a", "a"])
    tags.learn_one({"x": -1.0}, frozenset())
    classes.learn_one({"x": 1.0}, "a")
    assert tags.predict_one({"x": 1.0}) == {"a", "c"}
    assert tags.predict_one({"x": -1.0}) == set()
    before = tags.model_.weights
    with pytest.raises(InputError, match="'a': rows may have several labels; give a set, list"):
        tags.learn_one({"x": 1.0}, "a")
    with pytest.raises(InputError, match="another type than the classes"):
        tags.learn_one({"x": 1.0}, {"d", 7})
    unusable: list[Any] = [[0.5], [["a"]], [{"a": 1}], [None]]
    for odd in unusable:
        with pytest.raises(InputError, match="A class must be text, a whole number or a bool"):
            tags.learn_one({"x": 1.0}, odd)
    with pytest.raises(InputError, match="A class must be text, a whole number or a bool"):
        classes.learn_one({"x": 1.0}, {"a": 1})
    with pytest.raises(InputError, match=r"each row has had one class; .* with goal="):
        classes.learn_one({"x": 1.0}, {"a"})
    with pytest.raises(InputError, match="rows may have several labels"):
        OnlineLearner(goal="each").learn_one({"x": 1.0}, "a")
    assert np.array_equal(tags.model_.weights, before)
    assert tags.classes == ["a", "b", "c"]


def test_one_label_and_none_are_examples() -> None:
    """A row without labels counts before any label is known, and one label needs no rival."""
    online = OnlineLearner("perceptron", goal="each")
    for x, labels in [([1.0, 2.0], set()), ([2.0, 1.0], {"a"}), ([1.0, 1.0], set())]:
        online.learn_one(x, labels)
        if len(online.classes):
            assert online.predict_one(x) <= {"a"}
        else:
            assert online.predict_one(x) == set()
            assert online.scores_one(x) == {}
    assert online.n_rows == 3
    assert online.model_.weights.shape == (1, 3)
    assert online.model_.count == 4


@pytest.mark.parametrize("way", ["estimator", "file", "online"])
def test_several_labels_go_on_elsewhere(way: str, tmp_path: Path) -> None:
    """Thresholds stay with the labels that have one; a new label has the threshold 0."""
    X, tags = tagged_rows(400)
    clf: Any = MultilabelClassifier().fit(X, tags)
    path = tmp_path / "tags.model"
    rosenblatt.save(OnlineLearner.from_model(clf) if way == "online" else clf, path)
    learner = OnlineLearner.from_model(clf if way == "estimator" else path)
    assert clf.thresholds_.any()
    assert [tuple(sorted(learner.predict_one(x))) for x in X] == clf.predict_labels(X)
    for x, labels in zip(X[:9], tags, strict=False):
        learner.learn_one(x, labels | {"aa"})
        clf.partial_fit(x[None], [labels | {"aa"}])
    assert clf.classes_.tolist() == learner.classes == ["a", "aa", "b", "c", "d"]
    assert [tuple(sorted(learner.predict_one(x))) for x in X] == clf.predict_labels(X)
    assert np.array_equal(learner.model_.thresholds, clf.model_.thresholds)
    found, known = learner.model_, clf.model_
    record = replace(found.record, outcome=known.outcome)
    assert same_model(replace(found, record=record), known)


def test_several_labels_are_scaled_and_hashed() -> None:
    """Running scales and hashed names work as with one class a row."""
    X, tags = tagged_rows(60)
    scaled, by_hand = OnlineLearner("pa1", scale=True), OnlineLearner("pa1")
    hashed, named = OnlineLearner("pa1", hash_bits=16), OnlineLearner("pa1")
    for x, z, labels in zip(X, scaled_by_hand(X), tags, strict=True):
        scaled.learn_one(x, labels)
        by_hand.learn_one(z, labels)
        row = {f"x{k}": value for k, value in enumerate(x)}
        hashed.learn_one(row, labels)
        named.learn_one(row, labels)
        assert hashed.predict_one(row) == named.predict_one(row)
    assert np.allclose(scaled.model_.weights, by_hand.model_.weights, rtol=1e-9)
    assert repr(hashed) == "OnlineLearner('pa1', memory='average', C=0.3, goal='each')"


def test_scores_of_classes() -> None:
    """Two classes have one score with either sign; without a rival it is 0."""
    learner = OnlineLearner("perceptron", memory="last")
    learner.learn_one({"x": 2.0}, "a")
    assert learner.scores_one({"x": 1.0}) == {"a": 0.0}
    learner.learn_one({"x": -1.0}, "b")
    assert learner.scores_one({"x": 1.0}) == {"a": 0.0, "b": 0.0}
    assert learner.scores_one({"x": 2.0}) == {"a": 1.0, "b": -1.0}
    with pytest.raises(InputError, match="must be a finite number"):
        learner.scores_one({"x": np.inf})
