"""Errors after every pass of a training, for the curves that show them."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators import Perceptron
from rosenblatt.models.parameters import generator_from
from rosenblatt.plots.drawn_rows import DrawnRows, rows_of_data
from rosenblatt.training.order import Order, row_numbers

HELD_OUT = 4  # one row in so many is put aside where there are no test rows


class Split:
    """Rows to learn from and rows to judge by."""

    def __init__(self, rows: DrawnRows, test: DrawnRows | None, seed: int) -> None:
        if test is not None:
            self.X, self.y, self.X_test, self.y_test = rows.X, rows.labels, test.X, test.labels
            return
        order = np.random.default_rng(seed).permutation(len(rows.numbers))
        n_test = len(order) // HELD_OUT
        aside, kept = np.sort(order[:n_test]), np.sort(order[n_test:])
        if not n_test or len(np.unique(rows.numbers[kept])) < 2:
            msg = (
                f"{len(order)} rows are too few to put a quarter aside: give more, or test rows of "
                "their own."
            )
            raise InputError(msg)
        self.X, self.y = rows.X[kept], rows.labels[kept]
        self.X_test, self.y_test = rows.X[aside], rows.labels[aside]


def checked(X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[DrawnRows, DrawnRows | None]:
    """Return training and test rows that belong together."""
    if (X_test is None) != (y_test is None):
        msg = "X_test and y_test go together: give both, or neither to put a quarter aside."
        raise InputError(msg)
    rows = rows_of_data(X, y)
    if X_test is None:
        return rows, None
    from rosenblatt.plots.drawn_rows import rows_of_estimator

    return rows, rows_of_estimator(_Known(rows), X_test, y_test)


class _Known:
    """What test rows have to agree with."""

    def __init__(self, rows: DrawnRows) -> None:
        self.classes_, self.n_features_in_ = np.array(rows.classes), rows.n_features


def errors_by_pass(
    estimator: Any, split: Split, max_iter: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the shares of training and test rows that are wrong after each pass of a new fit.

    The weights after pass k are those of fit with ``max_iter=k``: each pass is one ``partial_fit``
    on the rows in the order that fit would take them in. What cannot learn so is fitted k times.
    """
    from sklearn.base import clone

    errors = np.empty((2, max_iter))
    learner = clone(estimator)
    online = hasattr(learner, "partial_fit")
    shuffle, seed = getattr(learner, "shuffle", True), getattr(learner, "random_state", 0)
    order = Order(row_numbers(len(split.y)), shuffle, generator_from(seed))
    for k in range(max_iter):
        if online:
            numbers = order.next()
            learner.partial_fit(split.X[numbers], split.y[numbers], classes=np.unique(split.y))
        else:
            learner = clone(estimator).set_params(max_iter=k + 1)
            with warnings.catch_warnings():  # that it has not converged is what is being watched
                warnings.simplefilter("ignore")
                learner.fit(split.X, split.y)
        errors[:, k] = [
            np.mean(learner.predict(X) != y)
            for X, y in ((split.X, split.y), (split.X_test, split.y_test))
        ]
    return errors[0], errors[1]


def learner_or_default(estimator: Any) -> Any:
    """Return the estimator whose curve is drawn, which is a perceptron unless one is given."""
    if estimator is None:
        return Perceptron()
    if getattr(estimator, "early_stopping", False):
        msg = "A curve over all passes needs early_stopping=False: nothing is to stop it."
        raise InputError(msg)
    return estimator


def check_passes(max_iter: Any) -> int:
    """Return a number of passes."""
    if not isinstance(max_iter, int | np.integer) or isinstance(max_iter, bool) or max_iter < 1:
        msg = f"max_iter must be an integer of at least 1; got {max_iter!r}."
        raise InputError(msg)
    return int(max_iter)
