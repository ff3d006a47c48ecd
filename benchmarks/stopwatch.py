"""Times of contenders that take turns, so that a busy machine is busy for all of them alike.

Only the processor time of this thread counts, which is the time on the wall of a quiet machine:
every contender runs in one thread, and what other programs take in between is not theirs.
"""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


def best_times(contenders: Mapping[str, Callable[[], object]], scale: Scale) -> dict[str, float]:
    """Return the best seconds of each contender: what it takes when nothing else interferes."""
    for contender in contenders.values():
        contender()  # compiles, and brings the data in
    best = dict.fromkeys(contenders, float("inf"))
    gc.collect()
    rounds, started = 0, perf_counter()
    while rounds < scale.rounds or perf_counter() - started < scale.seconds:
        for name, contender in contenders.items():
            before = thread_time()
            contender()
            best[name] = min(best[name], thread_time() - before)
        rounds += 1
    return best


def epoch_times(
    fits: Mapping[str, Fit],
    passes: int,
    scale: Scale,
    others: Mapping[str, Callable[[], object]] | None = None,
) -> dict[str, float]:
    """Return the seconds of one epoch of each fit, and of each of the others as a whole.

    An epoch is what one more pass costs: a fit of many passes less a fit of one, so that checks and
    copies of the input, which happen once, drop out.
    """
    contenders: dict[str, Callable[[], object]] = dict(others or {})
    for name, fit in fits.items():
        contenders[f"{name}, one pass"] = _all_passes(fit, 1)
        contenders[f"{name}, many passes"] = _all_passes(fit, passes)
    best = best_times(contenders, scale)
    epochs = {name: best[name] for name in others or {}}
    for name in fits:
        extra = best[f"{name}, many passes"] - best[f"{name}, one pass"]
        epochs[name] = extra / (passes - 1)
    return epochs


def _all_passes(fit: Fit, passes: int) -> Callable[[], None]:
    """The fit, which must not stop early: a pass that was not made would count as free."""

    def contender() -> None:
        made = fit(passes).n_iter_
        if made != passes:
            msg = f"A fit of {passes} passes stopped after {made}: its epochs cannot be timed."
            raise RuntimeError(msg)

    return contender
