"""The parts of a frame that a model gives to each class: exact polygons, or a grid."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plots.frame import Frame, clipped
from rosenblatt.plots.linear import Linear, linear_of
from rosenblatt.plots.palette import INK, PAPER, class_style, mixed
from rosenblatt.plots.plane import Plane
from rosenblatt.training.labels import numbers_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 240  # points along each side
MOST_VALUES = 8_000_000  # of a grid lifted into all features; a coarser one is taken beyond
COARSEST = 40


@dataclass(frozen=True)
class Regions:
    """The parts of a frame by class: exact polygons of a linear model, else a grid of classes."""

    polygons: list[NDArray[Any]] | None  # by class, perhaps without a corner
    grid: NDArray[Any] | None  # (n, n) class numbers, the bottom row first

    @property
    def present(self) -> list[int]:
        """The classes that have a part of the frame."""
        if self.polygons is not None:
            return [k for k, polygon in enumerate(self.polygons) if len(polygon)]
        assert self.grid is not None  # noqa: S101  # one of the two is there
        return [int(k) for k in np.unique(self.grid)]


def regions_of(estimator: Any, plane: Plane, frame: Frame) -> Regions:
    """Return which class the estimator gives to which part of the plane."""
    weights = linear_of(estimator)
    if weights is not None:
        return Regions(_polygons(weights, plane, frame), None)
    d = len(plane.origin)
    n = int(min(GRID, max(COARSEST, (MOST_VALUES / d) ** 0.5)))
    x, y = ((np.arange(n) + 0.5) / n for _ in range(2))
    across, up = np.meshgrid(frame.left + frame.width * x, frame.bottom + frame.height * y)
    points = np.column_stack([across.ravel(), up.ravel()])
    at_once = max(1, MOST_VALUES // d)
    labels = [
        predicted(estimator, plane.rows(points[start : start + at_once]))
        for start in range(0, len(points), at_once)
    ]
    numbers = numbers_of(np.concatenate(labels), np.asarray(estimator.classes_))
    return Regions(None, numbers.reshape(n, n))


def predicted(estimator: Any, X: Any) -> NDArray[Any]:
    """Return the labels of rows; that an array has no names, as a data frame had, is no matter."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return np.asarray(estimator.predict(X))


def _polygons(weights: Linear, plane: Plane, frame: Frame) -> list[NDArray[Any]]:
    w, b = plane.weights(weights.w, weights.b)
    if w.ndim == 1:
        w, b = np.stack([np.zeros(2), w]), np.array([0.0, b])
    found = []
    for k in range(len(w)):
        polygon = frame.corners
        for j in range(len(w)):
            if j == k or not len(polygon):
                continue
            lead, bias = w[k] - w[j], float(b[k] - b[j])
            size = float(np.abs(lead).max()) or abs(bias) or 1.0
            if not lead.any() and not bias and k > j:  # equal scores go to the first class
                polygon = np.empty((0, 2))
            else:
                polygon = clipped(polygon, lead / size, bias / size)
        found.append(polygon if len(polygon) > 2 else np.empty((0, 2)))
    return found


def draw_regions(ax: "Axes", regions: Regions, frame: Frame) -> list[Any]:
    """Colour the regions in the tints of their classes; a colour that comes again is hatched."""
    if regions.polygons is not None:
        drawn = [_fill(ax, k, regions.polygons[k]) for k in regions.present]
        return [*drawn, _edges(ax, regions.polygons, frame)]
    assert regions.grid is not None  # noqa: S101  # one of the two is there
    return _draw_grid(ax, regions.grid, frame)


def _fill(ax: "Axes", number: int, polygon: NDArray[Any]) -> Any:
    style = class_style(number)
    return ax.fill(
        polygon[:, 0],
        polygon[:, 1],
        facecolor=style.tint,
        edgecolor=mixed(style.colour, PAPER, 0.5) if style.hatch else style.tint,
        hatch=style.hatch,
        linewidth=0.0,
        zorder=0,
    )[0]


def _edges(ax: "Axes", polygons: list[NDArray[Any]], frame: Frame) -> Any:
    """Draw where two regions meet: the sides of polygons that are no part of the frame."""
    from matplotlib.collections import LineCollection

    walls = ((0, frame.left), (0, frame.right), (1, frame.bottom), (1, frame.top))
    reach = (1e-9 * frame.width, 1e-9 * frame.height)
    sides = [
        np.stack([polygon[i - 1], polygon[i]])
        for polygon in polygons
        for i in range(len(polygon))
        if not any(
            (np.abs(polygon[[i - 1, i], axis] - place) <= reach[axis]).all()
            for axis, place in walls
        )
    ]
    lines = LineCollection(sides, colors=INK, linewidths=1.2, zorder=1, capstyle="round")
    return ax.add_collection(lines, autolim=False)


def _draw_grid(ax: "Axes", grid: NDArray[Any], frame: Frame) -> list[Any]:
    styles = [class_style(k) for k in range(int(grid.max()) + 1)]
    tints = [[int(style.tint[i : i + 2], 16) for i in (1, 3, 5)] for style in styles]
    image = ax.imshow(
        np.array(tints, np.uint8)[grid],
        extent=(frame.left, frame.right, frame.bottom, frame.top),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        zorder=0,
    )
    drawn: list[Any] = [image]
    places = (np.arange(len(grid)) + 0.5) / len(grid)
    x, y = frame.left + frame.width * places, frame.bottom + frame.height * places
    present = np.unique(grid).tolist()
    for k in present:
        inside = (grid == k).astype(float)
        if styles[k].hatch:
            hatched = ax.contourf(
                x, y, inside, levels=[0.5, 1.5], colors="none", hatches=[styles[k].hatch]
            )
            hatched.set_edgecolor(mixed(styles[k].colour, PAPER, 0.5))
            hatched.set_linewidth(0.0)
            drawn.append(hatched)
        if k != present[0]:
            drawn.append(ax.contour(x, y, inside, levels=[0.5], colors=INK, linewidths=1.2))
    return drawn
