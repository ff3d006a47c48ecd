"""Rows in a plane, the frame around them, and marks, lines, arrows and bands drawn there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.plots.display import Axes, Display, label_text, style_axes
from rosenblatt.plots.frame import Viewport, clipped, frame_of
from rosenblatt.plots.palette import FAINT, INK, PAPER, class_style
from rosenblatt.plots.plane import Plane
from rosenblatt.plots.subject import DrawnRows

MOST_VECTOR = 2000  # points; more go into a vector file as an image
MOST_NAMED = 30  # classes in a legend
SIZES = ((100, 42.0), (400, 26.0), (1500, 14.0))  # points up to which markers have this area
MOST_WIDE_RINGS = 10
ARROW = 0.24  # of the smaller range
BAND: Any = {"facecolor": "#00000014", "edgecolor": "#00000055", "hatch": "////"}


@dataclass
class Scene:
    """Rows in a plane by class, and the frame around them."""

    points: NDArray[Any]  # the rows in the plane, (n_rows, 2)
    numbers: NDArray[Any]  # of the class of each row
    classes: tuple[Any, ...]  # sorted; of two the second is the positive one
    axis_names: tuple[str, str]
    frame: Viewport
    note: str  # on the plane, for the title


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


class PlaneDisplay(Display, Scene):
    """A display of a scene; its legend lists labelled marks in drawing order."""

    def _begin(self) -> None:
        """Set up the axes, and the legend with the classes."""
        set_frame(self.ax_, self.frame, self.axis_names)
        self._handles += class_handles(self.classes, self.numbers)

    def _scatter(self, rows: Any = ..., **look: Any) -> list[Any]:
        """Draw the points of some rows by class; return one collection for each class present."""
        return scatter_classes(self.ax_, self.points[rows], self.numbers[rows], **look)

    def _line(
        self, ends: NDArray[Any] | None, label: str = "", *, colour: str = INK, width: float = 2.0,
        line: str = "-",
    ) -> Any:  # fmt: skip
        """Draw a line through points; None without any."""
        if ends is None:
            return None
        style: dict[str, Any] = {"color": colour, "linewidth": width, "linestyle": line}
        drawn = self.ax_.plot(*ends.T, label=label, zorder=2.5, **style)[0]
        return self._listed(drawn) if label else drawn

    def _arrow(self, ends: Any, label: str, *, colour: str = INK, width: float = 2.0) -> Any:
        """Draw an arrow from the first point to the second."""
        look: Any = {"color": colour, "linewidth": 2.0, "marker": ">", "markevery": [1]}
        self._listed(line_handle(label, **look))
        return self.ax_.annotate(
            "", tuple(ends[1]), tuple(ends[0]), zorder=5,
            arrowprops={
                "arrowstyle": "-|>,head_length=0.5,head_width=0.25", "joinstyle": "miter",
                "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0,
            },
        )  # fmt: skip

    def _letter(self, text: str, ends: NDArray[Any]) -> None:
        """Write a letter beyond the tip of an arrow."""
        start, tip = ends
        towards = (tip - start) / [self.frame.width, self.frame.height]
        towards /= max(float(np.hypot(*towards)), 1e-300)
        place: Any = {"xytext": 9.0 * towards, "textcoords": "offset points", "fontsize": 11}
        write_bold(self.ax_, text, tip, color=INK, zorder=6, **place)

    def _band(self, polygon: NDArray[Any], label: str) -> Any:
        """Colour the band of a margin, and hatch it so that it shows without colour."""
        from matplotlib.patches import Patch

        self._listed(Patch(**BAND, label=label))
        dashed: Any = {"linewidth": 0.8, "linestyle": (0, (4, 3)), "zorder": 1}
        return self.ax_.fill(polygon[:, 0], polygon[:, 1], **BAND, **dashed)[0]

    def _sides(self, w: NDArray[Any], b: float) -> None:
        """Colour both sides of w·u + b = 0 in the tints of their classes."""
        for number, sign in ((0, -1.0), (1, 1.0)):
            x, y = clipped(self.frame.corners, sign * w, sign * b).T
            if len(x):
                self.ax_.fill(x, y, color=class_style(number).tint, linewidth=0, zorder=0)

    def _ring(self, numbers: Any, label: str) -> Any:
        """Draw rings around the points of these rows, tight and thin where there are many."""
        area, few = point_area(len(self.points)), np.size(numbers) <= MOST_WIDE_RINGS
        width, size = (1.6, 5.0 * area + 40.0) if few else (0.8, 2.2 * area + 10.0)
        look = {"markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": width}
        self._listed(mark_handle(label, marker="o", markersize=10 if few else 7, **look))
        style: Any = {"facecolors": "none", "edgecolors": INK, "linewidths": width, "s": size}
        style["zorder"] = 4
        return self.ax_.scatter(*self.points[numbers].T, **style)

    def _cross(self, numbers: Any, label: str) -> None:
        """Draw crosses on the points of these rows."""
        look: Any = {"marker": "x", "color": INK, "s": 34, "linewidths": 1.3, "zorder": 4}
        self._listed(self.ax_.scatter(*self.points[numbers].T, label=label, **look))

    def _mark_origin(self) -> None:
        """Draw a small cross at the origin where it is in the frame."""
        if self.frame.holds(np.zeros(2)):
            look: Any = {"marker": "+", "color": FAINT, "markersize": 11, "markeredgewidth": 1.5}
            self.ax_.plot([0.0], [0.0], **look)


def write_bold(ax: Axes, text: str, place: Any, **look: Any) -> None:
    """Write a bold text around a point, with a rim of paper."""
    from matplotlib.patheffects import withStroke

    rim = [withStroke(linewidth=3, foreground=PAPER)]
    look |= {"ha": "center", "va": "center", "fontweight": "bold", "path_effects": rim}
    ax.annotate(text, tuple(place), **look)


def scatter_classes(
    ax: Axes,
    points: NDArray[Any],
    numbers: NDArray[Any],
    *,
    faint: bool = False,
    scale: float = 1.0,
) -> list[Any]:
    """Draw points by class; return one collection for each class present."""
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
    """Return a legend entry for marks."""
    return line_handle(label, linestyle="none", **look)


def line_handle(label: str, **look: Any) -> Any:
    """Return a legend entry for a line."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def set_frame(ax: Axes, frame: Viewport, labels: tuple[str, str]) -> None:
    """Set the limits and labels of the axes; keep right angles if both have one scale."""
    ax.set(xlim=(frame.left, frame.right), ylim=(frame.bottom, frame.top))
    if frame.equal:
        ax.set_aspect("equal", adjustable="box", anchor="W")
    style_axes(ax, *labels)


def weight_arrow(frame: Viewport, line: NDArray[Any], w: NDArray[Any], b: float) -> NDArray[Any]:
    """Return an arrow along the unit vector w from the middle of the line, of moderate length.

    Where the axes have scales of their own, it keeps its direction and is cut to fit.
    """
    foot = frame.centre - (frame.centre @ w + b) * w
    if not frame.holds(foot):
        foot = line.mean(axis=0)
    size = np.array([frame.width, frame.height])
    if frame.equal:
        length = ARROW * size.min()
    else:
        with np.errstate(divide="ignore"):
            length = float((ARROW * size / np.abs(w)).min())
    return np.stack([foot, foot + length * w])
