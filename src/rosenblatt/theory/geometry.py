"""The boundary w·x + b = 0 as a place: unit normal, projections, distances."""

from math import hypot
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import InputError


def unit_weights(w: ArrayLike, b: float = 0.0) -> tuple[NDArray[Any], float]:
    """Return (w, b) divided by ‖w‖: the same boundary, with w of length 1.

    >>> w, b = unit_weights([3, 4], 10)
    >>> w.tolist(), b
    ([0.6, 0.8], 2.0)
    """
    weights = np.asarray(w, np.float64)
    if weights.ndim != 1 or not (np.isfinite(weights).all() and np.isfinite(b)):
        msg = (
            f"w must be one vector of finite numbers and b a finite one; got shape {weights.shape}."
        )
        raise InputError(msg)
    length = hypot(*weights)  # without overflow or underflow on the way
    if length == 0:
        msg = "w is zero: it has no direction, and w·x + b = 0 is no boundary."
        raise InputError(msg)
    return weights / length, float(b) / length


def projections(X: Any, w: ArrayLike) -> NDArray[Any]:
    """Return how far each row lies along w: x·w/‖w‖. X may be dense or sparse.

    >>> projections([[3, 4], [6, 8]], [3, 4]).tolist()
    [5.0, 10.0]
    """
    unit, _ = unit_weights(w)
    rows = X if hasattr(X, "shape") else np.asarray(X, np.float64)
    if len(rows.shape) != 2 or rows.shape[1] != len(unit):
        msg = f"X must have {len(unit)} columns, as w has; got shape {tuple(rows.shape)}."
        raise InputError(msg)
    return np.asarray(rows @ unit)


def signed_distances(X: Any, w: ArrayLike, b: float = 0.0) -> NDArray[Any]:
    """Return the distance of each row from the boundary, positive where w·x + b is.

    >>> signed_distances([[0, 0], [3, 4]], [3, 4], 5).tolist()
    [1.0, 6.0]
    """
    _, bias = unit_weights(w, b)
    return projections(X, w) + bias


def nearest_to_origin(w: ArrayLike, b: float = 0.0) -> NDArray[Any]:
    """Return the point of the boundary that is nearest to the origin: −b·w/‖w‖².

    >>> nearest_to_origin([3, 4], 10).tolist()
    [-1.2, -1.6]
    """
    unit, bias = unit_weights(w, b)
    return -bias * unit + 0.0  # without a zero that prints as −0
