"""Successive halving, of ``tune`` and the race of ``train``: many on few rows, the best on more."""

import math
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.shapes import copied_rows, take
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.learner import Learner
from rosenblatt.models.weights import weights_of
from rosenblatt.rules import RULES, rule_parameters
from rosenblatt.tasks import CLASSES, task_of
from rosenblatt.tasks.metrics import METRICS
from rosenblatt.training.examples import ArraySupply, Examples, permute
from rosenblatt.training.holdout import HoldOut, folds
from rosenblatt.training.loop import Interrupt, Plan, Progress, hold_interrupt
from rosenblatt.training.state import State, fit_supply

ONE_SPLIT = 5  # folds, of which one is held out where a single split is enough
MOST_PASSES = {1: 20, 2: 10}  # that are tried, by the order of the rule
PATIENCE = 4  # passes without a better value before a trial ends
LOOK = 0.2  # seconds between two looks at the clock and at Ctrl-C

Curve = list[float]  # a metric after each pass
TimedCurve = tuple[Curve, float]  # and the seconds that it took
Ending = Literal["finished", "time_limit", "interrupted"]


Settings = tuple[tuple[str, Any], ...]  # parameters of train_files, by name


@dataclass(frozen=True)
class Candidate:
    """One way to learn: parameters of the learner, and of the encoding where files are read."""

    learner: Settings
    encoding: Settings = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of ``train_files`` that it stands for."""
        return dict(self.learner) | dict(self.encoding)

    def learner_with(self, passes: int | None = None, **shared: Any) -> Learner:
        """Return the learner, with what all candidates share."""
        given = dict(self.learner)
        values = {name: given.pop(name) for name in rule_parameters() if name in given}
        given.setdefault("max_iter", passes)
        made = Learner(values=values, **{k: v for k, v in shared.items() if v is not None} | given)
        return made.of_task(made.task)

    def __str__(self) -> str:
        words = [str(dict(self.learner)["rule"])]
        words += [f"{name}={_text(value)}" for name, value in self.learner if name != "rule"]
        return " ".join([*words, *(f"{name}={_text(value)}" for name, value in self.encoding)])


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "-".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


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
    folds: int  # that are tried
    parts: int = 0  # into which the rows are divided; 0: as many, or 5 for one split
    task: str = CLASSES  # what an answer is, by its name in ``TASKS``
    trials: list[Trial] = field(default_factory=list)
    ending: Ending = "finished"
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """What the values are called in a sentence."""
        return task_of(self.task).loss_title or METRICS[self.metric].title

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

    def goodness(self, trial: Trial) -> float:
        """Return how good a trial is: the higher, the better."""
        return METRICS[self.metric].sign * trial.mean

    def cut(self, ending: Ending) -> None:
        """Note that it ended before all was tried."""
        self.ending = ending

    def end(self, seconds: float) -> None:
        """Note how long it took."""
        self.seconds = seconds

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {
            "metric": self.metric,
            "title": self.title,
            "rows": self.n_rows,
            "folds": self.folds,
            "ending": self.ending,
            "seconds": self.seconds,
            "trials": [trial.as_json() for trial in self.ranked()],
        }


class SearchStatus(NamedTuple):
    """The progress of a search, for a line on the screen."""

    done: int  # trainings of this rung
    of: int
    share: float
    best: Trial | None
    seconds: float


Rung = tuple[float, Callable[[Search], Sequence[Candidate]]]  # share of the rows, its candidates


def halving(
    search: Search,
    rungs: Iterable[Rung],
    judge: Judge,
    *,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    tell: Callable[[SearchStatus], object] = lambda _: None,
) -> Search:
    """Fill a search by trials of candidates, rung by rung on more rows.

    All is decided by the values alone, so that the same seed chooses the same, however many
    processors there are; a time limit or Ctrl-C ends it with what is known by then.
    """
    with hold_interrupt() as interrupt, ThreadPoolExecutor(n_jobs or os.cpu_count()) as threads:
        limit = math.inf if time_limit is None else time_limit
        trials = _Trials(search, judge, threads, interrupt, limit, tell)
        for share, candidates in rungs:
            trials.run(candidates(search), share)
            if trials.stop.is_set():
                break
    search.end(trials.seconds)
    return search


@dataclass
class _Trials:
    """Runs candidates on a share of the rows, on all processors."""

    search: Search
    judge: Judge
    threads: ThreadPoolExecutor
    interrupt: Interrupt
    time_limit: float  # seconds
    tell: Callable[[SearchStatus], object]
    stop: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=perf_counter)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return perf_counter() - self.started

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
            if self._over() and not self.stop.is_set():
                self.stop.set()
                self.search.cut("interrupted" if self.interrupt.pressed else "time_limit")
                for future in open_:
                    future.cancel()
            done = len(futures) - len(open_)
            self.tell(SearchStatus(done, len(futures), share, self.search.best, self.seconds))

    def _timed(self, candidate: Candidate, share: float, fold: int) -> "TimedCurve | None":
        if self._over():  # a thread may begin before the next look at the clock
            return None
        started = perf_counter()
        try:
            curve = self.judge(candidate, share, fold, self._over)
        except Stopped:
            return None
        return curve, perf_counter() - started

    def _over(self) -> bool:
        over = self.interrupt.pressed or self.seconds >= self.time_limit
        return over or self.stop.is_set()

    def _trial(self, candidate: Candidate, share: float, timed: Sequence[TimedCurve]) -> Trial:
        """Return the trial at the number of passes that is best for the mean of the folds."""
        longest = max(len(curve) for curve, _ in timed)
        curves = np.array([curve + curve[-1:] * (longest - len(curve)) for curve, _ in timed])
        best = METRICS[self.search.metric].best(curves.mean(axis=0))
        seconds = sum(spent for _, spent in timed)
        return Trial(candidate, share, tuple(curves[:, best].tolist()), best + 1, seconds)


@dataclass(frozen=True)
class EncodedRows:
    """Rows that are learned from, with the number of the class of each."""

    examples: Examples
    numbers: NDArray[Any]
    n_classes: int
    has_text: bool = False  # whether columns of texts are among the features
    groups: NDArray[np.uint64] | None = None  # of the rows, where they are held out together


@dataclass
class _Judged:
    """How a candidate does on the rows of a fold, pass by pass."""

    judge: "RowJudge"
    test: NDArray[Any]  # numbers of the rows
    tried: Rows
    plan: Plan
    stops: tuple[int, ...]  # the passes after which it is judged; empty: all
    losses: list[NDArray[Any]]
    curve: Curve
    last: float = 0.0

    @property
    def worst(self) -> float:
        """What no value is worse than."""
        return -METRICS[self.judge.metric].sign * math.inf

    def after_pass(self, now: State) -> bool:
        """Judge a state, if it is to be judged; return whether there is hope for a better one."""
        curve, due = self.curve, not self.stops or len(self.curve) + 1 in self.stops
        if not due:
            curve.append(self.worst)
            self.losses.append(self.losses[-1] if self.losses else np.full(len(self.test), np.inf))
            return True
        if not self.plan.by_vote:
            self.last = self._value(now)
            early = len(curve) < self.plan.average_after  # fewer passes give no such average
            curve.append(self.worst if early else self.last)
        best = METRICS[self.judge.metric].best(curve) if curve else 0
        judged_for = len(curve) - 1 - max(best, self.plan.average_after)
        return judged_for < (1 if self.stops else PATIENCE)

    def at_the_end(self, state: State) -> Curve:
        """Return the curve of a training that made all passes or converged, the end judged."""
        if self.stops and len(self.curve) not in self.stops:
            self.losses.pop()
            self.last = self._value(state)
        return [*self.curve[:-1], self.last]  # before an average began, too

    def _value(self, state: State) -> float:
        return self.judge.value(state.scores(self.tried), self.test, self.losses)


class RowJudge:
    """Judges candidates on folds of rows, which are made when an encoding is first tried.

    ``base`` are rows of any encoding, ``shared`` parameters that all learners have. If ``weighted``
    errors of rows count as much as their steps, and ``losses`` keeps those of every row; if scores
    are ``kept``, it has these. Where a
    candidate has ``stops``, it is judged after these passes alone, for as long as that helps.
    """

    def __init__(
        self,
        rows: Callable[[Settings, int], EncodedRows],  # by encoding and fold, each made once
        base: EncodedRows,
        search: Search,
        shared: Mapping[str, Any],
        passes: Mapping[int, int] = MOST_PASSES,
        *,
        weighted: bool = False,
        kept: bool = False,
        stops: Callable[[Candidate], tuple[int, ...]] = lambda _: (),
    ) -> None:
        self._made, self._lock = rows, threading.Lock()
        self._numbers, self._shared, self._passes = base.numbers, shared, passes
        self._stops, self._kept = stops, kept
        self._last_tried: tuple[Any, Rows] | None = None
        self._sets = base.examples.sets
        self.metric, self._seed = search.metric, shared.get("random_state", 0)
        weight = base.examples.weight
        self._weights = (np.ones(search.n_rows) if weight is None else weight) if weighted else None
        n_parts = search.parts or (search.folds if search.folds > 1 else ONE_SPLIT)
        self._task = task_of(shared.get("task") or CLASSES, base.n_classes)
        alike = self._task.strata(base.numbers)
        self.folds = folds(alike, n_parts, self._seed, base.groups)
        self._rank = np.arange(search.n_rows)  # rows of a low rank are learned from first
        permute(self._rank, np.random.default_rng(self._seed))
        self.losses: dict[tuple[Candidate, float, int], list[NDArray[Any]]] = {}  # pass by pass

    def __call__(
        self, candidate: Candidate, share: float, fold: int, stopped: Callable[[], bool]
    ) -> Curve:
        """Return the metric on the fold after each pass over a share of the other rows."""
        rows = self._rows(candidate, fold)
        train, test = self.folds[fold]
        if stopped():
            raise Stopped
        if share < 1.0:
            train = train[self._rank[train] < share * len(self._rank)]
        losses = self.losses.setdefault((candidate, share, fold), [])
        stops = self._stops(candidate)
        most = stops[-1] if stops else self._passes[RULES[candidate.parameters["rule"]].order]
        learner = candidate.learner_with(most, **self._shared)
        curve: Curve = []
        generator, plan = np.random.default_rng(self._seed), learner.plan()
        examples = replace(rows.examples, holdout=HoldOut.all_but(train, len(rows.numbers)))
        supply = ArraySupply(examples, plan.shuffle, generator)
        n_features, by_feature = examples.rows.shape[1], examples.rows.sparse
        state = learner.start(n_features, rows.n_classes, by_feature=by_feature)
        tried = self._tried(candidate, fold, examples.rows)
        judged = _Judged(self, test, tried, plan, stops, losses, curve)

        def watch(now: State, _progress: Progress) -> None:
            patient = judged.after_pass(now)
            if stopped() or not patient:
                raise Stopped

        try:
            outcome = fit_supply(state, supply, plan, watch=watch)
        except Stopped:
            if stopped():
                raise
            return curve
        except WeightOverflowError:
            return [judged.worst]
        if plan.by_vote and outcome.mistakes is not None:
            updates = outcome.mistakes.before(state.count)
            listed = Mistakes.of_rows(updates, rows.examples.rows, state.count)
            voting = weights_of(learner, state, listed)
            scores = voting.scores(tried, positive=plan.zero > 0)
            return self._last_value(scores, test, len(outcome.history))
        return judged.at_the_end(state)

    def _tried(self, candidate: Candidate, fold: int, rows: Rows) -> Rows:
        """Return the rows of a fold, which several candidates of an encoding are judged on."""
        key = candidate.encoding, fold
        with self._lock:
            if self._last_tried is None or self._last_tried[0] != key:
                test = self.folds[fold][1]
                self._last_tried = (
                    key,
                    copied_rows(rows, test) if isinstance(rows, CSR) else take(rows, test),
                )
            return self._last_tried[1]

    def _rows(self, candidate: Candidate, fold: int) -> EncodedRows:
        with self._lock:
            return self._made(candidate.encoding, fold)

    def _last_value(self, scores: NDArray[Any], test: NDArray[Any], passes: int) -> Curve:
        """Return the curve of what is tried after the last pass alone."""
        value = self.value(scores, test, [])
        return [*[-METRICS[self.metric].sign * np.inf] * (passes - 1), value]

    def measure(self, scores: NDArray[Any], numbers: NDArray[Any]) -> float:
        """Return the metric of these scores of rows of these numbers."""
        given = scores, self._numbers[numbers], self._sets
        positive = self._shared.get("zero") == "positive"
        return self._task.measure(self.metric, *given, positive=positive)

    def value(self, scores: NDArray[Any], test: NDArray[Any], losses: list[NDArray[Any]]) -> float:
        """Return the metric of these scores of rows; add their losses, where these are kept."""
        positive = self._shared.get("zero") == "positive"
        if self._weights is None:
            if self._kept:
                losses.append(scores)
            return self.measure(scores, test)
        wrong = self._task.losses(scores, self._numbers[test], self._sets, positive=positive)
        losses.append(wrong * self._weights[test])
        return float(losses[-1].sum() / self._weights[test].sum())
