"""A column of text: tokens, pairs of neighbours, and n-grams of characters between blanks.

A token is a word, a run of letters, marks and digits in lower case; or an emoji or another picture,
with its modifiers and what is joined to it; or a run of other symbols. Text is composed (NFC). By
hand, since scikit-learn's vectorizers take ten times as long.
"""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import NO_TERMS, Batch, Spelled, join, running_sums
from rosenblatt.data.encoding.features import (
    CHARACTERS,
    TOKENS,
    DocumentCounts,
    FeatureColumn,
    HashedNumbering,
    Numbering,
    Vocabulary,
    unusable,
)
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import column_seed
from rosenblatt.kernels.text.terms import (
    BLANK,
    EXTENDER,
    FLAG,
    JOINER,
    KIND,
    ODD,
    PICTURE,
    SYMBOL,
    WORD,
    Rows,
    TermTable,
    scan_ngrams,
    scan_terms,
    separate,
    term_weights,
)
from rosenblatt.kernels.text.words import SPAN
from rosenblatt.wording import composed

OLD_WORD = re.compile(r"[^\W_]+")
# In kinds of characters: a mark, a modifier or a joiner belongs to what it follows.
TOKEN = re.compile(
    f"(?P<word>[{WORD}{EXTENDER}][{WORD}{EXTENDER}{JOINER}]*)"
    f"|{SYMBOL}[{SYMBOL}{EXTENDER}{JOINER}]*|{FLAG}{FLAG}?[{EXTENDER}{JOINER}]*"
    f"|{PICTURE}(?:[{EXTENDER}{JOINER}]|(?<={JOINER}){PICTURE})*"
)

N_CODE_POINTS = 0x110000
CAPITAL_SIGMA = 0x3A3  # the lower case of Σ depends on the letters around it
DOTTED_I = 0x130  # the lower case of İ is two characters
JAMO = slice(0x1160, 0x1200)  # vowels and finals of Korean, which join what is before them
CATEGORIES = {"L": WORD, "N": WORD, "M": EXTENDER, "P": SYMBOL, "S": SYMBOL, "Z": BLANK}
CATEGORIES |= {"Cc": BLANK, "Cf": BLANK, "So": PICTURE}  # other characters are pictures, too
KINDS = (  # of characters that are not as their category
    (0x200C, 0x200E, JOINER),
    (0x1F1E6, 0x1F200, FLAG),
    (0x1F3FB, 0x1F400, EXTENDER),  # colours of skin
    (0xE0020, 0xE0080, EXTENDER),  # tags: the flag of Wales
)
ASSIGNED = (0, 0x20000), (0xE0000, 0xE0200)  # where not all characters are ideographs
COMPATIBLE = 0x2F800, 0x2FA20  # ideographs that are composed to others

# What text is cut into: words as encodings up to version 5 had them, tokens, or what stands
# between blanks.
Pieces = Literal["words", "tokens", "runs"]

# Memory that every scan writes to and nobody keeps, one set a thread. Fresh memory for each table
# would have to be cleared by the system page by page: a fifth of the time of a scan.
_scratch = threading.local()
MOST_BYTES = 1 << 29  # in one table: places in it are numbers of 32 bits
FEW_BYTES = 1 << 15  # of text; of longer columns each term is named but once
MANY_BYTES = 1 << 19  # of text; longer columns are scanned in slices
MOST_COUNT = 1 << 7  # of a term in a text, from which on it takes more than a byte
MANY_TERMS = 1 << 30  # that the slices of a column cannot have
NO_BYTES = np.empty(0, np.uint8)
Lengths = tuple[int, int]  # of the shortest n-grams and of the longest, in characters


