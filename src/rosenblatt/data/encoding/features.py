"""What columns of a table are taken for, and the features that they become: names and numbers.

Numeric columns come first; all other features are numbered in a vocabulary, or by their hash.
"""

# ruff: noqa: ARG002  # a hash needs less than a vocabulary

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import NO_TERMS, Batch, Spelled, running_sums
from rosenblatt.data.labels import TRUTHS, Spellings, plain_number
from rosenblatt.data.polars import pl
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.text.hashing import WORD_MASK, column_seed
from rosenblatt.kernels.text.terms import hash_names
from rosenblatt.kernels.text.vocabulary import (
    LONGEST_NAME,
    KnownTerms,
    copy_names,
    enter_terms,
    find_words,
    look_up,
)
from rosenblatt.parameters import DEFAULTS

if TYPE_CHECKING:
    from rosenblatt.data.encoding.table_encoding import TableEncoding

FEWEST_SLOTS = 1 << 16
GROWTH = 4  # times as many slots: to enter all terms again costs more than the memory
MANY_SLOTS = 1 << 20  # 8 MB: from there on twice as many, 12 to 24 bytes a term
Role = Literal[
    "label", "weight", "group", "numeric", "category", "list", "text", "vector", "ignored"
]  # a list is of categories
DatePart = Literal["", "year", "month", "weekday", "hour"]
CHARACTERS = "characters"  # the part of a text that its n-grams are
NumberForm = Literal["", "point", "comma"]  # plain; as in $1,234.5; as in 1.234,5
DateForm = Literal["", "ymd", "dmy", "mdy", "dby", "bdy", "time"]  # b: the name of a month

ROLES: tuple[str, ...] = get_args(Role)
PARTS: tuple[str, ...] = get_args(DatePart)
NUMBER_FORMS: tuple[str, ...] = get_args(NumberForm)
DATE_FORMS: tuple[str, ...] = get_args(DateForm)

# Versions of encodings in model files. 1: texts were not weighed; 2: True and true, 1.0 and 1 were
# two levels; 3: no number was shortened; 4: 2.50 and 2.5 were one level; 5: words were letters and
# digits alone, and nothing was composed
FOLDING, LETTERS, TOKENS = 4, 5, 6

# How a missing value is written in a column of text, blanks around it aside; null is missing too.
MISSING = frozenset({"", "?", "NA", "N/A", "nan", "NaN", "null", "NULL", "None"})
FEW_VALUES = 1000  # up to which Python is faster than a call of polars
BLANKS = " \t\n\r\v\f"


class TermArrays(NamedTuple):
    """All that a vocabulary holds, one entry a term; ``offsets`` has one more."""

    hashes: NDArray[np.uint64]
    columns: NDArray[np.int32]  # whose term it is
    letters: NDArray[np.uint8]  # UTF-8, one name after the other
    offsets: NDArray[np.int64]  # where in the letters each begins


def _crowded(n_terms: int, n_slots: int) -> bool:
    """Whether a table is two thirds full: it would be searched too long."""
    return 3 * n_terms >= 2 * n_slots


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    longer = np.zeros(length, array.dtype)
    longer[: len(array)] = array
    return longer


def chosen_terms(terms: TermArrays, numbers: NDArray[Any]) -> TermArrays:
    """Return some terms, numbered anew in this order."""
    starts = terms.offsets[numbers]
    offsets = running_sums(terms.offsets[numbers + 1] - starts)
    letters = np.empty(offsets[-1], np.uint8)
    copy_names(terms.letters, starts, offsets, letters)
    return TermArrays(terms.hashes[numbers], terms.columns[numbers], letters, offsets)


def spelled_hashes(terms: TermArrays, columns: "Sequence[FeatureColumn]") -> NDArray[np.uint64]:
    """Return the hash of each term as its name gives it; see ``hashing``.

    Of bins, of gaps and of names that were cut it is another one.
    """
    if not len(terms.hashes):
        return terms.hashes
    kinds = [one.part if one.part == CHARACTERS else one.role for one in columns]
    names = [one.name if one.role == "text" else one.title for one in columns]
    seeds = np.array([*map(column_seed, kinds, names)], np.uint64)[terms.columns]
    pairs = np.array([kind == "text" for kind in kinds])[terms.columns]
    letters, found = np.append(terms.letters, np.zeros(8, np.uint8)), np.empty_like(terms.hashes)
    hash_names(letters.ctypes.data, terms.offsets, seeds, pairs, found)
    return found


