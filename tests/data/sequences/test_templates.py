"""Templates: files of CRF++ and Wapiti, names of features, and features against plain strings."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.sequences.encoding import NamedEncoding, WordEncoding, named_values
from rosenblatt.data.sequences.templates import (
    NAMES,
    Macro,
    Template,
    edge_text,
    function_text,
    kind_of,
    read_templates,
    template_name,
    word_templates,
)
from rosenblatt.errors import InputError
from rosenblatt.kernels.sequences.paths import NO_ROW
from rosenblatt.kernels.sequences.words import EDGE
from tests.examples import tries

CHUNKS = """# Unigram
U00:%x[-2,0]
U01:%x[-1,0]

U05:%x[-1,0]/%x[0,0]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U30

# Bigram
B
"""


def test_files_of_crfpp_are_read() -> None:
    """Observations of one and of several words, the constant feature; B says nothing new."""
    found = read_templates(CHUNKS, "chunks.tpl")
    names = [template_name(one) for one in found]
    pair, triple = "word[-1]|word", "word:1[-2]|word:1[-1]|word:1"
    assert names == ["word[-2]", "word[-1]", pair, triple, "bias"]


def test_files_of_wapiti_are_read() -> None:
    """A star stands for observations and pairs of tags, without macros for pairs alone."""
    found = read_templates("*\nu:wrd=%X[0,0]\nU:x=%x[ +1 , 0 ]\n", "w.tpl")
    assert [template_name(one) for one in found] == ["bias", "word", "word[+1]"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('U:%m[0,0,"^."]', '%m[0,0,"^."] is a macro that is not available'),
        ("U:%t[0,0]", "%t[0,0] is a macro"),
        ("B:%x[0,0]", "joins words with pairs of tags"),
        ("*:%x[0,0]", "joins words with pairs of tags"),
        ("X:%x[0,0]", "begins with U, B or *"),
        ("U:%x[99,0]", "at most 64 away; got 99"),
    ],
)
def test_what_is_not_available_is_refused_with_its_line(line: str, words: str) -> None:
    """The error names file and line."""
    with pytest.raises(InputError) as error:
        read_templates(f"U00:%x[0,0]\n\n{line}\n", "my.tpl")
    assert str(error.value).startswith("my.tpl, line 3: ")
    assert words in str(error.value)
    with pytest.raises(InputError, match="has no template"):
        read_templates("B\n", "my.tpl")
    with pytest.raises(InputError, match="asks for column 1"):
        WordEncoding.empty(read_templates("U:%x[0,1]", "t"), 1)


def text_at(cells: list[str], place: int) -> tuple[str, bool]:
    """Return the word at a place, and whether it is within the sentence."""
    if place < 0:
        return edge_text(min(-place, EDGE), before=True), False
    if place >= len(cells):
        return edge_text(min(place - len(cells) + 1, EDGE), before=False), False
    return unicodedata.normalize("NFC", cells[place]), True


def has(function: int, word: str) -> bool:
    """Return whether a function has a value on a word."""
    name, kinds = NAMES[function], [kind_of(c) for c in word]
    if name[:6] in ("suffix", "prefix"):
        return len(word) >= int(name[6:])
    if name == "digit":
        return "d" in kinds
    return name != "hyphen" or "-" in word[1:-1]


def strings(sentence: list[tuple[str, str]], t: int, templates: tuple[Template, ...]) -> set[str]:
    """Return the names of the features of a token, made of strings."""
    found = set()
    for template in templates:
        values: list[str] = []
        for macro in template:
            text, inside = text_at([cells[macro.column] for cells in sentence], t + macro.offset)
            if inside and not has(macro.function, text):
                break
            values.append(function_text(macro.function, text) if inside else text)
        else:
            found.add(f"{template_name(template)}={'|'.join(values)}")
    return found


words = st.one_of(
    st.sampled_from(
        ["The", "the", "CAT", "cat", "c-t", "-x", "12", "1a", "é", "e\u0301", "ÀÉ", "Ω"]
    ),
    st.text("aAbB19-éÉжЖ中😀", min_size=1, max_size=7),
)
corpora = st.lists(st.lists(st.tuples(words, words), max_size=5), min_size=1, max_size=4)
TRIPLE = (Macro(-2, 1, 0), Macro(0, 0, 2), Macro(5, 0, 0))


@given(corpora)
@tries(150)
def test_features_are_those_of_strings(sentences: list[list[tuple[str, str]]]) -> None:
    """Each token has a feature for each name, one number for one name, and names come back."""
    templates = (*word_templates(), *word_templates(1), TRIPLE)
    encoding = WordEncoding.empty(templates, 2)
    columns = encoding.columns(sentences)
    found = encoding.candidates(columns)
    rows = np.arange(len(found.keys), dtype=np.int32)[::-1].copy()
    if len(rows) > 3:
        rows[1] = NO_ROW
    kept = encoding.extended(found, rows)
    in_order = [int(f) for f in np.argsort(rows, kind="stable") if rows[f] != NO_ROW]
    names = {feature: kept.name(k) for k, feature in enumerate(in_order)}
    tokens = [(s, t) for s in sentences for t in range(len(s))]
    seen: dict[int, str] = {}
    for n, (sentence, t) in enumerate(tokens):
        features = found.features[found.starts[n] : found.starts[n + 1]].tolist()
        expected = strings(sentence, t, encoding.templates)
        assert len({*features}) == len(features) == len(expected)
        for feature in features:
            if feature in names:
                assert names[feature] in expected
                assert seen.setdefault(feature, names[feature]) == names[feature]
    again = WordEncoding.stored(kept.as_json(), kept.arrays())
    assert (again.keys == kept.keys).all()
    assert [again.name(k) for k in range(kept.n_features)] == [*names.values()]


def test_rare_features_are_left_out() -> None:
    """Those that come less often than ``min_count`` get no number."""
    encoding = WordEncoding.empty(read_templates("U:%x[0,0]", "t"), 1)
    columns = encoding.columns([["a", "b"], ["a", "c", "a"], []])
    found = encoding.candidates(columns, 2)
    assert len(found.keys) == 1
    assert np.diff(found.starts).tolist() == [1, 0, 1, 0, 1]
    assert found.bounds.tolist() == [0, 2, 5, 5]


def test_dictionaries_are_read_as_sklearn_crfsuite_reads_them() -> None:
    """Words, numbers, truth values, lists and dictionaries within."""
    token = {"w": "Rome", "title": True, "last": False, "n": 2, "none": None, "zero": 0.0}
    assert named_values(token) == {"w=Rome": 1.0, "title": 1.0, "n": 2.0}
    inner = {"morph": {"case": "gen", "plural": True}, "tags": ["a", "b"]}
    assert [*named_values(inner)] == ["morph:case=gen", "morph:plural", "tags:a", "tags:b"]
    with pytest.raises(InputError, match="'n' of a token must be a word, a finite number"):
        named_values({"n": float("nan")})
    encoding = NamedEncoding()
    found = encoding.candidates(encoding.columns([[token, {"w": "Rome"}]]))
    assert found.values.tolist() == [1.0, 1.0, 2.0, 1.0]
    kept = encoding.extended(found, np.array([4, NO_ROW, 3], np.int32))
    assert kept.names == ("n", "w=Rome")
    assert NamedEncoding.stored(kept.as_json(), kept.arrays()) == kept
