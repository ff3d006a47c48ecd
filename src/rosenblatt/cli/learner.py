"""Which learner the options of the command line name."""

from dataclasses import dataclass
from math import inf
from typing import Any

import click

from rosenblatt import rules
from rosenblatt.rules import Rule

RULES = ("perceptron", "margin", "pa", "pa1", "pa2")
MEMORIES = ("average", "last")
TRAINED_MEMORIES = (*MEMORIES, "vote")
TITLES = {
    "perceptron": "perceptron",
    "margin": "margin perceptron",
    "pa": "passive-aggressive learner",
    "pa1": "passive-aggressive learner (PA-I)",
    "pa2": "passive-aggressive learner (PA-II)",
}
MAX_ITER = {"average": 20, "last": 200, "vote": 10}
MAX_ITER_PASSIVE_AGGRESSIVE = 10


@dataclass(frozen=True)
class Learner:
    """A rule, a memory and their parameters, as a user names them."""

    rule: str = "perceptron"
    memory: str = "average"
    C: float | None = None
    margin: float | None = None
    eta0: float | None = None

    def __post_init__(self) -> None:
        passive_aggressive = self.rule.startswith("pa")
        if self.voted and passive_aggressive:
            msg = "--memory vote goes with --rule perceptron or --rule margin."
            raise click.UsageError(msg)
        for option, value, fits, wanted in (
            ("-C", self.C, self.rule in ("pa1", "pa2"), "--rule pa1 or --rule pa2"),
            ("--margin", self.margin, self.rule == "margin", "--rule margin"),
            ("--eta0", self.eta0, not passive_aggressive, "--rule perceptron or --rule margin"),
        ):
            if value is not None and not fits:
                msg = f"{option} says nothing to --rule {self.rule}: it goes with {wanted}."
                raise click.UsageError(msg)
            if value is not None and not 0.0 < value < inf:
                msg = f"{option} must be a number above 0; got {value}."
                raise click.UsageError(msg)

    @property
    def averaged(self) -> bool:
        """Whether the mean of all weights is kept; a vote keeps it to be looked at."""
        return self.memory in ("average", "vote")

    @property
    def voted(self) -> bool:
        """Whether all weight vectors decide, by vote."""
        return self.memory == "vote"

    @property
    def title(self) -> str:
        """What it is called in a sentence."""
        kept = {"average": "averaged ", "vote": "voted "}.get(self.memory, "")
        return f"{kept}{TITLES[self.rule]}"

    @property
    def max_iter(self) -> int:
        """How many passes it makes if nobody says."""
        return MAX_ITER_PASSIVE_AGGRESSIVE if self.rule.startswith("pa") else MAX_ITER[self.memory]

    def step(self) -> Rule:
        """Return the rule that steps."""
        if self.rule == "pa":
            return rules.PA()
        if self.rule.startswith("pa"):
            return (rules.PA1 if self.rule == "pa1" else rules.PA2)(self.C or 1.0)
        eta0 = self.eta0 or 1.0
        if self.rule == "margin":
            return rules.MarginPerceptron(eta0, self.margin or 1.0)
        return rules.Perceptron(eta0)

    @property
    def estimator(self) -> str:
        """The name of the same learner in Python."""
        if self.rule.startswith("pa"):
            return "PassiveAggressiveClassifier"
        names = {"average": "AveragedPerceptron", "vote": "VotedPerceptron"}
        return names.get(self.memory, "Perceptron")

    def parameters(self) -> dict[str, Any]:
        """Return its parameters by their names in Python."""
        if self.rule.startswith("pa"):
            return {
                "C": inf if self.rule == "pa" else self.C or 1.0,
                "loss": "squared_hinge" if self.rule == "pa2" else "hinge",
                "average": self.averaged,
            }
        margin = (self.margin or 1.0) if self.rule == "margin" else 0.0
        return {"eta0": self.eta0 or 1.0, "margin": margin}
