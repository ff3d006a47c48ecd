"""Where the rows of a training come from: part by part, pass after pass."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import Rows
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import Shuffle
from rosenblatt.training.order import Order, permute, warn_of_sorted_rows


class Part(NamedTuple):
    """Some rows of a pass, all of them where they are in memory anyway."""

    examples: Examples
    order: NDArray[Any]  # numbers of rows in examples, in the order to come
    first_row: int = 0  # number of the first row of examples among all rows
    bytes_read: int = 0  # of the files, up to the end of the part, where it is being read


class Supply(Protocol):
    """What a training asks of a source of rows."""

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

    def sweep(self, *, held_out: bool) -> Iterator[Part]:
        """Yield the rows that are held out, or those learned from, in the order of the source."""

    def rows(self) -> Rows | None:
        """Return all rows by their numbers, where they are kept."""

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""


class ArraySupply:
    """Rows that are in memory: every pass is one part."""

    def __init__(
        self,
        examples: Examples,
        shuffle: Shuffle,
        generator: np.random.Generator,
        fraction: float = 0.0,  # of the rows to be held out
        held_out: NDArray[Any] | None = None,  # which rows, where somebody has chosen them
    ) -> None:
        self.generator = generator
        self._examples = examples
        self._learning, self._held_out = examples.numbers(), examples.numbers()[:0]
        if held_out is not None:
            self._learning, self._held_out = self._learning[~held_out], self._learning[held_out]
        elif fraction:
            self._learning, self._held_out = split(examples, fraction, generator)
        self._shuffle = shuffle
        self._order = Order(self._learning, shuffle, generator, examples.rows)
        if shuffle == "blocks":
            warn_of_sorted_rows(examples.targets)

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

    def sweep(self, *, held_out: bool) -> Iterator[Part]:
        """Yield the rows that are held out, or those learned from."""
        yield Part(self._examples, self._held_out if held_out else self._learning)

    def rows(self) -> Rows:
        """Return all rows by their numbers."""
        return self._examples.rows

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""
        self._learning, self._held_out = self._examples.numbers(), self._held_out[:0]
        self._order = Order(self._learning, self._shuffle, self.generator, self._examples.rows)


def split(
    examples: Examples, fraction: float, generator: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the numbers of rows to learn from and of rows held out, drawn class by class."""
    numbers = examples.numbers()
    targets = examples.targets[numbers]
    held_out = np.zeros(len(numbers), bool)
    for target in np.unique(targets):
        members = np.flatnonzero(targets == target)
        permute(members, generator)
        held_out[members[: int(fraction * len(members))]] = True
    if not held_out.any():
        msg = (
            f"validation_fraction={fraction} of {len(numbers)} rows leaves no row of any class to "
            "validate on; give more rows, a larger fraction, or early_stopping=False."
        )
        raise InputError(msg)
    return numbers[~held_out], numbers[held_out]
