"""What a voted perceptron is made of: its updates, and once each the rows that made them."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.shapes import GrowingArray, without_zeros
from rosenblatt.kernels.voting import Steps


class Votes:
    """The updates of a training from zero weights, which grow as it goes on.

    The weight vectors that vote are w₀ = 0 and the one after each update; none of them is kept.
    """

    def __init__(self, n_features: int, constant: float) -> None:
        self.n_features = n_features
        self.constant = constant
        self._log = [GrowingArray(column) for column in empty_log(0)]
        self._numbers = GrowingArray(np.empty(0, np.int64))
        self._data = GrowingArray(np.empty(0))
        self._indices = GrowingArray(np.empty(0, np.int32))
        self._indptr = GrowingArray(np.zeros(1, np.int64))

    @classmethod
    def of(cls, updates: Log, rows: Rows, numbers: NDArray[Any] | None = None) -> "Votes":
        """Return the updates of a training on these rows, by their places."""
        votes = cls(rows.shape[1], rows.constant)
        votes.extend(updates, rows, numbers=numbers)
        return votes

    @property
    def updates(self) -> Log:
        """Every update in order; ``row`` is its place in ``rows``."""
        return Log(*(column.values for column in self._log))

    @property
    def rows(self) -> CSR:
        """The rows that taught."""
        values = self._data.values, self._indices.values, self._indptr.values
        return CSR(*values, self.n_features, self.constant)

    @property
    def numbers(self) -> NDArray[Any]:
        """The number that each of the rows had in training."""
        return self._numbers.values

    @property
    def n_vectors(self) -> int:
        """How many weight vectors vote."""
        return len(self) + 1

    def __len__(self) -> int:
        return len(self._log[0])

    def extend(
        self,
        updates: Log,
        rows: Rows,
        first_number: int = 0,
        numbers: NDArray[Any] | None = None,
    ) -> None:
        """Add updates that these rows made.

        The rows have these ``numbers`` in training; by default successive ones.
        """
        taking, places = np.unique(updates.row, return_inverse=True)
        taught = without_zeros(rows, taking)
        placed = updates._replace(row=places + len(self._numbers))
        for column, values in zip(self._log, placed, strict=True):
            column.append(values)
        self._numbers.append(taking + first_number if numbers is None else numbers[taking])
        self._indptr.append(taught.indptr[1:] + len(self._data))
        self._data.append(taught.data)
        self._indices.append(taught.indices)

    def survival(self, end: int) -> NDArray[Any]:
        """How many rows each vector lasted, w₀ first, up to Algorithm 7's counter ``end``."""
        return np.diff(self.updates.seen, prepend=1, append=end)

    def steps(self, n_classes: int) -> Steps:
        """Return the updates as the kernels make them."""
        row, label, rival, tau, seen = self.updates
        return Steps(row, tau * label if n_classes == 2 else tau, label, rival, seen)

    def with_classes(self, kept: NDArray[Any]) -> "Votes":
        """Return the same updates with the numbers that the classes have now that there are more.

        ``kept`` has the new number of each class; of two, the first was −1 and the second +1.
        """
        grown = copy.deepcopy(self)
        for column in grown._log[1:3]:  # noqa: SLF001  # label and rival
            old = column.values
            old[:] = kept[(old > 0).astype(np.intp) if len(kept) == 2 else old]
        return grown
