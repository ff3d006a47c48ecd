"""Candidates judged on rows in memory: the metric on a fold after each pass over the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import WeightOverflowError
from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.kernels.shapes import dense_values, matrix_of, take
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.kernel_machine import KernelChoice
from rosenblatt.models.metrics import METRICS, measured
from rosenblatt.models.rows import MOST_DENSE_COLUMNS
from rosenblatt.models.scoring import linear_scores
from rosenblatt.rules import RULES
from rosenblatt.training.examples import ArraySupply, Examples, permute, winners
from rosenblatt.training.loop import Progress
from rosenblatt.training.memory import held_out_scores
from rosenblatt.training.state import State, fit_supply
from rosenblatt.tuning.candidates import MOST_PASSES, Candidate
from rosenblatt.tuning.folds import splits
from rosenblatt.tuning.search import Curve, Search, Stopped

PATIENCE = 4  # passes without a better value before a trial ends
ONE_SPLIT = 5  # folds, of which one is held out where a single split is enough
KERNEL_PASSES = 5
KERNELS = tuple(  # where there are so few rows that they can be fitted
    Candidate((("rule", "perceptron"), *entry.items()))
    for entry in (
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.1},
        {"kernel": "poly", "kernel_degree": 2},
        {"kernel": "poly", "kernel_degree": 3},
    )
)


@dataclass(frozen=True)
class EncodedRows:
    """Rows that are learned from, with the number of the class of each."""

    examples: Examples
    numbers: NDArray[Any]
    n_classes: int
    has_text: bool = False  # whether columns of texts are among the features


class RowJudge:
    """Judges candidates on folds of rows; the rows of an encoding are made when it is tried.

    ``shared`` are parameters that all learners have.
    """

    def __init__(
        self,
        rows: Callable[[Candidate], EncodedRows],
        numbers: NDArray[Any],
        search: Search,
        shared: Mapping[str, Any],
    ) -> None:
        self._rows, self._numbers, self._shared = rows, numbers, shared
        self._metric, self._seed = search.metric, shared.get("random_state", 0)
        self._splits = splits(numbers, search.folds if search.folds > 1 else ONE_SPLIT, self._seed)
        self._rank = np.arange(len(numbers))  # rows of a low rank are learned from first
        permute(self._rank, np.random.default_rng(self._seed))

    def __call__(
        self, candidate: Candidate, share: float, fold: int, stopped: Callable[[], bool]
    ) -> Curve:
        """Return the metric on the fold after each pass over a share of the other rows."""
        rows = self._rows(candidate)
        train, test = self._splits[fold]
        if stopped():
            raise Stopped
        if is_kernel(candidate):
            return self._kernel_curve(candidate, rows.examples, train, test)
        if share < 1.0:
            train = train[self._rank[train] < share * len(self._rank)]
        return self._curve(candidate, rows, train, test, stopped)

    def _curve(
        self,
        candidate: Candidate,
        rows: EncodedRows,
        train: NDArray[Any],
        test: NDArray[Any],
        stopped: Callable[[], bool],
    ) -> Curve:
        most = MOST_PASSES[RULES[candidate.parameters["rule"]].order]
        learner = candidate.learner_with(most, **self._shared)
        curve: Curve = []
        idle = np.ones(len(rows.numbers), bool)
        idle[train] = False
        generator, plan = np.random.default_rng(self._seed), learner.plan()
        supply = ArraySupply(rows.examples, plan.shuffle, generator, held_out=idle)
        state = learner.start(rows.examples.rows.shape[1], rows.n_classes)
        tried = take(rows.examples.rows, test)

        def watch(now: State, _progress: Progress) -> None:
            if not learner.voted:
                curve.append(self._value(linear_scores(now, tried), test))
            best = METRICS[self._metric].best(curve) if curve else 0
            if stopped() or len(curve) - 1 - best >= PATIENCE:
                raise Stopped

        try:
            outcome = fit_supply(state, supply, plan, watch=watch)
        except Stopped:
            if stopped():
                raise
            return curve
        except WeightOverflowError:
            return [-METRICS[self._metric].sign * np.inf]
        if learner.voted and outcome.mistakes is not None:
            updates = outcome.mistakes.before(state.count)
            votes = Mistakes.of_rows(updates, rows.examples.rows, state.count)
            scores, _ = held_out_scores(state, replace(rows.examples, order=test), votes, plan.zero)
            return self._last_value(scores, test, len(outcome.history))
        return curve

    def _kernel_curve(
        self, candidate: Candidate, examples: Examples, train: NDArray[Any], test: NDArray[Any]
    ) -> Curve:
        """Return the metric of a kernel machine, which is known after the last pass."""
        machine = kernel_machine(candidate, **self._shared)
        wide = examples.rows.shape[1] > MOST_DENSE_COLUMNS
        X: Any = matrix_of(examples.rows) if wide else dense_values(examples.rows)
        weight = None if examples.weight is None else examples.weight[train]
        machine.fit(X[train], self._numbers[train], weight)
        scores = np.asarray(machine.decision_function(X[test]))
        return self._last_value(scores, test, machine.max_iter)

    def _last_value(self, scores: NDArray[Any], test: NDArray[Any], passes: int) -> Curve:
        """Return the curve of what is tried after the last pass alone."""
        return [*[-METRICS[self._metric].sign * np.inf] * (passes - 1), self._value(scores, test)]

    def _value(self, scores: NDArray[Any], test: NDArray[Any]) -> float:
        guess = winners(scores, positive=self._shared.get("zero") == "positive")
        return measured(self._metric, scores, self._numbers[test], guess)


def is_kernel(candidate: Candidate) -> bool:
    """Return whether a candidate is a kernel machine."""
    return "kernel" in candidate.parameters


def kernel_machine(candidate: Candidate, **shared: Any) -> KernelPerceptron:
    """Return the estimator of a candidate, with what all candidates share."""
    given, names = dict(candidate.learner), ("kernel", "gamma", "kernel_degree")
    choice = KernelChoice.of(**{name: given.pop(name, None) for name in names})
    class_weight = shared.pop("class_weight", None)
    learner = Candidate(tuple(given.items())).learner_with(KERNEL_PASSES, **shared)
    return KernelPerceptron(**choice.options(learner), class_weight=class_weight)
