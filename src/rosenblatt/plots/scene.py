"""Rows in a plane, and the frame around them: where pictures of the plane begin."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.plots.canvas import Display
from rosenblatt.plots.drawn_rows import DrawnRows
from rosenblatt.plots.frame import Frame, frame_of
from rosenblatt.plots.plane import Plane
from rosenblatt.plots.scatter import class_handles, set_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Scene:
    """Points by class, the names of the axes, and what has to be known of the plane."""

    points: NDArray[Any]  # (n_rows, 2)
    numbers: NDArray[Any]  # of the class of each row
    classes: tuple[Any, ...]
    axis_names: tuple[str, str]
    frame: Frame
    note: str


def scene_of(
    rows: DrawnRows, plane: Plane, *, origin: bool = False, beside: NDArray[Any] | None = None
) -> Scene:
    """Return rows in a plane; the frame holds further points, and the origin if it is near."""
    with np.errstate(over="ignore", invalid="ignore"):
        points = plane.points(rows.X)
    if not np.isfinite(points).all():
        msg = "The rows are too large to be drawn: their products overflow; scale them."
        raise InputError(msg)
    held = points if beside is None else np.concatenate([points, beside])
    frame = frame_of(held, origin)
    scales = "" if frame.equal else "the axes differ in scale, so that angles are skewed"
    note = "; ".join(part for part in (plane.note, scales) if part)
    return Scene(points, rows.numbers, rows.classes, plane.labels, frame, note)


@dataclass
class PlaneDisplay(Display):
    """A display of rows in a plane."""

    scene: Scene

    @property
    def points(self) -> NDArray[Any]:
        """The rows in the plane, (n_rows, 2)."""
        return self.scene.points

    @property
    def numbers(self) -> NDArray[Any]:
        """The number of each row's class."""
        return self.scene.numbers

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, sorted; of two the second is the positive one."""
        return self.scene.classes

    @property
    def frame(self) -> Frame:
        """What the picture shows."""
        return self.scene.frame

    def summary(self) -> dict[str, Any]:
        """Return the arrays by name, those of the scene too, as JSON can hold them."""
        told = super().summary()
        scene: dict[str, Any] = told.pop("scene")
        return scene | told

    def _begin(self, ax: "Axes") -> list[Any]:
        """Set up the axes; return the entries of the classes for the legend."""
        set_frame(ax, self.frame, self.scene.axis_names)
        return class_handles(self.classes, self.numbers)
