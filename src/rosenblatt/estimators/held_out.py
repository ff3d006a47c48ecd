"""Rows that ``fit`` holds out: those that the user names, and those that fit probabilities."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from rosenblatt.errors import InputError
from rosenblatt.estimators.validation import check_rows
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import join, matrix_of
from rosenblatt.models.bias import with_calibration
from rosenblatt.models.learner import generator_from
from rosenblatt.models.model import Model
from rosenblatt.tasks.calibration import fit_calibration
from rosenblatt.training.examples import Examples, known_numbers
from rosenblatt.training.holdout import Division, HoldOut, some_folds

ENOUGH = 1000  # held-out rows, for two numbers to be fitted to


class HeldOutRows(NamedTuple):
    """Rows with labels, or the group of each row that is learned from."""

    X: Any = None
    y: Any = None
    groups: Any = None

    @classmethod
    def checked(cls, X: Any, y: Any, groups: Any) -> "HeldOutRows":
        """Return what was given of the parameters of ``fit``."""
        if (X is None) != (y is None):
            msg = "fit needs X_val and y_val, or neither; got one of them."
            raise InputError(msg)
        if X is not None and groups is not None:
            msg = "X_val and groups both say which rows are held out: leave one of them out."
            raise InputError(msg)
        return cls(X, y, groups)

    def chosen(self, estimator: Any, examples: Examples, classes: NDArray[Any]) -> Examples:
        """Return examples that say which of their rows are held out; own rows are added to them."""
        if not (estimator.early_stopping or (estimator.calibrate and self.X is not None)):
            what = "groups are" if self.X is None else "X_val and y_val are"
            msg = f"{what} held out for early stopping: set early_stopping=True."
            raise InputError(msg)
        if self.groups is not None:
            share = float(estimator.validation_fraction)
            holdout = HoldOut.drawn(share, generator_from(estimator.random_state))
            groups = self.group_numbers(len(examples.targets))
            return replace(examples, holdout=holdout.of_groups(groups))
        rows, y = self.rows(estimator)
        known_numbers(y, classes, "y_val")
        if not estimator.early_stopping:
            return examples
        n_rows = len(examples.targets)
        weight = examples.weight
        weight = None if weight is None else np.concatenate([weight, np.ones(len(y))])
        own = estimator._encode(y, classes)  # noqa: SLF001  # ours
        targets = np.concatenate([examples.targets, own])
        holdout = HoldOut.all_but(np.arange(n_rows), n_rows + len(y))
        return Examples(join([examples.rows, rows]), targets, weight, holdout=holdout)

    def rows(self, estimator: Any) -> tuple[Rows, NDArray[Any]]:
        """Return own rows and their labels, checked."""
        if get_tags(estimator).input_tags.pairwise:
            msg = "X_val is not available with a precomputed kernel: give the kernel as a function."
            raise InputError(msg)
        return check_rows(estimator, self.X, self.y, reset=False)

    def group_numbers(self, n_rows: int) -> NDArray[np.uint64] | None:
        """Return the number of the group of each row; None where rows have none."""
        if self.groups is None:
            return None
        groups = np.asarray(self.groups)
        if groups.shape != (n_rows,):
            msg = f"groups must have one value per row, {n_rows} in all; got shape {groups.shape}."
            raise InputError(msg)
        return np.unique(groups, return_inverse=True)[1].astype(np.uint64)


def scores_apart(
    estimator: Any,
    X: Any,
    y: Any,  # of the rows that are learned from
    weight: NDArray[Any] | None,
    parts: Division,
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
    groups = None if held is None else held.group_numbers(len(y))
    every = np.searchsorted(classes, y)
    for parts in [] if scores else _divisions(every, weight, estimator, groups):
        other = {"calibrate": False}
        scores.append(scores_apart(estimator, X, y[parts.learned], weight, parts, other, **start))
        numbers.append(every[parts.tried])
    if not scores:
        msg = "calibrate needs at least two rows of a class, to hold one of them out; got one each."
        raise InputError(msg)
    method = _method(estimator, model)
    found = fit_calibration(np.concatenate(scores), np.concatenate(numbers), method)
    if method == "sigmoid":
        return with_calibration(model, found)
    return replace(model, calibration=found)


def _method(estimator: Any, model: Model) -> str:
    """Return how scores become probabilities: where no bias can move, one half is at 0."""
    asked = estimator.calibrate
    if asked not in (True, "sigmoid"):
        return str(asked)
    no_bias = not model.is_linear or not estimator.fit_intercept
    if len(model.classes) == 2 and not no_bias:
        return "sigmoid"
    return "temperature" if asked is True or len(model.classes) == 2 else "sigmoid"


def _divisions(
    numbers: NDArray[Any],
    weight: NDArray[Any] | None,
    estimator: Any,
    groups: NDArray[np.uint64] | None,
) -> list[Division]:
    """Return who learns and who is scored in turn; the only row of a class is always learned."""
    generator, every = generator_from(estimator.random_state), np.arange(len(numbers))
    if groups is not None:
        return some_folds(numbers, generator, groups)
    counted = every if weight is None else np.flatnonzero(weight)
    counts = np.bincount(numbers[counted])
    some = counted[counts[numbers[counted]] > 1]
    share = float(estimator.validation_fraction)
    if len(some) * share >= ENOUGH:
        divisions = [HoldOut.of_classes(numbers[some], share, generator).between(0, len(some))]
    else:
        divisions = some_folds(numbers[some], generator) if len(some) else []
    return [HoldOut.of_rows(some[one.tried], len(every)).division(every) for one in divisions]
