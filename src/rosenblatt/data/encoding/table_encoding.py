"""How the columns of a table become rows of features, learned from the rows themselves."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import (
    BadRow,
    BadRows,
    Batch,
    first_values,
    indicator_part,
    join,
    joined_rows,
    refuse_unless_skipped,
    set_first,
    shifted,
    without_duplicates,
)
from rosenblatt.data.encoding.categories import (
    category_numbers,
    group_keys,
    known_level,
    list_part,
    missing_numbers,
    with_dates,
)
from rosenblatt.data.encoding.familiarity import FIELDS as SUMMARY_FIELDS
from rosenblatt.data.encoding.familiarity import (
    ColumnCounts,
    RowFingerprints,
    RowSampler,
    SeenCounter,
    SeenRows,
    Summaries,
    salt_of,
)
from rosenblatt.data.encoding.features import (
    CHARACTERS,
    Columns,
    FeatureColumn,
    FeatureEncoding,
    HashedNumbering,
    InputColumn,
    KeptNumbering,
    Role,
    feature_columns,
    spelled_hashes,
)
from rosenblatt.data.encoding.kinds import UNSPACED_NGRAMS, assigned_columns, unspaced_note
from rosenblatt.data.encoding.label_column import (
    UNNAMED,
    LabelGuess,
    label_faults,
    listed_columns,
    table_labels,
)
from rosenblatt.data.encoding.numbers import (
    ColumnStatistics,
    NumberBins,
    RowSample,
    missing_faults,
    read_numbers,
    row_weights,
)
from rosenblatt.data.encoding.text_column import Lengths, TextColumn
from rosenblatt.data.encoding.vectors import VectorColumn, missing_vectors
from rosenblatt.data.labels import Classes
from rosenblatt.data.tables.frames import frame_tables
from rosenblatt.data.tables.table import Selection, Table
from rosenblatt.errors import InputError, UnfamiliarDataWarning, warn_caller
from rosenblatt.kernels.text.hashing import HASH_VERSION
from rosenblatt.parameters import AT_LEAST_ONE, DEFAULTS, check_setting

MOST_FEATURES = 2**31 - 1
FEW_ROWS = 1_000  # with fewer, a term that one text has may be all that there is to learn from
SHORT_TEXTS = 100  # terms a text: so of shorter ones, see docs/text.md

NO_ROWS = Batch(np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int64))


class Settings(NamedTuple):
    """The parameters of columns that a model keeps."""

    scale: bool
    missing: str
    hash_bits: int | None
    word_pairs: bool
    max_features: int
    min_count: int | None
    char_ngrams: Lengths | None = None
    bins: int | None = None

    @classmethod
    def checked(cls, max_features: int = 1 << 22, **values: Any) -> "Settings":
        """Return settings, or raise InputError where one is not what it must be."""
        for name, value in values.items():
            if value is not None or DEFAULTS[name] is not None:
                check_setting(name, value)
        if not AT_LEAST_ONE.accepts(max_features) or max_features > MOST_FEATURES:
            range_ = f"a whole number from 1 to {MOST_FEATURES}"
            raise InputError(f"max_features must be {range_}; got {max_features!r}.")
        for name in ("hash_bits", "bins"):  # JSON has no numbers of NumPy
            values[name] = int(values[name]) if values.get(name) else None
        low, high = values.get("char_ngrams") or (0, 0)
        return cls(
            **values | {"max_features": max_features, "char_ngrams": (low, high) if high else None}
        )


class RowUse(NamedTuple):
    """What rows are encoded for."""

    learn: bool  # labels are required and weights of rows count
    raw: bool = False  # numbers stay as they are, until ``finished`` fills, scales and bins them
    bad_rows: BadRows | None = None  # what to do with rows that cannot be encoded; None: an error
    counts: ColumnCounts | None = None  # counts what columns hold
    seen: RowSampler | SeenCounter | None = None  # samples rows, or counts those in a sample


def _without(table: Table, faults: dict[int, str], bad_rows: BadRows | None) -> Table:
    """Return a table without the rows that cannot be encoded, if these are to be skipped."""
    bad = [BadRow(row, table.place(row), faults[row]) for row in sorted(faults)]
    worst = next((row for row in bad if row.reason), None)
    if worst is not None:
        refuse_unless_skipped(worst, bad_rows)
    return table.without(bad)


class TableEncoding(FeatureEncoding):
    """How the columns of a table become features; it grows with each table until it is frozen.

    Numeric columns are features 0 … m−1, in the order of the columns, and stand first in every row.
    Levels, words, pairs of words and "column is missing" are numbered from m on as they are first
    met, column by column within a table, or by their hash.
    """

    kind = "table"

    def __init__(
        self,
        columns: tuple[InputColumn, ...],
        settings: Settings,
        *,
        notes: Sequence[str] = (),
        statistics: ColumnStatistics | None = None,
        numbering: HashedNumbering | KeptNumbering | None = None,
        summaries: Summaries | None = None,
    ) -> None:
        self.columns = columns
        self.settings = settings
        self.notes = list(notes)  # sentences that a person should see
        self.n_left_out = 0  # words, counted once a row, for which there was no room
        self.label_guess: LabelGuess | None = None  # why the column of the labels is that one
        self.features = feature_columns(columns, characters=settings.char_ngrams is not None)
        self._numeric = [column for column in self.features if column.role == "numeric"]
        n_numeric = len(self._numeric)
        self.statistics = statistics or ColumnStatistics.empty(n_numeric)
        bits, room = settings.hash_bits, settings.max_features - n_numeric
        if room < 0:
            msg = f"max_features must be at least {n_numeric}, the number of numeric columns."
            raise InputError(msg)
        if numbering is None:
            numbering = HashedNumbering(bits) if bits else KeptNumbering(room)
        self.numbering = numbering
        texts = [column for column in self.features if column.role == "text"]
        lengths, pairs = settings.char_ngrams, settings.word_pairs
        self._texts = {one.place: TextColumn(one, numbering, lengths, pairs=pairs) for one in texts}
        vectors = [column for column in self.features if column.role == "vector"]
        self.vectors = {one.place: VectorColumn(one, numbering) for one in vectors}
        self._sample = RowSample(n_numeric) if settings.bins else None
        self.bins: NumberBins | None = None  # when all rows have been read once
        self._shares_numbers = bits is not None and len(self.features) > 1
        self._counts: ColumnCounts | None = ColumnCounts(self.features)  # until it is frozen
        self._summaries = summaries
        self.seen: SeenRows | None = None  # a sample of the rows that were learned from

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
    ) -> "TableEncoding":
        """Return an encoding for tables with the columns of this one, judged by its rows.

        They are not taken in: encode them as all others. ``said`` are parameters of ``Columns`` by
        name. With ``lenient`` some values that are no numbers leave a column numeric. When there
        are ``max_features``, new levels and words are dropped.
        """
        columns = replace(columns or Columns(), **said)
        names = [name for name in Settings._fields if name != "max_features"]
        settings = Settings.checked(max_features, **{n: getattr(columns, n) for n in names})
        how: dict[str, Any] = {"labelled": labelled, "lenient": lenient}
        chosen, guess, notes = assigned_columns(table, columns, **how)
        unspaced = unspaced_note(table, chosen) if columns.char_ngrams is None else None
        if unspaced is not None:
            settings = settings._replace(char_ngrams=UNSPACED_NGRAMS)
            notes = notes if unspaced in notes else [*notes, unspaced]
        encoding = cls(chosen, settings, notes=notes)
        encoding.label_guess = guess
        return encoding

    @property
    def table(self) -> "TableEncoding":
        """The encoding of columns."""
        return self

    inner = table  # the encoding of what files hold

    @property
    def frozen(self) -> bool:
        """Whether it learns no more."""
        return not self.numbering.growing

    @property
    def label(self) -> str | None:
        """The column of the labels, None where there is none."""
        return self.name_of("label")

    def name_of(self, role: Role) -> str | None:
        """Return the column that alone has a role, None where none has it."""
        return next((column.name for column in self.columns if column.role == role), None)

    @property
    def label_separator(self) -> str:
        """What stands between the labels of a row; "" where every row has one."""
        return next((column.form for column in self.columns if column.role == "label"), "")

    @property
    def n_features(self) -> int:  # type: ignore[override]  # it grows
        """Number of features so far."""
        return len(self._numeric) + len(self.numbering)

    @property
    def n_numeric(self) -> int:
        """Number of numeric columns."""
        return len(self._numeric)

    @property
    def n_unknown(self) -> int:
        """How many words and levels, counted once a row, had no feature and were dropped."""
        return self.numbering.n_unknown

    def level(self, name: str, value: float) -> str | None:
        """Return the text of a category that a number stands for; None for other columns."""
        for column in self.features:
            if (column.name, column.role, column.part) == (name, "category", ""):
                return known_level(value, column, self.numbering).decode()
        return None

    def levels(self, most: int) -> dict[str, list[str]]:
        """Return the levels, sorted, of each category column that has at most so many."""
        if not isinstance(self.numbering, KeptNumbering):
            return {}
        vocabulary = self.numbering.vocabulary
        columns = vocabulary.arrays().columns
        found = {}
        for place, column in enumerate(self.features):
            own = np.flatnonzero(columns == place)
            if (column.role, column.part) == ("category", "") and 0 < len(own) <= most:
                found[column.name] = sorted(vocabulary.name(number) for number in own.tolist())
        return found

    def ranges(self) -> dict[str, tuple[float, float, float]]:
        """Return the least, the mean and the largest number of each column of plain numbers."""
        lows, means, highs = self.statistics.ends_and_means()
        return {
            column.name: (lows[k], means[k], highs[k])
            for k, column in enumerate(self._numeric)
            if (column.form, column.part) == ("", "") and lows[k] <= highs[k]
        }

    def spelling_notes(self) -> list[str]:
        """Return sentences on numbers that are texts in training, once for all rows so far."""
        if not isinstance(self.numbering, KeptNumbering):
            return []
        found, self.numbering.respelled = self.numbering.respelled, {}
        notes = []
        for place, levels in found.items():
            number, texts = next(iter(levels.items()))
            known = " or ".join(f"'{text}'" for text in texts)
            sure = "is read as" if len(texts) == 1 else "may be"
            notes.append(
                f"Column '{self.features[place].title}' holds numbers, but texts in training:"
                f" {number} {sure} {known}. Read it as text."
            )
        return notes

    def prepare(self, table: Table, use: RowUse | None = None) -> Table:
        """Return what ``encode`` can be handed to have less to do; threads may do this."""
        use = use or RowUse(learn=not self.frozen)
        if not table.frame.height:
            return table._replace(numbers=np.empty((0, len(self._numeric))))
        columns = set(table.frame.columns)
        for column in self.columns:
            if column.required and column.name not in columns:
                raise InputError(
                    f"{table.file} has no column '{column.name}', which the model needs."
                    f" {listed_columns(table.frame.columns)}"
                )
        numbers, faults = read_numbers(table, self._numeric)
        if self.settings.missing == "error":
            gaps = missing_faults([column.name for column in self._numeric], numbers)
            faults = gaps | faults
        vectors = [self._read_vectors(table, own, faults) for own in self.vectors.values()]
        dated = [one for one in self.columns if one.parts != ("",) and one.form]
        if dated:
            table, no_dates = with_dates(table, dated)
            faults |= no_dates
        if self.label is not None and use.learn and use.bad_rows is not None:
            faults |= label_faults(
                table, self.label, self.label_separator
            )  # without a label nothing else matters
        weights = self._row_weights(table, faults) if use.learn else None
        if faults:
            table = _without(table, faults, use.bad_rows)
            numbers = np.delete(numbers, sorted(faults), axis=0)
            vectors = [np.delete(block, sorted(faults), axis=0) for block in vectors]
        if weights is not None:
            counts = np.delete(weights, sorted(faults)) != 0.0
            table, numbers = table.filtered(counts), numbers[counts]
            vectors = [block[counts] for block in vectors]
        texts = tuple(text.prepare(table) for text in self._texts.values())
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

    def new_counts(self) -> ColumnCounts:
        """Return what counts the columns of rows that are to be held against those of training."""
        return ColumnCounts(self.features)

    def remarks(self, counts: ColumnCounts, *, at_once: bool = False) -> list[str]:
        """Return a sentence on each column of these rows that is not as in training."""
        n_training = self.numbering.documents.n_texts
        return counts.remarks(self.summaries, self.statistics, n_training, at_once=at_once)

    @property
    def salt(self) -> bytes:
        """What makes the digests of the rows of training of no use for another model."""
        return salt_of(self.columns, self.numbering.documents.n_texts)

    @property
    def summaries(self) -> Summaries | None:
        """What is kept of each column of training; None in models of older versions."""
        return self._summaries if self._counts is None else self._counts.summaries({})

    def encode(self, table: Table, classes: Classes | None, use: RowUse | None = None) -> Batch:
        """Return the rows of a table; learn from them unless frozen; count columns and rows.

        Until then, and where they are used ``raw``, numeric columns are as they stand in the table,
        NaN where missing; ``finished`` makes them what is learned from. Labels are −1 without
        classes to number them and, unless they are to be learned, where one is missing.
        """
        use = use or RowUse(learn=not self.frozen)
        table = self.prepare(table, use) if table.numbers is None else table
        n_rows, numbers = table.frame.height, table.numbers
        if n_rows and numbers is not None:
            batch = self._rows(table, numbers, use)
            how: Any = {"required": use.learn, "separator": self.label_separator}
            labels = table_labels(table, self.label, classes, **how)
        else:
            batch = NO_ROWS
            labels = np.empty(0, np.int32)
        group = self.name_of("group") if use.learn else None
        first, n_lines = table.first_row, n_rows
        if table.lines is not None and n_rows:
            first = int(table.lines[0])
            n_lines = int(table.lines[-1]) - first + 1
        return batch._replace(
            labels=labels,
            classes=() if classes is None else classes.labels,
            n_features=int(batch.indices.max(initial=-1)) + 1,
            file=table.file,
            first_line=first,
            n_lines=n_lines,
            bytes_read=table.bytes_read,
            bad=table.bad,
            weights=self._row_weights(table, {}) if use.learn else None,
            groups=group_keys(table, group) if group and group in table.frame.columns else None,
        )

    def encode_frame(self, X: Any, classes: Classes | None = None) -> Batch:
        """Return rows in memory, which must have the columns of training but the labels.

        Labels that they have are read if there are classes to number them.

        Parameters
        ----------
        X : data frame of pandas, polars or Arrow, list of dictionaries, or list of texts
            Texts where the columns of training are one of texts; an array where they are unnamed.
        """
        optional = frozenset(column.name for column in self.columns if not column.required)
        wanted = Selection(tuple(column.name for column in self.columns), optional)
        unnamed = all(re.fullmatch(UNNAMED, name) for name in wanted.required)
        required = [column for column in self.columns if column.required]
        alone = len(required) == 1 and required[0].role == "text"
        text = required[0].name if alone else None
        tables = frame_tables(X, wanted, text=text, arrays=unnamed)
        counts = self.new_counts()
        use = RowUse(learn=False, counts=counts)
        batches = [self.encode(table, classes, use) for table in tables]
        if not batches:
            raise InputError("X has no rows.")
        for remark in self.remarks(counts):
            warn_caller(remark, UnfamiliarDataWarning)
        return join(batches) if len(batches) > 1 else batches[0]

    @property
    def has_text(self) -> bool:
        """Whether a column holds texts."""
        return bool(self._texts)

    @property
    def reads_twice(self) -> bool:
        """Whether all rows are read before one can be encoded: for texts, vectors and bins."""
        return self.has_text or bool(self.vectors) or self.settings.bins is not None

    def set_bins(self, edges: Sequence[NDArray[np.float64]]) -> None:
        """Take these edges for those of the bins of the numeric columns, before it is frozen."""
        self.bins = NumberBins.named(edges, self._numeric, self.numbering)

    @property
    def may_have_bins(self) -> bool:
        """Whether bins can be added to rows that have been encoded: they come behind the rest."""
        return bool(self._numeric) and not self.settings.hash_bits and not self.settings.bins

    def with_bins(self, n_bins: int, edges: Sequence[NDArray[np.float64]]) -> "TableEncoding":
        """Return an encoding as if bins had been asked for before the rows were read."""
        found = copy(self)
        found.settings = self.settings._replace(bins=n_bins)
        if isinstance(self.numbering, KeptNumbering):  # texts are looked up in the old one still
            found.numbering = self.numbering.copy()
        found.set_bins(edges)
        found.numbering.growing = False
        return found

    def numbers_of(self, rows: Batch) -> NDArray[np.float64]:
        """Return the numbers of rows that ``encode`` gave while it learned."""
        return first_values(rows.data, rows.indptr, len(self._numeric))

    def owners(self, bins: NumberBins | None = None) -> NDArray[np.int32] | None:
        """Return the place of the column that each feature is a level of, −1 for no level.

        Levels are categories, "is missing" and bins; a list has several, which are none here.
        ``bins`` that have no names yet come behind.
        None where features are hashed: several columns may share one.
        """
        if not isinstance(self.numbering, KeptNumbering):
            return None
        numbers = np.full(len(self._numeric), -1, np.int32)
        known = self.numbering.vocabulary.arrays().columns.astype(np.int32)
        for column in self.features:  # np.isin would import numpy.ma
            if column.role in ("text", "vector", "list"):
                known[known == column.place] = -1
        unnamed = [] if bins is None else [bins.owners(self._numeric)]
        return np.concatenate([numbers, known, *unnamed])

    def settle(self) -> None:
        """Learn no more, after all rows have been read once: drop what is rare in texts.

        The features are numbered anew, and each term has the weight that all texts give it.
        """
        documents = self.numbering.documents
        n_texts = documents.n_texts * len(self._texts)
        few = documents.n_texts < FEW_ROWS or documents.counts.sum() < SHORT_TEXTS * n_texts
        least = self.settings.min_count or (1 if few else 2)
        usual = self.numbering.usual_shares(self._texts, least)
        self.numbering.drop_rare(self._texts, least)
        if self._sample is not None and self.settings.bins is not None:
            self.set_bins(self._sample.edges(self.settings.bins))
        self.freeze(usual)

    def text_features(self) -> NDArray[np.bool_]:
        """Return which features are terms of texts that can be forgotten."""
        found = np.zeros(self.n_features, bool)
        if isinstance(self.numbering, KeptNumbering):
            of_text = np.array([column.role == "text" for column in self.features])
            found[len(self._numeric) :] = of_text[self.numbering.vocabulary.arrays().columns]
        return found

    def forget(self, features: NDArray[np.bool_]) -> None:
        """Forget some terms of texts; how many words are usual is then no longer known."""
        if isinstance(self.numbering, KeptNumbering):
            self.numbering.keep(np.flatnonzero(~features[len(self._numeric) :]))
        if self._summaries is not None:
            self._summaries = self._summaries.copy()
            texts = [place for place, one in enumerate(self.features) if one.role == "text"]
            self._summaries[SUMMARY_FIELDS.index("known"), texts] = np.nan

    def freeze(self, usual: Mapping[int, float] | None = None) -> None:
        """Learn no more: what is new in rows to come is dropped.

        ``usual`` are the shares of words of text columns that other texts have as well.
        """
        if self._counts is not None and self._counts.n_rows:
            self._summaries = self._counts.summaries(usual or {})
        self._counts, self._sample = None, None
        self.n_left_out = self.numbering.n_unknown
        self.numbering.growing = False

    def finished(self, rows: Batch, bins: NumberBins | None) -> Batch:
        """Fill and scale, in place, the numbers that ``encode`` gave while it learned; add bins."""
        m, numbers = len(self._numeric), self.numbers_of(rows)
        parts = [] if bins is None else [shifted(bins.part(numbers), m)]
        set_first(rows.data, rows.indptr, self._finished(numbers))
        if not parts:
            return rows
        joined = joined_rows(np.empty((rows.n_rows, 0)), [rows, *parts])
        joined = without_duplicates(joined) if self._shares_numbers else joined
        return rows.with_rows(joined._replace(n_features=self.n_features))

    def name(self, index: int) -> str:
        """Return what a feature is called.

        "age" for a number, "age is missing", "age from 20 to 30" for a bin of it, "colour=red",
        "colour=(missing)", "embedding[3]", "review: not good" for a pair of words, without the
        column where there is no other, "characters 'ing '" for an n-gram, and "hash 17" for a
        hashed one.
        """
        self.check_index(index)
        number = index - self.n_numeric
        if number < 0:
            return self._numeric[index].title
        known = self.numbering.name(number)
        if known is None:
            return f"hash {number}"
        column, term = self.features[known[0]], known[1]
        if column.role == "numeric":
            return f"{column.title} {term or 'is missing'}"
        if column.role in ("category", "list"):
            return f"{column.title}={term or '(missing)'}"
        if column.role == "vector":
            return f"{column.title}[{term}]" if term else f"{column.title} is missing"
        if column.part == CHARACTERS:
            term = f"characters '{term}'"
        return term if len({one.name for one in self.features}) == 1 else f"{column.name}: {term}"

    def unscaled(self, index: int, value: float) -> float | None:
        """Return the number in the file that a value of a scaled feature stands for, else None."""
        if not self.settings.scale or index >= len(self._numeric):
            return None
        return self.statistics.unscaled(index, value)

    def says_value(self, index: int) -> bool:
        """Return whether the name of a feature says its value: a category, a bin, a missing one."""
        if index < self.n_numeric:
            return False
        known = self.numbering.name(index - self.n_numeric)
        return known is not None and self.features[known[0]].role in ("numeric", "category", "list")

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs beside the arrays."""
        return {
            "kind": self.kind,
            "version": self.numbering.version,
            "hash_version": HASH_VERSION,
            "columns": [
                {"name": c.name, "role": c.role, "parts": list(c.parts), "form": c.form}
                for c in self.columns
            ],
            "settings": self.settings._asdict(),
            "n_texts": self.numbering.documents.n_texts,
            "repeated_rows": 0.0 if self.seen is None else self.seen.repeated,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        arrays: dict[str, NDArray[Any]] = {"statistics": self.statistics.values}
        if self.vectors:
            own = [vector.statistics.values for vector in self.vectors.values()]
            arrays["vector_statistics"] = np.concatenate(own, axis=1)
        if self.seen is not None:
            limit = np.array([self.seen.limit], np.uint64)
            arrays["seen_rows"] = np.concatenate([limit, [self.seen.whole], self.seen.digests])
        if self.summaries is not None:
            arrays["summaries"] = self.summaries
        if isinstance(self.numbering, KeptNumbering):
            terms = self.numbering.vocabulary.arrays()
            known = spelled_hashes(terms, self.features) == terms.hashes  # 0: as it is spelled
            terms = terms._replace(hashes=np.where(known, np.uint64(0), terms.hashes))
            arrays |= {f"term_{field}": array for field, array in terms._asdict().items()}
        if self.bins is not None:
            lengths = [len(edges) for edges in self.bins.edges]
            arrays["bin_edges"] = np.concatenate([np.empty(0), *self.bins.edges])
            arrays["bin_offsets"] = np.cumsum([0, *lengths]).astype(np.int64)
        if self.has_text:
            counts = self.numbering.documents.padded(len(self.numbering))
            if not isinstance(self.numbering, KeptNumbering):
                places = np.flatnonzero(counts)
                arrays["term_places"], counts = places.astype(np.int32), counts[places]
            arrays["term_documents"] = counts
        return arrays

    def learn(self, table: Table) -> None:
        """Take in the rows of a prepared table as ``encode`` does, and give none back."""
        if table.frame.height and table.numbers is not None:
            for _ in self._parts(table, table.numbers, None, weigh=False):
                pass
            self._count(table, table.numbers)

    def _rows(self, table: Table, numbers: NDArray[np.float64], use: RowUse) -> Batch:
        prints = None if use.seen is None else RowFingerprints(len(numbers))
        parts = [*self._parts(table, numbers, use.counts, prints)]
        if self.bins is not None and not use.raw:
            parts.append(shifted(self.bins.part(numbers), len(self._numeric)))
        if use.seen is not None and prints is not None:
            for block in table.vectors:
                prints.add_vectors(block)
            use.seen.add(prints.rows(numbers))
        if self.frozen:
            if use.counts is not None:
                use.counts.add_numbers(numbers)
                for vector, block in zip(self.vectors.values(), table.vectors, strict=True):
                    use.counts.add_vectors(vector.column.place, vector.spread(block))
            numbers = numbers if use.raw else self._finished(numbers)
        else:
            self._count(table, numbers)
        rows = joined_rows(numbers, parts)
        return without_duplicates(rows) if self._shares_numbers else rows

    def _count(self, table: Table, numbers: NDArray[np.float64]) -> None:
        for vector, block in zip(self.vectors.values(), table.vectors, strict=True):
            vector.statistics.add(block.astype(np.float64, copy=False))
        self.statistics.add(numbers)
        if self._counts is not None:
            self._counts.add_numbers(numbers)
        if self._sample is not None:
            self._sample.add(numbers)
        self.numbering.documents.n_texts += len(numbers)

    def _parts(
        self,
        table: Table,
        numbers: NDArray[np.float64],
        counts: ColumnCounts | None,
        prints: RowFingerprints | None = None,
        *,
        weigh: bool = True,
    ) -> Iterator[Batch]:
        """Yield what each column gives to the rows; texts only where they are to be weighed."""
        m = len(self._numeric)
        counts = counts if self._counts is None or self.frozen else self._counts
        terms, numeric, vectors = iter(table.texts), iter(np.isnan(numbers).T), iter(table.vectors)
        for column in self.features:
            if column.role == "text":
                found = next(terms)
                if prints is not None:
                    prints.add_terms(found)
                if found.spelled is not None:
                    found = self._text_part(column.place, found, counts, weigh=weigh)
            elif column.role in ("category", "list"):
                found = self._level_part(table, column, counts, prints)
            elif column.role == "vector":
                block = next(vectors)
                yield from self._missing_part(column, missing_vectors(block), counts)
                own, scale = self.vectors[column.place], self.settings.scale
                found = own.part(block, scale=scale) if weigh else NO_ROWS
            else:
                yield from self._missing_part(column, next(numeric), None)
                continue
            if found is not NO_ROWS:
                yield shifted(found, m)

    def _level_part(
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

    def _missing_part(
        self, column: FeatureColumn, gaps: NDArray[np.bool_], counts: ColumnCounts | None
    ) -> Iterator[Batch]:
        """Yield the feature of rows without a value in a column, where there are any."""
        if counts is not None:  # those of numbers are counted for all columns together
            counts.n_missing[column.place] += int(gaps.sum())
        if gaps.any():
            missing = missing_numbers(gaps, column, self.numbering)
            yield shifted(indicator_part(missing), len(self._numeric))

    def _text_part(
        self, place: int, terms: Batch, counts: ColumnCounts | None, *, weigh: bool
    ) -> Batch:
        """Return what texts give to the rows: nothing where they are only learned from."""
        text, growing = self._texts[place], not self.frozen
        features = text.learn(terms)
        if counts is not None:
            counts.add_terms(place, terms, None if growing else features)
        return text.weighed(features, terms) if weigh else NO_ROWS

    def _finished(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        return self.statistics.finished(numbers, self.settings.missing, scale=self.settings.scale)
