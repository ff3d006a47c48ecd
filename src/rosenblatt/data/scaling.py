"""Numbered features that are shifted and scaled before they meet the weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.conjunctions import OuterEncoding
from rosenblatt.data.svmlight import SvmlightEncoding

VERSION = 1
ARRAYS = ("centre", "divisor")


class ScaledEncoding(OuterEncoding):
    """Each feature as (x − centre)/divisor, as the scalers of scikit-learn make it of an array.

    A feature that a sparse row leaves out is 0 before it is scaled.
    """

    kind = "scaled"

    def __init__(
        self,
        centre: NDArray[Any],
        divisor: NDArray[Any],
        names: tuple[str, ...] | None = None,
        *,
        zero_based: bool = True,
    ) -> None:
        super().__init__(SvmlightEncoding(zero_based=zero_based, n_features=len(centre)))
        self.centre, self.divisor, self.known_names = centre, divisor, names

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.inner.n_features

    def expand(self, batch: Batch) -> Batch:
        """Return the rows of a batch, scaled; none of their values is left out."""
        known, n = batch.below(self.n_features), self.n_features
        values = np.zeros((batch.n_rows, n))
        row = np.repeat(np.arange(batch.n_rows), np.diff(known.indptr))
        values[row, known.indices] = known.data
        values -= self.centre
        values /= self.divisor
        return batch._replace(
            data=values.reshape(-1),
            indices=np.tile(np.arange(n, dtype=np.int32), batch.n_rows),
            indptr=np.arange(batch.n_rows + 1, dtype=np.int64) * n,
            n_features=n,
        )

    def name(self, index: int) -> str:
        """Return what a feature is called."""
        return self.inner.name(index) if self.known_names is None else self.known_names[index]

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs beside the arrays."""
        names = None if self.known_names is None else list(self.known_names)
        return {"kind": self.kind, "version": VERSION, "names": names}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        return {"centre": self.centre, "divisor": self.divisor}
