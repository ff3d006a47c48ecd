"""The loop over passes: parts, stopping, early stopping, Ctrl-C between two parts.

It is the only one. What learns, and from where its rows come, is behind ``Training``: weights from
arrays or files, a kernel machine, the shards of a cluster, a training that is followed step by
step.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from types import FrameType
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from rosenblatt.kernels.counts import Counts
from rosenblatt.rules import Rule
from rosenblatt.training.history import Observer, Outcome, PassRecord, StopReason

NONE_YET = Counts(0, 0, 0.0)

# Every pass, many rows by groups of neighbours; never; once; every pass, all rows in any case.
Shuffle = bool | Literal["once", "full"]


def together(first: Counts, second: Counts) -> Counts:
    """Return the sum of two counts."""
    mistakes, updates, loss = second
    return Counts(first.mistakes + mistakes, first.updates + updates, first.loss + loss)


@dataclass(frozen=True)
class EarlyStopping:
    """Hold rows out, and stop when their score has not risen for some passes."""

    share: float = 0.1  # of the rows
    n_iter_no_change: int = 5


@dataclass(frozen=True)
class Plan:
    """How to train: the rule, and when to stop."""

    rule: Rule
    max_iter: int
    zero: int = 0
    shuffle: Shuffle = True
    early_stopping: EarlyStopping | None = None
    time_limit: float | None = None  # seconds
    record: bool = False  # keep the list of mistakes
    by_vote: bool = False  # of all weight vectors, which the list makes
    average_after: int = 0  # passes from zero on before the average begins that is kept

    @property
    def holdout(self) -> float:
        """The share of the rows that is held out."""
        return 0.0 if self.early_stopping is None else self.early_stopping.share


class PartResult(NamedTuple):
    """Result of learning a part of a pass."""

    counts: Counts
    n_rows: int


class Supply(Protocol):
    """Where the rows of a training come from."""

    generator: "np.random.Generator"  # its state is all that the order of the next pass depends on
    n_rows: int  # learned from in a pass, as far as is known
    n_held_out: int  # 0 as long as not all rows are known

    def parts(self) -> Iterator[Any]:
        """Yield the parts of the next pass; each is valid until the next one is asked for."""


class Training(Protocol):
    """A learner, as the loop over passes sees it."""

    @property
    def supply(self) -> Supply:
        """Where its rows come from."""

    def learn(self, part: Any) -> PartResult:
        """Change by the rows of a part."""

    def finish_pass(self, counts: Counts, pass_: int) -> None:
        """Do what is due after a pass; raise if it left the range of numbers."""

    def mistakes(self) -> int:
        """Count the rows learned from that the last weights misclassify."""

    def tried_mistakes(self) -> float:
        """Count the held-out rows that what would be returned now misclassifies."""

    def snapshot(self) -> Any:
        """Return a copy of all that a later ``restore`` needs."""

    def restore(self, snapshot: Any) -> None:
        """Change back to the moment of a snapshot."""


@dataclass
class Best:
    """The best accuracy on held-out rows, of equals the first, its pass and a snapshot."""

    score: float = -1.0
    pass_: int = 0
    snapshot: Any = None

    def judge(self, score: float, pass_: int) -> None:
        """Take the score of a pass for the best if it is."""
        if score > self.score:
            self.score, self.pass_, self.snapshot = score, pass_, None

    def keep(self, snapshot: Any) -> None:
        """Keep a snapshot of the best pass."""
        self.snapshot = snapshot


@dataclass
class Progress:
    """Progress of a training: with its state, all that resuming between two parts needs."""

    classes: tuple[Any, ...] = ()  # what the numbers of the classes stand for, if known
    history: list[PassRecord] = field(default_factory=list)
    best: Best | None = None
    parts: int = 0  # of the pass under way that are done
    rows: int = 0  # of those parts
    counts: Counts = NONE_YET  # of those parts
    seconds: float = 0.0  # of those parts
    drawing: dict[str, Any] | None = None  # the generator as it was before the pass under way
    is_last: bool = False  # the part just learned: time is up, or Ctrl-C was pressed
    stop_reason: StopReason | None = None
    _begun: float = field(default=0.0, repr=False)

    @property
    def pass_(self) -> int:
        """Number of the pass under way, counted from 1."""
        return len(self.history) + 1

    def begin_pass(self, generator: "np.random.Generator") -> None:
        """Note where the order of the next pass begins, or go back to it in a resumed one."""
        if self.drawing is not None:
            generator.bit_generator.state = self.drawing
        self.drawing = dict(generator.bit_generator.state)
        self._begun = perf_counter()

    def add(self, counts: Counts, n_rows: int) -> None:
        """Count one more part as done."""
        self.counts = together(self.counts, counts)
        self.parts += 1
        self.rows += n_rows
        self._tick()

    def judge_passes(self) -> None:
        """Note the best pass from now on."""
        self.best = self.best or Best()

    def end_part(self, *, is_last: bool) -> None:
        """Note whether the part just learned is the last one."""
        self.is_last = is_last

    def end(self, reason: StopReason | None) -> None:
        """Stop, if there is a reason."""
        self.stop_reason = reason

    def end_pass(self, validation_score: float | None) -> PassRecord:
        """Write the pass under way into the history and begin the next."""
        self._tick()
        record = PassRecord(self.pass_, *self.counts, validation_score, self.seconds)
        self.history.append(record)
        self.parts, self.rows, self.counts, self.seconds = 0, 0, NONE_YET, 0.0
        self.drawing = None
        return record

    def _tick(self) -> None:
        now = perf_counter()
        self.seconds, self._begun = self.seconds + now - self._begun, now


def train(
    training: Training,
    plan: Plan,
    observers: Sequence[Observer] = (),
    *,
    watch: Callable[[Progress], object] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Learn in passes until one makes no mistake or the plan says stop.

    Observers see every pass. ``watch`` is called after every part with how far it has come, from
    where ``progress`` lets a later training go on. Ctrl-C ends the training between two parts, and
    what was learned by then is kept.
    """
    progress = Progress() if progress is None else progress
    with hold_interrupt() as interrupt:
        for part in passes(training, plan, progress, observers, interrupt, watch):
            progress.add(*training.learn(part))
    history, best = progress.history, progress.best
    best_pass = len(history) if best is None or best.snapshot is None else best.pass_
    reason = progress.stop_reason or "max_iter"
    return Outcome(history, reason, best_pass, n_rows=training.supply.n_rows)


