"""The model at any version: its creation, the newest base or snapshot, and the examples since."""

import hashlib
import io
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from rosenblatt.data.atomic import replacing
from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.models.feature_spaces import (
    ArrayFeatures,
    FeatureSpace,
    HashedFeatures,
    NamedFeatures,
    NumberedFeatures,
)
from rosenblatt.models.file import read_from, write_to
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.models.online_weights import RUNNING, names_of
from rosenblatt.models.tensors import input_errors
from rosenblatt.service import requests
from rosenblatt.service.columns import ColumnFeatures
from rosenblatt.service.journal import (
    LEARNED,
    SNAPSHOTS,
    Event,
    Journal,
    JournalReader,
    ModelRecord,
)
from rosenblatt.service.learner import Served, ServedLearner
from rosenblatt.service.limits import Limits, RequestError, no_model
from rosenblatt.service.requests import ModelSpec, label_of
from rosenblatt.service.tagger import ServedTagger
from rosenblatt.tasks.sequences import Sequences

SAID_BY_FILES = (
    *("rule", "memory", "parameters", "zero", "fit_intercept", "goal", "scale", "classes"),
)
SAID_OF_ROWS = ("zero", "fit_intercept", "scale")  # without effect on sentences
TOGETHER = 1000  # examples that are read from the journal at a time
SNAPSHOT = re.compile(r"(\d+)-(\d+)-([0-9a-f]{64})\.model")  # model, version, SHA-256 of the file
KEPT_SNAPSHOTS = 2  # of each model: the one before the last costs little, if the last is torn
KEPT_VERSIONS = 4  # old ones that are kept at hand
encode = msgspec.json.Encoder(order="deterministic").encode
features_from = msgspec.json.Decoder(requests.Features).decode  # from what the journal holds
spec_from = msgspec.json.Decoder(ModelSpec).decode
_label = msgspec.json.Decoder(requests.Labels)
NOTHING = "null"  # in the journal: there is a value, and it names nothing


def text_of(value: object) -> str:
    """Return a value as the journal holds it: JSON, names in order, so that equal is equal."""
    return encode(value).decode()


def label_from(text: str | None) -> Any:
    """Return the label, or several, that the journal holds as text; None where it holds none."""
    return None if text is None or text == NOTHING else label_of(_label.decode(text))


def example_of(event: Event) -> tuple[Any, Any]:
    """Return features and label of an example of the journal."""
    return features_from(event.features or "{}"), label_from(event.label or "null")


def new_learner(spec: ModelSpec, limits: Limits, file: bytes | Model | None = None) -> Served:
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
    ).of_task(spec.goal)
    if isinstance(learner.answer, Sequences):
        return _of_sentences(spec, replace(learner, fit_intercept=False), limits, model)
    space = _space(spec, limits, model)
    if model is not None:
        return ServedLearner.of_model(model, learner, space, limits.classes)
    classes = [label_of(label) for label in spec.classes]
    if len({type(label) if isinstance(label, str | bool) else float for label in classes}) > 1:
        raise InputError("classes must be all words, all numbers or all truth values.")
    if len(classes) > limits.classes:
        raise InputError(f"classes has {len(classes)} labels; a model may have {limits.classes}.")
    return ServedLearner.new(learner, space, classes, limits.classes, scale=spec.scale)


def _of_sentences(
    spec: ModelSpec, learner: Learner, limits: Limits, model: Model | None
) -> ServedTagger:
    """Return a new tagger, or that of a base or snapshot."""
    if model is not None:
        return ServedTagger.of_model(model, limits, is_origin=False)
    tags = [tag for tag in spec.classes if isinstance(tag, str)]
    if len(tags) < len(spec.classes) or len(tags) > limits.classes:
        raise InputError(f"classes must be at most {limits.classes} tags, which are words.")
    return ServedTagger.new(learner, spec.features, tags, limits)


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


def _of_file(spec: ModelSpec, limits: Limits, model: Model) -> Served:
    """Return a learner that goes on from the model file of its creation."""
    model.made_by.check("The model file")
    if not model.is_linear:
        raise InputError(
            f"A {model.learner!r:.60} cannot be served: it keeps its rows. Train a linear model, "
            "for example with memory='average'."
        )
    if model.n_features > limits.model_features:
        raise InputError(
            f"The model has {model.n_features:,} features; this service takes "
            f"{limits.model_features:,}."
        )
    if isinstance(model.task, Sequences):
        return ServedTagger.of_model(model, limits, is_origin=True)
    learner = model.made_by.learner
    kind = None if model.encoding is None else model.encoding.get("kind")
    space: FeatureSpace
    if kind in ("table", "conjunctions", "grids"):
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
    weights = model.class_weights()
    return ServedLearner.of_model(model, learner, space, limits.classes, weights)


