"""The regions of the plane that a model assigns to each class, for one model or several."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.plots.display import Axes, Display, label_text, legend_beside, set_title, titled
from rosenblatt.plots.frame import Viewport, clipped
from rosenblatt.plots.palette import CLASS_COLOURS, INK, PAPER, class_style, mixed
from rosenblatt.plots.plane import Features, Plane, plane_of
from rosenblatt.plots.scene import (
    MOST_NAMED,
    PlaneDisplay,
    class_handles,
    scatter_classes,
    scene_of,
    set_frame,
    write_bold,
)
from rosenblatt.plots.subject import (
    DrawnRows,
    Linear,
    linear_of,
    rows_of_data,
    rows_of_estimator,
)
from rosenblatt.tasks.leads import numbers_of

GRID = 240  # points along each side
FEWEST = 20  # rows of which a quarter is held out for a comparison
MOST_CROWDED = 200  # rows that are drawn of more classes than colours, with the mean of each
ROUGH = 60  # places across and up, in which room for a name is looked for
MOST_VALUES = 8_000_000  # of a grid lifted into all features; a coarser one is taken beyond
COARSEST = 40
COLUMNS = 3
PANEL = 3.0  # inches, its width
AROUND = 0.8  # for title and labels
LEGEND = 1.6


@dataclass(frozen=True)
class Regions:
    """The parts of a frame by class: exact polygons of a linear model, else a grid of classes."""

    polygons: list[NDArray[Any]] | None  # by class, perhaps without a corner
    grid: NDArray[Any] | None  # (n, n) class numbers, the bottom row first

    @property
    def present(self) -> list[int]:
        """The classes that have a part of the frame."""
        if self.polygons is not None:
            return [k for k, polygon in enumerate(self.polygons) if len(polygon)]
        assert self.grid is not None  # noqa: S101  # one of the two is there
        return [int(k) for k in np.unique(self.grid)]


def regions_of(estimator: Any, plane: Plane, frame: Viewport) -> Regions:
    """Return which class the estimator gives to which part of the plane."""
    weights = linear_of(estimator)
    if weights is not None:
        return Regions(_polygons(weights, plane, frame), None)
    d = len(plane.origin)
    n = int(min(GRID, max(COARSEST, (MOST_VALUES / d) ** 0.5)))
    across, up = np.meshgrid(*frame.cells(n))
    points = np.column_stack([across.ravel(), up.ravel()])
    at_once = max(1, MOST_VALUES // d)
    labels = [
        labels_by(estimator, plane.rows(points[start : start + at_once]))
        for start in range(0, len(points), at_once)
    ]
    numbers = numbers_of(np.concatenate(labels), np.asarray(estimator.classes_))
    return Regions(None, numbers.reshape(n, n))


def labels_by(estimator: Any, X: Any) -> NDArray[Any]:
    """Return the labels of rows; that an array has no names, as a data frame had, is no matter."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return np.asarray(estimator.predict(X))


def _polygons(weights: Linear, plane: Plane, frame: Viewport) -> list[NDArray[Any]]:
    w, b = plane.weights(weights.w, weights.b)
    if w.ndim == 1:
        w, b = np.stack([np.zeros(2), w]), np.array([0.0, b])
    found = []
    for k in range(len(w)):
        polygon = frame.corners
        for j in range(len(w)):
            if j == k or not len(polygon):
                continue
            lead, bias = w[k] - w[j], float(b[k] - b[j])
            size = float(np.abs(lead).max()) or abs(bias) or 1.0
            if not lead.any() and not bias and k > j:  # equal scores go to the first class
                polygon = np.empty((0, 2))
            else:
                polygon = clipped(polygon, lead / size, bias / size)
        found.append(polygon if len(polygon) > 2 else np.empty((0, 2)))
    return found


def draw_regions(ax: Axes, regions: Regions, frame: Viewport) -> list[Any]:
    """Colour the regions in the tints of their classes; a colour that comes again is hatched."""
    if regions.polygons is not None:
        drawn = [_fill(ax, k, regions.polygons[k]) for k in regions.present]
        return [*drawn, _edges(ax, regions.polygons, frame)]
    assert regions.grid is not None  # noqa: S101  # one of the two is there
    return _draw_grid(ax, regions.grid, frame)


