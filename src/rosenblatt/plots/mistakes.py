"""Mistakes of a training below the bound of the convergence theorem."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.plots.canvas import Display, legend_beside, set_title, style_axes
from rosenblatt.plots.followed import proofs_of, traced
from rosenblatt.plots.palette import BLUE, GREEN, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rosenblatt.tracing import Trace

FAR_ABOVE = 8.0  # times the mistakes, from where the bound needs a logarithmic axis


@dataclass
class MistakesDisplay(Display):
    """Mistakes so far, the bound R²/γ², and what the proof allows at each of them.

    After k mistakes w·w* ≥ k·γ, and w·w* is at most ‖w‖: so k ≤ ‖w‖/γ at any moment, and since
    ‖w‖² ≤ k·R², k ≤ R²/γ² at last (CIML, Theorem 2).

    Attributes
    ----------
    seen : array of shape (n_updates,)
        How many rows had been met at each update; where the trace holds updates alone, their
        numbers.
    mistakes : array of shape (n_updates,)
        Updates so far.
    allowed : array of shape (n_updates,)
        ‖w‖/γ after each update.
    bound : float
        R²/γ².
    mistakes_, allowed_, bound_, legend_ :
        What was drawn, after ``plot``.
    """

    seen: NDArray[Any]
    mistakes: NDArray[Any]
    allowed: NDArray[Any]
    bound: float
    n_seen: int
    only_updates: bool
    note: str

    @classmethod
    def from_data(cls, X: Any, y: Any, **parameters: Any) -> Self:
        """Train a perceptron on separable rows; the parameters are those of ``trace``."""
        return cls.from_trace(traced(X, y, parameters))

    @classmethod
    def from_trace(cls, trace: "Trace") -> Self:
        """Draw a trace that was made with a witness."""
        seen, proofs = proofs_of(trace)
        steps = {step.step for step in trace if step.step}
        if len(steps) > 1 or any(step.step and not step.mistake for step in trace):
            msg = "The bound R²/γ² is on the perceptron's mistakes: trace with rule='perceptron'."
            raise InputError(msg)
        updates = np.array([proof.updates for proof in proofs])
        gamma = np.array([p.projection_bound / p.updates for p in proofs])  # γ·Στ/k
        allowed = np.array([proof.length for proof in proofs]) / gamma
        note = "" if trace.stop_reason == "converged" else "the training was not over"
        return cls(
            seen, updates, allowed, float(trace.bound or 0.0), len(trace), len(trace) == len(seen),
            note,
        )  # fmt: skip

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        return (
            f"{self.mistakes[-1]:,} mistakes in {self.n_seen:,} "
            f"{'updates' if self.only_updates else 'rows met'}, where the theorem allows "
            f"R²/γ² = {self.bound:.4g}."
        )

    def _draw(self, axes: "list[Axes]") -> None:
        ax = axes[0]
        style_axes(ax, "updates" if self.only_updates else "rows met", "mistakes", grid=True)
        x = np.append(self.seen, self.n_seen)
        kind: dict[str, Any] = {"drawstyle": "steps-post"}
        self.mistakes_ = ax.plot(
            x, np.append(self.mistakes, self.mistakes[-1]), color=BLUE, linewidth=2.2,
            label=f"mistakes so far ({self.mistakes[-1]:,})", **kind,
        )[0]  # fmt: skip
        self.allowed_ = ax.plot(
            x, np.append(self.allowed, self.allowed[-1]), color=GREEN, linewidth=1.6,
            linestyle="--", label="allowed so far, ‖w‖/γ", **kind,
        )[0]  # fmt: skip
        self.bound_ = ax.axhline(
            self.bound, color=VERMILION, linestyle="-.", label=f"bound R²/γ² = {self.bound:.4g}"
        )
        if self.bound > FAR_ABOVE * self.mistakes[-1]:
            ax.set_yscale("log")
            ax.set_ylim(bottom=0.8)
        else:
            ax.set_ylim(0, self.bound * 1.08)
        ax.set_xlim(0 if self.n_seen > 1 else 0.5, max(self.n_seen * 1.01, 1.5))
        self.legend_ = legend_beside(ax, [self.bound_, self.allowed_, self.mistakes_])
        set_title(ax, "Mistakes against what the convergence theorem allows", self.note)