@cache
def character_table(pieces: Pieces) -> NDArray[np.int32]:
    """Return for each code point its lower case and its kind, as ``separate`` takes them.

    A row with an odd one has to be in lower case and composed already: Σ, İ, and but for old words
    what may not be composed. Takes 100 ms, so it is made only where there is text beyond ASCII.
    """
    points = np.arange(N_CODE_POINTS, dtype=np.int32)
    points[[CAPITAL_SIGMA, DOTTED_I]] = ord("?")  # any character that stays as it is
    every = points.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    lower = every.lower()
    characters = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), "<i4").astype(np.int32)
    kinds, odd = np.full(N_CODE_POINTS, BLANK, np.int32), np.zeros(N_CODE_POINTS, np.int32)
    if pieces == "runs":
        kinds[:] = WORD
        kinds[[blank.start() for blank in re.finditer(r"\s", every)]] = BLANK
    elif pieces == "tokens":
        kinds[:] = _token_kinds(every)
    else:
        for run in OLD_WORD.finditer(lower):
            kinds[run.start() : run.end()] = WORD
    if pieces != "words":
        odd[JAMO] = odd[_token_kinds(every) == EXTENDER] = ODD
        for start, stop in (*ASSIGNED, COMPATIBLE):
            odd[start:stop] |= [ODD * (composed(one) != one) for one in every[start:stop]]
    odd[[CAPITAL_SIGMA, DOTTED_I]] = ODD
    return characters | kinds << KIND | odd


@cache
def _token_kinds(every: str) -> NDArray[np.int32]:
    """Return the kind of each code point."""
    kinds = np.full(N_CODE_POINTS, PICTURE, np.int32)
    for word in OLD_WORD.finditer(every):
        kinds[word.start() : word.end()] = WORD
    for start, stop in ASSIGNED:
        found = map(unicodedata.category, every[start:stop])
        own = [CATEGORIES.get(one, CATEGORIES.get(one[0], PICTURE)) for one in found]
        kinds[start:stop] = own
    for start, stop, kind in KINDS:
        kinds[start:stop] = kind
    return kinds


def lower_text(text: str, pieces: Pieces) -> str:
    """Return a text in lower case, composed but for old words."""
    return text.lower() if pieces == "words" else composed(composed(text).lower())


def token_spans(text: str, pieces: Pieces) -> list[tuple[int, int, bool]]:
    """Return where each token of a text begins and ends, and whether it is a word.

    >>> text = "C++ ist ≠ C🙂👍🏽"
    >>> [text[start:stop] for start, stop, _ in token_spans(text, "tokens")]
    ['C', '++', 'ist', '≠', 'C', '🙂', '👍🏽']
    """
    points = np.array([*map(ord, text)], np.int32)
    kinds = "".join(map(str, (character_table(pieces)[points] >> KIND) & 7))
    return [(*one.span(), one["word"] is not None) for one in TOKEN.finditer(kinds)]


