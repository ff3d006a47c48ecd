"""Kernel machines judged on rows in memory, beside the learners of any search."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.kernels.shapes import dense_values, matrix_of
from rosenblatt.models.kernel_machine import KernelChoice
from rosenblatt.models.rows import MOST_DENSE_COLUMNS
from rosenblatt.models.search import Candidate, Curve, RowJudge

KERNEL_PASSES = 5
KERNELS = tuple(  # where there are so few rows that they can be fitted
    Candidate((("rule", "perceptron"), *entry.items()))
    for entry in (
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.1},
        {"kernel": "poly", "kernel_degree": 2},
        {"kernel": "poly", "kernel_degree": 3},
    )
)


class KernelJudge(RowJudge):
    """Judges kernel machines, which see all rows, as well."""

    def __call__(
        self, candidate: Candidate, share: float, fold: int, stopped: Callable[[], bool]
    ) -> Curve:
        """Return the metric on the fold; of a kernel machine it is known after the last pass."""
        if not is_kernel(candidate):
            return super().__call__(candidate, share, fold, stopped)
        examples, (train, test) = self._rows(candidate).examples, self._splits[fold]
        machine = kernel_machine(candidate, **self._shared)
        wide = examples.rows.shape[1] > MOST_DENSE_COLUMNS
        X: Any = matrix_of(examples.rows) if wide else dense_values(examples.rows)
        weight = None if examples.weight is None else examples.weight[train]
        machine.fit(X[train], self._numbers[train], weight)
        scores = np.asarray(machine.decision_function(X[test]))
        return self._last_value(scores, test, machine.max_iter)


def is_kernel(candidate: Candidate) -> bool:
    """Return whether a candidate is a kernel machine."""
    return "kernel" in candidate.parameters


def kernel_machine(candidate: Candidate, **shared: Any) -> KernelPerceptron:
    """Return the estimator of a candidate, with what all candidates share."""
    given, names = dict(candidate.learner), ("kernel", "gamma", "kernel_degree")
    choice = KernelChoice.of(**{name: given.pop(name, None) for name in names})
    class_weight = shared.pop("class_weight", None)
    learner = Candidate(tuple(given.items())).learner_with(KERNEL_PASSES, **shared)
    return KernelPerceptron(**choice.options(learner), class_weight=class_weight)
