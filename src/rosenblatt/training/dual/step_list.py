"""The list of steps that a machine in the dual is, as it grows."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.dual import Steps, empty_steps
from rosenblatt.kernels.shapes import GrowingArray


class StepList:
    """Steps in the order in which they were made."""

    def __init__(self, steps: Steps) -> None:
        self._columns = [GrowingArray(column) for column in steps]

    @classmethod
    def empty(cls) -> Self:
        """Return a list without steps."""
        return cls(empty_steps(0))

    @property
    def values(self) -> Steps:
        """All of them, without a copy."""
        return Steps(*(column.values for column in self._columns))

    def append(self, steps: Steps) -> None:
        """Change it by more steps at its end."""
        for column, more in zip(self._columns, steps, strict=True):
            column.append(more.astype(column.values.dtype, copy=False))

    def __len__(self) -> int:
        return len(self._columns[0])


def survival(steps: Steps, n_columns: int, end: int, *, joint: bool) -> NDArray[Any]:
    """Return how many rows each step's vector lasted, and for each column how long the zero did.

    A joint machine changes as a whole: of the two lines of an update the first lasts no time. Else
    each column is a learner with vectors of its own. The lines for the start, one a column, come
    first: (n_columns + steps,).
    """
    lasted = np.empty(n_columns + len(steps.seen))
    if joint:
        seen = np.concatenate([np.ones(n_columns), steps.seen, [end]])
        return np.diff(seen).astype(np.float64)
    column = np.concatenate([np.arange(n_columns), steps.column])
    seen = np.concatenate([np.ones(n_columns, np.int64), steps.seen])
    by_column = np.argsort(column, kind="stable")
    ends = np.append(seen[by_column[1:]], end)
    last = np.append(np.diff(column[by_column]) != 0, True)  # a truth value
    ends[last] = end
    lasted[by_column] = ends - seen[by_column]
    return lasted
