"""The model file: safetensors with a document in it, written whole or not at all."""

import os
import stat
import sys
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.atomic import replacing
from rosenblatt.errors import InputError
from rosenblatt.models.checks import Damaged, Foreign, check, fail, input_errors
from rosenblatt.models.document import (
    check_empty,
    check_version,
    compact,
    document_of,
    fields_of,
    n_features_of,
    parse,
    taken,
    versions,
)
from rosenblatt.models.model import SPREAD_PARTS, Json, Model, Spread, n_vectors
from rosenblatt.models.tensors import packed, read_arrays, read_header, unpacked, write_tensors

Source = str | os.PathLike[str]


def write(model: Model, path: Source) -> None:
    """Write a model file; ``-`` is standard output.

    Raises
    ------
    InputError
        Where the model does not fit together or the file cannot be written; nothing is changed.
    """
    with input_errors("The model"), replacing(path) as file:
        write_to(file, model)


def read(path: Source) -> Model:
    """Return the model of a file; ``-`` is standard input.

    Nothing in the file is executed. Every byte of it is covered by its checksum.

    Raises
    ------
    InputError
        Where the file cannot be read, is damaged, is something else or is newer than this version.
    """
    name = "standard input" if path == "-" else os.fspath(path)
    with input_errors(name):
        if path == "-":
            return read_from(sys.stdin.buffer)
        try:
            with Path(path).open("rb") as file:
                status = os.fstat(file.fileno())
                return read_from(file, status.st_size if stat.S_ISREG(status.st_mode) else None)
        except OSError as error:
            msg = f"{name} cannot be read: {error.strerror or error}."
            raise InputError(msg) from error


def write_to(file: IO[bytes], model: Model) -> None:
    """Write a model to an open file, or raise Fault and write nothing."""
    check(model)
    write_tensors(file, {key: str(value) for key, value in versions().items()}, _tensors(model))


def read_from(file: IO[bytes], size: int | None = None) -> Model:
    """Return the model that an open file of this size holds; raise Fault where it holds none."""
    head = file.read(8)
    if not head:
        msg = "it is empty"
        raise Foreign(msg)
    if b"\0" not in head and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        msg = "it is JSON, which models are exported to and not read from; use the model file"
        raise Foreign(msg)
    header = read_header(file, head, size)
    check_version(header.metadata.get("format_version"))
    return _model(read_arrays(file, header, size))


def _tensors(model: Model) -> dict[str, NDArray[Any]]:
    text = compact(document_of(model)).encode()
    tensors = {"document": np.frombuffer(text, np.uint8), **packed("weights", model.weights)}
    if model.ledger is not None:
        tensors |= packed("ledger", model.ledger)
    if model.variance is not None:
        tensors |= packed("variance", _from_one(model.variance))
    if model.spread is not None:
        for part in SPREAD_PARTS:
            tensors |= packed(f"spread.{part}", getattr(model.spread, part))
    tensors |= {f"encoding.{name}": array for name, array in model.encoding_arrays.items()}
    return tensors | {f"arrays.{name}": array for name, array in model.file_arrays().items()}


def _model(tensors: dict[str, NDArray[Any]]) -> Model:
    text = tensors.pop("document", None)
    document = None if text is None else parse(text.tobytes())
    if not isinstance(document, dict):
        msg = "it has no document"
        raise Damaged(msg)
    n_features = n_features_of(document)
    averaged = taken(document, "averaged", bool)
    kind = taken(document, "variance", str, type(None))
    spread = taken(document, "spread", dict, type(None))
    fields = fields_of(document)
    shape = (n_vectors(len(fields["classes"])), n_features + 1)
    fields["weights"] = _array(tensors, "weights", shape)
    fields["ledger"] = _array(tensors, "ledger", shape) if averaged else None
    if kind == "full":
        fail("it keeps all covariances, which this version does not; train it again")
    if kind is not None:
        fields["variance"] = _to_one(_array(tensors, "variance", shape))
    fields["options"].pop("covariance", None)  # older files say that it is diagonal
    fields["spread"] = None if spread is None else _spread(tensors, spread, n_features)
    fields["encoding_arrays"] = _named(tensors, "encoding.")
    fields["arrays"] = _named(tensors, "arrays.")
    if tensors:
        fail(f"it has an array {next(iter(tensors))!r:.60}, which means nothing")
    model = Model(**fields)
    check(model)
    return model


def _from_one(variance: NDArray[Any]) -> NDArray[Any]:
    """Return variances with 0 for 1, which most features of a wide model have: zeros are packed."""
    stored = variance.copy()
    stored[variance == 0.0] = -0.0
    stored[variance == 1.0] = 0.0
    return stored


def _to_one(stored: NDArray[Any]) -> NDArray[Any]:
    """Return what ``_from_one`` was given, in the same memory."""
    zero, negative = stored == 0.0, np.signbit(stored)
    stored[zero] = 1.0
    stored[zero & negative] = 0.0
    return stored


def _spread(tensors: dict[str, NDArray[Any]], document: dict[str, Json], n_features: int) -> Spread:
    parts = {part: _array(tensors, f"spread.{part}", (n_features,)) for part in SPREAD_PARTS}
    n_rows = taken(document, "n_rows", int)
    check_empty(document, "its spread")
    return Spread(**parts, n_rows=n_rows)


def _array(tensors: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    values = unpacked(tensors, name, shape)
    if values is None:
        fail(f"it has no array {name!r}")
    return values


def _named(tensors: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors.pop(name) for name in names}
