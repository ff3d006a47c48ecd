"""Successive halving: many candidates on few rows, the best of them on more, the last on all."""

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np

from rosenblatt.models.metrics import METRICS
from rosenblatt.training.loop import hold_interrupt
from rosenblatt.tuning.candidates import Candidate

SHARES = (1 / 9, 1 / 3, 1.0)  # of the rows, rung by rung
FEWEST_ROWS = 2_000  # of a rung but the last
KEPT = 1 / 3  # of the candidates, rung by rung
FEWEST_KEPT = 4
LOOK = 0.2  # seconds between two looks at the clock and at Ctrl-C

Curve = list[float]  # a metric after each pass
TimedCurve = tuple[Curve, float]  # and the seconds that it took
Ending = Literal["finished", "time_limit", "interrupted"]


class Stopped(Exception):  # noqa: N818  # no error: the search is over
    """The time limit was reached, or Ctrl-C was pressed."""


Judge = Callable[[Candidate, float, int, Callable[[], bool]], Curve]
# candidate, share of the rows, number of a fold, whether to stop → curve; raises Stopped


@dataclass(frozen=True)
class Trial:
    """A candidate on a share of the rows."""

    candidate: Candidate
    share: float
    values: tuple[float, ...]  # of the metric after the best pass, one a fold
    passes: int  # the best number of them
    seconds: float  # of one thread

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """The standard error of the mean, where there is more than one fold."""
        k = len(self.values)
        return float(np.std(self.values, ddof=1)) / math.sqrt(k) if k > 1 else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {
            **self.candidate.parameters,
            "share": self.share,
            "mean": self.mean,
            "folds": list(self.values),
            "passes": self.passes,
            "seconds": self.seconds,
        }


@dataclass
class Search:
    """What was tried, and which of it is best."""

    metric: str
    n_rows: int
    folds: int
    trials: list[Trial] = field(default_factory=list)
    ending: Ending = "finished"
    seconds: float = 0.0

    @property
    def best(self) -> Trial | None:
        """The best on the most rows; None where nothing came to its end."""
        ranked = self.ranked()
        return ranked[0] if ranked else None

    def ranked(self) -> list[Trial]:
        """Return the last trial of each candidate: on the most rows first, then the best."""
        last = {trial.candidate: trial for trial in self.trials}
        sign = METRICS[self.metric].sign
        return sorted(last.values(), key=lambda trial: (-trial.share, -sign * trial.mean))

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {
            "metric": self.metric,
            "rows": self.n_rows,
            "folds": self.folds,
            "ending": self.ending,
            "seconds": self.seconds,
            "trials": [trial.as_json() for trial in self.ranked()],
        }


class SearchStatus(NamedTuple):
    """How far a search has come, for a line on the screen."""

    done: int  # trainings of this rung
    of: int
    share: float
    best: Trial | None
    seconds: float


def halving(
    search: Search,
    pool: Sequence[Candidate],
    judge: Judge,
    *,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    tell: Callable[[SearchStatus], object] = lambda _: None,
) -> Search:
    """Fill a search by trials of candidates on more and more rows.

    All is decided by the values alone, so that the same seed chooses the same, however many
    processors there are; a time limit or Ctrl-C ends it with what is known by then.
    """
    started = perf_counter()
    with hold_interrupt() as interrupt, ThreadPoolExecutor(n_jobs or os.cpu_count()) as threads:
        stop = threading.Event()

        def over() -> Ending | None:
            if interrupt.pressed:
                return "interrupted"
            spent = perf_counter() - started
            return "time_limit" if time_limit is not None and spent >= time_limit else None

        rung = _Rung(search, judge, threads, stop, over, tell, started)
        shares = [s for s in SHARES if s == 1.0 or s * search.n_rows >= FEWEST_ROWS]
        survivors = list(pool)
        for share in shares:
            rung.run(survivors, share)
            if stop.is_set():
                break
            keep = max(FEWEST_KEPT, math.ceil(KEPT * len(survivors)))
            survivors = [trial.candidate for trial in search.ranked()[:keep]]
        else:
            rung.run(_crossed(search), 1.0)
    search.seconds = perf_counter() - started
    return search


@dataclass
class _Rung:
    """Runs candidates on a share of the rows, on all processors."""

    search: Search
    judge: Judge
    threads: ThreadPoolExecutor
    stop: threading.Event
    over: Callable[[], Ending | None]
    tell: Callable[[SearchStatus], object]
    started: float

    def run(self, pool: Sequence[Candidate], share: float) -> None:
        """Add a trial of each candidate to the search, in their order."""
        folds = range(max(self.search.folds if share == 1.0 else min(self.search.folds, 2), 1))
        tasks = {
            candidate: [self.threads.submit(self._timed, candidate, share, fold) for fold in folds]
            for candidate in pool
        }
        self._wait([future for futures in tasks.values() for future in futures], share)
        for candidate, futures in tasks.items():
            curves = [None if future.cancelled() else future.result() for future in futures]
            timed = [curve for curve in curves if curve is not None]
            if len(timed) == len(curves):
                self.search.trials.append(self._trial(candidate, share, timed))

    def _wait(self, futures: "list[Future[TimedCurve | None]]", share: float) -> None:
        open_ = set(futures)
        while open_:
            _, open_ = wait(open_, LOOK, FIRST_COMPLETED)
            ending = self.over()
            if ending is not None and not self.stop.is_set():
                self.stop.set()
                self.search.ending = ending
                for future in open_:
                    future.cancel()
            spent = perf_counter() - self.started
            done = len(futures) - len(open_)
            self.tell(SearchStatus(done, len(futures), share, self.search.best, spent))

    def _timed(self, candidate: Candidate, share: float, fold: int) -> "TimedCurve | None":
        if self._over():  # a thread may begin before anybody looks at the clock
            return None
        started = perf_counter()
        try:
            curve = self.judge(candidate, share, fold, self._over)
        except Stopped:
            return None
        return curve, perf_counter() - started

    def _over(self) -> bool:
        return self.stop.is_set() or self.over() is not None

    def _trial(self, candidate: Candidate, share: float, timed: Sequence[TimedCurve]) -> Trial:
        """Return the trial at the number of passes that is best for the mean of the folds."""
        longest = max(len(curve) for curve, _ in timed)
        curves = np.array([curve + curve[-1:] * (longest - len(curve)) for curve, _ in timed])
        best = METRICS[self.search.metric].best(curves.mean(axis=0))
        seconds = sum(spent for _, spent in timed)
        return Trial(candidate, share, tuple(curves[:, best].tolist()), best + 1, seconds)


def _crossed(search: Search) -> list[Candidate]:
    """Return the best learner with the best encoding, unless already tried."""
    ranked = [trial.candidate for trial in search.ranked() if trial.share == 1.0]
    others = [one.encoding for one in ranked if one.encoding != ranked[0].encoding]
    base = [one.learner for one in ranked if one.learner != ranked[0].learner]
    crossed = [Candidate(ranked[0].learner, way) for way in others[:1]]
    crossed += [Candidate(learner, ranked[0].encoding) for learner in base[:2]]
    return [one for one in dict.fromkeys(crossed) if one not in ranked]
