"""Encodings of features that have numbers: those of svmlight text, scaled ones, conjunctions."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.conjunctions import (
    MOST_TOGETHER,
    ColumnPairs,
    ConjunctionNumbering,
    HashedConjunctions,
    blocks,
    conjunctions,
    features_of,
)
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import HASH_VERSION

if TYPE_CHECKING:
    from rosenblatt.data.encoding.table_encoding import TableEncoding

CONJUNCTIONS_VERSION = SCALING_VERSION = 1
TABLES = {2: "pairs", 3: "triples"}
INNER = "inner."


class FeatureEncoding:
    """What files hold as features with names."""

    @property
    def table(self) -> "TableEncoding | None":
        """The encoding of columns, if the rows come from a table."""
        return None

    def expand(self, batch: Batch) -> Batch:
        """Return rows of the inner encoding as rows of this one."""
        return batch

    def expanded(self, batch: Batch) -> Iterator[Batch]:
        """Yield rows of the inner encoding as rows of this one, some after the other if large."""
        yield self.expand(batch)

    def name(self, index: int) -> str:
        """Return what a feature is called."""
        raise NotImplementedError

    def names(self, indices: Iterable[int]) -> list[str]:
        """Return what these features are called."""
        return [self.name(int(index)) for index in indices]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        return {}


class SvmlightEncoding(FeatureEncoding):
    """Features as they are numbered in svmlight text.

    >>> SvmlightEncoding(zero_based=False, n_features=20).name(16)
    'feature 17'
    """

    kind = "svmlight"

    def __init__(self, *, zero_based: bool, n_features: int) -> None:
        self.zero_based = zero_based
        self.n_features = n_features

    @property
    def inner(self) -> "SvmlightEncoding":
        """The encoding of what files hold."""
        return self

    def name(self, index: int) -> str:
        """Return what a feature is called: its number in the file."""
        if not 0 <= index < self.n_features:
            msg = f"There is no feature {index}; they count from 0 to {self.n_features - 1}."
            raise InputError(msg)
        return f"feature {index + (not self.zero_based)}"

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs."""
        return {"kind": self.kind, "zero_based": self.zero_based, "n_features": self.n_features}


class ConjoinedEncoding(FeatureEncoding):
    """Features of a frozen encoding, then pairs and triples of those that stand in one row.

    Pairs are named ``excellent-and-not``; where there are too many to keep, they share columns by
    their hash and have no names. Cells of chosen pairs of columns are ``sea=yes and rooms from 3``.
    """

    kind = "conjunctions"

    def __init__(
        self,
        inner: "TableEncoding | SvmlightEncoding",
        degree: int,
        numbering: ConjunctionNumbering | ColumnPairs,
    ) -> None:
        self.inner, self.degree, self.numbering = inner, degree, numbering
        self.n_features = numbering.n_columns  # with all conjunctions

    @property
    def table(self) -> "TableEncoding | None":
        """The encoding of columns, if the rows come from a table."""
        return self.inner.table

    def expand(self, batch: Batch) -> Batch:
        """Return the rows of a batch of the inner encoding with their conjunctions."""
        known = batch.below(self.inner.n_features)  # svmlight rows may have more than is known
        if isinstance(self.numbering, ColumnPairs):
            return self.numbering.expand(known)
        rows = conjunctions(known, self.degree, self.numbering)
        n_features = int(rows.indices.max(initial=-1)) + 1
        indices = rows.indices.astype(np.int32)
        return batch.with_rows(rows._replace(indices=indices, n_features=n_features))

    def expanded(self, batch: Batch) -> Iterator[Batch]:
        """Yield the rows with their conjunctions, as many at a time as memory bears."""
        whole = isinstance(self.numbering, ColumnPairs) or batch.bad  # whose places count from here
        ends = [] if whole else [*blocks(batch, self.degree, MOST_TOGETHER)]
        for start, stop in ends if len(ends) > 1 else [(0, batch.n_rows)]:
            part = batch.block(start, stop)
            if batch.kept is not None:
                part = part._replace(kept={k: v[start:stop] for k, v in batch.kept.items()})
            yield self.expand(part._replace(first_line=batch.first_line + start))

    def name(self, index: int) -> str:
        """Return what a feature or a conjunction is called."""
        n = self.inner.n_features
        if index < n:
            return self.inner.name(index)
        if not index < self.n_features:
            msg = f"There is no feature {index}; they count from 0 to {self.n_features - 1}."
            raise InputError(msg)
        if isinstance(self.numbering, HashedConjunctions):
            return f"conjunction {index - n}"
        place = index - n
        for degree, table in self.numbering.tables.items():
            if place < len(table):
                features = features_of(table[place : place + 1], n, degree)[0].tolist()
                if isinstance(self.numbering, ColumnPairs):
                    features.sort(key=self.numbering.owners.__getitem__)
                joint = " and " if isinstance(self.numbering, ColumnPairs) else "-and-"
                return joint.join(self.inner.name(feature) for feature in features)
            place -= len(table)
        raise AssertionError

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs beside the arrays."""
        return {
            "kind": self.kind,
            "version": CONJUNCTIONS_VERSION,
            "hash_version": HASH_VERSION,
            "degree": self.degree,
            "hash_bits": self.numbering.bits
            if isinstance(self.numbering, HashedConjunctions)
            else None,
            "inner": self.inner.as_json(),
        } | ({"column_pairs": self.column_pairs} if self.column_pairs else {})

    @property
    def column_pairs(self) -> list[list[int]]:
        """The places of the columns of chosen pairs, the first chosen first."""
        if not isinstance(self.numbering, ColumnPairs):
            return []
        return [[*pair] for pair in self.numbering.pairs]

    def pair_titles(self) -> list[list[str]]:
        """Return the names of the columns of chosen pairs."""
        columns = () if self.table is None else self.table.features
        return [[columns[place].title for place in pair] for pair in self.column_pairs]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        arrays = {f"{INNER}{name}": array for name, array in self.inner.arrays().items()}
        if not isinstance(self.numbering, HashedConjunctions):
            arrays |= {TABLES[degree]: table for degree, table in self.numbering.tables.items()}
        return arrays


class ScaledEncoding(FeatureEncoding):
    """Each feature as (x − centre)/divisor, as the scalers of scikit-learn make it of an array.

    A feature that a sparse row leaves out is 0 before it is scaled.
    """

    kind = "scaled"

    def __init__(
        self,
        centre: NDArray[Any],
        divisor: NDArray[Any],
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.n_features = len(centre)
        self.inner = SvmlightEncoding(zero_based=True, n_features=self.n_features)
        self.centre, self.divisor, self.known_names = centre, divisor, names

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
        return {"kind": self.kind, "version": SCALING_VERSION, "names": names}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        return {"centre": self.centre, "divisor": self.divisor}
