"""Which conjunctions occur in rows that come block by block."""

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.conjunctions.expansion import Sparse, blocks, combined
from rosenblatt.data.conjunctions.numbering import Hashed, Known, has_keys, keys


class Occurring:
    """Collects the conjunctions that occur, until they are too many to keep."""

    def __init__(self, n_features: int, degree: int, most: int) -> None:
        self._n_features = n_features
        self._degree = degree
        self._most = most
        self.tables: dict[int, NDArray[Any]] | None = None  # the keys of each degree, ascending
        if has_keys(n_features, degree):
            self.tables = {size: np.zeros(0, np.int64) for size in range(2, degree + 1)}

    def add(self, rows: Sparse) -> None:
        """Note what occurs in these rows."""
        tables = self.tables
        if tables is None:
            return
        rows = rows._replace(indptr=np.asarray(rows.indptr, np.int64))
        for ends in blocks(rows, self._degree):
            for size, found in combined(rows.block(*ends), self._degree):
                if len(tables[size]) < comb(self._n_features, size):  # else all are there
                    fresh = np.unique(keys(found.features, self._n_features))
                    tables[size] = np.union1d(tables[size], fresh)
            if sum(len(table) for table in tables.values()) > self._most:
                self.tables = None
                return

    def numbering(self) -> Known | Hashed:
        """Return a column for each that occurs, or where they are too many, for each hash."""
        if self.tables is not None:
            return Known(self.tables, self._n_features)
        return Hashed(self._most.bit_length() - 1, self._n_features)
