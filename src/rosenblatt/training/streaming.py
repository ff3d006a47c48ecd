"""Passes over rows from files of any size."""

from collections.abc import Iterator

from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.training.examples import Examples
from rosenblatt.training.kept_rows import Draw, KeptRows, numbers_of_rows, shuffling
from rosenblatt.training.labels import targets_of
from rosenblatt.training.order import drawn_rows, permute
from rosenblatt.training.reading import Reading
from rosenblatt.training.supply import ArraySupply, Part, Supply

FEWEST_HELD_OUT = 10  # rows; fewer would decide by chance


class NewClassError(Exception):
    """A class came up that the rows learned from so far did not have."""


def supply_of(
    reading: Reading, draw: Draw, constant: float, *, while_reading: bool = False
) -> Supply:
    """Return the passes over a source of which the first block has been read.

    Where that is all there is, they are those of ``fit`` on an array; else those of a stream.
    """
    first, finish = reading.first, reading.finish
    if not first.last:
        return StreamSupply(reading, draw, constant, while_reading=while_reading)
    if finish is not None:
        finish(first.data, first.indptr)
    rows = CSR(first.data, first.indices, first.indptr, first.n_features, constant)
    targets = targets_of(reading.ranks[first.labels], len(reading.classes))
    held_out = drawn_rows(0, first.n_rows, draw.held_out, draw.key)
    if held_out.sum() < FEWEST_HELD_OUT:
        held_out[:] = False
    return ArraySupply(Examples(rows, targets), draw.shuffle, draw.generator, held_out=held_out)


class StreamSupply:
    """Passes over a source that is larger than one block.

    Where there is but one, it learns while it reads, from the blocks in the order of the source,
    each shuffled. Otherwise all is read first, and passes draw from all over the source.
    """

    def __init__(
        self, reading: Reading, draw: Draw, constant: float, *, while_reading: bool = False
    ) -> None:
        self.generator = draw.generator
        self._reading = reading
        self._draw = draw
        self._constant = constant
        self._classes = reading.classes
        self._n_read = 0  # rows learned from while reading
        self._kept: KeptRows | None = None
        if reading.done or reading.finish is not None or not while_reading:
            reading.read_on()
            self._keep()

    @property
    def n_rows(self) -> int:
        """How many rows are learned from in a pass, as far as is known."""
        return self._n_read if self._kept is None else self._kept.n_learned

    @property
    def n_held_out(self) -> int:
        """How many rows are held out; 0 as long as not all of them are known."""
        return 0 if self._kept is None else self._kept.n_held_out

    def parts(self) -> Iterator[Part]:
        """Yield the rows of the next pass."""
        yield from self._while_reading() if self._kept is None else self._kept.parts()

    def sweep(self, *, held_out: bool) -> Iterator[Part]:
        """Yield the rows that are held out, or those learned from, in the order of the source."""
        if self._kept is None:
            msg = "Rows that are not kept cannot be tried again."
            raise RuntimeError(msg)
        yield from self._kept.sweep(held_out=held_out)

    def rows(self) -> Rows | None:
        """Return all rows by their numbers, where they are kept."""
        return None if self._kept is None else self._kept.examples.rows

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""
        if self._kept is not None:
            self._kept.learn_from_all()

    def _while_reading(self) -> Iterator[Part]:
        shuffler = shuffling(self._draw)
        for block in self._reading.blocks():
            if self._reading.classes != self._classes or len(self._classes) < 2:
                raise NewClassError
            rows = CSR(block.data, block.indices, block.indptr, block.n_features, self._constant)
            order = numbers_of_rows(self._draw, block.first_row, block.n_rows) - block.first_row
            self._n_read += len(order)
            if shuffler is not None:
                permute(order, shuffler)
            examples = Examples(rows, self._reading.targets(block.labels))
            yield Part(examples, order, block.first_row, block.bytes_read)
        self._keep()

    def _keep(self) -> None:
        if self._reading.rows is not None:
            self._kept = KeptRows(self._reading.rows, self._reading, self._draw, self._constant)
