"""scikit-learn's own suite of checks on the kernel perceptron."""

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import KernelPerceptron
from tests.estimators.test_checks import EXPECTED


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        KernelPerceptron(),
        KernelPerceptron(memory="vote", multi_class="one-vs-rest"),
        KernelPerceptron(memory="last", rule="pa1"),
        KernelPerceptron(max_support=20, budget="forgetron", memory="last"),
    ],
    expected_failed_checks=lambda _estimator: EXPECTED,
)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    """Every check passes, save two that an order-dependent learner cannot pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
