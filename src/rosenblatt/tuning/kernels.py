"""Kernel perceptrons as candidates, where there are so few rows that they can be fitted."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.tuning.candidates import Candidate
from rosenblatt.tuning.judging import RowJudge
from rosenblatt.tuning.search import Curve, Stopped

PASSES = 5
KERNELS = tuple(
    Candidate((("rule", "perceptron"), *entry.items()))
    for entry in (
        {"kernel": "rbf", "gamma": "scale"},
        {"kernel": "rbf", "gamma": 0.1},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"kernel": "poly", "degree": 3, "coef0": 1.0},
    )
)


class KernelJudge:
    """Judges kernel machines by fitting them, and leaves all others to another judge."""

    def __init__(
        self, other: RowJudge, X: Any, y: NDArray[Any], class_weight: Any, seed: int
    ) -> None:
        self._other, self._y = other, y
        self._X = X if hasattr(X, "shape") else np.asarray(X)
        self._class_weight, self._seed = class_weight, seed

    def __call__(
        self, candidate: Candidate, share: float, fold: int, stopped: Callable[[], bool]
    ) -> Curve:
        """Return the metric on the fold, which is known after the last pass."""
        if not is_kernel(candidate):
            return self._other(candidate, share, fold, stopped)
        if stopped():
            raise Stopped
        train, test = self._other.split(fold)
        machine = kernel_machine(candidate, self._class_weight, self._seed)
        X = self._X.iloc if hasattr(self._X, "iloc") else self._X
        machine.fit(X[train], self._y[train])
        scores = np.asarray(machine.decision_function(X[test]))
        return self._other.last_value(scores, test, PASSES)


def is_kernel(candidate: Candidate) -> bool:
    """Return whether a candidate is a kernel machine."""
    return "kernel" in candidate.parameters


def kernel_machine(candidate: Candidate, class_weight: Any, seed: int) -> KernelPerceptron:
    """Return the estimator of a candidate."""
    more: dict[str, Any] = {"class_weight": class_weight, "random_state": seed}
    return KernelPerceptron(**candidate.parameters, max_iter=PASSES, **more)
