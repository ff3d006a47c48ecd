"""The base class of all pictures, axes, titles and legends, and picture files.

matplotlib is imported here and in the displays, when something is drawn and not before.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import PurePath
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from rosenblatt.data.atomic import Target, replacing
from rosenblatt.errors import InputError, Parameter
from rosenblatt.lazy import installing
from rosenblatt.plots.palette import FAINT, GRID, INK
from rosenblatt.wording import plain

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

    Axes = matplotlib.axes.Axes
    Figure = matplotlib.figure.Figure
else:
    Axes = Figure = Any

LONGEST_LABEL = 28  # characters
MOST_TOLD = 16  # values of an array in JSON; of a longer one its shape
LONGEST_TITLE = 200
TITLE_WIDTH = 62
# Constrained, and aware that axes of equal scales are narrower than their place.
LAYOUT: Literal["compressed"] = "compressed"
SUFFIXES = (".png", ".svg", ".pdf")
DOTS = 200  # an inch of a PNG
HYPHEN = re.compile(r"(?<=[ =])-(?=[\d.])")  # of a negative number; labels alone stay as they are
STYLE: Any = {"svg.hashsalt": "rosenblatt", "pdf.fonttype": 42}


class Display(ABC):
    """A picture: computed once, kept as arrays, drawn on any axes.

    Subclasses are data classes with their arrays, say in ``_sentence`` what is to be seen, and draw
    on as many axes as ``shape`` has places. After ``plot`` the axes are ``ax_`` (``axes_`` where
    there are several) and the figure is ``figure_``. Nothing is ever shown by itself.
    """

    ax_: Axes
    axes_: list[Axes]
    figure_: Figure
    legend_: Any
    title: str = ""  # what it is a picture of; displays that have one make it a field
    says_title: bool = True  # at the start of its sentence
    heading: str | None = None  # in place of the drawn title
    _handles: list[Any]  # what the legend lists, in order

    def __init_subclass__(cls) -> None:
        """Leave no data class a repr of all its arrays: a notebook would print them."""
        super().__init_subclass__()
        cls.__repr__ = Display.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sentence}>"

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a figure of its own, in inches."""
        return (7.6, 4.4)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of axes."""
        return (1, 1)

    @property
    def height_ratios(self) -> Sequence[float]:
        """Heights of the rows of axes, as shares of each other."""
        return [1.0] * self.shape[0]

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        return titled(self.title if self.says_title else "", self._sentence())

    @abstractmethod
    def _sentence(self) -> str:
        """Return what the picture shows, without its title."""

    def plot(self, ax: Any = None) -> Self:
        """Draw and return the display.

        Parameters
        ----------
        ax : matplotlib axes, default None
            Where to draw; None for a new figure of pyplot. A display of several axes takes a list
            of them, or the place of one.
        """
        self.axes_ = _axes_for(self, ax)
        self.ax_ = self.axes_[0]
        figure = self.ax_.get_figure(root=True)
        assert figure is not None  # noqa: S101  # axes that a caller gave are on one
        self.figure_, self._handles = figure, []
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on the axes; this is the first of them."""

    def _listed(self, mark: Any) -> Any:
        """Return what was drawn, which the legend lists."""
        self._handles.append(mark)
        return mark

    def _curve(self, x: Any, y: Any, label: str, **look: Any) -> Any:
        """Draw a line, or marks, on the first axes, which the legend lists."""
        return self._listed(self.ax_.plot(x, y, label=label, **look)[0])

    def _level(self, height: float, label: str, **look: Any) -> Any:
        """Draw a horizontal line across the first axes, which the legend lists."""
        look = {"color": FAINT, "linestyle": "--"} | look
        return self._listed(self.ax_.axhline(height, label=label, **look))

    def _finish(self, *title: str) -> None:
        """Add the legend and the title to the first axes."""
        self.legend_ = legend_beside(self.ax_, self._handles)
        set_title(self.ax_, *(title if self.heading is None else [self.heading]))

    def summary(self) -> Any:
        """Return the arrays by name, long ones by shape and range, as JSON can hold them."""
        return plain(_told(self))


