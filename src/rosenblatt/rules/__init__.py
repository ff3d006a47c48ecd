"""The mathematics: how far to step on one example. Standard library only.

A rule is an immutable value with one method, ``step(margin, sqnorm) -> tau``. The update that every
additive member of the family makes is then w ← w + tau·y·x, whatever the format of the row, the
order of the rows or the memory that is kept. A second-order rule also knows how sure each weight
is, ``step(margin, variance) -> (alpha, beta)``; see ``confidence_weighted``.

``RULES`` is the only table of rules. Estimators, kernel learner, trace, commands, lab and docs read
it, so a new rule is one file beside this one and one line of the table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import inf
from numbers import Integral, Real
from typing import Final, TypedDict

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.rules.arow import AROW
from rosenblatt.rules.confidence_weighted import CONFIDENCE, SCW1, SCW2, cw, scw1, scw2
from rosenblatt.rules.passive_aggressive import PA, PA1, PA2
from rosenblatt.rules.perceptron import ZERO_CONVENTIONS, MarginPerceptron, Perceptron, break_tie
from rosenblatt.rules.rule import Rule, pair_scale
from rosenblatt.wording import word_list

__all__ = [
    "AROW",
    "PA",
    "PA1",
    "PA2",
    "RULES",
    "SCW1",
    "SCW2",
    "ZERO_CONVENTIONS",
    "Interval",
    "MarginPerceptron",
    "Perceptron",
    "Rule",
    "RuleEntry",
    "RuleParameter",
    "RuleValues",
    "additive_rules",
    "break_tie",
    "check_rule",
    "cw",
    "pair_scale",
    "rule_parameters",
    "rules_with",
    "scw1",
    "scw2",
]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A range of numbers.

    >>> Interval(infinite=True).requirement, Interval(low=1, closed=True, whole=True).requirement
    ('a number above 0', 'an integer of at least 1')
    """

    low: float = 0.0
    high: float = inf
    closed: bool = False  # whether low itself is accepted
    infinite: bool = False  # whether infinity is
    whole: bool = False  # whether only integers are, then high itself, too

    @property
    def requirement(self) -> str:
        """What a value must be."""
        if self.high < inf:
            kind = "a whole number from {:g} to" if self.whole else "a number between {:g} and"
            return f"{kind} {{:g}}".format(self.low, self.high)
        kind = "an integer" if self.whole else "a number" if self.infinite else "a finite number"
        return f"{kind} {'of at least' if self.closed else 'above'} {self.low:g}"

    def accepts(self, value: object) -> bool:
        """Return whether a value is a number within the range."""
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            return False
        number = float(value)
        if number == inf:
            return self.infinite
        inside = self.low < number < self.high or (self.whole and number == self.high)
        return inside or (self.closed and number == self.low)


@dataclass(frozen=True)
class RuleParameter(Interval):
    """A number that a rule takes.

    >>> C = RuleParameter("C", 1.0, "Longest step.", infinite=True)
    >>> C.requirement, C.accepts(inf), C.accepts(0.0)
    ('a number above 0', True, False)
    """

    name: str  # of the rule's field, of the keyword in Python, of the option of a command
    default: float
    meaning: str  # a sentence
    more: str = ""  # what the docs say beyond it
    tried: tuple[float, ...] = ()  # values that a search tries; empty: the default


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
    memory: str = "average"  # default: which weights decide
    order: int = 1  # 2: (margin, variance) → (α, β), which changes a covariance, too
    family: str = ""  # of rules that one estimator is made for; empty: only RuleClassifier has it

    def rule(self, values: Mapping[str, float | None]) -> Rule:
        """Return the rule with its parameters among these values; None means the default."""
        given = ((parameter.name, values.get(parameter.name)) for parameter in self.parameters)
        return self.kind(**{name: float(value) for name, value in given if value is not None})


ETA0 = RuleParameter(
    "eta0",
    1.0,
    "Length of each step.",
    "From zero weights it only scales; no prediction changes.",
)
MARGIN = RuleParameter(
    "margin",
    1.0,
    "Step up to this margin.",
    "Above 0 it is the margin perceptron, which ends with a wider gap and takes more passes.",
    closed=True,
    tried=(1.0, 10.0),
)
C = RuleParameter(
    "C",
    1.0,
    "Limit on each step.",
    "Smaller learns slower and minds noise less; infinity gives the rule without a limit.",
    infinite=True,
    tried=(1.0, 0.1, 0.01),
)
R = RuleParameter(
    "r",
    1.0,
    "Regularization; larger values make smaller steps.",
    tried=(1.0, 0.1, 0.01, 10.0, 100.0),
)
CONFIDENT = RuleParameter(
    "confidence",
    CONFIDENCE,
    "Required probability that a row is classified correctly.",
    low=0.5,
    high=1.0,
    tried=(CONFIDENCE, 0.7),
)