def _roomiest(regions: Regions, number: int, frame: Viewport) -> tuple[float, float]:
    """Return the point of a region that is furthest from its border, on a grid."""
    from matplotlib.path import Path
    from scipy.ndimage import distance_transform_edt

    if regions.grid is None:
        assert regions.polygons is not None  # noqa: S101  # one of the two is there
        x, y = np.meshgrid(*frame.cells(ROUGH))
        points = np.column_stack([x.ravel(), y.ravel()])
        inside = Path(regions.polygons[number]).contains_points(points).reshape(ROUGH, ROUGH)
    else:
        inside = regions.grid == number
    depth = distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
    i, j = np.unravel_index(int(depth.argmax()), depth.shape)
    across, up = frame.cells(len(inside))
    return float(across[j]), float(up[i])


def _fill(ax: Axes, number: int, polygon: NDArray[Any]) -> Any:
    style = class_style(number)
    edge = mixed(style.colour, PAPER, 0.5) if style.hatch else style.tint
    look: Any = {"facecolor": style.tint, "edgecolor": edge, "hatch": style.hatch}
    return ax.fill(polygon[:, 0], polygon[:, 1], linewidth=0.0, zorder=0, **look)[0]


def _edges(ax: Axes, polygons: list[NDArray[Any]], frame: Viewport) -> Any:
    """Draw where two regions meet: the sides of polygons that are no part of the frame."""
    from matplotlib.collections import LineCollection

    walls = ((0, frame.left), (0, frame.right), (1, frame.bottom), (1, frame.top))
    reach = (1e-9 * frame.width, 1e-9 * frame.height)
    sides = [
        np.stack([polygon[i - 1], polygon[i]])
        for polygon in polygons
        for i in range(len(polygon))
        if not any(
            (np.abs(polygon[[i - 1, i], axis] - place) <= reach[axis]).all()
            for axis, place in walls
        )
    ]
    lines = LineCollection(sides, colors=INK, linewidths=1.2, zorder=1, capstyle="round")
    return ax.add_collection(lines, autolim=False)


def _draw_grid(ax: Axes, grid: NDArray[Any], frame: Viewport) -> list[Any]:
    styles = [class_style(k) for k in range(int(grid.max()) + 1)]
    tints = [[int(style.tint[i : i + 2], 16) for i in (1, 3, 5)] for style in styles]
    image = ax.imshow(
        np.array(tints, np.uint8)[grid], extent=frame[:4], origin="lower", aspect="auto",
        interpolation="nearest", zorder=0,
    )  # fmt: skip
    drawn: list[Any] = [image]
    x, y = frame.cells(len(grid))
    present = np.unique(grid).tolist()
    for k in present:
        inside = (grid == k).astype(float)
        if styles[k].hatch:
            hatched = ax.contourf(
                x, y, inside, levels=[0.5, 1.5], colors="none", hatches=[styles[k].hatch]
            )
            hatched.set_edgecolor(mixed(styles[k].colour, PAPER, 0.5))
            hatched.set_linewidth(0.0)
            drawn.append(hatched)
        if k != present[0]:
            drawn.append(ax.contour(x, y, inside, levels=[0.5], colors=INK, linewidths=1.2))
    return drawn


