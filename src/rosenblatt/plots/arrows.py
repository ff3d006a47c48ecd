"""Arrows, lines and bands of a linear boundary, and their entries in the legend."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plots.display import Axes
from rosenblatt.plots.frame import Viewport, clipped
from rosenblatt.plots.palette import INK, PAPER, class_style

ARROW = 0.24  # of the smaller range
BAND: Any = {"facecolor": "#00000014", "edgecolor": "#00000055", "hatch": "////"}


def draw_arrow(
    ax: Axes, ends: NDArray[Any], *, colour: str = INK, width: float = 2.0, text: str = ""
) -> Any:
    """Draw an arrow from the first point to the second, with a letter beyond its tip."""
    from matplotlib.patheffects import withStroke

    start, tip = ends
    arrow = ax.annotate(
        "", tuple(tip), tuple(start), zorder=5,
        arrowprops={
            "arrowstyle": "-|>,head_length=0.5,head_width=0.25", "joinstyle": "miter",
            "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0,
        },
    )  # fmt: skip
    if text:
        ranges = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
        towards = (tip - start) / ranges
        towards /= max(float(np.hypot(*towards)), 1e-300)
        ax.annotate(
            text, tuple(tip), tuple(9.0 * towards), textcoords="offset points",
            ha="center", va="center", color=colour, fontsize=11, fontweight="bold",
            path_effects=[withStroke(linewidth=3, foreground=PAPER)], zorder=6,
        )  # fmt: skip
    return arrow


def draw_line(
    ax: Axes, ends: NDArray[Any], label: str = "", *, colour: str = INK, width: float = 2.0,
    line: str = "-",
) -> Any:  # fmt: skip
    """Draw a line between two points and return it, with what a legend says of it."""
    style: dict[str, Any] = {"color": colour, "linewidth": width, "linestyle": line}
    return ax.plot(ends[:, 0], ends[:, 1], label=label, zorder=2.5, **style)[0]


def draw_sides(ax: Axes, frame: Viewport, w: NDArray[Any], b: float) -> list[Any]:
    """Colour both sides of w·u + b = 0 in the tints of their classes."""
    drawn = []
    for number, sign in ((0, -1.0), (1, 1.0)):
        polygon = clipped(frame.corners, sign * w, sign * b)
        if len(polygon):
            drawn += ax.fill(
                polygon[:, 0], polygon[:, 1], color=class_style(number).tint, linewidth=0, zorder=0
            )
    return drawn


def draw_band(ax: Axes, polygon: NDArray[Any]) -> Any:
    """Colour the band of a margin, and hatch it so that it shows without colour."""
    dashed: Any = {"linewidth": 0.8, "linestyle": (0, (4, 3)), "zorder": 1}
    return ax.fill(polygon[:, 0], polygon[:, 1], **BAND, **dashed)[0]


def band_handle(label: str) -> Any:
    """Return the entry of a legend for a band."""
    from matplotlib.patches import Patch

    return Patch(**BAND, label=label)


def line_handle(label: str, *, colour: str = INK, width: float = 2.0, **look: Any) -> Any:
    """Return the entry of a legend for a line."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linewidth=width, label=label, **look)


def arrow_handle(label: str, *, colour: str = INK) -> Any:
    """Return the entry of a legend for an arrow."""
    return line_handle(label, colour=colour, marker=">", markevery=[1])


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
