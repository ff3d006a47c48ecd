"""A witness: weights that separate the rows, from whatever has them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.training.state import State


def witness_vector(witness: Any, state: State) -> NDArray[Any]:
    """Return a witness by class with the bias last, (1, d + 1) for two classes."""
    w, b = _parts(witness)
    shape = state.by_class(state.weights).shape
    weights, bias = np.asarray(w, np.float64), np.asarray(b, np.float64)
    if weights.size != shape[0] * (shape[1] - 1) or bias.size != shape[0]:
        said = (
            f"({shape[1] - 1},) and ()"
            if shape[0] == 1
            else f"{shape[0], shape[1] - 1} and {shape[:1]}"
        )
        msg = (
            f"The witness must be weights and bias of the shapes {said}; got {weights.shape} and "
            f"{bias.shape}."
        )
        raise InputError(msg)
    together = np.column_stack([weights.reshape(shape[0], -1), bias.reshape(-1)])
    if not np.isfinite(together).all():
        msg = "The witness must be finite numbers."
        raise InputError(msg)
    return together


def _parts(witness: Any) -> tuple[Any, Any]:
    for names in (("w", "b"), ("coef_", "intercept_")):
        if all(hasattr(witness, name) for name in names):
            w, b = (getattr(witness, name) for name in names)
            break
    else:
        try:
            w, b = witness
        except (TypeError, ValueError):
            w = b = None
    if w is None or b is None:
        msg = (
            "The witness must be a pair (w, b), or have w and b as the verdict on separable rows "
            f"has; got {witness!r:.80}."
        )
        raise InputError(msg)
    return w, b
