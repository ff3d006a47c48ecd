"""What an estimator remembers of its mistakes."""

from typing import Any

from numpy.typing import NDArray

from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.training.history import Outcome
from rosenblatt.training.linear import Memory
from rosenblatt.training.state import State
from rosenblatt.training.votes import Votes


class Recollection:
    """Keeps the list of the last fit, where it was recorded and the weights are made of it alone.

    An estimator that is made of its mistakes keeps more.
    """

    mistakes_: Mistakes

    def _earlier(self, classes: NDArray[Any]) -> Votes | None:  # noqa: ARG002  # see below
        """Return what goes on voting beside a further training, by the numbers of these classes."""
        return None

    def _memory(self, state: State, earlier: Votes | None) -> Memory | None:  # noqa: ARG002
        """Return what predicts in place of the weights, if anything."""
        return None

    def _remember(
        self,
        outcome: Outcome,
        rows: Rows,  # noqa: ARG002  # what VotedPerceptron needs, as in all of these
        earlier: Votes | None,  # noqa: ARG002
        *,
        onward: bool,
    ) -> None:
        """Keep the mistakes of a training, which started from other weights than 0 if onward."""
        self._forget()
        if outcome.mistakes is not None and not onward:
            self.mistakes_ = outcome.mistakes

    def _room_for(self, n_rows: int) -> Log | None:  # noqa: ARG002
        """Return room for the updates of a further batch, if they are to be kept."""
        return None

    def _remember_more(self, rows: Rows, log: Log | None, n_updates: int, count: int) -> None:  # noqa: ARG002
        """Keep the updates of a further batch, which began at this count of rows."""
        self._forget()

    def _forget(self) -> None:
        """Change to know no list: the weights are made of more than it."""
        self.__dict__.pop("mistakes_", None)
