"""What makes a table, and the training that most experiments share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.data_sets import DataFolder
from reproduction.line import Line
from reproduction.table import Grid
from rosenblatt.rules import Perceptron, Rule
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Outcome
from rosenblatt.training.loop import Plan, Shuffle
from rosenblatt.training.state import State, fit


@dataclass(frozen=True)
class Setting:
    """What an experiment is handed."""

    folder: DataFolder
    quick: bool  # whether a subset is enough
    tell: Callable[[str], None]  # takes what is being done now

    def runs(self, whole: int, subset: int) -> int:
        """Return how many runs to make where the whole table has so many, and the subset so."""
        return subset if self.quick else whole


@dataclass(frozen=True)
class Experiment:
    """A table that can be made again."""

    name: str
    title: str
    source: str
    method: str
    tolerance: str
    run: Callable[[Setting], Iterator[Line | Grid | str]]  # lines, grids and notes
    has_subset: bool = True  # whether it does less where a subset is enough


def train(
    examples: Examples,
    n_classes: int,
    seed: int,
    *,
    max_iter: int,
    rule: Rule | None = None,
    shuffle: Shuffle = "full",
    **plan: Any,
) -> Outcome:
    """Return what happened in a training from zero.

    Raises
    ------
    KeyboardInterrupt
        Where Ctrl-C ended it, which the training by itself takes for a wish to keep what it has.
    """
    state = State.zeros(examples.rows.shape[1], n_classes, averaged=False)
    full = Plan(rule or Perceptron(), max_iter, shuffle=shuffle, **plan)
    outcome = fit(state, examples, full, np.random.default_rng(seed))
    if outcome.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return outcome
