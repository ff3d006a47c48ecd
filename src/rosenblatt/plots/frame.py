"""The rectangle that a picture shows, and lines and half-planes cut to it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PADDING = 0.08  # of the range, on each side
NARROWEST = 0.6  # of the longer side, where both axes have one scale
MOST_UNEQUAL = 8.0  # ranges that differ more cannot share a scale: one of them would be a line
FARTHEST = 0.75  # ranges that the picture grows by at most to show the origin


class Viewport(NamedTuple):
    """The ranges of both axes; ``equal`` if they have one scale."""

    left: float
    right: float
    bottom: float
    top: float
    equal: bool

    @property
    def width(self) -> float:
        """Range of the horizontal axis."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Range of the vertical axis."""
        return self.top - self.bottom

    @property
    def centre(self) -> NDArray[Any]:
        """The point in the middle."""
        return np.array([self.left + self.width / 2, self.bottom + self.height / 2])

    @property
    def corners(self) -> NDArray[Any]:
        """The four corners, counter-clockwise."""
        x, y = (self.left, self.right), (self.bottom, self.top)
        return np.array([[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]])

    def cells(self, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the middles of n columns and of n rows."""
        places = (np.arange(n) + 0.5) / n
        return self.left + self.width * places, self.bottom + self.height * places

    def holds(self, point: NDArray[Any]) -> bool:
        """Return whether a point is inside."""
        return bool(self.left <= point[0] <= self.right and self.bottom <= point[1] <= self.top)


def frame_of(points: NDArray[Any], origin: bool = False) -> Viewport:
    """Return a frame around points, and around the origin if asked for and not far away."""
    low, high = points.min(axis=0), points.max(axis=0)
    if origin:
        reach = FARTHEST * (high - low).max()
        near = (np.minimum(low, 0.0) >= low - reach) & (np.maximum(high, 0.0) <= high + reach)
        if near.all():
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    size = high - low
    largest = size.max()
    if not largest > 0:  # one point, however often
        largest = max(np.abs(high).max(), np.finfo(float).tiny * 1e10)
    size = np.where(size > 0, size, largest)  # a constant feature takes the range of the other
    equal = bool(size.max() <= MOST_UNEQUAL * size.min())
    if equal:
        size = np.maximum(size, NARROWEST * size.max())
    middle = low + (high - low) / 2
    half = (0.5 + PADDING) * size
    (left, bottom), (right, top) = (middle - half).tolist(), (middle + half).tolist()
    return Viewport(left, right, bottom, top, equal)


def clipped(polygon: NDArray[Any], w: NDArray[Any], b: float) -> NDArray[Any]:
    """Return the part of a convex polygon where w·u + b ≥ 0, perhaps without a corner.

    >>> square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]])
    >>> clipped(square, np.array([1, 0]), -1).tolist()
    [[1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0]]
    """
    kept: list[NDArray[Any]] = []
    values = polygon @ w + b
    for i, (here, value) in enumerate(zip(polygon, values, strict=True)):
        before, value_before = polygon[i - 1], values[i - 1]
        if (value >= 0) != (value_before >= 0):
            kept.append(before + (here - before) * (value_before / (value_before - value)))
        if value >= 0:
            kept.append(here)
    return np.array(kept, np.float64).reshape(-1, 2)


def line_in(frame: Viewport, w: NDArray[Any], b: float) -> NDArray[Any] | None:
    """Return both ends of the line w·u + b = 0 in the frame, (2, 2); None where it passes by."""
    values = frame.corners @ w + b
    ends = []
    for i, value in enumerate(values):
        before = values[i - 1]
        if (value >= 0) != (before >= 0):
            share = before / (before - value)
            ends.append(frame.corners[i - 1] * (1 - share) + frame.corners[i] * share)
    return np.array(ends) if len(ends) == 2 else None


def band_in(frame: Viewport, w: NDArray[Any], b: float, margin: float) -> NDArray[Any]:
    """Return the part of the frame where |w·u + b| ≤ margin as a polygon."""
    return clipped(clipped(frame.corners, w, b + margin), -w, margin - b)
