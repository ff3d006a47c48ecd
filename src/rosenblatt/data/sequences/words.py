"""Words: the distinct values of columns, numbered, with what functions make of them."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sequences.templates import edge_text
from rosenblatt.errors import InputError
from rosenblatt.kernels.sequences.words import (
    DIGITS,
    EDGE,
    FIRST_WORD,
    LONGEST_WORD,
    LOWER_CASE,
    N_FUNCTIONS,
    UPPER_CASE,
    Characters,
    Known,
    enter_keys,
    number_words,
    write_functions,
)
from rosenblatt.kernels.text.hashing import SEED, column_seed, term_hash

WITH_CASE = (  # blocks of Unicode beyond which no character has case or is a digit
    *((0, 0x3000), (0xA640, 0xAC00), (0xFB00, 0xFB07), (0xFF00, 0xFFEF), (0x10400, 0x10600)),
    *((0x10C80, 0x10D00), (0x118A0, 0x118E0), (0x16E40, 0x16E80), (0x1D400, 0x1D800)),
    *((0x1E900, 0x1E95A), (0x1F100, 0x1FC00)),
)
LAST_POINT = 0x20000  # beyond it are letters without case


class TokenColumns(NamedTuple):
    """TokenColumns of tokens in a text of UTF-8, and where sentences begin."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]  # (columns, tokens)
    stops: NDArray[np.int64]
    bounds: NDArray[np.int64]  # tokens

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return int(self.starts.shape[1])

    def take(self, numbers: Sequence[int]) -> "TokenColumns":
        """Return some of the columns."""
        return self._replace(starts=self.starts[list(numbers)], stops=self.stops[list(numbers)])

    def cells(self, column: int) -> list[str]:
        """Return the values of a column."""
        text = self.text.tobytes()
        places = zip(self.starts[column].tolist(), self.stops[column].tolist(), strict=True)
        return [text[start:stop].decode("utf-8", "replace") for start, stop in places]

    def in_sentences(self, items: Sequence[Any]) -> list[list[Any]]:
        """Return one item a token as lists, one a sentence."""
        ends = self.bounds.tolist()
        return [list(items[a:b]) for a, b in pairwise(ends)]


def bounds_of(lengths: Iterable[int]) -> NDArray[np.int64]:
    """Return where pieces of these lengths begin, and where the last one ends."""
    return np.cumsum(np.fromiter(chain([0], lengths), np.int64))


def columns_of(sentences: Sequence[Sequence[Any]], numbers: Sequence[int]) -> TokenColumns:
    """Return the columns of these numbers; a token is a word, or a list of the cells of columns."""
    tokens = [*chain.from_iterable(sentences)]
    bounds = bounds_of(map(len, sentences))
    pieces: list[bytes] = []
    lengths = []
    for number in numbers:
        coded = [*map(_coded, _cells(tokens, number))]
        lengths.append(np.fromiter(map(len, coded), np.int64, len(coded)))
        pieces += coded
    text = np.frombuffer(b"".join(pieces), np.uint8)
    sizes = np.array(lengths, np.int64).reshape(len(numbers), len(tokens))
    stops = np.cumsum(sizes.reshape(-1)).reshape(sizes.shape)
    return TokenColumns(text, stops - sizes, stops, bounds)


def _cells(tokens: Sequence[Any], number: int) -> Iterator[str]:
    for token in tokens:
        row = isinstance(token, (list, tuple))
        cell = token if not row else token[number] if number < len(token) else None
        if not isinstance(cell, str):
            raise InputError(f"A token must be a word or a list of words; got {token!r:.60}.")
        yield cell


def _coded(word: str) -> bytes:
    return (word if word.isascii() else unicodedata.normalize("NFC", word)).encode("utf-8")


