"""How long each weight vector of a training lasted: its votes in the voted perceptron."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.models.model import Model
from rosenblatt.plots.display import Axes, Display, style_axes, titled
from rosenblatt.plots.palette import BLUE, VERMILION
from rosenblatt.wording import percent

RECORDED = Parameter("record_mistakes", value=True)
LONG_LIVED = 10  # vectors whose share of the votes is told


@dataclass
class SurvivalDisplay(Display):
    """How many rows each weight vector lasted until the next update, and who has the votes.

    In the voted perceptron a vector has as many votes as rows that it lasted. Vectors are counted
    in ranges of their length, each twice as long as the one before.

    Attributes
    ----------
    survival : array of shape (n_updates + 1,)
        The weights at the start first.
    longest : array
        The updates, 0 for the start, whose weights lasted longest, longest first.
    share : float
        Their share of all votes.
    edges : array
        The least survival of each range: 0, 1, 2, 4, 8, ….
    vectors, votes : arrays of shape (len(edges),)
        The shares of all vectors, and of all votes, that are in each range.
    vectors_, votes_, legend_ : what ``plot`` drew
    """

    survival: NDArray[Any]
    longest: NDArray[Any]
    share: float
    title: str

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Draw a ``VotedPerceptron``, or an estimator with ``record_mistakes=True``.

        A ``Model`` that stores its mistakes will do too.
        """
        if isinstance(estimator, Model):
            mistakes = estimator.mistakes
            if mistakes is None:
                msg = f"The model does not store its mistakes; train it with {RECORDED}."
                raise InputError(msg)
            return cls.from_survival(mistakes.lifetimes, title=estimator.learner)
        survival = getattr(estimator, "survival_", None)
        if survival is None and hasattr(estimator, "mistakes_"):
            survival = estimator.mistakes_.lifetimes
        if survival is None:
            raise InputError(
                f"This {type(estimator).__name__} does not store how long its weights lasted; fit "
                f"a VotedPerceptron, or use {RECORDED}."
            )
        return cls.from_survival(survival, title=type(estimator).__name__)

    @classmethod
    def from_survival(cls, survival: Any, *, title: str = "") -> Self:
        """Draw survival times: of the weights at the start, and of those after each update."""
        times = np.asarray(survival)
        if times.ndim != 1 or not len(times) or not (times >= 0).all() or not times.any():
            raise InputError("survival must hold numbers of at least 0, not all of them 0.")
        longest = np.argsort(-times, kind="stable")[:LONG_LIVED]
        return cls(times, longest, float(times[longest].sum() / times.sum()), title)

    @property
    def edges(self) -> NDArray[Any]:
        """The least survival of each range."""
        return np.append(0, 2 ** np.arange(int(self.survival.max()).bit_length()))

    @property
    def vectors(self) -> NDArray[Any]:
        """The share of all weight vectors in each range."""
        return self._shares(None)

    @property
    def votes(self) -> NDArray[Any]:
        """The share of all votes that the vectors of each range have."""
        return self._shares(self.survival)

    def _shares(self, amounts: NDArray[Any] | None) -> NDArray[Any]:
        place = np.searchsorted(self.edges, self.survival, side="right") - 1
        sums = np.bincount(place, amounts, len(self.edges))
        return np.asarray(sums / sums.sum())

    def _sentence(self) -> str:
        n = len(self.longest)
        held = f"the {n} longest-lived have {percent(self.share)} of the votes"
        if n == len(self.survival):
            held = f"the longest survived {self.survival.max():,} rows"
        return f"{len(self.survival):,} weight vectors; {held}."

    def _draw(self, ax: Axes) -> None:
        style_axes(ax, "rows survived", "share", grid=True, percent="y")
        ax.xaxis.grid(visible=False)
        edges, places = self.edges, np.arange(len(self.edges))
        self.vectors_, self.votes_ = (
            self._listed(ax.bar(places + shift, shares, 0.38, color=colour, label=label))
            for shift, shares, colour, label in (
                (-0.2, self.vectors, VERMILION, f"of {len(self.survival):,} weight vectors"),
                (0.2, self.votes, BLUE, f"of {int(self.survival.sum()):,} votes"),
            )
        )
        names = [f"{a:,}" if a < 2 else f"{a:,}–{2 * a - 1:,}" for a in edges.tolist()]
        steep: Any = {"rotation": 45, "ha": "right"} if len(names) > 7 else {}
        ax.set_xticks(places, names, **steep)
        self._finish(titled(self.title, "survival of the weight vectors"))
