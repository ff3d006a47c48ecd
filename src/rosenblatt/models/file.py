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
from rosenblatt.models.checks import (
    SPREADS,
    VECTORS,
    Fault,
    check,
    fail,
    input_errors,
    model_arrays,
    require,
    shape_of,
)
from rosenblatt.models.document import (
    FORMAT_VERSION,
    compact,
    document_of,
    fields_of,
    parse,
    versions,
)
from rosenblatt.models.model import Model, Spread
from rosenblatt.models.tensors import (
    NO_MODEL,
    damaged,
    packed,
    read_arrays,
    read_header,
    unpacked,
    write_tensors,
)

Source = str | os.PathLike[str]


def write(model: Model, path: Source) -> None:
    """Write a model file, or change nothing and raise InputError; ``-`` is standard output."""
    with input_errors("The model"), replacing(path) as file:
        write_to(file, model)


def read(path: Source) -> Model:
    """Return the model of a file, or raise InputError; ``-`` is standard input.

    Nothing in the file is executed. Every byte of it is covered by its checksum.
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
    if b"\0" not in head and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        msg = "it is JSON, which models are exported to and not read from; use the model file"
        raise Fault(msg, NO_MODEL)
    header = read_header(file, head)
    version = header.metadata.get("format_version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise damaged()
    if int(version) > FORMAT_VERSION:
        msg, formats = "upgrade rosenblatt", f"format {version}; this one reads {FORMAT_VERSION}"
        raise Fault(msg, f"was written by a newer version of rosenblatt ({formats})")
    return _model(read_arrays(file, header, size))


def _tensors(model: Model) -> dict[str, NDArray[Any]]:
    text = compact(document_of(model)).encode()
    tensors = {"document": np.frombuffer(text, np.uint8)}
    for name, array in model_arrays(model).items():
        tensors |= packed(name, _from_one(array) if name == "variance" else array)
    tensors |= {f"encoding.{name}": array for name, array in model.encoding_arrays.items()}
    return tensors | {f"arrays.{name}": array for name, array in model.file_arrays().items()}


def _model(tensors: dict[str, NDArray[Any]]) -> Model:
    text = tensors.pop("document", None)
    document = None if text is None else parse(text.tobytes())
    if not isinstance(document, dict):
        raise damaged()
    fields = fields_of(document)
    fields["options"].pop("covariance", None)  # older files say that it is diagonal
    kind, spread = document["variance"], document["spread"]
    if kind == "full":
        fail("it keeps all covariances, which this version does not; train it again")
    # The arrays that the document names, and nothing else
    there = {"weights": True, "ledger": document["averaged"], "variance": kind is not None}
    arrays = {
        name: unpacked(
            tensors, name, shape_of(name, len(fields["classes"]), document["n_features"])
        )
        for name in (*VECTORS, *SPREADS)
        if there.get(name, spread is not None)
    }
    if "variance" in arrays:
        arrays["variance"] = _to_one(arrays["variance"])
    if spread is not None:
        require(spread.keys() == {"n_rows"}, "spread")
        low, high, deviation = (arrays.pop(name) for name in SPREADS)
        fields["spread"] = Spread(low, high, deviation, spread["n_rows"])
    fields["encoding_arrays"] = _named(tensors, "encoding.")
    fields["arrays"] = _named(tensors, "arrays.")
    require(not tensors, f"array {next(iter(tensors), '')!r:.60}")
    model = Model(**(fields | arrays))
    check(model, document["n_features"])
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


def _named(tensors: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors.pop(name) for name in names}
