"""The weights of linear estimators, and what they are in the plane of a picture."""

from math import hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators import VotedPerceptron
from rosenblatt.plots.drawn_rows import DrawnRows

OTHERWISE = "draw its regions (RegionsDisplay, or the kind regions of the command)"


class Linear(NamedTuple):
    """Weights: w (d,) and b a number for two classes; w (K, d) and b (K,) for K."""

    w: NDArray[Any]
    b: Any


def linear_of(estimator: Any) -> Linear | None:
    """Return the weights of a fitted estimator, or None where they do not decide.

    A voted perceptron has the weights of its average; its votes are no linear function.
    """
    if isinstance(estimator, VotedPerceptron):
        return None
    if not (hasattr(estimator, "coef_") and hasattr(estimator, "intercept_")):
        return None
    w = np.asarray(estimator.coef_, np.float64)
    b = np.asarray(estimator.intercept_, np.float64)
    if w.ndim == 1 or len(w) == 1:
        return Linear(w.reshape(-1), float(b.reshape(-1)[0]))
    return Linear(w, np.broadcast_to(b, len(w)))


def two_class_weights(estimator: Any) -> Linear:
    """Return the weights of a linear estimator of two classes."""
    name = type(estimator).__name__
    weights = linear_of(estimator)
    if weights is None:
        msg = f"{name} has no weight vector that decides: {OTHERWISE}."
        raise InputError(msg)
    if weights.w.ndim > 1:
        msg = (
            f"This picture shows one weight vector, and {name} has {len(weights.w)}, one a class: "
            f"{OTHERWISE}."
        )
        raise InputError(msg)
    return weights


def margins_of(rows: DrawnRows, weights: Linear) -> NDArray[Any]:
    """Return y·(w·x + b) of each row."""
    return np.asarray(rows.sides * (rows.X @ weights.w + weights.b))


def unit(w: NDArray[Any], b: float) -> tuple[NDArray[Any], float] | None:
    """Return (w, b) divided by ‖w‖; None where w is 0, or so small beside b that it might be."""
    length = hypot(*w)
    if length == 0 or not np.isfinite(b / length):
        return None
    return w / length, b / length
