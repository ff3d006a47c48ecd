"""How the values of each feature spread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, bound, compiled, inlined
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.single_rows import NOT_FINITE, RIGHT, TOO_LARGE


@inlined
def _take_in(
    x: float,
    j: int,
    count: NDArray[Any],
    mean: NDArray[Any],
    squares: NDArray[Any],  # Σ (x − mean)², by Welford's recurrence
    low: NDArray[Any],
    high: NDArray[Any],
) -> None:
    count[j] += 1
    step = x - mean[j]
    mean[j] += step / count[j]
    squares[j] += step * (x - mean[j])
    low[j] = min(low[j], x)
    high[j] = max(high[j], x)


@compiled
def _measure(
    data: NDArray[Any],
    indices: NDArray[Any],
    count: Changed[NDArray[Any]],  # as all that follow
    mean: Changed[NDArray[Any]],
    squares: Changed[NDArray[Any]],
    low: Changed[NDArray[Any]],
    high: Changed[NDArray[Any]],
) -> None:
    for p in range(len(data)):
        _take_in(data[p], indices[p], count, mean, squares, low, high)


@compiled
def _scale_row(
    data: Changed[NDArray[Any]],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    values: Changed[NDArray[Any]],  # of FeatureMoments
    features: Changed[NDArray[Any]],  # of the row, and what they had before it
    before: Changed[NDArray[Any]],
    learning: int,
) -> int:
    count, mean, squares, low, high = values[0], values[1], values[2], values[3], values[4]
    n = indptr[1]
    for p in range(n):
        if not np.isfinite(data[p]):
            return NOT_FINITE
    for p in range(n * learning):
        features[p] = j = indices[p]
        for k in range(5):
            before[k, p] = values[k, j]
        if count[j] >= 0.0:
            _take_in(data[p], j, count, mean, squares, low, high)
    for p in range(n):
        if not np.isfinite(squares[indices[p]]):
            return TOO_LARGE
    for p in range(n):
        j = indices[p]
        if count[j] >= 0.0:
            apart = data[p] - mean[j] if low[j] < high[j] else 0.0
            deviation = np.sqrt(squares[j] / max(count[j], 1.0)) if low[j] < high[j] else 1.0
            data[p] = apart / deviation if deviation > 0.0 else 0.0
    return RIGHT


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

    def leave(self, feature: int) -> None:
        """Leave a feature that has had no value unscaled for good: an indicator of a word."""
        if self.values[0, feature] == 0.0:
            self.values[0, feature] = -1.0

    def forget(self, n_features: int) -> None:
        """Change to have seen no value of the features from this number on."""
        width = self.values.shape[1]
        self.values = self.values[:, :n_features]
        self.widen(width)

    def centre(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return mean and deviation of each feature; deviation 0 where all values are equal."""
        count, mean, squares, low, high = self.values
        found = np.sqrt(squares / np.maximum(count, 1.0))
        return mean.copy(), np.where(low < high, found, 0.0)  # equal values may leave rounding

    def scaled(self, data: NDArray[Any], indices: NDArray[Any]) -> NDArray[Any]:
        """Return (x − mean)/deviation of values, and 0 of features that have had one value."""
        count, mean, squares, low, high = self.values[:, indices]
        deviation = np.sqrt(squares / np.maximum(count, 1.0))
        varied = (low < high) & (deviation > 0.0)
        apart = np.where(varied, data - mean, 0.0) / np.where(varied, deviation, 1.0)
        return np.where(count < 0.0, data, apart)


class RowScaler:
    """Scales the row of a buffer in place; to learn, by moments that have taken it in."""

    def __init__(
        self,
        moments: FeatureMoments,
        data: NDArray[Any],
        indices: NDArray[Any],
        indptr: NDArray[Any],
    ) -> None:
        self._moments, self._indptr = moments, indptr
        self._features, self._before = np.zeros(len(data), np.int32), np.zeros((5, len(data)))
        self._scale = bound(
            _scale_row,
            *(data, indices, indptr, moments.values, self._features, self._before, 0),
            varying="learning",
        )

    def __call__(self, *, learning: bool) -> int:
        """Scale the row; return RIGHT, or NOT_FINITE or TOO_LARGE where nothing has changed."""
        found: int = self._scale(int(learning))
        if found == TOO_LARGE and learning:
            self.undo()
        return found

    def undo(self) -> None:
        """Change the moments back to those before the last row that was learned."""
        n = self._indptr[1]
        self._moments.values[:, self._features[:n]] = self._before[:, :n]


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


def feature_moments(rows: CSR) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return mean and standard deviation of each feature."""
    values = rows.data.astype(np.float64)
    mean = np.bincount(rows.indices, values, rows.n_features) / rows.shape[0]
    centred = (values - mean[rows.indices]) ** 2
    zeros = rows.shape[0] - np.bincount(rows.indices, minlength=rows.n_features)
    squares = np.bincount(rows.indices, centred, rows.n_features) + zeros * mean**2
    return mean, np.sqrt(squares / rows.shape[0])
