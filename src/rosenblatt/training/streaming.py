"""Training from files of any size: read while learning, or read once and kept on disk."""

import os
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import Label
from rosenblatt.data.streams import ArrayFile, in_order
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.shapes import BYTES_PER_VALUE, packed
from rosenblatt.training.examples import (
    ArraySupply,
    Examples,
    RowSupply,
    held_out_groups,
    held_out_mask,
    permute,
    shuffled,
)
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.loop import Plan, Progress, Shuffle
from rosenblatt.training.memory import Vote
from rosenblatt.training.reading import SWEEP, Reading, ReadingOptions, RowSource
from rosenblatt.training.state import State, fit_supply

Watcher = Callable[[State, Progress], object]
StartState = Callable[[int, int], State]  # numbers of features and classes → the first state

SAMPLE_VALUES = 1 << 20  # that are kept of a stream to measure its features by
FEWEST_HELD_OUT = 10  # rows; fewer would decide by chance
PIECE = 1 << 18  # values that are brought together ahead: 3 MB, which stay in the cache
PIECES = 3  # of them in memory


@dataclass(frozen=True)
class Sampling:
    """Random choices of a training: which rows are held out, and the order of the others."""

    generator: "np.random.Generator"
    shuffle: Shuffle = True
    held_out: float = 0.0  # fraction of the rows
    grouped: bool = False  # whether rows are held out by their groups, which all must be known for
    chosen: NDArray[np.bool_] | None = None  # of each row, where they were held out by groups
    key: int = field(init=False)  # with the number of a row says whether it is held out

    def __post_init__(self) -> None:
        # Of a copy: the order of the rows is that of ``fit``, which draws nothing before it.
        bits = deepcopy(self.generator.bit_generator)
        object.__setattr__(self, "key", int(bits.random_raw()))

    def mask(self, first: int, n_rows: int) -> NDArray[Any]:
        """Return for each of successive rows whether it is held out."""
        if self.chosen is not None and self.held_out:
            return self.chosen[first : first + n_rows]
        return held_out_mask(first, n_rows, self.held_out, self.key)

    def numbers(self, first: int, end: int, *, held_out: bool = False) -> NDArray[np.int64]:
        """Return which of successive rows are learned from, or which are held out."""
        return np.flatnonzero(self.mask(first, end - first) == held_out) + first

    def by_groups(self, groups: NDArray[np.uint64] | None) -> "Sampling":
        """Return what holds rows out by their groups, where they have any."""
        if groups is None:
            return self
        chosen = replace(self, chosen=held_out_groups(groups, self.held_out, self.key))
        object.__setattr__(chosen, "key", self.key)
        return chosen

    @property
    def shuffler(self) -> "np.random.Generator | None":
        """What draws the order of a pass: of every pass the same if shuffled but once."""
        if self.shuffle != "once":
            return self.generator if self.shuffle else None
        bits = type(self.generator.bit_generator)()
        bits.state = self.generator.bit_generator.state
        return np.random.Generator(bits)


class NewClassError(Exception):
    """A class came up that the rows learned from so far did not have."""


def supply_of(reading: Reading, sampling: Sampling, constant: float) -> RowSupply:
    """Return the passes over a source of which the first block has been read.

    Where that is all there is, they are those of ``fit`` on an array; else those of a stream.
    """
    first = reading.first
    if not first.last:
        return StreamSupply(reading, sampling, constant)
    rows = first.csr(first.n_features, constant)
    targets = reading.targets(first.labels)
    held_out = sampling.by_groups(first.groups).mask(0, first.n_rows)
    if held_out.sum() < FEWEST_HELD_OUT and not reading.n_validation:
        held_out[:] = False
    examples = Examples(rows, targets, reading.row_weights(first.labels, first.weights))
    return ArraySupply(examples, sampling.shuffle, sampling.generator, held_out=held_out)


