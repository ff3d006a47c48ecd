"""Which learner the options of the command line name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import click

from rosenblatt.rules import RULES, Rule, check_rule

MEMORIES = ("average", "last")
TRAINED_MEMORIES = (*MEMORIES, "vote")


@dataclass(frozen=True)
class Learner:
    """A rule, a memory and their parameters, as a user names them."""

    rule: str = "perceptron"
    memory: str = "average"
    values: Mapping[str, float | None] = field(default_factory=dict)  # of the rule's parameters

    def __post_init__(self) -> None:
        if self.voted and not RULES[self.rule].fixed_step:
            wanted = " or ".join(name for name, entry in RULES.items() if entry.fixed_step)
            msg = f"--memory vote is not available with --rule {self.rule}; use --rule {wanted}."
            raise click.UsageError(msg)
        check_rule(self.rule, self.values)

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
        return f"{kept}{RULES[self.rule].title}"

    @property
    def max_iter(self) -> int:
        """How many passes it makes by default."""
        return RULES[self.rule].passes[self.memory]

    def step(self) -> Rule:
        """Return the rule that steps."""
        return RULES[self.rule].rule(self.values)

    @property
    def estimator(self) -> str:
        """The name of the same learner in Python."""
        if not RULES[self.rule].fixed_step:
            return "PassiveAggressiveClassifier"
        names = {"average": "AveragedPerceptron", "vote": "VotedPerceptron"}
        return names.get(self.memory, "Perceptron")

    def parameters(self) -> dict[str, Any]:
        """Return its parameters by their names in Python."""
        rule: Any = self.step()
        if not RULES[self.rule].fixed_step:
            return {
                "C": getattr(rule, "C", inf),
                "loss": "squared_hinge" if self.rule == "pa2" else "hinge",
                "average": self.averaged,
            }
        return {"eta0": rule.eta0, "margin": rule.target}
