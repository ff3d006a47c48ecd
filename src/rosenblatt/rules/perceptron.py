"""The perceptron: a step of fixed length on every mistake, and what a zero activation is."""

import sys
from typing import Final, NamedTuple

# The label that a zero activation predicts while training; 0: neither, so that it is a mistake for
# both labels (CIML, Algorithm 5). At test time a zero activation has to predict something: the
# positive class under "positive", else the negative one.
ZERO_CONVENTIONS: Final[dict[str, int]] = {"mistake": 0, "negative": -1, "positive": 1}

SMALLEST: Final = sys.float_info.min  # right, by as little as a normal number can say


def break_tie(margin: float, side: int, zero: int) -> float:
    """Return the margin, made positive where a zero activation counts as right for this side.

    ``side`` is the label of the row, −1 or +1. With this every rule need only compare with 0.
    """
    return SMALLEST if margin == 0.0 and side == zero else margin


class Perceptron(NamedTuple):
    """Step η when the example is misclassified, else stay (CIML, Algorithm 5, lines 6 to 8)."""

    eta0: float = 1.0

    @property
    def target(self) -> float:
        """Any margin above 0."""
        return 0.0

    @property
    def stops_by_itself(self) -> bool:
        """After at most R²/γ² steps on separable data (CIML, Theorem 2)."""
        return True

    def step(self, margin: float, sqnorm: float) -> float:
        """Return η if y·a ≤ 0, else 0."""
        # Asked this way round, a margin that is not a number counts as a mistake and is noticed.
        return 0.0 if margin > 0.0 else self.eta0


class MarginPerceptron(NamedTuple):
    """Step η until the activation is beyond a margin (Krauth & Mézard 1987)."""

    eta0: float = 1.0
    margin: float = 1.0

    @property
    def target(self) -> float:
        """A margin above this one."""
        return self.margin

    @property
    def stops_by_itself(self) -> bool:
        """The perceptron's proof holds, with R² + 2·margin/η in place of R²."""
        return True

    def step(self, margin: float, sqnorm: float) -> float:
        """Return η if y·a ≤ margin, else 0."""
        return 0.0 if margin > self.margin else self.eta0
