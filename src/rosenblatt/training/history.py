"""History as data: a record of each pass, its observers, and how the training ended."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

if TYPE_CHECKING:
    from rosenblatt.mistakes.updates import Mistakes

StopReason = Literal["converged", "max_iter", "early_stopping", "time_limit", "interrupted"]
ENDED_EARLY = ("interrupted", "time_limit")  # reasons after which training could go on


class PassRecord(NamedTuple):
    """What one pass did."""

    pass_: int  # counted from 1
    mistakes: int  # rows misclassified when they came
    updates: int  # rows that changed the weights
    loss: float  # J(w) = Σ over mistakes of −y·a, each at its time
    validation_score: float | None  # accuracy on held-out rows of what would be returned
    seconds: float


Observer = Callable[[PassRecord], object]

logger = logging.getLogger("rosenblatt")


def log_pass(record: PassRecord) -> None:
    """Write one line a pass to the logger "rosenblatt" at level INFO."""
    accuracy = _accuracy(record)
    logger.info(
        "pass %d: %d mistakes, %d updates, loss %.6g%s, %.3f s",
        record.pass_,
        record.mistakes,
        record.updates,
        record.loss,
        accuracy,
        record.seconds,
    )


def _accuracy(record: PassRecord) -> str:
    accuracy = record.validation_score
    return "" if accuracy is None else f", held-out accuracy {accuracy:.4f}"


class TerminalBar:
    """A bar on standard error beside a text; use it as a context manager.

    It counts ``parts`` and the time so far; else it shows the time that is left, and goes away.
    """

    def __init__(
        self, total: int | None, description: str, unit: str = "", *, parts: bool = True
    ) -> None:
        from rich import progress  # slow to import, and wanted by few
        from rich.console import Console

        text = progress.TextColumn(f"{unit}{{task.fields[text]}}")
        columns: tuple[progress.ProgressColumn, ...]
        columns = progress.BarColumn(24), text, progress.TimeRemainingColumn()
        if parts:
            bar = (progress.BarColumn(), progress.MofNCompleteColumn())
            columns = *bar, text, progress.TimeElapsedColumn()
        name, console = progress.TextColumn("{task.description}"), Console(stderr=True)
        self._progress = progress.Progress(name, *columns, console=console, transient=not parts)
        self._task = self._progress.add_task(description, total=total, text="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


class ProgressBar(TerminalBar):
    """A bar of the passes with the mistakes so far."""

    def __init__(self, total: int, description: str = "passes", unit: str = "") -> None:
        super().__init__(total, description, unit)
        self.mistakes = 0

    def __call__(self, record: PassRecord) -> None:
        """Move the bar by one pass."""
        self._progress.update(self._task, completed=record.pass_, text=self._figures(record))

    def _figures(self, record: PassRecord) -> str:
        self.mistakes += record.mistakes
        return f"{record.mistakes} mistakes, {self.mistakes} so far{_accuracy(record)}"


@dataclass(frozen=True)
class Outcome:
    """What a training did, beside changing what learned."""

    history: list[PassRecord]
    stop_reason: StopReason
    best_pass: int  # the pass whose weights are kept
    mistakes: "Mistakes | None" = None  # where they were recorded
    n_rows: int = 0  # learned from in each pass

    @property
    def converged(self) -> bool:
        """Whether the last weights were seen to classify every row that they learned from."""
        return self.stop_reason == "converged"

    @property
    def tried_error(self) -> float | None:
        """The error on the rows that were held out, of the pass that is kept."""
        score = self.history[self.best_pass - 1].validation_score if self.history else None
        return None if score is None else 1.0 - score


REASONS: dict[StopReason, str] = {  # why a training ended, after "because"
    "converged": "a pass made no mistake, so all training rows are separated",
    "early_stopping": "the error on held-out rows no longer fell",
    "max_iter": "the maximum number of passes was reached",
    "time_limit": "the time limit was reached",
    "interrupted": "it was interrupted; the model is the best so far",
}
MOST_WRONG = 0.02  # of the rows, by the last weights: they may be separable, and a few passes short
MOST_MISTAKES = 0.1  # of the rows, in the last pass or of others: nobody asks then for separability
RAISE_MAX_ITER = "raise max_iter."
KERNEL_CURE = "raise max_iter, or give the kernel more freedom (a larger gamma or degree)."


def separability_counts(n_features: int, n_rows: float, *errors: float | None) -> bool:
    """Return whether it says something of the labels that rows are separable.

    Not where there are more features than rows, which are separable whatever their labels, nor
    where one of these errors on other rows is large.
    """
    return n_features <= n_rows and all((error or 0.0) <= MOST_MISTAKES for error in errors)


def advice(
    outcome: Outcome,
    n_features: int,
    held_mistakes: Callable[[], int] | None,
    cure: str = RAISE_MAX_ITER,
) -> str | None:
    """Return one sentence on a training that ended before it was done, or None.

    To reach max_iter is how a training ends on rows that overlap, and nothing to be told of:
    ``stop_reason_`` and ``history_`` have it. It is told where the rows may be separable, since the
    last weights, held as they are, misclassify next to none of them, which ``held_mistakes``
    counts, None where the last weights do not decide; and where that would say something.
    """
    last, n_rows = outcome.history[-1], outcome.n_rows
    counts = f"the last one made {last.mistakes} mistakes on {n_rows} rows"
    if outcome.stop_reason == "max_iter":
        hopeless = last.pass_ == 1 or last.mistakes > MOST_MISTAKES * n_rows
        hopeless |= not separability_counts(n_features, n_rows, outcome.tried_error)
        n_wrong = None if hopeless or held_mistakes is None else held_mistakes()
        if n_wrong is None or n_wrong > MOST_WRONG * n_rows:
            return None
        return (
            f"stopped after max_iter={last.pass_} passes; {counts}, and its last weights "
            f"misclassify {n_wrong} of them, so the classes may be separable: {cure}"
        )
    if outcome.stop_reason == "time_limit":
        return (
            f"stopped at its time limit in pass {last.pass_}; {counts}: raise time_limit to go on."
        )
    if outcome.stop_reason == "interrupted":
        return (
            f"was interrupted in pass {last.pass_} and keeps what it had learned; {counts}: set "
            "warm_start=True and fit again to go on."
        )
    return None


def ending(outcome: Outcome) -> str:
    """Return a one-line summary, for verbose=True."""
    last = outcome.history[-1]
    reason = outcome.stop_reason.replace("_", " ")
    return (
        f"stopped after {last.pass_} passes ({reason}); the last one made {last.mistakes} mistakes "
        f"on {outcome.n_rows} rows."
    )
