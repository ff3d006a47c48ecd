"""The error against the share of rows that are answered, the most certain first."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.metrics import coverage_curve
from rosenblatt.plots.display import Display, legend_beside, set_title, style_axes, titled
from rosenblatt.plots.palette import BLUE, FAINT, VERMILION
from rosenblatt.plots.subject import rows_of_estimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = (0.5, 0.9)  # coverages that the legend tells the error of


@dataclass
class CoverageDisplay(Display):
    """Answer only where the model is sure: what share of the rows is answered, and how wrongly.

    A row's confidence is the vote margin of a voted perceptron, else the size of its score, or for
    more classes the lead of the best over the second. Rows of one confidence are taken together.

    Attributes
    ----------
    coverage : array of shape (n_levels,)
        Shares of the rows that are answered, rising to 1.
    error : array of shape (n_levels,)
        Share of the answered ones that are wrong.
    confidence : array of shape (n_levels,)
        The least confidence among the answered ones.
    line_, whole_, legend_ :
        What was drawn, after ``plot``.
    """

    coverage: NDArray[Any]
    error: NDArray[Any]
    confidence: NDArray[Any]
    measure: str
    n_rows: int
    title: str

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Evaluate on the rows X with labels y, preferably not training rows."""
        rows = rows_of_estimator(estimator, X, y)
        confidence, measure = _confidence(estimator, X)
        wrong = np.asarray(estimator.predict(X)) != np.asarray(estimator.classes_)[rows.numbers]
        return cls.from_confidence(
            confidence, wrong, measure=measure, title=type(estimator).__name__
        )

    @classmethod
    def from_confidence(
        cls, confidence: Any, wrong: Any, *, measure: str = "confidence", title: str = ""
    ) -> Self:
        """Draw from each row's confidence and whether it is wrong."""
        sure, bad = np.asarray(confidence, np.float64), np.asarray(wrong, bool)
        if sure.shape != bad.shape or sure.ndim != 1 or not len(sure):
            msg = f"confidence and wrong need one value per row; got {sure.shape} and {bad.shape}."
            raise InputError(msg)
        curve = coverage_curve(sure, bad)
        return cls(curve.coverage, curve.error, curve.threshold, measure, len(sure), title)

    def error_at(self, coverage: float) -> float:
        """Return the error where at least this share of the rows is answered."""
        return float(self.error[int(np.searchsorted(self.coverage, coverage - 1e-12))])

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        return (
            f"{self.title}: {self.error[-1]:.2%} of {self.n_rows:,} rows are wrong; of the "
            f"most certain half, {self.error_at(0.5):.2%}."
        )

    def _draw(self, axes: "list[Axes]") -> None:
        ax = axes[0]
        style_axes(ax, "share of rows answered", "error", grid=True, percent="xy")
        self.line_ = ax.plot(
            self.coverage, self.error, color=BLUE, linewidth=2.0, drawstyle="steps-post",
            label=f"most certain first, by {self.measure}",
        )[0]  # fmt: skip
        self.whole_ = ax.axhline(
            self.error[-1], color=FAINT, linestyle="--", label=f"all rows: {self.error[-1]:.2%}"
        )
        handles = [self.line_, self.whole_]
        for level, marker in zip(LEVELS, ("o", "^"), strict=True):
            error = self.error_at(level)
            handles += ax.plot(
                [level], [error], marker=marker, linestyle="none", color=VERMILION, markersize=8,
                label=f"{level:.0%} answered: {error:.2%}", zorder=4,
            )  # fmt: skip
        ax.set_xlim(0, 1.01)
        top = max(float(self.error[self.coverage >= 0.05].max(initial=0.0)), self.error[-1]) or 0.01
        ax.set_ylim(-0.03 * top, 1.15 * top)
        self.legend_ = legend_beside(ax, handles)
        set_title(ax, titled(self.title, "error against coverage"))


def _confidence(estimator: Any, X: Any) -> tuple[NDArray[Any], str]:
    if hasattr(estimator, "vote_margin"):
        return np.abs(np.asarray(estimator.vote_margin(X))), "vote margin"
    if not hasattr(estimator, "decision_function"):
        msg = f"{type(estimator).__name__} has no decision_function, so its confidence is unknown."
        raise InputError(msg)
    scores = np.asarray(estimator.decision_function(X))
    if scores.ndim == 1:
        return np.abs(scores), "size of the score"
    best = np.sort(scores, axis=1)
    return best[:, -1] - best[:, -2], "lead of the best class"