def check_spec(spec: ModelSpec, served: Served) -> None:
    """Raise InputError where the specification of a model asks for what would have no effect."""
    plain, features = ModelSpec(), spec.features
    sentences = isinstance(served, ServedTagger) and spec.file is None
    said = SAID_BY_FILES if spec.file is not None else SAID_OF_ROWS if sentences else ()
    why = "file: the model file says it" if spec.file is not None else "sentences"
    for name in said:
        if getattr(spec, name) != getattr(plain, name):
            raise InputError(f"{name} has no effect with {why}. Leave it out.")
    if said and features.kind not in ("", "names"):
        msg = f"features.kind must be names or left out with {why.partition(':')[0]}"
        raise InputError(f"{msg}; got {features.kind}.")
    if spec.scale and features.kind == "hashed":
        raise InputError("A model cannot scale features that share a number: leave scale out.")
    used = {"hashed": {"bits"}, "array": {"n_features"}}.get(features.kind, {"limit", "when_full"})
    of = f"features of kind {features.kind or 'names'}" if spec.file is None else "file"
    if sentences:
        used, of = set() if features.kind else {"templates"}, "sentences of such tokens"
    elif spec.file is not None and not features.kind:
        used = set()
    for name in ("limit", "when_full", "bits", "n_features", "templates"):
        if name not in used and getattr(features, name) != getattr(plain.features, name):
            raise InputError(f"features.{name} has no effect with {of}. Leave it out.")


class Snapshots:
    """The folder of snapshots, model files beside the journal that make a start short.

    A cache: none is needed. Their names are numbers, never the names of models.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / SNAPSHOTS
        self._folder.mkdir(0o700, exist_ok=True)

    def write(self, model: int, version: int, file: bytes) -> None:
        """Write a snapshot, whole or not at all, and remove old ones of the model."""
        digest = hashlib.sha256(file).hexdigest()
        path = self._folder / f"{model}-{version}-{digest}.model"
        try:
            with replacing(path) as target:
                if hasattr(os, "fchmod"):
                    os.fchmod(target.fileno(), 0o600)
                target.write(file)
        except InputError:  # a full disk: the journal says so when it matters
            return
        for _, _, old in self._found(model)[KEPT_SNAPSHOTS:]:
            old.unlink(missing_ok=True)

    def newest(self, model: int, upto: int, after: int) -> tuple[int, Model] | None:
        """Return the newest snapshot that is whole: its version and its model."""
        for _, version, path in self._found(model):
            if after < version <= upto:
                with suppress(OSError, RosenblattError):
                    file = path.read_bytes()
                    if hashlib.sha256(file).hexdigest() == path.stem.rpartition("-")[2]:
                        return version, model_from(file)
        return None

    def remove_outside(self, model: int, oldest: int = 0, newest: int = -1) -> None:
        """Remove snapshots of a model that are forgotten, or not in the journal; all by default."""
        for _, version, path in self._found(model):
            if not oldest <= version <= newest:
                path.unlink(missing_ok=True)

    def version(self, model: int) -> int:
        """Return the version of the newest snapshot, 0 without one."""
        return max((version for _, version, _ in self._found(model)), default=0)

    def remove_others(self, models: set[int]) -> None:
        """Remove the snapshots of all models but these."""
        for model, _, path in self._found():
            if model not in models:
                path.unlink(missing_ok=True)

    def _found(self, model: int | None = None) -> list[tuple[int, int, Path]]:
        """Return model, version and path of all snapshots or those of a model, newest first."""
        names = ((SNAPSHOT.fullmatch(path.name), path) for path in self._folder.iterdir())
        known = [(int(match[1]), int(match[2]), path) for match, path in names if match is not None]
        return sorted((one for one in known if model in (None, one[0])), reverse=True)


def file_of(model: Model | None) -> bytes | None:
    """Return a model as the bytes of its file."""
    if model is None:
        return None
    target = io.BytesIO()
    with input_errors("The model"):
        write_to(target, model)
    return target.getvalue()


def model_from(file: bytes) -> Model:
    """Return the model of the bytes of a file, or raise InputError."""
    with input_errors("The model file"):
        return read_from(io.BytesIO(file), len(file))


def at_version(
    reader: JournalReader,
    snapshots: Snapshots | None,
    record: ModelRecord,
    version: int,
    limits: Limits,
) -> Served:
    """Return the model at a version, bit for bit; raise for a future or forgotten version."""
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
    for some in in_parts(learned):
        served.fold([example_of(event) for event in some])
    return served


def in_parts(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Yield events in lists, so that those of a long journal are never in memory together."""
    rest = iter(events)
    while some := list(islice(rest, TOGETHER)):
        yield some


def current(reader: JournalReader, record: ModelRecord) -> ModelRecord:
    """Return the record of a model as it is now; raise if the model has been deleted."""
    now = reader.model(record.model)
    if now is None:
        raise no_model(record.name)
    return now


class Versions:
    """Models at older versions, for threads beside the readers'; a few are kept at hand."""

    def __init__(self, journal: Journal, snapshots: Snapshots, limits: Limits) -> None:
        self._journal, self._snapshots, self._limits = journal, snapshots, limits
        self._kept: OrderedDict[tuple[int, int], Served] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, record: ModelRecord, version: int | None = None) -> Served:
        """Return the model at a version, by default the newest; do not change it."""
        with self._lock, self._journal.reader() as reader:
            record = current(reader, record)
            version = reader.head(record.model) if version is None else version
            key = record.model, version
            for old in [one for one in self._kept if one[0] == key[0] and one[1] < record.oldest]:
                del self._kept[old]  # it holds what was forgotten
            if key not in self._kept:
                self._kept[key] = at_version(reader, self._snapshots, record, version, self._limits)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT_VERSIONS:
                self._kept.popitem(last=False)
            return self._kept[key]

    def new(self, record: ModelRecord, version: int) -> Served:
        """Return the model at a version, to be changed by the caller."""
        with self._journal.reader() as reader:
            record = current(reader, record)
            return at_version(reader, self._snapshots, record, version, self._limits)

    def clear(self) -> None:
        """Drop all of them, after a model was deleted."""
        with self._lock:
            self._kept.clear()
