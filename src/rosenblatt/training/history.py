"""History as data: what each pass did, how far a training has come, and how it ended."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from rosenblatt.kernels.counts import Counts

if TYPE_CHECKING:
    import numpy as np

    from rosenblatt.mistakes.updates import Mistakes

StopReason = Literal["converged", "max_iter", "early_stopping", "time_limit", "interrupted"]
ENDED_EARLY = ("interrupted", "time_limit")  # reasons after which training could go on

NONE_YET = Counts(0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class PassRecord:
    """What one pass did."""

    pass_: int  # counted from 1
    mistakes: int  # rows misclassified when they came
    updates: int  # rows that changed the weights
    loss: float  # J(w) = Σ over mistakes of −y·a, each at its time
    validation_score: (
        float | None
    )  # accuracy on held-out rows of the weights that would be returned
    seconds: float


@dataclass
class Best:
    """The accuracy on held-out rows at its best, and what had it."""

    score: float = -1.0
    pass_: int = 0
    snapshot: Any = None

    def note(self, pass_: int, score: float, snapshot: Callable[[], Any]) -> None:
        """Compare the accuracy after this pass with the best one so far; of equals the first."""
        if score > self.score:
            self.snapshot = None  # one copy of the weights at a time
            self.score, self.pass_, self.snapshot = score, pass_, snapshot()


@dataclass
class Progress:
    """With what learns, all that is needed to go on from between two parts of a pass."""

    classes: tuple[Any, ...] = ()  # what the numbers of the classes stand for, if known
    history: list[PassRecord] = field(default_factory=list)
    best: Best | None = None
    parts: int = 0  # of the pass under way that are done
    rows: int = 0  # of those parts
    counts: Counts = NONE_YET  # of those parts
    seconds: float = 0.0  # of those parts
    bytes_read: int = 0  # of the files, where they are being read
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

    def add(self, counts: Counts, n_rows: int, bytes_read: int = 0) -> None:
        """Count one more part as done."""
        mistakes, updates, loss = self.counts
        self.counts = Counts(
            mistakes + counts.mistakes, updates + counts.updates, loss + counts.loss
        )
        self.parts += 1
        self.rows += n_rows
        self.bytes_read = bytes_read
        self._tick()

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
