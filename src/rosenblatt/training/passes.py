"""One pass over a state: chooses the kernel and keeps the count."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import binary_mistakes, binary_pass
from rosenblatt.kernels.counts import Counts, Log
from rosenblatt.kernels.multiclass import multiclass_mistakes, multiclass_pass
from rosenblatt.rules import Rule
from rosenblatt.training.examples import Examples
from rosenblatt.training.state import State


def run_pass(
    state: State,
    examples: Examples,
    order: NDArray[Any],
    rule: Rule,
    zero: int,
    log: Log | None = None,
) -> Counts:
    """Change the state by one visit to each row of the order."""
    rows, y, weight = examples.rows, examples.targets, examples.weight
    state.arrange_for(rows)
    w, u, c, n_classes = state.weights, state.ledger, state.count, state.n_classes
    if n_classes == 1:  # nothing to tell it from
        counts = Counts(0, 0, 0.0)
    elif n_classes == 2:
        counts = binary_pass(rows, y, weight, order, rule, zero, w, u, c, log)
    else:
        scores = np.empty(n_classes)
        counts = multiclass_pass(rows, y, weight, order, rule, zero, scores, w, u, c, log)
    state.count += len(order)
    return counts


def count_mistakes(
    state: State, weights: NDArray[Any], examples: Examples, order: NDArray[Any], zero: int
) -> int:
    """Count the rows of the order that weights of this state's layout misclassify."""
    rows, y, n_classes = examples.rows, examples.targets, state.n_classes
    if n_classes == 2:
        return binary_mistakes(rows, y, order, zero, weights)
    return multiclass_mistakes(rows, y, order, zero, np.empty(n_classes), weights)
