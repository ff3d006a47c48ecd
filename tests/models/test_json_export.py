"""A model as JSON: exact and readable."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from rosenblatt.data.encoding import SvmlightEncoding
from rosenblatt.errors import InputError
from rosenblatt.models.export import to_json
from rosenblatt.models.file import read
from rosenblatt.models.model import Model
from tests.examples import tries
from tests.models.models import example, linear, models


def shown() -> Model:
    """Return the model of that text."""
    record = {"updates": 2, "loss": 0.5, "seconds": 0.1}
    return linear(
        learner="AveragedPerceptron",
        options={"zero": "mistake", "C": float("inf")},
        classes=("no", "yes"),
        weights=np.array([[2.0, 0.0, 0.0, -1.0]]),
        ledger=np.array([[0.0, 0.0, 7.0, -3.0]]),
        count=4,
        feature_names=("größe", "length", "width"),
        encoding_arrays={"words": np.frombuffer("a\nbé c".encode(), np.uint8)},
        history=(
            {"pass_": 1, "mistakes": 2} | record,
            {"pass_": 2, "mistakes": 0} | record | {"updates": 0, "loss": 0.0},
        ),
        outcome={"stop_reason": "converged"},
        arrays={"steps": np.array([1, -1], np.int8)},
    )


def test_it_is_laid_out_for_people() -> None:
    """Entries stand on lines of their own, in order, with letters as they are."""
    text = to_json(shown())
    assert text.startswith('{\n "format": "rosenblatt",\n "format_version": 1,\n')
    assert text.endswith("}\n")
    assert json.loads(text) == {
        "format": "rosenblatt",
        "format_version": 1,
        "library_version": json.loads(text)["library_version"],
        "learner": "AveragedPerceptron",
        "options": {"zero": "mistake", "C": {"$float": "inf"}},
        "classes": ["no", "yes"],
        "n_features": 3,
        "averaged": True,
        "variance": None,
        "count": 4,
        "outcome": {"stop_reason": "converged"},
        "training": {},
        "verdict": None,
        "calibration": None,
        "spread": None,
        "history": list(shown().history),
        "encoding": None,
        "vectors": [
            {
                "class": "yes",
                "against": "no",
                "bias": {"weight": -0.25, "last": -1.0, "ledger": -3.0},
                "weights": [
                    {"feature": 0, "name": "größe", "weight": 2.0, "last": 2.0, "ledger": 0.0},
                    {"feature": 2, "name": "width", "weight": -1.75, "last": 0.0, "ledger": 7.0},
                ],
            }
        ],
        "feature_names": ["größe", "length", "width"],
        "encoding_arrays": {"words": {"dtype": "uint8", "shape": [7], "text": "a\nbé c"}},
        "arrays": {"steps": {"dtype": "int8", "shape": [2], "values": [1, -1]}},
    }
    assert list(json.loads(text))[-4:] == ["vectors", "feature_names", "encoding_arrays", "arrays"]
    assert '"größe"' in text


def test_several_classes() -> None:
    """Each class has its vector, and weights that are zero are left out."""
    weights = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [-0.0, 3.5, 0.0]])
    model = linear("Perceptron", {}, (1, 2, 5), weights)
    assert json.loads(to_json(model))["vectors"] == [
        {"class": 1, "bias": {"weight": 2.0}, "weights": [{"feature": 0, "weight": 1.0}]},
        {"class": 2, "bias": {"weight": 0.0}, "weights": []},
        {
            "class": 5,
            "bias": {"weight": 0.0},
            "weights": [{"feature": 0, "weight": -0.0}, {"feature": 1, "weight": 3.5}],
        },
    ]


def test_names_of_an_encoding() -> None:
    """Where the encoding names the features, its names are shown."""
    encoding = SvmlightEncoding(zero_based=False, n_features=4).as_json()
    model = example(encoding=encoding, feature_names=None)
    entries = json.loads(to_json(model))["vectors"][0]["weights"]
    assert [entry["name"] for entry in entries] == [f"feature {k}" for k in (1, 2, 3, 4)]
    without = example(encoding=None, feature_names=None)
    assert "name" not in json.loads(to_json(without))["vectors"][0]["weights"][0]


def test_an_average_beyond_float64() -> None:
    """What has no finite average has no form for people, and says so."""
    weights = np.array([[1e308, 0.0]])
    with pytest.raises(InputError, match="its average is beyond the range of float64; scale"):
        to_json(linear("AveragedPerceptron", {}, (0, 1), weights, -weights))


def test_half_of_a_surrogate_pair() -> None:
    """A string that is no text, as a file name in another encoding, is still written as UTF-8."""
    model = example(training={"files": ["caf\udce9.csv"]})
    assert json.loads(to_json(model).encode())["training"] == model.training


@tries(50)
@given(models())
def test_every_model_has_a_form(model: Model) -> None:
    """Whatever a model holds, its JSON is strict and shows the weights that decide."""
    try:
        text = to_json(model)
    except InputError as error:
        assert "its average is beyond the range of float64" in str(error)  # noqa: PT017
        return
    form = json.loads(text, parse_constant=pytest.fail)
    assert form["classes"] == list(model.classes)
    assert len(form["vectors"]) == len(model.weights)
    for vector, weights in zip(form["vectors"], model.deciding_weights, strict=True):
        shown = {entry["feature"]: entry["weight"] for entry in vector["weights"]}
        assert [shown.get(k, 0.0) for k in range(model.n_features)] == weights[:-1].tolist()
        assert vector["bias"]["weight"] == weights[-1]


def test_it_is_not_read_back(tmp_path: Path) -> None:
    """JSON is no model file, and whoever takes it for one is told so."""
    for mark in (b"", b"\xef\xbb\xbf", b"\n  "):
        (tmp_path / "m.json").write_bytes(mark + to_json(example()).encode())
        with pytest.raises(InputError, match=r"m\.json is not a rosenblatt model: it is JSON"):
            read(tmp_path / "m.json")
