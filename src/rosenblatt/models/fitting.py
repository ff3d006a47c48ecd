"""Learning on from rows in memory: new classes, one more batch."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.shapes import touched_features
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import MOVED, Model
from rosenblatt.rules import ZERO_CONVENTIONS, Rule, pair_scale
from rosenblatt.training.examples import Examples, numbers_of
from rosenblatt.training.state import State, count_mistakes, run_pass

TEXT = "OSUT"  # NumPy's kinds of labels that do not compare with numbers


def model_with_classes(model: Model, seen: NDArray[Any], rule: Rule) -> Model:
    """Return a copy of a model that knows these classes as well, and no more of its old rows."""
    if MOVED in model.training:
        model = replace(model, weights=model.weights.copy())
        model.move_bias(model.training[MOVED])
    machine, mistakes = model.machine, model.mistakes
    state: Any = model.state if machine is None else machine.state
    state, classes = state_with_classes(state, model.labels, seen, rule)
    if mistakes is not None and len(classes) > len(model.classes):
        mistakes = mistakes.with_classes(np.searchsorted(classes, model.labels))
    return replace(
        model,
        **state.vectors(),
        classes=tuple(classes.tolist()),
        mistakes=mistakes,
        machine=machine and machine._replace(state=state),
        training={"label_type": classes.dtype.str},
        spread=None,
        calibration=None,
        verdict=None,
        arrays={},
    )


def last_mistakes(model: Model, learner: Learner, examples: Examples) -> int:
    """Count the rows that the last weights of a model misclassify, held as they are."""
    state, zero = model.state, ZERO_CONVENTIONS[learner.zero]
    state.arrange_for(examples.rows)
    return count_mistakes(state, state.weights, examples, examples.numbers(), zero)


def learn_batch(model: Model, learner: Learner, examples: Examples) -> int:
    """Change a model by one pass in the order given, or not at all where it would overflow.

    Returns the number of updates.
    """
    moved = model.training.get(MOVED, 0.0)
    if moved:  # what was learned is where it was before
        model.move_bias(moved)
    state, rows, numbers = model.state, examples.rows, examples.numbers()
    memory = state.weights, state.ledger
    state.keep_average(learner.averaged)
    state.arrange_for(rows)
    features = touched_features(rows)
    before = state.snapshot(features)
    log = None if model.mistakes is None else empty_log(len(numbers))
    counts = run_pass(state, examples, numbers, learner.step, ZERO_CONVENTIONS[learner.zero], log)
    if counts.updates:
        try:
            when = "in these rows, which are not learned"
            state.check_finite(counts.loss, features, when, learner.step)
        except WeightOverflowError:
            state.restore(before)
            if moved:
                model.move_bias(-moved)
            raise
        model.outcome["stop_reason"] = "max_iter"  # one pass is what it is for
        if model.mistakes is not None and log is not None:
            updates = Log(*(column[: counts.updates] for column in log))
            model.mistakes.extend_by(updates, rows, state.count, before.count - 1)
    if model.mistakes is not None:
        model.mistakes.end = state.count
    model.outcome["n_iter"] += 1
    model.outcome["n_mistakes"] += counts.mistakes
    model.count = state.count
    if memory[0] is not state.weights or memory[1] is not state.ledger:  # laid out otherwise
        model.follow(state)
    model.spread = model.calibration = model.verdict = None  # they were of other rows
    if model.training.keys() != {"label_type"}:  # it was trained on files
        model.training, model.arrays = {"label_type": model.labels.dtype.str}, {}
        model.outcome.pop("n_learned", None)
    return counts.updates


def all_known(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Return whether every label is one of the classes."""
    if len(classes) == 0 or not _comparable(y, classes):
        return False
    return bool((classes[numbers_of(y, classes)] == y).all())


def first_classes(y: NDArray[Any], named: ArrayLike | None) -> NDArray[Any]:
    """Return the classes of a first batch: those named, which must hold all that came."""
    if named is None:
        return np.unique(y)
    classes = np.unique(np.asarray(named))
    strange = np.setdiff1d(y, classes)
    if len(strange):
        msg = f"The label {strange.tolist()[0]!r} in y is not in classes={classes.tolist()}."
        raise InputError(msg)
    return classes


def state_with_classes(
    state: State, classes: NDArray[Any], seen: NDArray[Any], rule: Rule
) -> tuple[State, NDArray[Any]]:
    """Return a copy of the state, and the classes, with those added that it has not met."""
    together = with_labels(classes, seen)
    if len(together) == len(classes):
        return copy.deepcopy(state), classes
    kept = np.searchsorted(together, classes)
    return state.with_classes(kept, len(together), pair_scale(rule)), together


def with_labels(classes: NDArray[Any], seen: NDArray[Any]) -> NDArray[Any]:
    """Return classes and labels together, sorted; raise InputError for labels of another type."""
    if len(classes) == 0 or len(seen) == 0:
        return np.unique(seen) if len(seen) else classes
    if not _comparable(seen, classes):
        raise InputError(
            f"The labels {seen.tolist()[:3]} are of another type than the classes learned so far, "
            f"{classes.tolist()[:3]}: give labels of one type."
        )
    return np.union1d(classes, seen)


def _comparable(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    return (y.dtype.kind in TEXT) == (classes.dtype.kind in TEXT)
