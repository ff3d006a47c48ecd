"""Probabilities against what came true."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.reliability import Reliability
from rosenblatt.plots.display import Display, legend_beside, set_title, style_axes, titled
from rosenblatt.plots.palette import BLUE, FAINT
from rosenblatt.plots.subject import rows_of_estimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class ReliabilityDisplay(Display):
    """Whether rows of which the model says 80 % are right 80 times in 100.

    Rows are put into ten equally wide ranges of the probability; empty ones are left out.

    Attributes
    ----------
    probability, share : arrays of shape (n_bins,)
        The mean probability of the rows of a range, and the share of them that came true.
    count : array of shape (n_bins,)
        Their number.
    brier : float
        The mean of (probability − outcome)², 0 at best.
    line_, diagonal_, legend_ :
        What was drawn, after ``plot``.
    """

    probability: NDArray[Any]
    share: NDArray[Any]
    count: NDArray[Any]
    brier: float
    what: str  # the event that the probability is of
    title: str

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Evaluate on the rows X with labels y; the estimator needs probabilities.

        Of two classes the probability is that of the second one, of more that of the prediction.
        """
        rows = rows_of_estimator(estimator, X, y)
        reliability = Reliability(len(rows.classes))
        reliability.add(np.asarray(estimator.predict_proba(X)), rows.numbers)
        two = len(rows.classes) == 2
        what = f"a row is {rows.classes[1]}" if two else "the prediction is right"
        return cls.from_reliability(reliability, what=what, title=type(estimator).__name__)

    @classmethod
    def from_probabilities(
        cls, probability: Any, true: Any, *, what: str = "the prediction is right", title: str = ""
    ) -> Self:
        """Draw from each row's probability and whether the event came true.

        >>> display = ReliabilityDisplay.from_probabilities([0.25, 0.75, 0.75], [0, 1, 0])
        >>> display.probability.tolist(), display.share.tolist(), round(display.gap, 4)
        ([0.25, 0.75], [0.0, 0.5], 0.25)
        """
        p, hit = np.asarray(probability, np.float64), np.asarray(true, np.float64)
        if p.shape != hit.shape or p.ndim != 1 or not len(p):
            msg = f"probability and true need one value per row; got {p.shape} and {hit.shape}."
            raise InputError(msg)
        reliability = Reliability(2)
        reliability.add(np.column_stack([1.0 - p, p]), hit.astype(np.intp))
        return cls.from_reliability(reliability, what=what, title=title)

    @classmethod
    def from_reliability(
        cls, reliability: Reliability, *, what: str = "the prediction is right", title: str = ""
    ) -> Self:
        """Draw what an evaluation found out about probabilities."""
        _, _, mean, share, count = (
            np.array(column) for column in zip(*reliability.bins, strict=True)
        )
        return cls(mean, share, count, reliability.brier_score, what, title)

    @property
    def gap(self) -> float:
        """How far probabilities are from shares on average, weighted by rows."""
        return float(np.average(np.abs(self.probability - self.share), weights=self.count))

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        return titled(
            self.title,
            f"probabilities that {self.what} are {100 * self.gap:.1f} percentage points off on "
            f"average; Brier score {self.brier:.4f}.",
        )

    def _draw(self, axes: "list[Axes]") -> None:
        ax = axes[0]
        style_axes(
            ax, f"probability that {self.what}", "share that came true", grid=True, percent="xy"
        )
        self.diagonal_ = ax.plot(
            [0, 1], [0, 1], color=FAINT, linestyle="--", label="perfectly reliable"
        )[0]
        self.line_ = ax.plot(
            self.probability, self.share, color=BLUE, marker="o", linewidth=1.5,
            label="rows of a range of ten points",
        )[0]  # fmt: skip
        ax.scatter(
            self.probability, self.share, s=20 + 300 * self.count / self.count.max(), color=BLUE,
            alpha=0.3, linewidths=0,
        )  # fmt: skip
        ax.set_xlim(-0.03, 1.03)
        ax.set_ylim(-0.03, 1.03)
        self.legend_ = legend_beside(ax, [self.line_, self.diagonal_])
        set_title(ax, titled(self.title, "reliability of the probabilities"))
