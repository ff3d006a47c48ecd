"""What is learned from: rows, the target of each, and how much it counts."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import take
from rosenblatt.training.order import row_numbers


@dataclass(frozen=True)
class Examples:
    """Rows with their targets (see ``labels.encode``) and what multiplies each one's step."""

    rows: Rows
    targets: NDArray[Any]
    weight: NDArray[Any] | None = None  # None: 1 for all

    def numbers(self) -> NDArray[Any]:
        """Return the numbers of the rows that count at all; weight zero is as if not given."""
        numbers = row_numbers(len(self.targets))
        return numbers if self.weight is None else numbers[self.weight != 0.0]

    def take(self, numbers: NDArray[Any]) -> "Examples":
        """Return a copy of the examples of these numbers, in their order."""
        weight = None if self.weight is None else self.weight[numbers]
        return Examples(take(self.rows, numbers), self.targets[numbers], weight)
