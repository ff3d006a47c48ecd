"""How scores become answers, as nodes of a graph that other programs run."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Node = tuple[str, str, str, dict[str, Any]]  # operator, inputs, output, attributes


class DecisionGraph(NamedTuple):
    """Nodes from ``products`` of rows and weights to ``scores`` and what they predict."""

    nodes: list[Node]
    constants: dict[str, NDArray[Any]]
    gathers: bool = True  # whether a row's ``label`` is one of the classes; else ``labels``


GATHER: Node = ("Gather", "classes number", "label", {"axis": 0})


def of_two_classes(*, positive: bool, integer: int) -> DecisionGraph:
    """Return the graph of one score, whose sign decides."""
    nodes: list[Node] = [
        ("Add", "products bias", "activations", {}),
        ("Squeeze", "activations column", "scores", {}),
    ]
    if positive:
        nodes += [("Less", "scores zero", "first", {}), ("Not", "first", "second", {})]
    else:
        nodes.append(("Greater", "scores zero", "second", {}))
    nodes += [("Cast", "second", "number", {"to": integer}), GATHER]
    return DecisionGraph(nodes, {"zero": np.zeros(()), "column": np.array([1])})


def of_many_classes(*, positive: bool) -> DecisionGraph:
    """Return the graph of the highest score."""
    last = {"axis": 1, "keepdims": 0, "select_last_index": int(positive)}
    add: Node = ("Add", "products bias", "scores", {})
    return DecisionGraph([add, ("ArgMax", "scores", "number", last), GATHER], {})


def of_label_sets(thresholds: NDArray[Any], *, positive: bool, integer: int) -> DecisionGraph:
    """Return the graph of thresholds: where none is reached the best label may be predicted."""
    *own, of_best = thresholds
    constants = {"thresholds": np.array(own), "of_best": np.array(of_best)}
    constants |= {"none": np.array(0), "places": np.arange(len(own))[None]}
    passes = "GreaterOrEqual" if positive else "Greater"
    nodes: list[Node] = [
        ("Add", "products bias", "scores", {}),
        (passes, "scores thresholds", "own", {}),
        (passes, "scores of_best", "high", {}),
        ("Cast", "own", "counts", {"to": integer}),
        ("ReduceMax", "counts", "most", {"axes": [1], "keepdims": 1}),
        ("Equal", "most none", "empty", {}),
        ("ArgMax", "scores", "number", {"axis": 1, "keepdims": 1}),
        ("Equal", "number places", "best", {}),
        ("And", "best high", "able", {}),
        ("And", "able empty", "added", {}),
        ("Or", "own added", "labels", {}),
    ]
    return DecisionGraph(nodes, constants, gathers=False)
