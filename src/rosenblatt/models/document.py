"""Everything of a model but its arrays, as one JSON object, exact.

Floats are written by their shortest text. JSON has no word for a float that is not finite; it
becomes ``{"$float": "inf"}``. A key of ours that begins with ``$`` gets a second one, so that
nothing is mistaken for that.
"""

import json
import math
from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np

from rosenblatt.models.checks import Damaged, Fault, Newer, fail
from rosenblatt.models.model import Calibration, Json, Model

FORMAT_VERSION = 1
MAPPINGS = ("options", "outcome", "training")
PERHAPS_MAPPINGS = ("encoding", "verdict")
TAG = "$float"
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def versions() -> dict[str, Json]:
    """Return what stands first in every stored model."""
    package = import_module("rosenblatt")  # it stands above this layer, and is loaded already
    return {
        "format": "rosenblatt",
        "format_version": FORMAT_VERSION,
        "library_version": package.__version__,
    }


def check_version(told: object) -> None:
    """Raise unless this version reads that format."""
    text = str(told)
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
        msg = f"its format_version must be a number; got {told!r:.60}"
        raise Damaged(msg)
    if int(text) > FORMAT_VERSION:
        msg = f"format {int(text)}; this one reads {FORMAT_VERSION}"
        raise Newer(msg)


def document_of(model: Model) -> dict[str, Json]:
    """Return what a model is, in the order in which a person wants to read it."""
    calibration, names = model.calibration, model.feature_names
    return {
        "learner": model.learner,
        "options": plain(model.options),
        "classes": plain(model.classes),
        "n_features": model.n_features,
        "averaged": model.ledger is not None,
        "variance": None if model.variance is None else "diagonal",
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
        fail(f"it has no {key!r}")
    value = document.pop(key)
    if type(value) not in kinds:
        wanted = " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)
        fail(f"{key!r} must be of type {wanted}; got {value!r:.60}")
    return value


def n_features_of(document: dict[str, Json]) -> int:
    """Take the number of features, which must be known before there are arrays."""
    number = taken(document, "n_features", int)
    if not 0 <= number < 2**48:
        fail(f"'n_features' must be an integer of at least 0; got {number!r:.60}")
    return int(number)


def fields_of(document: dict[str, Json]) -> dict[str, Any]:
    """Take the fields of a model, but the arrays, out of the document; nothing may be left."""
    nothing = type(None)
    names = taken(document, "feature_names", list, nothing)
    history = taken(document, "history", list)
    if not all(isinstance(record, dict) and TAG not in record for record in history):
        fail("'history' must be a list of one object a pass")
    fields: dict[str, Any] = {
        "learner": taken(document, "learner", str),
        "classes": tuple(taken(document, "classes", list)),
        "count": taken(document, "count", int),
        "calibration": _calibration(taken(document, "calibration", dict, nothing)),
        "history": tuple(original(history)),
        "feature_names": None if names is None else tuple(names),
    }
    for key in MAPPINGS + PERHAPS_MAPPINGS:
        kinds = (dict,) if key in MAPPINGS else (dict, nothing)
        fields[key] = original(taken(document, key, *kinds))
        if type(fields[key]) not in kinds:
            fail(f"{key!r} must be an object of named entries; got {fields[key]!r:.60}")
    check_empty(document, "it")
    return fields


def number_of(document: dict[str, Json], key: str) -> float:
    """Take a number out of the document; a person may have written it as an integer."""
    value = taken(document, key, float, int)
    try:
        return float(value)
    except OverflowError:
        msg = f"{key!r} is {value!r:.60}, beyond the range of float64"
        raise Fault(msg) from None


def check_empty(document: dict[str, Json], what: str) -> None:
    """Raise Fault if an entry has not been taken: a mistyped one would be lost in silence."""
    if document:
        fail(f"{what} has an entry {next(iter(document))!r:.60}, which means nothing")


def _calibration(document: dict[str, Json] | None) -> Calibration | None:
    if document is None:
        return None
    slope, offset = (number_of(document, key) for key in ("slope", "offset"))
    n_rows = taken(document, "n_rows", int)
    points = taken(document, "points", list) if "points" in document else []
    if not all(isinstance(point, list) and len(point) == 2 for point in points):
        fail("the points of its calibration must be pairs of a score and a probability")
    calibration = Calibration(slope, offset, n_rows, tuple((x, p) for x, p in points))
    check_empty(document, "its calibration")
    return calibration


def plain(value: object) -> Json:
    """Return a value as JSON has it: NumPy's scalars as Python's, tuples as lists."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {TAG: repr(float(value))}
    if isinstance(value, dict):
        return {_escaped(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    msg = f"JSON has no form for {value!r:.60}, a {type(value).__name__}"
    raise Fault(msg)


def original(value: Json) -> Json:
    """Return what ``plain`` was given."""
    if isinstance(value, dict):
        if TAG in value:
            return _not_finite(value)
        return {_unescaped(key): original(item) for key, item in value.items()}
    if isinstance(value, list):
        return [original(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        fail("a number in it is beyond the range of float64")
    return value


def parse(text: str | bytes) -> Json:
    """Return the value of a JSON text; a key that stands twice is an error."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnicodeDecodeError:
        msg = "it is not UTF-8 text"
    except json.JSONDecodeError as error:
        msg = f"line {error.lineno}, column {error.colno} is not JSON: {error.msg}"
    except RecursionError:
        msg = "its JSON is nested too deeply"
    except ValueError:  # an integer of more digits than Python reads
        msg = "a number in it has too many digits"
    raise Fault(msg)


def compact(value: Json) -> str:
    """Return JSON on one line, in ASCII."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _escaped(key: object) -> str:
    if not isinstance(key, str):
        fail(f"JSON has words as keys only; got {key!r:.60}")
    return f"${key}" if key.startswith("$") else str(key)


def _unescaped(key: str) -> str:
    if key.startswith("$") and not key.startswith("$$"):
        fail(f"the key {key!r:.60} begins with one $; write two")
    return key.removeprefix("$")


def _not_finite(value: dict[str, Any]) -> float:
    text = value[TAG]
    if len(value) > 1 or not isinstance(text, str) or text not in NOT_FINITE:
        fail(f'"{TAG}" must stand alone, with "inf", "-inf" or "nan"; got {value!r:.60}')
    return NOT_FINITE[text]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        fail(f"the key {twice!r:.60} stands twice in one place")
    return found


def _no_constant(text: str) -> Any:
    fail(f'{text} is not JSON; write {{"{TAG}": "inf"}}, "-inf" or "nan"')
