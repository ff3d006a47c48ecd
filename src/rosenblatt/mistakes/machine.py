"""A list of mistakes as a machine in the dual: it sees rows through a kernel alone."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import GrowingArray
from rosenblatt.mistakes.gram import Sizes
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.scores import tallies
from rosenblatt.mistakes.updates import Mistakes, Support, n_columns, steps_of


@dataclass
class DualState:
    """The support rows, in the order in which each first taught, and every update so far."""

    n_features: int
    n_classes: int
    joint: bool  # one machine for all classes; else each class against the rest
    mistakes: Mistakes = field(default_factory=lambda: Mistakes(support=Support()))
    classes: GrowingArray = field(default_factory=lambda: GrowingArray(np.empty(0, np.int64)))
    n_met: int = 0  # rows that were numbered

    @property
    def n_columns(self) -> int:
        """How many scores a row has."""
        return n_columns(self.n_classes)

    @property
    def pairs(self) -> bool:
        """Whether a step is between two classes; else each column learns by itself."""
        return self.joint and self.n_classes > 2

    @property
    def count(self) -> int:
        """Algorithm 7's c: one more than the rows seen."""
        return self.mistakes.end

    @count.setter
    def count(self, count: int) -> None:
        self.mistakes.reach(count)

    @property
    def support(self) -> Support:
        """The rows that taught."""
        return self.mistakes.support or Support()

    @property
    def rows(self) -> Rows | None:
        """The rows that taught; None: no row yet, or a Gram matrix that the user keeps."""
        return self.support.rows

    @property
    def numbers(self) -> NDArray[Any]:
        """Their numbers, counted over all calls."""
        return self.support.numbers

    @property
    def row_classes(self) -> NDArray[Any]:
        """The number of the class of each."""
        return self.classes.values

    def coefficients(self, *, averaged: bool) -> NDArray[Any]:
        """Return the coefficients of the support rows: (columns, support)."""
        updates = self.mistakes.updates
        steps = steps_of(updates, joint=self.pairs)
        found, ledger = np.zeros((2, self.n_columns, len(self.support)))
        loses = steps.lose >= 0
        for part, size in ((found, steps.size), (ledger, steps.size * steps.seen)):
            np.add.at(part, (steps.gain, steps.row), size)
            np.subtract.at(part, (steps.lose[loses], steps.row[loses]), size[loses])
        return found - ledger / self.count if averaged else found

    def scores(
        self,
        kernel: Kernel,
        rows: Rows,
        sizes: Sizes,
        memories: tuple[str, ...] = ("last",),
        *,
        positive: bool = False,
    ) -> dict[str, NDArray[Any]]:
        """Return the scores of rows by each memory, (columns, rows), from one Gram block a few."""
        found = {memory: np.zeros((self.n_columns, rows.shape[0])) for memory in memories}
        how = {"joint": self.joint, "memories": memories, "positive": positive}
        for some, tally in tallies(self.mistakes, kernel, rows, self.n_classes, sizes, **how):
            for memory, scores in found.items():
                scores[:, some] = tally.scores_of(memory, self.count)
        return found

    def extend(
        self, rows: Rows | None, labels: NDArray[Any], updates: Log, *, n_rows: int, count: int
    ) -> None:
        """Add the updates of a training on these rows, which name rows by their numbers."""
        taught = self.mistakes.extend_by(updates, rows, count, self.n_met)
        self.classes.append(labels[taught])
        self.n_met += n_rows

    def pass_by(self, n_learned: int, n_rows: int) -> None:
        """Count rows that teach nothing, and those that have numbers."""
        self.count += n_learned
        self.n_met += n_rows

    def with_classes(self, kept: NDArray[Any], n_classes: int, scale: float) -> "DualState":
        """Return the state with new classes, whose scores have been zero all along.

        ``kept`` says which of the new class numbers each of the old classes now has. Where two
        classes become more, each takes its side of the one score: −scale and +scale times it.
        """
        mistakes = self.mistakes.with_classes(kept, scale, joint=self.joint)
        classes = GrowingArray(
            kept[self.row_classes] if len(self.row_classes) else self.row_classes
        )
        return DualState(self.n_features, n_classes, self.joint, mistakes, classes, self.n_met)
