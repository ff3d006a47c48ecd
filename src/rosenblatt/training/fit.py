"""The loop over passes: order, stopping, early stopping, history."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from rosenblatt.kernels.counts import Counts, empty_log
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.rules import Rule
from rosenblatt.training.election import Election
from rosenblatt.training.examples import Examples
from rosenblatt.training.held_out import EarlyStopping, Validation
from rosenblatt.training.history import PassRecord, StopReason
from rosenblatt.training.interrupts import Interrupt, held_interrupt
from rosenblatt.training.observers import Observer
from rosenblatt.training.order import Shuffle
from rosenblatt.training.passes import run_pass
from rosenblatt.training.progress import Progress, Watcher
from rosenblatt.training.state import EVERYTHING, State
from rosenblatt.training.supply import ArraySupply, Part, Supply
from rosenblatt.training.votes import Votes


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
    vote: bool = False  # score held-out rows by the votes of all vectors; needs the list


@dataclass(frozen=True)
class Outcome:
    """What a training did, beside changing the state."""

    history: list[PassRecord]
    stop_reason: StopReason
    best_pass: int  # the pass whose weights are kept
    mistakes: Mistakes | None = None
    n_rows: int = 0  # learned from in each pass

    @property
    def converged(self) -> bool:
        """Whether the last weights were seen to classify every row that they learned from."""
        return self.stop_reason == "converged"


def fit(
    state: State,
    examples: Examples,
    plan: Plan,
    generator: np.random.Generator,
    observers: Sequence[Observer] = (),
    earlier: Votes | None = None,
) -> Outcome:
    """Change the state by passes over rows in memory; see ``train``."""
    supply = ArraySupply(examples, plan.shuffle, generator, plan.early_stopping)
    learn_nothing = np.zeros(0, np.int32)
    log = empty_log(0) if plan.record else None
    run_pass(state, examples, learn_nothing, plan.rule, plan.zero, log)  # compiles, off the clock
    return train(state, supply, plan, observers, earlier=earlier)


def train(
    state: State,
    supply: Supply,
    plan: Plan,
    observers: Sequence[Observer] = (),
    *,
    watch: Watcher | None = None,
    progress: Progress | None = None,
    earlier: Votes | None = None,
) -> Outcome:
    """Change the state by passes over the rows until one makes no mistake or the plan says stop.

    Observers see every pass. ``watch`` is called after every part with all that is needed to go on
    from there, which ``progress`` then takes. ``earlier`` are updates that the state is made of and
    that vote as well.
    """
    progress = Progress() if progress is None else progress
    if plan.early_stopping is not None and progress.validation is None:
        progress.validation = Validation()
    validation, mistakes = progress.validation, Mistakes() if plan.record else None
    election = Election(state, plan.zero, earlier) if plan.vote and validation else None
    stop_reason: StopReason | None = None
    started = perf_counter()

    with held_interrupt() as interrupt:

        def is_over() -> bool:
            return interrupt.pressed or _time_is_up(plan, started)

        while stop_reason is None:
            whole = _run_parts(state, supply, plan, progress, mistakes, watch, is_over)
            counts, pass_ = progress.counts, progress.pass_
            state.check_finite(counts.loss, EVERYTHING, f"in pass {pass_}")
            score = None
            if validation is not None and supply.n_held_out:
                wrong = _held_out_mistakes(state, supply, plan, election, mistakes)
                score = 1.0 - wrong / supply.n_held_out
                validation.note(pass_, score, state)
            record = progress.end_pass(score)
            for observer in observers:
                observer(record)
            if whole and classifies_all(counts, plan, lambda: supply.mistakes(state, plan.zero)):
                stop_reason = "converged"
            else:
                stop_reason = reason_to_stop(plan, pass_, validation, interrupt, started)

    best_pass = len(progress.history)
    if validation is not None and validation.best is not None:
        validation.restore_best(state)
        best_pass = validation.best_pass
    return Outcome(progress.history, stop_reason, best_pass, mistakes, supply.n_rows)


def _run_parts(
    state: State,
    supply: Supply,
    plan: Plan,
    progress: Progress,
    mistakes: Mistakes | None,
    watch: Watcher | None,
    is_over: Callable[[], bool],
) -> bool:
    """Change the state by one pass, part by part; return whether it came to its end."""
    progress.begin_pass(supply.generator)
    for number, part in enumerate(supply.parts()):
        if number < progress.parts:  # done before the training was resumed
            state.arrange_for(part.examples.rows)
            continue
        if number and is_over():
            return False
        counts = _learn(state, part, plan, mistakes)
        progress.add(counts, len(part.order), part.bytes_read)
        if watch is not None:
            watch(state, progress)
    return True


def _learn(state: State, part: Part, plan: Plan, mistakes: Mistakes | None) -> Counts:
    """Change the state by the rows of a part."""
    state.widen(part.examples.rows.shape[1])
    log = None if mistakes is None else empty_log(len(part.order))
    counts = run_pass(state, part.examples, part.order, plan.rule, plan.zero, log)
    if mistakes is not None and log is not None:
        log.row[:] += part.first_row
        mistakes.extend(log, counts.updates, state.count)
    return counts


def _held_out_mistakes(
    state: State,
    supply: Supply,
    plan: Plan,
    election: Election | None,
    mistakes: Mistakes | None,
) -> int:
    """Count the held-out rows that what would be returned now gets wrong."""
    if election is not None and mistakes is not None:
        return election.mistakes(supply, mistakes, state)
    zero = plan.zero or -1  # at test time a zero activation has to predict something
    return supply.held_out_mistakes(state, zero)


def _time_is_up(plan: Plan, started: float) -> bool:
    return plan.time_limit is not None and perf_counter() - started >= plan.time_limit


def reason_to_stop(
    plan: Plan, pass_: int, validation: Validation | None, interrupt: Interrupt, started: float
) -> StopReason | None:
    """Return why training should end after this pass though it still makes mistakes, or None."""
    if interrupt.pressed:
        return "interrupted"
    best_pass = 0 if validation is None else validation.best_pass  # 0: no score yet
    if plan.early_stopping and 0 < best_pass <= pass_ - plan.early_stopping.n_iter_no_change:
        return "early_stopping"
    if pass_ >= plan.max_iter:
        return "max_iter"
    return "time_limit" if _time_is_up(plan, started) else None


def classifies_all(counts: Counts, plan: Plan, count_mistakes: Callable[[], int]) -> bool:
    """Return whether the weights are proved to classify every row that they learn from.

    A pass without an update proves it. A passive-aggressive rule goes on making smaller and smaller
    updates: there, after a pass without a mistake, its last weights are tried on all the rows.
    """
    if counts.updates == 0:
        return counts.mistakes == 0
    if counts.mistakes or plan.rule.stops_by_itself:
        return False
    return count_mistakes() == 0
