"""The perceptron: a step of fixed length on every mistake."""

from typing import NamedTuple


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
