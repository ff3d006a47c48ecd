"""Predictions on Dask collections, computed where and when they are wanted."""

from typing import Any

import numpy as np

from rosenblatt.estimators.base import OnlineClassifier


def lazy_predictions(plain: OnlineClassifier, X: Any) -> Any:
    """Return the labels of a collection as a Dask array or series."""
    return _lazy(plain, X, "predict", (), plain.classes_.dtype)


def lazy_decisions(plain: OnlineClassifier, X: Any) -> Any:
    """Return the activations of a collection as a Dask array, series or data frame."""
    n_classes = len(plain.classes_)
    return _lazy(plain, X, "decision_function", () if n_classes == 2 else (n_classes,), float)


def _lazy(plain: OnlineClassifier, X: Any, method: str, width: tuple[int, ...], dtype: Any) -> Any:
    import dask

    # The weights are one task of the graph, not one copy for each block.
    shared = dask.delayed(plain, traverse=False)
    if hasattr(X, "columns"):
        meta = _framed(np.zeros((0, *width), dtype), X._meta.index, plain)  # noqa: SLF001
        return X.map_partitions(_frame_part, shared, method, meta=meta)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    meta = np.zeros((0, *width), dtype)
    shape: dict[str, Any] = {"chunks": (X.chunks[0], width)} if width else {"drop_axis": 1}
    return X.map_blocks(_block, shared, method, dtype=dtype, meta=meta, **shape)


def _block(X: Any, plain: OnlineClassifier, method: str) -> Any:
    return getattr(plain, method)(X)


def _frame_part(X: Any, plain: OnlineClassifier, method: str) -> Any:
    if not len(X):
        width = (len(plain.classes_),) if method != "predict" and len(plain.classes_) > 2 else ()
        dtype = plain.classes_.dtype if method == "predict" else float
        return _framed(np.zeros((0, *width), dtype), X.index, plain)
    return _framed(getattr(plain, method)(X), X.index, plain)


def _framed(values: Any, index: Any, plain: OnlineClassifier) -> Any:
    import pandas as pd

    if values.ndim == 1:
        return pd.Series(values, index)
    return pd.DataFrame(values, index, plain.classes_.tolist())
