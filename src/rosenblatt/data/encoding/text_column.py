"""A column of text: words and pairs of neighbouring words."""

import sys
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import FeatureColumn, option
from rosenblatt.data.encoding.numbering import HashedNumbering, Numbering
from rosenblatt.data.encoding.plain_terms import plain_terms
from rosenblatt.data.encoding.rows import Part
from rosenblatt.data.encoding.shares import plain_shares
from rosenblatt.data.encoding.terms import Terms
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import column_seed

if TYPE_CHECKING:
    import polars as pl

PLAIN_BYTES = 1 << 18  # of text: up to here plain Python is done before numba has been imported
MOST_BYTES = 1 << 30  # in one table: places in it are numbers of 32 bits


class TextColumn:
    """Turns text into features, in plain Python as long as there is little of it.

    Parameters
    ----------
    place : int
        The number of the column among those that become features.
    column : FeatureColumn
        Its name.
    numbering : Numbering
        Gives the numbers of features.
    pairs : bool
        Whether pairs of words are features.
    """

    def __init__(
        self, place: int, column: FeatureColumn, numbering: Numbering, *, pairs: bool
    ) -> None:
        self._place = place
        self._name = column.name
        self._numbering = numbering
        self._pairs = pairs
        self._seed = column_seed("text", column.name)
        self._bytes_so_far = 0

    def prepare(self, table: Table) -> Terms | Part:
        """Return what can be said of each row whatever came before it."""
        series = self._text(table)
        length = int(series.str.len_bytes().sum())
        if length > MOST_BYTES:
            msg = (
                f"{table.place(0)} and after: column '{self._name}' has more than"
                f" {MOST_BYTES >> 20:,} MiB of text in {len(series):,} rows; read fewer at a time."
            )
            raise InputError(msg)
        self._bytes_so_far += length
        hashed = isinstance(self._numbering, HashedNumbering)
        if self._scans():
            from rosenblatt.data.encoding.scanned_terms import scanned_terms

            mask = self._numbering.key_mask
            terms = scanned_terms(series, self._seed, mask, pairs=self._pairs, named=not hashed)
        else:
            texts = series.to_list()
            terms = plain_terms(texts, self._seed, self._numbering.key_mask, pairs=self._pairs)
        return self._weighed(terms.keys, terms) if hashed else terms.held()

    def part(self, prepared: Terms | Part, *, growing: bool) -> Part:
        """Return the features of each row, without the terms that have none."""
        if isinstance(prepared, Part):
            return prepared
        numbers = self._numbering.terms(
            self._place, prepared, scanned=self._scans(), growing=growing
        )
        return self._weighed(numbers, prepared)

    def _weighed(self, numbers: NDArray[Any], terms: Terms) -> Part:
        if self._scans():
            from rosenblatt.kernels.text.shares import scanned_shares

            return Part(*scanned_shares(numbers, terms.counts, terms.indptr))
        return plain_shares(numbers, terms.counts, terms.indptr)

    def _scans(self) -> bool:
        """Whether the compiled scan is worth it, or numba there already."""
        if self._bytes_so_far <= PLAIN_BYTES and "numba" not in sys.modules:
            return False
        from rosenblatt.kernels.text.words import AVAILABLE

        return AVAILABLE

    def _text(self, table: Table) -> "pl.Series":
        import polars as pl

        series = table.frame[self._name]
        if series.dtype == pl.String:
            return series
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
            msg = (
                f"{table.file}: column '{self._name}' holds {series.dtype}, not text;"
                f" leave it out with {option('--ignore', self._name)}."
            )
            raise InputError(msg)
        return series.cast(pl.String)
