import threading
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding.text_column import (
    character_table,
    lower_text,
    scanned_ngrams,
    scanned_terms,
    token_spans,
)
from rosenblatt.kernels.text import terms as kernels
from rosenblatt.kernels.text.hashing import SEED
from rosenblatt.kernels.text.terms import term_weights
from tests.data.encoding.definition import plain_ngrams, plain_terms
from tests.data.encoding.fuzzing import fuzz, spelled
from tests.data.encoding.naive import naive_counts, naive_kind, naive_terms
from tests.processes import plainly

WORD_MASK = 2**64 - 1
ODD = (
    "abzAZ09 _-'.,\t\n\x00éÉßİΣσςΑΒ\u0307Ⱥ\u212a漢字\U00010400\U0001f600ǅ²½٣\u200d\xad"
    "😀👍🏽🇩🇪े\u0301≠—→+#️ᄀ각"
)
TEXTS = st.one_of(st.text(), st.text(ODD), st.text("ab C_", max_size=300))
LENGTHS = (1, 7, 8, 9, 16, 17, 62, 63, 64, 65, 200)  # around those of chunks and spans
EDGES: list[str | None] = [
    *("x" * n + " y" for n in LENGTHS),
    *(" " * n + "é" * n for n in LENGTHS),
    "İstanbul",
    "ΑΣ ΑΣΑ",
]
ROWS = st.lists(st.one_of(st.none(), TEXTS), max_size=6)


def _scanned(rows: list[str | None], mask: int, *, pairs: bool) -> Batch:
    column = pl.Series(rows, dtype=pl.String)
    return scanned_terms(column, SEED, mask, pairs=pairs, named=True)


def _same(left: Batch, right: Batch) -> bool:
    equal = zip(left[:3], right[:3], strict=True)
    return all(map(np.array_equal, *zip(*equal, strict=True))) and spelled(left) == spelled(right)


@given(rows=ROWS, pairs=st.booleans())
@example(rows=EDGES, pairs=True)
@example(rows=[" " * 63 + "ab" + " " * 64 + "c", "", None], pairs=True)
def test_terms_are_those_of_the_definition(rows: list[str | None], pairs: bool) -> None:
    """Tokens are runs of characters of a kind; pairs are neighbouring words; all are counted."""
    terms = plain_terms(rows, SEED, WORD_MASK, pairs=pairs)
    names = [term.decode() for term in spelled(terms)]
    for i, text in enumerate(rows):
        expected = naive_counts(text, pairs=pairs)
        own = slice(terms.indptr[i], terms.indptr[i + 1])
        assert names[own] == list(expected)
        signs = [-1 if " " in term else 1 for term in names[own]]
        assert (terms.data[own] * signs).tolist() == list(expected.values())


@given(rows=ROWS, pairs=st.booleans(), mask=st.sampled_from([WORD_MASK, 1023, 7, 1]))
@example(rows=EDGES, pairs=True, mask=7)
@example(rows=EDGES, pairs=True, mask=WORD_MASK)
def test_the_scan_gives_what_plain_python_gives(
    rows: list[str | None], pairs: bool, mask: int
) -> None:
    """Compiled and plain agree to the bit on any text, whatever terms share a key."""
    assert _same(_scanned(rows, mask, pairs=pairs), plain_terms(rows, SEED, mask, pairs=pairs))


def test_the_same_text_in_other_cuts_gives_the_same_terms() -> None:
    """Neither slices nor several chunks of a column matter to the scan."""
    rows = ["Hidden away, in this LONG text", None, "", "more then: über", "and ΣΑΣ " * 40] * 3
    whole = pl.Series(rows)
    chunks = pl.concat([whole[:4], whole[4:9], whole[9:]], rechunk=False)
    sliced = pl.concat([pl.Series(["before"]), whole, pl.Series(["after"])])[1:-1]
    expected = plain_terms(rows, SEED, WORD_MASK, pairs=True)
    for column in (whole, chunks, sliced):
        assert _same(scanned_terms(column, SEED, WORD_MASK, pairs=True, named=True), expected)


