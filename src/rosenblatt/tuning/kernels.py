"""Kernel perceptrons as candidates, where there are so few rows that they can be fitted."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.models.kernel_machine import KernelChoice
from rosenblatt.tuning.candidates import Candidate
from rosenblatt.tuning.judging import RowJudge
from rosenblatt.tuning.search import Curve, Stopped

PASSES = 5
KERNELS = tuple(
    Candidate((("rule", "perceptron"), *entry.items()))
    for entry in (
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.1},
        {"kernel": "poly", "kernel_degree": 2},
        {"kernel": "poly", "kernel_degree": 3},
    )
)


class KernelJudge:
    """Judges kernel machines by fitting them, and leaves all others to another judge."""

    def __init__(
        self,
        other: RowJudge,
        rows: Callable[[Candidate], Any],  # the matrix of rows as a candidate encodes them
        y: NDArray[Any],
        weight: NDArray[Any] | None,
        **shared: Any,
    ) -> None:
        self._other, self._rows, self._y, self._weight = other, rows, y, weight
        self._shared = shared

    def __call__(
        self, candidate: Candidate, share: float, fold: int, stopped: Callable[[], bool]
    ) -> Curve:
        """Return the metric on the fold, which is known after the last pass."""
        if not is_kernel(candidate):
            return self._other(candidate, share, fold, stopped)
        if stopped():
            raise Stopped
        train, test = self._other.split(fold)
        machine = kernel_machine(candidate, **self._shared)
        rows = self._rows(candidate)
        X = getattr(rows, "iloc", rows if hasattr(rows, "shape") else np.asarray(rows))
        weight = None if self._weight is None else self._weight[train]
        machine.fit(X[train], self._y[train], weight)
        scores = np.asarray(machine.decision_function(X[test]))
        return self._other.last_value(scores, test, machine.max_iter)


def is_kernel(candidate: Candidate) -> bool:
    """Return whether a candidate is a kernel machine."""
    return "kernel" in candidate.parameters


def kernel_machine(candidate: Candidate, *, class_weight: Any, **shared: Any) -> KernelPerceptron:
    """Return the estimator of a candidate, with what all candidates share."""
    given = dict(candidate.learner)
    chosen = {
        entry.name: given.pop(entry.name) for entry in fields(KernelChoice) if entry.name in given
    }
    learner = Candidate(tuple(given.items())).learner_with(PASSES, **shared)
    options = KernelChoice(**chosen).options(learner)
    return KernelPerceptron(**options, class_weight=class_weight)
