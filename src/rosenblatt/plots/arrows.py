"""Arrows, lines and bands of a linear boundary, and their entries in the legend."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plots.frame import Viewport, clipped
from rosenblatt.plots.palette import INK, PAPER, class_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARROW = 0.24  # of the smaller range


def draw_arrow(
    ax: "Axes", ends: NDArray[Any], *, colour: str = INK, width: float = 2.0, text: str = ""
) -> Any:
    """Draw an arrow from the first point to the second, with a letter beyond its tip."""
    from matplotlib.patheffects import withStroke

    start, tip = ends
    arrow = ax.annotate(
        "",
        xy=(tip[0], tip[1]),
        xytext=(start[0], start[1]),
        arrowprops={
            "arrowstyle": "-|>,head_length=0.5,head_width=0.25",
            "color": colour,
            "linewidth": width,
            "shrinkA": 0,
            "shrinkB": 0,
            "joinstyle": "miter",
        },
        zorder=5,
    )
    if text:
        ranges = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
        towards = (tip - start) / ranges
        towards /= max(float(np.hypot(*towards)), 1e-300)
        ax.annotate(
            text,
            xy=(tip[0], tip[1]),
            xytext=(9.0 * towards[0], 9.0 * towards[1]),
            textcoords="offset points",
            ha="center",
            va="center",
            color=colour,
            fontsize=11,
            fontweight="bold",
            path_effects=[withStroke(linewidth=3, foreground=PAPER)],
            zorder=6,
        )
    return arrow


def draw_line(
    ax: "Axes", ends: NDArray[Any], *, colour: str = INK, width: float = 2.0, line: str = "-"
) -> Any:
    """Draw a line between two points and return it."""
    drawn = ax.plot(ends[:, 0], ends[:, 1], color=colour, linewidth=width, linestyle=line)[0]
    drawn.set_zorder(2.5)
    return drawn


def draw_sides(ax: "Axes", frame: Viewport, w: NDArray[Any], b: float) -> list[Any]:
    """Colour both sides of w·u + b = 0 in the tints of their classes."""
    drawn = []
    for number, sign in ((0, -1.0), (1, 1.0)):
        polygon = clipped(frame.corners, sign * w, sign * b)
        if len(polygon):
            drawn += ax.fill(
                polygon[:, 0], polygon[:, 1], color=class_style(number).tint, linewidth=0, zorder=0
            )
    return drawn


def draw_band(ax: "Axes", polygon: NDArray[Any]) -> Any:
    """Colour the band of a margin, and hatch it so that it shows without colour."""
    return ax.fill(
        polygon[:, 0],
        polygon[:, 1],
        facecolor="#00000014",
        edgecolor="#00000055",
        hatch="////",
        linewidth=0.8,
        linestyle=(0, (4, 3)),
        zorder=1,
    )[0]


def band_handle(label: str) -> Any:
    """Return the entry of a legend for a band."""
    from matplotlib.patches import Patch

    return Patch(facecolor="#00000014", edgecolor="#00000055", hatch="////", label=label)


def line_handle(
    label: str, *, colour: str = INK, line: Any = "-", width: float = 2.0, marker: str = ""
) -> Any:
    """Return the entry of a legend for a line."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle=line, linewidth=width, marker=marker, label=label)


def arrow_handle(label: str, *, colour: str = INK) -> Any:
    """Return the entry of a legend for an arrow."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linewidth=2.0, marker=">", markevery=[1], label=label)


def weight_arrow(frame: Viewport, line: NDArray[Any], w: NDArray[Any], b: float) -> NDArray[Any]:
    """Return an arrow along the unit vector w from the middle of the line, as long as is seemly.

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
