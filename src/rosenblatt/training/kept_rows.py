"""Rows of a source that has been read, kept in files, for passes that need not parse them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.row_blocks import BYTES_PER_VALUE
from rosenblatt.data.row_files import MappedRows
from rosenblatt.kernels.rows import CSR
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import Shuffle
from rosenblatt.training.order import drawn_rows, permute
from rosenblatt.training.reading import Reading
from rosenblatt.training.supply import Part

SWEEP = 1 << 16  # rows at a time where something is done to all of them


@dataclass(frozen=True)
class Draw:
    """What is left to chance: which rows are held out, and in which order the others come."""

    generator: np.random.Generator
    shuffle: Shuffle = True
    held_out: float = 0.0  # fraction of the rows
    key: int = field(init=False)  # with the number of a row says whether it is held out

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", int(self.generator.bit_generator.random_raw()))


def numbers_of_rows(
    draw: Draw, first: int, n_rows: int, *, held_out: bool = False
) -> NDArray[np.int64]:
    """Return which of successive rows are learned from, or which are held out."""
    drawn = drawn_rows(first, n_rows, draw.held_out, draw.key)
    return np.flatnonzero(drawn == held_out) + first


def shuffling(draw: Draw) -> np.random.Generator | None:
    """Return what draws the order of a pass: of every pass the same if shuffled but once."""
    if draw.shuffle != "once":
        return draw.generator if draw.shuffle else None
    bits = type(draw.generator.bit_generator)()
    bits.state = draw.generator.bit_generator.state
    return np.random.Generator(bits)


class KeptRows:
    """Passes over rows in files; between two parts the memory that they took is given back."""

    def __init__(self, rows: MappedRows, reading: Reading, draw: Draw, constant: float) -> None:
        self.n_learned = 0
        self.n_held_out = 0
        self._rows = rows
        self._reading = reading
        self._draw = draw
        self.examples = Examples(
            CSR(rows.data, rows.indices, rows.indptr, reading.n_features, constant), rows.labels
        )
        self._settle()

    def _settle(self) -> None:
        """Change the labels to targets and finish the values, in the files."""
        rows, finish, n_rows = self._rows, self._reading.finish, self._reading.n_rows
        for start in range(0, n_rows, SWEEP):
            stop = min(start + SWEEP, n_rows)
            rows.labels[start:stop] = self._reading.targets(rows.labels[start:stop])
            if finish is not None:
                ends = rows.indptr[start : stop + 1]
                finish(rows.data[ends[0] : ends[-1]], ends - ends[0])
            held_out = drawn_rows(start, stop - start, self._draw.held_out, self._draw.key).sum()
            self.n_held_out += int(held_out)
            rows.release()
        self.n_learned = n_rows - self.n_held_out

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""
        self._draw = replace(self._draw, held_out=0.0)
        self.n_learned, self.n_held_out = self._reading.n_rows, 0

    def parts(self) -> Iterator[Part]:
        """Yield the rows of a pass in blocks.

        Each is made of batches from all over the source, and their rows are shuffled; so the order
        of the source does not matter, be it sorted by label. Without shuffling it is what counts.
        """
        shuffler = shuffling(self._draw)
        if shuffler is None:
            yield from self.sweep(held_out=False)
            return
        ends = np.array([0, *self._reading.batch_ends])
        lengths = np.diff(self._rows.indptr[ends])
        batches = np.arange(len(lengths))
        permute(batches, shuffler)
        room = max(self._reading.block_bytes // BYTES_PER_VALUE, 1)
        blocks = np.cumsum(lengths[batches]) // room
        for chosen in np.split(batches, np.flatnonzero(np.diff(blocks)) + 1):
            numbers = np.concatenate(
                [numbers_of_rows(self._draw, ends[k], ends[k + 1] - ends[k]) for k in chosen]
            )
            permute(numbers, shuffler)
            yield Part(self.examples, numbers)
            self._rows.release()

    def sweep(self, *, held_out: bool) -> Iterator[Part]:
        """Yield the rows that are held out, or those learned from, in the order of the source."""
        start = 0
        for end in self._reading.block_ends:
            numbers = numbers_of_rows(self._draw, start, end - start, held_out=held_out)
            yield Part(self.examples, numbers)
            self._rows.release()
            start = end
