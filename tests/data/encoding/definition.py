"""What the terms of texts are, in plain Python: tokens, pairs of words, n-grams of characters."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from rosenblatt.data.batch import Batch, Spelled
from rosenblatt.kernels.text.hashing import pair_hash, term_hash
from tests.data.encoding.naive import naive_text, naive_tokens

OLD_WORD = re.compile(r"[^\W_]+")
Occurrence = tuple[int, int, int, int]  # of a term: its key, start, end, and what it counts
Lengths = tuple[int, int]


def plain_terms(
    rows: Iterable[str | None], seed: int, key_mask: int, *, pairs: bool, old: bool = False
) -> Batch:
    """Return the distinct terms of each row: each word, then its pair, then other tokens."""
    spelled, hashed = bytearray(), cache(lambda word: term_hash(word, seed))

    def terms(text: str | None) -> Iterator[Occurrence]:
        before: tuple[int, int] | None = None
        words, others = naive_tokens(text)
        if old:
            words, others = OLD_WORD.findall((text or "").lower()), []
        for k, word in enumerate(words + others):
            start, own = len(spelled), hashed(word.encode())
            spelled.extend(f"{word} ".encode())
            stop = len(spelled) - 1
            yield own & key_mask, start, stop, 1
            if pairs and before is not None and k < len(words):
                yield pair_hash(before[0], own) & key_mask, before[1], stop, -1
            before = own, start

    return _counted(map(terms, rows), spelled)


def _counted(rows: Iterable[Iterable[Occurrence]], spelled: bytearray) -> Batch:
    """Return the distinct terms of rows; two of a row that share a key count as the first."""
    keys: dict[tuple[int, int], Occurrence] = {}  # by row
    counts, indptr = Counter[tuple[int, int]](), [0]
    for number, row in enumerate(rows):
        for term in row:
            keys.setdefault((number, term[0]), term)
            counts[number, term[0]] += 1
        indptr.append(len(keys))
    terms = np.array([*keys.values()], object).reshape(-1, 4)
    totals = np.array([*counts.values()], np.int64)
    starts, stops = terms[:, 1:3].astype(np.int32).T
    return Batch(
        (totals * terms[:, 3].astype(np.int64)).astype(np.float32),
        terms[:, 0].astype(np.uint64),
        np.array(indptr, np.int64),
        spelled=Spelled(starts, stops, np.frombuffer(bytes(spelled), np.uint8)),
    )


def plain_ngrams(
    rows: Iterable[str | None], seed: int, key_mask: int, lengths: Lengths, *, old: bool = False
) -> Batch:
    """Return the distinct n-grams of each row, in order of appearance: word by word, short first.

    A word is here what stands between blanks.

    >>> terms = plain_ngrams(["Aha"], 0, 2**64 - 1, (3, 4))
    >>> starts, stops, letters = terms.spelled
    >>> [letters[a:b].tobytes() for a, b in zip(starts, stops)]
    [b' ah', b'aha', b'ha ', b' aha', b'aha ']
    """
    spelled = bytearray()

    def terms(text: str | None) -> Iterator[Occurrence]:
        for word in OLD_WORD.findall((text or "").lower()) if old else naive_text(text).split():
            characters = [character.encode() for character in f" {word} "]
            places = np.cumsum([len(spelled), *map(len, characters)]).tolist()
            spelled.extend(b"".join(characters))
            least = lengths[0] if old else min(lengths[0], len(characters))
            for size in range(least, lengths[1] + 1):
                for start, stop in zip(places, places[size:], strict=False):
                    yield term_hash(bytes(spelled[start:stop]), seed) & key_mask, start, stop, 1

    return _counted(map(terms, rows), spelled)
