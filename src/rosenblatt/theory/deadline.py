"""A deadline shared by all stages."""

from collections.abc import Callable
from time import perf_counter

Clock = Callable[[], float]  # seconds


class OutOfTimeError(Exception):
    """The time limit came in the middle of a stage; what was known before it is reported."""


class Deadline:
    """A time limit, and shares of it.

    Every loop of this package whose work grows with the data calls ``check``, which ends it by an
    OutOfTimeError; solvers of others are told what is ``left``.
    """

    def __init__(self, seconds: float | None, clock: Clock = perf_counter) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds

    def share(self, parts: float) -> "Deadline":
        """Return the deadline of one of ``parts`` equal parts of the time left."""
        return Deadline(None if self._end is None else self.left / parts, self._clock)

    @property
    def is_set(self) -> bool:
        """Whether there is a limit at all."""
        return self._end is not None

    @property
    def left(self) -> float:
        """Seconds that are left, of at least 0."""
        return float("inf") if self._end is None else max(0.0, self._end - self._clock())

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return self.left == 0.0

    def check(self) -> None:
        """Raise OutOfTimeError if the time is up."""
        if self.passed:
            raise OutOfTimeError
