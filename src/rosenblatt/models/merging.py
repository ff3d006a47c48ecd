"""Models of tables as they are read and predict fastest: one shape a column, one map a pair."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.data.encoding.grids import GridEncoding, MergedCells
from rosenblatt.models.weights import Weights

if TYPE_CHECKING:
    from rosenblatt.models.model import Model, Spread


def merged(model: "Model") -> "Model":
    """Return a model that gives the same scores, to rounding, by sums of one table for each term.

    All blocks of the same columns are one, whose weights are the sums of theirs. It is to be read
    and to predict; learning goes on from the model itself.
    """
    encoder = model.encoder
    if not isinstance(encoder, GridEncoding) or not encoder.blocks or not model.has_weights:
        return model
    cells = encoder.merged()
    variance = None if model.variance is None else cells.sums(np.asarray(model.variance))
    weights = cells.sums(model.deciding_weights)
    machine = Weights.of_arrays(
        model.task, weights, variance=variance, count=model.count, constant=model.constant
    )
    found = replace(
        model,
        machine=machine,
        encoding=cells.encoding.as_json(),
        encoding_arrays={},
        spread=None if model.spread is None else _spread(model.spread, cells),
    )
    found.encoder = cells.encoding
    return found


def _spread(spread: "Spread", cells: MergedCells) -> "Spread":
    """Return how the cells of the finest grids spread: each has its own rows there."""
    low, high, deviation = (
        cells.finest(np.asarray(one)) for one in (spread.low, spread.high, spread.deviation)
    )
    return replace(spread, low=low, high=high, deviation=deviation)
