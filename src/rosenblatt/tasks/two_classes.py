"""Two classes: one weight vector, whose positive side is the second class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import binary_pass
from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.second_order import GaussianWeights, second_order_pass
from rosenblatt.rules import Rule
from rosenblatt.tasks.classes import SingleClass
from rosenblatt.tasks.decision_graph import DecisionGraph, of_two_classes
from rosenblatt.tasks.task import Call, Part, Vectors, or_empty


@dataclass(frozen=True)
class TwoClasses(SingleClass):
    """Each row is of one of two classes; its score is above 0 for the second."""

    n_classes: int = 2
    flat: ClassVar[bool] = True

    scores_say: ClassVar[str] = "scores: above 0 for the second class."

    def decision_graph(
        self, thresholds: NDArray[Any], *, positive: bool, integer: int
    ) -> DecisionGraph:
        """Return the nodes of a graph that predicts."""
        return of_two_classes(positive=positive, integer=integer)

    def sides(
        self, scores: Sequence[float], winner: int | None, rival: int | None
    ) -> tuple[int, int]:
        """Return the second class and the first: one score explains both."""
        return 1, 0

    def kernel_call(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int, log: Log
    ) -> Call:
        """Return the kernel of a pass that changes this state, and its arguments."""
        given = (part.rows, part.targets, or_empty(part.weight), order, rule, zero)
        w, u, c = state.weights, or_empty(state.ledger), state.count
        if state.variance is None:
            return binary_pass, (*given, w, u, c, log)
        beliefs, room = GaussianWeights(w, state.variance), np.empty(part.rows.shape[1] + 1)
        return second_order_pass, (*given, beliefs, u, c, room)
