"""Models of tables as they are read and predict fastest: one shape a column, one map a pair."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding.grids import GridEncoding, MergedCells
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.weights import Weights

if TYPE_CHECKING:
    from rosenblatt.models.model import Model, Spread


def merged(model: "Model") -> "Model":
    """Return a model that gives the same scores, to rounding, by sums of one table for each term.

    All blocks of the same columns are one, whose weights are the sums of theirs. It is to be read
    and to predict; learning goes on from the model itself.
    """
    encoder = model.encoder
    if not isinstance(encoder, GridEncoding) or encoder.is_merged or not model.has_weights:
        return model
    cells = encoder.merged()
    variance = None if model.variance is None else cells.sums(np.asarray(model.variance))
    weights = cells.sums(model.deciding_weights)
    machine = Weights.of_arrays(
        model.task, weights, variance=variance, count=model.count, constant=model.constant
    )
    return replace(
        model,
        machine=machine,
        stored_encoding=StoredEncoding.of(cells.encoding),
        spread=None if model.spread is None else _spread(model.spread, cells),
    )


def _spread(spread: "Spread", cells: MergedCells) -> "Spread":
    """Return how the cells of the finest grids spread: each has its own rows there."""
    low, deviation = (cells.finest(np.asarray(one)) for one in (spread.low, spread.deviation))
    high = cells.finest(np.asarray(spread.high), 1.0)
    return replace(spread, low=low, high=high, deviation=deviation)


def merged_row(
    model: "Model", indices: NDArray[Any], values: NDArray[Any]
) -> "tuple[Model, NDArray[Any], NDArray[Any]]":
    """Return the merged model and the features and values that a row has there."""
    found, encoder = model.merged, model.encoder
    if found is model or not isinstance(encoder, GridEncoding):
        return model, indices, values
    n = encoder.inner.n_features
    own = indices < n
    ends = np.array([0, np.count_nonzero(own)])
    row: Any = found.encoder
    row = row.expand(Batch(values[own], indices[own].astype(np.int32), ends, n_features=n))
    return found, row.indices, row.data


def with_lines(
    model: "Model", at: NDArray[Any], x: NDArray[Any], w: NDArray[Any], unsure: Any
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Any]:
    """Return the features of a row with their values, weights and deviations: one a column.

    What a number adds by itself goes to its range, whose value is 1.
    """
    levels = _levels_beside(model, at)
    lines = np.flatnonzero(levels >= 0)
    within, apart = levels[lines], levels < 0
    w = w.copy()
    w[within] += w[lines] * x[lines]
    if unsure is not None:
        unsure = unsure.copy()
        unsure[within] = np.hypot(unsure[within], unsure[lines] * x[lines])
        unsure = unsure[apart]
    return at[apart], x[apart], w[np.append(apart, [True])], unsure


def _levels_beside(model: "Model", features: NDArray[Any]) -> NDArray[np.intp]:
    """Return for each number of a row where its range stands among the features, else −1."""
    encoder, found = model.encoder, np.full(len(features), -1, np.intp)
    if not isinstance(encoder, GridEncoding):
        return found
    inner, owners = encoder.inner, encoder.grids.owners
    numeric = [one.place for one in inner.features if one.role == "numeric"]
    places = {
        int(owners[feature]): k
        for k, feature in enumerate(features.tolist())
        if inner.n_numeric <= feature < inner.n_features
    }
    for k, feature in enumerate(features.tolist()):
        if feature < inner.n_numeric:
            found[k] = places.get(numeric[feature], -1)
    return found
