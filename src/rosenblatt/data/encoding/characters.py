"""The characters of a column of text: n-grams within words, a space on either side of each.

They say more than words where a word has many forms, where names and codes are to be told apart,
and in languages that put nothing between words. ``plain_ngrams`` is the definition;
``scanned_ngrams`` is the same by compiled code.
"""

from collections.abc import Iterable

import numpy as np

from rosenblatt.data.encoding.columns import FeatureColumn
from rosenblatt.data.encoding.text_column import (
    WORD,
    SpelledTerm,
    TextColumn,
    room,
    term_rooms,
    terms_of,
    word_text,
)
from rosenblatt.data.encoding.vocabulary import Numbering, Terms
from rosenblatt.data.polars import pl
from rosenblatt.kernels.compiling import available
from rosenblatt.kernels.text.hashing import column_seed, term_hash

Lengths = tuple[int, int]  # of the shortest n-grams and of the longest, in characters


def plain_ngrams(rows: Iterable[str | None], seed: int, key_mask: int, lengths: Lengths) -> Terms:
    """Return the distinct n-grams of each row, in order of appearance: word by word, short first.

    >>> terms = plain_ngrams(["Aha"], 0, 2**64 - 1, (3, 4))
    >>> spelled = terms.spelled.tobytes()
    >>> [spelled[a:b] for a, b in zip(terms.starts, terms.stops)]
    [b' ah', b'aha', b'ha ', b' aha', b'aha ']
    """
    found: list[dict[int, SpelledTerm]] = []
    spelled = bytearray()
    for text in rows:
        own: dict[int, SpelledTerm] = {}
        for word in WORD.findall((text or "").lower()):
            characters = [character.encode() for character in f" {word} "]
            places = np.cumsum([len(spelled), *map(len, characters)]).tolist()
            spelled += b"".join(characters)
            for size in range(lengths[0], lengths[1] + 1):
                for start, stop in zip(places, places[size:], strict=False):
                    key = term_hash(bytes(spelled[start:stop]), seed) & key_mask
                    own.setdefault(key, SpelledTerm(start, stop, 1)).count += 1
        found.append(own)
    return terms_of(found, spelled)


def scanned_ngrams(column: "pl.Series", seed: int, key_mask: int, lengths: Lengths) -> Terms:
    """Return the same as ``plain_ngrams``; all but indptr is written over by the next call."""
    from rosenblatt.kernels.text.characters import scan_ngrams
    from rosenblatt.kernels.text.words import SPAN

    text, offsets = word_text(column)
    length, n_sizes = int(offsets[-1]), lengths[1] - lengths[0] + 1
    spelled = room("spelled", 2 * length + 2 + SPAN, np.uint8)  # words and a space on either side
    most = n_sizes * (2 * length + 2)
    least_slots = 3 * n_sizes * (np.diff(offsets).max(initial=0) + 1)
    rooms = term_rooms(most, least_slots, len(offsets))
    _, keys, counts, starts, stops, indptr = rooms
    n_terms, n_spelled = scan_ngrams(
        text.ctypes.data,
        offsets,
        np.uint64(seed),
        np.uint64(key_mask),
        *lengths,
        spelled.ctypes.data,
        *rooms,
    )
    keys, counts, starts, stops = (one[:n_terms] for one in (keys, counts, starts, stops))
    return Terms(keys, counts, indptr, starts, stops, spelled[:n_spelled])


class CharacterColumn(TextColumn):
    """Turns text into n-grams of characters, weighed as the words of another column are."""

    def __init__(
        self, place: int, column: FeatureColumn, numbering: Numbering, lengths: Lengths
    ) -> None:
        super().__init__(place, column, numbering, pairs=False)
        self._lengths = lengths
        self._seed = column_seed("characters", column.name)

    def _terms(self, series: "pl.Series", *, named: bool) -> Terms:
        del named  # to spell them costs next to nothing here
        mask = self._numbering.key_mask
        if available():
            return scanned_ngrams(series, self._seed, mask, self._lengths)
        return plain_ngrams(series.to_list(), self._seed, mask, self._lengths)
