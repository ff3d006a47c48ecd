"""Which class a model gives every point of the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rosenblatt.plots.canvas import legend_beside, set_title
from rosenblatt.plots.class_regions import Regions, draw_regions, predicted, regions_of
from rosenblatt.plots.drawn_rows import DrawnRows, rows_of_estimator
from rosenblatt.plots.linear import linear_of
from rosenblatt.plots.plane import Features, Plane, plane_of, planes_to_try
from rosenblatt.plots.scatter import class_handles, scatter_classes, set_frame
from rosenblatt.plots.scene import PlaneDisplay, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class RegionsDisplay(PlaneDisplay):
    """Rows of any number of classes, on the regions that a model assigns to them.

    Attributes
    ----------
    scene : Scene
        The rows in the plane: ``points``, ``numbers``, ``classes`` and ``frame`` are its parts.
    regions : Regions
        ``polygons`` by class for a linear model, exact; else ``grid``.
    regions_, points_, legend_ :
        What was drawn, after ``plot``.
    """

    regions: Regions
    n_wrong: int
    title: str

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
        title: str | None = None,
    ) -> Self:
        """Compute what is to be drawn; the parameters are those of ``BoundaryDisplay``.

        Any fitted classifier will do. ``title`` is what it is called, by default its type.
        """
        rows = rows_of_estimator(estimator, X, y, feature_names)
        weights = linear_of(estimator)
        w = np.empty(0) if weights is None else weights.w
        name = type(estimator).__name__ if title is None else title
        for tried in planes_to_try(rows, features, plane, w):
            shown = plane_of(rows, features, tried, w)
            found = cls._of(estimator, rows, shown, name)
            if len(found.regions.present) > 1:
                break
        return found

    @classmethod
    def _of(cls, estimator: Any, rows: DrawnRows, shown: Plane, title: str) -> Self:
        scene = scene_of(rows, shown)
        labels = np.asarray(estimator.classes_)[rows.numbers]
        wrong = int(np.count_nonzero(predicted(estimator, rows.X) != labels))
        return cls(scene, regions_of(estimator, shown, scene.frame), wrong, title)

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        n = len(self.points)
        return (
            f"The regions of {len(self.classes)} classes by {self.title}; {self.n_wrong:,} of "
            f"{n:,} rows are wrong."
        )

    def _draw(self, axes: "list[Axes]") -> None:
        ax = axes[0]
        self.draw_panel(ax)
        self.legend_ = legend_beside(ax, class_handles(self.classes))
        set_title(
            ax, f"{self.title}: {self.n_wrong:,} of {len(self.points):,} wrong", self.scene.note
        )

    def draw_panel(self, ax: "Axes", scale: float = 1.0) -> None:
        """Draw regions and rows, without title and legend; points have this share of their area."""
        self.regions_ = draw_regions(ax, self.regions, self.frame)
        self.points_ = scatter_classes(ax, self.points, self.numbers, scale=scale)
        set_frame(ax, self.frame, self.scene.axis_names)
