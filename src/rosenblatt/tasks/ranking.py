"""Sets of labels by their order: a row is right where its labels stand above all others.

The topic-ranking perceptron MMP of Crammer & Singer, "A family of additive online algorithms for
category ranking", JMLR 3 (2003): the labels at fault share one step.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.multilabel import ranking_pass
from rosenblatt.rules import RULES
from rosenblatt.tasks.label_sets import LabelSets
from rosenblatt.tasks.task import Part


@dataclass(frozen=True)
class RankedLabels(LabelSets):
    """Each row has a set of labels, which are to score above all others."""

    name: ClassVar[str] = "ranking"
    rule: ClassVar[str] = "perceptron"  # PA-I's step is bounded, and all labels at fault share it
    passes_of_averages: ClassVar[int] = 0
    passes_before_averages: ClassVar[int] = 0

    def check(self, *, memory: str, rule: str) -> None:
        """Raise InputError for a memory or a rule that ranking cannot have."""
        if RULES[rule].order == 2:
            goal = Parameter("goal", self.name)
            raise InputError(f"{goal} needs a first-order rule; {rule!r} keeps variances.")
        super().check(memory=memory, rule=rule)

    def usual_values(self, rule: str) -> dict[str, float]:
        """Return no parameters: those of one label a row do."""
        return {}

    @property
    def _visit(self) -> Any:
        return ranking_pass

    def _n_parts(self, part: Part, order: NDArray[Any]) -> int:
        return 1  # each label depends on all others
