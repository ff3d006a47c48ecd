from random import Random
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.batch import Batch, Spelled
from rosenblatt.data.encoding import features
from rosenblatt.data.encoding.features import (
    FEWEST_SLOTS,
    KeptNumbering,
    Vocabulary,
    chosen_terms,
)
from rosenblatt.kernels.text.hashing import SEED
from rosenblatt.kernels.text.vocabulary import LONGEST_NAME
from tests.data.encoding.definition import plain_terms
from tests.data.encoding.naive import naive_counts
from tests.processes import plainly

WORDS = st.lists(st.sampled_from([f"w{k}" for k in range(40)]), max_size=30).map(" ".join)


def _terms(*rows: str) -> Batch:
    return plain_terms(rows, SEED, 2**64 - 1, pairs=True)


def plain_look_up(vocabulary: Vocabulary, *terms: Any, growing: bool) -> Any:
    """Look up terms by the kernel as plain Python."""
    with plainly(features, "look_up"):
        return vocabulary.look_up(*terms, growing=growing)


@given(
    st.lists(st.tuples(st.lists(WORDS, max_size=4), st.booleans()), max_size=6), st.integers(0, 60)
)
def test_compiled_and_plain_vocabularies_are_the_same(
    steps: list[tuple[list[str], bool]], most: int
) -> None:
    """Numbers, names and what is left out agree, with any mixture of the two ways to look up."""
    plain, compiled, mixed = Vocabulary(most), Vocabulary(most), Vocabulary(most)
    naive: dict[str, int] = {}
    for rows, growing in steps:
        terms = _terms(*rows)
        expected = plain_look_up(plain, terms, 0, growing=growing)
        assert np.array_equal(compiled.look_up(terms, 0, growing=growing), expected)
        way = plain_look_up if len(rows) % 2 else Vocabulary.look_up
        assert np.array_equal(way(mixed, terms, 0, growing=growing), expected)
        names = [*naive, *(word for row in rows for word in naive_counts(row) if growing)]
        naive = {name: k for k, name in enumerate([*dict.fromkeys(names)][:most])}
        found = [naive.get(word, -1) for row in rows for word in naive_counts(row)]
        assert expected.tolist() == found
    for other in (compiled, mixed):
        for field, array in plain.arrays()._asdict().items():
            assert np.array_equal(getattr(other.arrays(), field), array)
    assert [plain.name(k) for k in range(len(plain))] == list(naive)
    assert len(plain) <= most


def test_a_vocabulary_grows_beyond_its_first_tables() -> None:
    """More terms than there are slots at first, in portions, keep their numbers and names."""
    vocabulary = Vocabulary(1 << 22)
    words = [f"word{k}" for k in range(70_000)]
    assert len(words) > FEWEST_SLOTS
    for start in range(0, len(words), 14_000):
        vocabulary.look_up(_terms(*words[start : start + 14_000]), 3, growing=True)
        vocabulary.add(start, f"level {start}".encode(), 4)
    assert len(vocabulary) == len(words) + 5
    again = vocabulary.look_up(_terms(*words), 3, growing=False)
    assert [vocabulary.name(k) for k in again[::1000]] == words[::1000]
    assert {*vocabulary.arrays().columns[again].tolist()} == {3}
    assert np.array_equal(plain_look_up(vocabulary, _terms(*words), 3, growing=False), again)
    assert vocabulary.name(14_000) == "level 0"
    hashes, columns, *_ = vocabulary.arrays()
    assert (hashes[42_002], columns[42_002]) == (28_000, 4)


@given(st.lists(WORDS, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_some_terms_keep_their_names(rows: list[str], random: Random) -> None:
    """Terms that are chosen, in any order, have the names, hashes and columns that they had."""
    vocabulary = Vocabulary(1000)
    vocabulary.look_up(_terms(*rows), 2, growing=True)
    numbers = random.sample(range(len(vocabulary)), random.randint(0, len(vocabulary)))
    terms = vocabulary.arrays()
    some = Vocabulary(1000, chosen_terms(terms, np.array(numbers, np.int64)))
    assert [*map(some.name, range(len(some)))] == [*map(vocabulary.name, numbers)]
    assert some.arrays().hashes.tolist() == terms.hashes[numbers].tolist()
    assert {*some.arrays().columns.tolist()} <= {2}


def test_usual_words_are_words() -> None:
    """Pairs of words do not count among the words that other texts have as well."""
    numbering = KeptNumbering(1000)
    for text in ("good cat sat", "good cat ran", "good dog"):
        numbering.documents.add(numbering.terms(0, _terms(text)), len(numbering))
    # Of 3 + 3 + 2 words in texts, good (3) and cat (2) stand in more than one
    assert numbering.usual_shares({0: 1}) == {0: 5 / 8}
    assert KeptNumbering(10).usual_shares({0: 1}) == {}


def test_long_names_are_cut_between_characters() -> None:
    """Of a term of any length so much is kept as makes whole characters."""
    for word in ("a" * 300, "a" + "é" * 300, "ab" + "漢" * 300, "x" * LONGEST_NAME):
        names = []
        for way in (plain_look_up, Vocabulary.look_up):
            vocabulary = Vocabulary(10)
            way(vocabulary, _terms(word), 0, growing=True)
            names.append(vocabulary.name(0))
        assert names[0] == names[1] == word.encode()[:LONGEST_NAME].decode("utf-8", "ignore")


def test_hashes_with_one_upper_half_are_told_apart() -> None:
    """What a slot has of a hash is half of it: terms of the same slot and half stay different."""
    hashes = [7, 7 | 1 << 16, 7 | 1 << 17, 7 | 5 << 40, 8, 7 | 1 << 18 | 5 << 40]
    ends = np.arange(1, len(hashes) + 1, dtype=np.int32)
    spelled = Spelled(ends - np.int32(1), ends, np.frombuffer(b"abcdef", np.uint8))
    terms = Batch(np.empty(0), np.array(hashes, np.uint64), np.array([0, 6]), spelled=spelled)
    for way in (plain_look_up, Vocabulary.look_up):
        vocabulary = Vocabulary(100)
        assert way(vocabulary, terms, 0, growing=True).tolist() == [*range(6)]
        assert way(vocabulary, terms, 0, growing=False).tolist() == [*range(6)]
        assert [vocabulary.name(k) for k in range(6)] == [*"abcdef"]
