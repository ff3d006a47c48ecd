"""The margin of given weights on given rows (CIML, eq. 4.8)."""

from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import InputError
from rosenblatt.tasks.classes import check_count
from rosenblatt.tasks.leads import leads_of
from rosenblatt.theory.labelled_rows import LabelledRows, check_labelled_rows
from rosenblatt.training.examples import known_numbers


def margin(X: Any, y: Any, w: Any, b: ArrayLike | None = None, *, normalize: bool = False) -> float:
    """Return the margin of (w, b), or of a fitted model, on these rows.

    That is the least y·(w·x + b), where y is +1 for the second class in sorted order and −1 for the
    first; −inf where a row is misclassified or on the boundary. For K classes it is the least lead
    of the true class over its best rival.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
    w : array of shape (n_features,), or (K, n_features) for K > 2 classes; or a fitted estimator
        An estimator says what its classes are; otherwise they are those in y.
    b : float, or array of shape (K,), default 0
    normalize : bool, default False
        Divide by ‖w‖, so that the margin is a distance (for K classes by the Frobenius norm).

    Returns
    -------
    float

    Examples
    --------
    >>> from rosenblatt.theory.margin import margin
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> margin(X, y, [2, 2], -3)
    1.0
    >>> round(margin(X, y, [2, 2], -3, normalize=True), 6)
    0.353553
    >>> margin(X, y, [1, 1], 0)
    -inf
    """
    least = float(row_margins(X, y, w, b, normalize=normalize).min())
    return least if least > 0 else -inf


def row_margins(
    X: Any, y: Any, w: Any, b: ArrayLike | None = None, *, normalize: bool = False
) -> NDArray[Any]:
    """Return the margin of each row, negative where it is misclassified; see ``margin``."""
    if hasattr(w, "decision_function"):
        if b is not None:
            raise InputError("b is part of a fitted model: give weights and b, or the model alone.")
        scores, labels = np.asarray(w.decision_function(X)), np.asarray(y)
        check_count(labels, len(scores))
        scores = scores.reshape(len(scores), -1)
        numbers, classes, W = known_numbers(labels, w.classes_), w.classes_, w.coef_
    else:
        rows = check_labelled_rows(X, y)
        W, biases = _check_weights(rows, w, b)
        scores, numbers, classes = rows.products(W.T) + biases, rows.numbers, rows.classes
    two = len(classes) == 2
    leads: NDArray[Any]
    leads = (2.0 * numbers - 1.0) * scores[:, 0] if two else leads_of(scores, numbers)[0]
    if not normalize:
        return leads
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(leads / float(np.linalg.norm(W)), nan=0.0)


def _check_weights(
    rows: LabelledRows, w: Any, b: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return w as (1 or K, n_features) and b as (1 or K,)."""
    count = 1 if len(rows.classes) == 2 else len(rows.classes)
    shape = (rows.n_features,) if count == 1 else (count, rows.n_features)
    W = np.asarray(w, np.float64)
    if W.shape not in {shape, (count, rows.n_features)}:
        raise InputError(f"w must have shape {shape}; got {W.shape}.")
    biases = np.zeros(count) if b is None else np.asarray(b, np.float64)
    if biases.size != count:
        wanted = "one number" if count == 1 else f"{count} numbers, one a class"
        raise InputError(f"b must be {wanted}; got shape {biases.shape}.")
    for name, values in (("w", W), ("b", biases)):
        if not np.isfinite(values).all():
            raise InputError(f"{name} must be finite numbers.")
    return W.reshape(count, rows.n_features), biases.reshape(count)
