"""Rows in a plane, and the frame around them: where pictures of the plane begin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.plots.display import Axes, Display, label_text, style_axes
from rosenblatt.plots.frame import Viewport, frame_of
from rosenblatt.plots.palette import FAINT, INK, class_style
from rosenblatt.plots.plane import Plane
from rosenblatt.plots.subject import DrawnRows

MOST_VECTOR = 2000  # points; more go into a vector file as an image
MOST_NAMED = 30  # classes in a legend
SIZES = ((100, 42.0), (400, 26.0), (1500, 14.0))  # points up to which markers have this area


class Scene(NamedTuple):
    """Points by class, the names of the axes, and what has to be known of the plane."""

    points: NDArray[Any]  # (n_rows, 2)
    numbers: NDArray[Any]  # of the class of each row
    classes: tuple[Any, ...]
    axis_names: tuple[str, str]
    frame: Viewport
    note: str


def scene_of(
    rows: DrawnRows, plane: Plane, *, origin: bool = False, beside: NDArray[Any] | None = None
) -> Scene:
    """Return rows in a plane; the frame holds further points, and the origin if it is near."""
    with np.errstate(over="ignore", invalid="ignore"):
        points = plane.points(rows.X)
    if not np.isfinite(points).all():
        raise InputError("The values are too large to be drawn; scale them.")
    held = points if beside is None else np.concatenate([points, beside])
    frame = frame_of(held, origin)
    scales = "" if frame.equal else "the axes differ in scale, so that angles are skewed"
    note = "; ".join(part for part in (plane.note, scales) if part)
    return Scene(points, rows.numbers, tuple(rows.classes.tolist()), plane.labels, frame, note)


@dataclass
class PlaneDisplay(Display):
    """A display of rows in a plane; it begins with the fields of a scene."""

    points: NDArray[Any]  # the rows in the plane, (n_rows, 2)
    numbers: NDArray[Any]  # of the class of each row
    classes: tuple[Any, ...]  # sorted; of two the second is the positive one
    axis_names: tuple[str, str]
    frame: Viewport
    note: str  # what has to be known of the plane

    def _begin(self, ax: Axes) -> list[Any]:
        """Set up the axes; return the entries of the classes for the legend."""
        set_frame(ax, self.frame, self.axis_names)
        return class_handles(self.classes, self.numbers)


def scatter_classes(
    ax: Axes,
    points: NDArray[Any],
    numbers: NDArray[Any],
    *,
    faint: bool = False,
    scale: float = 1.0,
) -> list[Any]:
    """Draw points by class and return what was drawn, one collection a class that is there."""
    drawn = []
    common: dict[str, Any] = {
        "s": scale * point_area(len(points)),
        "alpha": 0.35 if faint else 0.9 if len(points) <= 400 else 0.6,
        "rasterized": len(points) > MOST_VECTOR,
        "linewidths": 0.5,
        "zorder": 3,
    }
    for number in np.unique(numbers).tolist():
        style, x = class_style(number), points[numbers == number]
        look: Any = {"marker": style.marker, "color": style.colour, "edgecolors": style.edge}
        drawn.append(ax.scatter(x[:, 0], x[:, 1], **look, **common))
    return drawn


def point_area(n_points: int) -> float:
    """Return the area of each marker, by the number of points."""
    return next((area for most, area in SIZES if n_points <= most), 8.0)


def class_handles(classes: Sequence[Any], numbers: NDArray[Any] | None = None) -> list[Any]:
    """Return entries of a legend for the classes, or for those that are among the numbers."""
    present = range(len(classes)) if numbers is None else np.unique(numbers).tolist()
    handles = []
    for number in list(present)[:MOST_NAMED]:
        style = class_style(number)
        look = {"marker": style.marker, "color": style.colour, "markeredgecolor": style.edge}
        handles.append(mark_handle(label_text(classes[number]), markersize=7, **look))
    if len(present) > MOST_NAMED:
        handles.append(mark_handle(f"… and {len(present) - MOST_NAMED} more classes"))
    return handles


def mark_handle(label: str, **look: Any) -> Any:
    """Return the entry of a legend for marks that look so."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", label=label, **look)


def ring(ax: Axes, points: NDArray[Any], n_points: int) -> Any:
    """Draw rings around points, sized by the number of all points."""
    area = 5.0 * point_area(n_points) + 40.0
    style: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "linewidths": 1.6}
    return ax.scatter(points[:, 0], points[:, 1], s=area, zorder=4, **style)


def cross(ax: Axes, points: NDArray[Any], label: str) -> Any:
    """Draw crosses on points and return them, with what a legend says."""
    look: dict[str, Any] = {"marker": "x", "color": INK, "s": 34, "linewidths": 1.3, "zorder": 4}
    return ax.scatter(points[:, 0], points[:, 1], label=label, **look)


def ring_handle(label: str) -> Any:
    """Return the entry of a legend for rings."""
    style = {"markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": 1.6}
    return mark_handle(label, marker="o", markersize=10, **style)


def set_frame(ax: Axes, frame: Viewport, labels: tuple[str, str]) -> None:
    """Show what the frame holds, with right angles where both axes have one scale."""
    ax.set(xlim=(frame.left, frame.right), ylim=(frame.bottom, frame.top))
    if frame.equal:
        ax.set_aspect("equal", adjustable="box", anchor="W")
    style_axes(ax, *labels)


def mark_origin(ax: Axes, frame: Viewport) -> Any:
    """Draw a small cross at the origin where it is in the frame."""
    if not frame.holds(np.zeros(2)):
        return None
    return ax.plot([0.0], [0.0], marker="+", color=FAINT, markersize=11, markeredgewidth=1.5)[0]
