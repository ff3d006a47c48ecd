"""Learning paths of tags: the loop over passes on sentences, whose weights take rows as they grow.

Memory for all features is asked for and not touched: a row of weights costs nothing before the
first step on its feature.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts
from rosenblatt.training.examples import ArraySupply, Examples, row_numbers
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.holdout import HoldOut, holding_out
from rosenblatt.training.loop import Plan, train
from rosenblatt.training.state import LinearTraining, Snapshot, State, averaged


def sentence_examples(
    rows: Any, tags: NDArray[np.int32], tried: NDArray[np.int64] | None = None
) -> Examples:
    """Return sentences with the tags of their tokens, −1 where one is not known.

    Those ``tried``, by their numbers, are not learned from.
    """
    holdout = None if tried is None else HoldOut.of_rows(tried, rows.shape[0])
    numbers = row_numbers(rows.shape[0])
    return Examples(rows, numbers, None, numbers, sets=(tags, rows.bounds), holdout=holdout)


class SentenceTraining(LinearTraining):
    """Changes a state by passes over sentences, and looks at rows of weights that are given."""

    supply: ArraySupply

    @property
    def _given(self) -> slice:
        rows: Any = self.supply.rows()
        return slice(0, int(rows.places.n_rows[0]))

    def finish_pass(self, counts: Counts, pass_: int) -> None:
        """Raise if the weights have left the range of float64."""
        self.state.check_finite(counts.loss, self._given, f"in pass {pass_}", self._rule)

    def snapshot(self) -> Snapshot:
        """Return a copy of the weights."""
        return self.state.snapshot(self._given)

    def _average(self) -> NDArray[Any]:
        """Return the rows of weights that would be returned now."""
        given, state = self._given, self.state
        if state.ledger is None:
            return state.weights[given]
        return averaged(state.weights[given], state.ledger[given], state.count)


def fit_sentences(
    state: State,
    examples: Examples,
    plan: Plan,
    generator: "np.random.Generator",
    observers: Sequence[Observer] = (),
) -> Outcome:
    """Change the state by passes over sentences in memory; see ``loop.train``."""
    if plan.holdout:
        examples = holding_out(examples, plan.holdout, generator)
    supply = ArraySupply(examples, plan.shuffle, generator)
    return train(SentenceTraining(state, supply, plan), plan, observers)


def with_room(state: State, n_features: int) -> State:
    """Return a state with rows for so many features; the new ones take memory at their steps."""
    if n_features <= state.n_features:
        return state
    parts: dict[str, Any] = {}
    for name in ("weights", "ledger", "variance"):
        array = getattr(state, name)
        if array is not None:
            make = np.ones if name == "variance" else np.zeros
            parts[name] = make((n_features + 1, array.shape[1]))
            parts[name][: len(array) - 1] = array[:-1]
    return replace(state, **parts, _average=None)


def trimmed(state: State, n_features: int) -> State:
    """Return a state of its first features alone, in the memory that it has.

    What is behind them was never touched, so that it takes none.
    """
    parts: dict[str, Any] = {}
    for name in ("weights", "ledger", "variance"):
        array = getattr(state, name)
        if array is not None:
            array[n_features] = array[-1]
            parts[name] = array[: n_features + 1]
    return replace(state, **parts, _average=None)
