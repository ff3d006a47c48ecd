"""The words of text and their pairs in plain Python: the definition of what the scan does.

It is also what small inputs are read with, since numba takes a third of a second to import.
"""

from collections.abc import Iterable

import numpy as np

from rosenblatt.data.encoding.characters import WORD
from rosenblatt.data.encoding.terms import Terms
from rosenblatt.kernels.text.hashing import pair_hash, term_hash


class _Term:
    """A term of a row: where it is spelled, how often it is there, and what each time counts."""

    def __init__(self, start: int, stop: int, unit: int) -> None:
        self.start = start
        self.stop = stop
        self.unit = unit
        self.count = 0


def plain_terms(rows: Iterable[str | None], seed: int, key_mask: int, *, pairs: bool) -> Terms:
    """Return the distinct terms of each row, in order of appearance: each word, then its pair.

    Where two terms of a row share a key, they count as one: what the first of them is.
    """
    keys: list[int] = []
    terms: list[_Term] = []
    indptr, spelled = [0], bytearray()
    hashes: dict[bytes, int] = {}
    for text in rows:
        words = [word.encode() for word in WORD.findall((text or "").lower())]
        found: dict[int, _Term] = {}
        before: tuple[int, int] | None = None
        for word in words:
            start = len(spelled)
            stop = start + len(word)
            if word not in hashes:
                hashes[word] = term_hash(word, seed)
            own = hashes[word]
            found.setdefault(own & key_mask, _Term(start, stop, 1)).count += 1
            if pairs and before is not None:
                key = pair_hash(before[0], own) & key_mask
                found.setdefault(key, _Term(before[1], stop, -1)).count += 1
            spelled += word + b" "
            before = own, start
        keys += found
        terms += found.values()
        indptr.append(len(keys))
    return Terms(
        np.array(keys, np.uint64),
        np.array([term.count * term.unit for term in terms], np.float32),
        np.array(indptr, np.int64),
        np.array([term.start for term in terms], np.int32),
        np.array([term.stop for term in terms], np.int32),
        np.frombuffer(bytes(spelled), np.uint8),
    )
