"""Bars to either side of zero, each with a name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plots.canvas import label_text, style_axes
from rosenblatt.plots.palette import INK, class_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = 34  # characters
HATCH = "///"  # of negative bars, so that colour is not needed


def draw_bars(
    ax: "Axes", names: Sequence[str], values: NDArray[Any], sides: tuple[str, str]
) -> tuple[Any, list[Any]]:
    """Draw a bar for each name, the first on top; return the bars and entries for a legend.

    ``sides`` says what positive and negative bars speak for.
    """
    from matplotlib.patches import Patch

    negative, positive = class_style(0), class_style(1)
    places = np.arange(len(values))
    signs = values > 0
    bars = ax.barh(
        places,
        values,
        height=0.72,
        color=[positive.colour if up else negative.tint for up in signs],
        edgecolor=[positive.edge if up else negative.colour for up in signs],
        linewidth=0.8,
    )
    for bar, up in zip(bars, signs, strict=True):
        bar.set_hatch("" if up else HATCH)
    style_axes(ax, "", "", grid=True)
    ax.yaxis.grid(visible=False)
    ax.set_yticks(places, [label_text(name, NAME) for name in names], color=INK)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.axvline(0.0, color=INK, linewidth=1.0)
    ax.set_ylim(max(len(values), 1) - 0.4, -0.6)
    if not len(values):
        ax.set_xlim(-1, 1)
        ax.text(0.52, 0.5, "all are 0", transform=ax.transAxes, va="center", color=INK)
    handles = [
        Patch(facecolor=positive.colour, edgecolor=positive.edge, label=sides[0]),
        Patch(facecolor=negative.tint, edgecolor=negative.colour, hatch=HATCH, label=sides[1]),
    ]
    return bars, handles
