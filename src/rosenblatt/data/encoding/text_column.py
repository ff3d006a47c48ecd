"""A column of text: words, pairs of neighbouring words, and n-grams of characters within words.

A word is a maximal run of letters and digits in lower case. By hand, since scikit-learn's
vectorizers take ten times as long.
"""

import re
import threading
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import NO_TERMS, Batch, Spelled, running_sums
from rosenblatt.data.encoding.features import (
    CHARACTERS,
    FeatureColumn,
    HashedNumbering,
    Numbering,
    unusable,
)
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import column_seed
from rosenblatt.kernels.text.terms import (
    TermTable,
    rewrite,
    scan_ngrams,
    scan_terms,
    term_weights,
)
from rosenblatt.kernels.text.words import SPAN

WORD = re.compile(r"[^\W_]+")

N_CODE_POINTS = 0x110000
CAPITAL_SIGMA = 0x3A3  # the lower case of Σ depends on the letters around it
DOTTED_I = 0x130  # the lower case of İ is two characters
IN_CONTEXT = (chr(CAPITAL_SIGMA), chr(DOTTED_I))

# Memory that every scan writes to and nobody keeps, one set a thread. Fresh memory for each table
# would have to be cleared by the system page by page: a fifth of the time of a scan.
_scratch = threading.local()
MOST_BYTES = 1 << 30  # in one table: places in it are numbers of 32 bits
Lengths = tuple[int, int]  # of the shortest n-grams and of the longest, in characters


@cache
def word_characters() -> NDArray[np.int32]:
    """Return for each code point its lower case, or −1 where that belongs to no word.

    For all but the two of ``IN_CONTEXT``, whose rows have to be in lower case already. Takes 40 ms,
    so it is made only where there is text beyond ASCII.
    """
    points = np.arange(N_CODE_POINTS, dtype=np.int32)
    points[[CAPITAL_SIGMA, DOTTED_I]] = ord("?")  # any character that stays as it is
    every = points.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    lower = every.lower()
    characters = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), "<i4").astype(np.int32)
    in_word = np.zeros(N_CODE_POINTS, bool)
    for run in WORD.finditer(lower):
        in_word[run.start() : run.end()] = True
    characters[~in_word] = -1
    return characters


def scanned_terms(
    column: "pl.Series", seed: int, key_mask: int, *, pairs: bool, named: bool
) -> Batch:
    """Return the distinct terms of each row, in order of appearance: each word, then its pair.

    Two of a row that share a key count as the first. The column is of text, 1 GiB at most. Where
    terms are not ``named`` it is not told how they are spelled. All but indptr is written over by
    the thread's next call.
    """
    text, offsets = word_text(column)
    length, longest = int(offsets[-1]), np.diff(offsets).max(initial=0)
    spelled = scratch("spelled", length + len(offsets) + SPAN, np.uint8)
    terms = term_table(length + 1, 1.5 * longest)  # a word and its pair take two bytes at least
    how = np.uint64(seed), np.uint64(key_mask), pairs
    indptr = np.empty(len(offsets), np.int64)
    n, n_spelled = scan_terms(text.ctypes.data, offsets, *how, spelled.ctypes.data, terms, indptr)
    return _scanned(terms, indptr, n, spelled[:n_spelled] if named else None)


def _scanned(
    terms: TermTable, indptr: NDArray[np.int64], n: int, letters: NDArray[np.uint8] | None
) -> Batch:
    """Return the first n terms of a table, and how they are spelled, unless they have no names."""
    names = NO_TERMS if letters is None else Spelled(terms.starts[:n], terms.stops[:n], letters)
    return Batch(terms.counts[:n], terms.keys[:n], indptr, spelled=names)


