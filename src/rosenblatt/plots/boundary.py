"""The decision boundary with its weight vector, margin and bias (CIML, Figures 4.6 and 4.8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plots.display import Axes, titled
from rosenblatt.plots.frame import band_in, line_in
from rosenblatt.plots.palette import FAINT, PURPLE
from rosenblatt.plots.plane import Features, plane_of
from rosenblatt.plots.scene import PlaneDisplay, Scene, scene_of, weight_arrow
from rosenblatt.plots.subject import rows_of_estimator, two_class_weights, unit


@dataclass
class BoundaryDisplay(PlaneDisplay):
    """Rows of two classes in the plane, and the boundary between them.

    The boundary is where w·x + b = 0. The weight vector stands on it at a right angle and points to
    the second class. Parallel to the boundary through the origin runs the perpendicular of w; the
    bias shifts the boundary from there by −b/‖w‖ along w. The band holds all points whose
    activation is no larger than the least margin y·a of the rows, where all are classified rightly.

    Attributes
    ----------
    w, b : array of shape (2,) and float
        The weights in the drawn plane, not normalised.
    margin : float
        Half the width of the band, in activation; 0 for none.
    boundary, perpendicular : arrays of shape (2, 2), or None
        Both ends of the line in the picture, or None without a line.
    shift : array of shape (2, 2), or None
        From the origin to the nearest point of the boundary.
    band : array of shape (n_corners, 2), or None
    line_, arrow_, band_, points_, legend_ : what ``plot`` drew
    """

    w: NDArray[Any]
    b: float
    margin: float
    boundary: NDArray[Any] | None = None
    perpendicular: NDArray[Any] | None = None
    shift: NDArray[Any] | None = None
    band: NDArray[Any] | None = None
    centre: str = "origin"  # what stands at (0, 0): that, or the "mean" of the rows
    shift_name: str = "shift by the bias, −b/‖w‖ = "  # what the legend calls the shift
    n_wrong: int = 0
    title: str = ""
    crossed: NDArray[Any] | None = (
        None  # wrong rows, where some lie elsewhere than they are decided
    )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Features | None = None,
        plane: str | None = None,
        margin: float | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """Compute the boundary, its margin and the plane.

        Parameters
        ----------
        estimator : fitted linear classifier of two classes
        X, y : rows and labels
        features : two names or numbers, default None
            The features to draw; the others are set to their means.
        plane : "pca" or "weights", default None
            Draw two directions instead: those in which the rows vary most, or w and the leading one
            beside it. "weights" is the default for more than two features.
        margin : float, default None
            Half the width of the band; None for the least margin of the rows.
        feature_names : names of the features, default None
            None for those that X or the estimator has.
        """
        rows = rows_of_estimator(estimator, X, y, feature_names)
        weights = two_class_weights(estimator)
        margins = np.asarray(rows.sides * (rows.X @ weights.w + weights.b))  # y·(w·x + b)
        if margin is None:
            margin = max(float(margins.min()), 0.0)
        shown = plane_of(rows, features, plane, weights.w)
        scene = scene_of(rows, shown, origin=True)
        w, b = shown.weights(weights.w, weights.b)
        found = cls._of_weights(scene, w, float(b), margin)
        found.n_wrong = int(np.count_nonzero(margins <= 0))
        if ((rows.sides * (scene.points @ w + b) > 0) != (margins > 0)).any():
            found.crossed = np.flatnonzero(margins <= 0)
        found.title, found.says_title = type(estimator).__name__, found.boundary is not None
        if not shown.true_origin:
            found.centre, found.shift_name = "mean", "from the mean to the boundary, "
        elif features is not None and rows.n_features > 2:
            found.shift_name = "shift by the bias in this plane, "
        return found

    @classmethod
    def _of_weights(cls, scene: Scene, w: NDArray[Any], b: float, margin: float) -> Self:
        """Return the display of weights that are given in the plane."""
        frame, normal = scene.frame, unit(w, b)
        found = cls(**vars(scene), w=w, b=b, margin=margin)
        if normal is None:
            found.add_note("all weights are 0 here, so there is no boundary")
            return found
        direction, distance = normal
        found.boundary = line_in(frame, direction, distance)
        if found.boundary is None:
            found.add_note("the boundary lies outside the picture")
        if frame.holds(np.zeros(2)):
            found.perpendicular = line_in(frame, direction, 0.0)
            found.shift = np.stack([np.zeros(2), -distance * direction + 0.0])
        if margin > 0:
            band = band_in(frame, direction, distance, margin / float(np.hypot(*w)))
            found.band = band if len(band) else None
        return found

    def add_note(self, text: str) -> None:
        """Add to the note below the title."""
        self.note += f"{'; ' * bool(self.note)}{text}"

    def _sentence(self) -> str:
        if self.boundary is None:
            return f"{len(self.points):,} rows of two classes; {self.note}."
        told = f"{self.n_wrong:,} on the wrong side"
        if self.crossed is not None:
            told = f"{self.n_wrong:,} wrong (crossed); other features decide, too"
        elif self.n_wrong == 0:
            told = f"all on their sides, by at least {self.margin:.4g}"
        return f"the boundary among {len(self.points):,} rows, {told}."

    def _draw(self, _: Axes) -> None:
        self._begin()
        normal = unit(self.w, self.b)
        if normal is not None:
            self._sides(*normal)
            self._draw_lines(*normal)
        self.points_ = self._scatter()
        if self.crossed is not None:
            self._cross(self.crossed, f"wrong: {self.n_wrong:,}")
        wrong = f"{self.n_wrong:,} of {len(self.points):,} wrong"
        self._finish(titled(self.title, wrong), self.note)

    def _draw_lines(self, direction: NDArray[Any], distance: float) -> None:
        """Draw the boundary and all that belongs to it."""
        if self.boundary is not None:
            self.line_ = self._line(self.boundary, "boundary, w·x + b = 0")
            ends = weight_arrow(self.frame, self.boundary, direction, distance)
            self.arrow_ = self._arrow(ends, "weight vector w (direction)")
            self._letter("w", ends)
        if self.band is not None:
            self.band_ = self._band(self.band, f"|w·x + b| ≤ {self.margin:.3g}")
        if self.perpendicular is not None and self.shift is not None:
            label = f"perpendicular of w at the {self.centre}"
            self._line(self.perpendicular, label, colour=FAINT, width=1.2, line="--")
            self._mark_origin()
            if self.frame.holds(self.shift[1]) and distance:
                label = f"{self.shift_name}{-distance:.3g}"
                self._arrow(self.shift, label, colour=PURPLE, width=1.5)
