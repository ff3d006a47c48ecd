"""How to train, as the options of the command line say."""

from dataclasses import dataclass
from typing import Any

from rosenblatt.cli.learner import Learner
from rosenblatt.rules import ZERO_CONVENTIONS
from rosenblatt.training.fit import Plan
from rosenblatt.training.held_out import EarlyStopping
from rosenblatt.training.order import Shuffle
from rosenblatt.training.reading import BLOCK_BYTES

DEFAULT_LEARNER = Learner()
ONE_PASS_BYTES = 16 << 20
SHUFFLES: dict[str, Shuffle] = {"every-pass": True, "once": "once", "no": False}


@dataclass(frozen=True)
class Course:
    """How to train, as the options of the command say."""

    learner: Learner = DEFAULT_LEARNER
    max_iter: int | None = None
    early_stopping: bool = True
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    shuffle: str = "every-pass"
    zero: str = "mistake"
    fit_intercept: bool = True
    time_limit: float | None = None
    seed: int = 0
    calibrate: bool = False
    record_mistakes: bool = False
    verdict: bool = False
    buffer: int | None = None
    cache: str | None = None

    @property
    def passes(self) -> int:
        """How many passes are made at most."""
        return self.learner.max_iter if self.max_iter is None else self.max_iter

    @property
    def held_out(self) -> float:
        """Which share of the rows is held out."""
        return self.validation_fraction if self.early_stopping or self.calibrate else 0.0

    @property
    def block_bytes(self) -> int:
        """How much is shuffled together: new memory costs more time than it saves in one pass."""
        if self.buffer is not None:
            return self.buffer
        return ONE_PASS_BYTES if self.passes == 1 else BLOCK_BYTES

    @property
    def records(self) -> bool:
        """Whether the list of mistakes is kept, with the rows that made them."""
        return self.record_mistakes or self.learner.voted

    def plan(self) -> Plan:
        """Return what the loop over passes is told."""
        stopping = EarlyStopping(self.validation_fraction, self.n_iter_no_change)
        return Plan(
            self.learner.step(),
            self.passes,
            ZERO_CONVENTIONS[self.zero],
            SHUFFLES[self.shuffle],
            stopping if self.held_out else None,
            self.time_limit,
            self.records,
            self.learner.voted,
        )

    def options(self) -> dict[str, Any]:
        """Return the parameters of the same learner in Python."""
        recording = {} if self.learner.voted else {"record_mistakes": self.record_mistakes}
        return {
            **self.learner.parameters(),
            "max_iter": self.passes,
            "shuffle": SHUFFLES[self.shuffle],
            "zero": self.zero,
            "fit_intercept": self.fit_intercept,
            "early_stopping": self.early_stopping,
            "validation_fraction": self.validation_fraction,
            "n_iter_no_change": self.n_iter_no_change,
            "time_limit": self.time_limit,
            **recording,
            "random_state": self.seed,
        }
