"""How the values of each feature spread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled
from rosenblatt.kernels.rows import Dense, Rows


@compiled
def _measure(
    data: NDArray[Any],
    indices: NDArray[Any],
    count: Changed[NDArray[Any]],  # as all that follow
    mean: Changed[NDArray[Any]],
    squares: Changed[NDArray[Any]],  # Σ (x − mean)², by Welford's recurrence
    low: Changed[NDArray[Any]],
    high: Changed[NDArray[Any]],
) -> None:
    for p in range(len(data)):
        x, j = data[p], indices[p]
        count[j] += 1
        step = x - mean[j]
        mean[j] += step / count[j]
        squares[j] += step * (x - mean[j])
        low[j] = min(low[j], x)
        high[j] = max(high[j], x)


class FeatureMoments:
    """Running count, mean, sum of squares about it, lowest and highest value of each feature.

    >>> moments = FeatureMoments(2)
    >>> for x in ([1.0, 5.0], [3.0, 5.0]):
    ...     moments.add(np.array(x), np.arange(2, dtype=np.int32))
    >>> moments.scaled(np.array([3.0, 6.0]), np.arange(2))
    array([1., 0.])
    """

    def __init__(self, n_features: int) -> None:
        self.values = np.zeros((5, n_features))
        self.values[3], self.values[4] = np.inf, -np.inf

    def widen(self, n_features: int) -> None:
        """Change to at least that many features."""
        missing = n_features - self.values.shape[1]
        if missing > 0:
            self.values = np.hstack([self.values, FeatureMoments(missing).values])

    def add(self, data: NDArray[Any], indices: NDArray[Any]) -> None:
        """Take in values of these features."""
        _measure(data, indices, *self.values)

    def centre(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return mean and deviation of each feature; deviation 0 where all values are equal."""
        return self.values[1].copy(), self._deviation(slice(None))

    def scaled(self, data: NDArray[Any], indices: NDArray[Any]) -> NDArray[Any]:
        """Return (x − mean)/deviation of values, and 0 of features that have had one value."""
        deviation = self._deviation(indices)
        varied = deviation > 0.0
        apart = np.where(varied, data - self.values[1, indices], 0.0)
        return np.divide(apart, np.where(varied, deviation, 1.0))

    def _deviation(self, which: Any) -> NDArray[Any]:
        count, _, squares, low, high = self.values[:, which]
        found = np.sqrt(squares / np.maximum(count, 1.0))
        return np.where(low < high, found, 0.0)  # equal values may leave rounding


def feature_spread(
    data: NDArray[Any], indices: NDArray[Any], n_rows: int, n_features: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return lowest value, highest value and standard deviation of each feature in sparse rows."""
    moments = FeatureMoments(n_features)
    moments.add(data, indices)
    count, mean, squares, low, high = moments.values
    absent = n_rows - count  # rows where the value is 0
    some = absent > 0
    low[some], high[some] = np.minimum(low[some], 0.0), np.maximum(high[some], 0.0)
    squares += mean**2 * (count * (absent / n_rows))  # Chan's merging with the zeros
    return low, high, np.sqrt(squares / n_rows)


def feature_moments(rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return mean and standard deviation of each feature."""
    if isinstance(rows, Dense):
        wide = np.float64
        return rows.values.mean(axis=0, dtype=wide), rows.values.std(axis=0, dtype=wide)
    values = rows.data.astype(np.float64)
    mean = np.bincount(rows.indices, values, rows.n_features) / rows.shape[0]
    centred = (values - mean[rows.indices]) ** 2
    zeros = rows.shape[0] - np.bincount(rows.indices, minlength=rows.n_features)
    squares = np.bincount(rows.indices, centred, rows.n_features) + zeros * mean**2
    return mean, np.sqrt(squares / rows.shape[0])
