"""The list of a training's mistakes, with the rows that made them, in a model file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.arrays import PREFIX, list_arrays, read_list
from rosenblatt.mistakes.provenance import Provenance, provenance_of
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.model import Model


def recorded_arrays(mistakes: Mistakes, rows: Rows) -> dict[str, NDArray[Any]]:
    """Return the updates, and once each row that made one, under names for a model file."""
    return list_arrays(Mistakes.of_rows(mistakes.updates, rows, mistakes.end))


def is_recorded(model: Model) -> bool:
    """Return whether a model holds its mistakes."""
    return f"{PREFIX}row" in model.arrays


def recorded_mistakes(model: Model) -> Mistakes:
    """Return the list that a model holds, with the rows that made the updates, checked."""
    shape = len(model.classes), model.n_features, model.constant
    return read_list(model.arrays, *shape, model.count)


def recorded_provenance(
    model: Model, indices: NDArray[Any], values: NDArray[Any], scores: NDArray[Any], winner: int
) -> Provenance:
    """Return which training rows decide a row of these features, by their numbers in training.

    Raises
    ------
    InputError
        Where the model does not hold its mistakes, or holds what cannot be them.
    """
    if not is_recorded(model):
        msg = Sentence(
            "The model does not hold its mistakes: train it with ",
            *(Parameter("record_mistakes", value=True), "."),
        )
        raise InputError(msg)
    known = indices < model.n_features
    x = np.zeros(model.n_features)
    x[indices[known]] = values[known]
    return provenance_of(
        recorded_mistakes(model),
        None,
        x,
        model.classes,
        averaged=model.ledger is not None,
        end=model.count,
        activation=scores,
        winner=winner,
    )
