"""A model as JSON, for people and programs to read, and as an ONNX graph, for programs to run."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.lazy import installing
from rosenblatt.models.file import (
    check,
    compact,
    document_of,
    finite_average,
    no_form,
    own_arrays,
    plain,
    versions,
)
from rosenblatt.models.model import SPREAD_PARTS, Class, Model
from rosenblatt.models.record import Json
from rosenblatt.models.tensors import MOST_PLACES, fail, input_errors, nonzero_places

OPSET, IR_VERSION = 17, 8  # of 2022: run by onnxruntime 1.12 and later
MOST_LINES = 100_000  # numbers that stand in a line each; more are read by programs
LARGEST = 2_000_000_000  # bytes of weights; a protocol buffer ends at 2 GiB


def to_json(model: Model) -> str:
    """Return a model as JSON text, with the weights that are not zero by feature and class.

    ``weight`` is the one that decides. Where it is an average, ``last`` and ``ledger`` stand beside
    it: what training goes on from, and what an import reads.
    """
    with input_errors("The model"):
        check(model)
        weights = model.weights
        if weights.size > MOST_PLACES:
            fail(f"JSON is for at most {MOST_PLACES:,} weights; it has {weights.size:,}")
        document = versions() | document_of(model)
        names = document.pop("feature_names")
        document["vectors"] = vectors_of(model)
        document["feature_names"] = names
        if model.spread is not None:
            spread = {part: array_json(getattr(model.spread, part)) for part in SPREAD_PARTS}
            document["spread"] |= spread
        named = {"encoding_arrays": model.encoding_arrays, "arrays": own_arrays(model)}
        for key, arrays in named.items():
            document[key] = {name: array_json(array) for name, array in arrays.items()}
        indent = 1 if weights.size < MOST_LINES else None  # which takes ten times as long
        how: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "default": no_form}
        text = json.dumps(document, indent=indent, **how)
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
    if model.task.flat:
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
    return cache(  # each class asks again
        lambda place: {"name": encoding.name(place)} if encoding and place < n_named else {}
    )


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


def to_onnx(model: Model) -> bytes:
    """Return an ONNX model: X of shape (N, n_features) to ``label`` and ``scores``, in float64.

    ``scores`` has shape (N,) for two classes, above 0 for the second, else (N, n_classes). A score
    of zero and ties between classes predict as the model's own option ``zero`` says. Where a row
    may have several labels, ``labels`` in place of ``label`` says which it has, (N, n_labels).
    """
    if model.by_vote:
        raise InputError(
            f"A {model.learner} decides by the votes of many weight vectors, which a linear graph"
            f" cannot hold: export JSON, or train with {Parameter('memory', 'average')} for ONNX."
        )
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        msg = f"The export to ONNX needs onnx: {installing('onnx')}"
        raise InputError(msg) from error
    with input_errors("The model"):
        check(model)
        weights = finite_average(model)
    if model.weights.nbytes > LARGEST:
        msg = f"ONNX holds at most 2 GB; this model's weights are {model.weights.nbytes:,} bytes."
        raise InputError(msg)
    labels, task = _labels(model.classes), model.task
    decided = task.decision_graph(
        model.thresholds, positive=model.positive, integer=int(TensorProto.INT64)
    )
    constants = {"classes": labels} if decided.gathers else {}
    constants["coefficients"] = np.ascontiguousarray(weights[:, :-1].T)
    constants["bias"] = np.ascontiguousarray(weights[:, -1])
    constants |= decided.constants
    steps = [("MatMul", "X coefficients", "products", {}), *decided.nodes]
    nodes = [helper.make_node(kind, ins.split(), [out], **how) for kind, ins, out, how in steps]
    info, n_classes = helper.make_tensor_value_info, len(model.classes)
    label = info("labels", TensorProto.BOOL, ["N", n_classes])
    if decided.gathers:
        label = info("label", helper.np_dtype_to_tensor_dtype(labels.dtype), ["N"])
    graph = helper.make_graph(
        nodes,
        "rosenblatt",
        inputs=[info("X", TensorProto.DOUBLE, ["N", model.n_features])],
        outputs=[
            label,
            info("scores", TensorProto.DOUBLE, ["N"] if task.flat else ["N", n_classes]),
        ],
        initializer=[numpy_helper.from_array(value, name) for name, value in constants.items()],
        doc_string=_doc(model),
    )
    proto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="rosenblatt",
        producer_version=versions()["library_version"],
        doc_string=_doc(model),
    )
    properties = {"learner": model.learner, "classes": compact(plain(model.classes))}
    if model.feature_names is not None:
        properties["feature_names"] = compact(plain(model.feature_names))
    helper.set_model_props(proto, properties)
    return bytes(proto.SerializeToString())


def _labels(classes: tuple[Class, ...]) -> NDArray[Any]:
    """Return the classes as ONNX has them: words, truth values, int64 or double."""
    if isinstance(classes[0], str):
        try:
            "".join(map(str, classes)).encode()
        except UnicodeEncodeError as error:
            msg = f"ONNX has UTF-8 text only; the classes hold {error.object[error.start]!r}."
            raise InputError(msg) from None
        return np.array(classes, object)
    if isinstance(classes[0], bool):
        return np.array(classes, bool)
    whole = all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in classes)
    return np.array(classes, np.int64 if whole else np.float64)


def _doc(model: Model) -> str:
    rows = (
        "X is a matrix of float64 with one column a feature."
        if model.encoding is None
        else "X is the matrix of encoded features, float64: columns of a file must be turned into "
        "features, and scaled, as the model's encoding says, before they come here."
    )
    return f"{model.learner} of rosenblatt. {rows} {model.task.scores_say}"
