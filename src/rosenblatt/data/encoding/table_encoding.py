"""How the columns of a table become rows of features."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import (
    Batch,
    first_values,
    join,
    joined_rows,
    running_sums,
    set_first,
    shifted,
    without_duplicates,
)
from rosenblatt.data.encoding.categories import known_level
from rosenblatt.data.encoding.familiarity import FIELDS as SUMMARY_FIELDS
from rosenblatt.data.encoding.familiarity import ColumnCounts, SeenRows, Summaries, salt_of
from rosenblatt.data.encoding.features import (
    CHARACTERS,
    FeatureColumn,
    FeatureEncoding,
    InputColumn,
    KeptNumbering,
    Numbering,
    Role,
    spelled_hashes,
)
from rosenblatt.data.encoding.label_column import UNNAMED
from rosenblatt.data.encoding.numbers import ColumnStatistics, NumberBins
from rosenblatt.data.encoding.parsing import BlockFeatures, RowUse, TableParser
from rosenblatt.data.encoding.text_column import Lengths, weighed
from rosenblatt.data.encoding.vectors import scaled_vectors, vector_spread
from rosenblatt.data.labels import Classes
from rosenblatt.data.tables.frames import frame_tables
from rosenblatt.data.tables.table import Selection, Table
from rosenblatt.errors import (
    InputError,
    Parameter,
    Sentence,
    UnfamiliarDataWarning,
    warn_caller,
)
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.text.hashing import HASH_VERSION
from rosenblatt.parameters import AT_LEAST_ONE, DEFAULTS, check_setting

MOST_FEATURES = 2**31 - 1

NO_STATISTICS: Mapping[int, ColumnStatistics] = MappingProxyType({})
GIVEN = RowUse(learn=False)  # rows to be answered


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
    words: bool = True
    balanced: bool = False  # whether the length of texts follows from the number of other columns

    @property
    def text_parts(self) -> dict[str, bool]:
        """Which features columns of text have."""
        return {"words": self.words, "characters": self.char_ngrams is not None}

    @property
    def n_lengths(self) -> int:
        """About how many terms texts have for each that they have of words."""
        low, high = self.char_ngrams or (1, 1)
        return high - low + 1

    @classmethod
    def checked(
        cls, max_features: int = 1 << 22, *, balanced: bool = False, **values: Any
    ) -> "Settings":
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
        values["words"] = values.get("words") is not False
        if not (values["words"] or high):
            nothing = Parameter("words", value=False), " leaves texts nothing but characters: "
            raise InputError(Sentence(*nothing, Parameter("char_ngrams"), " may not be 0."))
        values["char_ngrams"] = (low, high) if high else None
        return cls(**values, max_features=max_features, balanced=balanced)


class ColumnFacts(NamedTuple):
    """What the rows that were learned from say of their columns."""

    statistics: ColumnStatistics  # of numbers
    vector_statistics: Mapping[int, ColumnStatistics] = NO_STATISTICS  # by the place of a column
    edges: Sequence[NDArray[np.float64]] | None = None  # between bins of numbers
    summaries: Summaries | None = None  # None in models of older versions
    seen: SeenRows | None = None  # a sample of the rows


class TableEncoding(FeatureEncoding):
    """How the columns of a table become features, as rows that were learned from say.

    Numeric columns are features 0 … m−1, in the order of the columns, and stand first in every row.
    Levels, words, pairs of words and "column is missing" are numbered from m on, or by their hash,
    and bins come last. ``EncodingFit`` makes one; it learns no more.
    """

    kind = "table"

    def __init__(
        self,
        columns: tuple[InputColumn, ...],
        settings: Settings,
        numbering: Numbering,
        facts: ColumnFacts,
        *,
        notes: Sequence[str] = (),
        n_left_out: int = 0,
    ) -> None:
        self.columns, self.settings, self.numbering = columns, settings, numbering
        self.facts = facts
        self.statistics = facts.statistics
        self.vector_statistics = facts.vector_statistics  # by the places of columns of vectors
        self.summaries = facts.summaries  # what is kept of each column
        self.seen = facts.seen  # a sample of the rows that were learned from
        self.notes = list(notes)  # sentences that a person should see
        self.n_left_out = n_left_out  # words, counted once a row, for which there was no room
        self.parser = TableParser(columns, settings, numbering)
        self.features = self.parser.features
        self._numeric = self.parser.numeric
        edges = facts.edges
        self.bins = None if edges is None else NumberBins.named(edges, self._numeric, numbering)
        numbering.close()

    @property
    def table(self) -> "TableEncoding":
        """The encoding of columns."""
        return self

    inner = table  # the encoding of what files hold

    @property
    def label(self) -> str | None:
        """The column of the labels, None where there is none."""
        return self.name_of("label")

    def name_of(self, role: Role) -> str | None:
        """Return the column that alone has a role, None where none has it."""
        return self.parser.name_of(role)

    @property
    def label_separator(self) -> str:
        """What stands between the labels of a row; "" where every row has one."""
        return self.parser.label_separator

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
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
        notes = []
        for place, levels in self.numbering.take_respelled().items():
            number, texts = next(iter(levels.items()))
            known = " or ".join(f"'{text}'" for text in texts)
            sure = "is read as" if len(texts) == 1 else "may be"
            notes.append(
                f"Column '{self.features[place].title}' holds numbers, but texts in training:"
                f" {number} {sure} {known}. Read it as text."
            )
        return notes

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

    def encode(self, table: Table, classes: Classes | None, use: RowUse = GIVEN) -> Batch:
        """Return the rows of a table, of a file, a frame or a request; count columns and rows.

        Labels are −1 without classes to number them and, unless they are to be learned, where one
        is missing.
        """
        table = self.parser.prepare(table, use) if table.numbers is None else table
        if use.counts is not None:
            own = self.vector_statistics.items()
            for (place, statistics), vectors in zip(own, table.vectors, strict=False):
                use.counts.add_vectors(place, vector_spread(vectors, statistics))
        return encoded_block(self.parser.parse(table, classes, use), self)

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
        return bool(self.parser.texts)

    @property
    def text_length(self) -> float:
        """The length of a text as a vector: its square is a quarter of what other columns add.

        A number, its bin and a category each add about 1 to the square of the length of a row.
        Beside nothing the length is 1, as in models of earlier versions.
        """
        others = sum(column.role != "text" for column in self.features)
        edges = () if self.bins is None else self.bins.edges
        others += sum(len(own) > 0 for own in edges)
        return math.sqrt(others / 4.0) if others and self.settings.balanced else 1.0

    def with_bins(self, n_bins: int, edges: Sequence[NDArray[np.float64]]) -> "TableEncoding":
        """Return an encoding as if bins had been asked for before the rows were read."""
        settings, facts = self.settings._replace(bins=n_bins), self.facts._replace(edges=edges)
        return self._with(settings, self.numbering.copy(), facts)

    def _with(
        self, settings: Settings, numbering: Numbering, facts: ColumnFacts
    ) -> "TableEncoding":
        """Return an encoding of the same columns."""
        said: Any = {"notes": self.notes, "n_left_out": self.n_left_out}
        return TableEncoding(self.columns, settings, numbering, facts, **said)

    def owners(self) -> NDArray[np.int32] | None:
        """Return the place of the column that each feature is a level of, −1 for no level.

        Levels are categories, "is missing" and bins; a list has several, which are none here.
        None where features are hashed: several columns may share one.
        """
        if not isinstance(self.numbering, KeptNumbering):
            return None
        numbers = np.full(len(self._numeric), -1, np.int32)
        known = self.numbering.vocabulary.arrays().columns.astype(np.int32)
        for column in self.features:  # np.isin would import numpy.ma
            if column.role in ("text", "vector", "list"):
                known[known == column.place] = -1
        return np.concatenate([numbers, known])

    def gaps(self) -> NDArray[np.bool_]:
        """Return which features say that a value is missing, where owners are known."""
        found = np.zeros(self.n_features, bool)
        if isinstance(self.numbering, KeptNumbering):
            found[len(self._numeric) :] = np.diff(self.numbering.vocabulary.arrays().offsets) == 0
        return found

    def text_features(self) -> NDArray[np.bool_]:
        """Return which features are terms of texts that can be forgotten."""
        found = np.zeros(self.n_features, bool)
        if isinstance(self.numbering, KeptNumbering):
            of_text = np.array([column.role == "text" for column in self.features])
            found[len(self._numeric) :] = of_text[self.numbering.vocabulary.arrays().columns]
        return found

    def without(self, features: NDArray[np.bool_]) -> "TableEncoding":
        """Return an encoding without some terms; how many words are usual is no longer known."""
        numbering, summaries = self.numbering, self.summaries
        if isinstance(numbering, KeptNumbering):
            numbering = numbering.keep(np.flatnonzero(~features[len(self._numeric) :]))
        if summaries is not None:
            summaries = summaries.copy()
            texts = [place for place, one in enumerate(self.features) if one.role == "text"]
            summaries[SUMMARY_FIELDS.index("known"), texts] = np.nan
        return self._with(self.settings, numbering, self.facts._replace(summaries=summaries))

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
        return float(self.statistics.unscaled(value, index))

    def unscaled_rows(self, rows: CSR) -> CSR:
        """Return rows of this encoding with the numbers that stand in the file."""
        if not self.settings.scale or not self.n_numeric:
            return rows
        data = rows.data.astype(np.float64)
        numbers = first_values(data, rows.indptr, self.n_numeric)
        set_first(data, rows.indptr, self.statistics.in_file(numbers))
        return rows._replace(data=data)

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
        if self.vector_statistics:
            own = [statistics.values for statistics in self.vector_statistics.values()]
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


def encoded_block(
    block: Batch, encoding: TableEncoding, features: BlockFeatures | None = None
) -> Batch:
    """Return the rows of a block as an encoding has them; the block stays as it is.

    Numbers are filled, scaled and put into bins, texts weighed, vectors scaled. ``features`` says
    what those of the block are, if another parser has numbered them.
    """
    parser, m = encoding.parser, encoding.n_numeric
    if not block.n_rows:
        return block
    numbers = first_values(block.data, block.indptr, m)
    settings, statistics = encoding.settings, encoding.statistics
    finished = statistics.finished(numbers, settings.missing, scale=settings.scale)
    bins = [] if encoding.bins is None else [shifted(encoding.bins.part(numbers), m)]
    if parser.texts or parser.vectors:
        features = features or parser.features_of_blocks()
        parts = [shifted(part, m) for part in _column_parts(block, encoding, features)]
        rows = joined_rows(finished, [*parts, *bins])
    else:
        rows = block
        if m:
            rows = block._replace(data=block.data.astype(np.float64))
            set_first(rows.data, rows.indptr, finished)
        rows = joined_rows(np.empty((block.n_rows, 0)), [rows, *bins]) if bins else rows
    if settings.hash_bits is not None and len(encoding.features) > 1:
        rows = without_duplicates(rows)  # columns may share a feature
    if rows.indices is block.indices:
        return rows
    n_features = encoding.n_features if bins else int(rows.indices.max(initial=-1)) + 1
    return block.with_rows(rows._replace(n_features=n_features))


def _column_parts(
    block: Batch, encoding: TableEncoding, features: BlockFeatures
) -> Iterator[Batch]:
    """Yield what the columns behind the numbers of a block give to its rows, in their order.

    Each text and each column of vectors is a part, and so are the columns between two of these.
    """
    parser, m = encoding.parser, encoding.n_numeric
    parts, part_of = _parts_of(encoding.features)
    # Whose each value is: of a feature of a block it is known, or it says so itself
    if parser.owned:
        own_part = part_of[block.indices >> parser.owner_bits]
        own_part[block.indices < m] = -1
    elif features.owners is None:
        own_part = np.where(block.indices < m, np.int16(-1), np.int16(0))
    else:
        own_part = np.append(np.full(m, -1, np.int16), part_of[features.owners])[block.indices]
    for number, column in enumerate(parts):
        here: Any = own_part == number if m or len(parts) > 1 else slice(None)
        indices = block.indices[here]
        indices = (indices & parser.number_bits if parser.owned else indices) - np.int32(m)
        if features.numbers is not None:
            indices = features.numbers[indices]
        ends = block.indptr if isinstance(here, slice) else running_sums(here)[block.indptr]
        part = Batch(block.data[here], indices.astype(np.int32, copy=False), ends)
        if column is None:
            yield part
        elif column.role == "text":
            documents, n_terms = encoding.numbering.documents, len(encoding.numbering)
            yield weighed(part, documents, n_terms, encoding.text_length)
        else:
            vector = encoding.parser.vectors[column.place]
            values = part.data.reshape(-1, vector.width)
            if encoding.settings.scale:
                values = scaled_vectors(values, encoding.vector_statistics[column.place])
            yield Batch(values.ravel(), np.tile(vector.features, len(values)), part.indptr)


def _parts_of(
    columns: Sequence[FeatureColumn],
) -> tuple[list[FeatureColumn | None], NDArray[np.int16]]:
    """Return texts, vectors, and None for what is between them; and by owner which part it is.

    "Vector is missing" has an owner of its own, so many behind as there are columns.
    """
    parts = list[FeatureColumn | None]()
    part_of = np.zeros(2 * len(columns), np.int16)
    for column in columns:
        if column.role != "text" and (not parts or parts[-1] is not None):
            parts.append(None)
        part_of[[column.place, len(columns) + column.place]] = len(parts) - 1
        if column.role in ("text", "vector"):
            parts.append(column)
            part_of[column.place] = len(parts) - 1
    return parts, part_of
