"""What a rule is, and what the table says of one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, NamedTuple, Protocol


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


class RuleParameter(NamedTuple):
    """A number that a rule takes.

    >>> C = RuleParameter("C", 1.0, "Longest step.", infinite=True)
    >>> C.requirement, C.accepts(inf), C.accepts(0.0)
    ('a number above 0', True, False)
    """

    name: str  # of the rule's field, of the keyword in Python, of the option of a command
    default: float
    meaning: str  # a sentence
    low: float = 0.0
    high: float = inf
    closed: bool = False  # whether low itself is accepted
    infinite: bool = False  # whether infinity is
    tried: tuple[float, ...] = ()  # values that a search tries; empty: the default

    @property
    def requirement(self) -> str:
        """What a value must be."""
        if self.high < inf:
            return f"a number between {self.low:g} and {self.high:g}"
        kind = "a number" if self.infinite else "a finite number"
        return f"{kind} {'of at least' if self.closed else 'above'} {self.low:g}"

    def accepts(self, value: object) -> bool:
        """Return whether a value is a number within the range."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number = float(value)
        if number == inf:
            return self.infinite
        return self.low < number < self.high or (self.closed and number == self.low)


@dataclass(frozen=True)
class RuleEntry:
    """A line of the table of rules."""

    kind: Callable[..., Rule]  # its class, or what makes one; every argument has a default
    title: str  # what the learner is called within a sentence
    formula: str  # the step
    reference: str
    passes: Mapping[str, int]  # default number of passes, by memory
    parameters: tuple[RuleParameter, ...] = ()
    fixed_step: bool = False  # whether all steps have the same length
    memory: str = "average"  # which weights decide where nobody says
    order: int = 1  # 2: (margin, variance) → (α, β), which changes a covariance, too
    family: str = ""  # of rules that one estimator is made for; empty: only RuleClassifier has it

    @property
    def stops_by_itself(self) -> bool:
        """Whether separable data end in a pass without a step."""
        return self.kind().stops_by_itself

    def rule(self, values: Mapping[str, float | None]) -> Rule:
        """Return the rule with its parameters among these values; None means the default."""
        given = ((parameter.name, values.get(parameter.name)) for parameter in self.parameters)
        return self.kind(**{name: float(value) for name, value in given if value is not None})


def pair_scale(rule: Rule) -> float:
    """Return s such that two classes with weights −s·w and +s·w stand where one vector w stands.

    A pair of classes has the squared length 2‖x‖²: the perceptron's step is the same on it, s = 1;
    a passive-aggressive step is half as long and moves both classes, s = 1/2; so it is for a
    second-order step.
    """
    whole, half = rule.step(0.0, 1.0), rule.step(0.0, 2.0)
    return 0.5 if isinstance(whole, tuple) else float(half / whole)
