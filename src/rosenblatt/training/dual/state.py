"""All that a kernel perceptron is: the rows that taught it and the steps that they made."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.dual import Steps
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import GrowingArray, RowStore, take
from rosenblatt.training.dual.step_list import StepList
from rosenblatt.training.dual.targets import n_columns


def _nothing() -> GrowingArray:
    return GrowingArray(np.empty(0, np.int64))


@dataclass
class DualState:
    """The support rows, in the order in which each first taught, and every step since the start."""

    n_features: int
    n_classes: int
    joint: bool  # one machine for all classes; else each class against the rest
    store: RowStore | None = None  # None: no row yet, or a Gram matrix that the user keeps
    numbers: GrowingArray = field(default_factory=_nothing)  # of the rows, counted over all calls
    labels: GrowingArray = field(default_factory=_nothing)  # the number of each row's class
    steps: StepList = field(default_factory=StepList.empty)
    count: int = 1  # Algorithm 7's c: one more than the rows seen
    n_met: int = 0  # rows that were numbered

    @property
    def n_columns(self) -> int:
        """How many scores a row has."""
        return n_columns(self.n_classes)

    @property
    def n_support(self) -> int:
        """How many rows taught."""
        return len(self.numbers)

    def coefficients(self, *, averaged: bool) -> NDArray[Any]:
        """Return what multiplies each support row in each column: (columns, support)."""
        row, column, size, seen = self.steps.values
        found = np.zeros((self.n_columns, self.n_support))
        np.add.at(found, (column, row), size)
        if averaged:
            ledger = np.zeros_like(found)
            np.add.at(ledger, (column, row), size * seen)
            found -= ledger / self.count
        return found

    def extend(
        self, rows: Rows | None, labels: NDArray[Any], steps: Steps, *, n_rows: int, count: int
    ) -> None:
        """Change by what a training on these rows did; its steps name rows by their numbers."""
        numbers, first, which = np.unique(steps.row, return_index=True, return_inverse=True)
        by_time = np.argsort(first)
        place = np.empty(len(numbers), np.int64)
        place[by_time] = np.arange(len(numbers)) + self.n_support
        numbers = numbers[by_time].astype(np.int64)
        if rows is not None and len(numbers):
            more = take(rows, numbers)
            if self.store is None:
                self.store = RowStore(more)
            else:
                self.store.append(more)
        self.steps.append(steps._replace(row=place[which]))
        self.numbers.append(numbers + self.n_met)
        self.labels.append(labels[numbers])
        self.n_met += n_rows
        self.count = count

    def with_classes(self, kept: NDArray[Any], n_classes: int, scale: float) -> "DualState":
        """Return the state with new classes, whose scores have been zero all along.

        ``kept`` says which of the new class numbers each of the old classes now has. Where two
        classes become more, each takes its side of the one score: −scale and +scale times it.
        """
        row, column, size, seen = self.steps.values
        if self.n_classes == 2:
            row, seen = np.repeat(row, 2), np.repeat(seen, 2)
            column = np.tile(kept, len(size)).astype(np.int32)
            size = np.outer(size, [-scale, scale]).reshape(-1)
        elif self.n_classes > 2:
            column = kept[column].astype(np.int32)
        grown = DualState(self.n_features, n_classes, self.joint, self.store, self.numbers)
        grown.labels = GrowingArray(
            kept[self.labels.values] if self.n_support else self.labels.values
        )
        grown.steps = StepList(Steps(row, column, size, seen))
        grown.count, grown.n_met = self.count, self.n_met
        return grown

    def vectors(self) -> dict[str, Any]:
        """Return what a model file has for weights: none, for these are in its arrays."""
        shape = (self.n_columns, self.n_features + 1)
        return {"weights": np.zeros(shape), "ledger": None, "count": self.count}