def passes(
    training: Training,
    plan: Plan,
    progress: Progress,
    observers: Sequence[Observer] = (),
    interrupt: "Interrupt | None" = None,
    watch: Callable[[Progress], object] | None = None,
) -> Iterator[Any]:
    """Yield the parts of pass after pass, until ``progress`` has a reason to stop.

    A part must be learned, and added to the progress, before the next one is asked for.
    """
    interrupt = interrupt or Interrupt()
    limit = inf if plan.time_limit is None else plan.time_limit
    end = perf_counter() + limit
    if plan.early_stopping is not None:
        progress.judge_passes()
    while progress.stop_reason is None:
        progress.begin_pass(training.supply.generator)
        whole = True
        for number, part in enumerate(training.supply.parts()):
            if number < progress.parts:  # done before the training was resumed
                continue
            if progress.is_last:
                whole = False
                break
            yield part
            progress.end_part(is_last=interrupt.pressed or perf_counter() >= end)
            if watch is not None:
                watch(progress)
        counts = progress.counts
        training.finish_pass(counts, progress.pass_)
        record = progress.end_pass(_score(training, plan, progress))
        for observer in observers:
            observer(record)
        separates = whole and _separates(training, counts, plan.rule)
        progress.end("converged" if separates else _limit_reached(plan, progress, interrupt))
        _keep_best(training, progress)
    if progress.best is not None and progress.best.snapshot is not None:
        training.restore(progress.best.snapshot)


def _score(training: Training, plan: Plan, progress: Progress) -> float | None:
    """Return the accuracy on held-out rows, where there are any, and note the best pass.

    What an average has not begun with is not judged.
    """
    best, n_held_out = progress.best, training.supply.n_held_out
    if best is None or not n_held_out or progress.pass_ <= plan.average_after:
        return None
    score = 1.0 - training.tried_mistakes() / n_held_out
    best.judge(score, progress.pass_)
    return score


def _keep_best(training: Training, progress: Progress) -> None:
    """Copy the best weights before the next pass changes them; after the last one they stay."""
    best = progress.best
    goes_on = progress.stop_reason is None
    if goes_on and best is not None and best.pass_ == len(progress.history):
        best.keep(training.snapshot())


def _limit_reached(plan: Plan, progress: Progress, interrupt: "Interrupt") -> StopReason | None:
    """Return why a training that still makes mistakes should end after a pass, or None."""
    if interrupt.pressed:
        return "interrupted"
    stopping, best, pass_ = plan.early_stopping, progress.best, len(progress.history)
    best_pass = 0 if best is None else best.pass_
    if stopping and 0 < best_pass <= pass_ - stopping.n_iter_no_change:  # 0: no score yet
        return "early_stopping"
    if pass_ >= plan.max_iter:
        return "max_iter"
    return "time_limit" if progress.is_last else None


def _separates(training: Training, counts: Counts, rule: Rule) -> bool:
    """Return whether the last weights are proved to classify every row that they learn from.

    A pass without an update proves it. A passive-aggressive rule goes on making smaller and smaller
    updates: there, after a pass without a mistake, its last weights are tried on all the rows.
    """
    if counts.updates == 0:
        return counts.mistakes == 0
    if counts.mistakes or rule.stops_by_itself:
        return False
    return training.mistakes() == 0


class Interrupt:
    """Whether Ctrl-C has been pressed."""

    def __init__(self) -> None:
        self.pressed = False

    def press(self, _number: int, _frame: FrameType | None) -> None:
        """Note the first press; a second one does what it always did."""
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


@contextmanager
def hold_interrupt() -> Iterator[Interrupt]:
    """Hold Ctrl-C back so that the pass under way can be finished and kept.

    Signals reach the main thread only, and a handler other than Python's own or that of a command
    at work belongs to someone else: there nothing is held back.
    """
    interrupt, before = Interrupt(), signal.getsignal(signal.SIGINT)
    is_own = before is signal.default_int_handler or getattr(before, "may_be_held", False)
    if threading.current_thread() is not threading.main_thread() or not is_own:
        yield interrupt
        return
    signal.signal(signal.SIGINT, interrupt.press)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
