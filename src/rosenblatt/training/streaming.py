"""Training from files of any size: read while learning, or read once and kept on disk."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, join, successive
from rosenblatt.data.labels import Label
from rosenblatt.data.streams import ArrayFile, RowFiles, in_order, row_blocks
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.shapes import BYTES_PER_VALUE, copied_rows, take
from rosenblatt.tasks.labels_met import LabelsMet, labels_met
from rosenblatt.training.examples import (
    ArraySupply,
    ClassWeight,
    Examples,
    RowSupply,
    class_weights,
    cut,
    permute,
    shuffled,
)
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.holdout import NOTHING_HELD_OUT, Division, HoldOut
from rosenblatt.training.loop import Plan, Progress, Shuffle
from rosenblatt.training.memory import Vote
from rosenblatt.training.room import give_back
from rosenblatt.training.state import State, fit_supply

Watcher = Callable[[State, Progress], object]
StartState = Callable[[int, int], State]  # numbers of features and classes → the first state
Form = Callable[[Batch], Batch]  # blocks as they were read → rows as they are learned from

SWEEP = 1 << 16  # rows at a time where something is done to all of them
SWEPT_VALUES = 1 << 20  # at a time, where rows are encoded
# Of parsed rows. A training takes about three times as much: two blocks while a file is read, and
# what is tried on them. Larger ones were neither faster nor better on 1.2 million rows.
BLOCK_BYTES = 64 << 20
SAMPLE_VALUES = 1 << 20  # that are kept of a stream to measure its features by
FEWEST_HELD_OUT = 10  # rows; fewer would decide by chance
PIECE = 1 << 18  # values that are brought together ahead: 3 MB, which stay in the cache
PIECES = 3  # of them in memory


class RowSource(Protocol):
    """Where rows come from."""

    @property
    def rereadable(self) -> bool:
        """Whether it can be read a second time; standard input cannot."""

    def batches(self) -> Iterable[Batch]:
        """Open the source at its first row."""

    @property
    def is_open(self) -> bool:
        """Whether rows come as blocks, to be encoded once all of them have been read.

        It is asked when some rows have been read.
        """

    def encoded(self, block: Batch) -> Batch:
        """Return the rows of a block to learn from."""


class Reading:
    """Reads a source, and knows its rows, classes and features so far.

    Rows that fit into one block stay in memory. If there are more, and ``keep`` says so or they
    have to be encoded, all are written to files as they come, and mapped into memory at the end.
    ``while_reading``: blocks are learned from as they come. ``show`` may tell how far they are.
    """

    def __init__(
        self,
        source: RowSource,
        *,
        keep: bool,
        while_reading: bool = False,
        block_bytes: int = BLOCK_BYTES,
        cache: Path | None = None,
        classes: tuple[Label, ...] = (),
        class_weight: ClassWeight | None = None,
        show: Callable[[Iterable[Batch]], Iterable[Batch]] = lambda batches: batches,
    ) -> None:
        self.block_bytes = block_bytes
        self.class_weight = class_weight
        self._known = classes  # from elsewhere
        self.met = LabelsMet(classes)  # and those known
        self.class_counts = np.zeros(0, np.int64)  # in order of appearance
        self._class_totals = np.zeros(0)  # of the weights of their rows
        self.n_rows = 0
        self.n_validation = 0  # of these, which come last and are never learned from
        self.n_features = 0
        self.block_ends: list[int] = []
        self.batch_ends: list[int] = []
        self.done = False
        self.rows: Batch | None = None  # when done, where more than one block was kept
        self.cache = cache  # the folder in which the files are; by default that of the system
        self._files: RowFiles | None = None
        self.keep = keep
        self.while_reading = while_reading
        self._source = source
        self._blocks = row_blocks(show(source.batches()), block_bytes, self._write)
        try:
            self.first = self._take()  # looked at in advance: it says which classes there are
        except BaseException:
            self.close()
            raise

    def check_classes(self) -> None:
        """Raise if all rows have been read and there is nothing to tell apart."""
        if self.done:
            self.met.check(self.n_rows)

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes known and met so far, sorted."""
        return self.met.classes

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """How many rows have each of the sorted classes."""
        return self.met.counts(self.class_counts)

    def row_weights(self, labels: NDArray[Any], given: NDArray[Any] | None) -> NDArray[Any] | None:
        """Return what multiplies the steps of rows of these classes and own weights; None: 1."""
        if self.class_weight is None:
            return given
        counts = np.bincount(self.met.ranks, self._class_totals, len(self.classes))
        by_class: Any = class_weights(self.class_weight, self.classes, counts)
        weights: NDArray[Any] = by_class[self.met.ranks[labels]]
        return weights if given is None else weights * given

    def blocks(self) -> Generator[Batch, None, None]:
        """Yield the remaining blocks; each is valid until the next is requested."""
        block: Batch | None = self.first
        while block is not None:
            yield block
            block = None if self.done else self._take()

    def read_on(self) -> None:
        """Read to the end, to keep all rows and to know all classes."""
        while not self.done:
            self._take()
        if not self.first.last:  # it is kept, or was learned from
            self.first = self.first._replace(data=np.empty(0), indices=np.empty(0, np.int32))

    def stored(self) -> Iterator[Batch]:
        """Yield all rows in their order, once they have been read and kept."""
        if self.rows is None:
            yield self.first
            return
        for start in range(0, self.n_rows, SWEEP):
            yield self.rows.block(start, min(start + SWEEP, self.n_rows))
            self.release()

    def release(self) -> None:
        """Give back the memory that rows in files took."""
        if self._files is not None:
            self._files.release()

    def taken(self, numbers: NDArray[np.int64]) -> Iterator[Batch]:
        """Yield copies of some of these rows, by ascending numbers."""
        first = 0
        for rows in self.stored():
            end = first + rows.n_rows
            here = numbers[slice(*np.searchsorted(numbers, [first, end]))]
            if len(here):
                taken: Any = take(rows.csr(self.n_features, 0.0), here - first)
                yield Batch(taken.data, taken.indices, taken.indptr, n_features=self.n_features)
            first = end

    @property
    def kept(self) -> Batch:
        """All rows, once they have been read and kept; else the first block."""
        return self.first if self.rows is None else self.rows

    def labels(self, numbers: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return class numbers, in order of appearance, and weights of some of these rows."""
        labels, weights = self.kept.labels[numbers], self.kept.weights
        return labels, self.row_weights(labels, None if weights is None else weights[numbers])

    @property
    def is_open(self) -> bool:
        """Whether rows have to be encoded before they are learned from."""
        return self._source.is_open

    def encode(self, form: Form | None = None) -> None:
        """Give all rows a form, once they have been read and kept: by default that of the source.

        Where no more than values change they stay in their place, else rows are kept anew: in
        files, or in memory where they are not too many.
        """
        form = form or (self._source.encoded if self.is_open else None)
        if form is None:
            return
        blocks, files, held = self.kept, None, list[Batch]()
        room = np.inf if self.rows is None else self.block_bytes // BYTES_PER_VALUE
        n_features, n_values, in_place = 0, 0, True
        for start, stop in successive(blocks.indptr, SWEPT_VALUES):
            block = blocks.block(start, stop)
            rows = form(block)
            n_features, n_values = max(n_features, rows.n_features), n_values + len(rows.data)
            if rows.indices is block.indices and in_place:
                block.data[:] = rows.data
                held.append(block)
            else:
                in_place = False
                held.append(rows)
            if n_values > room and not in_place:
                files = files or RowFiles(self.cache, rows.indices.dtype)
                for part in held:
                    files.append(part)
                held = []
            self.release()
        self.n_features = n_features
        if not in_place:
            self._keep(held, files)
        if self.rows is None:
            self.first = self.first._replace(n_features=n_features)
        else:
            self.rows = self.rows._replace(n_features=n_features)

    def _keep(self, rows: list[Batch], files: RowFiles | None) -> None:
        """Keep rows in place of the blocks: all of them, or what is not yet in the files."""
        if files is None:
            together = join(rows)
            together = together._replace(data=together.data.astype(np.float64, copy=False))
            ends = tuple(self.batch_ends)
            self.first = together._replace(first_row=0, batch_ends=ends, last=True)
            self.block_ends = [self.n_rows]
        if self._files is not None:
            self._files.close()
        self._files, self.rows = files, None if files is None else files.mapped()
        if files is not None:
            give_back()

    def close(self) -> None:
        """Stop reading and give the files up."""
        self._blocks.close()
        if self._files is not None:
            self._files.close()

    def _take(self) -> Batch:
        block = next(self._blocks, None)
        if block is None:
            raise InputError("There are no rows to learn from: the input is empty.")
        if len(block.classes) > len(self.met.ranks):
            self.met = labels_met(block.classes, self._known)
            n_new = len(self.met.ranks) - len(self.class_counts)
            self.class_counts = np.pad(self.class_counts, (0, n_new))
            self._class_totals = np.pad(self._class_totals, (0, n_new))
        own = block.learnable
        labels, weights = block.labels[own], None if block.weights is None else block.weights[own]
        self.class_counts += np.bincount(labels, minlength=len(self.met.ranks))
        self._class_totals += np.bincount(labels, weights, len(self.met.ranks))
        self.n_validation += block.n_rows - len(labels)
        self.batch_ends += (end + block.first_row for end in block.batch_ends)
        self.n_rows = block.first_row + block.n_rows
        self.block_ends.append(self.n_rows)
        self.n_features = block.n_features
        if block.last:
            self._end()
        return block

    def _write(self, rows: Batch) -> bool:
        """Keep rows for later passes; return whether they are not yet learned from."""
        is_open = self.is_open
        if not (self.keep or is_open):
            return False
        if self._files is None:
            self._files = RowFiles(self.cache, rows.indices.dtype)
        self._files.append(rows)
        return is_open or not self.while_reading

    def _end(self) -> None:
        self.done = True
        self._blocks.close()
        if self._files is not None:
            self.rows = self._files.mapped()._replace(n_features=self.n_features)
            give_back()


@dataclass(frozen=True)
class Sampling:
    """Random choices of a training: which rows are held out, and the order of the others."""

    generator: "np.random.Generator"
    shuffle: Shuffle = True
    holdout: HoldOut = NOTHING_HELD_OUT  # drawn by a copy: ``fit`` draws nothing before the order
    grouped: bool = False  # whether rows are held out by their groups, which all must be known for

    @property
    def shuffler(self) -> "np.random.Generator | None":
        """What draws the order of a pass: of every pass the same if shuffled but once."""
        if self.shuffle == "once":
            return deepcopy(self.generator)
        return self.generator if self.shuffle else None


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
    targets = reading.met.targets(first.labels)
    holdout = sampling.holdout.of_groups(first.groups)
    if len(holdout.between(0, first.n_rows).tried) < FEWEST_HELD_OUT and not reading.n_validation:
        holdout = NOTHING_HELD_OUT
    weights = reading.row_weights(first.labels, first.weights)
    examples = Examples(rows, targets, weights, sets=reading.met.sets, holdout=holdout)
    return ArraySupply(examples, sampling.shuffle, sampling.generator)


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
        self._holdout = sampling.holdout
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
            self._holdout = NOTHING_HELD_OUT
            self.n_rows, self.n_held_out = self._reading.n_rows, 0

    def _while_reading(self) -> Iterator[Examples]:
        shuffler, reading = self._sampling.shuffler, self._reading
        for block in reading.blocks():
            if reading.classes != self._classes or len(self._classes) < reading.met.fewest:
                raise NewClassError
            rows = block.csr(block.n_features, self._constant)
            first = block.first_row
            order = self._holdout.between(first, first + block.n_rows).learned - first
            self.n_rows += len(order)
            if shuffler is not None:
                order = shuffled(order, len(block.data), self._sampling.shuffle, shuffler)
            weight = reading.row_weights(block.labels, block.weights)
            targets = reading.met.targets(block.labels)
            yield Examples(rows, targets, weight, order, first, reading.met.sets)
        self._keep()

    def _keep(self) -> None:
        """Take the rows in files for those of the passes to come, if they were kept."""
        rows = self._reading.rows
        if rows is None:
            return
        self._holdout = self._holdout.of_groups(rows.groups)
        weights = self._finished(rows)
        self._indptr = rows.indptr
        csr = rows.csr(self._reading.n_features, self._constant)
        self._examples = Examples(csr, rows.labels, weights, sets=self._reading.met.sets)

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
            rows.labels[part] = reading.met.targets(rows.labels[part])
            self.n_held_out += len(self._holdout.between(start, part.stop).tried)
            reading.release()
        self.n_rows = reading.n_rows - self.n_held_out
        return rows.weights if file is None else file.mapped()

    def parts(self) -> Iterator[Examples]:
        """Yield the rows of the next pass."""
        if self._examples is None:
            yield from self._while_reading()
        elif (shuffler := self._sampling.shuffler) is None:
            yield from self.sweep()
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
        room = max(self._reading.block_bytes // BYTES_PER_VALUE, 1)
        for chosen in cut(batches, lengths[batches], room):
            numbers = np.concatenate(
                [self._holdout.between(ends[k], ends[k + 1]).learned for k in chosen]
            )
            n_values = int(lengths[chosen].sum())
            numbers = shuffled(numbers, n_values, self._sampling.shuffle, shuffler)
            given = examples.rows, examples.targets, examples.weight, numbers
            yield ScatteredExamples(*given, sets=examples.sets)
            self._reading.release()

    def sweep(self) -> Iterator[Examples]:
        """Yield the rows learned from, in the order of the source."""
        for examples, division in self._swept():
            yield replace(examples, order=division.learned)

    def tried(self) -> Iterator[Examples]:
        """Yield the rows that are held out, in the order of the source."""
        for examples, division in self._swept():
            yield replace(examples, order=division.tried)

    def _swept(self) -> Iterator[tuple[Examples, Division]]:
        if self._examples is None:
            raise RuntimeError("Rows that are not kept cannot be tried again.")
        start = 0
        for end in self._reading.block_ends:
            yield self._examples, self._holdout.between(start, end)
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
        pieces = (numbers for numbers in cut(self.order, lengths, PIECE))
        yield from in_order(
            partial(self.take, copy=copied_rows), pieces, threads=1, under_way=PIECES
        )


@dataclass(frozen=True)
class StreamFit:
    """Result of training from a stream."""

    state: State
    outcome: Outcome
    reading: Reading
    supply: RowSupply
    sample: CSR  # the first rows as they were learned from: of a stream some, else all
    n_held_out: int
    refit: Outcome | None = None  # of a second training on all rows, where there was one


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
    constant: float = 1.0,
    observers: Sequence[Observer] = (),
    watch: Watcher | None = None,
    resumed: ResumePoint | None = None,
    prepare: Callable[[Reading], tuple[Plan, StartState, Form | None]] | None = None,
    **how: Any,
) -> StreamFit:
    """Train from zero on the rows of a source, or go on where a checkpoint was written.

    The weights are those of training in memory on the same rows in the same order. A single pass
    learns while it reads, and takes the classes from the first block: if a later one has a class
    more, what was learned is given up, the rest is read, and learning begins again with all known.
    ``prepare`` is called when all rows have been read, and says what is trained, and in which form.
    What else is given says how rows are held while they are read; see ``Reading``.
    """
    drawing = sampling.generator.bit_generator.state
    weighted = how.get("class_weight") is not None  # which needs the labels of all rows
    revisited = plan.max_iter > 1 or plan.record or sampling.holdout.share > 0.0 or weighted
    how["keep"] = prepare is not None or revisited or not source.rereadable
    one_pass = plan.max_iter == 1 and not plan.by_vote and not weighted  # a vote: at its end
    how["while_reading"] = one_pass and not sampling.grouped
    reading = Reading(source, classes=resumed.progress.classes if resumed else (), **how)

    def learn(supply: RowSupply, point: ResumePoint | None = None) -> tuple[State, Outcome]:
        state, progress = point or ResumePoint(
            start(reading.n_features, max(len(reading.classes), reading.met.fewest)),
            Progress(reading.classes),
        )
        told: dict[str, Any] = {"watch": watch, "vote": Vote(plan.zero) if plan.by_vote else None}
        return state, fit_supply(state, supply, plan, observers, progress=progress, **told)

    try:
        if reading.is_open or prepare is not None:
            reading.read_on()
            plan, start, form = prepare(reading) if prepare else (plan, start, None)
            if reading.rows is not None:
                give_back()
            reading.encode(form)
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
                reading = Reading(source, classes=reading.classes, **how)
            sampling.generator.bit_generator.state = drawing
            supply = StreamSupply(reading, sampling, constant)
            state, outcome = learn(supply)
    except BaseException:
        reading.close()
        raise
    return StreamFit(state, outcome, reading, supply, sample, supply.n_held_out)


def fit_again(trained: StreamFit, plan: Plan, passes: int) -> StreamFit:
    """Train from zero on all rows, those held out too, in at most ``passes`` passes.

    The state is changed in its own memory: a second one would be as large again. What the first
    training says of itself, history and scores on held-out rows, stays as it is; what the second
    one says of itself is ``refit``.
    """
    first, supply = trained.outcome, trained.supply
    supply.learn_from_all()
    trained.state.restart()
    again = replace(plan, max_iter=passes, early_stopping=None)
    voting = Vote(plan.zero) if plan.by_vote else None
    outcome = fit_supply(trained.state, supply, again, vote=voting)
    return replace(trained, outcome=replace(first, mistakes=outcome.mistakes), refit=outcome)


def _sample(reading: Reading, constant: float) -> CSR:
    """Return the rows of the first block; of a stream some of them, copied, as others follow."""
    block, n_learnable = reading.first, reading.n_rows - reading.n_validation
    if block.last:
        return block.block(0, n_learnable).csr(block.n_features, constant)
    rows = reading.kept  # read to the end, a block is gone
    n_rows = max(1, int(rows.indptr[: block.n_rows + 1].searchsorted(SAMPLE_VALUES, "right")) - 1)
    n_rows = min(n_rows, n_learnable) if reading.done else n_rows
    some = rows.block(0, n_rows)
    some = some._replace(data=some.data.copy(), indices=some.indices.copy())
    return some.csr(reading.n_features, constant)
