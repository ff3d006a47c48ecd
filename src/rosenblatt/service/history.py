"""The model at any version: its creation, the newest base or snapshot, and the examples since."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from rosenblatt.errors import InputError
from rosenblatt.models.feature_spaces import (
    ArrayFeatures,
    Features,
    FeatureSpace,
    HashedFeatures,
    NamedFeatures,
    NumberedFeatures,
)
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Class, Model
from rosenblatt.models.online import RUNNING, names_of
from rosenblatt.service import requests
from rosenblatt.service.columns import ColumnFeatures
from rosenblatt.service.journal import LEARNED, Event, JournalReader, ModelRecord
from rosenblatt.service.learner import ServedLearner
from rosenblatt.service.limits import Limits, RequestError
from rosenblatt.service.requests import ModelSpec, label_of
from rosenblatt.service.snapshots import Snapshots, model_from

SAID_BY_FILES = ("rule", "memory", "parameters", "zero", "fit_intercept", "scale", "classes")
TOGETHER = 1000  # examples that are replayed in one pass
encode = msgspec.json.Encoder(order="deterministic").encode
_features = msgspec.json.Decoder(requests.Features)
_label = msgspec.json.Decoder(requests.Label)
_spec = msgspec.json.Decoder(ModelSpec)


def text_of(value: object) -> str:
    """Return a value as the journal holds it: JSON, names in order, so that equal is equal."""
    return encode(value).decode()


def label_from(text: str | None) -> Class:
    """Return the label that the journal holds as text."""
    return label_of(_label.decode(text or "null"))


def example_of(event: Event) -> tuple[Features, Class]:
    """Return features and label of an example of the journal."""
    return _features.decode(event.features or "{}"), label_from(event.label)


def decoded(event: Event) -> dict[str, Any]:
    """Return the columns of an event that hold JSON, decoded."""
    found: dict[str, Any] = {"features": event.features and _features.decode(event.features)}
    for name in ("label", "predicted", "rival"):
        text = getattr(event, name)
        found[name] = None if text is None else label_from(text)
    return found | {"note": event.note and msgspec.json.decode(event.note)}


def spec_from(text: str) -> ModelSpec:
    """Return how a model was created."""
    return _spec.decode(text)


def new_learner(
    spec: ModelSpec, limits: Limits, file: bytes | Model | None = None
) -> ServedLearner:
    """Return a new model, or that of a base or snapshot; raise InputError for an invalid spec."""
    model = model_from(file) if isinstance(file, bytes) else file
    if model is not None and spec.file is not None:
        return _of_file(spec, limits, model)
    learner = Learner(
        spec.rule,
        spec.memory,
        dict(spec.parameters),
        shuffle=False,
        zero=spec.zero,
        fit_intercept=spec.fit_intercept,
    )
    space = _space(spec, limits, model)
    if model is not None:
        return ServedLearner.of_model(model, learner, space, limits.classes)
    classes = [label_of(label) for label in spec.classes]
    if len({type(label) if isinstance(label, str | bool) else float for label in classes}) > 1:
        raise InputError("classes must be all words, all numbers or all truth values.")
    if len(classes) > limits.classes:
        raise InputError(f"classes has {len(classes)} labels; a model may have {limits.classes}.")
    return ServedLearner(learner, space, classes, limits.classes, scale=spec.scale)


def _space(spec: ModelSpec, limits: Limits, model: Model | None) -> FeatureSpace:
    wanted, limit = spec.features, limits.model_features
    bits = wanted.bits if wanted.kind == "hashed" else 0
    sizes = {"bits": bits, "limit": wanted.limit or 0, "n_features": wanted.n_features}
    for name, number in sizes.items():
        most = limits.hash_bits if name == "bits" else limit
        if number > most:
            raise InputError(f"{name} must be at most {most:,}; got {number:,}.")
    if bits:
        return HashedFeatures(bits)
    if wanted.kind == "array":
        return ArrayFeatures(wanted.n_features if model is None else model.n_features)
    names = () if model is None else names_of(model) or ()
    return NamedFeatures(names, wanted.limit or limit, wanted.when_full)


def _of_file(spec: ModelSpec, limits: Limits, model: Model) -> ServedLearner:
    """Return a learner that goes on from the model file of its creation."""
    model.check_learner("The model file")
    if model.voted or model.is_kernel:
        raise InputError(
            f"A {model.learner!r:.60} cannot be served: it keeps its rows. Train a linear model, "
            "for example with memory='average'."
        )
    if model.n_features > limits.model_features:
        raise InputError(
            f"The model has {model.n_features:,} features; this service takes "
            f"{limits.model_features:,}."
        )
    learner = model.how
    kind = None if model.encoding is None else model.encoding.get("kind")
    space: FeatureSpace
    if kind in ("table", "conjunctions"):
        space = ColumnFeatures(model)
    elif kind == "scaled" and RUNNING not in model.encoding_arrays:
        msg = "A model that scales its features can be served if an OnlineLearner trained it."
        raise InputError(msg)
    elif model.encoding is not None and kind != "scaled":
        zero_based = bool(model.encoding["zero_based"])
        space = NumberedFeatures(model.n_features, zero_based=zero_based)
    elif spec.features.kind == "names" and (names := names_of(model)) is not None:
        limit = spec.features.limit or limits.model_features
        space = NamedFeatures(names, limit, spec.features.when_full)
    else:
        space = ArrayFeatures(model.n_features, names_of(model))
    served = ServedLearner.of_model(model, learner, space, limits.classes)
    served.class_weights = model.class_weights()
    return served


def check_spec(spec: ModelSpec) -> None:
    """Raise InputError where a specification asks for what would have no effect."""
    plain, features = ModelSpec(), spec.features
    if spec.file is not None:
        for name in SAID_BY_FILES:
            if getattr(spec, name) != getattr(plain, name):
                msg = f"{name} has no effect with file: the model file says it. Leave it out."
                raise InputError(msg)
        if features.kind not in ("", "names"):
            msg = f"features.kind must be names or left out with file; got {features.kind}."
            raise InputError(msg)
    if spec.scale and features.kind == "hashed":
        raise InputError("A model cannot scale features that share a number: leave scale out.")
    used = {"hashed": {"bits"}, "array": {"n_features"}}.get(features.kind, {"limit", "when_full"})
    if spec.file is not None and not features.kind:
        used = set()
    for name in ("limit", "when_full", "bits", "n_features"):
        if name not in used and getattr(features, name) != getattr(plain.features, name):
            of = f"features of kind {features.kind or 'names'}" if spec.file is None else "file"
            raise InputError(f"features.{name} has no effect with {of}. Leave it out.")


def at_version(
    reader: JournalReader,
    snapshots: Snapshots | None,
    record: ModelRecord,
    version: int,
    limits: Limits,
) -> ServedLearner:
    """Return the model at a version, bit for bit; raise where there is none, or no longer."""
    head = reader.head(record.model)
    if version > head:
        raise RequestError(404, f"The model has no version {version} yet; the newest is {head}.")
    if version < record.oldest:
        raise RequestError(
            410,
            f"Version {version} held examples that have been forgotten; the oldest that can be "
            f"asked for is {record.oldest}.",
        )
    start, file = reader.base(record.model, version)
    made = None if snapshots is None else snapshots.newest(record.model, version, start)
    start, model = made or (start, file)
    served = new_learner(spec_from(record.spec), limits, model)
    learned = reader.events(record.model, start, version, f"kind = {LEARNED}")
    for some in in_parts(learned, TOGETHER):
        served.fold([example_of(event) for event in some])
    return served


def in_parts(events: Iterable[Event], size: int) -> Iterator[list[Event]]:
    """Yield events in lists of at most so many."""
    rest = iter(events)
    while some := list(islice(rest, size)):
        yield some
