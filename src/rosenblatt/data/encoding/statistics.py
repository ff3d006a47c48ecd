"""Count, mean and spread of numeric columns as their rows come by, and what is made of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FIELDS = ("count", "mean", "m2", "low", "high", "n_missing")


class ColumnStatistics:
    """Exact running statistics of each column; the same, to rounding, however rows are cut.

    Blocks are merged as in Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for
    computing sample variances" (1979): with d the difference of the means of two parts,
    mean = mean₁ + d·n₂/n and M₂ = M₂₁ + M₂₂ + d²·n₁·n₂/n.
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values  # (len(FIELDS), n_columns)

    @classmethod
    def empty(cls, n_columns: int) -> "ColumnStatistics":
        """Return statistics of no rows."""
        values = np.zeros((len(FIELDS), n_columns))
        values[FIELDS.index("low")] = np.inf
        values[FIELDS.index("high")] = -np.inf
        return cls(values)

    def add(self, block: NDArray[np.float64]) -> None:
        """Take in rows, NaN where a value is missing."""
        count, mean, m2, low, high, n_missing = self.values
        present = ~np.isnan(block)
        n_new = present.sum(axis=0).astype(np.float64)
        n_missing += len(block) - n_new
        own = np.maximum(n_new, 1)
        new_mean = np.where(present, block, 0).sum(axis=0) / own
        apart = np.where(present, block - new_mean, 0)
        rest = apart.sum(axis=0) / own  # what rounding left
        new_m2 = (apart * apart).sum(axis=0) - rest * rest * n_new
        new_mean += rest
        total = np.maximum(count + n_new, 1)
        difference = np.where(n_new > 0, new_mean - mean, 0)
        mean += difference * (n_new / total)
        m2 += np.maximum(new_m2, 0) + difference * difference * (count * n_new / total)
        count += n_new
        np.fmin(low, np.fmin.reduce(block, axis=0, initial=np.inf), out=low)
        np.fmax(high, np.fmax.reduce(block, axis=0, initial=-np.inf), out=high)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each column; 0 where all is missing."""
        _, mean, _, low, high, _ = self.values
        return np.where(low <= high, np.clip(mean, low, high), 0)

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation of each column, or 1 where all values are equal."""
        count, _, m2, low, high, _ = self.values
        deviation = np.sqrt(m2 / np.maximum(count, 1))
        # Equal values can leave a deviation that is all rounding.
        return np.where((low < high) & (deviation > 0), deviation, 1)

    def finished(self, numbers: NDArray[Any], missing: str, *, scale: bool) -> NDArray[np.float64]:
        """Return rows with gaps filled by the mean or by zero, scaled to deviation 1 or not."""
        filled = np.where(np.isnan(numbers), self.mean if missing == "mean" else 0.0, numbers)
        return (filled - self.mean) / self.deviation if scale else filled
