"""A model as an ONNX graph, for programs that run those."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.models.file import check, compact, finite_average, plain, versions
from rosenblatt.models.model import Class, Model
from rosenblatt.models.tensors import input_errors

OPSET, IR_VERSION = 17, 8  # of 2022: run by onnxruntime 1.12 and later
LARGEST = 2_000_000_000  # bytes of weights; a protocol buffer ends at 2 GiB


def to_onnx(model: Model) -> bytes:
    """Return an ONNX model: X of shape (N, n_features) to ``label`` and ``scores``, in float64.

    ``scores`` has shape (N,) for two classes, above 0 for the second, else (N, n_classes). A score
    of zero and ties between classes predict as the model's own option ``zero`` says.
    """
    if model.voted:
        raise InputError(
            f"A {model.learner} decides by the votes of many weight vectors, which a linear graph"
            f" cannot hold: export JSON, or train with {Parameter('memory', 'average')} for ONNX."
        )
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        msg = "The export to ONNX needs onnx: pip install 'rosenblatt[onnx]'."
        raise InputError(msg) from error
    with input_errors("The model"):
        check(model)
        weights = finite_average(model)
    if model.weights.nbytes > LARGEST:
        msg = f"ONNX holds at most 2 GB; this model's weights are {model.weights.nbytes:,} bytes."
        raise InputError(msg)
    labels = _labels(model.classes)
    two = len(model.classes) == 2
    constants = {
        "coefficients": np.ascontiguousarray(weights[:, :-1].T),
        "bias": np.ascontiguousarray(weights[:, -1]),
        "classes": labels,
    }
    constants |= {"zero": np.zeros(()), "column": np.array([1])} if two else {}
    steps = _nodes(two, model.positive, int(TensorProto.INT64))
    nodes = [helper.make_node(kind, ins.split(), [out], **how) for kind, ins, out, how in steps]
    kind = helper.np_dtype_to_tensor_dtype(labels.dtype)
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "rosenblatt",
        inputs=[info("X", TensorProto.DOUBLE, ["N", model.n_features])],
        outputs=[
            info("label", kind, ["N"]),
            info("scores", TensorProto.DOUBLE, ["N"] if two else ["N", len(model.classes)]),
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


Node = tuple[str, str, str, dict[str, Any]]  # operator, inputs, output, attributes


def _nodes(two: bool, positive: bool, integer: int) -> list[Node]:
    products: Node = ("MatMul", "X coefficients", "products", {})
    label: Node = ("Gather", "classes number", "label", {"axis": 0})
    if not two:
        last = {"axis": 1, "keepdims": 0, "select_last_index": int(positive)}
        scores: Node = ("Add", "products bias", "scores", {})
        return [products, scores, ("ArgMax", "scores", "number", last), label]
    above: list[Node] = [("Greater", "scores zero", "second", {})]
    from_zero: list[Node] = [("Less", "scores zero", "first", {}), ("Not", "first", "second", {})]
    return [
        products,
        ("Add", "products bias", "activations", {}),
        ("Squeeze", "activations column", "scores", {}),
        *(from_zero if positive else above),
        ("Cast", "second", "number", {"to": integer}),
        label,
    ]


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
    sign = (
        "scores: above 0 for the second class."
        if len(model.classes) == 2
        else "scores: one for each class, the highest predicts."
    )
    return f"{model.learner} of rosenblatt. {rows} {sign}"
