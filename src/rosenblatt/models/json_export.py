"""A model as JSON, for people and other programs to read."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.file import check, document_of, finite_average, no_form, plain, versions
from rosenblatt.models.model import SPREAD_PARTS, Json, Model
from rosenblatt.models.tensors import MOST_PLACES, fail, input_errors, nonzero_places


def to_json(model: Model) -> str:
    """Return a model as JSON text, with the weights that are not zero by feature and class.

    ``weight`` is the one that decides. Where it is an average, ``last`` and ``ledger`` stand beside
    it: what training goes on from, and what an import reads.
    """
    with input_errors("The model"):
        check(model)
        if model.weights.size > MOST_PLACES:
            fail(f"JSON is for at most {MOST_PLACES:,} weights; it has {model.weights.size:,}")
        document = versions() | document_of(model)
        names = document.pop("feature_names")
        document["vectors"] = vectors_of(model)
        document["feature_names"] = names
        if model.spread is not None:
            spread = {part: array_json(getattr(model.spread, part)) for part in SPREAD_PARTS}
            document["spread"] |= spread
        named = {"encoding_arrays": model.encoding_arrays, "arrays": model.file_arrays()}
        for key, arrays in named.items():
            document[key] = {name: array_json(array) for name, array in arrays.items()}
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False, default=no_form)
        return text.encode(errors="backslashreplace").decode() + "\n"  # halves of pairs are no text


def vectors_of(model: Model) -> list[Json]:
    """Return the weights of all vectors that are not zero, with what they are called."""
    columns = {"weight": finite_average(model)}
    if model.ledger is not None:
        columns |= {"last": model.weights, "ledger": model.ledger}
    name = _namer(model)
    vectors = []
    first, *others = model.classes
    sides: list[dict[str, Json]] = [{"class": label} for label in model.classes]
    if len(others) == 1:
        sides = [{"class": others[0], "against": first}]
    for number, side in enumerate(sides):
        rows = {key: np.ascontiguousarray(values[number]) for key, values in columns.items()}
        stored = [
            row.view(np.uint64) for key, row in rows.items() if key != "weight" or len(rows) == 1
        ]
        places = np.flatnonzero(np.logical_or.reduce([bits != 0 for bits in stored])[:-1]).tolist()
        lists = {key: row[places].tolist() for key, row in rows.items()}
        bias = {key: float(row[-1]) for key, row in rows.items()}
        entries = [
            {"feature": place, **name(place), **{key: lists[key][i] for key in lists}}
            for i, place in enumerate(places)
        ]
        vectors.append({**side, "bias": bias, "weights": entries})
    return vectors


def _namer(model: Model) -> Callable[[int], dict[str, str]]:
    """Return a function that names a feature, if it has a name: given, or by its encoding."""
    names = model.feature_names
    if names is not None:
        return lambda place: {"name": names[place]}
    try:
        encoding = model.encoder
    except InputError:  # reported where rows are encoded; here it only names features
        encoding = None
    n_named = 0 if encoding is None else encoding.n_features
    return lambda place: {"name": encoding.name(place)} if encoding and place < n_named else {}


def array_json(values: NDArray[Any]) -> dict[str, Json]:
    """Return an array as JSON: exact, but for the sign and the bits of a NaN."""
    form: dict[str, Json] = {"dtype": values.dtype.name, "shape": list(values.shape)}
    if values.dtype == np.uint8 and values.ndim == 1:
        with suppress(UnicodeDecodeError):
            return form | {"text": values.tobytes().decode()}
    flat = np.ascontiguousarray(values).reshape(-1)
    places = nonzero_places(values) if values.dtype.kind == "f" else None
    if places is None:
        return form | {"values": plain(flat.tolist())}
    return form | {"places": places.tolist(), "values": plain(flat[places].tolist())}
