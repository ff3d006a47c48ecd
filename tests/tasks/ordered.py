"""A task that the package does not have: classes in an order, by the PRank of Crammer & Singer.

"Pranking with ranking", NIPS 2001. One vector scores a row, and K − 1 thresholds cut the scores
into K classes. Each threshold is kept as a row of weights of its own: all of these rows hold the
one vector, and each a bias of its own, which is the threshold's negative.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.tasks.classes import SingleClass
from rosenblatt.tasks.decision_graph import DecisionGraph
from rosenblatt.tasks.task import Call, Part, Vectors


@dataclass(frozen=True)
class OrderedClasses(SingleClass):
    """Each row has one of several classes that have an order: the labels as they are sorted."""

    name: ClassVar[str] = "ordered"
    estimator: ClassVar[str] = "OrderedClassifier"
    rule: ClassVar[str] = "perceptron"
    races: ClassVar[bool] = False
    contrasts: ClassVar[bool] = False

    @property
    def n_vectors(self) -> int:
        """One row of weights a threshold."""
        return max(self.n_classes - 1, 0)

    def targets(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the places of classes in their order."""
        return np.asarray(numbers, np.int32)

    def numbers(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return the places of classes in their order."""
        return np.asarray(targets, np.int64)

    def answers(
        self,
        scores: NDArray[Any],
        thresholds: NDArray[Any] | None = None,  # noqa: ARG002  # of tasks that fit some
        *,
        positive: bool,
    ) -> NDArray[Any]:
        """Return how many thresholds each row is above."""
        return np.asarray((scores >= 0 if positive else scores > 0).sum(axis=1), np.intp)

    def confidence(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return how far each row is from the nearest threshold."""
        return np.asarray(np.abs(scores).min(axis=1))

    def kernel_call(self, state: Vectors, part: Part, order: NDArray[Any], *how: Any) -> Call:
        """Return a pass in plain Python, and its arguments."""
        return self._pass, (state, part, order, *how)

    def _pass(self, state: Any, part: Part, order: NDArray[Any], rule: Any, *_: Any) -> Counts:
        X = np.asarray(matrix_of(part.rows).astype(float)[order].toarray())
        X = np.column_stack([X, np.full(len(X), part.rows.constant)])
        w, u = state.by_class(state.weights), state.ledger
        u = None if u is None else state.by_class(u)
        n_mistakes = n_updates = 0
        for k, (x, target) in enumerate(zip(X, part.targets[order].tolist(), strict=True)):
            side = np.where(np.arange(len(w)) < target, 1.0, -1.0)
            margins = side * (w @ x)
            steps = np.array([rule.step(m, float(x @ x)) for m in margins.tolist()])
            move = side * steps * (1.0 if part.weight is None else part.weight[order[k]])
            n_mistakes += bool((margins <= 0).any())
            n_updates += bool(move.any())
            change = np.outer(np.full(len(w), move.sum()), x)
            change[:, -1] = move * x[-1]  # a threshold moves by itself
            w += change
            if u is not None:
                u += (state.count + k) * change
        return Counts(n_mistakes, n_updates, 0.0)

    def decision_graph(self, *_: Any, **__: Any) -> DecisionGraph:
        """Refuse: it is left out of this example."""
        raise NotImplementedError

    def sides(self, *_: Any) -> tuple[int, int | None]:
        """Refuse: it is left out of this example."""
        raise NotImplementedError