def scanned_terms(
    column: "pl.Series",
    seed: int,
    key_mask: int,
    *,
    pairs: bool,
    named: bool,
    pieces: Pieces = "tokens",
) -> Batch:
    """Return the distinct terms of each row, in order of appearance: each token, then its pair.

    Two of a row that share a key count as the first. The column is of text, 512 MiB at most. Where
    terms are not ``named`` it is not told how they are spelled. All but indptr is written over by
    the thread's next call.
    """
    text, rows = separated_text(column, pieces)
    lengths = rows.others_stop - rows.words_start
    length, longest = int(lengths.sum()), lengths.max(initial=0)
    # Three terms take two bytes at least: a word, its pair and a symbol
    spelled = scratch("spelled", 2 * length + len(lengths) + SPAN, np.uint8)
    terms = term_table(length + length // 2 + 1, 1.5 * longest + 1)
    how = pieces == "tokens", np.uint64(seed), np.uint64(key_mask), pairs
    indptr = np.empty(len(lengths) + 1, np.int64)
    n, n_spelled = scan_terms(text.ctypes.data, rows, *how, spelled.ctypes.data, terms, indptr)
    return _scanned(terms, indptr, n, spelled[:n_spelled] if named else None)


def _scanned(
    terms: TermTable, indptr: NDArray[np.int64], n: int, letters: NDArray[np.uint8] | None
) -> Batch:
    """Return the first n terms of a table, and how they are spelled, unless they have no names."""
    names = NO_TERMS if letters is None else Spelled(terms.starts[:n], terms.stops[:n], letters)
    return Batch(terms.counts[:n], terms.keys[:n], indptr, spelled=names)


def separated_text(column: "pl.Series", pieces: Pieces) -> tuple[NDArray[np.uint8], Rows]:
    """Return the bytes of all rows, and where each row is in them.

    Those beyond ASCII are in lower case, with a space before each piece, words before others.
    """
    text, offsets = _bytes_of(column)
    rows = Rows(offsets[:-1], offsets[1:], offsets[:-1], offsets[1:])
    if not offsets[-1] or text[: offsets[-1]].max() < 0x80:
        return text, rows
    odd, characters = np.empty(len(column), np.bool_), character_table(pieces)
    rows = Rows(*np.empty((4, len(column)), np.int64))
    end = separate(text.ctypes.data, offsets, characters, int(offsets[-1]), rows, odd)
    places = np.flatnonzero(odd)  # which have to be composed or in lower case before
    found = column.gather(places).to_list()
    lower = [lower_text(row, pieces) for row in found]
    if lower != found:
        text, offsets = _bytes_of(pl.Series(lower), text[:end].copy())
        own = Rows(*np.empty((4, len(places)), np.int64))
        separate(text.ctypes.data, offsets, characters, int(offsets[-1]), own, odd[: len(places)])
        for every, some in zip(rows, own, strict=True):
            every[places] = some
    return text, rows


def scratch(name: str, length: int, dtype: type) -> NDArray[Any]:
    """Return memory of the thread to write to, of at least this length."""
    found: NDArray[Any] | None = getattr(_scratch, name, None)
    if found is None or len(found) < length:
        found = np.empty(length + length // 4, dtype)
        setattr(_scratch, name, found)
    return found


def term_table(most: int, least_slots: float) -> TermTable:
    """Return room for at most so many terms; valid until the thread's next call."""
    n_slots = 64
    while n_slots < least_slots:
        n_slots *= 2
    return TermTable(
        np.full(n_slots, -1, np.int32),
        scratch("keys", most, np.uint64),
        scratch("counts", most, np.float32),
        scratch("starts", most, np.int32),
        scratch("stops", most, np.int32),
        np.full(0x80, -1, np.int32),
    )


def _bytes_of(
    column: "pl.Series", before: NDArray[np.uint8] = NO_BYTES
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of all rows after those before, and where each begins; null has none.

    Behind them there is room for what ``separate`` writes.
    """
    lengths = column.str.len_bytes().fill_null(0)
    offsets = running_sums(lengths.to_numpy())
    start, length = len(before), int(offsets[-1])
    room = start + 3 * length + 2 * int(np.diff(offsets).max(initial=0)) + 2 * SPAN
    text = scratch("text", room, np.uint8)
    text[:start] = before
    if length:
        filled = column.filter(lengths > 0)  # an empty list would become a null
        joined = filled.cast(pl.Binary).cast(pl.List(pl.UInt8)).explode()
        text[start : start + length] = joined.to_numpy()
    return text, offsets + start


def scanned_ngrams(
    column: "pl.Series", seed: int, key_mask: int, lengths: Lengths, pieces: Pieces = "runs"
) -> Batch:
    """Return the distinct n-grams of each row, in order of appearance: word by word, short first.

    A word has a space on either side. All but indptr is written over by the thread's next call.
    """
    text, rows = separated_text(column, pieces)
    own = rows.words_stop - rows.words_start
    n_sizes, longest = lengths[1] - lengths[0] + 1, own.max(initial=0)
    most = 2 * int(own.sum()) + 2  # letters of words and a space on either side
    spelled = scratch("spelled", most + SPAN, np.uint8)
    terms = term_table(n_sizes * most, 3 * n_sizes * (longest + 1))
    how = pieces == "runs", np.uint64(seed), np.uint64(key_mask), *lengths
    indptr = np.empty(len(own) + 1, np.int64)
    n, n_spelled = scan_ngrams(text.ctypes.data, rows, *how, spelled.ctypes.data, terms, indptr)
    return _scanned(terms, indptr, n, spelled[:n_spelled])


def series_slices(series: "pl.Series", n_slices: int) -> Iterator["pl.Series"]:
    """Yield successive parts of a column, of about the same number of rows."""
    n_rows = -(-len(series) // n_slices)
    for start in range(0, len(series), n_rows):
        yield series.slice(start, n_rows)


def _counted(terms: Batch, numbers: NDArray[Any]) -> Batch:
    """Return terms by these numbers, in memory of their own, with their counts in a byte each."""
    counts = terms.data
    small = np.abs(counts).max(initial=0.0) < MOST_COUNT
    return Batch(counts.astype(np.int8 if small else np.float32), numbers, terms.indptr)


def weighed(terms: Batch, documents: DocumentCounts, n_terms: int, length: float = 1.0) -> Batch:
    """Return texts as vectors of a length, by terms and counts, without terms of the number −1."""
    counts = terms.data.astype(np.float32, copy=False)
    weights = documents.weights(n_terms)
    values, indices, indptr = term_weights(terms.indices, counts, terms.indptr, weights)
    return Batch(values if length == 1.0 else values * np.float32(length), indices, indptr)


class TextColumn:
    """Cuts text into terms: words, with pairs or without, or n-grams of these lengths."""

    def __init__(
        self, column: FeatureColumn, numbering: Numbering, lengths: Lengths | None, *, pairs: bool
    ) -> None:
        self._place = column.place
        self._name = column.name
        self._numbering = numbering
        self._pairs = pairs
        self._lengths = lengths if column.part == CHARACTERS else None
        self._seed = column_seed("text" if self._lengths is None else column.part, column.name)

    def prepare(self, table: Table) -> Batch:
        """Return what can be said of each row whatever came before it."""
        series = self._text(table)
        length = int(series.str.len_bytes().sum())
        if length > MOST_BYTES:
            raise InputError(
                f"{table.place(0)} and after: column '{self._name}' has more than"
                f" {MOST_BYTES >> 20:,} MiB of text in {len(series):,} rows; read fewer at a time."
            )
        if length <= FEW_BYTES:
            terms = self._scanned(series)
            starts, stops, letters = terms.spelled or NO_TERMS
            names = Spelled(starts.copy(), stops.copy(), letters.copy())
            return _counted(terms, terms.indices.copy())._replace(spelled=names)
        return self._prepared_in_slices(series, -(-length // MANY_BYTES))

    @property
    def _hashed(self) -> bool:
        return isinstance(self._numbering, HashedNumbering)

    def _scanned(self, series: "pl.Series") -> Batch:
        """Return the terms of texts, in memory that the thread's next call writes over."""
        how = series, self._seed, self._numbering.key_mask
        old = self._numbering.version < TOKENS
        if self._lengths is not None:
            return scanned_ngrams(*how, self._lengths, "words" if old else "runs")
        cut: Any = {"pairs": self._pairs, "pieces": "words" if old else "tokens"}
        return scanned_terms(*how, **cut, named=not self._hashed)

    def _prepared_in_slices(self, series: "pl.Series", n_slices: int) -> Batch:
        """Return what ``prepare`` does, of a long column: 5 bytes a term in place of 25.

        4 MB of paths have 11 million n-grams, of which one in nineteen is another one.
        """
        parts, names = list[Batch](), Vocabulary(MANY_TERMS)
        for part in series_slices(series, n_slices):
            terms = self._scanned(part)
            if self._hashed:
                parts.append(_counted(terms, terms.indices.astype(np.uint32)))
            else:
                parts.append(_counted(terms, names.look_up(terms, 0, growing=True)))
        return join(parts)._replace(
            spelled=NO_TERMS, distinct=None if self._hashed else names.batch()
        )

    def learn(self, prepared: Batch) -> NDArray[np.int32]:
        """Return the number of each term; while it grows, take in new ones and count the texts."""
        numbers = self._numbering.terms(self._place, prepared)
        if self._numbering.growing:
            self._numbering.documents.add(numbers, len(self._numbering))
        return numbers

    def _text(self, table: Table) -> "pl.Series":
        series = table.frame[self._name]
        if series.dtype == pl.String:
            return series
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
            raise unusable(table.file, series, "not text")
        return series.cast(pl.String)
