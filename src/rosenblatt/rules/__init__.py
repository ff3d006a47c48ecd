"""The mathematics: how far to step on one example. Standard library only.

A rule is an immutable value with one method, ``step(margin, sqnorm) -> tau``. The update that every
additive member of the family makes is then w ← w + tau·y·x, whatever the format of the row, the
order of the rows or the memory that is kept.
"""

from typing import Protocol

from rosenblatt.rules.passive_aggressive import PA, PA1, PA2
from rosenblatt.rules.perceptron import MarginPerceptron, Perceptron
from rosenblatt.rules.zero import ZERO_CONVENTIONS, settle

__all__ = [
    "PA",
    "PA1",
    "PA2",
    "RULES",
    "ZERO_CONVENTIONS",
    "MarginPerceptron",
    "Perceptron",
    "Rule",
    "pair_scale",
    "settle",
]


class Rule(Protocol):
    """What the kernels and the training loop ask of a rule."""

    @property
    def stops_by_itself(self) -> bool:
        """True where separable data end, after finitely many steps, in a pass without a step."""

    def step(self, margin: float, sqnorm: float) -> float:
        """Return tau ≥ 0 for an example of this margin y·a and this squared length ‖x‖²."""


RULES: dict[str, type[Rule]] = {
    "perceptron": Perceptron,
    "margin": MarginPerceptron,
    "pa": PA,
    "pa1": PA1,
    "pa2": PA2,
}


def pair_scale(rule: Rule) -> float:
    """Return s such that two classes with weights −s·w and +s·w stand where one vector w stands.

    A pair of classes has the squared length 2‖x‖²: the perceptron's step is the same on it, s = 1;
    a passive-aggressive step is half as long and moves both classes, s = 1/2.
    """
    return rule.step(0.0, 2.0) / rule.step(0.0, 1.0)
