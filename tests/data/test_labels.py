import pytest

from rosenblatt.data import Classes
from rosenblatt.data.labels import MOST_CLASSES, read_label
from rosenblatt.errors import InputError


@pytest.mark.parametrize("token", [b"1", b"+1", b"1.0", b"10e-1", b"1."])
def test_a_number_is_one_class_however_it_is_written(token: bytes) -> None:
    """+1, 1 and 1.0 are the same class, shown as 1."""
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
