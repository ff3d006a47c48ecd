"""Tables as blocks: rows of typed columns, parsed once, which encodings make features of.

A block is a batch whose rows begin with the numbers of their table, NaN where one is missing. Then,
column by column, come the codes of levels, the terms of texts with their counts, and the values of
vectors. Nothing in it is scaled or weighed, so that it can be encoded in several ways.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import (
    BadRow,
    BadRows,
    Batch,
    indicator_part,
    joined_rows,
    refuse_unless_skipped,
    running_sums,
    shifted,
    without_duplicates,
)
from rosenblatt.data.encoding.categories import (
    category_numbers,
    group_keys,
    list_part,
    missing_numbers,
    with_dates,
)
from rosenblatt.data.encoding.familiarity import (
    ColumnCounts,
    RowFingerprints,
    RowSampler,
    SeenCounter,
)
from rosenblatt.data.encoding.features import (
    FeatureColumn,
    HashedNumbering,
    InputColumn,
    Numbering,
    Role,
    feature_columns,
)
from rosenblatt.data.encoding.label_column import label_faults, listed_columns, table_labels
from rosenblatt.data.encoding.numbers import missing_faults, read_numbers, row_weights
from rosenblatt.data.encoding.text_column import TextColumn
from rosenblatt.data.encoding.vectors import VectorColumn, missing_vectors
from rosenblatt.data.labels import Classes
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError

if TYPE_CHECKING:
    from rosenblatt.data.encoding.table_encoding import Settings

NO_ROWS = Batch(np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int64))


class RowUse(NamedTuple):
    """What rows are parsed for."""

    learn: bool  # labels are required and weights of rows count
    bad_rows: BadRows | None = None  # what to do with rows that cannot be encoded; None: an error
    counts: ColumnCounts | None = None  # counts what columns hold
    seen: RowSampler | SeenCounter | None = None  # samples rows, or counts those in a sample


class BlockFeatures(NamedTuple):
    """What the features of a block behind its numbers are, as they were numbered by its parser."""

    owners: NDArray[np.int32] | None  # the place of the column of each; None: it says so itself
    numbers: NDArray[np.int32] | None = None  # in an encoding, −1: none there; None: the same
    n_rare: float = 0.0  # values in a row, on average, that have none


class TableParser:
    """Reads tables of some columns as blocks; levels and terms are as a numbering has them."""

    def __init__(
        self, columns: tuple[InputColumn, ...], settings: "Settings", numbering: Numbering
    ) -> None:
        self.columns, self.settings, self.numbering = columns, settings, numbering
        self.features = feature_columns(columns, **settings.text_parts)
        self.numeric = [column for column in self.features if column.role == "numeric"]
        lengths, pairs = settings.char_ngrams, settings.word_pairs
        self.texts = {
            one.place: TextColumn(one, numbering, lengths, pairs=pairs)
            for one in self.features
            if one.role == "text"
        }
        vectors = [column for column in self.features if column.role == "vector"]
        self.vectors = {one.place: VectorColumn(one, numbering) for one in vectors}
        # Several columns may share a hashed feature: there it says of which it is.
        shared = len(self.features) > 1
        weighs = bool(self.vectors or (self.texts and shared))
        self.owned = isinstance(numbering, HashedNumbering) and weighs
        widths = [len(numbering), *(vector.width for vector in self.vectors.values())]
        # Above so many bits of its number, the place of its column: all in 32 bits, if possible
        self.owner_bits = (len(self.numeric) + max(widths)).bit_length()
        self.number_bits = (1 << self.owner_bits) - 1
        most = 2 * len(self.features) << self.owner_bits
        self._index: Any = np.int32 if most <= np.iinfo(np.int32).max else np.int64

    def name_of(self, role: Role) -> str | None:
        """Return the column that alone has a role, None where none has it."""
        return next((column.name for column in self.columns if column.role == role), None)

    @property
    def label_separator(self) -> str:
        """Separator of the labels of a row; "" where every row has one."""
        return next((column.form for column in self.columns if column.role == "label"), "")

    @property
    def is_open(self) -> bool:
        """Whether blocks have to be encoded: they have more than levels."""
        return bool(self.numeric or self.texts or self.vectors)

    def features_of_blocks(self) -> BlockFeatures:
        """Return what features of blocks are so far."""
        if isinstance(self.numbering, HashedNumbering):
            return BlockFeatures(None)
        owners = self.numbering.vocabulary.arrays().columns
        if self.vectors:
            owners, n = owners.copy(), len(self.features)
            for place, vector in self.vectors.items():
                owners[owners == place] += n  # "is missing", and then again what is not
                owners[vector.features] = place
        return BlockFeatures(owners)

    def prepare(self, table: Table, use: RowUse) -> Table:
        """Return what ``parse`` can be handed to have less to do; threads may do this."""
        if not table.frame.height:
            return table._replace(numbers=np.empty((0, len(self.numeric))))
        columns = set(table.frame.columns)
        for column in self.columns:
            if column.required and column.name not in columns:
                raise InputError(
                    f"{table.file} has no column '{column.name}', which the model needs."
                    f" {listed_columns(table.frame.columns)}"
                )
        numbers, faults = read_numbers(table, self.numeric)
        if self.settings.missing == "error":
            gaps = missing_faults([column.name for column in self.numeric], numbers)
            faults = gaps | faults
        vectors = [self._read_vectors(table, own, faults) for own in self.vectors.values()]
        dated = [one for one in self.columns if one.parts != ("",) and one.form]
        if dated:
            table, no_dates = with_dates(table, dated)
            faults |= no_dates
        label = self.name_of("label")
        if label is not None and use.learn and use.bad_rows is not None:
            # without a label nothing else matters
            faults |= label_faults(table, label, self.label_separator)
        weights = self._row_weights(table, faults) if use.learn else None
        if faults:
            table = _without(table, faults, use.bad_rows)
            numbers = np.delete(numbers, sorted(faults), axis=0)
            vectors = [np.delete(block, sorted(faults), axis=0) for block in vectors]
        if weights is not None:
            counts = np.delete(weights, sorted(faults)) != 0.0
            table, numbers = table.filtered(counts), numbers[counts]
            vectors = [block[counts] for block in vectors]
        texts = tuple(text.prepare(table) for text in self.texts.values())
        return table._replace(numbers=numbers, vectors=tuple(vectors), texts=texts)

    def _read_vectors(
        self, table: Table, vector: VectorColumn, faults: dict[int, str]
    ) -> NDArray[Any]:
        """Return the vectors of a column; add what is wrong with rows to the faults."""
        vectors, unfit = vector.read(table)
        faults |= unfit
        if self.settings.missing == "error":
            gaps = vectors[:, :1].astype(np.float64)
            faults |= missing_faults([vector.column.name], gaps) | unfit
        return vectors

    def _row_weights(self, table: Table, faults: dict[int, str]) -> NDArray[np.float64] | None:
        """Return what multiplies the step of each row; None where no column says so."""
        for column in self.columns:
            if column.role == "weight":
                weights, bad = row_weights(table, column)
                faults |= bad
                return weights
        return None

    def parse(self, table: Table, classes: Classes | None, use: RowUse) -> Batch:
        """Return the block of a prepared table.

        Labels are −1 without classes to number them and, unless they are to be learned, where one
        is missing.
        """
        n_rows = table.frame.height
        block, labels = self.columns_of(table, use), np.empty(0, np.int32)
        if n_rows:
            how: Any = {"required": use.learn, "separator": self.label_separator}
            labels = table_labels(table, self.name_of("label"), classes, **how)
        group = self.name_of("group") if use.learn else None
        first, n_lines = table.first_row, n_rows
        if table.lines is not None and n_rows:
            first = int(table.lines[0])
            n_lines = int(table.lines[-1]) - first + 1
        return block._replace(
            labels=labels,
            classes=() if classes is None else classes.labels,
            n_features=int(block.indices.max(initial=-1)) + 1,
            file=table.file,
            first_line=first,
            n_lines=n_lines,
            bytes_read=table.bytes_read,
            bad=table.bad,
            weights=self._row_weights(table, {}) if use.learn else None,
            groups=group_keys(table, group) if group and group in table.frame.columns else None,
        )

    def columns_of(self, table: Table, use: RowUse) -> Batch:
        """Return the columns of a prepared table that become features; count them and the rows."""
        numbers = table.numbers
        if numbers is None or not table.frame.height:
            return NO_ROWS
        prints = None if use.seen is None else RowFingerprints(len(numbers))
        parts = [*self._parts(table, numbers, use.counts, prints)]
        if use.counts is not None:
            use.counts.add_numbers(numbers)
        if use.seen is not None and prints is not None:
            for block in table.vectors:
                prints.add_vectors(block)
            use.seen.add(prints.rows(numbers))
        rows = joined_rows(numbers, parts)
        shared = isinstance(self.numbering, HashedNumbering) and not self.owned
        return without_duplicates(rows) if shared and len(self.features) > 1 else rows

    def _parts(
        self,
        table: Table,
        numbers: NDArray[np.float64],
        counts: ColumnCounts | None,
        prints: RowFingerprints | None,
    ) -> Iterator[Batch]:
        """Yield what each column gives to the rows."""
        terms, numeric, vectors = iter(table.texts), iter(np.isnan(numbers).T), iter(table.vectors)
        for column in self.features:
            if column.role == "text":
                found = next(terms)
                if prints is not None:
                    prints.add_terms(found)
                found = self._terms(column.place, found, counts)
            elif column.role in ("category", "list"):
                found = self._levels(table, column, counts, prints)
            elif column.role == "vector":
                block = next(vectors)
                yield from self._missing(column, missing_vectors(block), counts)
                found = self.vectors[column.place].part(block, owned=self.owned)
            else:
                yield from self._missing(column, next(numeric), None)
                continue
            yield self._placed(found, column.place)

    def _placed(self, part: Batch, owner: int) -> Batch:
        """Return a part behind the numbers, of this owner where features have to say so."""
        if self.owned:
            owner <<= self.owner_bits
            part = part._replace(indices=part.indices.astype(self._index) + self._index(owner))
        return shifted(part, len(self.numeric))

    def _levels(
        self,
        table: Table,
        column: FeatureColumn,
        counts: ColumnCounts | None,
        prints: RowFingerprints | None,
    ) -> Batch:
        """Return what a column gives to the rows whose values are one category, or several."""
        if column.role == "list":
            found = list_part(table, column, self.numbering, counts)
            if prints is not None:
                prints.add_terms(found)
            return found
        levels = category_numbers(table, column, self.numbering, counts)
        if prints is not None:
            prints.add(levels.astype(np.int64))
        return indicator_part(levels)

    def _missing(
        self, column: FeatureColumn, gaps: NDArray[np.bool_], counts: ColumnCounts | None
    ) -> Iterator[Batch]:
        """Yield the feature of rows without a value in a column, where there are any."""
        if counts is not None:  # those of numbers are counted for all columns together
            counts.n_missing[column.place] += int(gaps.sum())
        if gaps.any():
            missing = missing_numbers(gaps, column, self.numbering)
            owner = column.place + len(self.features) * (column.role == "vector")
            yield self._placed(indicator_part(missing), owner)

    def _terms(self, place: int, terms: Batch, counts: ColumnCounts | None) -> Batch:
        """Return the known terms of texts with their counts, below 0 for pairs."""
        numbers = self.texts[place].learn(terms)
        if counts is not None:
            counts.add_terms(place, terms, None if self.numbering.growing else numbers)
        known = numbers >= 0
        if known.all():
            return Batch(terms.data, numbers, terms.indptr)
        return Batch(terms.data[known], numbers[known], running_sums(known)[terms.indptr])


def _without(table: Table, faults: dict[int, str], bad_rows: BadRows | None) -> Table:
    """Return a table without the rows that cannot be encoded, if these are to be skipped."""
    bad = [BadRow(row, table.place(row), faults[row]) for row in sorted(faults)]
    worst = next((row for row in bad if row.reason), None)
    if worst is not None:
        refuse_unless_skipped(worst, bad_rows)
    return table.without(bad)
