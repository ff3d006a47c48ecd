"""How long each weight vector of a training lasted: its votes in the voted perceptron."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.models.model import Model
from rosenblatt.models.provenance import is_recorded
from rosenblatt.models.scoring import votes_of
from rosenblatt.plots.display import Axes, Display, style_axes, titled
from rosenblatt.plots.palette import BLUE, INK, VERMILION

RECORDED = Parameter("record_mistakes", value=True)
MOST_STEMS = 150  # updates; more are points without a stem
MOST_POINTS = 2000  # updates; of more, points that would cover each other are drawn once
CELLS = (400, 60)  # across and up, in which they would
LONG_LIVED = 10  # that are marked


@dataclass
class SurvivalDisplay(Display):
    """How many rows the weights lasted, at the start and after each update, until the next one.

    In the voted perceptron that is how many votes they have.

    Attributes
    ----------
    survival : array of shape (n_updates + 1,)
        The weights at the start first.
    longest : array
        The updates, 0 for the start, whose weights lasted longest, longest first.
    share : float
        Their share of all votes.
    points_, longest_, legend_ : what ``plot`` drew
    """

    survival: NDArray[Any]
    longest: NDArray[Any]
    share: float
    title: str

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Draw a ``VotedPerceptron``, or what was fitted with ``record_mistakes=True``.

        A ``Model`` that stores its mistakes will do too.
        """
        if isinstance(estimator, Model):
            if not is_recorded(estimator):
                msg = Sentence(f"The model does not store its mistakes; train it with {RECORDED}.")
                raise InputError(msg)
            return cls.from_survival(votes_of(estimator).lifetimes, title=estimator.learner)
        survival = getattr(estimator, "survival_", None)
        if survival is None and hasattr(estimator, "mistakes_"):
            survival = estimator.mistakes_.lifetimes
        if survival is None:
            msg = Sentence(
                f"This {type(estimator).__name__} does not store how long its weights lasted; fit "
                f"a VotedPerceptron, or use {RECORDED}."
            )
            raise InputError(msg)
        return cls.from_survival(survival, title=type(estimator).__name__)

    @classmethod
    def from_survival(cls, survival: Any, *, title: str = "") -> Self:
        """Draw survival times: of the weights at the start, and of those after each update."""
        times = np.asarray(survival)
        if times.ndim != 1 or not len(times) or not (times >= 0).all() or not times.any():
            msg = "survival must hold numbers of at least 0, not all of them 0."
            raise InputError(msg)
        longest = np.argsort(-times, kind="stable")[:LONG_LIVED]
        return cls(times, longest, float(times[longest].sum() / times.sum()), title)

    @property
    def sentence(self) -> str:
        """What the picture shows."""
        n = len(self.longest)
        held = f"the {n} longest-lived have {self.share:.0%} of the votes"
        if n == len(self.survival):
            held = f"the longest survived {self.survival.max():,} rows"
        return f"{len(self.survival):,} weight vectors; {held}."

    def _draw(self, ax: Axes) -> None:
        style_axes(ax, "update (0: the start)", "rows survived", grid=True)
        number = np.arange(len(self.survival))
        if len(number) <= MOST_STEMS:
            ax.vlines(number, 0.5, np.maximum(self.survival, 0.5), color=BLUE, linewidth=1.0)
        drawn = number if len(number) <= MOST_POINTS else _spread(self.survival)
        size = 4 if len(number) <= 1000 else 2
        self.points_ = ax.plot(
            drawn, self.survival[drawn], "o", color=BLUE, markersize=size,
            label="weights after an update",
        )[0]  # fmt: skip
        handles = [self.points_]
        self.longest_ = None
        if len(self.longest) < len(number):
            self.longest_ = ax.plot(
                self.longest, self.survival[self.longest], "D", color=VERMILION, markersize=6,
                markeredgecolor=INK,
                label=f"the {len(self.longest)} longest: {self.share:.0%} of the votes",
            )[0]  # fmt: skip
            handles.append(self.longest_)
        if self.survival.max() > 20:
            ax.set_yscale("log")
        ax.set_ylim(bottom=0.5)
        self._finish(handles, titled(self.title, "survival of the weight vectors"))


def _spread(survival: NDArray[Any]) -> NDArray[Any]:
    """Return the updates of which no other is drawn in the same place."""
    height = np.log1p(survival)
    across = np.arange(len(survival)) * CELLS[0] // len(survival)
    up = (height / height.max() * CELLS[1]).astype(int)
    first: NDArray[Any] = np.unique(across * (CELLS[1] + 1) + up, return_index=True)[1]
    return np.sort(first)