class StreamSupply:
    """Passes over a source that is larger than one block.

    Where there is but one, it learns while it reads, from the blocks in the order of the source,
    each shuffled. Otherwise all is read first, and passes draw from all over the source; between
    two parts the memory that rows in files took is given back.
    """

    def __init__(self, reading: Reading, sampling: Sampling, constant: float) -> None:
        self.generator = sampling.generator
        self.n_rows = 0  # learned from in a pass, as far as is known
        self.n_held_out = 0  # 0 as long as not all rows are known
        self._reading = reading
        self._sampling = sampling
        self._constant = constant
        self._classes = reading.classes
        self._examples: Examples | None = None  # all rows, once they have been read and kept
        self._indptr: NDArray[Any] = np.zeros(1, np.int64)  # of these rows
        if reading.done or not reading.while_reading:
            reading.read_on()
            self._keep()

    def rows(self) -> Rows | None:
        """Return all rows by their numbers, where they are kept."""
        return None if self._examples is None else self._examples.rows

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""
        if self._examples is not None:
            self._sampling = replace(self._sampling, held_out=0.0)
            self.n_rows, self.n_held_out = self._reading.n_rows, 0

    def _while_reading(self) -> Iterator[Examples]:
        shuffler = self._sampling.shuffler
        for block in self._reading.blocks():
            if self._reading.classes != self._classes or len(self._classes) < 2:
                raise NewClassError
            rows = block.csr(block.n_features, self._constant)
            first = block.first_row
            order = self._sampling.numbers(first, first + block.n_rows) - first
            self.n_rows += len(order)
            if shuffler is not None:
                order = shuffled(order, len(block.data), self._sampling.shuffle, shuffler)
            weight = self._reading.row_weights(block.labels, block.weights)
            targets = self._reading.targets(block.labels)
            yield Examples(rows, targets, weight, order, first, block.bytes_read)
        self._keep()

    def _keep(self) -> None:
        """Take the rows in files for those of the passes to come, if they were kept."""
        rows, reading = self._reading.rows, self._reading
        if rows is None:
            return
        self._sampling = self._sampling.by_groups(rows.groups)
        weights = self._finished(rows)
        self._indptr = rows.indptr
        self._examples = Examples(
            rows.csr(reading.n_features, self._constant), rows.labels, weights
        )

    def _finished(self, rows: Batch) -> NDArray[Any] | None:
        """Change labels to targets, in the files, count rows held out, and return all weights.

        Weights by class are mapped from a file as the rows are.
        """
        reading, weighted = self._reading, self._reading.class_weight is not None
        file = ArrayFile(reading.cache, np.float64) if weighted else None
        for start in range(0, reading.n_rows, SWEEP):
            part = slice(start, min(start + SWEEP, reading.n_rows))
            if file is not None:
                given = None if rows.weights is None else rows.weights[part]
                file.append(np.asarray(reading.row_weights(rows.labels[part], given)))
            rows.labels[part] = reading.targets(rows.labels[part])
            self.n_held_out += int(self._sampling.mask(start, part.stop - start).sum())
            reading.release()
        self.n_rows = reading.n_rows - self.n_held_out
        if file is None:
            return rows.weights
        memory = file.mapped()
        file.close()
        return file.array(memory)

    def parts(self) -> Iterator[Examples]:
        """Yield the rows of the next pass."""
        if self._examples is None:
            yield from self._while_reading()
        elif (shuffler := self._sampling.shuffler) is None:
            yield from self.sweep(held_out=False)
        else:
            yield from self._shuffled(self._examples, shuffler)

    def _shuffled(self, examples: Examples, shuffler: "np.random.Generator") -> Iterator[Examples]:
        """Yield the rows of a pass in parts of batches from all over the source, shuffled.

        So the order of the source does not matter, be it sorted by label.
        """
        ends = np.array([0, *self._reading.batch_ends])
        lengths = np.diff(self._indptr[ends])
        batches = np.arange(len(lengths))
        permute(batches, shuffler)
        for chosen in _cut(batches, lengths[batches], self._room):
            numbers = np.concatenate([self._sampling.numbers(ends[k], ends[k + 1]) for k in chosen])
            n_values = int(lengths[chosen].sum())
            numbers = shuffled(numbers, n_values, self._sampling.shuffle, shuffler)
            yield ScatteredExamples(examples.rows, examples.targets, examples.weight, numbers)
            self._reading.release()

    @property
    def _room(self) -> int:
        """How many values a part has."""
        return max(self._reading.block_bytes // BYTES_PER_VALUE, 1)

    def sweep(self, *, held_out: bool) -> Iterator[Examples]:
        """Yield the rows that are held out, or those learned from, in the order of the source."""
        if self._examples is None:
            raise RuntimeError("Rows that are not kept cannot be tried again.")
        start = 0
        for end in self._reading.block_ends:
            numbers = self._sampling.numbers(start, end, held_out=held_out)
            yield replace(self._examples, order=numbers)
            self._reading.release()
            start = end


class ScatteredExamples(Examples):
    """Rows from all over the files, which another thread brings together while it is learned."""

    def pieces(self) -> Iterator[Examples]:
        """Yield copies of some rows after the other, in the order to come.

        To learn from rows that stand in order takes half the time, as long as there is a processor
        to copy them: 2²⁰ features, 57 values a row, 98 ms against 54.
        """
        rows = self.rows
        if not isinstance(rows, CSR) or os.cpu_count() == 1:
            yield self
            return
        lengths = rows.indptr[self.order + 1] - rows.indptr[self.order]
        numbers = (piece for piece in _cut(self.order, lengths, PIECE))
        yield from in_order(self._piece, numbers, threads=1, under_way=PIECES)

    def _piece(self, numbers: NDArray[Any]) -> Examples:
        weight = None if self.weight is None else self.weight[numbers]
        rows: Any = packed(self.rows, numbers)  # type: ignore[arg-type]  # CSR
        return Examples(rows, self.targets[numbers], weight, np.arange(len(numbers)))


def _cut(items: NDArray[Any], lengths: NDArray[Any], room: int) -> list[NDArray[Any]]:
    """Return successive items in pieces of about so much length together."""
    return np.split(items, np.flatnonzero(np.diff(np.cumsum(lengths) // room)) + 1)


@dataclass(frozen=True)
class StreamFit:
    """Result of training from a stream."""

    state: State
    outcome: Outcome
    reading: Reading
    supply: RowSupply
    sample: CSR  # the first rows as they were learned from: of a stream some, else all


class ResumePoint(NamedTuple):
    """State and progress of an earlier training."""

    state: State
    progress: Progress


def fit_stream(
    source: RowSource,
    plan: Plan,
    sampling: Sampling,
    *,
    start: StartState,
    vote: bool = False,
    constant: float = 1.0,
    observers: Sequence[Observer] = (),
    watch: Watcher | None = None,
    resumed: ResumePoint | None = None,
    prepare: Callable[[Reading], tuple[Plan, StartState]] | None = None,
    **how: Unpack[ReadingOptions],
) -> StreamFit:
    """Train from zero on the rows of a source, or go on where a checkpoint was written.

    The weights are those of training in memory on the same rows in the same order. A single pass
    learns while it reads, and takes the classes from the first block: if a later one has a class
    more, what was learned is given up, the rest is read, and learning begins again with all known.
    With ``vote`` the vectors of all updates, which the plan records, decide held-out rows.
    ``prepare`` is called when all rows have been read and kept, and says what is trained on them.
    """
    drawing = sampling.generator.bit_generator.state
    classes = () if resumed is None else resumed.progress.classes
    reading = _opened(source, plan, sampling, vote, classes, how, keep=prepare is not None)

    def learn(supply: RowSupply, point: ResumePoint | None = None) -> tuple[State, Outcome]:
        state, progress = point or ResumePoint(
            start(reading.n_features, max(len(reading.classes), 2)), Progress(reading.classes)
        )
        told: dict[str, Any] = {"watch": watch, "vote": Vote(plan.zero) if vote else None}
        return state, fit_supply(state, supply, plan, observers, progress=progress, **told)

    try:
        if not reading.finished or (reading.keep and prepare is not None):
            reading.read_on()
            if reading.keep and prepare is not None:
                plan, start = prepare(reading)
            reading.finish()
        sample = _sample(reading, constant)
        supply = supply_of(reading, sampling, constant)
        reading.check_classes()
        try:
            state, outcome = learn(supply, resumed)
        except NewClassError:
            reading.read_on()
            reading.check_classes()
            if not reading.keep:
                reading.close()
                classes = reading.classes
                reading = Reading(source, keep=False, while_reading=True, classes=classes, **how)
            sampling.generator.bit_generator.state = drawing
            supply = StreamSupply(reading, sampling, constant)
            state, outcome = learn(supply)
    except BaseException:
        reading.close()
        raise
    return StreamFit(state, outcome, reading, supply, sample)


def _opened(
    source: RowSource,
    plan: Plan,
    sampling: Sampling,
    vote: bool,
    classes: tuple[Label, ...],
    how: ReadingOptions,
    *,
    keep: bool,
) -> Reading:
    """Begin to read a source, and keep its rows where they are needed more than once."""
    weighted = how.get("class_weight") is not None  # which needs the labels of all rows
    several = plan.max_iter > 1 or plan.record or sampling.held_out > 0.0 or weighted
    one_pass = plan.max_iter == 1 and not vote and not weighted  # a vote needs all at its end
    one_pass = one_pass and not sampling.grouped
    keep = keep or several or not source.rereadable
    return Reading(source, keep=keep, while_reading=one_pass, classes=classes, **how)


def fit_again(
    trained: StreamFit, plan: Plan, passes: int, *, vote: bool = False
) -> tuple[StreamFit, Outcome]:
    """Train from zero on all rows, those held out too, in at most ``passes`` passes.

    The state is changed in its own memory: a second one would be as large again. What the first
    training says of itself, history and scores on held-out rows, stays as it is; what the second
    one says of itself is returned beside it.
    """
    first, supply = trained.outcome, trained.supply
    supply.learn_from_all()
    trained.state.restart()
    again = replace(plan, max_iter=passes, early_stopping=None)
    voting = Vote(plan.zero) if vote else None
    outcome = fit_supply(trained.state, supply, again, vote=voting)
    return replace(trained, outcome=replace(first, mistakes=outcome.mistakes)), outcome


def _sample(reading: Reading, constant: float) -> CSR:
    """Return the rows of the first block; of a stream some of them, copied, as others follow."""
    block, n_learnable = reading.first, reading.n_rows - reading.n_validation
    if block.last:
        return block.block(0, n_learnable).csr(block.n_features, constant)
    rows = block if reading.rows is None else reading.rows  # read to the end, a block is gone
    n_rows = max(1, int(rows.indptr[: block.n_rows + 1].searchsorted(SAMPLE_VALUES, "right")) - 1)
    n_rows = min(n_rows, n_learnable) if reading.done else n_rows
    some = rows.block(0, n_rows)
    some = some._replace(data=some.data.copy(), indices=some.indices.copy())
    return some.csr(reading.n_features, constant)
