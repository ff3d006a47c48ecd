"""Times of contenders that take turns, so that a busy machine is busy for all of them alike.

Only the processor time of this thread counts, which is the time on the wall of a quiet machine:
every contender runs in one thread, and what other programs take in between is not theirs.
"""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter, thread_time
from typing import Any

Fit = Callable[[int], Any]  # number of passes → fitted estimator


@dataclass(frozen=True)
class Scale:
    """Rows are divided by ``divisor``; contenders take turns for so many rounds and seconds."""

    divisor: int
    rounds: int  # at least
    seconds: float  # at least

    def rows(self, n_rows: int) -> int:
        """Return how many rows stand in for n_rows."""
        return n_rows // self.divisor


FULL = Scale(divisor=1, rounds=5, seconds=10.0)
QUICK = Scale(divisor=10, rounds=3, seconds=2.0)


def median_times(contenders: Mapping[str, Callable[[], object]], scale: Scale) -> dict[str, float]:
    """Return the median seconds of each contender."""
    return {name: median(seconds) for name, seconds in _rounds(contenders, scale).items()}


def epoch_times(
    fits: Mapping[str, Fit],
    passes: int,
    scale: Scale,
    others: Mapping[str, Callable[[], object]] | None = None,
) -> dict[str, float]:
    """Return the median seconds of one epoch of each fit, and of each of the others as a whole.

    An epoch is what one more pass costs: a fit of many passes less a fit of one in the same round,
    so that checks and copies of the input, which happen once, drop out.
    """
    contenders: dict[str, Callable[[], object]] = dict(others or {})
    for name, fit in fits.items():
        contenders[f"{name}, one pass"] = _all_passes(fit, 1)
        contenders[f"{name}, many passes"] = _all_passes(fit, passes)
    seconds = _rounds(contenders, scale)
    epochs = {name: median(seconds[name]) for name in others or {}}
    for name in fits:
        pairs = zip(seconds[f"{name}, many passes"], seconds[f"{name}, one pass"], strict=True)
        epochs[name] = median(many - one for many, one in pairs) / (passes - 1)
    return epochs


def _rounds(contenders: Mapping[str, Callable[[], object]], scale: Scale) -> dict[str, list[float]]:
    """Return the seconds of each contender in every round."""
    for contender in contenders.values():
        contender()  # compiles, and brings the data in
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    gc.collect()
    rounds, started = 0, perf_counter()
    while rounds < scale.rounds or perf_counter() - started < scale.seconds:
        for name, contender in contenders.items():
            before = thread_time()
            contender()
            seconds[name].append(thread_time() - before)
        rounds += 1
    return seconds


def _all_passes(fit: Fit, passes: int) -> Callable[[], None]:
    """The fit, which must not stop early: a pass that was not made would count as free."""

    def contender() -> None:
        made = fit(passes).n_iter_
        if made != passes:
            msg = f"A fit of {passes} passes stopped after {made}: its epochs cannot be timed."
            raise RuntimeError(msg)

    return contender
