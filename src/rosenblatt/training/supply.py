"""Where the rows of a training come from: part by part, pass after pass."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import Rows
from rosenblatt.training.examples import Examples
from rosenblatt.training.held_out import EarlyStopping, split
from rosenblatt.training.order import Order, Shuffle
from rosenblatt.training.passes import count_mistakes
from rosenblatt.training.state import State


class Part(NamedTuple):
    """Some rows of a pass, all of them where they are in memory anyway."""

    examples: Examples
    order: NDArray[Any]  # numbers of rows in examples, in the order to come
    first_row: int = 0  # number of the first row of examples among all rows
    bytes_read: int = 0  # of the files, up to the end of the part, where it is being read


class Supply(Protocol):
    """What the loop over passes asks of a source of rows."""

    @property
    def generator(self) -> np.random.Generator:
        """Draws the order; its state is all that the order of the next pass depends on."""

    @property
    def n_rows(self) -> int:
        """How many rows are learned from in a pass, as far as is known."""

    @property
    def n_held_out(self) -> int:
        """How many rows are held out; 0 as long as not all of them are known."""

    def parts(self) -> Iterator[Part]:
        """Yield the rows of the next pass; a part is valid until the next one is asked for."""

    def mistakes(self, state: State, zero: int) -> int:
        """Count the rows learned from that the last weights misclassify."""

    def held_out_mistakes(self, state: State, zero: int) -> int:
        """Count the held-out rows that the weights to be returned misclassify."""

    def held_out_parts(self) -> Iterator[Part]:
        """Yield the held-out rows."""

    def rows(self) -> Rows | None:
        """Return all rows by their numbers, where they are kept."""


class ArraySupply:
    """Rows that are in memory: every pass is one part."""

    def __init__(
        self,
        examples: Examples,
        shuffle: Shuffle,
        generator: np.random.Generator,
        early_stopping: EarlyStopping | None = None,
        held_out: NDArray[Any] | None = None,  # which rows, where somebody has chosen them
    ) -> None:
        self.generator = generator
        self._examples = examples
        self._learning, self._held_out = examples.numbers(), examples.numbers()[:0]
        if held_out is not None:
            self._learning, self._held_out = self._learning[~held_out], self._learning[held_out]
        elif early_stopping is not None:
            fraction = early_stopping.validation_fraction
            self._learning, self._held_out = split(examples, fraction, generator)
        self._order = Order(self._learning, shuffle, generator)

    @property
    def n_rows(self) -> int:
        """How many rows are learned from in a pass."""
        return len(self._learning)

    @property
    def n_held_out(self) -> int:
        """How many rows are held out."""
        return len(self._held_out)

    def parts(self) -> Iterator[Part]:
        """Yield the rows of the next pass."""
        yield Part(self._examples, self._order.next())

    def mistakes(self, state: State, zero: int) -> int:
        """Count the rows learned from that the last weights misclassify."""
        return count_mistakes(state, state.weights, self._examples, self._learning, zero)

    def held_out_mistakes(self, state: State, zero: int) -> int:
        """Count the held-out rows that the weights to be returned misclassify."""
        return count_mistakes(state, state.average(), self._examples, self._held_out, zero)

    def held_out_parts(self) -> Iterator[Part]:
        """Yield the held-out rows."""
        yield Part(self._examples, self._held_out)

    def rows(self) -> Rows:
        """Return all rows by their numbers."""
        return self._examples.rows
