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


def feature_spread(
    data: NDArray[Any], indices: NDArray[Any], n_rows: int, n_features: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return lowest value, highest value and standard deviation of each feature in sparse rows."""
    count, mean, squares = (
        np.zeros(n_features, np.int64),
        np.zeros(n_features),
        np.zeros(n_features),
    )
    low, high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    _measure(data, indices, count, mean, squares, low, high)
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
