"""Smaller models of sequences: the average alone, its weights to eight bits, and fewer features."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.sequences.paths import EDGES
from rosenblatt.models.model import Model
from rosenblatt.models.pruning import file_size, largest_that_fits
from rosenblatt.models.sequences import SequenceModel
from rosenblatt.wording import size_text

BITS = 8  # of a weight: EWT's error stays as it is, and files are three tenths smaller


def pruned_tagger(model: Model, max_size: int) -> tuple[Model, int, int]:
    """Return a model of at most so many bytes, its size, and how many features were dropped.

    What training goes on from becomes the average, as if all passes had had it: the model still
    learns on. Features are dropped by how far their weights for two tags are apart.
    """
    size = file_size(model)
    if size <= max_size:
        return model, size, 0
    fitted = SequenceModel.of_model(model)
    weights = _rounded(fitted.state.average())
    first = len(fitted.tags.inner) + EDGES
    own = weights[first:-1]
    strength = own.max(axis=1, initial=0.0) - own.min(axis=1, initial=0.0)
    order = np.argsort(strength, kind="stable")

    def without(n: int) -> Model:
        kept = np.sort(order[n:])
        return _selected(fitted, weights, kept).as_model(model.options)

    least = without(len(order))
    smallest = file_size(least)
    if smallest > max_size:
        raise InputError(
            f"A file of {size_text(max_size)} is too small: without any feature the model takes "
            f"{size_text(smallest)}, and {size_text(size)} with all."
        )
    rounded = without(0)
    ends = (0, file_size(rounded)), (len(order), smallest)
    if ends[0][1] <= max_size:
        return rounded, ends[0][1], 0
    return largest_that_fits(without, *ends, least, max_size)


def _rounded(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers of few significant bits, which float32 holds and which deflate well."""
    fraction, exponent = np.frexp(weights)
    found: NDArray[np.float64] = np.ldexp(np.round(fraction * 2**BITS) / 2**BITS, exponent)
    found[np.abs(found) < np.finfo(np.float32).tiny] = 0.0
    return found


def _selected(
    fitted: SequenceModel, weights: NDArray[np.float64], kept: NDArray[np.int64]
) -> SequenceModel:
    """Return a model of some features with these weights; it no longer knows words of training."""
    first = len(fitted.tags.inner) + EDGES
    rows = np.concatenate([np.arange(first), first + kept, [len(weights) - 1]])
    state, w = fitted.state, np.ascontiguousarray(weights[rows])
    ledger = None if state.ledger is None else np.zeros_like(w)
    variance = None if state.variance is None else state.variance[rows]
    parts: dict[str, Any] = {"weights": w, "ledger": ledger, "variance": variance, "_average": None}
    facts = {"features": fitted.encoding.n_features - len(kept), "of": fitted.encoding.n_features}
    return replace(
        fitted,
        state=replace(state, **parts),
        encoding=fitted.encoding.selected(kept),
        calibration=None,
        training=fitted.training | {"pruned": facts},
        vocabulary=fitted.vocabulary[:0],
    )
