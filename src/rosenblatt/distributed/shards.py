"""Which rows a shard has, and in which order it meets them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import Shuffle
from rosenblatt.training.order import drawn_rows, permute

HELD_OUT, DEALING = (0,), (0, 1)  # keys of streams of chance; those of the orders are () and (k,)


@dataclass(frozen=True)
class Shard:
    """Some of all the rows, with what is learned from and what is held out."""

    number: int  # counted from 0
    examples: Examples
    learning: NDArray[Any]  # numbers of rows in examples
    held_out: NDArray[Any]

    def order(self, shuffle: Shuffle, seed: int, epoch: int) -> NDArray[Any]:
        """Return the rows of an epoch, counted from 1; it depends on nothing but what it is given.

        The first shard draws from the stream of the plain estimators, at the place where they are
        in that pass: so one shard is trained exactly as they are. The other shards have streams of
        their own.
        """
        if not shuffle:
            return self.learning
        bits = stream(seed, (self.number,) if self.number else ())
        if shuffle != "once":
            bits.advance((epoch - 1) * max(len(self.learning) - 1, 0))
        order = self.learning.copy()
        permute(order, np.random.Generator(bits))
        return order


def stream(seed: int, key: tuple[int, ...]) -> np.random.PCG64:
    """Return one of the independent streams of chance that belong to a seed."""
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key))


def made_shard(
    number: int, examples: Examples, rows: NDArray[Any], fraction: float, seed: int
) -> Shard:
    """Return a shard; ``rows`` says which rows of all the data its examples are.

    Which rows are held out is decided by their numbers among all, whatever the shards.
    """
    counted = examples.numbers()
    learning, held_out = counted, counted[:0]
    if fraction and len(rows):
        key = int(stream(seed, HELD_OUT).random_raw())
        first = int(rows[0])
        drawn = drawn_rows(first, int(rows[-1]) - first + 1, fraction, key)[rows - first]
        learning, held_out = counted[~drawn[counted]], counted[drawn[counted]]
    return Shard(number, examples, learning, held_out)


def bounds(n_rows: int, n_shards: int) -> list[int]:
    """Return where the shards begin that divide the rows evenly, and the end of the last.

    >>> bounds(10, 3)
    [0, 3, 6, 10]
    """
    if not 1 <= n_shards <= n_rows:
        msg = (
            f"n_shards must be from 1 to the number of rows, {n_rows:,}; got {n_shards:,}: "
            "a shard without rows teaches nothing."
        )
        raise InputError(msg)
    return [k * n_rows // n_shards for k in range(n_shards + 1)]


def dealt(first: int, n_rows: int, n_shards: int, seed: int) -> NDArray[np.int64]:
    """Return the shard of each of successive rows, drawn by the number of the row and the seed."""
    bits = stream(seed, DEALING)
    bits.advance(first)
    words = bits.random_raw(n_rows) >> np.uint64(32)
    return ((words * np.uint64(n_shards)) >> np.uint64(32)).astype(np.int64)
