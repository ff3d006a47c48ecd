"""What rows to learn from say of an encoding: scales, levels, terms and how common they are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding.familiarity import ColumnCounts, RowSampler, salt_of
from rosenblatt.data.encoding.features import (
    CHARACTERS,
    Columns,
    HashedNumbering,
    InputColumn,
    KeptNumbering,
    Numbering,
)
from rosenblatt.data.encoding.kinds import (
    UNSPACED_NGRAMS,
    USUAL_NGRAMS,
    assigned_columns,
    unspaced_note,
)
from rosenblatt.data.encoding.label_column import LabelGuess
from rosenblatt.data.encoding.numbers import ColumnStatistics, RowSample
from rosenblatt.data.encoding.parsing import BlockFeatures, RowUse, TableParser
from rosenblatt.data.encoding.table_encoding import ColumnFacts, Settings, TableEncoding
from rosenblatt.data.labels import Classes
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError

FEW_ROWS = 1_000  # with fewer, a term that one text has may be all that there is to learn from
SHORT_TEXTS = {"": 100, CHARACTERS: 500}  # terms a text: so of shorter ones, see docs/text.md


class EncodingFit:
    """Parses the tables to learn from, and grows with each of them what an encoding needs.

    Levels, words, pairs of words and "column is missing" are numbered as they are first met, column
    by column within a table, or by their hash. ``encoding`` makes the encoding of what was met.
    """

    def __init__(
        self,
        columns: tuple[InputColumn, ...],
        settings: Settings,
        *,
        notes: Sequence[str] = (),
        label_guess: LabelGuess | None = None,
        numbering: Numbering | None = None,
    ) -> None:
        self.columns, self.settings = columns, settings
        self.notes = list(notes)  # sentences that a person should see
        self.label_guess = label_guess  # why the column of the labels is that one
        n_numeric = sum(column.role == "numeric" for column in columns)
        bits, room = settings.hash_bits, settings.max_features - n_numeric
        if room < 0:
            msg = f"max_features must be at least {n_numeric}, the number of numeric columns."
            raise InputError(msg)
        if numbering is None:
            numbering = HashedNumbering(bits) if bits else KeptNumbering(room)
        self.parser = TableParser(columns, settings, numbering)
        self.statistics = ColumnStatistics.empty(n_numeric)
        self.vector_statistics = {
            place: ColumnStatistics.empty(vector.width)
            for place, vector in self.parser.vectors.items()
        }
        self._sample = RowSample(n_numeric) if settings.bins else None
        self._counts = ColumnCounts(self.parser.features)
        self._n_left_out = 0

    @classmethod
    def from_sample(
        cls,
        table: Table,
        columns: Columns | None = None,
        *,
        labelled: bool = True,
        lenient: bool = False,
        max_features: int = 1 << 22,
        **said: Any,
    ) -> "EncodingFit":
        """Return the beginning of an encoding of tables like this one, judged by its rows.

        They are not taken in: parse them as all others. ``said`` are parameters of ``Columns`` by
        name. With ``lenient`` some values that are no numbers leave a column numeric. When there
        are ``max_features``, new levels and words are dropped.
        """
        columns = replace(columns or Columns(), **said)
        names = [name for name in Settings._fields if hasattr(columns, name)]
        asked = {name: getattr(columns, name) for name in names}
        if columns.words is False and columns.char_ngrams is None:
            asked["char_ngrams"] = USUAL_NGRAMS
        settings = Settings.checked(max_features, balanced=True, **asked)
        how: dict[str, Any] = {"labelled": labelled, "lenient": lenient}
        chosen, guess, notes = assigned_columns(table, columns, **how)
        is_open = columns.char_ngrams is None and columns.words is None
        unspaced = unspaced_note(table, chosen) if is_open else None
        if unspaced is not None:
            settings = settings._replace(char_ngrams=UNSPACED_NGRAMS)
            notes = notes if unspaced in notes else [*notes, unspaced]
        return cls(chosen, settings, notes=notes, label_guess=guess)

    @property
    def has_text(self) -> bool:
        """Whether a column holds texts."""
        return bool(self.parser.texts)

    @property
    def label(self) -> str | None:
        """The column of the labels, None where there is none."""
        return self.parser.name_of("label")

    @property
    def label_separator(self) -> str:
        """Separator of the labels of a row; "" where every row has one."""
        return self.parser.label_separator

    def prepare(self, table: Table, use: RowUse | None = None) -> Table:
        """Return what ``parse`` can be handed to have less to do; threads may do this."""
        return self.parser.prepare(table, use or RowUse(learn=True))

    def parse(self, table: Table, classes: Classes | None, use: RowUse | None = None) -> Batch:
        """Return the block of a table, and learn from it."""
        use = use or RowUse(learn=True)
        table = self.prepare(table, use) if table.numbers is None else table
        self._add(table)
        return self.parser.parse(table, classes, use._replace(counts=self._counts))

    def learn(self, table: Table) -> None:
        """Learn from the rows of a table, whose labels do not matter."""
        use = RowUse(learn=True, counts=self._counts)
        table = self.parser.prepare(table, use)
        self._add(table)
        self.parser.columns_of(table, use)

    def _add(self, table: Table) -> None:
        numbers = table.numbers
        if numbers is None or not len(numbers):
            return
        for own, block in zip(self.vector_statistics.values(), table.vectors, strict=True):
            own.add(block.astype(np.float64, copy=False))
        self.statistics.add(numbers)
        if self._sample is not None:
            self._sample.add(numbers)
        self.parser.numbering.documents.add_texts(len(numbers))

    @property
    def sliceable(self) -> bool:
        """Whether slices of a table teach the same as the table: numbers, and terms in one order.

        Means of numbers are added in another order, and terms of several columns are numbered in
        another one.
        """
        parser = self.parser
        in_order = isinstance(parser.numbering, HashedNumbering) or len(parser.features) == 1
        return self.has_text and in_order and not (parser.numeric or parser.vectors)

    def close(self) -> None:
        """Freeze the vocabulary: new levels and terms in later blocks have no number."""
        if self.parser.numbering.growing:
            self._n_left_out = self.parser.numbering.n_unknown
            self.parser.numbering.close()

    def encoding(self, sampler: RowSampler | None = None) -> tuple[TableEncoding, BlockFeatures]:
        """Return the encoding of all rows so far, and what features of their blocks are in it.

        Terms that are rare in texts have no feature, and each has the weight that all texts give
        it. A sampler has seen the rows.
        """
        self.close()
        numbering, least = self.parser.numbering, self._fewest_texts()
        documents, features = numbering.documents, self.parser.features_of_blocks()
        runs = {place for place in least if self.parser.features[place].part == CHARACTERS}
        usual = numbering.usual_shares(least, runs)
        common, numbers = numbering.without_rare(least)
        rare = 0 if numbers is None else documents.padded(len(numbering))[numbers < 0].sum()
        features = features._replace(numbers=numbers, n_rare=rare / max(documents.n_texts, 1))
        seen = None
        if sampler is not None:
            seen = sampler.seen(salt_of(self.columns, documents.n_texts))
        sample, n_bins = self._sample, self.settings.bins
        edges = None if sample is None or n_bins is None else sample.edges(n_bins)
        summaries = self._counts.summaries(usual) if self._counts.n_rows else None
        facts = ColumnFacts(self.statistics, self.vector_statistics, edges, summaries, seen)
        said: Any = {"notes": self.notes, "n_left_out": self._n_left_out}
        return TableEncoding(self.columns, self.settings, common, facts, **said), features

    def _fewest_texts(self) -> dict[int, int]:
        """Return in how many texts a term must stand, by the place of the column of texts."""
        asked, n_texts = self.settings.min_count, self.parser.numbering.documents.n_texts
        if asked or n_texts < FEW_ROWS:
            return dict.fromkeys(self.parser.texts, asked or 1)
        n_terms, found = self.parser.numbering.n_terms(), dict[int, int]()
        for part, short in SHORT_TEXTS.items():
            own = [place for place in self.parser.texts if self.parser.features[place].part == part]
            few = sum(n_terms.get(place, 0) for place in own) < short * n_texts * len(own)
            found |= dict.fromkeys(own, 1 if few else 2)
        return found
