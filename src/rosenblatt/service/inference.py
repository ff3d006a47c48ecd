"""The Open Inference Protocol, version 2: tensors in, labels and scores out."""

from collections.abc import Sequence
from http import HTTPStatus
from itertools import chain
from typing import Annotated, Any, NoReturn

from msgspec import Meta, Struct

from rosenblatt.service import answers
from rosenblatt.service.limits import RequestError
from rosenblatt.service.requests import Features
from rosenblatt.service.writer import Entry

NUMBERS = {
    *("BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64"),
    *("FP16", "FP32", "FP64"),
}
Datum = float | str | bool | None
Extent = Annotated[int, Meta(ge=0, le=1 << 31)]


class InferTensor(Struct, kw_only=True):
    """A tensor: of rows and features, or of one feature and its rows."""

    name: str
    shape: list[Extent]
    datatype: str
    data: list[Any]
    parameters: dict[str, Any] = {}


class WantedOutput(Struct, kw_only=True):
    """A tensor to answer with. Parameters of the protocol are taken and not needed."""

    name: str
    parameters: dict[str, Any] = {}


class InferRequest(Struct, kw_only=True):
    """Tensors to predict, and those to answer with: all, unless some are named."""

    inputs: list[InferTensor]
    id: str | None = None
    parameters: dict[str, Any] = {}
    outputs: list[WantedOutput] = []


class InferAnswer(Struct, kw_only=True):
    """Labels (BYTES) and scores (FP64) of the rows."""

    model_name: str
    model_version: str
    id: str | None
    outputs: list[InferTensor]


class TensorMetadata(Struct, kw_only=True):
    """A tensor that a model takes or gives; −1 is any number."""

    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(Struct, kw_only=True):
    """A model as the protocol describes it."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


class ServerMetadata(Struct, kw_only=True):
    """The service as the protocol describes it."""

    name: str
    version: str
    extensions: list[str]


class Live(Struct, kw_only=True):
    """Whether the service runs."""

    live: bool


def rows_of(entry: Entry, request: InferRequest) -> list[Features]:
    """Return the rows that the tensors of a request hold."""
    if not request.inputs:
        _refuse("inputs is empty; a model needs at least one tensor.")
    columns = [_checked(tensor) for tensor in request.inputs]
    if answers.kind_of(entry) == "array" and len(columns) == 1:
        shape, data = request.inputs[0].shape, columns[0]
        if len(shape) != 2:
            _refuse(f"The tensor must have the shape [rows, features]; got {shape}.")
        n_rows, width = shape
        if any(type(value) is str or value is None for value in data):
            _refuse("The tensor must hold numbers.")
        values: list[Any] = [float(value or 0.0) for value in data]
        return [values[i * width : (i + 1) * width] for i in range(n_rows)]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        _refuse("All tensors must have as many rows, with the shape [rows] or [rows, 1].")
    names = [tensor.name for tensor in request.inputs]
    if len(set(names)) < len(names):
        _refuse("Two tensors have the same name.")
    if answers.kind_of(entry) == "array":
        _refuse("The model takes one tensor of the shape [rows, features].")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _checked(tensor: InferTensor) -> list[Datum]:
    """Return the data of a tensor as one list."""
    data: Sequence[Any] = tensor.data
    for _ in range(len(tensor.shape) - 1):
        if data and all(isinstance(part, list) for part in data):
            data = list(chain.from_iterable(data))
    size = 1
    for extent in tensor.shape:
        size *= extent
    if size != len(data):
        _refuse(f"The tensor {tensor.name[:80]!r} has {len(data)} values; its shape says {size}.")
    if tensor.datatype != "BYTES" and tensor.datatype not in NUMBERS:
        _refuse(f"The datatype {tensor.datatype[:40]!r} is not taken; use FP64 or BYTES.")
    if any(type(value) not in (int, float, str, bool, type(None)) for value in data):
        _refuse(f"The tensor {tensor.name[:80]!r} holds what is neither number nor text.")
    if tensor.datatype in NUMBERS and any(isinstance(value, str) for value in data):
        _refuse(f"The tensor {tensor.name[:80]!r} is of numbers and holds a text.")
    try:
        return [float(one) if type(one) is int else one for one in data]
    except OverflowError:
        _refuse(f"A number of the tensor {tensor.name[:80]!r} is too large.")


def _refuse(sentence: str) -> NoReturn:
    raise RequestError(HTTPStatus.BAD_REQUEST, sentence)


def inferred(entry: Entry, found: Any, request: InferRequest) -> InferAnswer:
    """Return predictions as tensors."""
    wanted = {output.name for output in request.outputs}
    if not wanted <= {"label", "score"}:
        _refuse(f"The outputs are label and score; got {min(wanted - {'label', 'score'})!r:.80}.")
    n_rows = len(found.labels)
    labels = InferTensor(
        name="label",
        shape=[n_rows],
        datatype="BYTES",
        data=["" if label is None else str(label) for label in found.labels],
    )
    outputs = [labels]
    if found.scores:
        wide = isinstance(found.scores[0], list)
        shape = [n_rows, len(found.scores[0])] if wide else [n_rows]
        flat = list(chain.from_iterable(found.scores)) if wide else found.scores
        outputs.append(InferTensor(name="score", shape=shape, datatype="FP64", data=flat))
    return InferAnswer(
        model_name=entry.record.name,
        model_version=str(found.version),
        id=request.id,
        outputs=[output for output in outputs if not wanted or output.name in wanted],
    )


def metadata_of(entry: Entry) -> ModelMetadata:
    """Return what a model takes and gives."""
    kind, view = answers.kind_of(entry), entry.view
    if kind == "array":
        inputs = [
            TensorMetadata(name="features", datatype="FP64", shape=[-1, view.n_features or -1])
        ]
    else:
        described = answers.described(entry)
        roles = described.columns or {}
        inputs = [
            TensorMetadata(name=name, datatype="FP64" if role == "numeric" else "BYTES", shape=[-1])
            for name, role in roles.items()
        ]
    n_classes = len(view.classes)
    return ModelMetadata(
        name=entry.record.name,
        versions=[str(entry.version)],
        platform="rosenblatt",
        inputs=inputs,
        outputs=[
            TensorMetadata(name="label", datatype="BYTES", shape=[-1]),
            TensorMetadata(
                name="score",
                datatype="FP64",
                shape=[-1] if n_classes == 2 else [-1, n_classes or -1],
            ),
        ],
    )
