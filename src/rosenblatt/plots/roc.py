"""The ROC curve: rows of a class that are found against false alarms, at every threshold."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.metrics import precision_recall_curve, roc_auc
from rosenblatt.plots.display import Display, legend_beside, set_title, style_axes, titled
from rosenblatt.plots.palette import BLUE, FAINT, VERMILION
from rosenblatt.plots.subject import one_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class RocDisplay(Display):
    """Which share of a class is found, and which share of the other rows is called so.

    Attributes
    ----------
    found, false_alarms, threshold : arrays of shape (n_levels,)
        One point for each score that occurs, from the highest on.
    area : float
        The area under the curve: the chance that a row of the class scores above another row.
    operating_point : (false_alarms, found) or None
        Where the model predicts the class itself.
    line_, chance_, point_, legend_ :
        What was drawn, after ``plot``.
    """

    found: NDArray[Any]
    false_alarms: NDArray[Any]
    threshold: NDArray[Any]
    area: float
    operating_point: tuple[float, float] | None
    label: str
    n_rows: int
    title: str

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a figure of its own, in inches."""
        return (7.6, 4.6)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, class_: Any = None) -> Self:
        """Evaluate on the rows X with labels y, preferably not training rows.

        ``class_`` is the positive class, by its label; the second of two by default.
        """
        of = one_class(estimator, X, y, class_)
        title = type(estimator).__name__
        return cls.from_scores(of.scores, of.positive, of.called, label=of.label, title=title)

    @classmethod
    def from_scores(
        cls, scores: Any, positive: Any, called: Any = None, *, label: str = "", title: str = ""
    ) -> Self:
        """Draw from the score of each row and whether it is positive, and perhaps called so.

        >>> display = RocDisplay.from_scores([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
        >>> display.found.tolist(), display.false_alarms.tolist(), display.area
        ([0.5, 0.5, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0], 0.75)
        """
        values, given = np.asarray(scores, np.float64), np.asarray(positive, bool)
        if values.shape != given.shape or values.ndim != 1:
            msg = f"scores and positive need one value per row; got {values.shape}, {given.shape}."
            raise InputError(msg)
        found, others = (precision_recall_curve(values, side) for side in (given, ~given))
        area = roc_auc(values, given)
        if found is None or others is None or area is None:
            which = "None" if found is None else "All"
            msg = f"{which} of {len(values):,} rows are of the class {label}; the curve needs both."
            raise InputError(msg)
        point = None
        if called is not None:
            calls = np.asarray(called, bool)
            point = float(calls[~given].mean()), float(calls[given].mean())
        return cls(
            *(found.recall, others.recall, found.threshold, area),
            *(point, label, len(values), title),
        )

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        return titled(
            self.title,
            f"a row of {self.label} scores above another row with probability {self.area:.3f} "
            f"(ROC AUC, {self.n_rows:,} rows).",
        )

    def _draw(self, axes: "list[Axes]") -> None:
        ax = axes[0]
        style_axes(
            ax,
            *(f"other rows that are called {self.label}", f"rows of {self.label} that are found"),
            grid=True,
            percent="xy",
        )
        self.line_ = ax.plot(
            np.append(0.0, self.false_alarms), np.append(0.0, self.found), color=BLUE,
            linewidth=2.0, label=f"ROC AUC {self.area:.3f}",
        )[0]  # fmt: skip
        self.chance_ = ax.plot([0, 1], [0, 1], color=FAINT, linestyle="--", label="by chance")[0]
        handles = [self.line_, self.chance_]
        self.point_ = None
        if self.operating_point is not None:
            alarms, found = self.operating_point
            self.point_ = ax.plot(
                [alarms], [found], marker="o", linestyle="none", color=VERMILION, markersize=8,
                label=f"predicted: {found:.1%} found, {alarms:.1%} false alarms",
                zorder=4,
            )[0]  # fmt: skip
            handles.append(self.point_)
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        self.legend_ = legend_beside(ax, handles)
        set_title(ax, titled(self.title, "ROC curve"))
