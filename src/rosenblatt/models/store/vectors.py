"""Weights in JSON: by class and feature, those that are not zero."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.store.checks import finite_average
from rosenblatt.models.store.document import nothing_left, number_of, taken
from rosenblatt.models.store.faults import Fault
from rosenblatt.models.store.model import Class, Json, Model, n_vectors
from rosenblatt.models.store.packing import MOST_PLACES


def vectors_of(model: Model) -> list[Json]:
    """Return the weights of all vectors that are not zero, with what they are called."""
    columns = {"weight": finite_average(model)}
    if model.ledger is not None:
        columns |= {"last": model.weights, "ledger": model.ledger}
    name = _namer(model)
    found = []
    for number, side in enumerate(_sides(model.classes)):
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
        found.append({**side, "bias": bias, "weights": entries})
    return found


class VectorReader:
    """Reads the weights of all vectors."""

    def __init__(
        self,
        classes: tuple[Class, ...],
        names: tuple[str, ...] | None,
        n_features: int,
        *,
        averaged: bool,
        encoded: bool,
    ) -> None:
        self._classes, self._names, self._n_features = classes, names, n_features
        self._encoded = encoded
        self._keys = ("weight", "last", "ledger") if averaged else ("weight",)
        shape = (n_vectors(len(classes)), n_features + 1)
        if shape[0] * shape[1] > MOST_PLACES:
            msg = f"{shape[0]:,} × {shape[1]:,} weights are more than JSON is for"
            raise Fault(msg)
        if names is not None and len(names) != n_features:
            msg = f"it has {n_features} features and {len(names)} names for them"
            raise Fault(msg)
        self._columns = {key: np.zeros(shape) for key in self._keys}

    def read(self, vectors: list[Json], count: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the weights and the ledger."""
        sides = _sides(self._classes)
        if len(vectors) != len(sides):
            msg = f"{len(self._classes)} classes need {len(sides)} vectors; it has {len(vectors)}"
            raise Fault(msg)
        for number, (vector, side) in enumerate(zip(vectors, sides, strict=True)):
            self._read_vector(number, vector, side)
        if "last" not in self._columns:
            return self._columns["weight"], None
        last, ledger = self._columns["last"], self._columns["ledger"]
        told = self._columns["weight"]
        with np.errstate(over="ignore"):
            average = last - ledger / count
        different = np.argwhere(told != average)
        if len(different):
            place = tuple(different[0])
            where = "the bias" if place[1] == self._n_features else f"feature {place[1]}"
            msg = (
                f"the weight of {where} is {told[place]}, and last − ledger/count is "
                f"{average[place]}; change last and ledger with it, or make a model that keeps no "
                'average: "averaged": false, and weight alone'
            )
            raise Fault(msg)
        return last, ledger

    def _read_vector(self, number: int, vector: Json, side: dict[str, Json]) -> None:
        if not isinstance(vector, dict):
            msg = "'vectors' must be a list of objects"
            raise Fault(msg)
        for key, label in side.items():
            if (told := taken(vector, key, type(label))) != label:
                msg = f"vector {number + 1} must be of class {label!r:.60}; got {told!r:.60}"
                raise Fault(msg)
        self._read_entry((number, self._n_features), taken(vector, "bias", dict))
        previous = -1
        for entry in taken(vector, "weights", list):
            if not isinstance(entry, dict):
                msg = "'weights' must be a list of objects"
                raise Fault(msg)
            feature = taken(entry, "feature", int)
            if not previous < feature < self._n_features:
                last = self._n_features - 1
                msg = f"features must ascend from 0 to at most {last}; got {feature!r:.60}"
                raise Fault(msg)
            self._check_name(feature, entry)
            self._read_entry((number, feature), entry)
            previous = feature
        nothing_left(vector, "a vector")

    def _check_name(self, feature: int, entry: dict[str, Json]) -> None:
        """Take the name; one that the encoding gave is for people, and not looked at."""
        if self._names is None:
            if self._encoded:
                entry.pop("name", None)
            return
        name = taken(entry, "name", str)
        if name != self._names[feature]:
            msg = (
                f"feature {feature} is called {name!r:.60} in 'vectors' and "
                f"{self._names[feature]!r:.60} in 'feature_names'"
            )
            raise Fault(msg)

    def _read_entry(self, place: tuple[int, int], entry: dict[str, Json]) -> None:
        for key in self._keys:
            self._columns[key][place] = number_of(entry, key)
        nothing_left(entry, "a weight")


def _sides(classes: tuple[Class, ...]) -> list[dict[str, Json]]:
    """Return what each vector speaks for: a class, or the second of two against the first."""
    if len(classes) == 2:
        return [{"class": classes[1], "against": classes[0]}]
    return [{"class": label} for label in classes]


def _namer(model: Model) -> Callable[[int], dict[str, str]]:
    """Return what says the name of a feature, where it has one: given, or by its encoding."""
    names = model.feature_names
    if names is not None:
        return lambda place: {"name": names[place]}
    if model.encoding is None:
        return lambda _: {}
    from rosenblatt.data.encoding import encoding_from

    try:
        encoding = encoding_from(model.encoding, model.encoding_arrays)
    except InputError:  # whoever uses it will be told; here it would only give names
        return lambda _: {}
    n_named = encoding.n_features
    return lambda place: {"name": encoding.name(place)} if place < n_named else {}