def word_text(column: "pl.Series") -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of all rows, beyond ASCII words in lower case, and where each begins."""
    text, offsets = _bytes_of(column)
    length = int(offsets[-1])
    if length and text[:length].max() >= 0x80:
        capitals = column.str.contains_any(list(IN_CONTEXT)).fill_null(value=False)
        if capitals.any():
            lower = [text.lower() for text in column.filter(capitals).to_list()]
            text, offsets = _bytes_of(column.clone().scatter(capitals.arg_true(), lower))
            length = int(offsets[-1])
        written = scratch("written", length + length // 2 + SPAN, np.uint8)
        written_offsets = np.empty(len(offsets), np.int64)
        rewrite(text.ctypes.data, offsets, word_characters(), written.ctypes.data, written_offsets)
        return written, written_offsets
    return text, offsets


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
    )


def _bytes_of(column: "pl.Series") -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of all rows, 64 more, and where each row begins; null has none."""
    lengths = column.str.len_bytes().fill_null(0)
    offsets = running_sums(lengths.to_numpy())
    text = scratch("text", int(offsets[-1]) + SPAN, np.uint8)
    if offsets[-1]:
        filled = column.filter(lengths > 0)  # an empty list would become a null
        joined = filled.cast(pl.Binary).cast(pl.List(pl.UInt8)).explode()
        text[: offsets[-1]] = joined.to_numpy()
    return text, offsets


def scanned_ngrams(column: "pl.Series", seed: int, key_mask: int, lengths: Lengths) -> Batch:
    """Return the distinct n-grams of each row, in order of appearance: word by word, short first.

    A word has a space on either side. All but indptr is written over by the thread's next call.
    """
    text, offsets = word_text(column)
    n_sizes, longest = lengths[1] - lengths[0] + 1, np.diff(offsets).max(initial=0)
    most = 2 * int(offsets[-1]) + 2  # letters of words and a space on either side
    spelled = scratch("spelled", most + SPAN, np.uint8)
    terms = term_table(n_sizes * most, 3 * n_sizes * (longest + 1))
    how = np.uint64(seed), np.uint64(key_mask), *lengths
    indptr = np.empty(len(offsets), np.int64)
    n, n_spelled = scan_ngrams(text.ctypes.data, offsets, *how, spelled.ctypes.data, terms, indptr)
    return _scanned(terms, indptr, n, spelled[:n_spelled])


class TextColumn:
    """Turns text into features: words, with pairs or without, or n-grams of these lengths."""

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
        hashed = isinstance(self._numbering, HashedNumbering)
        how = series, self._seed, self._numbering.key_mask
        if self._lengths is not None:
            terms = scanned_ngrams(*how, self._lengths)
        else:
            terms = scanned_terms(*how, pairs=self._pairs, named=not hashed)
        if hashed and not self._numbering.growing:
            return self.weighed(terms.indices, terms)
        starts, stops, letters = terms.spelled or NO_TERMS
        names = Spelled(starts.copy(), stops.copy(), letters.copy())
        return terms._replace(data=terms.data.copy(), indices=terms.indices.copy(), spelled=names)

    def learn(self, prepared: Batch) -> NDArray[np.int32]:
        """Return the number of each term; while it grows, take in new ones and count the texts."""
        numbers = self._numbering.terms(self._place, prepared)
        if self._numbering.growing:
            self._numbering.documents.add(numbers, len(self._numbering))
        return numbers

    def weighed(self, numbers: NDArray[Any], terms: Batch) -> Batch:
        """Return the features of each row, without the terms that have none.

        While it grows, how common a term will be is not known, and all weigh the same.
        """
        n_terms, documents = len(self._numbering), self._numbering.documents
        growing = self._numbering.growing
        idf = np.ones(n_terms, np.float32) if growing else documents.weights(n_terms)
        return Batch(*term_weights(numbers, terms.data, terms.indptr, idf))

    def _text(self, table: Table) -> "pl.Series":
        series = table.frame[self._name]
        if series.dtype == pl.String:
            return series
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
            raise unusable(table.file, series, "not text")
        return series.cast(pl.String)
