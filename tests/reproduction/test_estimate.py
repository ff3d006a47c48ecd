"""Means, their uncertainty and tolerances, by numbers worked out by hand."""

from math import sqrt

import numpy as np
import pytest

from reproduction.estimate import (
    Estimate,
    estimate,
    one_more_run,
    ratio,
    student,
    two_means,
)


def test_mean_and_deviation() -> None:
    """Of 2, 4, 4, 10 the mean is 5, the deviation √(36/3) and the standard error half of it."""
    found = estimate([2, 4, 4, 10])
    assert found.mean == pytest.approx(5)
    assert found.deviation == pytest.approx(sqrt(12))
    assert found.standard_error == pytest.approx(sqrt(3))
    assert found.uncertainty == pytest.approx(3.18245 * sqrt(3), rel=1e-5)  # t(3) at 97.5 %


def test_one_run_has_no_deviation() -> None:
    """A single run has deviation 0, and no interval can be made of it."""
    assert estimate([7.0]) == Estimate(7.0, 0.0, 1)
    assert estimate([7.0]).uncertainty == 0.0
    with pytest.raises(ValueError, match="at least two runs"):
        one_more_run(Estimate(7.0, 0.0, 1), 0.5)


def test_ratio_of_means() -> None:
    """The ratio is that of the means; a numerator that is always half of the other is exact."""
    assert ratio([1, 2, 3], [2, 4, 6]) == Estimate(0.5, 0.0, 3)
    found = ratio([1, 3], [2, 2])
    assert found.mean == pytest.approx(1.0)
    assert found.deviation == pytest.approx(sqrt(2) / 2)  # of −1 and +1, divided by 2


def test_error_of_a_ratio() -> None:
    """The standard error of a ratio is the deviation of many ratios of fresh samples."""
    generator = np.random.default_rng(0)
    ratios, errors = [], []
    for _ in range(500):
        b = generator.uniform(5, 15, 50)
        found = ratio(0.8 * b + generator.normal(0, 2, 50), b)  # type: ignore[arg-type]
        ratios.append(found.mean)
        errors.append(found.standard_error)
    assert np.mean(errors) == pytest.approx(np.std(ratios), rel=0.1)


def test_one_more_run_holds_19_in_20() -> None:
    """A fresh run lies within the tolerance of the mean of three runs 95 times in 100."""
    generator = np.random.default_rng(1)
    inside = 0
    for _ in range(4000):
        *runs, fresh = generator.normal(10, 3, 4).tolist()
        ours = estimate(runs)
        inside += abs(fresh - ours.mean) <= one_more_run(ours, 0.0)
    assert inside / 4000 == pytest.approx(0.95, abs=0.012)


def test_tolerances_by_hand() -> None:
    """Two means of 9 and 16 runs with standard errors of 1."""
    ours, theirs = Estimate(0.0, 3.0, 9), Estimate(0.0, 4.0, 16)
    assert two_means(ours, theirs, 0.5) == pytest.approx(student(9) * sqrt(2) + 0.5)
