"""Models of every shape, drawn by Hypothesis, and what it means that two are the same."""

from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model, Spread
from rosenblatt.models.record import Record
from rosenblatt.models.tensors import TYPE_NAMES
from rosenblatt.models.weights import Weights
from rosenblatt.tasks import task_of
from rosenblatt.tasks.calibration import Calibration

words = st.text(max_size=8)
finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, 0.1, 1e308]),
)
dollars = st.sampled_from(["$", "$float", "$$float", "$x"])
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), words),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(words, dollars), inner, max_size=3)
    ),
    max_leaves=6,
)
objects = st.dictionaries(st.one_of(words, dollars), values, max_size=3)
classes = st.one_of(
    st.lists(words, min_size=1, max_size=5, unique=True),
    st.lists(st.one_of(st.integers(), finite), min_size=1, max_size=5, unique=True),
    st.just([False, True]),
).map(lambda found: tuple(sorted(found)))


@st.composite
def floats_of(draw: st.DrawFn, shape: tuple[int, ...], elements: Any = finite) -> NDArray[Any]:
    """Draw an array that is full, sparse or zero."""
    found = np.zeros(shape)
    share = draw(st.sampled_from([0.0, 0.2, 1.0]))
    flat = found.reshape(-1)
    for place in range(flat.size):
        if share == 1.0 or (share and place % 5 == 0):
            flat[place] = draw(elements)
    return found


@st.composite
def arrays(draw: st.DrawFn) -> NDArray[Any]:
    """Draw an array of any type that is stored."""
    dtype = draw(st.sampled_from(sorted(TYPE_NAMES, key=str)))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    if dtype.kind == "f":
        return draw(floats_of(shape, st.floats(width=16))).astype(dtype)
    n_bytes = int(np.prod(shape)) * dtype.itemsize
    raw = draw(st.binary(min_size=n_bytes, max_size=n_bytes))
    if dtype.kind == "b":
        return np.asarray(np.frombuffer(raw, np.uint8).reshape(shape) > 100)
    return np.frombuffer(raw, dtype).reshape(shape)


@st.composite
def models(draw: st.DrawFn, labels: Any = classes) -> Model:
    """Draw a model."""
    found = draw(labels)
    n_features = draw(st.sampled_from([0, 1, 2, 3, 7, 40]))
    shape = (1 if len(found) == 2 else len(found), n_features + 1)
    low, high, deviation = (draw(floats_of((n_features,), st.floats())) for _ in range(3))
    return linear(
        learner=draw(st.text(min_size=1, max_size=8)),
        options=draw(objects),
        classes=found,
        weights=draw(floats_of(shape)),
        ledger=draw(st.one_of(st.none(), floats_of(shape))),
        count=draw(st.integers(1, 2**63 - 1)),
        feature_names=draw(
            st.one_of(
                st.none(), st.lists(words, min_size=n_features, max_size=n_features).map(tuple)
            )
        ),
        encoding=draw(st.one_of(st.none(), objects)),
        encoding_arrays=draw(st.dictionaries(words, arrays(), max_size=2)),
        spread=draw(st.one_of(st.none(), st.just(Spread(low, high, deviation, 7)))),
        calibration=draw(
            st.one_of(st.none(), st.builds(Calibration, finite, finite, st.integers(0, 2**60)))
        ),
        history=tuple(draw(st.lists(objects, max_size=3))),
        outcome=draw(objects),
        training=draw(objects),
        verdict=draw(st.one_of(st.none(), objects)),
        arrays=draw(st.dictionaries(words, arrays(), max_size=2)),
    )


def assert_same(one: Any, two: Any, *, nan_bits: bool = True) -> None:
    """Assert that two models are the same, types and bits."""
    assert type(one) is type(two)
    if is_dataclass(one):
        for field in fields(one):
            if field.name == "_average":
                continue
            assert_same(getattr(one, field.name), getattr(two, field.name), nan_bits=nan_bits)
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        if not nan_bits and one.dtype.kind == "f":
            assert np.array_equal(np.isnan(one), np.isnan(two))
            one, two = np.nan_to_num(one, nan=0.0), np.nan_to_num(two, nan=0.0)
        assert one.tobytes() == two.tobytes()
    elif isinstance(one, dict):
        assert set(one) == set(two)
        for key in one:
            assert_same(one[key], two[key], nan_bits=nan_bits)
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(two)
        for first, second in zip(one, two, strict=True):
            assert_same(first, second, nan_bits=nan_bits)
    else:
        assert repr(one) == repr(two)  # tells 0.0 from −0.0 and lets NaN be NaN


def example(n_classes: int = 2, n_features: int = 4, **changes: Any) -> Model:
    """Return a small averaged model, with anything changed."""
    generator = np.random.default_rng(0)
    low, high, deviation = generator.random((3, n_features))
    shape = (1 if n_classes == 2 else n_classes, n_features + 1)
    parts: dict[str, Any] = {
        "learner": "AveragedPerceptron",
        "options": {"max_iter": 20, "zero": "mistake"},
        "classes": tuple("abcdefgh"[:n_classes]),
        "weights": generator.integers(-9, 9, shape).astype(float),
        "ledger": generator.integers(-9, 9, shape).astype(float),
        "count": 37,
        "feature_names": tuple(f"x{k}" for k in range(n_features)),
        "spread": Spread(low, high, deviation, 100),
        "calibration": Calibration(1.5, -0.25, 10),
        "history": ({"pass_": 1, "mistakes": 3, "loss": 1.5, "seconds": 0.25},),
        "outcome": {"stop_reason": "converged", "best_pass": 1},
    }
    return linear(**parts | changes)


def linear(
    learner: str,
    options: dict[str, Any],
    classes: tuple[Any, ...],
    weights: NDArray[Any],
    ledger: NDArray[Any] | None = None,
    variance: NDArray[Any] | None = None,
    count: int = 1,
    **parts: Any,
) -> Model:
    """Return a model of these weights by class, the bias last."""
    made_by = LearnerRecord.stored(learner, options, parts.pop("described", None))
    task = task_of(made_by.task, len(classes))
    machine = Weights.of_arrays(task, weights, ledger, variance, count)
    own = {field.name: parts.pop(field.name) for field in fields(Record) if field.name in parts}
    stored = StoredEncoding(parts.pop("encoding", None), parts.pop("encoding_arrays", {}))
    return Model(made_by, classes, machine, stored_encoding=stored, record=Record(**own), **parts)


def with_vectors(model: Model, **vectors: Any) -> Model:
    """Return a model with other vectors, by class; None: without them."""
    parts = {
        name: part for name, part in (model.state.vectors | vectors).items() if part is not None
    }
    return replace(model, machine=model.machine.linear.with_vectors(parts))


def with_list(model: Model, arrays: dict[str, NDArray[Any]]) -> Model:
    """Return a model that is written with these arrays in place of its own list of mistakes."""
    machine: Any = copy(model.machine)
    machine.arrays = lambda: arrays
    return replace(model, machine=machine)
