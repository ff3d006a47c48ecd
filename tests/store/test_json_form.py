"""A model as JSON: exact, readable, and careful with what people change."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from rosenblatt.data.encoding import SvmlightEncoding
from rosenblatt.errors import InputError
from rosenblatt.models.store import Model, from_json, read, to_json
from tests.examples import tries
from tests.store.models import assert_same, example, models


@tries(50)
@given(models())
def test_what_goes_in_comes_out(model: Model) -> None:
    """Every field comes back, with its types and to the last bit, but for the bits of a NaN."""
    assert_same(from_json(to_json(model)), model, nan_bits=False)


@tries(20)
@given(models())
def test_a_command_reads_either(tmp_path_factory: pytest.TempPathFactory, model: Model) -> None:
    """``read`` takes the JSON form as well, also as an editor of Windows leaves it."""
    path = tmp_path_factory.mktemp("json") / "m.json"
    text = to_json(model)
    path.write_bytes(text.encode())
    assert_same(read(path), model, nan_bits=False)
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert_same(read(path), model, nan_bits=False)


TEXT = """{
  "format": "rosenblatt",
  "format_version": 1,
  "library_version": "VERSION",
  "learner": "AveragedPerceptron",
  "options": {"zero": "mistake", "C": {"$float": "inf"}},
  "classes": ["no", "yes"],
  "n_features": 3,
  "averaged": true,
  "count": 4,
  "outcome": {"stop_reason": "converged"},
  "training": {},
  "verdict": null,
  "calibration": null,
  "spread": null,
  "history": [
    {"pass_": 1, "mistakes": 2, "updates": 2, "loss": 0.5, "seconds": 0.1},
    {"pass_": 2, "mistakes": 0, "updates": 0, "loss": 0.0, "seconds": 0.1}
  ],
  "encoding": null,
  "vectors": [
    {
      "class": "yes",
      "against": "no",
      "bias": {"weight": -0.25, "last": -1.0, "ledger": -3.0},
      "weights": [
        {"feature": 0, "name": "größe", "weight": 2.0, "last": 2.0, "ledger": 0.0},
        {"feature": 2, "name": "width", "weight": -1.75, "last": 0.0, "ledger": 7.0}
      ]
    }
  ],
  "feature_names": ["größe", "length", "width"],
  "encoding_arrays": {"words": {"dtype": "uint8", "shape": [7], "text": "a\\nbé c"}},
  "arrays": {"steps": {"dtype": "int8", "shape": [2], "values": [1, -1]}}
}
"""


def shown() -> Model:
    """Return the model of that text."""
    record = {"updates": 2, "loss": 0.5, "seconds": 0.1}
    return Model(
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
    """One line for each weight, with its name and its class, and one for each pass."""
    text = to_json(shown())
    version = json.loads(text)["library_version"]
    assert text == TEXT.replace("VERSION", version)


def test_several_classes() -> None:
    """Each class has its vector, and weights that are zero are left out."""
    weights = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [-0.0, 3.5, 0.0]])
    model = Model("Perceptron", {}, (1, 2, 5), weights)
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
    """Where the encoding names the features, its names are shown, and need not be read."""
    encoding = SvmlightEncoding(zero_based=False, n_features=4).as_json()
    model = example(encoding=encoding, feature_names=None)
    entries = json.loads(to_json(model))["vectors"][0]["weights"]
    assert [entry["name"] for entry in entries] == [f"feature {k}" for k in (1, 2, 3, 4)]
    assert_same(from_json(to_json(model)), model)
    without = example(encoding=None, feature_names=None)
    assert "name" not in json.loads(to_json(without))["vectors"][0]["weights"][0]


def test_a_weight_may_be_changed() -> None:
    """What a person writes into a model without an average is what it then predicts with."""
    model = example(ledger=None)
    form = json.loads(to_json(model))
    form["vectors"][0]["weights"][0] |= {"weight": 7}  # an integer is a number too
    form["vectors"][0]["bias"]["weight"] = 0.5
    changed = from_json(json.dumps(form, sort_keys=True))
    assert changed.deciding_weights[0, 0] == 7
    assert changed.deciding_weights[0, -1] == 0.5


def test_an_average_beyond_float64() -> None:
    """What has no finite average has no form for people, and says so."""
    weights = np.array([[1e308, 0.0]])
    with pytest.raises(InputError, match="its average is beyond the range of float64; scale"):
        to_json(Model("AveragedPerceptron", {}, (0, 1), weights, -weights))


def test_half_of_a_surrogate_pair() -> None:
    """A string that is no text, as a file name in another encoding, is still written as UTF-8."""
    model = example(training={"files": ["caf\udce9.csv"]})
    assert from_json(to_json(model).encode().decode()).training == model.training


BAD: list[tuple[Any, str]] = [
    (lambda f: f.pop("learner"), "it has no 'learner'"),
    (lambda f: f.update(lerner="x"), "it has an entry 'lerner', which means nothing"),
    (lambda f: f.update(count=0), "'count' must be an integer of at least 1; got 0"),
    (lambda f: f.update(count="4"), "'count' must be of type int; got '4'"),
    (lambda f: f.update(classes=["no", "yes", "zoo"]), "3 classes need 3 vectors; it has 1"),
    (lambda f: f.update(classes=["no", "ja"]), "vector 1 must be of class 'ja'; got 'yes'"),
    (lambda f: f.update(n_features=2), "it has 2 features and 3 names for them"),
    (lambda f: f.update(n_features=10**12), "1 × 1,000,000,000,001 weights are more than JSON is"),
    (lambda f: f.update(spread={"n": 1}), "it has no 'low'"),
    (
        lambda f: f.update(calibration={"slope": 1, "offset": 10**400, "n_rows": 1}),
        "beyond the range of float64",
    ),
    (
        lambda f: f.update(calibration={"slope": 1, "offset": 1, "n_rows": 1, "x": 1}),
        "its calibration has an entry 'x', which means nothing",
    ),
    (lambda f: f.update(options={"$x": 1}), "the key '$x' begins with one $; write two"),
    (lambda f: f.update(options={"C": {"$float": "1"}}), '"$float" must stand alone, with "inf"'),
    (
        lambda f: f["vectors"][0]["weights"][0].update(weight=9),
        "the weight of feature 0 is 9.0, and last − ledger/count is 2.0; change last and ledger",
    ),
    (
        lambda f: f["vectors"][0]["weights"][0].update(name="size"),
        "feature 0 is called 'size' in 'vectors' and 'größe' in 'feature_names'",
    ),
    (
        lambda f: f["vectors"][0]["weights"].reverse(),
        "features must ascend from 0 to at most 2; got 0",
    ),
    (lambda f: f["vectors"][0]["bias"].update(wait=9), "a weight has an entry 'wait', which means"),
    (lambda f: f["vectors"][0]["bias"].update(last="x"), "'last' must be of type float or int"),
    (lambda f: f["vectors"][0]["bias"].update(last=10**400), "beyond the range of float64"),
    (
        lambda f: f["arrays"]["steps"].update(values=[1, 300]),
        "'steps' holds something else than numbers of type int8",
    ),
    (
        lambda f: f["arrays"]["steps"].update(shape=[3]),
        "'steps' does not hold the 3 numbers of its shape",
    ),
    (
        lambda f: f["arrays"]["steps"].update(dtype="object"),
        "the dtype and shape of 'steps' mean no array of numbers",
    ),
]


@pytest.mark.parametrize(("change", "clause"), BAD)
def test_what_does_not_fit(change: Any, clause: str) -> None:
    """The place that does not fit is named."""
    form = json.loads(TEXT)
    change(form)
    with pytest.raises(InputError) as told:
        from_json(json.dumps(form))
    assert str(told.value).startswith(f"The JSON text is not a usable model: {clause}") or (
        clause in str(told.value)
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", 'is not a rosenblatt model: its JSON does not say "format": "rosenblatt".'),
        ('{"a": 1}', 'is not a rosenblatt model: its JSON does not say "format": "rosenblatt".'),
        ("{\n'a'}", "is not a usable model: line 2, column 1 is not JSON: Expecting property"),
        ('{"a": 1, "a": 2}', "is not a usable model: the key 'a' stands twice in one place."),
        ('{"a": NaN}', 'is not a usable model: NaN is not JSON; write {"$float": "inf"}'),
        ('{"a": ' + "9" * 5000 + "}", "is not a usable model: a number in it has too many digits."),
        ('{"a": ' + "[" * 100_000, "is not a usable model: its JSON is nested too deeply."),
        (
            '{"format": "rosenblatt", "format_version": 3}',
            "was written by a newer version of rosenblatt (format 3; this one reads 1): upgrade",
        ),
        (
            '{"format": "rosenblatt", "format_version": "x"}',
            "is damaged: its format_version must be a number; got 'x'.",
        ),
    ],
)
def test_what_is_no_model(text: str, sentence: str, tmp_path: Path) -> None:
    """Other JSON, and text that is none, is told from a model, with the place of the fault."""
    with pytest.raises(InputError) as told:
        from_json(text)
    assert str(told.value).startswith(f"The JSON text {sentence}")
    if text.startswith("{"):
        (tmp_path / "m.json").write_text(text)
        with pytest.raises(InputError) as told:
            read(tmp_path / "m.json")
        assert str(told.value).startswith(f"{tmp_path / 'm.json'} {sentence}")
