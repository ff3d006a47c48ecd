"""scikit-learn's own suite of checks."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    MultilabelClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    RuleClassifier,
    VotedPerceptron,
)

# A row of weight 2 steps twice as far at once; the same row given twice is met at two times. No
# learner that depends on the order of rows can make the two equal in general, and scikit-learn
# exempts its own Perceptron from these two checks as well.
EXPECTED = {
    f"check_sample_weight_equivalence_on_{form}_data": "the model depends on the order of rows"
    for form in ("dense", "sparse")
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        Perceptron(),
        AveragedPerceptron(),
        ConfidenceWeightedClassifier(),
        MultilabelClassifier(),
        PassiveAggressiveClassifier(),
        RuleClassifier(),
        VotedPerceptron(),
    ],
    expected_failed_checks=lambda _estimator: EXPECTED,
)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    """Every check passes, save two that an order-dependent learner cannot pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize("classifier", [Perceptron, AveragedPerceptron])
def test_weight_zero_is_as_if_not_given(classifier: type) -> None:
    """What can hold of those two checks does: a row of weight zero equals a row left out."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), rng.integers(0, 3, 60)
    weight = rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        a = classifier(max_iter=5).fit(X, y, sample_weight=weight)
        b = classifier(max_iter=5).fit(X[weight == 1], y[weight == 1])
    assert np.array_equal(a.coef_, b.coef_)
    assert np.array_equal(a.intercept_, b.intercept_)
