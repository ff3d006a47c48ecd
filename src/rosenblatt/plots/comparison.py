"""The last, averaged and voted perceptron beside a tree and a nearest neighbour."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

from rosenblatt.errors import InputError
from rosenblatt.estimators import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.plots.canvas import Display, label_text, legend_beside, set_title
from rosenblatt.plots.drawn_rows import rows_of_data
from rosenblatt.plots.plane import Features, plane_of
from rosenblatt.plots.regions import RegionsDisplay
from rosenblatt.plots.scatter import class_handles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3
PANEL = 3.0  # inches, its width
AROUND = 0.8  # for title and labels
LEGEND = 1.6


@dataclass
class ComparisonDisplay(Display):
    """The regions of several learners on the same rows, side by side.

    Attributes
    ----------
    panels : list of RegionsDisplay
        One a learner, in the order given; after ``plot`` each has its axes in ``axes_``.
    names : list of str
    legend_ :
        What was drawn, after ``plot``.
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
        """Fit every learner on all features and draw.

        Parameters
        ----------
        X, y : rows and labels
        estimators : dict of name → classifier, default None
            They are not changed; None for the perceptron with the last, averaged and voted weights,
            a decision tree and the nearest neighbour.
        features, plane, feature_names
            As of ``BoundaryDisplay``.
        max_iter, random_state : int
            Of the learners that are taken by default.
        """
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning

        rows = rows_of_data(X, y, feature_names)
        shown = plane_of(rows, features, plane)
        learners = default_learners(max_iter, random_state) if estimators is None else estimators
        if not learners:
            msg = "estimators must hold at least one learner."
            raise InputError(msg)
        panels = []
        for name, learner in learners.items():
            with warnings.catch_warnings():  # a few passes are enough to compare
                warnings.simplefilter("ignore", ConvergenceWarning)
                fitted = clone(learner).fit(rows.X, rows.labels)
            panels.append(RegionsDisplay._of(fitted, rows, shown, name))  # noqa: SLF001  # ours
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

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        n = len(self.panels[0].points)
        told = ", ".join(f"{panel.title} {panel.n_wrong}" for panel in self.panels)
        return f"Regions of {len(self.panels)} learners; of {n:,} training rows are wrong: {told}."

    def summary(self) -> dict[str, Any]:
        """Return what each panel shows."""
        return {panel.title: panel.summary() for panel in self.panels}

    def _draw(self, axes: "list[Axes]") -> None:
        spare = axes[len(self.panels) :]
        for number, (panel, ax) in enumerate(zip(self.panels, axes, strict=False)):
            panel.axes_, panel.ax_, panel.figure_ = [ax], ax, self.figure_
            panel.draw_panel(ax, scale=0.5)
            ax.tick_params(labelsize=8)
            if number % self.shape[1]:
                ax.set_ylabel("")
            if number + self.shape[1] < len(self.panels):
                ax.set_xlabel("")
            error = panel.n_wrong / len(panel.points)
            note = "" if spare else panel.scene.note
            set_title(ax, f"{label_text(panel.title)} ({error:.1%} wrong)", note, width=34)
        handles = class_handles(self.panels[0].classes)
        for ax in spare:
            ax.set_axis_off()
        if spare:
            self.legend_ = spare[0].legend(
                handles=handles, loc="upper left", frameon=False, fontsize=9, title="training rows"
            )
        else:
            self.legend_ = legend_beside(axes[self.shape[1] - 1], handles)
        if spare:
            note = fill(self.panels[0].scene.note, 34)
            spare[0].text(0.03, 0.02, note, transform=spare[0].transAxes, fontsize=8)


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
