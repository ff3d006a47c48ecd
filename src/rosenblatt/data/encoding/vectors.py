"""Columns of vectors, such as embeddings: each is a block of dense features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, running_sums
from rosenblatt.data.encoding.features import FeatureColumn, Numbering, unusable
from rosenblatt.data.encoding.numbers import FIELDS, LARGEST, ColumnStatistics
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import column_seed, term_hash
from rosenblatt.wording import counted


def is_vector(kind: "pl.DataType") -> bool:
    """Return whether a column of this type holds lists of numbers."""
    return isinstance(kind, (pl.List, pl.Array)) and kind.inner.is_numeric()


def vector_width(series: "pl.Series") -> int:
    """Return the length that most vectors of a column have; 0 where there is none."""
    lengths = _lists(series).list.len().drop_nulls().to_numpy()
    return int(np.bincount(lengths[lengths > 0]).argmax()) if lengths.any() else 0


def _lists(series: Any) -> "pl.Series":
    """Return vectors as lists of float32, where they are, else of float64."""
    single = series.dtype.inner in (pl.Float32, pl.Float16)
    lists: pl.Series = series.cast(pl.List(pl.Float32 if single else pl.Float64))
    return lists


class VectorColumn:
    """A column of vectors of one length, which are centred and divided by one number.

    The squared length of a vector is then 1 on average, as that of a text, so that neither drowns
    the other; that the values of a vector stay in proportion keeps what their model made of them.
    """

    def __init__(self, column: FeatureColumn, numbering: Numbering) -> None:
        self.column, self.width = column, int(column.form)
        seed = column_seed("vector", column.title)
        names = [str(k).encode() for k in range(self.width)]
        numbers = [numbering.level(column.place, term_hash(name, seed), name, 0) for name in names]
        self.features = np.array(numbers, np.int32)
        if (self.features < 0).any():
            raise InputError(
                f"max_features must leave room for the {self.width} values of column"
                f" '{column.name}'."
            )

    def read(self, table: Table) -> tuple[NDArray[Any], dict[int, str]]:
        """Return the vectors of a table, a row of NaN for a missing one; by row what is wrong."""
        name, series = self.column.name, table.frame[self.column.name]
        if series.dtype == pl.Null:
            return np.full((len(series), self.width), np.nan, np.float32), {}
        if not is_vector(series.dtype):
            raise unusable(table.file, series, "not vectors")
        lists = _lists(series)
        lengths = lists.list.len().to_numpy()  # NaN for a missing vector, where there is one
        fit = lengths == self.width
        dtype = np.float32 if lists.dtype == pl.List(pl.Float32) else np.float64
        vectors = np.full((len(series), self.width), np.nan, dtype)
        if fit.any():
            vectors[fit] = lists.filter(fit).explode().to_numpy().reshape(-1, self.width)
        faults: dict[int, str] = {}
        for row in np.flatnonzero(~fit & ~np.isnan(lengths.astype(float))).tolist():
            n, whose = int(lengths[row]), f"the vector in column '{name}' has"
            held = f"{whose} {counted(n, 'value')}" if n else f"column '{name}' has no numbers"
            faults[row] = f"{held}; expected {self.width}"
        largest = min(LARGEST, float(np.finfo(vectors.dtype).max))
        odd = fit & ~(np.abs(vectors) <= vectors.dtype.type(largest)).all(axis=1)
        for row in np.flatnonzero(odd).tolist():
            is_large = np.isfinite(vectors[row]).all()
            what = f"beyond {LARGEST:g}" if is_large else "that is not a finite number"
            faults[row] = f"the vector in column '{name}' has a value {what}"
        return vectors, faults

    def part(self, vectors: NDArray[Any], *, owned: bool) -> Batch:
        """Return the values of vectors, none where one is missing; ``owned`` by their places."""
        present = ~missing_vectors(vectors)
        features = np.arange(self.width, dtype=np.int32) if owned else self.features
        values = vectors[present]
        indptr = running_sums(present * self.width)
        return Batch(values.ravel(), np.tile(features, len(values)), indptr)


def scaled_vectors(vectors: NDArray[Any], statistics: ColumnStatistics) -> NDArray[Any]:
    """Return vectors centred, and divided by the root of their mean squared length in training."""
    count, _, m2, *_ = statistics.values
    size = np.sqrt((m2 / np.maximum(count, 1)).sum()) or 1.0
    centred = vectors - statistics.mean.astype(vectors.dtype)
    return np.asarray(centred / vectors.dtype.type(size))


def vector_spread(vectors: NDArray[Any], statistics: ColumnStatistics) -> float:
    """Return the squared distances from the mean of training, whose own average 1, added up.

    Where all vectors of training were equal, an equal one counts 1, too.
    """
    scaled = scaled_vectors(vectors[~missing_vectors(vectors)].astype(np.float64), statistics)
    constant = not statistics.values[FIELDS.index("m2")].any()
    return float((scaled * scaled).sum()) + len(scaled) * constant


def missing_vectors(vectors: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a vector is missing."""
    found: NDArray[np.bool_] = np.isnan(vectors[:, :1]).any(axis=1)
    return found