def test_the_table_of_characters_is_that_of_python() -> None:
    """Every code point has the lower case and the kind that str and unicodedata say it has."""
    tokens, words = character_table("tokens"), character_table("words")
    for point in range(0x110000):
        if point not in (0x3A3, 0x130):
            lower = chr(point).lower()
            assert tokens[point] & kernels.POINT == ord(lower), hex(point)
            assert "bwspfmj"[(tokens[point] >> kernels.KIND) & 7] == naive_kind(chr(point))
            assert (words[point] >> kernels.KIND) & 7 == lower.isalnum(), hex(point)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("काला कील", ["काला", "कील"]),
        ("ที่นี่", ["ที่นี่"]),
        ("C++, C# or C?", ["c", "++,", "c", "#", "or", "c", "?"]),
        ("a->b :-) $5", ["a", "->", "b", ":-)", "$", "5"]),
        ("😀😀 👍🏽 👩‍👩‍👧 🏴󠁧󠁢󠁷󠁬󠁳󠁿🇩🇪🇫🇷", ["😀", "😀", "👍🏽", "👩‍👩‍👧", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "🇩🇪", "🇫🇷"]),
        ("Cafe\u0301 1️⃣", ["café", "1️⃣"]),
    ],
)
def test_marks_emoji_and_symbols_are_kept(text: str, tokens: list[str]) -> None:
    """A word keeps its marks, an emoji what is joined to it, and a run of symbols is a token."""
    found = [term.decode() for term in spelled(_scanned([text], WORD_MASK, pairs=False))]
    assert sorted(found) == sorted({*tokens})
    lower = lower_text(text, "tokens")
    assert [lower[start:stop] for start, stop, _ in token_spans(lower, "tokens")] == tokens


@given(rows=ROWS, mask=st.sampled_from([WORD_MASK, 7]))
@example(rows=EDGES, mask=WORD_MASK)
def test_words_of_older_models_are_still_found(rows: list[str | None], mask: int) -> None:
    """The scan for an encoding of version 5 gives the words of letters and digits alone."""
    column = pl.Series(rows, dtype=pl.String)
    how: Any = {"pairs": True, "named": True, "pieces": "words"}
    defined = plain_terms(rows, SEED, mask, pairs=True, old=True)
    assert _same(scanned_terms(column, SEED, mask, **how), defined)
    ngrams = scanned_ngrams(column, SEED, mask, (2, 4), "words")
    assert _same(ngrams, plain_ngrams(rows, SEED, mask, (2, 4), old=True))


def test_scans_in_several_threads_do_not_disturb_each_other() -> None:
    """Each thread writes to memory of its own."""
    texts = [[f"thread {k} has row {i} of its own" for i in range(2000)] for k in range(4)]
    found: dict[int, bool] = {}

    def work(k: int) -> None:
        expected = plain_terms(texts[k], SEED, WORD_MASK, pairs=True)
        rows: list[str | None] = list(texts[k])
        found[k] = all(_same(_scanned(rows, WORD_MASK, pairs=True), expected) for _ in range(5))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(4), True)


def test_the_scan_stays_within_its_memory() -> None:
    """Random texts in rooms that end at a guarded page are read and written without a fault."""
    assert fuzz(300, seed=0) > 300


@pytest.mark.explore
def test_the_scan_stays_within_its_memory_for_long(random_seed: int) -> None:
    """So are many more."""
    assert fuzz(30_000, random_seed) > 30_000


SHORT_ROWS = st.lists(st.text("ab ", max_size=30), max_size=5)


@given(
    SHORT_ROWS,
    st.lists(st.booleans(), min_size=12, max_size=12),
    st.lists(st.floats(1, 9, width=32), min_size=12, max_size=12),
)
def test_terms_weigh_by_count_and_rarity(
    rows: list[str], known: list[bool], rarity: list[float]
) -> None:
    """Compiled and plain agree to the bit, and with the definition; what is unknown is left out."""
    terms = plain_terms(rows, SEED, 2**64 - 1, pairs=True)
    names = [name for row in rows for name in naive_counts(row)]
    numbers = {name: k if known[k % 12] else -1 for k, name in enumerate(dict.fromkeys(names))}
    found = np.array([numbers[name] for name in names], np.int32)
    idf = np.array([rarity[k % 12] for k in range(len(numbers))], np.float32)
    scanned = Batch(*term_weights(found, terms.data, terms.indptr, idf))
    with plainly(kernels, "_write_weights"):
        plain = Batch(*term_weights(found, terms.data, terms.indptr, idf))
    for field, array in plain._asdict().items():
        np.testing.assert_array_equal(getattr(scanned, field), array, strict=True)
    accepted = {name: float(idf[k]) for name, k in numbers.items() if k >= 0}
    for i, row in enumerate(rows):
        own = slice(plain.indptr[i], plain.indptr[i + 1])
        expected = naive_terms(row, accepted, accepted)
        assert plain.indices[own].tolist() == [numbers[name] for name in expected]
        np.testing.assert_allclose(plain.data[own], list(expected.values()), rtol=3e-7)


def test_keys_of_a_hash_are_all_known() -> None:
    """Numbers without a sign, as hashes have them, are taken as they are."""
    terms = plain_terms(["a b a", "", "c"], SEED, 1023, pairs=True)
    idf = np.ones(1024, np.float32)
    scanned = Batch(*term_weights(terms.indices, terms.data, terms.indptr, idf))
    with plainly(kernels, "_write_weights"):
        plain = Batch(*term_weights(terms.indices, terms.data, terms.indptr, idf))
    assert plain.indices.tolist() == scanned.indices.tolist() == terms.indices.tolist()
    assert np.array_equal(plain.data, scanned.data)
