"""A model as JSON that a person can read and change, and that reads back exactly."""

from typing import Any

from numpy.typing import NDArray

from rosenblatt.models.store.array_form import array_json, array_of
from rosenblatt.models.store.checks import check, check_count
from rosenblatt.models.store.document import (
    document_of,
    fields_of,
    n_features_of,
    nothing_left,
    taken,
)
from rosenblatt.models.store.faults import Fault, Foreign, told_of
from rosenblatt.models.store.layout import laid_out
from rosenblatt.models.store.model import SPREAD_PARTS, Model, Spread
from rosenblatt.models.store.packing import MOST_PLACES
from rosenblatt.models.store.plain import parse
from rosenblatt.models.store.vectors import VectorReader, vectors_of
from rosenblatt.models.store.versions import check_version, versions


def to_json(model: Model) -> str:
    """Return a model as JSON text, with the weights that are not zero by feature and class.

    ``weight`` is the one that decides. Where it is an average, ``last`` and ``ledger`` stand beside
    it: what training goes on from, and what an import reads.
    """
    with told_of("The model"):
        check(model)
        if model.weights.size > MOST_PLACES:
            msg = f"JSON is for at most {MOST_PLACES:,} weights; it has {model.weights.size:,}"
            raise Fault(msg)
        document = versions() | document_of(model)
        names = document.pop("feature_names")
        document["vectors"] = vectors_of(model)
        document["feature_names"] = names
        if model.spread is not None:
            spread = {part: array_json(getattr(model.spread, part)) for part in SPREAD_PARTS}
            document["spread"] |= spread
        for key, arrays in _arrays(model).items():
            document[key] = {name: array_json(array) for name, array in arrays.items()}
        return laid_out(document)


def from_json(text: str) -> Model:
    """Return the model that ``to_json`` wrote.

    Raises
    ------
    InputError
        Where the text is not such a model, or was changed so that it does not fit together.
    """
    with told_of("The JSON text"):
        return read_json(text)


def read_json(text: str | bytes) -> Model:
    """Return the model that ``to_json`` wrote; raise Fault where there is none."""
    document = parse(text.removeprefix(b"\xef\xbb\xbf") if isinstance(text, bytes) else text)
    if not isinstance(document, dict) or document.pop("format", None) != "rosenblatt":
        msg = 'its JSON does not say "format": "rosenblatt"'
        raise Foreign(msg)
    check_version(document.pop("format_version", None))
    taken(document, "library_version", str)
    n_features = n_features_of(document)
    averaged = taken(document, "averaged", bool)
    vectors = taken(document, "vectors", list)
    spread = taken(document, "spread", dict, type(None))
    arrays = {key: taken(document, key, dict) for key in ("encoding_arrays", "arrays")}
    fields = fields_of(document)
    check_count("'count'", fields["count"], least=1)
    reader = VectorReader(
        fields["classes"],
        fields["feature_names"],
        n_features,
        averaged=averaged,
        encoded=fields["encoding"] is not None,
    )
    fields["weights"], fields["ledger"] = reader.read(vectors, fields["count"])
    for key, forms in arrays.items():
        fields[key] = {name: array_of(form, name) for name, form in forms.items()}
    if spread is not None:
        parts = {part: array_of(taken(spread, part, dict), part) for part in SPREAD_PARTS}
        fields["spread"] = Spread(**parts, n_rows=taken(spread, "n_rows", int))
        nothing_left(spread, "its spread")
    model = Model(**fields)
    check(model)
    return model


def _arrays(model: Model) -> dict[str, dict[str, NDArray[Any]]]:
    return {"encoding_arrays": model.encoding_arrays, "arrays": model.arrays}
