"""How the values of each feature spread."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import BoundCall, Changed, compiled, inlined
from rosenblatt.kernels.rows import CSR, NEAR, prefetch
from rosenblatt.kernels.single_rows import NOT_FINITE, RIGHT, TOO_LARGE

COUNT, MEAN, SQUARES, LOW, HIGH = range(5)  # of a feature; SQUARES is Σ (x − mean)²
WIDTH = 8  # values, a cache line for each feature: five arrays would be five misses
AHEAD = 16  # values whose features are asked for


@inlined
def _take_in(x: float, feature: NDArray[Any]) -> None:
    """Change the moments of a feature by Welford's recurrence."""
    feature[COUNT] += 1.0
    step = x - feature[MEAN]
    feature[MEAN] += step / feature[COUNT]
    feature[SQUARES] += step * (x - feature[MEAN])
    feature[LOW] = min(feature[LOW], x)
    feature[HIGH] = max(feature[HIGH], x)


@compiled
def _measure(
    data: NDArray[Any],
    indices: NDArray[Any],
    n_rows: int,
    places: Changed[NDArray[Any]],  # of each feature among those met, counted from 1; 0: not met
    features: Changed[NDArray[Any]],  # moments of those met, in order of appearance
    numbers: Changed[NDArray[Any]],  # of those met
    spread: Changed[NDArray[Any]],  # lowest, highest, deviation by feature; zeros
) -> None:
    """Measure only the features that have values.

    Of a wide model they are a part, and new memory for all would take longer than to measure.
    """
    n_met, last = 0, len(data) - 1
    for p in range(len(data)):
        prefetch(places, indices[min(p + 2 * AHEAD, last)], NEAR)
        prefetch(features, max(places[indices[min(p + AHEAD, last)]] - 1, 0) * WIDTH, NEAR)
        place = places[indices[p]] - 1
        if place < 0:
            place = n_met
            n_met += 1
            places[indices[p]] = n_met
            numbers[place] = indices[p]
            features[place, COUNT] = features[place, MEAN] = features[place, SQUARES] = 0.0
            features[place, LOW], features[place, HIGH] = np.inf, -np.inf
        _take_in(data[p], features[place])
    for place in range(n_met):
        feature, j = features[place], numbers[place]
        absent = n_rows - feature[COUNT]  # rows where the value is 0
        spread[0, j] = feature[LOW] if absent == 0.0 else min(feature[LOW], 0.0)
        spread[1, j] = feature[HIGH] if absent == 0.0 else max(feature[HIGH], 0.0)
        zeros = feature[MEAN] * feature[MEAN] * (feature[COUNT] * (absent / n_rows))
        spread[2, j] = np.sqrt((feature[SQUARES] + zeros) / n_rows)  # Chan's merging


@compiled
def _scale_row(
    data: Changed[NDArray[Any]],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    features: Changed[NDArray[Any]],  # of FeatureMoments
    touched: Changed[NDArray[Any]],  # features of the row, and what they had before it
    before: Changed[NDArray[Any]],
    learning: int,
) -> int:
    n = indptr[1]
    for p in range(n):
        if not np.isfinite(data[p]):
            return NOT_FINITE
    for p in range(n * learning):
        touched[p] = indices[p]
        feature = features[indices[p]]
        for k in range(WIDTH):
            before[p, k] = feature[k]
        if feature[COUNT] >= 0.0:
            _take_in(data[p], feature)
    for p in range(n):
        if not np.isfinite(features[indices[p], SQUARES]):
            return TOO_LARGE
    for p in range(n):
        feature = features[indices[p]]
        if feature[COUNT] >= 0.0:
            varied = feature[LOW] < feature[HIGH]
            apart = data[p] - feature[MEAN] if varied else 0.0
            variance = feature[SQUARES] / max(feature[COUNT], 1.0)
            deviation = np.sqrt(variance) if varied else 1.0
            data[p] = apart / deviation if deviation > 0.0 else 0.0
    return RIGHT


class FeatureMoments:
    """Running count, mean, sum of squares about it, lowest and highest value of each feature.

    >>> of_one_and_three, of_two_fives = (2.0, 2.0, 2.0, 1.0, 3.0), (2.0, 5.0, 0.0, 5.0, 5.0)
    >>> moments = FeatureMoments.restored(np.array([of_one_and_three, of_two_fives]).T)
    >>> moments.scaled(np.array([3.0, 6.0]), np.arange(2))
    array([1., 0.])
    """

    def __init__(self, n_features: int) -> None:
        self.features = np.zeros((n_features, WIDTH))
        self.features[:, LOW], self.features[:, HIGH] = np.inf, -np.inf

    @classmethod
    def restored(cls, values: NDArray[Any]) -> Self:
        """Return the moments that ``values`` gave."""
        moments = cls(values.shape[1])
        moments.features[:, : len(values)] = values.T
        return moments

    @property
    def values(self) -> NDArray[Any]:
        """Count, mean, squares, lowest and highest value of all features, each an array."""
        return np.ascontiguousarray(self.features[:, : HIGH + 1].T)

    def widen(self, n_features: int) -> None:
        """Change to at least that many features."""
        missing = n_features - len(self.features)
        if missing > 0:
            self.features = np.vstack([self.features, FeatureMoments(missing).features])

    def leave(self, feature: int) -> None:
        """Leave a feature that has had no value unscaled for good: an indicator of a word."""
        if self.features[feature, COUNT] == 0.0:
            self.features[feature, COUNT] = -1.0

    def forget(self, n_features: int) -> None:
        """Change to have seen no value of the features from this number on."""
        width = len(self.features)
        self.features = self.features[:n_features]
        self.widen(width)

    def centre(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return mean and deviation of each feature; deviation 0 where all values are equal."""
        count, mean, squares, low, high = self.values
        deviation = np.sqrt(squares / np.maximum(count, 1.0))
        return mean, np.where(low < high, deviation, 0.0)  # equal values may leave rounding

    def scaled(self, data: NDArray[Any], indices: NDArray[Any]) -> NDArray[Any]:
        """Return (x − mean)/deviation of values, and 0 of features that have had one value."""
        count, mean, squares, low, high = self.features[indices, : HIGH + 1].T
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
        self._touched, self._before = np.zeros(len(data), np.int32), np.zeros((len(data), WIDTH))
        self._scale = BoundCall(
            _scale_row,
            *(data, indices, indptr, moments.features, self._touched, self._before, 0),
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
        self._moments.features[self._touched[:n]] = self._before[:n]


def feature_spread(
    data: NDArray[Any], indices: NDArray[Any], n_rows: int, n_features: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return lowest value, highest value and standard deviation of each feature in sparse rows."""
    most = min(n_features, len(data))
    features, met = np.empty((most, WIDTH)), np.empty(most, np.int32)
    places, spread = np.zeros(n_features, np.int32), np.zeros((3, n_features))
    _measure(data, indices, n_rows, places, features, met, spread)
    low, high, deviation = spread
    return low, high, deviation


def feature_moments(rows: CSR) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return mean and standard deviation of each feature."""
    values = rows.data.astype(np.float64)
    mean = np.bincount(rows.indices, values, rows.n_features) / rows.shape[0]
    _, _, deviation = feature_spread(values, rows.indices, rows.shape[0], rows.n_features)
    return mean, deviation
