"""Values as JSON, exact: floats by their shortest text, infinities and NaN by name.

JSON has no word for a float that is not finite; it becomes ``{"$float": "inf"}``. A dictionary of
ours whose key begins with ``$`` gets a second one, so that nothing is mistaken for that.
"""

import json
import math
from typing import Any

import numpy as np

from rosenblatt.models.store.faults import Fault
from rosenblatt.models.store.model import Json

TAG = "$float"
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


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
        msg = "a number in it is beyond the range of float64"
        raise Fault(msg)
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
        msg = f"JSON has words as keys only; got {key!r:.60}"
        raise Fault(msg)
    return f"${key}" if key.startswith("$") else str(key)


def _unescaped(key: str) -> str:
    if key.startswith("$") and not key.startswith("$$"):
        msg = f"the key {key!r:.60} begins with one $; write two"
        raise Fault(msg)
    return key.removeprefix("$")


def _not_finite(value: dict[str, Any]) -> float:
    text = value[TAG]
    if len(value) > 1 or not isinstance(text, str) or text not in NOT_FINITE:
        msg = f'"{TAG}" must stand alone, with "inf", "-inf" or "nan"; got {value!r:.60}'
        raise Fault(msg)
    return NOT_FINITE[text]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        msg = f"the key {twice!r:.60} stands twice in one place"
        raise Fault(msg)
    return found


def _no_constant(text: str) -> Any:
    msg = f'{text} is not JSON; write {{"{TAG}": "inf"}}, "-inf" or "nan"'
    raise Fault(msg)
