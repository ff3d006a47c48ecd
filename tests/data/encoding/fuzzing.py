"""Texts of random characters through the compiled scan, in memory that ends at a guarded page."""

import random
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import text_column as scanning
from rosenblatt.data.sources import PADDING
from rosenblatt.kernels.text.hashing import SEED
from tests.data.encoding.definition import plain_ngrams, plain_terms
from tests.data.guarded import GuardedText

ASCII = "abcXYZ019 _-'.,\n\t"
ODD = ASCII + "éÉßİΣσςΑΒ\u0307Ⱥ\u212a漢字\U00010400\U0001f600ǅ²\u0301\u200d\U0001f3fd≠+—"
LENGTHS = (0, 0, 1, 2, 3, 7, 8, 9, 20, 63, 64, 65, 130, 400)
ROOM = 1 << 19


class GuardedRooms:
    """Rooms that are exactly as long as they are asked for, and then a page nobody may touch."""

    def __init__(self) -> None:
        self._texts: dict[str, GuardedText] = {}

    def room(self, name: str, length: int, dtype: type) -> NDArray[Any]:
        """Return a room; the next one of this name is the same memory."""
        text = self._texts.setdefault(name, GuardedText(ROOM))
        n_bytes = length * np.dtype(dtype).itemsize
        if n_bytes < PADDING:
            return text.hold(b"")[PADDING - n_bytes :].view(dtype)
        return text.hold(b"\xff" * (n_bytes - PADDING)).view(dtype)


def drawn_text(generator: random.Random) -> str | None:
    """Return a random text, or None."""
    if generator.random() < 0.05:
        return None
    kind, length = generator.random(), generator.choice(LENGTHS)
    if kind < 0.4:
        return "".join(generator.choices(ASCII[:12], k=length))
    if kind < 0.8:
        return "".join(generator.choices(ODD, k=length))
    points = [generator.choice((0x80, 0x800, 0xD800, 0x10000, 0x110000)) for _ in range(length)]
    text = "".join(chr(generator.randrange(limit)) for limit in points)
    return text.encode("utf-8", "ignore").decode()


def check(rows: list[str | None], mask: int, *, pairs: bool) -> None:
    """Assert that the scan gives what plain Python gives."""
    column = pl.Series(rows, dtype=pl.String)
    plain = plain_terms(rows, SEED, mask, pairs=pairs)
    scanned = scanning.scanned_terms(column, SEED, mask, pairs=pairs, named=True)
    for field in ("indices", "data", "indptr"):
        assert np.array_equal(getattr(scanned, field), getattr(plain, field)), (rows, field)
    assert spelled(scanned) == spelled(plain), rows
    lengths = (1, 9) if pairs else (3, 5)
    defined = plain_ngrams(rows, SEED, mask, lengths)
    found = scanning.scanned_ngrams(column, SEED, mask, lengths)
    assert np.array_equal(found.indices, defined.indices), rows
    assert spelled(found) == spelled(defined), rows


def spelled(terms: Batch) -> list[bytes]:
    """Return each term of each row."""
    assert terms.spelled is not None
    starts, stops, letters = terms.spelled
    return [letters[a:b].tobytes() for a, b in zip(starts, stops, strict=True)]


def fuzz(n_tables: int, seed: int) -> int:
    """Check that many tables; return how many texts they had."""
    generator, rooms = random.Random(seed), GuardedRooms()  # noqa: S311  # no secret
    n_texts = 0
    with patch.object(scanning, "scratch", rooms.room):
        for _ in range(n_tables):
            rows = [drawn_text(generator) for _ in range(generator.randrange(6))]
            mask = generator.choice((2**64 - 1, 2**20 - 1, 7))
            check(rows, mask, pairs=generator.random() < 0.8)
            n_texts += len(rows)
    return n_texts
