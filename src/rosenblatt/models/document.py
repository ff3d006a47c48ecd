"""Everything of a model but its arrays, as one JSON object, exact.

Floats are written by their shortest text. JSON has no word for a float that is not finite; it
becomes ``{"$float": "inf"}``. A key of ours that begins with ``$`` gets a second one, so that
nothing is mistaken for that.
"""

import json
import math
from dataclasses import asdict
from itertools import zip_longest
from typing import Any, NoReturn

from rosenblatt import wording
from rosenblatt.models.calibration import Calibration
from rosenblatt.models.checks import Fault, fail, require
from rosenblatt.models.model import Json, Model
from rosenblatt.version import __version__

FORMAT_VERSION = 1
NOTHING = type(None)
ENTRIES: dict[str, tuple[type, ...]] = {
    "learner": (str,),
    "options": (dict,),
    "classes": (list,),
    "n_features": (int,),
    "averaged": (bool,),  # whether there is a ledger
    "variance": (str, NOTHING),  # "diagonal" where there are variances
    "count": (int,),
    "outcome": (dict,),
    "training": (dict,),
    "verdict": (dict, NOTHING),
    "calibration": (dict, NOTHING),
    "spread": (dict, NOTHING),
    "history": (list,),  # of an object a pass
    "encoding": (dict, NOTHING),
    "feature_names": (list, NOTHING),
    "described": (dict, NOTHING),  # left out where the options spell the learner
}
MAPPINGS = ("options", "outcome", "training", "encoding", "verdict", "described")
TAG = "$float"
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def versions() -> dict[str, Json]:
    """Return what stands first in every stored model."""
    return {
        "format": "rosenblatt",
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
    }


def document_of(model: Model) -> dict[str, Json]:
    """Return the entries of a model."""
    others = {
        "averaged": model.ledger is not None,
        "variance": None if model.variance is None else "diagonal",
        "calibration": None if model.calibration is None else asdict(model.calibration),
        "spread": None if model.spread is None else {"n_rows": model.spread.n_rows},
    }
    entries = {key: others[key] if key in others else getattr(model, key) for key in ENTRIES}
    if model.described is None:
        del entries["described"]
    return {key: plain(value) for key, value in entries.items()}


def fields_of(document: dict[str, Json]) -> dict[str, Any]:
    """Return the fields of a model that its document holds whole."""
    document = {"described": None, **document}
    for key in {**ENTRIES, **document}:
        require(type(document.get(key, ...)) in ENTRIES.get(key, ()), f"entry {key!r:.60}")
    require(0 <= document["n_features"] < 2**48, "entry 'n_features'")  # before there are arrays
    fields = {key: original(document[key]) for key in (*MAPPINGS, "history")}
    for key, value in fields.items():
        require(type(value) in ENTRIES[key], f"entry {key!r}")
    require(all(isinstance(record, dict) for record in fields["history"]), "entry 'history'")
    names, calibration = document["feature_names"], document["calibration"]
    return fields | {
        "learner": document["learner"],
        "classes": tuple(document["classes"]),
        "count": document["count"],
        "calibration": None if calibration is None else _calibration(**calibration),
        "history": tuple(fields["history"]),
        "feature_names": None if names is None else tuple(names),
    }


def _calibration(points: Any = (), **entries: Any) -> Calibration:
    """Return the calibration of these entries; older files have no points."""
    try:
        return Calibration(**entries, points=tuple((x, p) for x, p in points))
    except (TypeError, ValueError):
        fail("its calibration is not there, or not what it must be")


def plain(value: object) -> Json:
    """Return a value as JSON has it, exact."""
    return wording.plain(value, _tagged, _escaped)


def _tagged(value: object) -> Json:
    return {TAG: repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def original(value: Json) -> Json:
    """Return what ``plain`` was given."""
    if isinstance(value, dict):
        if TAG in value:
            text = value[TAG]
            if len(value) > 1 or not isinstance(text, str) or text not in NOT_FINITE:
                fail(f'"{TAG}" must stand alone, with "inf", "-inf" or "nan"; got {value!r:.60}')
            return NOT_FINITE[text]
        return {_unescaped(key): original(item) for key, item in value.items()}
    if isinstance(value, list):
        return [original(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        fail("a number in it is beyond the range of float64")
    return value


def parse(text: str | bytes) -> Json:
    """Return the value of a JSON text; a key that stands twice is an error."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        msg = f"line {error.lineno}, column {error.colno} is not JSON: {error.msg}"
    except ValueError:  # not UTF-8, or an integer of more digits than Python reads
        msg = "it is not UTF-8 text, or a number in it has too many digits"
    raise Fault(msg)


def compact(value: Json) -> str:
    """Return JSON on one line, in ASCII."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=no_form)


def no_form(value: object) -> NoReturn:
    """Raise Fault for what JSON cannot hold."""
    fail(f"JSON has no form for {value!r:.60}, a {type(value).__name__}")


def _escaped(key: object) -> str:
    if not isinstance(key, str):
        fail(f"JSON has words as keys only; got {key!r:.60}")
    return f"${key}" if key.startswith("$") else str(key)


def _unescaped(key: str) -> str:
    if key.startswith("$") and not key.startswith("$$"):
        fail(f"the key {key!r:.60} begins with one $; write two")
    return key.removeprefix("$")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        rest = list(found)
        twice = next(key for (key, _), other in zip_longest(pairs, rest) if key != other)
        fail(f"the key {twice!r:.60} stands twice in one place")
    return found
