"""The rows that a kernel perceptron with a budget keeps, and their coefficients."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import score_overflow
from rosenblatt.kernels.budget import FORGETRON, PROJECTRON, RADIUS, RANDOM, Limit, Slots
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import take
from rosenblatt.mistakes.gram import Sizes, gram_between
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.machine import MachineState
from rosenblatt.mistakes.updates import n_columns

BUDGETS = {"random": RANDOM, "forgetron": FORGETRON, "projectron": PROJECTRON}
NO_LIMIT = np.iinfo(np.int64).max


def _nothing() -> NDArray[Any]:
    return np.empty(0, np.int64)


@dataclass
class BudgetState(MachineState):
    """The kept rows and their coefficients."""

    limit: Limit
    key: int  # of the random words
    slots: Slots
    n_kept: int = 0
    rows: Rows | None = None  # by age; None: no row yet, or a Gram matrix that the user keeps
    numbers: NDArray[Any] = field(default_factory=_nothing)  # by age, counted over all calls
    labels: NDArray[Any] = field(default_factory=_nothing)  # by age: the class of each
    count: int = 1  # Algorithm 7's c: one more than the rows seen
    n_met: int = 0  # rows that were numbered

    @classmethod
    def empty(
        cls, n_features: int, n_classes: int, joint: bool, limit: Limit, key: int
    ) -> "BudgetState":
        """Return the state before the first row."""
        slots = _slots(0, n_columns(n_classes), limit)
        return cls(n_features, n_classes, joint, limit, key, slots)

    @property
    def has_average(self) -> bool:
        """Whether the average is known: the Projectron forgets no row that it is made of."""
        return self.limit.kind == PROJECTRON

    @property
    def memories(self) -> tuple[str, ...]:
        """Which memories can predict: a budget keeps no vectors of the past."""
        return ("last", "average") if self.has_average else ("last",)

    @property
    def by_age(self) -> NDArray[Any]:
        """The slots in use, the oldest first."""
        return self.slots.ages[: self.n_kept]

    def coefficients(self, *, averaged: bool) -> NDArray[Any]:
        """Return the coefficients of the kept rows: (columns, rows by age)."""
        found = self.slots.coef[self.by_age]
        if averaged:
            found = found - self.slots.ledger[self.by_age] / self.count
        return np.ascontiguousarray(found.T)

    def kept_scores(self, kernel: Kernel, rows: Rows, coefficients: NDArray[Any]) -> NDArray[Any]:
        """Return the scores of rows under coefficients of the kept rows: (columns, rows)."""
        if not self.n_kept:
            return np.zeros((len(coefficients), rows.shape[0]))
        left = self.numbers if self.rows is None else self.rows
        gram = gram_between(kernel, left, rows)
        with np.errstate(over="ignore", invalid="ignore"):  # noticed by who looks at the scores
            values = gram(np.arange(rows.shape[0]))(np.arange(self.n_kept))
            return np.asarray(coefficients @ values)

    def scores(
        self,
        kernel: Kernel,
        rows: Rows,
        sizes: Sizes,
        memories: tuple[str, ...] = ("last",),
        *,
        positive: bool = False,  # noqa: ARG002  # as of ``DualState``, where it decides votes
    ) -> dict[str, NDArray[Any]]:
        """Return the scores of rows by each memory, (columns, rows)."""
        n_rows, width = rows.shape[0], self.n_columns
        together = np.concatenate(
            [self.coefficients(averaged=memory == "average") for memory in memories]
        )
        found = np.empty((len(together), n_rows))
        at_a_time = sizes.rows_against(self.n_kept)
        for start in range(0, n_rows, at_a_time):
            here = np.arange(start, min(start + at_a_time, n_rows))
            found[:, here] = self.kept_scores(kernel, take(rows, here), together)
            finite = np.isfinite(found[:, here]).all(axis=0)
            if not finite.all():
                raise score_overflow(start + int(np.argmin(finite)))
        return {memory: found[m * width : (m + 1) * width] for m, memory in enumerate(memories)}

    def make_room(self, n_rows: int) -> None:
        """Enlarge the slots for this number of further rows."""
        most = self.limit.most if self.limit.kind == PROJECTRON else self.limit.most + 1
        needed, capacity = min(most, self.n_kept + n_rows), len(self.slots.ages)
        if needed <= capacity:
            return
        wide = _slots(min(most, max(needed, 2 * capacity)), self.n_columns, self.limit)
        for new, old in zip(wide, self.slots, strict=True):
            new[tuple(slice(n) for n in old.shape)] = old
        self.slots = wide

    def with_classes(self, kept: NDArray[Any], n_classes: int, scale: float) -> "BudgetState":
        """Return the state with new classes, as ``DualState.with_classes`` does."""
        grown = replace(self, n_classes=n_classes)
        slots = _slots(len(self.slots.ages), grown.n_columns, self.limit)
        for new, old in zip(slots[:2] + slots[4:], self.slots[:2] + self.slots[4:], strict=True):
            new[:] = old
        for new, old in ((slots.coef, self.slots.coef), (slots.ledger, self.slots.ledger)):
            if self.n_classes == 2:
                new[:, kept] = old * [-scale, scale]
            elif self.n_classes > 2:
                new[:, kept] = old
        if self.n_classes == 2 and self.joint:
            slots.tuning[RADIUS] *= 2.0  # a pair of classes has the squared length 2‖x‖²
        grown.slots = slots
        if len(self.labels):
            grown.labels = kept[self.labels]
        return grown


def _slots(capacity: int, columns: int, limit: Limit) -> Slots:
    square = 0 if limit.kind == RANDOM else capacity
    return Slots(
        np.arange(capacity),
        np.zeros(capacity, np.int64),
        np.zeros((capacity, columns)),
        np.zeros((capacity if limit.kind == PROJECTRON else 0, columns)),
        np.zeros((square, square)),
        np.zeros(3),
    )
