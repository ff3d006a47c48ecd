"""Weights that all decide, by vote."""

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.scores import vote_counter, vote_scores
from rosenblatt.models.weights import Weights
from rosenblatt.tasks.leads import winner_leads


@dataclass
class VotedWeights(Weights):
    """Weights whose list of mistakes makes all vectors that vote; their average is shown."""

    by_vote: ClassVar[bool] = True
    kind: ClassVar[str] = "vote of linear models"
    title: ClassVar[str] = "Average of a voted perceptron"

    @property
    def n_deciding(self) -> int | None:
        """How many weight vectors vote."""
        mistakes = self.mistakes
        return None if mistakes is None else mistakes.n_vectors

    def check_start(self, name: str) -> None:
        """Raise InputError: a list of mistakes cannot begin with given weights."""
        raise InputError(
            f"{name} starts from zero: its vectors are sums of its mistakes, which given weights "
            "are not; leave coef_init and intercept_init out."
        )

    def scores(self, rows: Rows, *, positive: bool = False) -> NDArray[Any]:
        """Return the shares of votes of rows: (n,) for two classes, else (n, K)."""
        shape: Any = self.mistakes, self.task.n_classes, self.count
        return vote_scores(vote_counter(*shape, positive=positive)(rows))

    def tried_scores(self, rows: Rows, **convention: bool) -> NDArray[Any]:
        """Return the same."""
        return self.scores(rows, **convention)

    def decided(self, scores: NDArray[Any], average: Any, *_: Any) -> dict[str, Any]:
        """Return how clear the vote on a row is, and what the average of the vectors predicts."""
        return {
            "vectors_that_vote": self.n_deciding,
            "vote_margin": float(winner_leads(scores)[0]),
            "average_predicts": average,
        }
