"""The list of its mistakes, which is all that a perceptron is: w = w₀ + Σ τᵢ·yᵢ·xᵢ."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Log, empty_log


@dataclass
class Mistakes:
    """Every update of a training, in order."""

    updates: Log = field(default_factory=lambda: empty_log(0))
    end: int = 1  # Algorithm 7's counter after the last row

    def extend(self, log: Log, n_updates: int, end: int) -> None:
        """Add the updates of one pass, the first ``n_updates`` lines of its log."""
        joined = (
            np.concatenate([a, b[:n_updates]]) for a, b in zip(self.updates, log, strict=True)
        )
        self.updates = Log(*joined)
        self.end = end

    def before(self, count: int) -> Log:
        """Return the updates that are part of the weights at this count of rows."""
        n = int(np.searchsorted(self.updates.seen, count))
        return Log(*(column[:n] for column in self.updates))

    def __len__(self) -> int:
        return len(self.updates.row)

    @property
    def survival(self) -> NDArray[Any]:
        """How many rows the weights of each update lasted: 1 if the very next row changed them."""
        return np.diff(self.updates.seen, append=self.end)
