"""The rows of pass after pass, and their order: as given, shuffled once, or for every pass.

Rows in a random order come from all over the memory, and each has to be waited for. By *blocks*
they do not: blocks of successive rows, each of which fits into the second-level cache, come in
random order, and the rows of each in an order of its own, another one in every pass. That is as
good as any order where rows that follow one another are no more alike than others.
"""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import block_bounds
from rosenblatt.kernels.shuffling import random_words, shuffle_within
from rosenblatt.kernels.shuffling import shuffle as exchange
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import Shuffle

WORDS_AT_A_TIME = 1 << 16
# Bytes of rows that are shuffled together: half of a small second-level cache. A number of the
# machine would make the model depend on it.
BLOCK = 1 << 18
FIRST_ROWS = 1000  # that are looked at for a second class


def permute(order: NDArray[Any], generator: np.random.Generator) -> None:
    """Change order to a random permutation of itself."""
    position = len(order) - 1
    while position > 0:
        words = generator.bit_generator.random_raw(min(position, WORDS_AT_A_TIME))
        exchange(order, words, position)
        position -= len(words)


def shuffle_of(shuffle: bool | str) -> Shuffle:
    """Return when to shuffle, of a parameter that has been checked."""
    return shuffle if shuffle in ("once", "blocks") else bool(shuffle)  # type: ignore[return-value]


class Blocks:
    """Blocks of successive rows, to come in another order in each pass."""

    def __init__(self, rows: Rows) -> None:
        self._bounds = block_bounds(rows, BLOCK)

    def split(self, numbers: NDArray[Any]) -> "list[NDArray[Any]]":
        """Return the rows of each block among these, which are in order."""
        return np.split(numbers, np.searchsorted(numbers, self._bounds[1:-1]))

    def ranges(self, generator: np.random.Generator) -> NDArray[Any]:
        """Return the first row of each block and the one after its last, in random order."""
        chosen = np.arange(len(self._bounds) - 1)
        permute(chosen, generator)
        return np.stack([self._bounds[chosen], self._bounds[chosen + 1]], axis=1)


def mix(parts: "list[NDArray[Any]]", generator: np.random.Generator) -> NDArray[Any]:
    """Return the rows of these blocks, one block after the other, each in random order."""
    order = np.concatenate(parts)
    ends = np.cumsum([len(part) for part in parts])
    shuffle_within(order, ends, generator.bit_generator.random_raw(len(order)))
    return order


def warn_of_sorted_rows(targets: NDArray[Any]) -> None:
    """Warn where rows come by class, so that blocks of them teach one class at a time."""
    first = targets[:FIRST_ROWS]
    if len(targets) > len(first) > 1 and (first == first[0]).all():
        msg = Sentence(
            f"The first {len(first):,} rows are all of one class: {Parameter('shuffle', 'blocks')}"
            " learns from rows that stand together, and rows sorted by class teach it little; use"
            f" {Parameter('shuffle', value=True)}."
        )
        warnings.warn(msg, UserWarning, stacklevel=2)


class Order:
    """The rows of pass after pass, which depend on the generator and nothing else.

    ``examples`` are the rows themselves, where they may be shuffled by blocks.
    """

    def __init__(
        self,
        rows: NDArray[Any],
        shuffle: Shuffle,
        generator: np.random.Generator,
        examples: Rows | None = None,
    ) -> None:
        self._rows = rows
        self._blocks: list[NDArray[Any]] | None = None
        if shuffle == "blocks" and examples is not None:
            self._blocks = Blocks(examples).split(rows)
        self._every_pass = shuffle is True
        self._generator = generator
        if shuffle == "once":
            self._rows = rows.copy()
            permute(self._rows, generator)
        self._order = rows.copy() if self._every_pass else self._rows

    def next(self) -> NDArray[Any]:
        """Return the rows of the next pass; valid until the next call."""
        if self._blocks is not None:
            chosen = np.arange(len(self._blocks))
            permute(chosen, self._generator)
            return mix([self._blocks[k] for k in chosen], self._generator)
        if self._every_pass:
            self._order[:] = self._rows  # from the start, so that it depends on the generator alone
            permute(self._order, self._generator)
        return self._order


def held_out_mask(first: int, n_rows: int, fraction: float, key: int) -> NDArray[Any]:
    """Return for each of successive rows whether it is held out, by its number and the key alone.

    So a stream can hold out rows before it knows how many there are, and the same ones in every
    pass.
    """
    if not fraction:
        return np.zeros(n_rows, bool)
    drawn: NDArray[Any] = random_words(key, first, n_rows) < np.uint64(fraction * 2.0**64)
    return drawn


class Part(NamedTuple):
    """Some rows of a pass, all of them where they are in memory anyway."""

    examples: Examples
    order: NDArray[Any]  # numbers of rows in examples, in the order to come
    first_row: int = 0  # number of the first row of examples among all rows
    bytes_read: int = 0  # of the files, up to the end of the part, where it is being read

    def pieces(self) -> "Iterator[Part]":
        """Yield the same rows in the same order, as it is quickest to learn from them."""
        yield self


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
        held_out: NDArray[Any] | None = None,  # row numbers, if already chosen
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
