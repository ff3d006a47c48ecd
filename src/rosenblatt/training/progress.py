"""How far a training has come."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from rosenblatt.data.labels import Label
from rosenblatt.kernels.counts import Counts
from rosenblatt.training.held_out import Validation
from rosenblatt.training.history import PassRecord
from rosenblatt.training.state import State

NONE_YET = Counts(0, 0, 0.0)


@dataclass
class Progress:
    """With the state, all that is needed to go on from between two parts of a pass."""

    classes: tuple[Label, ...] = ()  # what the numbers of the state's classes stand for, if known
    history: list[PassRecord] = field(default_factory=list)
    validation: Validation | None = None
    parts: int = 0  # of the pass under way that are done
    rows: int = 0  # of those parts
    counts: Counts = NONE_YET  # of those parts
    seconds: float = 0.0  # of those parts
    bytes_read: int = 0  # of the files, where they are being read
    drawing: dict[str, Any] | None = None  # the generator as it was before the pass under way
    _begun: float = field(default=0.0, repr=False)

    @property
    def pass_(self) -> int:
        """Number of the pass under way, counted from 1."""
        return len(self.history) + 1

    def begin_pass(self, generator: np.random.Generator) -> None:
        """Note where the order of the next pass begins, or go back to it in a resumed one."""
        if self.drawing is not None:
            generator.bit_generator.state = self.drawing
        self.drawing = dict(generator.bit_generator.state)
        self._begun = perf_counter()

    def add(self, counts: Counts, n_rows: int, bytes_read: int) -> None:
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


Watcher = Callable[[State, Progress], object]
