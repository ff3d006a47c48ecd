"""Trainings whose course matters more than the model."""

from typing import Any

import numpy as np

from rosenblatt.rules import Perceptron, Rule
from rosenblatt.training.examples import Examples
from rosenblatt.training.fit import Outcome, Plan, fit
from rosenblatt.training.order import Shuffle
from rosenblatt.training.state import State


def train(
    examples: Examples,
    n_classes: int,
    seed: int,
    *,
    max_iter: int,
    rule: Rule | None = None,
    shuffle: Shuffle = True,
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
