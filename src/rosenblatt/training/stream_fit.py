"""Training from a stream of batches, from the first row to the final weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

from rosenblatt.data.labels import Label
from rosenblatt.kernels.rows import CSR
from rosenblatt.training.examples import RowSupply
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.loop import Plan, Progress
from rosenblatt.training.memory import Vote
from rosenblatt.training.reading import Reading, ReadingOptions, RowSource
from rosenblatt.training.state import State, fit_supply
from rosenblatt.training.stream_supply import NewClassError, Sampling, StreamSupply, supply_of

Watcher = Callable[[State, Progress], object]

SAMPLE_VALUES = 1 << 20  # that are kept of a stream to measure its features by


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
    start: Callable[[int, int], State],  # numbers of features and classes → the first state
    vote: bool = False,
    constant: float = 1.0,
    observers: Sequence[Observer] = (),
    watch: Watcher | None = None,
    resumed: ResumePoint | None = None,
    prepare: Callable[[Reading], object] | None = None,
    **how: Unpack[ReadingOptions],
) -> StreamFit:
    """Train from zero on the rows of a source, or go on where a checkpoint was written.

    The weights are those of training in memory on the same rows in the same order. A single pass
    learns while it reads, and takes the classes from the first block: if a later one has a class
    more, what was learned is given up, the rest is read, and learning begins again with all known.
    With ``vote`` the vectors of all updates, which the plan records, decide held-out rows.
    ``prepare`` is called when all rows have been read, where they are kept, and may change them.
    """
    drawing = sampling.generator.bit_generator.state
    classes = () if resumed is None else resumed.progress.classes
    reading = _opened(source, plan, sampling, vote, classes, how)

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
                prepare(reading)
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
) -> Reading:
    """Begin to read a source, and keep its rows where they are needed more than once."""
    weighted = how.get("class_weight") is not None  # which needs the labels of all rows
    several = plan.max_iter > 1 or plan.record or sampling.held_out > 0.0 or weighted
    one_pass = plan.max_iter == 1 and not vote and not weighted  # a vote needs all at its end
    keep = several or not source.rereadable
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
    block = reading.first
    if block.last:
        return block.csr(block.n_features, constant)
    rows = block if reading.rows is None else reading.rows  # read to the end, a block is gone
    n_rows = max(1, int(rows.indptr[: block.n_rows + 1].searchsorted(SAMPLE_VALUES, "right")) - 1)
    some = rows.block(0, n_rows)
    some = some._replace(data=some.data.copy(), indices=some.indices.copy())
    return some.csr(reading.n_features, constant)