@cache
def _tables() -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return the lower case and the kind of each code point."""
    lower = np.arange(LAST_POINT, dtype=np.int32)
    kinds = np.full(LAST_POINT, LOWER_CASE, np.uint8)
    for first, last in WITH_CASE:
        for point in range(first, last):
            c = chr(point)
            small = c.lower()
            if len(small) == 1:
                lower[point] = ord(small)
            kinds[point] = (
                UPPER_CASE
                if c.isupper()
                else DIGITS
                if c.isdigit()
                else LOWER_CASE
                if c.isalpha()
                else 0
            )
    for first, last in ((0x3000, 0x3005), (0x3008, 0x3021), (0xE000, 0xF900), (0x1F000, 0x1FC00)):
        kinds[first:last] = 0
    return lower, kinds


def hash_of(text: str) -> np.uint64:
    """Return the hash of a text."""
    return np.uint64(term_hash(text.encode(), SEED))


def grown(array: NDArray[Any], length: int) -> NDArray[Any]:
    """Return a copy with room for so many rows."""
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def slots_for(keys: NDArray[np.uint64], n: int, n_slots: int = 1 << 10) -> NDArray[np.uint64]:
    """Return a table of the first keys with room for as many again."""
    while n_slots < 4 * n:
        n_slots *= 2
    slots = np.zeros((n_slots, 2), np.uint64)
    enter_keys(Known(slots, keys), n)
    return slots


def word_marks(columns: TokenColumns) -> NDArray[np.uint32]:
    """Return what tells the words of the first column from others, but for chance."""
    table = WordTable((0,))
    numbers = table.numbers(columns.take([0]))
    marks: NDArray[np.uint32] = (table.keys[numbers[0]] >> np.uint64(32)).astype(np.uint32)
    return marks


class WordTable:
    """The words of columns by their numbers, with what functions make of them; it grows.

    The first numbers are those of what stands before and after a sentence.
    """

    def __init__(self, columns: Sequence[int]) -> None:
        self.columns = tuple(columns)
        self._seeds = [np.uint64(column_seed("column", str(number))) for number in columns]
        self.n = FIRST_WORD
        room = 1 << 10
        self.keys = np.zeros(room, np.uint64)
        self.column = np.zeros(room, np.int16)  # place of the column of each word
        self.functions = np.zeros((room, N_FUNCTIONS), np.uint64)
        self._places = np.zeros((2, room), np.int64)  # in the text at hand
        self._letters = [b""] * FIRST_WORD  # of each word
        for v in range(FIRST_WORD):
            self.keys[v] = hash_of(f"edge {v}")
            self.functions[v] = self.keys[v]
        self._slots = slots_for(self.keys, self.n)
        self._characters = Characters(*_tables(), np.zeros(LONGEST_WORD, np.int64))

    def numbers(self, columns: TokenColumns) -> NDArray[np.int32]:
        """Return the number of each word, (columns, tokens); new words are taken in."""
        found = np.empty((len(self.columns), columns.n_tokens), np.int32)
        for c in range(len(self.columns)):
            self.enter(columns.text, columns.starts[c], columns.stops[c], c, found[c])
        return found

    def enter(
        self,
        text: NDArray[np.uint8],
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
        column: int,  # its place
        found: NDArray[np.int32],
    ) -> None:
        """Write the number of each word of a column; new words are taken in."""
        first, begin = self.n, 0
        while True:
            known, places = Known(self._slots, self.keys), (self._places[0], self._places[1])
            begin, self.n = number_words(
                *(text, starts, stops, self._seeds[column], known, places, self.n, begin, found)
            )
            if begin == len(found):
                break
            self._grow()
        self._take_in(text, first, column)

    def entered(
        self, text: NDArray[np.uint8], lengths: NDArray[Any], columns: NDArray[Any]
    ) -> NDArray[np.int32]:
        """Return the numbers of words that follow one another in a text, by places of columns."""
        stops = np.cumsum(lengths, dtype=np.int64)
        starts = stops - lengths
        numbers = np.empty(len(stops), np.int32)
        for c in range(len(self.columns)):
            own = np.flatnonzero(columns == c)
            found = np.empty(len(own), np.int32)
            self.enter(text, starts[own], stops[own], c, found)
            numbers[own] = found
        return numbers

    def _grow(self) -> None:
        room = 4 * self.n
        for name in ("keys", "column", "functions"):
            setattr(self, name, grown(getattr(self, name)[: self.n], room))
        self._places = np.ascontiguousarray(grown(self._places.T[: self.n], room).T)
        self._slots = slots_for(self.keys, self.n)

    def _take_in(self, text: NDArray[np.uint8], first: int, column: int) -> None:
        """Write what is known of words from ``first`` on."""
        starts, stops = self._places
        self.column[first : self.n] = column
        write_functions(
            text, starts, stops, self.keys, first, self.n, self._characters, self.functions
        )
        places = zip(starts[first : self.n].tolist(), stops[first : self.n].tolist(), strict=True)
        self._letters += [text[a:b].tobytes() for a, b in places]

    def text(self, word: int) -> str:
        """Return a word as it is written; what stands outside of sentences as its name."""
        if word < FIRST_WORD:
            return edge_text(word % EDGE + 1, before=word < EDGE)
        return self._letters[word].decode("utf-8", "replace")

    def letters(self, words: NDArray[Any]) -> list[bytes]:
        """Return the UTF-8 of words."""
        return [self._letters[word] for word in words.tolist()]
