"""A model as ONNX: checked by onnx, run by onnxruntime, equal to ours."""

import sys
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt import AveragedPerceptron, PassiveAggressiveClassifier, Perceptron
from rosenblatt.errors import InputError
from rosenblatt.estimators.storage import save
from rosenblatt.models.export import to_onnx
from rosenblatt.models.file import read
from rosenblatt.models.model import Model
from tests.estimators.test_fit import quiet_fit
from tests.examples import tries
from tests.models.models import example, linear

LABELS: list[tuple[Any, ...]] = [
    ("no", "yes"),
    ("a", "b", "ß", "日本"),
    (-1, 1),
    (0, 3, 2**62),
    (0.5, 2.5),
    (0, 0.5, 1),
    (0, 10**20),
    (False, True),
    ("alone",),
]


def run(model: Model, X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels and scores as onnxruntime computes them."""
    data = to_onnx(model)
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    label, scores = session.run(["label", "scores"], {"X": X})
    return label, scores


def plain_scores(model: Model, row: list[float]) -> list[float]:
    """Return the activations of a row, by plain sums."""
    found = []
    for vector in model.deciding_weights.tolist():
        total = 0.0
        for x, w in zip(row, vector, strict=False):
            total += x * w
        found.append(total + vector[-1])
    return found


def plain_label(model: Model, scores: list[float]) -> Any:
    """Return the label that the conventions give, zero and ties included."""
    positive = model.options.get("zero") == "positive"
    if len(model.classes) == 2:
        return model.classes[scores[0] > 0 or (positive and scores[0] == 0)]
    ties = [k for k, score in enumerate(scores) if score == max(scores)]
    return model.classes[ties[-1 if positive else 0]]


@tries(60)
@given(
    st.sampled_from(LABELS),
    st.sampled_from(["mistake", "negative", "positive"]),
    st.integers(0, 6),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_whole_numbers_are_equal(
    classes: Any, zero: str, n_features: int, seed: int, averaged: bool
) -> None:
    """On whole numbers labels and scores are ours exactly, with many zeros and ties among them."""
    generator = np.random.default_rng(seed)
    shape = (1 if len(classes) == 2 else len(classes), n_features + 1)
    weights = generator.integers(-2, 3, shape).astype(float)
    ledger = generator.integers(-2, 3, shape) * 4.0 if averaged else None
    model = linear("X", {"zero": zero}, classes, weights, ledger, count=4)
    X = generator.integers(-2, 3, (20, n_features)).astype(float)
    label, scores = run(model, X)
    expected = [plain_scores(model, row) for row in X.tolist()]
    assert scores.reshape(20, -1).tolist() == expected
    assert scores.shape == ((20,) if len(classes) == 2 else (20, len(classes)))
    assert label.tolist() == [plain_label(model, row) for row in expected]


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize(
    "learner",
    [Perceptron(max_iter=3), AveragedPerceptron(), PassiveAggressiveClassifier(zero="positive")],
)
def test_trained_models(learner: Any, n_classes: int, tmp_path_factory: Any) -> None:
    """Trained models predict as they do here; scores differ by the rounding of sums alone.

    onnxruntime adds the products in another order than our kernels.
    """
    generator = np.random.default_rng(n_classes)
    X = generator.standard_normal((300, 50)) * 10.0 ** generator.integers(-3, 4, 50)
    y = np.array(list("abcdefg"))[generator.integers(0, n_classes, 300)]
    clf = quiet_fit(learner, X, y)
    path = tmp_path_factory.mktemp("onnx") / "m.model"
    save(clf, path)
    label, scores = run(read(path), X)
    assert label.tolist() == clf.predict(X).tolist()
    size = np.abs(X) @ np.abs(clf.coef_.T) + np.abs(clf.intercept_)  # what rounding goes by
    ours = clf.decision_function(X)
    assert (np.abs(scores - ours).reshape(300, -1) <= 1e-12 * size).all()
    np.testing.assert_allclose(scores, ours, rtol=1e-9)


def test_what_it_says_of_itself() -> None:
    """The graph has the format's names, what made it, and what its input must be."""
    proto = onnx.load_from_string(to_onnx(example()))
    assert [value.name for value in proto.graph.input] == ["X"]
    assert [value.name for value in proto.graph.output] == ["label", "scores"]
    assert proto.producer_name == "rosenblatt"
    assert {entry.key: entry.value for entry in proto.metadata_props} == {
        "learner": "AveragedPerceptron",
        "classes": '["a","b"]',
        "feature_names": '["x0","x1","x2","x3"]',
    }
    assert "one column a feature" in proto.doc_string
    encoded = onnx.load_from_string(to_onnx(example(encoding={"columns": []})))
    assert "X is the matrix of encoded features" in encoded.doc_string


def test_no_rows() -> None:
    """A batch without rows has no labels."""
    label, scores = run(example(), np.zeros((0, 4)))
    assert len(label) == len(scores) == 0


def test_without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where onnx is missing, the error says how to get it."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"needs onnx: pip install "):
        to_onnx(example())


def test_what_onnx_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights beyond the format's limit, and classes that are no text, are refused."""
    with pytest.raises(InputError, match="The model is not a usable model: its classes must be"):
        to_onnx(example(classes=()))
    with pytest.raises(InputError, match=r"ONNX has UTF-8 text only; the classes hold '\\udce9'\."):
        to_onnx(example(classes=("a\udce9", "b")))
    monkeypatch.setattr("rosenblatt.models.export.LARGEST", 39)
    with pytest.raises(InputError, match="ONNX holds at most 2 GB; this model's weights are 40"):
        to_onnx(example())
