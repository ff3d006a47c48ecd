"""Which rows are learned from, and in which order: as given, shuffled once, or for every pass."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.shuffling import random_words
from rosenblatt.kernels.shuffling import shuffle as exchange
from rosenblatt.training.loop import Shuffle

WORDS_AT_A_TIME = 1 << 16


def row_numbers(n_rows: int) -> NDArray[Any]:
    """Return 0 … n_rows − 1 in the narrowest type that holds them."""
    return np.arange(n_rows, dtype=np.int32 if n_rows < 2**31 else np.int64)


def permute(order: NDArray[Any], generator: np.random.Generator) -> None:
    """Change order to a random permutation of itself."""
    position = len(order) - 1
    while position > 0:
        words = generator.bit_generator.random_raw(min(position, WORDS_AT_A_TIME))
        exchange(order, words, position)
        position -= len(words)


class Order:
    """The rows of pass after pass, which depend on the generator and nothing else."""

    def __init__(
        self, rows: NDArray[Any], shuffle: Shuffle, generator: np.random.Generator
    ) -> None:
        self._rows = rows
        self._every_pass = shuffle is True
        self._generator = generator
        if shuffle == "once":
            self._rows = rows.copy()
            permute(self._rows, generator)
        self._order = rows.copy() if self._every_pass else self._rows

    def next(self) -> NDArray[Any]:
        """Return the rows of the next pass; valid until the next call."""
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
