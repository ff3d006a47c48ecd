"""Means over runs, how uncertain they are, and how far a figure may lie from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

CERTAINTY = 0.975  # quantile of Student's t: both tails together are 5 %


@dataclass(frozen=True)
class Estimate:
    """A mean over runs that differ by their seed alone."""

    mean: float
    deviation: float  # between runs (n − 1); 0 where there is one
    n: int

    @property
    def standard_error(self) -> float:
        """How far the mean is likely to be from that of infinitely many runs."""
        return self.deviation / sqrt(self.n)

    @property
    def uncertainty(self) -> float:
        """How far the mean is from that of infinitely many runs at most, 19 times in 20.

        Student's t allows for a deviation that is known from few runs.
        """
        return student(self.n) * self.standard_error if self.deviation else 0.0


def student(n: int) -> float:
    """Return how many deviations, known from n values, hold 19 in 20.

    >>> round(student(3), 2), round(student(1000), 2)
    (4.3, 1.96)
    """
    from scipy.special import stdtrit

    if n < 2:
        msg = "A deviation takes at least two runs."
        raise ValueError(msg)
    return float(stdtrit(n - 1, CERTAINTY))


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of values and their deviation.

    >>> estimate([1.0, 2.0, 3.0])
    Estimate(mean=2.0, deviation=1.0, n=3)
    """
    numbers = np.asarray(values, np.float64)
    deviation = float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0
    return Estimate(float(numbers.mean()), deviation, len(numbers))


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Estimate:
    """Return the ratio of the means of pairs, with the deviation of its linear form.

    The standard error is the usual one of a ratio estimator: that of the mean of a − r·b, divided
    by the mean of b, where r is the ratio.

    >>> ratio([2.0, 4.0], [4.0, 8.0])
    Estimate(mean=0.5, deviation=0.0, n=2)
    """
    a, b = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    r = float(a.mean() / b.mean())
    residuals = estimate(a - r * b)  # type: ignore[arg-type]  # an array is a sequence
    return Estimate(r, residuals.deviation / float(b.mean()), len(a))


def one_more_run(ours: Estimate, rounding: float) -> float:
    """Return how far the figure of a single other run may lie from our mean, 19 times in 20.

    ``rounding`` is half a unit of the last digit that the figure is printed with.
    """
    return student(ours.n) * ours.deviation * sqrt(1 + 1 / ours.n) + rounding


def two_means(ours: Estimate, theirs: Estimate, rounding: float) -> float:
    """Return how far two means over runs may lie apart, 19 times in 20.

    The degrees of freedom are those of whichever has the fewer runs, which allows rather too much.
    """
    apart = sqrt(ours.standard_error**2 + theirs.standard_error**2)
    return student(min(ours.n, theirs.n)) * apart + rounding
