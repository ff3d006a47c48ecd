"""The convergence theorem: mistakes below its bound, and the angle to separating weights."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.plots.display import Axes, Display, style_axes
from rosenblatt.plots.palette import BLUE, GREEN, INK, VERMILION

if TYPE_CHECKING:
    from rosenblatt.tracing import ProofStep, Trace

FAR_ABOVE = 8.0  # times the mistakes, from where the bound needs a logarithmic axis
MOST_STEPS = 200_000  # visits that are followed


class ProofDisplay(Display):
    """A display of a training beside the limits of the convergence proof."""

    note: str

    @classmethod
    def from_data(cls, X: Any, y: Any, **parameters: Any) -> Self:
        """Train a perceptron on separable rows; the parameters are those of ``trace``.

        Rows that are not separable are an InputError: the theorem is about rows that are.
        """
        from rosenblatt.theory.diagnosis import diagnose
        from rosenblatt.tracing import trace

        verdict = diagnose(X, y)
        if verdict.status != "separable" or verdict.augmented is None:
            raise InputError(
                f"The rows are {verdict.status}; the bound on mistakes needs separable rows (the "
                "picture of separability shows why)."
            )
        witness = (verdict.augmented[..., :-1], verdict.augmented[..., -1])  # of widest margin
        how: dict[str, Any] = {"max_rows": MOST_STEPS} | parameters
        return cls.from_trace(trace(X, y, witness=witness, **how))

    @classmethod
    @abstractmethod
    def from_trace(cls, trace: "Trace") -> Self:
        """Draw a trace that was made with a witness."""


@dataclass
class MistakesDisplay(ProofDisplay):
    """Mistakes so far, the bound R²/γ², and what the proof allows at each of them.

    After k mistakes w·w* ≥ k·γ, and w·w* ≤ ‖w‖ ≤ √k·R: so k ≤ √k·R/γ at any moment, and k ≤ R²/γ²
    (CIML, Theorem 2).

    Attributes
    ----------
    seen : array of shape (n_updates,)
        How many rows had been met at each update; where the trace holds updates alone, their
        numbers.
    mistakes : array of shape (n_updates,)
        Updates so far.
    allowed : array of shape (n_updates,)
        √k·R/γ after the k-th update.
    bound : float
        R²/γ².
    mistakes_, allowed_, bound_, legend_ : what ``plot`` drew
    """

    seen: NDArray[Any]
    mistakes: NDArray[Any]
    allowed: NDArray[Any]
    bound: float
    n_seen: int
    only_updates: bool
    note: str

    @classmethod
    def from_trace(cls, trace: "Trace") -> Self:
        """Draw a trace that was made with a witness."""
        seen, proofs = proofs_of(trace)
        steps = {step.step for step in trace if step.step}
        if len(steps) > 1 or any(step.step and not step.mistake for step in trace):
            msg = "The bound R²/γ² holds for the perceptron only; trace with rule='perceptron'."
            raise InputError(msg)
        updates = np.array([proof.updates for proof in proofs])
        gamma = np.array([p.projection_bound / p.updates for p in proofs])  # γ·Στ/k
        allowed = np.sqrt([proof.sqnorm_bound for proof in proofs]) / gamma
        bound, n_seen = float(trace.bound or 0.0), len(trace)
        return cls(seen, updates, allowed, bound, n_seen, n_seen == len(seen), note_of(trace))

    def _sentence(self) -> str:
        return (
            f"{self.mistakes[-1]:,} mistakes in {self.n_seen:,} "
            f"{'updates' if self.only_updates else 'rows seen'}, and the theorem allows "
            f"R²/γ² = {self.bound:.4g}."
        )

    def _draw(self, ax: Axes) -> None:
        style_axes(ax, "updates" if self.only_updates else "rows seen", "mistakes", grid=True)
        x, steps = np.append(self.seen, self.n_seen), {"drawstyle": "steps-post"}
        made, allowed = (np.append(y, y[-1]) for y in (self.mistakes, self.allowed))
        told = f"mistakes so far ({self.mistakes[-1]:,})"
        self.mistakes_ = self._curve(x, made, told, color=BLUE, linewidth=2.2, **steps)
        told, look = "allowed after k mistakes, √k·R/γ", {"linestyle": "--", **steps}
        self.allowed_ = self._curve(x, allowed, told, color=GREEN, linewidth=1.6, **look)
        told = f"bound R²/γ² = {self.bound:.4g}"
        self.bound_ = self._level(self.bound, told, color=VERMILION, linestyle="-.")
        self._handles.reverse()
        if self.bound > FAR_ABOVE * self.mistakes[-1]:
            ax.set_yscale("log")
            ax.set_ylim(bottom=0.8)
        else:
            ax.set_ylim(0, self.bound * 1.08)
        ax.set_xlim(0 if self.n_seen > 1 else 0.5, max(self.n_seen * 1.01, 1.5))
        self._finish("Mistakes against what the convergence theorem allows", self.note)


@dataclass
class AngleDisplay(ProofDisplay):
    """The angle between w and w*, the weights of widest margin, after each update.

    The proof of the theorem allows angles up to the one whose cosine is √k·γ/R after k updates;
    the angle itself may open now and then.

    Attributes
    ----------
    updates : array of shape (n_updates,)
    angles, allowed : arrays of shape (n_updates,)
        In degrees.
    angles_, allowed_, legend_ : what ``plot`` drew
    """

    updates: NDArray[Any]
    angles: NDArray[Any]
    allowed: NDArray[Any]
    note: str

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
            note_of(trace),
        )

    def _sentence(self) -> str:
        return (
            f"The angle to w* is {self.angles[0]:.1f}° after the first update and "
            f"{self.angles[-1]:.1f}° after the last of {self.updates[-1]:,}."
        )

    def _draw(self, ax: Axes) -> None:
        style_axes(ax, "updates", "angle between w and w*", grid=True, whole="x")
        marker = "o" if len(self.updates) <= 60 else ""
        x, told = self.updates, "the proof allows, cos = √k·γ/R"
        self.allowed_ = self._curve(x, self.allowed, told, color=VERMILION, linestyle="-.")
        look: Any = {"color": INK, "marker": marker, "markersize": 4, "linewidth": 1.4}
        self.angles_ = self._curve(x, self.angles, "angle after update k", **look)
        ax.yaxis.set_major_formatter("{x:.0f}°")
        ax.set_ylim(0, max(92.0, float(self.angles.max()) * 1.03))
        self._finish("The weights turn towards w*", self.note)


def note_of(trace: "Trace") -> str:
    """Return the note on a trace that stopped before convergence."""
    return "" if trace.stop_reason == "converged" else "the training was not over"


def proofs_of(trace: "Trace") -> "tuple[NDArray[Any], list[ProofStep]]":
    """Return the places of the updates in the trace, counted from 1, and their proofs."""
    if trace.bound is None:
        msg = "The trace has no proof; make it with a witness: trace(X, y, witness=(w, b))."
        raise InputError(msg)
    found = [(k, step.proof) for k, step in enumerate(trace, 1) if step.proof is not None]
    if not found:
        raise InputError("The trace has no update, so there is nothing to draw.")
    return np.array([k for k, _ in found]), [proof for _, proof in found]
