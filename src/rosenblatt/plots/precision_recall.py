"""Precision against recall, as the threshold falls from the highest score to the lowest."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.metrics import precision_recall_curve
from rosenblatt.plots.display import Display, legend_beside, set_title, style_axes, titled
from rosenblatt.plots.palette import BLUE, FAINT, VERMILION
from rosenblatt.plots.subject import one_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class PrecisionRecallDisplay(Display):
    """Which share of the rows that are called positive is so, and which share of them is found.

    Attributes
    ----------
    precision, recall, threshold : arrays of shape (n_levels,)
        One point for each score that occurs, from the highest on.
    average_precision : float
        The mean of the precision over the recall.
    share : float
        Share of the positive rows among all: the precision of calling every row positive.
    operating_point : (recall, precision) or None
        Where the model predicts the class itself: at a score of 0.
    line_, chance_, point_, legend_ :
        What was drawn, after ``plot``.
    """

    precision: NDArray[Any]
    recall: NDArray[Any]
    threshold: NDArray[Any]
    average_precision: float
    share: float
    operating_point: tuple[float, float] | None
    label: str
    n_rows: int
    title: str

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
        """Draw from the score of each row and whether it is positive, and perhaps called so."""
        values, given = np.asarray(scores, np.float64), np.asarray(positive, bool)
        if values.shape != given.shape or values.ndim != 1:
            msg = f"scores and positive need one value per row; got {values.shape}, {given.shape}."
            raise InputError(msg)
        curve = precision_recall_curve(values, given)
        if curve is None:
            msg = f"None of {len(values):,} rows is of the class {label}; the curve needs some."
            raise InputError(msg)
        point = None
        if called is not None and np.any(called):
            right = float(np.count_nonzero(given & called))
            point = right / np.count_nonzero(given), right / np.count_nonzero(called)
        share = float(given.mean())
        return cls(*curve, curve.average_precision, share, point, label, len(values), title)

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        return (
            f"{self.title}: average precision {self.average_precision:.3f} for {self.label}, which "
            f"{self.share:.2%} of {self.n_rows:,} rows are."
        )

    def _draw(self, axes: "list[Axes]") -> None:
        ax = axes[0]
        style_axes(ax, f"recall of {self.label}", "precision", grid=True, percent="xy")
        self.line_ = ax.plot(
            np.append(0.0, self.recall), np.append(self.precision[0], self.precision), color=BLUE,
            linewidth=2.0, drawstyle="steps-pre",
            label=f"average precision {self.average_precision:.3f}",
        )[0]  # fmt: skip
        self.chance_ = ax.axhline(
            self.share, color=FAINT, linestyle="--", label=f"all rows: {self.share:.2%}"
        )
        handles = [self.line_, self.chance_]
        self.point_ = None
        if self.operating_point is not None:
            recall, precision = self.operating_point
            self.point_ = ax.plot(
                [recall], [precision], marker="o", linestyle="none", color=VERMILION, markersize=8,
                label=f"predicted: {precision:.1%} right, {recall:.1%} found", zorder=4,
            )[0]  # fmt: skip
            handles.append(self.point_)
        ax.set_xlim(-0.01, 1.01)
        ax.set_ylim(0.0, 1.03)
        self.legend_ = legend_beside(ax, handles)
        set_title(ax, titled(self.title, "precision and recall"))
