"""The list of its mistakes, which is all that a perceptron is: w = w₀ + Σ τᵢ·yᵢ·xᵢ."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.prefix_sums import Steps
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.shapes import GrowingArray, RowStore, take


class Support:
    """The rows that taught, once each, in the order in which each first did."""

    def __init__(self, rows: Rows | None = None, numbers: NDArray[Any] | None = None) -> None:
        self._store = None if rows is None else RowStore(rows)
        self._numbers = GrowingArray(np.empty(0, np.int64) if numbers is None else numbers)

    @property
    def rows(self) -> Rows | None:
        """The rows; None before the first, or if they are kept elsewhere."""
        return None if self._store is None else self._store.rows

    @property
    def numbers(self) -> NDArray[Any]:
        """The number that each of them had in training."""
        return self._numbers.values

    def add(self, rows: Rows | None, numbers: NDArray[Any]) -> None:
        """Add rows, which have these numbers in training."""
        if rows is not None and len(numbers):
            if self._store is None:
                self._store = RowStore(rows)
            else:
                self._store.append(rows)
        self._numbers.append(numbers)

    def __len__(self) -> int:
        return len(self._numbers)


class Mistakes:
    """Every update of a training, in order, and where they are kept the rows that made them.

    An update names its row by its place in ``support``, and where there is none by its number in
    training. Its label gains and its rival loses: −1 or +1 of two classes, numbers of more; where
    each class has a learner of its own, ±(class + 1). Where a row may have several labels, so has
    each label, and a row that moves more than one of them makes as many updates at once.
    """

    def __init__(
        self, updates: Log | None = None, end: int = 1, support: Support | None = None
    ) -> None:
        self._columns = [GrowingArray(c) for c in (empty_log(0) if updates is None else updates)]
        self.end = end  # Algorithm 7's counter after the last row
        self.shift = 0  # of the numbers of rows to come: passes before may have counted rows twice
        self.support = support

    @classmethod
    def of_rows(cls, updates: Log, rows: Rows, end: int) -> "Mistakes":
        """Return the updates of a training on these rows, with those that taught, sparse."""
        mistakes = cls.sparse(rows.shape[1], rows.constant)
        mistakes.extend_by(updates, rows, end)
        return mistakes

    @classmethod
    def sparse(cls, n_features: int, constant: float) -> "Mistakes":
        """Return an empty list that will keep the rows without their zeros, as float64."""
        empty = np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int64)
        return cls(support=Support(CSR(*empty, n_features, constant)))

    @property
    def updates(self) -> Log:
        """All of them, as views that are valid until more come."""
        return Log(*(column.values for column in self._columns))

    @property
    def n_vectors(self) -> int:
        """How many weight vectors there were: one before the first update, one after each."""
        return len(self) + 1

    @property
    def survival(self) -> NDArray[Any]:
        """How many rows the weights of each update lasted: 1 if the very next row changed them."""
        return np.diff(self.updates.seen, append=self.end)

    @property
    def lifetimes(self) -> NDArray[Any]:
        """How many rows each weight vector lasted, from where an average begins on."""
        seen = np.unique(self.updates.seen)
        return np.diff(seen[seen > 0], prepend=1, append=self.end)

    def __len__(self) -> int:
        return len(self._columns[0])

    def extend(self, log: Log, n_updates: int, end: int) -> None:
        """Add the updates of one pass, the first ``n_updates`` lines of its log."""
        for column, more in zip(self._columns, log, strict=True):
            column.append(more[:n_updates].astype(column.values.dtype, copy=False))
        self.end = end

    def count_rows_from(self, shift: int) -> None:
        """Let the rows to come have numbers that are higher by this."""
        self.shift = shift

    def reach(self, end: int) -> None:
        """Let the last vector have lasted up to this count of rows."""
        self.end = end

    def count_anew(self) -> None:
        """Let an average begin with the weights as they are now: all of its vectors have them."""
        self.updates.seen[:] = 0
        self.end = 1

    def extend_by(
        self, updates: Log, rows: Rows | None, end: int, first_number: int = 0
    ) -> NDArray[Any]:
        """Add updates that name these rows by their places, and keep those that taught.

        The rows have successive numbers in training from the first one on. Returns the places of
        those that taught.
        """
        support = self.support = Support() if self.support is None else self.support
        numbers, first, which = np.unique(updates.row, return_index=True, return_inverse=True)
        by_time = np.argsort(first)
        place = np.empty(len(numbers), np.int64)
        place[by_time] = np.arange(len(numbers)) + len(support)
        taught = numbers[by_time].astype(np.int64)
        support.add(None if rows is None else take(rows, taught), taught + first_number)
        self.extend(updates._replace(row=place[which]), len(which), end)
        return taught

    def before(self, count: int) -> Log:
        """Return the updates that are part of the weights at this count of rows."""
        n = int(np.searchsorted(self.updates.seen, count))
        return Log(*(column[:n] for column in self.updates))

    def since(self, n_updates: int) -> Log:
        """Return the updates after the first ones."""
        return Log(*(column[n_updates:] for column in self.updates))

    def with_classes(
        self,
        kept: NDArray[Any],
        scale: float = 1.0,
        *,
        joint: bool = True,
        flat: bool | None = None,
    ) -> "Mistakes":
        """Return the same updates with the numbers that the classes have now that there are more.

        ``kept`` has the new number of each class. Where two classes shared one vector (``flat``, by
        default wherever there were two) and become more, each takes its side of every step:
        −scale and +scale times it. Not ``joint``: each vector has steps of its own.
        """
        row, label, rival, tau, seen = self.updates
        flat = len(kept) == 2 if flat is None else flat
        if flat and joint:
            label, rival = (kept[(side > 0).astype(np.intp)] for side in (label, rival))
        elif flat:
            row, tau, seen = (np.repeat(column, 2) for column in (row, tau, seen))
            label = (np.sign(label)[:, None] * [-1, 1] * (kept + 1)).reshape(-1)
            rival = -label
        elif joint:
            label, rival = kept[label], kept[rival]
        else:
            label = np.sign(label) * (kept[np.abs(label) - 1] + 1)
            rival = -label
        grown = Mistakes(end=self.end, support=copy.deepcopy(self.support))
        grown.extend(Log(row, label, rival, tau * scale if flat else tau, seen), len(row), self.end)
        grown.shift = self.shift
        return grown


def steps_of(updates: Log, *, joint: bool) -> Steps:
    """Return updates as changes of scores: of two classes in one column, of one machine in two."""
    row, label, rival, tau, seen = updates
    if joint:
        return Steps(row, label, rival, tau, seen)
    nobody = np.full(len(row), -1, np.int32)
    return Steps(row, np.abs(label) - 1, nobody, tau * np.sign(label), seen)


def label_steps(updates: Log, number: int) -> Log:
    """Return the updates of one of several labels as those of two classes, with it and without."""
    own = np.abs(updates.label) == number + 1
    row, label, rival, tau, seen = (column[own] for column in updates)
    return Log(row, np.sign(label), np.sign(rival), tau, seen)


def n_columns(n_classes: int) -> int:
    """Return how many scores a row has: one for two classes, else one for each."""
    return 1 if n_classes == 2 else n_classes
