from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.labels import MOST_CLASSES, Classes, Label, classes_of, read_label
from rosenblatt.errors import InputError

NUMBERS = st.from_regex(r"[+-]?[0-9]{1,3}(\.[0-9]{1,3})?([eE][0-9]{1,2})?", fullmatch=True)
LABELS = st.one_of(NUMBERS, st.sampled_from(["linux", "True", "é", "v1.0"]))


@pytest.mark.parametrize("token", [b"1", b"+1", b"1.0", b"10e-1", b"1."])
def test_a_number_is_one_class_however_it_is_written(token: bytes) -> None:
    """In svmlight +1, 1 and 1.0 are the same class, shown as 1."""
    label = read_label(token)
    assert label == 1
    assert isinstance(label, int)


@pytest.mark.parametrize("token", [b"spam", b"01", b"1,2", b"+", b"0x10", b"--1", "é".encode()])
def test_whatever_is_not_a_number_is_a_word(token: bytes) -> None:
    """A label that does not read as a decimal number is kept as it is written."""
    assert read_label(token) == token.decode()


def test_large_whole_labels_stay_apart() -> None:
    """Two whole numbers that no double can tell apart are two classes."""
    assert read_label(b"9007199254740993") != read_label(b"9007199254740992")


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (b"nan", "label 'nan' is not finite"),
        (b"-Infinity", "label '-Infinity' is not finite"),
        (b"1e999", "label '1e999' is beyond the range of float64"),
        (b"a\x00b", r"label 'a\\x00b' has a control character"),
        (b"a\xff", r"label 'a\\xff' is not UTF-8 text"),
        (b"x" * 1001, f"label '{'x' * 40}…' is longer than 1000 bytes"),
    ],
)
def test_what_is_no_label_says_why(token: bytes, reason: str) -> None:
    """A token that cannot name a class is refused with the reason."""
    with pytest.raises(ValueError, match=f"^{reason}$"):
        read_label(token)


def test_the_table_of_classes_is_bounded() -> None:
    """Labels that are all different are measurements, not classes, and must not fill the memory."""
    classes = Classes(range(MOST_CLASSES))
    with pytest.raises(InputError, match="more than 1,048,576 different labels"):
        classes.codes([-1])


@given(st.sets(LABELS, min_size=1, max_size=6))
def test_a_class_is_the_text_in_the_file(labels: set[str]) -> None:
    """Only +1, 1 and 1.0 are one class, where every label is a number without further zeros."""
    classes = classes_of(labels)
    merged = {label for label, class_ in classes.items() if str(class_) != label}
    kinds = {type(class_) for class_ in classes.values()}
    assert len(kinds) == 1
    for label in merged:
        assert float(str(label)) == float(classes[label])
        assert str(label).removesuffix(".0").removeprefix("+") in {str(classes[label]), "-0"}
    if "linux" in labels:
        assert not merged


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["3.1", "3.10", "3.2", "linux"], ["3.1", "3.10", "3.2", "linux"]),
        (["3.1", "3.10"], ["3.1", "3.10"]),
        (["7E10", "70000000000"], ["7E10", "70000000000"]),
        (["01", "1", "1.0"], ["01", "1", "1.0"]),
        (["1", "1.0", "+1", "0.0"], [1, 1, 1, 0]),
        (["1", "1.0", "2.5"], ["1", "1", "2.5"]),
        (["+1", "-1"], ["+1", "-1"]),
        (["1.0", "0.0"], [1.0, 0.0]),
        (["2002.10", "2002.11"], ["2002.10", "2002.11"]),
        (["1", "12345678901234567890"], ["1", "12345678901234567890"]),
        (["-0.0", "1.0"], ["-0.0", "1.0"]),
        ([1, "x"], ["1", "x"]),
        ([1, 2.5], [1, 2.5]),
    ],
)
def test_two_spellings_are_one_class_only_where_all_are_plain_numbers(
    labels: list[Label], classes: list[Label]
) -> None:
    """Numbers stay numbers where their texts come back as they were."""
    found = list(classes_of(labels).values())
    assert [(type(one), one) for one in found] == [(type(one), one) for one in classes]


def test_spellings_that_are_one_class_are_said() -> None:
    """The sentence has the spellings and the class."""
    classes = Classes()
    classes.codes(["1", "0"])
    assert classes.notes() == []
    classes.codes(["1.0", "+1"])
    assert classes.notes() == [
        "The labels '1' and '1.0' and '+1' are one number, and one class: 1."
    ]
    classes.codes(["linux"])
    assert classes.notes() == []


@pytest.mark.parametrize(
    ("known", "label", "code"),
    [
        ((0, 1), "1", 1),
        ((0, 1), "1.0", 1),
        ((0, 1), "01", 2),
        ((0, 1), "1e0", 2),
        ((0.0, 1.0), 1, 1),
        ((3.1, 3.2), "3.10", 2),
        (("0", "1", "linux"), "1.0", 3),
        (("0", "1", "linux"), 1, 1),
        (("01", "02"), 1, 0),
        (("False", "True"), True, 1),
        ((False, True), "true", 1),
    ],
)
def test_a_known_label_is_found_by_its_number_where_that_is_sure(
    known: tuple[Any, ...], label: Label, code: int
) -> None:
    """A text by another plain spelling, a typed number by the only text of that number."""
    classes = Classes(known)
    assert classes.codes([label]).tolist() == [code]
    assert len(classes) == max(len(known), code + 1)
    if code < len(known) and str(label) != str(known[code]):
        said = f"Labels are spelled otherwise than in training: '{label}' is read as {known[code]}."
        assert classes.notes() == [said]
    else:
        assert classes.notes() == []
