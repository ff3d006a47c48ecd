"""The angle between the weights and those of widest margin, update by update."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plots.canvas import Display, legend_beside, set_title, style_axes
from rosenblatt.plots.followed import proofs_of, traced
from rosenblatt.plots.palette import INK, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rosenblatt.tracing import Trace


@dataclass
class AngleDisplay(Display):
    """The angle between w and w*, the weights of widest margin, after each update.

    The proof of the theorem allows angles up to the one whose cosine is √k·γ/R after k updates;
    the angle itself may open now and then.

    Attributes
    ----------
    updates : array of shape (n_updates,)
    angles, allowed : arrays of shape (n_updates,)
        In degrees.
    angles_, allowed_, legend_ :
        What was drawn, after ``plot``.
    """

    updates: NDArray[Any]
    angles: NDArray[Any]
    allowed: NDArray[Any]
    note: str

    @classmethod
    def from_data(cls, X: Any, y: Any, **parameters: Any) -> Self:
        """Train a perceptron on separable rows; the parameters are those of ``trace``."""
        return cls.from_trace(traced(X, y, parameters))

    @classmethod
    def from_trace(cls, trace: "Trace") -> Self:
        """Draw a trace that was made with a witness."""
        _, proofs = proofs_of(trace)
        low = np.array([proof.projection_bound for proof in proofs])
        high = np.sqrt([proof.sqnorm_bound for proof in proofs])
        return cls(
            np.array([proof.updates for proof in proofs]),
            np.array([proof.angle for proof in proofs]),
            np.degrees(np.arccos(np.clip(low / high, 0.0, 1.0))),
            "" if trace.stop_reason == "converged" else "the training was not over",
        )

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        return (
            f"The angle to w* is {self.angles[0]:.1f}° after the first update and "
            f"{self.angles[-1]:.1f}° after the last of {self.updates[-1]:,}."
        )

    def _draw(self, axes: "list[Axes]") -> None:
        from matplotlib.ticker import MaxNLocator

        ax = axes[0]
        style_axes(ax, "updates", "angle between w and w*", grid=True)
        marker = "o" if len(self.updates) <= 60 else ""
        self.allowed_ = ax.plot(
            self.updates, self.allowed, color=VERMILION, linestyle="-.",
            label="the proof allows, cos = √k·γ/R",
        )[0]  # fmt: skip
        self.angles_ = ax.plot(
            self.updates, self.angles, color=INK, marker=marker, markersize=4, linewidth=1.4,
            label="angle after update k",
        )[0]  # fmt: skip
        ax.yaxis.set_major_formatter("{x:.0f}°")
        ax.set_ylim(0, max(92.0, float(self.angles.max()) * 1.03))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.legend_ = legend_beside(ax, [self.allowed_, self.angles_])
        set_title(ax, "The weights turn towards w*", self.note)
