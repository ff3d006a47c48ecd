"""Phrases as conlleval counts them, written down anew, and the steps of schemes."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.tasks.phrases import (
    PhraseCounts,
    barred_steps,
    breaks,
    closed,
    count_phrases,
    phrases,
    reopened,
    scheme_of,
)
from tests.examples import tries

KINDS = ("X", "Y")
TAGS = ["O", *(f"{letter}-{kind}" for letter, kind in product("BIESLU", KINDS))]


def chunks(tags: list[str]) -> set[tuple[str, int, int]]:
    """Return what seqeval's ``get_entities`` does: kind, first and last token of each phrase."""
    found, start = set(), 0
    before, own = "O", ""
    for t, tag in enumerate([*tags, "O"]):
        letter, _, kind = tag.partition("-")
        ends = before in "ES" or (before in "BI" and (letter in "BSO" or kind != own))
        if before != "O" and ends:
            found.add((own, start, t - 1))
        begins = letter in "BS" or (letter in "EI" and (before in "ESO" or kind != own))
        if begins:
            start = t
        before, own = letter, kind
    return found


@given(st.lists(st.sampled_from([tag for tag in TAGS if tag[0] not in "LU"]), max_size=8))
@tries(500)
def test_phrases_are_those_of_seqeval(tags: list[str]) -> None:
    """Of any sequence of tags, most of which break their scheme."""
    found = {(one.kind, one.start, one.stop - 1) for one in phrases(tags)}
    assert found == chunks(tags)


def test_phrases_are_counted() -> None:
    """Precision, recall and F1 of all kinds and of each."""
    truth = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"]]
    said = [["B-X", "I-X", "B-Y", "O"], ["O", "B-X"]]
    found = count_phrases(truth, said)
    assert found[""] == PhraseCounts(3, 3, 2)
    assert found["X"].f1 == 1.0
    assert found["Y"].precision == found["Y"].recall == found["Y"].f1 == 0.0
    assert found[""].recall == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("tags", "name"),
    [
        (["O", "B-X", "I-X"], "BIO"),
        (["B-X", "I-X", "E-X", "S-X", "O"], "IOBES"),
        (["B-X", "I-X", "L-X", "U-X", "O"], "BILOU"),
        (["NOUN", "VERB"], ""),
        (["O", "I-X"], ""),
        (["B", "I"], ""),
    ],
)
def test_schemes_are_recognised(tags: list[str], name: str) -> None:
    """By the letters of all tags."""
    assert scheme_of(tags) == name


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1, max_size=7))
@tries(300)
def test_bio_is_learned_as_iobes_and_comes_back(tags: list[str]) -> None:
    """What keeps to BIO keeps to IOBES, and comes back as it was."""
    names = ["B-X", "B-Y", "I-X", "I-Y", "O"]
    numbers = np.array([names.index(tag) for tag in tags], np.int32)
    bounds = np.array([0, len(tags)])
    broken = breaks(numbers, bounds, barred_steps(names, "BIO"))
    legal = all(
        tag[0] != "I" or (before[0] in "BI" and before[1:] == tag[1:])
        for before, tag in pairwise(["O", *tags])
    )
    assert broken == (not legal)
    inside = closed(tags)
    assert [reopened(tag) for tag in inside] == tags or not legal
    every = sorted({f"{a}-{b}" for a, b in product("BIES", KINDS)} | {"O"})
    own = np.array([every.index(tag) for tag in inside], np.int32)
    if legal:
        assert not breaks(own, bounds, barred_steps(every, "IOBES"))


def test_closed_schemes_bar_what_they_do_not_allow() -> None:
    """Of IOBES and BILOU every step is decided by its letters and kinds."""
    for letters, scheme in (("BIES", "IOBES"), ("BILU", "BILOU")):
        tags = ["O", *(f"{letter}-{kind}" for letter, kind in product(letters, KINDS))]
        barred = barred_steps(tags, scheme)
        inside, last, alone = letters[1], letters[2], letters[3]
        for (j, one), (k, two) in product(enumerate(tags), enumerate(tags)):
            opens, goes_on = one[0] in ("B", inside), two[0] in (inside, last)
            fits = one[1:] == two[1:] if opens and goes_on else not opens and not goes_on
            assert barred[j, k] == (not fits)
        starts = {tag for k, tag in enumerate(tags) if not barred[len(tags), k]}
        assert {tag[0] for tag in starts} == {"O", "B", alone}
        ends = {tag for k, tag in enumerate(tags) if not barred[len(tags) + 1, k]}
        assert {tag[0] for tag in ends} == {"O", last, alone}
