"""What columns add to the scores over their values: curves, bars and maps of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.models.column_shapes import ColumnShape, Levels, column_shapes
from rosenblatt.models.explanation import class_number
from rosenblatt.plots.display import Axes, Display, label_text, legend_beside, set_title, style_axes
from rosenblatt.plots.palette import BLUE, FAINT, INK, LINES, PAPER, VERMILION, class_style, mixed
from rosenblatt.plots.weights import model_from
from rosenblatt.wording import counted

MOST_LEVELS = 20  # of a category, those that add most
MOST_CLASSES = 7  # whose curves are drawn
MOST_BANDS = 3  # of curves; more would hide each other
IN_A_ROW = 3
MOST_TICKS = 12
MOST_LETTERS = 30  # below a map; more are written slanting
BAND = 0.18  # how much of its colour a band has
STRIP = 0.12  # of the height of a curve: how many rows each range has, the most in all of it
PAIR = 2  # columns


@dataclass
class ShapeDisplay(Display):
    """What a column adds to the score over its values; on the mean of all rows it adds 0.

    A number is a curve with a step at each edge of its bins, a category has a bar for each level,
    a chosen pair of columns is a map of what both add together; all maps have one scale. A strip
    below a curve shows how many rows each range has. Between two classes it is the
    score of the second; between more, each class has a curve less the mean of all. The band, or
    the line through a bar, reaches one deviation to either side: of the weights where the rule
    keeps their variance (CW, AROW, SCW); else 1/√n for n rows of a range or a level, which is what
    chance does to the mean of n labels of ±1.

    Attributes
    ----------
    shapes : list of ColumnShape
        The most important first.
    labels : list
        The classes whose scores are shown.
    """

    shapes: list[ColumnShape]
    labels: list[Any]
    of_weights: bool  # whether deviations are those of the weights

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, column: str | Sequence[str] = (), class_: Any = None, n: int = 9
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        estimator : fitted estimator of rosenblatt, or a stored model, of a table
        column : names of columns, and of pairs as "A:B"; by default those that add most
        class_ : label, default None
            The class whose score is shown; by default the second of two, and of more all of them,
            those that vary most. A map of a pair needs one of more than two.
        n : int, default 9
            How many columns at most where none is named.
        """
        model = model_from(estimator).one_class()
        wanted = [column] if isinstance(column, str) else list(column)
        shapes, classes = column_shapes(model, wanted), list(model.classes)
        number = None if class_ is None else class_number(model, str(class_))
        compared = len(model.weights) > 1 and number is None  # the scores of classes
        if not wanted:
            drawn = [one for one in shapes if len(one.levels) == 1 or not compared]
            shapes = sorted(drawn, key=lambda one: -one.importance)[:n]
        if compared and any(len(one.levels) == 2 for one in shapes):
            raise InputError(
                f"The model has {len(classes)} classes; choose the one whose map is drawn with "
                f"class_, for example class_={classes[0]!r}."
            )
        sure = model.variance is not None
        if len(model.weights) == 1:
            positive = 1 if number is None else number
            shapes = [one._replace(amounts=(2 * positive - 1) * one.amounts) for one in shapes]
            return cls(shapes, [classes[positive]], sure)
        chosen = [] if number is None else [number]
        if not chosen:  # the scores that columns change most
            reach = np.sum([np.abs(one.amounts).max(axis=(1, 2)) for one in shapes], axis=0)
            chosen = sorted(np.argsort(-reach, kind="stable")[:MOST_CLASSES].tolist())
        return cls([one.of_scores(chosen) for one in shapes], [classes[k] for k in chosen], sure)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of axes."""
        n = max(len(self.shapes), 1)
        return (-(-n // IN_A_ROW), min(n, IN_A_ROW))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a figure of its own, in inches."""
        n_rows, n_columns = self.shape
        return (7.6, 4.4) if n_columns == 1 else (4.2 * n_columns, 3.3 * n_rows)

    def _sentence(self) -> str:
        whose = "one deviation of the weights" if self.of_weights else "1/√n for n rows of a range"
        bands = f"; bands are {whose}" if len(self.labels) <= MOST_BANDS else ""
        what = f"the score of {self.labels[0]}" if len(self.labels) == 1 else "the score of a class"
        if not self.shapes:
            return "The model has no columns with levels or numbers."
        if len(self.shapes) > 1:
            n = counted(len(self.shapes), "column")
            pairs = ", pairs among them," if any(len(s.levels) == 2 for s in self.shapes) else ""
            return f"What {n}{pairs} add to {what}{bands}."
        one = self.shapes[0]
        span = f"from {one.amounts.min():+.3g} to {one.amounts.max():+.3g}"
        return f"'{one.title}' adds {span} to {what}{bands}."

    def _draw(self, ax: Axes) -> None:
        if not self.shapes:
            ax.text(0.5, 0.5, "no columns", ha="center", transform=ax.transAxes, color=INK)
        for own in self.axes_[len(self.shapes) :]:
            own.set_axis_off()
        handles: list[Any] = []
        for own, one in zip(self.axes_, self.shapes, strict=False):
            if len(one.levels) == 2:
                self._map(own, one)
            elif one.levels[0].number >= 0:
                handles = self._steps(own, one)
            else:
                handles = self._bars(own, one) or handles
            set_title(own, label_text(one.title, 40))
        self._share_scales()
        if len(self.labels) > 1 and handles:
            last = self.axes_[min(len(self.shapes), IN_A_ROW) - 1]
            self.legend_ = legend_beside(last, handles)

    def _share_scales(self) -> None:
        """Give all curves one scale and all bars one, so that what looks steeper is."""
        drawn = [*zip(self.axes_, self.shapes, strict=False)]
        for curve, axis in ((True, "y"), (False, "x")):
            axes = [
                own
                for own, one in drawn
                if len(one.levels) == 1 and (one.levels[0].number >= 0) == curve
            ]
            ends = [getattr(own, f"get_{axis}lim")() for own in axes]
            for own in axes:
                getattr(own, f"set_{axis}lim")(min(a for a, _ in ends), max(b for _, b in ends))

    @property
    def _measure(self) -> str:
        if len(self.labels) > 1:
            return "adds to the score"
        return f"adds to the score of {label_text(self.labels[0], 20)}"

    def _style(self, k: int) -> tuple[str, str]:
        """Return colour and line of a score."""
        if len(self.labels) == 1:
            return BLUE, "-"
        return class_style(k).colour, LINES[k % len(LINES)]

    def _steps(self, ax: Axes, one: ColumnShape) -> list[Any]:
        levels, handles = one.levels[0], []
        ranges = ~np.isnan(levels.ends[:, 0])
        x = levels.ends[ranges].ravel()
        alone = len(self.shapes) == 1 or ax in self.axes_[::IN_A_ROW]
        style_axes(ax, one.title, self._measure if alone else "", grid=True)
        ax.locator_params(axis="x", nbins=5)
        ax.axhline(0.0, color=INK, linewidth=0.8)
        for k, label in enumerate(self.labels):
            colour, line = self._style(k)
            y = one.amounts[k][ranges].ravel()
            handles += ax.plot(x, y, line, color=colour, linewidth=1.8, label=label_text(label))
            if one.deviations is not None and len(self.labels) <= MOST_BANDS:
                unsure = one.deviations[k][ranges].ravel()
                ax.fill_between(x, y - unsure, y + unsure, color=colour, alpha=BAND, linewidth=0)
        density = one.shares[ranges] / np.maximum(np.diff(levels.ends[ranges])[:, 0], 1e-300)
        if len(density) > 1:
            below = ax.get_xaxis_transform()  # heights are shares of the axes
            height = STRIP * np.repeat(density / (density.max() or 1.0), 2)
            ax.fill_between(x, height, color=INK, alpha=BAND, linewidth=0, transform=below)
        for level in np.flatnonzero(~ranges):  # missing values stand beside the curve
            width = float(x[-1] - x[0]) or 1.0
            place = float(x[-1]) + 0.08 * width
            for k in range(len(self.labels)):
                ax.plot([place], one.amounts[k, level, :1], "D", color=self._style(k)[0], ms=5)
            beside: Any = {"xytext": (0, 4), "textcoords": "offset points", "rotation": 90}
            beside |= {"ha": "center", "fontsize": 8, "color": FAINT}
            ax.annotate("missing", (place, 0.0), xycoords=("data", "axes fraction"), **beside)
        return handles

    def _bars(self, ax: Axes, one: ColumnShape) -> list[Any]:
        most = np.argsort(-np.abs(one.amounts[..., 0]).max(axis=0), kind="stable")[:MOST_LEVELS]
        order = most[np.argsort(one.amounts[0, most, 0], kind="stable")]
        style_axes(ax, self._measure, "", grid=True)
        ax.yaxis.grid(visible=False)
        ax.axvline(0.0, color=INK, linewidth=0.8)
        height, handles = 0.76 / len(self.labels), []
        for k, label in enumerate(self.labels):
            places = np.arange(len(order)) + (k + 0.5) * height - 0.38
            look: Any = {"ecolor": INK, "error_kw": {"elinewidth": 0.9, "capsize": 2}}
            look |= {"color": self._style(k)[0], "label": label_text(label)}
            if one.deviations is not None:
                look["xerr"] = one.deviations[k, order, 0]
            handles.append(ax.barh(places, one.amounts[k, order, 0], height, **look))
        names = one.levels[0].names
        ax.set_yticks(range(len(order)), [label_text(names[k], 18) for k in order], color=INK)
        ax.tick_params(axis="y", length=0)
        return handles

    def _map(self, ax: Axes, one: ColumnShape) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        colours: Any = LinearSegmentedColormap.from_list("sides", [VERMILION, PAPER, BLUE])
        colours = colours.with_extremes(bad=mixed(INK, PAPER, 0.1))
        seen = np.ma.masked_where(one.shares <= 0.0, one.amounts[0])
        reach = max(_reach(other) for other in self.shapes if len(other.levels) == PAIR) or 1.0
        image = ax.imshow(
            seen.T, cmap=colours, vmin=-reach, vmax=reach, aspect="auto", origin="lower"
        )
        ticks = [_ticks(levels) for levels in one.levels]
        steep = sum(len(text) for _, text in ticks[0]) > MOST_LETTERS
        look: Any = {"rotation": 45, "ha": "right"} if steep else {}
        ax.set_xticks(*zip(*ticks[0], strict=True), fontsize=8, **look)
        ax.set_yticks(*zip(*ticks[1], strict=True), fontsize=8)
        ax.set_xlabel(label_text(one.columns[0]), color=INK)
        ax.set_ylabel(label_text(one.columns[1]), color=INK)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        bar = ax.figure.colorbar(image, ax=ax)
        if len(self.shapes) == 1:
            bar.set_label(self._measure)
        bar.outline.set_visible(False)


def _reach(one: ColumnShape) -> float:
    """Return the largest amount of a map, whatever its sign, where there are rows."""
    seen = np.abs(one.amounts[0])[one.shares > 0.0]
    return float(seen.max(initial=0.0))


def _ticks(levels: Levels) -> list[tuple[float, str]]:
    """Return places and texts of ticks: edges between the ranges of a number, else the levels."""
    ranges = ~np.isnan(levels.ends[:, 0])
    edges = enumerate(levels.ends[ranges][1:, 0].tolist())
    named = [(float(k), label_text(levels.names[k], 18)) for k in np.flatnonzero(~ranges)]
    step = -(-max(len(levels.names) - len(named), len(named)) // MOST_TICKS)
    return [*((k + 0.5, f"{edge:.4g}") for k, edge in edges)][::step] + named[::step]