def figure_of(display: Display, width: float | None = None) -> Figure:
    """Return a new figure with the display drawn on it, without registering it in pyplot.

    ``width`` is in inches; the height follows it.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    size = display.size
    if width is not None:
        if not 2 <= width <= 40:
            raise InputError(f"{Parameter('width')} must be from 2 to 40 inches; got {width}.")
        size = width, size[1] * width / size[0]
    figure = Figure(figsize=size, layout=LAYOUT)
    display.plot(figure.add_subplot())
    return figure


def require_matplotlib() -> None:
    """Raise InputError with the way to get matplotlib where it is missing."""
    try:
        import_module("matplotlib")
    except ImportError as error:
        msg = f"Pictures need matplotlib; install it with: {installing('plots')}"
        raise InputError(msg) from error


def _axes_for(display: Display, ax: Any) -> list[Axes]:
    require_matplotlib()
    n_rows, n_columns = display.shape
    count, ratios = n_rows * n_columns, display.height_ratios
    if ax is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=display.size, layout=LAYOUT)
        grid = figure.subplots(n_rows, n_columns, squeeze=False, height_ratios=ratios)
        return list(grid.flat)
    if not hasattr(ax, "get_figure"):
        given = list(np.ravel(ax))
        if len(given) != count:
            msg = f"ax must be {count} axes, or a single one to be divided; got {len(given)}."
            raise InputError(msg)
        return given
    if count == 1:
        return [ax]
    place = ax.get_subplotspec()
    if place is None:
        msg = f"ax cannot be divided into {count}; use axes made by subplots, or pass {count} axes."
        raise InputError(msg)
    ax.set_axis_off()
    grid = place.subgridspec(n_rows, n_columns, height_ratios=ratios)
    return [ax.figure.add_subplot(grid[i, j]) for i in range(n_rows) for j in range(n_columns)]


def label_text(label: Any, longest: int = LONGEST_LABEL) -> str:
    r"""Return a label or name as matplotlib writes it: short, on one line and without mathematics.

    >>> label_text("US$"), label_text("a\nb"), label_text("x" * 40)
    ('US\\$', 'a b', 'xxxxxxxxxxxxxx…xxxxxxxxxxxxx')
    """
    text = " ".join("".join(c if c.isprintable() else " " for c in str(label)).split())
    if len(text) > longest:
        end = (longest - 1) // 2  # what tells names apart may stand there
        text = f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"
    return text.replace("$", r"\$")


def titled(title: str, text: str) -> str:
    """Return a text after a title, if there is one; the name of a class is said in words.

    >>> titled("PassiveAggressiveClassifier", "2 rows"), titled("SVC", "a"), titled("", "a row")
    ('Passive-aggressive classifier: 2 rows', 'SVC: a', 'A row')
    """
    if title.isalpha() and re.search("[a-z][A-Z]", title):
        words = re.sub("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", title).lower()
        title = re.sub("^(passive|confidence) ", r"\1-", words).capitalize()
    return f"{title}: {text}" if title else text[:1].upper() + text[1:]


def set_title(ax: Axes, *parts: str, width: int = TITLE_WIDTH) -> None:
    """Write a title, its parts on lines of their own and long ones broken."""
    lines = [fill(HYPHEN.sub("−", part), width) for part in parts if part]
    ax.set_title("\n".join(lines), loc="left", fontsize=10, color=INK)


def style_axes(
    ax: Axes, xlabel: str, ylabel: str, *, grid: bool = False, percent: str = "", whole: str = ""
) -> None:
    """Label the axes and hide the upper and right lines.

    ``percent`` and ``whole`` name the axes, among "xy", of shares and of whole numbers.
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    for axis in percent:
        getattr(ax, f"{axis}axis").set_major_formatter(PercentFormatter(1.0))
    for axis in whole:
        getattr(ax, f"{axis}axis").set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(label_text(xlabel, 60), color=INK)
    ax.set_ylabel(label_text(ylabel, 60), color=INK)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(FAINT)
    ax.tick_params(colors=FAINT, labelsize=9)
    if grid:
        ax.grid(color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)


def legend_beside(ax: Axes, handles: Sequence[Any]) -> Any:
    """Put a legend to the right of the axes, where it covers nothing."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    look: dict[str, Any] = {
        "borderaxespad": 0.0,
        "frameon": False,
        "fontsize": 9,
        "labelcolor": INK,
    }
    legend = ax.legend(handles=list(handles), ncols=1 if len(handles) <= 18 else 2, **place, **look)
    for text in legend.get_texts():
        text.set_text(HYPHEN.sub("−", text.get_text()))
    return legend


def _told(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, np.ndarray) and value.size > MOST_TOLD:
        numbers = value.dtype.kind in "iuf"
        ends = {"min": value.min().item(), "max": value.max().item()} if numbers else {}
        return {"shape": list(value.shape), **ends}
    value = value._asdict() if hasattr(value, "_asdict") else value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _told(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): _told(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_told(inner) for inner in value[:MOST_TOLD]]
    value = value.tolist() if hasattr(value, "tolist") else value
    return value if isinstance(value, str | int | float | bool | list | None) else str(value)


def check_picture_path(path: Target) -> str:
    """Return the form that the name of a file asks for: "png", "svg" or "pdf"."""
    suffix = PurePath(os.fspath(path)).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{os.fspath(path)} must end in .png, .svg or .pdf.")
    return suffix[1:]


def write_picture(
    display: Display,
    path: Target,
    *,
    width: float | None = None,
    dpi: int = DOTS,
    title: str | None = None,
) -> None:
    """Draw a display and write it to a file whose name ends in .png, .svg or .pdf.

    SVG and PDF carry its sentence as their title.

    Parameters
    ----------
    display : Display
    path : where the picture goes
    width : float, default None
        Width of the figure in inches, from 2 to 40; the height follows. None for the display's own.
    dpi : int, default 200
        Dots an inch of a PNG, from 20 to 1200.
    title : str, default None
        Heading of the picture; None for the display's own, "" for none.

    Raises
    ------
    InputError
        Where the name has another ending or the file cannot be written; nothing is changed then.
    """
    form = check_picture_path(path)
    if not 20 <= dpi <= 1200:
        raise InputError(f"{Parameter('dpi')} must be from 20 to 1200; got {dpi}.")
    display.heading = display.heading if title is None else label_text(title, LONGEST_TITLE)
    figure = figure_of(display, width)
    from matplotlib import rc_context

    metadata: dict[str, Any] = {"Title": display.sentence}
    if form == "svg":
        metadata["Date"] = None
    elif form == "pdf":
        metadata |= {"CreationDate": None, "ModDate": None}
    with rc_context(STYLE), replacing(path) as file:
        figure.savefig(
            file, format=form, dpi=dpi, bbox_inches="tight", pad_inches=0.08, metadata=metadata
        )