def _spelled(terms: TermArrays) -> Batch:
    """Return terms of a vocabulary as if they were those of one text."""
    starts, stops = terms.offsets[:-1].astype(np.int32), terms.offsets[1:].astype(np.int32)
    spelled, indptr = Spelled(starts, stops, terms.letters), np.array([0, len(starts)])
    return Batch(np.empty(0), terms.hashes, indptr, spelled=spelled)


class Vocabulary:
    """A growing table of at most ``most`` terms, known by 64-bit hashes and numbered from 0."""

    def __init__(self, most: int, stored: TermArrays | None = None) -> None:
        if stored is None:
            lengths = {np.uint64: 0, np.int32: 0, np.uint8: 0, np.int64: 1}
            stored = TermArrays(*(np.zeros(n, kind) for kind, n in lengths.items()))
        self._hashes, self._columns, self._letters, self._offsets = stored
        self.most = most
        self._n_terms = len(stored.hashes)
        self._slots: NDArray[np.uint64] | None = None  # the table of hashes, once it is needed

    def __len__(self) -> int:
        return self._n_terms

    def arrays(self) -> TermArrays:
        """Return the terms as they are now."""
        n = self._n_terms
        return TermArrays(
            self._hashes[:n],
            self._columns[:n],
            self._letters[: self._offsets[n]],
            self._offsets[: n + 1],
        )

    def batch(self) -> Batch:
        """Return the terms as if they were those of one text."""
        return _spelled(self.arrays())

    def name(self, number: int) -> str:
        """Return the term of this number as text."""
        start, stop = self._offsets[number], self._offsets[number + 1]
        return self._letters[start:stop].tobytes().decode()

    def add(self, key: int, name: bytes, column: int) -> int:
        """Take in a new term; return its number, or −1 where there is no more room."""
        number = self._n_terms
        if number >= self.most:
            return -1
        self._reserve()
        cut = name[:LONGEST_NAME]
        if len(name) > LONGEST_NAME:
            cut = cut.decode("utf-8", "ignore").encode()  # whole characters only
        used = int(self._offsets[number])
        self._hashes[number] = key
        self._columns[number] = column
        self._letters[used : used + len(cut)] = np.frombuffer(cut, np.uint8)
        self._offsets[number + 1] = used + len(cut)
        self._n_terms += 1
        self._slots = None
        return number

    def look_up(self, terms: Batch, column: int, *, growing: bool) -> NDArray[np.int32]:
        """Return the number of each term, −1 for an unknown one that is not taken in."""
        numbers = np.empty(len(terms.indices), np.int32)
        starts, stops, letters = terms.spelled or NO_TERMS
        most = self.most if growing else self._n_terms
        first, done = self._n_terms, 0
        spelled = starts, stops, letters.ctypes.data
        while True:
            known = KnownTerms(self._table(), self._hashes, self._offsets, self._letters)
            done, self._n_terms = look_up(
                terms.indices, done, *spelled, known, self._n_terms, most, numbers
            )
            if done == len(numbers):
                break
            self._reserve()
        self._columns[first : self._n_terms] = column
        return numbers

    def take_in(self, terms: TermArrays) -> NDArray[np.int32]:
        """Return the numbers of terms of another vocabulary, new ones taken in; −1: no room."""
        first = self._n_terms
        numbers = self.look_up(_spelled(terms), 0, growing=True)
        new = numbers >= first
        self._columns[numbers[new]] = terms.columns[new]
        return numbers

    def _table(self) -> NDArray[np.uint64]:
        """Return the table of hashes, with room for another term."""
        if self._slots is None or _crowded(self._n_terms, len(self._slots)):
            n_slots = FEWEST_SLOTS
            while _crowded(self._n_terms, n_slots):
                n_slots *= GROWTH if n_slots < MANY_SLOTS else 2
            while n_slots > FEWEST_SLOTS and not _crowded(self.most, n_slots // 2):
                n_slots //= 2
            self._slots = None  # the old table goes before the new one comes
            self._slots = np.zeros(n_slots, np.uint64)
            enter_terms(self._hashes, self._n_terms, self._slots)
        return self._slots

    def _reserve(self) -> None:
        """Make room for one more term at least: twice as much where there is none."""
        n, used = self._n_terms, int(self._offsets[self._n_terms])
        if n >= len(self._hashes):
            room = min(self.most, 2 * n + 1024)
            self._hashes = _longer(self._hashes, room)
            self._columns = _longer(self._columns, room)
            self._offsets = _longer(self._offsets, room + 1)
        if used + LONGEST_NAME > len(self._letters):
            self._letters = _longer(self._letters, 2 * used + (1 << 16))


class DocumentCounts:
    """In how many texts each term stands, from which its weight follows.

    The inverse document frequency, smoothed as if one more text had every term:
    idf = ln((1 + n)/(1 + df)) + 1, for df of n texts. The less common a term, the more it says.
    """

    def __init__(self, counts: NDArray[np.int32] | None = None, n_texts: int = 0) -> None:
        self.counts = np.zeros(0, np.int32) if counts is None else counts
        self.n_texts = n_texts
        self._weights: NDArray[np.float32] | None = None

    def add(self, numbers: NDArray[Any], n_terms: int) -> None:
        """Count the terms of some texts, each of which stands once in each; −1 is no term."""
        if n_terms > len(self.counts):
            self.counts = _longer(self.counts, n_terms)
        self._weights = None
        np.add.at(self.counts, numbers[numbers >= 0], np.int32(1))

    def add_texts(self, n_texts: int) -> None:
        """Count texts, whatever their terms."""
        self.n_texts += n_texts

    def padded(self, n_terms: int) -> NDArray[np.int32]:
        """Return the counts of ``n_terms`` terms, 0 for those that no text has had yet."""
        return _longer(self.counts, max(n_terms, len(self.counts)))

    def weights(self, n_terms: int) -> NDArray[np.float32]:
        """Return the inverse document frequencies of ``n_terms`` terms."""
        if self._weights is None or len(self._weights) < n_terms:
            counts = self.padded(n_terms)
            idf = np.log((1.0 + self.n_texts) / (1.0 + counts)) + 1.0
            self._weights = np.maximum(idf, 1.0).astype(np.float32)
        return self._weights


class _Numbering:
    """What numberings share: each gives numbers from 0 on, and −1 to a term that it lacks."""

    def __init__(self, documents: DocumentCounts | None) -> None:
        self.growing = True  # until it is frozen, new terms are taken in
        self.n_unknown = 0  # how often a term of a row was not taken in
        self.version = TOKENS  # of the encoding: files of older ones have other words and levels
        self.documents = documents or DocumentCounts()

    def close(self) -> None:
        """Take in no more terms."""
        self.growing = False


class HashedNumbering(_Numbering):
    """The lower bits of the hash are the number; terms may share one."""

    def __init__(self, bits: int, documents: DocumentCounts | None = None) -> None:
        super().__init__(documents)
        self.key_mask = (1 << bits) - 1  # the bits of a hash that matter

    def __len__(self) -> int:
        return self.key_mask + 1

    def name(self, number: int) -> None:
        """Return None: names are not kept, and several terms may have a number."""

    def copy(self) -> "HashedNumbering":
        """Return a numbering that may grow on."""
        found = HashedNumbering(self.key_mask.bit_length(), self.documents)
        found.version = self.version
        return found

    def n_terms(self) -> dict[int, int]:
        """Return nothing: whose terms they are is not known."""
        return {}

    def without_rare(
        self, least: Mapping[int, int]
    ) -> tuple["HashedNumbering", NDArray[np.int32] | None]:
        """Return a copy: a number that few texts have costs no memory."""
        return self.copy(), None

    def usual_shares(
        self, least: Mapping[int, int], characters: Container[int] = ()
    ) -> dict[int, float]:
        """Return nothing: a number that is new to the texts is not told from one that is not."""
        return {}

    def level(self, column: int, key: int, name: bytes, n_rows: int) -> int:
        """Return the number of a category level."""
        return key & self.key_mask

    def spelling(self, column: int, key: int, value: Any, level: bytes) -> bytes:
        """Return 1 for 1.0 and +1, true for True: no other level is known to compare with."""
        text = level.decode()
        plain = text.lower() if text.lower() in TRUTHS else plain_number(text)
        return level if plain is None else plain.encode()

    def terms(self, column: int, terms: Batch) -> NDArray[np.int32]:
        """Return the number of each term."""
        return terms.indices.astype(np.int32)


class KeptNumbering(_Numbering):
    """Terms are numbered in the order in which they are first met, and keep their names."""

    key_mask = WORD_MASK

    def __init__(
        self, most: int, stored: TermArrays | None = None, documents: DocumentCounts | None = None
    ) -> None:
        super().__init__(documents)
        self.vocabulary = Vocabulary(most, stored)
        self._levels: dict[int, dict[int, int]] = {}  # column to hash to number
        self._spellings: dict[int, Spellings] = {}
        self._respelled: dict[int, dict[str, list[str]]] = {}  # column to number to its levels

    def __len__(self) -> int:
        return len(self.vocabulary)

    def copy(self) -> "KeptNumbering":
        """Return a numbering that may grow on."""
        found = KeptNumbering(self.vocabulary.most, self.vocabulary.arrays(), self.documents)
        found.version = self.version
        return found

    def name(self, number: int) -> tuple[int, str]:
        """Return whose term it is and the term."""
        return int(self.vocabulary.arrays().columns[number]), self.vocabulary.name(number)

    def n_terms(self) -> dict[int, int]:
        """Return how many terms all texts of each column have, each counted once a text."""
        columns, counts = self.vocabulary.arrays().columns, self.documents.padded(len(self))
        n_terms = np.bincount(columns, counts[: len(columns)]).astype(np.int64)
        return dict(enumerate(n_terms.tolist()))

    def without_rare(
        self, least: Mapping[int, int]
    ) -> tuple["KeptNumbering", NDArray[np.int32] | None]:
        """Return a numbering without terms of text columns that stand in fewer texts.

        Beside it the numbers that its terms have there, −1 for none; None where they are the same.
        """
        columns, counts = self.vocabulary.arrays().columns, self.documents.padded(len(self))
        fewest = [least.get(column, 0) for column in range(int(columns.max(initial=0)) + 1)]
        common = counts[: len(columns)] >= np.array(fewest)[columns]
        if common.all():
            return self.copy(), None
        return self.keep(np.flatnonzero(common)), np.where(
            common, np.cumsum(common, dtype=np.int32) - 1, np.int32(-1)
        )

    def keep(self, numbers: NDArray[Any]) -> "KeptNumbering":
        """Return a numbering of these terms alone, numbered anew."""
        arrays, counts = self.vocabulary.arrays(), self.documents.padded(len(self))
        documents = DocumentCounts(counts[numbers], self.documents.n_texts)
        found = KeptNumbering(self.vocabulary.most, chosen_terms(arrays, numbers), documents)
        found.version = self.version
        return found

    def usual_shares(
        self, least: Mapping[int, int], characters: Container[int] = ()
    ) -> dict[int, float]:
        """Return for columns of words, or ``characters``, the share that ``least`` others have."""
        arrays = self.vocabulary.arrays()
        if not len(arrays.hashes):
            return {}
        words = np.empty(len(arrays.hashes), np.bool_)
        find_words(arrays.letters, arrays.offsets, words)
        for column in least:
            words |= (column in characters) & (arrays.columns == column)
        of_words, counts = arrays.columns[words], self.documents.padded(len(arrays.hashes))[words]
        shares = {}
        for column, fewest in least.items():
            own = counts[of_words == column]
            shares[column] = float(own[own > fewest].sum() / max(own.sum(), 1))
        return shares

    def level(self, column: int, key: int, name: bytes, n_rows: int) -> int:
        """Return the number of a category level that so many rows have."""
        known = self._column(column)
        number = known.get(key, -1)
        if number < 0 and self.growing:
            number = self.vocabulary.add(key, name, column)
            if number >= 0:
                known[key] = number
        if number < 0:
            self.n_unknown += n_rows
        return number

    def take_respelled(self) -> dict[int, dict[str, list[str]]]:
        """Return by columns the numbers that are other levels, once for all that were read."""
        found, self._respelled = self._respelled, {}
        return found

    def spelling(self, column: int, key: int, value: Any, level: bytes) -> bytes:
        """Return a level as it is known, perhaps in another spelling.

        What was read as a number before it came here is looked for among all numbers.
        """
        known = not self.growing and key in self._column(column)
        if self.growing or (known and isinstance(value, (str, bool))):
            return level
        if column not in self._spellings:
            names = map(self.vocabulary.name, self._column(column).values())
            self._spellings[column] = Spellings(name for name in names if name)
        spellings, text = self._spellings[column], level.decode()
        if not isinstance(value, (str, bool)):
            others = spellings.of_number(value)
            if any(plain_number(other) is None for other in others):
                self._respelled.setdefault(column, {})[text] = others
        found = None if known else spellings.find(text if isinstance(value, str) else value)
        return level if found is None else found.encode()

    def _column(self, column: int) -> dict[int, int]:
        if not self._levels:  # sort once: there may be many columns
            hashes, columns, *_ = self.vocabulary.arrays()
            order = np.argsort(columns, kind="stable")
            self._sorted = order, columns[order], hashes[order]
        if column not in self._levels:
            order, columns, hashes = self._sorted
            one = columns.dtype.type(column)
            own = slice(*(int(np.searchsorted(columns, one, side)) for side in ("left", "right")))
            pairs = zip(hashes[own].tolist(), order[own].tolist(), strict=True)
            self._levels[column] = dict(pairs)
        return self._levels[column]

    def terms(self, column: int, terms: Batch) -> NDArray[np.int32]:
        """Return the number of each term."""
        each = terms if terms.distinct is None else terms.distinct
        numbers = self.vocabulary.look_up(each, column, growing=self.growing)
        if terms.distinct is not None:
            numbers = numbers[terms.indices]
        self.n_unknown += int(np.count_nonzero(numbers < 0))
        return numbers


Numbering = HashedNumbering | KeptNumbering


def plainly_typed(series: "pl.Series") -> "pl.Series":
    """Return a column as text where it is text in all but its type, with the same shortest texts.

    A decimal is the text that its file has: 3.10. A single float is 0.1, not 0.10000000149.
    """
    if series.dtype in (pl.Categorical, pl.Enum) or series.dtype.is_decimal():
        return series.cast(pl.String)
    return series.cast(pl.String).cast(pl.Float64) if series.dtype == pl.Float32 else series


def replaced_values(values: "pl.Series", numbers: dict[Any, int]) -> NDArray[np.int32]:
    """Return the number of each value, which may be null."""
    of_null = numbers.pop(None, -1)
    if not numbers:
        return np.full(len(values), of_null, np.int32)
    if len(values) <= FEW_VALUES:
        return np.array([numbers.get(value, of_null) for value in values.to_list()], np.int32)
    known = pl.Series(list(numbers), dtype=values.dtype)
    new = pl.Series(list(numbers.values()), dtype=pl.Int32)
    replaced = values.replace_strict(known, new, default=of_null, return_dtype=pl.Int32)
    return np.array(replaced.to_numpy(), np.int32)


def unusable(file: str, series: "pl.Series", what: str) -> InputError:
    """Return the error for a column whose type cannot be what it is to be."""
    msg = f"{file}: column '{series.name}' holds {series.dtype}, {what}; in training, leave it out"
    return InputError(f"{msg} with {Parameter('ignore', series.name)}.")


@dataclass(frozen=True)
class Columns:
    """What a user says of the columns of tables; what is left open is found out."""

    label: str | int | None = DEFAULTS["label"]
    label_separator: str | None = DEFAULTS["label_separator"]
    text: Sequence[str | int] = DEFAULTS["text"]
    category: Sequence[str | int] = DEFAULTS["category"]
    numeric: Sequence[str | int] = DEFAULTS["numeric"]
    ignore: Sequence[str | int] = DEFAULTS["ignore"]
    weight: str | int | None = DEFAULTS["weight"]
    group: str | int | None = DEFAULTS["group"]
    scale: bool = DEFAULTS["scale"]
    missing: str = DEFAULTS["missing"]
    decimal: str | None = DEFAULTS["decimal"]
    hash_bits: int | None = DEFAULTS["hash_bits"]
    word_pairs: bool = DEFAULTS["word_pairs"]
    min_count: int | None = DEFAULTS["min_count"]
    char_ngrams: tuple[int, int] | None = DEFAULTS["char_ngrams"]
    words: bool | None = DEFAULTS["words"]
    bins: int | None = DEFAULTS["bins"]
    form: str | None = DEFAULTS["form"]
    column_pairs: int | str | Sequence[str] | None = DEFAULTS["column_pairs"]

    def asked(self, role: Role) -> Sequence[str | int]:
        """Return the columns that have a role, by name or number."""
        columns: Any = getattr(self, "ignore" if role == "ignored" else role, ())
        alone = role in ("label", "weight", "group")
        return columns if not alone else () if columns is None else (columns,)

    def names(self) -> frozenset[str]:
        """Return the names that columns are called by; "a,b" may be one or two, 3 is a number."""
        said = [one for role in get_args(Role) for one in self.asked(role)]
        texts = [one for one in said if isinstance(one, str)]
        parts = [part.strip() for text in texts for part in text.split(",")]
        return frozenset(one for one in (*texts, *parts) if not re.fullmatch("-?[0-9]*", one))


class InputColumn(NamedTuple):
    """A column of the tables that an encoding takes, in the order of the first one."""

    name: str
    role: Role
    parts: tuple[DatePart, ...] = ("",)  # of a date or a time; anything else is whole
    form: str = ""  # of numbers or dates in text; the length of vectors; what separates labels
    reason: str = ""  # why it is left out, where nobody asked for that

    @property
    def required(self) -> bool:
        """Whether rows can't be encoded without it."""
        return self.role not in ("label", "weight", "group", "ignored")


class FeatureColumn(NamedTuple):
    """A column, or a part of a date or a time, that becomes features."""

    name: str
    role: Role
    part: str = ""  # a DatePart or CHARACTERS
    form: str = ""
    place: int = 0  # among those that become features

    @property
    def title(self) -> str:
        """What names of features begin with."""
        return f"{self.name} {self.part}" if self.part else self.name


def feature_columns(
    columns: tuple[InputColumn, ...], *, words: bool = True, characters: bool = False
) -> tuple[FeatureColumn, ...]:
    """Return what becomes features, in order; of texts words, and last their characters."""
    whole = [
        FeatureColumn(column.name, column.role, part, column.form)
        for column in columns
        if column.required and (words or column.role != "text")
        for part in column.parts
    ]
    texts = [column.name for column in columns if column.role == "text" and characters]
    whole += [FeatureColumn(name, "text", CHARACTERS) for name in texts]
    return tuple(column._replace(place=place) for place, column in enumerate(whole))


class FeatureEncoding:
    """What files hold as features with names."""

    n_features: int

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

    def unscaled_rows(self, rows: CSR) -> CSR:
        """Return rows of this encoding with the numbers that stand in the file."""
        return rows

    def check_index(self, index: int) -> None:
        """Raise InputError where there is no such feature."""
        if not 0 <= index < self.n_features:
            last = self.n_features - 1
            raise InputError(f"There is no feature {index}; they count from 0 to {last}.")

    def name(self, index: int) -> str:
        """Return what a feature is called."""
        raise NotImplementedError

    def names(self, indices: Iterable[int]) -> list[str]:
        """Return what these features are called."""
        return [self.name(int(index)) for index in indices]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        return {}
