"""The list of a training's mistakes, with the rows that made them, in a model file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.rows import CSR
from rosenblatt.provenance import Provenance, provenance_of
from rosenblatt.store.model import Model
from rosenblatt.training.chosen_rows import chosen_rows
from rosenblatt.training.mistakes import Mistakes

PREFIX = "mistakes."
LOG_TYPES = (np.int64, np.int32, np.int32, np.float64, np.int64)


def recorded_arrays(mistakes: Mistakes, rows: CSR) -> dict[str, NDArray[Any]]:
    """Return the updates, and once each row that made one, under names for a model file."""
    numbers, where = np.unique(mistakes.updates.row, return_inverse=True)
    taught = chosen_rows(rows, numbers)
    log = mistakes.updates._replace(row=where.astype(np.int64))
    kept = {name: getattr(log, name) for name in Log._fields}
    kept |= {
        "numbers": numbers,
        "data": np.asarray(taught.data, np.float64),
        "indices": np.asarray(taught.indices, np.int32),
        "indptr": taught.indptr,
    }
    return {f"{PREFIX}{name}": array for name, array in kept.items()}


def recorded_provenance(
    model: Model, indices: NDArray[Any], values: NDArray[Any], scores: NDArray[Any], winner: int
) -> Provenance:
    """Return which training rows decide a row of these features, by their numbers in training.

    Raises
    ------
    InputError
        Where the model does not hold its mistakes, or holds what cannot be them.
    """
    if f"{PREFIX}row" not in model.arrays:
        msg = "The model does not hold its mistakes: train it with --record-mistakes."
        raise InputError(msg)
    rows, log, numbers = _read(model)
    known = indices < model.n_features
    x = np.zeros(model.n_features)
    x[indices[known]] = values[known]
    found = provenance_of(
        Mistakes(log, model.count),
        rows,
        x,
        model.classes,
        averaged=model.ledger is not None,
        end=model.count,
        activation=scores,
        winner=winner,
    )
    found.terms[:] = [term._replace(row=int(numbers[term.row])) for term in found.terms]
    return found


def _read(model: Model) -> tuple[CSR, Log, NDArray[Any]]:
    """Return what a file, which may be anybody's, says the mistakes were."""
    try:
        kept = {name: model.arrays[f"{PREFIX}{name}"] for name in (*Log._fields, "numbers")}
        data, indices, indptr = (
            model.arrays[f"{PREFIX}{name}"] for name in ("data", "indices", "indptr")
        )
        log = Log(*(kept[name] for name in Log._fields))
        n_rows, n_classes = len(kept["numbers"]), len(model.classes)
        low, high = (-1, 1) if n_classes == 2 else (0, n_classes - 1)
        arrays = (*log, data, indices, indptr, kept["numbers"])
        types = zip(arrays, (*LOG_TYPES, np.float64, np.int32, np.int64, np.int64), strict=True)
        fits = (
            all(array.ndim == 1 and array.dtype == kind for array, kind in types)
            and len({len(column) for column in log}) == 1
            and len(indptr) == n_rows + 1
            and len(data) == len(indices) == int(indptr[-1])
            and int(indptr[0]) == 0
            and bool((np.diff(indptr) >= 0).all())
            and _within(indices, 0, model.n_features - 1)
            and _within(log.row, 0, n_rows - 1)
            and _within(log.label, low, high)
            and _within(log.rival, low, high)
        )
    except KeyError:
        fits = False
    if not fits:
        msg = "The list of mistakes in the model is damaged: train it again."
        raise InputError(msg)
    constant = 1.0 if model.options.get("fit_intercept", True) else 0.0
    return CSR(data, indices, indptr, model.n_features, constant), log, kept["numbers"]


def _within(values: NDArray[Any], low: int, high: int) -> bool:
    return not len(values) or bool(low <= values.min() and values.max() <= high)
