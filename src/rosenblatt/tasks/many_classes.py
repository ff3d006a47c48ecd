"""Many classes: a weight vector for each; the true one gains what its best rival loses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.multiclass import multiclass_pass
from rosenblatt.kernels.second_order import GaussianWeights, second_order_multiclass_pass
from rosenblatt.rules import Rule
from rosenblatt.tasks.classes import SingleClass
from rosenblatt.tasks.decision_graph import DecisionGraph, of_many_classes
from rosenblatt.tasks.task import Call, Part, Vectors, or_empty


@dataclass(frozen=True)
class ManyClasses(SingleClass):
    """Each row is of one of several classes; the highest score is its answer."""

    scattered: ClassVar[bool] = True

    def decision_graph(
        self, thresholds: NDArray[Any], *, positive: bool, integer: int
    ) -> DecisionGraph:
        """Return the nodes of a graph that predicts."""
        return of_many_classes(positive=positive)

    def sides(
        self, scores: Sequence[float], winner: int | None, rival: int | None
    ) -> tuple[int, int]:
        """Return the class whose lead is explained, by default the best, and the runner-up."""
        number = int(np.argmax(scores)) if winner is None else winner
        if rival is not None:
            return number, rival
        others = (k for k in range(len(scores)) if k != number)
        return number, max(others, key=lambda k: scores[k])

    def kernel_call(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int, log: Log
    ) -> Call:
        """Return the kernel of a pass that changes this state, and its arguments."""
        rows, w = state.read_by(part.rows), state.weights
        given = (rows, part.targets, or_empty(part.weight), order, rule, zero)
        u, c = or_empty(state.ledger, w.ndim), state.count
        if state.variance is None:
            return multiclass_pass, (*given, np.empty(self.n_classes), w, u, c, log)
        room = np.empty(part.rows.shape[1] + 1)
        rooms = (np.empty(self.n_classes), room, np.empty_like(room))
        return second_order_multiclass_pass, (
            *given,
            GaussianWeights(w, state.variance),
            u,
            c,
            rooms,
        )
