"""Answers about a model: predictions, explanations, teachers, descriptions, journals."""

import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.counts import empty_log
from rosenblatt.kernels.shapes import entries
from rosenblatt.mistakes.provenance import Provenance, provenance_of
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.explanation import contributions
from rosenblatt.models.feature_spaces import NUMBERS, Features, NamedFeatures
from rosenblatt.models.json_export import to_json
from rosenblatt.models.model import Class, Model
from rosenblatt.models.onnx_export import to_onnx
from rosenblatt.rules import pair_scale
from rosenblatt.service.columns import ColumnFeatures
from rosenblatt.service.history import at_version, decoded, example_of, in_parts, label_from
from rosenblatt.service.journal import (
    ERASED,
    KINDS,
    WAITING,
    Event,
    JobRecord,
    JournalReader,
    ModelRecord,
)
from rosenblatt.service.learner import ServedLearner
from rosenblatt.service.limits import Limits, RequestError
from rosenblatt.service.requests import (
    CurvePoint,
    Description,
    ExplanationAnswer,
    FeatureAmount,
    ForgetRequest,
    Job,
    JournalLine,
    Label,
    Prediction,
    Predictions,
    TeachingExample,
    WhyAnswer,
    label_of,
)
from rosenblatt.service.snapshots import file_of
from rosenblatt.service.writer import Entry, Writer, no_model

KEPT_VERSIONS = 4  # old ones that are kept at hand
CURVE_POINTS = 200
TOGETHER = 1000  # rows that are compared with one at a time
HELD_LOG = (
    "The model has forgotten the examples. Another program, perhaps a backup, is reading the "
    "journal, whose log holds them until it ends."
)
NO_SUM = (
    "The weights of {} are not the sum of its examples, so no example can be named; ask for "
    "explain."
)
_request = msgspec.json.Decoder(ForgetRequest)


def predict(
    served: ServedLearner, version: int, features: Features, id_: str | None = None
) -> Prediction:
    """Return the prediction of one row."""
    if len(served.classes) < 2:
        served.rows([features])  # raises for what is no row
        only = served.classes[0] if served.classes else None
        return Prediction(label=only, score=None, version=version, id=id_)
    label, score = served.decided(features)
    return Prediction(
        label=label,
        score=score,
        version=version,
        id=id_,
        probability=_probability(served, score),
        unfamiliar=served.space.remarks() or UNSET,
    )


def _probability(served: ServedLearner, score: Any) -> float | UnsetType:
    """Return how probable the label is, as long as the weights are those of a calibrated file."""
    origin = served.origin
    if origin is None or not served.is_origin or origin.calibration is None:
        return UNSET
    return float(origin.probabilities_of(np.asarray([score])).max())


def predict_many(served: ServedLearner, version: int, batch: Sequence[Features]) -> Predictions:
    """Return the predictions of many rows."""
    if len(served.classes) < 2 or not batch:
        served.rows(batch)
        only = served.classes[0] if served.classes else None
        return Predictions(labels=[only] * len(batch), scores=[], version=version)
    scores = served.scores(batch)
    labels: list[Any] = served.labels(scores)
    odd = served.space.remarks() or UNSET
    return Predictions(labels=labels, scores=scores.tolist(), version=version, unfamiliar=odd)


