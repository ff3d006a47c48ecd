"""Lines of JSON as objects with plain values, and what to say of a line that is none."""

import json
import math
from typing import Any, NoReturn

from rosenblatt.data.labels import shown

Object = dict[str, Any]
Kinds = dict[str, type | None]  # of the values of each key; None where only nulls have come

KIND_NAMES = {bool: "true or false", int: "a number", float: "a number", str: "text"}


class JsonError(ValueError):
    """What is wrong with a line, as a clause."""


def objects_of(lines: list[bytes]) -> list[Object] | None:
    """Return the objects that the lines hold, each one; None where a line is something else.

    All lines as one array are read twice as fast as one after the other. That no object stands
    across two lines and no two objects in one is certain for objects with plain values: a line
    begins and ends with a brace, and the objects are as many as the lines.
    """
    if not all(line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") for line in lines):
        return None
    try:
        objects = _loads((b"[" + b",\n".join(lines) + b"]").decode())
    except (ValueError, RecursionError):
        return None
    return objects if len(objects) == len(lines) else None


def object_of(line: bytes) -> Object:
    """Return the object that a line holds; raise JsonError otherwise."""
    try:
        found = _loads(line.decode())
    except json.JSONDecodeError as error:
        reason = error.msg.lower().removesuffix(" at")
        clause = f"no JSON: {reason} at column {error.colno}"
        raise JsonError(clause) from None
    except UnicodeDecodeError:
        clause = f"{shown(line)} is not UTF-8 text; convert the file, for instance with iconv"
        raise JsonError(clause) from None
    except RecursionError:
        clause = f"{shown(line)} is nested too deep"
        raise JsonError(clause) from None
    except JsonError:
        raise
    except ValueError as error:
        clause = f"{shown(line)} cannot be read: {error}"
        raise JsonError(clause) from None
    if not isinstance(found, dict):
        clause = f"expected an object {{…}}, found {shown(line.strip())}; write one object a line"
        raise JsonError(clause)
    return found


def check_object(found: Object, kinds: Kinds) -> None:
    """Raise JsonError where a value is none for its column; note the kinds of the new columns."""
    for key in kinds:
        if key in found:
            _check_text(key, key)
        value = found.get(key)
        if value is None:
            continue
        kind, known = type(value), kinds[key]
        if kind not in KIND_NAMES:
            clause = f"key {key!r} has the value {_shown(value)}; only plain values can be columns"
            raise JsonError(clause)
        if known is not None and KIND_NAMES[kind] != KIND_NAMES[known]:
            clause = (
                f"key {key!r} has the value {_shown(value)}, which is {KIND_NAMES[kind]};"
                f" in the rows before it is {KIND_NAMES[known]}"
            )
            raise JsonError(clause)
        if kind is not str and math.isinf(_double(value)):
            clause = f"key {key!r} has a number beyond the range of float64"
            raise JsonError(clause)
        if kind is str:
            _check_text(key, value)
        kinds[key] = known or kind


def _check_text(key: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        clause = f"key {key!r} has half of a character in {_shown(value)}"
        raise JsonError(clause) from None


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: object) -> str:
    return shown(json.dumps(value).encode())


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)


def _distinct(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        clause = f"key {repeated!r} stands twice in an object"
        raise JsonError(clause)
    return found


def _refuse(constant: str) -> NoReturn:
    clause = f"{constant} is no number of JSON; write null where a value is missing"
    raise JsonError(clause)
