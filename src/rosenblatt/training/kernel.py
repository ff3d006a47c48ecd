"""A kernel machine that learns: what the loop asks of passes in the dual."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts
from rosenblatt.training.dual.budget import BudgetPasses
from rosenblatt.training.dual.learning import DualLearning
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import Learned, Plan
from rosenblatt.training.order import Order


class KernelTraining:
    """Passes of a kernel machine over rows, block by block."""

    def __init__(
        self,
        machine: DualLearning | BudgetPasses,
        examples: Examples,
        plan: Plan,
        generator: np.random.Generator,
    ) -> None:
        self.generator = generator
        self._machine = machine
        self._learning = examples.numbers()
        self._order = Order(self._learning, plan.shuffle, generator)

    @property
    def n_rows(self) -> int:
        """How many rows are learned from in a pass."""
        return len(self._learning)

    @property
    def n_held_out(self) -> int:
        """How many rows are held out."""
        return 0

    def parts(self) -> Iterator[NDArray[Any]]:
        """Yield the rows of the next pass, block by block."""
        return self._machine.blocks(self._order.next())

    def learn(self, part: NDArray[Any]) -> Learned:
        """Visit the rows of a block."""
        return Learned(self._machine.visit(part), len(part))

    def skip(self, part: NDArray[Any]) -> None:
        """Nothing: no kernel training is resumed within a pass."""

    def check(self, counts: Counts, pass_: int) -> None:
        """Nothing: every block is checked when it is learned."""

    def mistakes(self) -> int:
        """Count the mistakes that the last weights make on the rows learned from."""
        return self._machine.mistakes(self._learning)

    def held_out_mistakes(self) -> int:
        """No row is held out."""
        return 0

    def snapshot(self) -> Any:
        """Return nothing."""

    def restore(self, snapshot: Any) -> None:
        """Do nothing."""