@dataclass
class RegionsDisplay(PlaneDisplay):
    """Rows of any number of classes, on the regions that a model assigns to them.

    Attributes
    ----------
    regions : Regions
        ``polygons`` by class for a linear model, exact; else ``grid``.
    judged, wrong : arrays of shape (n_rows,)
        Whether a row counts, and whether it is one of those that are wrong. Those are crossed where
        more features than the two drawn decide.
    regions_, points_, legend_ : what ``plot`` drew
    """

    regions: Regions
    judged: NDArray[Any]
    wrong: NDArray[Any]
    hidden: bool  # whether features decide that are not drawn
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
        """Compute the regions; the parameters are those of ``BoundaryDisplay``.

        Any fitted classifier will do. ``title`` is what it is called, by default its type.
        """
        rows = rows_of_estimator(estimator, X, y, feature_names)
        weights = linear_of(estimator)
        shown = plane_of(rows, features, plane, None if weights is None else weights.w)
        return cls._of(estimator, rows, shown, type(estimator).__name__ if title is None else title)

    @classmethod
    def _of(
        cls,
        estimator: Any,
        rows: DrawnRows,
        shown: Plane,
        title: str,
        judged: NDArray[Any] | None = None,
    ) -> Self:
        scene = scene_of(rows, shown)
        judged = np.ones(len(rows.numbers), bool) if judged is None else judged
        labels = np.asarray(estimator.classes_)[rows.numbers]
        wrong = judged & (labels_by(estimator, rows.X) != labels)
        regions = regions_of(estimator, shown, scene.frame)
        own = {"regions": regions, "judged": judged, "wrong": wrong, "title": title}
        return cls(**vars(scene) | own, hidden=rows.n_features > 2)

    @property
    def n_wrong(self) -> int:
        """How many of the rows that count are wrong."""
        return int(self.wrong.sum())

    def _sentence(self) -> str:
        wrong = f"{self.n_wrong:,} of {len(self.points):,} rows are wrong"
        return f"the regions of {len(self.classes)} classes; {wrong}."

    def _draw(self, ax: Axes) -> None:
        self.draw_panel(ax)
        for k in self.regions.present if 2 < len(self.classes) <= MOST_NAMED else ():
            look: Any = {"color": class_style(k).edge, "fontsize": 10, "zorder": 5}
            place = _roomiest(self.regions, k, self.frame)
            write_bold(ax, label_text(self.classes[k], 16), place, **look)
        wrong = f"{self.n_wrong:,} of {len(self.points):,} wrong"
        few = f"; {MOST_CROWDED} rows drawn, and the mean of each class" * self._crowded
        self._finish(titled(self.title, wrong), self.note + few)

    @property
    def _crowded(self) -> bool:
        return len(self.classes) > len(CLASS_COLOURS) and len(self.points) > MOST_CROWDED

    def draw_panel(self, ax: Axes, scale: float = 1.0) -> None:
        """Draw regions and rows; points have this share of their area."""
        self._handles = class_handles(self.classes)
        self.regions_ = draw_regions(ax, self.regions, self.frame)
        set_frame(ax, self.frame, self.axis_names)
        points, numbers = self.points, self.numbers
        if self._crowded:
            some = np.linspace(0, len(points) - 1, MOST_CROWDED).astype(int)
            scatter_classes(ax, points[some], numbers[some], faint=True)
            present = np.unique(numbers)
            means = np.stack([points[numbers == k].mean(axis=0) for k in present])
            self.points_ = scatter_classes(ax, means, present, scale=3.0)
            return
        own, rest = self.judged, ~self.judged
        scatter_classes(ax, points[rest], numbers[rest], faint=True, scale=scale)
        self.points_ = scatter_classes(ax, points[own], numbers[own], scale=scale)
        if self.hidden and self.n_wrong:
            self._cross(self.wrong, f"wrong: {self.n_wrong:,}")


def _seen_note(rows: DrawnRows, shown: Plane, features: Features | None) -> str:
    """Return what learners saw: two named features are all of it, no others at their means."""
    if features is None or rows.n_features <= 2:
        return shown.note
    return f"learned from these two of {rows.n_features} features"