CRAMMER = "Crammer et al., Online Passive-Aggressive Algorithms, JMLR 7 (2006)"
WANG = "Wang, Zhao & Hoi, Exact Soft Confidence-Weighted Learning, ICML 2012"

_perceptron = partial(
    RuleEntry,
    passes={"last": 200, "average": 20, "vote": 10},
    fixed_step=True,
    family="perceptron",
)
_passive_aggressive = partial(
    RuleEntry,
    reference=CRAMMER,
    passes={"last": 10, "average": 10, "vote": 10},
    family="passive-aggressive",
)
_confidence_weighted = partial(
    RuleEntry,
    passes={"last": 5, "average": 5},
    memory="last",
    order=2,
    family="confidence-weighted",
)

RULES: Final[dict[str, RuleEntry]] = {
    "perceptron": _perceptron(
        Perceptron,
        "perceptron",
        "η if y·a ≤ 0, else 0",
        "Rosenblatt, The perceptron, Psychological Review 65 (1958)",
        parameters=(ETA0,),
    ),
    "margin": _perceptron(
        MarginPerceptron,
        "margin perceptron",
        "η if y·a ≤ margin, else 0",
        "Krauth & Mézard, Journal of Physics A 20 (1987)",
        parameters=(ETA0, MARGIN),
    ),
    "pa": _passive_aggressive(PA, "passive-aggressive learner", "ℓ/‖x‖²"),
    "pa1": _passive_aggressive(
        PA1, "passive-aggressive learner (PA-I)", "min(C, ℓ/‖x‖²)", parameters=(C,)
    ),
    "pa2": _passive_aggressive(
        PA2, "passive-aggressive learner (PA-II)", "ℓ/(‖x‖² + 1/(2C))", parameters=(C,)
    ),
    "arow": _confidence_weighted(
        AROW,
        "confidence-weighted learner (AROW)",
        "α = ℓ·β, β = 1/(xᵀΣx + r)",
        "Crammer, Kulesza & Dredze, Adaptive Regularization of Weight Vectors, NIPS 2009",
        parameters=(R,),
    ),
    "cw": _confidence_weighted(
        cw,
        "confidence-weighted learner (CW)",
        "right with the confidence asked for",
        "Dredze, Crammer & Pereira, Confidence-Weighted Linear Classification, ICML 2008",
        parameters=(CONFIDENT,),
    ),
    "scw1": _confidence_weighted(
        scw1,
        "confidence-weighted learner (SCW-I)",
        "as CW, and α ≤ C",
        WANG,
        parameters=(CONFIDENT, C),
    ),
    "scw2": _confidence_weighted(
        scw2,
        "confidence-weighted learner (SCW-II)",
        "as CW, softened by C",
        WANG,
        parameters=(CONFIDENT, C),
    ),
}


class RuleValues(TypedDict, total=False):
    """The parameters of the rules above as keywords, for type checkers."""

    eta0: float | None
    margin: float | None
    C: float | None
    r: float | None
    confidence: float | None


def additive_rules() -> list[str]:
    """Return the names of the rules whose weights are the sum of their steps, w = Σ τᵢ·yᵢ·xᵢ.

    Votes, kernels, lists of mistakes and traces are made of that sum.
    """
    return [name for name, entry in RULES.items() if entry.order == 1]


def check_rule(rule: str, values: Mapping[str, float | None]) -> None:
    """Raise InputError if the rule lacks a parameter or its value is out of range."""
    for name, value in values.items():
        if value is None:
            continue
        users = rules_with(name)
        if not users:
            known = ", ".join(rule_parameters())
            msg = Sentence(f"No rule has a parameter {name!r:.60}; known are {known}.")
            raise InputError(msg)
        if rule not in users:
            named = word_list([f"{Parameter('rule', users[0])}", *users[1:]], joint=" or ")
            msg = Sentence(
                f"{Parameter(name)} has no effect with {Parameter('rule', rule)}; use it with "
                f"{named}."
            )
            raise InputError(msg)
        parameter = rule_parameters()[name]
        if not parameter.accepts(value):
            msg = Sentence(f"{Parameter(name)} must be {parameter.requirement}; got {value!r}.")
            raise InputError(msg)


def rule_parameters() -> dict[str, RuleParameter]:
    """Return the parameters of all rules by name."""
    return {p.name: p for entry in RULES.values() for p in entry.parameters}


def rules_with(parameter: str) -> list[str]:
    """Return the names of the rules that have this parameter.

    >>> rules_with("C")
    ['pa1', 'pa2', 'scw1', 'scw2']
    """
    return [
        name for name, entry in RULES.items() if any(p.name == parameter for p in entry.parameters)
    ]
