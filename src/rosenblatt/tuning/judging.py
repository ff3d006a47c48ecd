"""Candidates judged on rows in memory: the metric on a fold after each pass over the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.shapes import take
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.metrics import METRICS, measured
from rosenblatt.models.scoring import linear_scores
from rosenblatt.training.examples import ArraySupply, Examples, permute, winners
from rosenblatt.training.loop import Progress
from rosenblatt.training.memory import held_out_scores
from rosenblatt.training.state import State, fit_supply
from rosenblatt.tuning.candidates import Candidate
from rosenblatt.tuning.folds import splits
from rosenblatt.tuning.search import Curve, Stopped

PATIENCE = 4  # passes without a better value before a trial ends
ONE_SPLIT = 5  # folds, of which one is held out where a single split is enough


@dataclass(frozen=True)
class EncodedRows:
    """Rows that are learned from, with the number of the class of each."""

    examples: Examples
    numbers: NDArray[Any]
    n_classes: int
    has_text: bool = False  # whether columns of texts are among the features


class RowJudge:
    """Judges candidates on folds of rows; the rows of an encoding are made when it is tried."""

    def __init__(
        self,
        rows: Callable[[Candidate], EncodedRows],
        numbers: NDArray[Any],
        *,
        metric: str,
        folds: int,
        seed: int,
        shared: Mapping[str, Any],
    ) -> None:
        self._rows, self._numbers = rows, numbers
        self._metric, self._seed, self._shared = metric, seed, shared
        self._splits = splits(numbers, folds if folds > 1 else ONE_SPLIT, seed)
        generator = np.random.default_rng(seed)
        self._rank = np.arange(len(numbers))  # rows of a low rank are learned from first
        permute(self._rank, generator)

    def __call__(
        self, candidate: Candidate, share: float, fold: int, stopped: Callable[[], bool]
    ) -> Curve:
        """Return the metric on the fold after each pass over a share of the other rows."""
        rows = self._rows(candidate)
        train, test = self._splits[fold]
        if share < 1.0:
            train = train[self._rank[train] < share * len(self._rank)]
        learner = candidate.learner_with(candidate.most_passes, **self._shared)
        curve: Curve = []
        idle = np.ones(len(rows.numbers), bool)
        idle[train] = False
        generator, plan = np.random.default_rng(self._seed), learner.plan()
        supply = ArraySupply(rows.examples, plan.shuffle, generator, held_out=idle)
        state = learner.start(rows.examples.rows.shape[1], rows.n_classes)
        tried = take(rows.examples.rows, test)

        def watch(now: State, _progress: Progress) -> None:
            if stopped():
                raise Stopped
            if not learner.voted:
                curve.append(self._value(linear_scores(now, tried), test))
                if self._idle(curve) >= PATIENCE:
                    raise _Settled

        try:
            outcome = fit_supply(state, supply, plan, watch=watch)
        except _Settled:
            return curve
        except WeightOverflowError:
            return [self._worst]
        if learner.voted and outcome.mistakes is not None:
            updates = outcome.mistakes.before(state.count)
            votes = Mistakes.of_rows(updates, rows.examples.rows, state.count)
            scores, _ = held_out_scores(state, replace(rows.examples, order=test), votes, plan.zero)
            return self.last_value(scores, test, len(outcome.history))
        return curve

    def split(self, fold: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the rows to learn from and to try."""
        return self._splits[fold]

    def last_value(self, scores: NDArray[Any], test: NDArray[Any], passes: int) -> Curve:
        """Return the curve of what is tried after the last pass alone."""
        return [*[self._worst] * (passes - 1), self._value(scores, test)]

    def _value(self, scores: NDArray[Any], test: NDArray[Any]) -> float:
        guess = winners(scores, positive=self._shared.get("zero") == "positive")
        return measured(self._metric, scores, self._numbers[test], guess)

    @property
    def _worst(self) -> float:
        return -np.inf if METRICS[self._metric].greater_is_better else np.inf

    def _idle(self, curve: Curve) -> int:
        """Return how many passes it is since the best value."""
        greater = METRICS[self._metric].greater_is_better
        best = int(np.argmax(curve) if greater else np.argmin(curve))
        return len(curve) - 1 - best


class _Settled(Exception):  # noqa: N818  # no error: more passes do not help
    """The metric has stopped improving."""
