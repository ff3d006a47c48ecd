"""Probabilities for an estimator, fitted to the scores of rows that were not learned from."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from rosenblatt.errors import InputError
from rosenblatt.estimators.held_out import HeldOutRows
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.models.calibration import fit_calibration
from rosenblatt.models.learner import generator_from
from rosenblatt.models.model import KERNEL_PREFIX, Model
from rosenblatt.models.search import splits

N_FOLDS = 5
ENOUGH = 1000  # held-out rows, for two numbers to be fitted to


def scores_apart(
    estimator: Any,
    X: Any,
    y: Any,  # of the rows that are learned from
    weight: NDArray[Any] | None,
    parts: tuple[NDArray[Any], NDArray[Any]],  # rows that are learned from, rows that are scored
    changed: Mapping[str, Any],
    **start: Any,
) -> NDArray[Any]:
    """Return the scores of rows by an estimator of the same parameters that has not seen them.

    But for those that are ``changed``.
    """
    rest, tried = parts
    quiet = {"observers": None, "verbose": False}
    other = type(estimator)(**estimator.get_params(deep=False) | quiet | changed)
    pairwise = get_tags(estimator).input_tags.pairwise
    given = {"sample_weight": None if weight is None else weight[rest], **start}
    other._warns = False  # noqa: SLF001  # ours; filters of warnings are shared by all threads
    other.fit(X[np.ix_(rest, rest)] if pairwise else X[rest], y, **given)
    scores: NDArray[Any] = other.decision_function(X[np.ix_(tried, rest)] if pairwise else X[tried])
    return scores


def with_probabilities(
    estimator: Any,
    rows: Rows,
    y: NDArray[Any],
    weight: NDArray[Any] | None,
    held: HeldOutRows | None = None,
    **start: Any,
) -> Model:
    """Return the model of a fitted estimator with probabilities of its classes.

    Estimators of the same parameters learn from a part of the rows and score the others: five folds
    in turn, or a single part of ``validation_fraction`` where that is a thousand rows or more. To
    these scores the probabilities are fitted; the weights stay those of all rows. Of two classes
    the bias moves to where both are equally probable. Rows that the user holds out are scored by
    the estimator itself.
    """
    if estimator.warm_start:
        msg = "calibrate needs all rows in one fit: set warm_start=False or calibrate=False."
        raise InputError(msg)
    model: Model = estimator._model  # noqa: SLF001  # ours
    X, classes = matrix_of(rows), model.labels
    scores, numbers = [], []
    if held is not None and held.X is not None:
        own, labels = held.rows(estimator)
        scores = [estimator.decision_function(matrix_of(own))]
        numbers = [np.searchsorted(classes, labels)]
    for held_out in [] if scores else _held_out(y, weight, estimator, held):
        learned = np.ones(len(y), bool)
        learned[held_out] = False
        rest = np.flatnonzero(learned)
        other = {"calibrate": False}
        scores.append(scores_apart(estimator, X, y[rest], weight, (rest, held_out), other, **start))
        numbers.append(np.searchsorted(classes, y[held_out]))
    if not scores:
        msg = "calibrate needs at least two rows of a class, to hold one of them out; got one each."
        raise InputError(msg)
    method = _method(estimator, model)
    found = fit_calibration(np.concatenate(scores), np.concatenate(numbers), method)
    if method == "sigmoid":
        return model.with_calibration(found)
    return replace(model, calibration=found)


def _method(estimator: Any, model: Model) -> str:
    """Return how scores become probabilities: where no bias can move, one half is at 0."""
    asked = estimator.calibrate
    if asked not in (True, "sigmoid"):
        return str(asked)
    of_kernels = any(name.startswith(KERNEL_PREFIX) for name in model.arrays) or model.machine
    if len(model.classes) == 2 and estimator.fit_intercept and not (model.voted or of_kernels):
        return "sigmoid"
    return "temperature" if asked is True or len(model.classes) == 2 else "sigmoid"


def _held_out(
    y: NDArray[Any], weight: NDArray[Any] | None, estimator: Any, held: HeldOutRows | None
) -> list[NDArray[np.intp]]:
    """Return the numbers of the rows of each fold; the only row of a class is in none."""
    if held is not None and held.groups is not None:
        groups = np.unique(held.groups, return_inverse=True)[1].astype(np.uint64)
        n_folds = min(N_FOLDS, int(groups.max()) + 1)
        seed = generator_from(estimator.random_state)
        return [tried for _, tried in splits(y, n_folds, seed, groups)]
    counted = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    generator = generator_from(estimator.random_state)
    share = float(estimator.validation_fraction)
    enough = len(counted) * share >= ENOUGH
    fold = np.full(len(y), -1)
    for label in np.unique(y[counted]):
        own = generator.permutation(counted[y[counted] == label])
        if len(own) < 2:
            continue
        if enough:
            fold[own[: max(1, int(share * len(own)))]] = 0
        else:
            fold[own] = np.arange(len(own)) % N_FOLDS
    return [np.flatnonzero(fold == k) for k in range(fold.max() + 1)]
