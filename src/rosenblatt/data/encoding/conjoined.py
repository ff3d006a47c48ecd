"""An encoding whose rows have, beside their features, the conjunctions of them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.conjunctions.expansion import conjunctions
from rosenblatt.data.conjunctions.numbering import Hashed, Known, features_of
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import HASH_VERSION

if TYPE_CHECKING:
    from rosenblatt.data.encoding.svmlight_encoding import SvmlightEncoding
    from rosenblatt.data.encoding.table_encoding import TableEncoding

VERSION = 1
TABLES = {2: "pairs", 3: "triples"}
INNER = "inner."


class ConjoinedEncoding:
    """Features of a frozen encoding, then pairs and triples of those that stand in one row.

    Pairs are named ``excellent-and-not``; where there are too many to keep, they share columns by
    their hash and have no names.
    """

    kind = "conjunctions"
    frozen = True

    def __init__(
        self, inner: "TableEncoding | SvmlightEncoding", degree: int, numbering: Known | Hashed
    ) -> None:
        self.inner = inner
        self.degree = degree
        self.numbering = numbering

    @property
    def n_features(self) -> int:
        """Number of features with all conjunctions."""
        return self.numbering.n_columns

    def expand(self, batch: Batch) -> Batch:
        """Return the rows of a batch of the inner encoding with their conjunctions."""
        known = batch.below(self.inner.n_features)  # svmlight rows may have more than is known
        rows = conjunctions(known.data, known.indices, known.indptr, self.degree, self.numbering)
        return batch._replace(
            data=rows.data,
            indices=rows.indices.astype(np.int32),
            indptr=rows.indptr,
            n_features=int(rows.indices.max(initial=-1)) + 1,
        )

    def name(self, index: int) -> str:
        """Return what a feature or a conjunction is called."""
        n = self.inner.n_features
        if index < n:
            return self.inner.name(index)
        if not index < self.n_features:
            msg = f"There is no feature {index}; they count from 0 to {self.n_features - 1}."
            raise InputError(msg)
        if isinstance(self.numbering, Hashed):
            return f"conjunction {index - n}"
        place = index - n
        for degree, table in self.numbering.tables.items():
            if place < len(table):
                features = features_of(table[place : place + 1], n, degree)[0]
                return "-and-".join(self.inner.name(int(feature)) for feature in features)
            place -= len(table)
        raise AssertionError

    def names(self, indices: Iterable[int]) -> list[str]:
        """Return what these features are called."""
        return [self.name(int(index)) for index in indices]

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs beside the arrays."""
        return {
            "kind": self.kind,
            "version": VERSION,
            "hash_version": HASH_VERSION,
            "degree": self.degree,
            "hash_bits": self.numbering.bits if isinstance(self.numbering, Hashed) else None,
            "inner": self.inner.as_json(),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        arrays = {f"{INNER}{name}": array for name, array in self.inner.arrays().items()}
        if isinstance(self.numbering, Known):
            arrays |= {TABLES[degree]: table for degree, table in self.numbering.tables.items()}
        return arrays
