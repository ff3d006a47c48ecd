"""What rows should score: −1 or +1 in each column, or the number of the class that should lead."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.dual import (
    Steps,
    column_block,
    column_mistakes,
    empty_steps,
    joint_block,
    joint_mistakes,
)
from rosenblatt.rules import Rule


def n_columns(n_classes: int) -> int:
    """Return how many scores a row has."""
    return 1 if n_classes == 2 else n_classes


@dataclass(frozen=True)
class Targets:
    """The targets of rows, and how much each row counts."""

    joint: bool  # one machine for all classes; else one learner for each column
    values: NDArray[Any]  # joint: (rows,) class numbers; else (columns, rows) signs
    weight: NDArray[Any] | None

    @classmethod
    def of_numbers(
        cls, numbers: NDArray[Any], n_classes: int, joint: bool, weight: NDArray[Any] | None
    ) -> "Targets":
        """Return the targets of rows of these class numbers."""
        if joint and n_classes > 2:
            return cls(joint=True, values=numbers.astype(np.int32), weight=weight)
        classes = np.arange(n_classes)[
            n_classes - n_columns(n_classes) :, None
        ]  # of two: the second
        signs = np.where(numbers == classes, np.int8(1), np.int8(-1))
        return cls(joint=False, values=signs, weight=weight)

    def of(self, rows: NDArray[Any]) -> "Targets":
        """Return the targets of some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Targets(self.joint, np.ascontiguousarray(self.values[..., rows]), weight)

    def visit(
        self, gram: NDArray[Any], rule: Rule, zero: int, scores: NDArray[Any], seen: int
    ) -> tuple[Counts, Steps]:
        """Change the scores of these rows by a visit to each; return the steps that it took."""
        room = empty_steps(2 * scores.shape[1] if self.joint else scores.size)
        visit = joint_block if self.joint else column_block
        counts = visit(self.values, self.weight, gram, rule, zero, scores, seen, room)
        n_steps = counts.updates * (2 if self.joint else 1)
        return counts, Steps(*(column[:n_steps] for column in room))

    def mistakes(self, scores: NDArray[Any], zero: int) -> int:
        """Count the mistakes under these scores."""
        return (joint_mistakes if self.joint else column_mistakes)(self.values, scores, zero)
