"""Dask arrays and data frames: their blocks as parts, and predictions where and when wanted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.distributed.shards import RowPart, Survey
from rosenblatt.errors import InputError
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.estimators.validation import DTYPES
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import as_rows, canonical, place_of, stored_values
from rosenblatt.tasks.leads import numbers_of

if TYPE_CHECKING:
    from distributed import Client


def is_collection(X: Any) -> bool:
    """Return whether something is a Dask array, data frame or series."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def blocks_of(client: "Client", X: Any, y: Any, constant: float) -> Any:
    """Begin to compute the blocks of collections, checked, in the workers."""
    import dask

    for name, value in (("X", X), ("y", y)):
        if not is_collection(value):
            raise InputError(
                f"{name} must be a Dask array or data frame; got a {type(value).__name__}: the "
                "estimators without Dask in their name take what is in memory."
            )
    if getattr(X, "ndim", 2) != 2:
        raise InputError(f"X must have rows and columns; got {X.ndim} dimensions.")
    checked = dask.delayed(checked_block, pure=False)
    pairs = zip(row_blocks(X), row_blocks(_aligned(y, X)), strict=True)
    delayed = [checked(*pair, number, constant) for number, pair in enumerate(pairs)]
    return client.compute(delayed)


def row_blocks(X: Any) -> Any:
    """Return a delayed block for each group of rows."""
    if hasattr(X, "rechunk") and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return np.asarray(X.to_delayed(), object).reshape(-1).tolist()


def feature_names(X: Any) -> NDArray[Any] | None:
    """Return the names of the columns of a data frame, where all are strings."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return np.asarray(list(names), object)


def checked_block(X: Any, y: Any, number: int, constant: float) -> RowPart:
    """Return a block as rows, or say what is wrong with it; runs in a worker."""
    try:
        rows = _rows(X, constant)
    except (TypeError, ValueError) as error:
        raise InputError(f"Block {number} of X: {error}") from None
    values, names = stored_values(rows), feature_names(X)
    finite = np.isfinite(values)
    if not finite.all():
        place = int(finite.argmin())
        row, feature = place_of(rows, place)
        name = "" if names is None else f" ({names[feature]!r})"
        raise InputError(
            f"Block {number} of X: row {row}, feature {feature}{name}, is {values[place]}: fill it "
            "in or drop the row."
        )
    labels = np.asarray(y).reshape(-1)
    if len(labels) != rows.shape[0]:
        raise InputError(
            f"Block {number} of X has {rows.shape[0]} rows, but that of y has {len(labels)}: "
            "divide both alike."
        )
    return RowPart(rows, labels)


def _rows(X: Any, constant: float) -> Rows:
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"it must have rows and columns; got {X.ndim} dimensions.")
    X = X.astype(X.dtype if X.dtype in DTYPES else np.float64, copy=False)
    if sparse.issparse(X):
        X.check_format(full_check=True)  # an index beyond the columns would write beyond weights
        X = canonical(X)
    return as_rows(X, constant)


def survey(block: RowPart) -> Survey:
    """Return shape, classes and class counts of a block; runs in a worker."""
    rows, labels, _ = block
    if labels.dtype.kind == "O" and any(label is None or label != label for label in labels):  # noqa: PLR0124  # NaN
        raise InputError("A label in y is missing: leave the row out.")
    found, counts = np.unique(labels, return_counts=True)
    return Survey(*rows.shape, found, counts, rows.sparse)


def numbered_block(block: RowPart, classes: NDArray[Any]) -> RowPart:
    """Return a block with the numbers of its classes; runs in a worker."""
    return block._replace(labels=numbers_of(block.labels, classes).astype(np.int32))


def common_classes(surveys: Sequence[Survey]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return classes and class counts of all blocks; raise unless the blocks fit together."""
    filled = [one for one in surveys if one.n_rows]
    if not filled:
        raise InputError("X has no rows: there is nothing to learn from.")
    shapes = [f"{one.n_features} {'sparse' if one.sparse else 'dense'} features" for one in surveys]
    used = [number for number, one in enumerate(surveys) if one.n_rows]
    first = shapes[used[0]]
    for number in used:
        if (shape := shapes[number]) != first:
            raise InputError(f"Block {number} of X has {shape}, but an earlier one {first}.")
    labels = np.concatenate([one.classes for one in filled])
    classes, places = np.unique(labels, return_inverse=True)
    counts = np.zeros(len(classes), np.int64)
    np.add.at(counts, places, np.concatenate([one.counts for one in filled]))
    if len(classes) < 2:
        raise InputError(
            f"y must hold at least two classes; got one, {classes.tolist()[0]!r}, in all "
            f"{counts.sum():,} rows."
        )
    return classes, counts


def _aligned(y: Any, X: Any) -> Any:
    """Return y divided as X is, where it is known how that is divided."""
    if hasattr(y, "rechunk") and y.ndim == 2 and y.shape[1] == 1:
        y = y.reshape(-1)
    chunked = hasattr(y, "rechunk") and hasattr(X, "chunks")
    if chunked and not np.isnan([*X.chunks[0], *y.chunks[0]]).any():
        if sum(X.chunks[0]) != sum(y.chunks[0]):
            raise InputError(f"X has {sum(X.chunks[0]):,} rows, but y has {sum(y.chunks[0]):,}.")
        return y.rechunk((X.chunks[0],))
    counts = [c.numblocks[0] if hasattr(c, "numblocks") else c.npartitions for c in (X, y)]
    if counts[0] != counts[1]:
        msg = f"X has {counts[0]} blocks of rows, but y has {counts[1]}: divide both alike."
        raise InputError(msg)
    return y


def predictions(X: Any, plain: OnlineClassifier, method: str) -> Any:
    """Return what a method predicts; of a collection, as a Dask array, series or data frame."""
    if not is_collection(X):
        return getattr(plain, method)(X)
    import dask

    # The weights are one task of the graph, not one copy for each block.
    shared, meta = dask.delayed(plain, traverse=False), _nothing(plain, method)
    if hasattr(X, "columns"):
        framed = _frame_part(X._meta, plain, method)  # noqa: SLF001  # as Dask has it documented
        return X.map_partitions(_frame_part, shared, method, meta=framed)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    width = meta.shape[1:]
    shape: dict[str, Any] = {"chunks": (X.chunks[0], width)} if width else {"drop_axis": 1}
    return X.map_blocks(predictions, shared, method, dtype=meta.dtype, meta=meta, **shape)


def _nothing(plain: OnlineClassifier, method: str) -> NDArray[Any]:
    """Return what a method predicts for no rows."""
    if method == "predict":
        return np.zeros(0, plain.classes_.dtype)
    n_classes = len(plain.classes_)
    return np.zeros(0 if n_classes == 2 else (0, n_classes))


def _frame_part(X: Any, plain: OnlineClassifier, method: str) -> Any:
    """Return what a method predicts for a part of a data frame, which may have no rows."""
    import pandas as pd

    values = getattr(plain, method)(X) if len(X) else _nothing(plain, method)
    if values.ndim == 1:
        return pd.Series(values, X.index)
    return pd.DataFrame(values, X.index, plain.classes_.tolist())
