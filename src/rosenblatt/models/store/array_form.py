"""Arrays in JSON: as numbers, as places and numbers where most are zero, or as text."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.models.store.checks import TYPE_NAMES
from rosenblatt.models.store.document import taken
from rosenblatt.models.store.faults import Fault
from rosenblatt.models.store.model import Json
from rosenblatt.models.store.packing import filled, spread_out
from rosenblatt.models.store.plain import original, plain

KINDS = {dtype.name: dtype for dtype in TYPE_NAMES}


def array_json(values: NDArray[Any]) -> dict[str, Json]:
    """Return an array as JSON: exact, but for the sign and the bits of a NaN."""
    form: dict[str, Json] = {"dtype": values.dtype.name, "shape": list(values.shape)}
    text = _text(values)
    if text is not None:
        return form | {"text": text}
    flat = np.ascontiguousarray(values).reshape(-1)
    places = filled(values) if values.dtype.kind == "f" else None
    if places is None:
        return form | {"values": plain(flat.tolist())}
    return form | {"places": places.tolist(), "values": plain(flat[places].tolist())}


def array_of(form: object, what: str) -> NDArray[Any]:
    """Return the array that such JSON means."""
    if not isinstance(form, dict):
        msg = f"{what!r:.60} must be an object with dtype, shape and values"
        raise Fault(msg)
    kind, shape = taken(form, "dtype", str), taken(form, "shape", list)
    if kind not in KINDS or not all(type(n) is int and 0 <= n < 2**48 for n in shape):
        msg = f"the dtype and shape of {what!r:.60} mean no array of numbers"
        raise Fault(msg)
    if "text" in form:
        flat = np.frombuffer(_encoded(taken(form, "text", str)), np.uint8).copy()
    else:
        flat = _numbers(original(taken(form, "values", list)), KINDS[kind], what)
    if "places" in form:
        places = _numbers(taken(form, "places", list), np.dtype(np.int64), what)
        flat = spread_out(what, places, flat, tuple(shape))
    if form or flat.size != math.prod(shape) or flat.dtype != KINDS[kind] or len(shape) > 8:
        msg = f"{what!r:.60} does not hold the {math.prod(shape):,} numbers of its shape"
        raise Fault(msg)
    return flat.reshape(shape)


def _text(values: NDArray[Any]) -> str | None:
    """Return bytes as the text that they are, None if they are none."""
    if values.dtype != np.uint8 or values.ndim != 1:
        return None
    try:
        return values.tobytes().decode()
    except UnicodeDecodeError:
        return None


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        msg = "a text in it holds half of a surrogate pair"
        raise Fault(msg) from None


def _numbers(values: list[Any], dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    allowed: set[type] = {"b": {bool}, "f": {int, float}}.get(dtype.kind, {int})  # type: ignore[assignment]
    if all(type(value) in allowed for value in values):
        try:
            with np.errstate(over="ignore"):
                return np.array(values, dtype)
        except OverflowError:
            pass
    msg = f"{what!r:.60} holds something else than numbers of type {dtype}"
    raise Fault(msg)