class Versions:
    """A cache of models at older versions, for threads beside the readers'."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._kept: OrderedDict[tuple[int, int], ServedLearner] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, entry: Entry, version: int | None = None) -> ServedLearner:
        """Return the model at a version, by default the newest; do not change it."""
        writer = self._writer
        with self._lock, writer.journal.reader() as reader:
            record = _current(reader, entry)
            version = reader.head(record.model) if version is None else version
            key = record.model, version
            for old in [one for one in self._kept if one[0] == key[0] and one[1] < record.oldest]:
                del self._kept[old]  # it holds what was forgotten
            if key not in self._kept:
                served = at_version(reader, writer.snapshots, record, version, writer.limits)
                self._kept[key] = served
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT_VERSIONS:
                self._kept.popitem(last=False)
            return self._kept[key]

    def new(self, entry: Entry, version: int) -> ServedLearner:
        """Return the model at a version, to be changed by the caller."""
        writer = self._writer
        with writer.journal.reader() as reader:
            record = _current(reader, entry)
            return at_version(reader, writer.snapshots, record, version, writer.limits)

    def clear(self) -> None:
        """Drop all of them, after a model was deleted."""
        with self._lock:
            self._kept.clear()


def _current(reader: JournalReader, entry: Entry) -> ModelRecord:
    """Return the record of a model; raise if it has been deleted."""
    record = reader.model(entry.record.model)
    if record is None:
        raise no_model(entry.record.name)
    return record


def explain(served: ServedLearner, version: int, features: Features, top: int) -> ExplanationAnswer:
    """Return what each feature of a row adds to its score."""
    number, rows = _decided(served, features)
    indices, values = entries(rows, 0)
    state = served.state
    ledger = None if state.ledger is None else state.by_class(state.ledger)
    model = Model(  # the weights to look at, not copied
        served.learner.estimator,
        {"fit_intercept": served.learner.fit_intercept},
        tuple(served.classes),
        state.by_class(state.weights),
        ledger,
        state.count,
    )
    found = contributions(model, indices, values, winner=number)
    name, terms, unknown = served.space.name, found.terms[:top], 0
    if isinstance(served.space, NamedFeatures) and isinstance(features, Mapping):
        unknown = sum(value is not None for value in features.values()) - len(rows.indices)
    return ExplanationAnswer.from_record(
        found,
        label=served.classes[number],
        terms=[FeatureAmount.from_record(term, name=name(term.feature)) for term in terms],
        others=max(0, len(found.terms) - top),
        unknown=unknown,
        version=version,
    )


def _decided(served: ServedLearner, features: Features) -> tuple[int, Any]:
    if len(served.classes) < 2:
        msg = "The model knows fewer than two classes; there is nothing to explain yet."
        raise RequestError(409, msg)
    label, _ = served.decided(features)
    return served.classes.index(label), served.rows([features])


def why(writer: Writer, entry: Entry, features: Features, top: int) -> WhyAnswer:
    """Return the examples that taught the model its score of a row, as the sum that it is."""
    with writer.journal.reader() as reader:
        head, record = reader.head(entry.record.model), _current(reader, entry)
        served = at_version(reader, writer.snapshots, record, head, writer.limits)
        if served.learner.second_order or served.moments is not None:
            what = "a model that scales" if served.moments else f"the rule {served.learner.rule}"
            raise RequestError(422, NO_SUM.format(what))
        number, rows = _decided(served, features)
        at, values = entries(rows, 0)
        x = np.zeros(served.state.n_features)
        x[at] = values
        _, file = reader.base(entry.record.model, 0)
        taught = reader.counted(entry.record.model, where="rival IS NOT NULL")
        teachers: list[tuple[float, Event]] = []
        scores = served.scores([features])[0]
        found = _provenance(served, [], x, scores, number)
        for events in in_parts(taught, TOGETHER):
            terms = _provenance(served, events, x, scores, number).terms
            teachers += [(term.amount, events[term.row]) for term in terms]
    teachers.sort(key=lambda pair: (-abs(pair[0]), pair[1].sequence))
    # What was there before the first example: nothing, or a model
    amounts = [-amount for amount, _ in teachers]
    start = 0.0 if file is None else math.fsum([found.total, *amounts])
    return WhyAnswer.from_record(
        found,
        label=served.classes[number],
        start=start,
        teachers=[_teacher(amount, event) for amount, event in teachers[:top]],
        others=max(0, len(teachers) - top),
        version=head,
    )


def _teacher(amount: float, event: Event) -> TeachingExample:
    features, label = example_of(event)
    return TeachingExample.from_record(event, amount=amount, features=features, label=label)


def _provenance(
    served: ServedLearner, events: Sequence[Event], x: NDArray[Any], scores: Any, winner: int
) -> Provenance:
    """Return what these examples, each of which made a step, add to the score of the row x."""
    state, n_classes = served.state, len(served.classes)
    scale = pair_scale(served.learner.step) if n_classes > 2 else 1.0
    log = empty_log(len(events))
    for i, event in enumerate(events):
        label, rival = (
            served.classes.index(label_from(text or "null")) for text in (event.label, event.rival)
        )
        log.label[i], log.rival[i] = (label, rival) if n_classes > 2 else (2 * label - 1, 0)
        log.tau[i] = (event.step or 0.0) * (scale if event.classes == 2 else 1.0)
        log.seen[i] = event.seen or 0
    log.row[:] = np.arange(len(events))
    return provenance_of(
        Mistakes(log, state.count),
        served.rows([example_of(event)[0] for event in events]),
        x,
        served.classes,
        averaged=state.ledger is not None,
        activation=scores,
        winner=winner,
    )


def described(entry: Entry, curve: Sequence[tuple[int, int, int, float]] = ()) -> Description:
    """Return what a model is and how it is doing, with the curve of its progressive error."""
    learner, space = entry.shown.learner.learner, entry.shown.learner.space
    points, learned, wrong = [], 0, 0
    for version, n, n_wrong, time in curve:
        learned, wrong = learned + n, wrong + n_wrong
        points.append(CurvePoint(version=version, learned=learned, wrong=wrong, time=time))
    return Description.from_record(
        entry.shown,
        name=entry.record.name,
        rule=learner.rule,
        memory=learner.memory,
        title=learner.title,
        parameters={name: value for name, value in learner.values.items() if value is not None},
        features=space.kind,
        columns=dict(space.columns) if isinstance(space, ColumnFeatures) else None,
        levels=space.levels if isinstance(space, ColumnFeatures) else {},
        classes=entry.shown.learner.classes,
        n_features=entry.shown.learner.n_features,
        oldest=entry.record.oldest,
        created=entry.record.created,
        curve=points,
    )


def lines(events: Sequence[Event], undone: Mapping[int, int]) -> bytes:
    """Return events as NDJSON; ``undone`` says which return left an example behind."""
    found = [_line(event, undone.get(event.sequence)) for event in events]
    return msgspec.json.Encoder().encode_lines(found)


def _line(event: Event, undone: int | None) -> JournalLine:
    mistake, kind = None if event.mistake is None else bool(event.mistake), KINDS[event.kind]
    known = {"kind": kind, "mistake": mistake, "undone": undone}
    return JournalLine.from_record(event, **known, **decoded(event))


def job_of(record: JobRecord) -> Job:
    """Return a job as clients see it."""
    erased, answer = record.status == ERASED, msgspec.json.decode(record.answer or "{}")
    return Job.from_record(
        record,
        status=WAITING if erased else record.status,
        reason=HELD_LOG if erased else None,
        request=_request.decode(record.request),
        **{name: answer.get(name) for name in ("examples", "version", "error")},
    )


def exported(served: ServedLearner, kind: str) -> tuple[str, bytes]:
    """Return a model as a file of some kind, and the type of its contents."""
    model = served.model()
    if model is None:
        raise RequestError(409, "The model has learned nothing yet; there is nothing to export.")
    if kind == "json":
        return "application/json", to_json(model).encode()
    return "application/octet-stream", to_onnx(model) if kind == "onnx" else file_of(model) or b""


def check_features(batch: Sequence[Features], limits: Limits, *, columns: bool) -> None:
    """Raise InputError for rows of features beyond a limit."""
    n, most = max(map(len, batch), default=0), limits.magnitude
    if n > limits.features:
        raise InputError(f"features has {n:,} entries; at most {limits.features:,} are taken.")
    if _usual(batch, limits):
        return
    longest = limits.text_length if columns else limits.name_length
    for features in batch:
        named: Any = features if isinstance(features, Mapping) else None
        for name, value in zip(repeat(""), features) if named is None else named.items():
            if len(name) > limits.name_length:
                taken = f"at most {limits.name_length:,} are taken"
                msg = f"The name of a feature has {len(name):,} characters; {taken}."
            elif isinstance(value, str) and len(value) > longest:
                taken = f"{len(value):,} characters; at most {longest:,} are taken"
                msg = f"The word of the feature {name[:80]!r} has {taken}."
            elif isinstance(value, float) and not -most <= value <= most:
                what = f"The feature {name[:80]!r}" if named else "A number in features"
                msg = f"{what} is {value:g}; its size must be at most {most:g}."
            else:
                continue
            raise InputError(msg)


def _usual(batch: Sequence[Features], limits: Limits) -> bool:
    """Return whether all rows have numbers alone, within the limits: ten times as fast to tell."""
    if set(map(type, batch)) != {dict}:
        return False
    named: Any = batch
    one = len(batch) == 1
    values = named[0].values() if one else list(chain.from_iterable(map(dict.values, named)))
    if set(map(type, values)) != NUMBERS:
        return False
    longest = max(map(len, named[0] if one else set().union(*named)))
    most = limits.magnitude
    return longest <= limits.name_length and max(values) <= most and min(values) >= -most


def checked_label(label: Label, limits: Limits) -> Class:
    """Return a label as a class, or raise InputError for one beyond a limit."""
    if isinstance(label, str):
        if not 0 < len(label) <= limits.label_length:
            msg = f"A label must have 1 to {limits.label_length} characters; got {len(label):,}."
            raise InputError(msg)
    elif not isinstance(label, bool) and abs(label) >= 2**53:
        raise InputError(f"A label that is a number must be below 2^53; got {label!r:.60}.")
    return label_of(label)
