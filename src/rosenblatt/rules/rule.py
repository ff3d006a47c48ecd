"""What a rule is."""

from typing import Any, Protocol


class Rule(Protocol):
    """What the kernels and the training loop ask of a rule."""

    @property
    def target(self) -> float:
        """The margin that it wants of every example: it steps below, and above it stays."""

    @property
    def stops_by_itself(self) -> bool:
        """True where separable data end, after finitely many steps, in a pass without a step."""

    def step(self, margin: float, sqnorm: float) -> Any:
        """Return tau ≥ 0 for an example of this margin y·a and this squared length ‖x‖².

        A second-order rule is given the variance xᵀΣx of the margin, and returns (alpha, beta).
        """


def pair_scale(rule: Rule) -> float:
    """Return s such that two classes with weights −s·w and +s·w stand where one vector w stands.

    A pair of classes has the squared length 2‖x‖²: the perceptron's step is the same on it, s = 1;
    a passive-aggressive step is half as long and moves both classes, s = 1/2; so it is for a
    second-order step.
    """
    whole, half = rule.step(0.0, 1.0), rule.step(0.0, 2.0)
    return 0.5 if isinstance(whole, tuple) else float(half / whole)