@dataclass
class ComparisonDisplay(Display):
    """The regions of several learners on the same rows, side by side.

    Learners see the two features or directions that are drawn, and nothing else. They learn from
    three quarters of the rows, drawn faint, and are judged by the others; of less than 20 rows by
    all that they learned from.

    Attributes
    ----------
    panels : list of RegionsDisplay
        One a learner, in the order given; after ``plot`` each has its axes in ``axes_``.
    names : list of str
    legend_ : what ``plot`` drew
    """

    panels: list[RegionsDisplay]
    names: list[str]

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        estimators: Mapping[str, Any] | None = None,
        features: Features | None = None,
        plane: str | None = None,
        feature_names: Sequence[str] | None = None,
        max_iter: int = 10,
        random_state: int = 0,
    ) -> Self:
        """Fit every learner on the two drawn features or directions.

        Parameters
        ----------
        X, y : rows and labels
        estimators : dict of name → classifier, default None
            They are not changed; None for the perceptron with the last, averaged and voted weights,
            a decision tree and the nearest neighbour.
        features : two names or numbers, default None
        plane : "pca" or "weights", default None
        feature_names : names of the features, default None
            As of ``BoundaryDisplay``.
        max_iter, random_state : int
            Of the learners that are taken by default; the seed also chooses the rows to judge by.
        """
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning

        given = rows_of_data(X, y, feature_names)
        shown = plane_of(given, features, plane)
        rows = replace(given, X=shown.points(given.X))
        seen = Plane(np.zeros(2), np.eye(2), shown.labels, _seen_note(given, shown, features))
        learned, tried = rows.divided(random_state)
        present = np.unique(rows.numbers[learned])
        if rows.n_rows < FEWEST or len(present) < len(np.unique(rows.numbers)):
            learned = tried = np.arange(rows.n_rows)  # the others would be too few
        judged = np.bincount(tried, minlength=rows.n_rows) > 0
        learners = default_learners(max_iter, random_state) if estimators is None else estimators
        if not learners:
            raise InputError("estimators must hold at least one estimator.")
        panels = []
        for name, learner in learners.items():
            with warnings.catch_warnings():  # a few passes are enough to compare
                warnings.simplefilter("ignore", ConvergenceWarning)
                fitted = clone(learner).fit(rows.X[learned], rows.labels[learned])
            panels.append(RegionsDisplay._of(fitted, rows, seen, name, judged))  # noqa: SLF001
        return cls(panels, list(learners))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of axes; a place that is left over holds the legend."""
        columns = min(COLUMNS, len(self.panels))
        return (-(-len(self.panels) // columns), columns)

    @property
    def size(self) -> tuple[float, float]:
        """As large as the panels need."""
        n_rows, n_columns = self.shape
        beside = LEGEND if n_rows * n_columns == len(self.panels) else 0.0
        frame = self.panels[0].frame
        height = 0.8 * PANEL * (frame.height / frame.width if frame.equal else 1.0)
        return (PANEL * n_columns + beside, (height + AROUND) * n_rows)

    def _sentence(self) -> str:
        n, told = self._n_judged, ", ".join(f"{one.title} {one.n_wrong}" for one in self.panels)
        which = f"{n:,} {'held-out' if n < len(self.panels[0].points) else 'training'} rows"
        return f"Regions of {len(self.panels)} learners; wrong of {which}: {told}."

    @property
    def _n_judged(self) -> int:
        return int(self.panels[0].judged.sum())

    def summary(self) -> dict[str, Any]:
        """Return the summary of each panel by its title."""
        return {panel.title: panel.summary() for panel in self.panels}

    def _draw(self, _: Axes) -> None:
        axes, spare = self.axes_, self.axes_[len(self.panels) :]
        for number, (panel, ax) in enumerate(zip(self.panels, axes, strict=False)):
            panel.axes_, panel.ax_, panel.figure_ = [ax], ax, self.figure_
            panel.draw_panel(ax, scale=0.5)
            ax.tick_params(labelsize=8)
            if number % self.shape[1]:
                ax.set_ylabel("")
            if number + self.shape[1] < len(self.panels):
                ax.set_xlabel("")
            error = panel.n_wrong / self._n_judged
            note = "" if spare else panel.note
            set_title(ax, f"{label_text(panel.title)} ({error:.1%} wrong)", note, width=34)
        if self.heading:
            self.figure_.suptitle(self.heading, x=0.01, ha="left", fontsize=11, color=INK)
        handles = class_handles(self.panels[0].classes)
        for ax in spare:
            ax.set_axis_off()
        if spare:
            self.legend_ = spare[0].legend(
                handles=handles, loc="upper left", frameon=False, fontsize=9
            )
            notes = [self.panels[0].note, "faint: learned from; full: judged by"]
            note = fill("; ".join(notes[not notes[0] :]), 34)
            spare[0].text(0.03, 0.02, note, transform=spare[0].transAxes, fontsize=8)
        else:
            self.legend_ = legend_beside(axes[self.shape[1] - 1], handles)


def default_learners(max_iter: int, random_state: int) -> dict[str, Any]:
    """Return the learners of the book's comparison by name."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    kind: dict[str, Any] = {"max_iter": max_iter, "random_state": random_state}
    return {
        "last weights": Perceptron(**kind),
        "averaged": AveragedPerceptron(**kind),
        "voted": VotedPerceptron(**kind),
        "decision tree": DecisionTreeClassifier(random_state=random_state),
        "nearest neighbour": KNeighborsClassifier(n_neighbors=1),
    }
