"""scikit-learn's own suite of checks on the kernel perceptron."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import KernelPerceptron
from tests.estimators.test_checks import EXPECTED


def passes(check: Callable[[Any], None], estimator: Any) -> None:
    """Run a check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [KernelPerceptron(), KernelPerceptron(memory="last")],
    expected_failed_checks=lambda _estimator: EXPECTED,
)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    """Every check passes, save two that an order-dependent learner cannot pass."""
    passes(check, estimator)


@pytest.mark.explore
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        KernelPerceptron(memory="vote", multi_class="one-vs-rest"),
        KernelPerceptron(memory="last", rule="pa1"),
    ],
    expected_failed_checks=lambda _estimator: EXPECTED,
)
def test_scikit_learn_check_of_other_parameters(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    """The same with parameters that change the class in nothing but its numbers."""
    passes(check, estimator)
