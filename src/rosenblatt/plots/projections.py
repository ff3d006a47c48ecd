"""Rows projected onto the weight vector, in the plane and along a line (CIML, Figure 4.7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.plots.display import Axes, legend_beside, style_axes, titled
from rosenblatt.plots.frame import line_in
from rosenblatt.plots.palette import FAINT, INK, class_style
from rosenblatt.plots.plane import Features, plane_of
from rosenblatt.plots.scene import PlaneDisplay, line_handle, scatter_classes, scene_of
from rosenblatt.plots.subject import rows_of_estimator, two_class_weights, unit

MOST_DROPPED = 60  # rows whose projection is drawn; more would be a hatching


@dataclass
class ProjectionsDisplay(PlaneDisplay):
    """Above: rows in the plane, dropped onto the line along w. Below: where they come to lie.

    On the axis below each row stands at x·w/‖w‖; adding b/‖w‖ gives its distance from the boundary,
    so that the threshold is at −b/‖w‖. The two classes have lanes of their own. Of more than two
    features the plane is by default that of w and one direction more, where the projections are
    those of the whole rows.

    Attributes
    ----------
    projections : array of shape (n_rows,)
        x·w/‖w‖ of the whole rows.
    feet : array of shape (n_rows, 2)
        Where the points fall on the line along w, in the drawn plane.
    through : array of shape (2,)
        A point of that line: the origin, or the middle of the picture where that is far away.
    threshold : float
        −b/‖w‖.
    along, boundary : arrays of shape (2, 2), or None
        Both ends of the line along w and of the boundary in the picture.
    points_, drops_, lanes_, legend_ : what ``plot`` drew
    """

    projections: NDArray[Any]
    feet: NDArray[Any]
    through: NDArray[Any]
    threshold: float
    along: NDArray[Any] | None
    boundary: NDArray[Any] | None
    direction: NDArray[Any]
    distance: float
    title: str

    size = (7.6, 5.4)
    shape = (2, 1)
    height_ratios = (5.0, 1.0)
    says_title = False

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Features | None = None,
        plane: str | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """Project the rows; the parameters are those of ``BoundaryDisplay``."""
        rows = rows_of_estimator(estimator, X, y, feature_names)
        weights = two_class_weights(estimator)
        whole = unit(weights.w, weights.b)
        if whole is None:
            raise InputError("All weights are 0, so there is no direction to project onto.")
        shown = plane_of(rows, features, plane, weights.w)
        normal = unit(*shown.weights(weights.w, weights.b))
        if normal is None:
            other = f"choose other features, or {Parameter('plane', 'weights')}."
            raise InputError(f"All weights are 0 in this plane; {other}")
        direction, distance = normal
        through = np.zeros(2)
        scene = scene_of(rows, shown, origin=True)
        feet = _feet(scene.points, through, direction)
        if not all(scene.frame.holds(foot) for foot in feet):  # the origin is too far away
            scene = scene_of(rows, shown)
            through = scene.frame.centre
            feet = _feet(scene.points, through, direction)
        frame, across = scene.frame, np.array([-direction[1], direction[0]])
        return cls(
            **vars(scene),
            projections=np.asarray(rows.X @ whole[0]),
            feet=feet,
            through=through,
            threshold=-whole[1] + 0.0,
            along=line_in(frame, across, -float(across @ through)),
            boundary=line_in(frame, direction, distance),
            direction=direction,
            distance=distance,
            title=type(estimator).__name__,
        )

    def _sentence(self) -> str:
        above = int(np.count_nonzero(self.projections > self.threshold))
        return (
            f"{len(self.points):,} rows projected onto w; {above:,} lie above the threshold "
            f"{self.threshold:.4g}."
        )

    def _draw(self, ax: Axes) -> None:
        from matplotlib.collections import LineCollection

        self._begin()
        self._sides(self.direction, self.distance)
        n = len(self.points)
        chosen = np.unique(np.linspace(0, n - 1, min(n, MOST_DROPPED)).round().astype(int))
        ends = np.stack([self.points[chosen], self.feet[chosen]], axis=1)
        colours = [class_style(number).colour for number in self.numbers[chosen].tolist()]
        self.drops_ = LineCollection(list(ends), colors=colours, linewidths=0.7, zorder=2)
        ax.add_collection(self.drops_, autolim=False)
        if self.along is not None:
            rising = (self.along[1] - self.along[0]) @ self.direction > 0
            ends = self.along if rising else self.along[::-1]
            moved = ", moved to the rows" * bool(self.through.any())
            self._arrow(ends, f"along the weight vector w{moved}", width=1.5)
        self._line(self.boundary, "boundary, w·x + b = 0")
        some = f" ({len(chosen)} of {n:,} drawn)" if len(chosen) < n else ""
        self._listed(line_handle(f"projection{some}", color=FAINT, linewidth=0.8))
        self._mark_origin()
        self.points_ = self._scatter()
        self._finish(titled(self.title, "rows projected onto w"), self.note)
        self._draw_axis(self.axes_[1])

    def _draw_axis(self, ax: Axes) -> None:
        lanes = np.column_stack([self.projections, self.numbers.astype(float)])
        self.lanes_ = scatter_classes(ax, lanes, self.numbers)
        zero = ax.axvline(0.0, color=FAINT, linestyle="--", linewidth=1.2, label="zero")
        told = f"threshold −b/‖w‖ = {self.threshold:.3g}"
        threshold = ax.axvline(self.threshold, color=INK, linewidth=2.0, label=told)
        ax.set_ylim(-0.8, 1.8)
        style_axes(ax, "projection onto w, x·w/‖w‖", "")
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        legend_beside(ax, [zero, threshold])


def _feet(points: NDArray[Any], through: NDArray[Any], direction: NDArray[Any]) -> NDArray[Any]:
    """Return where points fall on a line."""
    return np.asarray(through + np.outer((points - through) @ direction, direction))
