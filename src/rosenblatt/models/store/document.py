"""Everything of a model but its arrays, as one JSON object."""

from dataclasses import asdict
from typing import Any

from rosenblatt.models.store.faults import Fault
from rosenblatt.models.store.model import Calibration, Json, Model
from rosenblatt.models.store.plain import original, plain

MAPPINGS = ("options", "outcome", "training")
PERHAPS_MAPPINGS = ("encoding", "verdict")


def document_of(model: Model) -> dict[str, Json]:
    """Return what a model is, in the order in which a person wants to read it."""
    calibration, names = model.calibration, model.feature_names
    return {
        "learner": model.learner,
        "options": plain(model.options),
        "classes": plain(model.classes),
        "n_features": model.n_features,
        "averaged": model.ledger is not None,
        "count": plain(model.count),
        "outcome": plain(model.outcome),
        "training": plain(model.training),
        "verdict": plain(model.verdict),
        "calibration": None if calibration is None else plain(asdict(calibration)),
        "spread": None if model.spread is None else {"n_rows": plain(model.spread.n_rows)},
        "history": plain(model.history),
        "encoding": plain(model.encoding),
        "feature_names": None if names is None else plain(names),
    }


def taken(document: dict[str, Json], key: str, *kinds: type) -> Any:
    """Take the value of a key out of the document; it must be of one of these types."""
    if key not in document:
        msg = f"it has no {key!r}"
        raise Fault(msg)
    value = document.pop(key)
    if type(value) not in kinds:
        wanted = " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)
        msg = f"{key!r} must be of type {wanted}; got {value!r:.60}"
        raise Fault(msg)
    return value


def n_features_of(document: dict[str, Json]) -> int:
    """Take the number of features, which must be known before there are arrays."""
    number = taken(document, "n_features", int)
    if not 0 <= number < 2**48:
        msg = f"'n_features' must be an integer of at least 0; got {number!r:.60}"
        raise Fault(msg)
    return int(number)


def fields_of(document: dict[str, Json]) -> dict[str, Any]:
    """Take the fields of a model, but the arrays, out of the document; nothing may be left."""
    nothing = type(None)
    names = taken(document, "feature_names", list, nothing)
    history = taken(document, "history", list)
    if not all(isinstance(record, dict) for record in history):
        msg = "'history' must be a list of one object a pass"
        raise Fault(msg)
    fields: dict[str, Any] = {
        "learner": taken(document, "learner", str),
        "classes": tuple(taken(document, "classes", list)),
        "count": taken(document, "count", int),
        "calibration": _calibration(taken(document, "calibration", dict, nothing)),
        "history": tuple(original(history)),
        "feature_names": None if names is None else tuple(names),
    }
    for key in MAPPINGS:
        fields[key] = original(taken(document, key, dict))
    for key in PERHAPS_MAPPINGS:
        fields[key] = original(taken(document, key, dict, nothing))
    nothing_left(document, "it")
    return fields


def number_of(document: dict[str, Json], key: str) -> float:
    """Take a number out of the document; a person may have written it as an integer."""
    value = taken(document, key, float, int)
    try:
        return float(value)
    except OverflowError:
        msg = f"{key!r} is {value!r:.60}, beyond the range of float64"
        raise Fault(msg) from None


def nothing_left(document: dict[str, Json], what: str) -> None:
    """Raise Fault if an entry has not been taken: a mistyped one would be lost in silence."""
    if document:
        msg = f"{what} has an entry {next(iter(document))!r:.60}, which means nothing"
        raise Fault(msg)


def _calibration(document: dict[str, Json] | None) -> Calibration | None:
    if document is None:
        return None
    slope, offset = (number_of(document, key) for key in ("slope", "offset"))
    calibration = Calibration(slope, offset, taken(document, "n_rows", int))
    nothing_left(document, "its calibration")
    return calibration
