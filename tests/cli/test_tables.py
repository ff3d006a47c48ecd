"""Tables and curves as text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.cli.tables import draw_bar, draw_curve, draw_table
from rosenblatt.wording import Bar, printable

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def test_plain_table() -> None:
    """Words stand left, numbers right; a missing number is a dash; bars are left out."""
    rows = [("αβγ", 12, Bar(1, 2), "yes"), ("日本", None, Bar(-2, 2), "no")]
    assert draw_table(("name", "n", "", "so"), rows).splitlines() == [
        "name   n  so",
        "αβγ   12  yes",
        "日本   –  no",
    ]
    assert draw_table(("name", "n"), [("x", None)], blocks=False) == "name  n\nx     -\n"


def test_empty_columns_are_left_out() -> None:
    """A column without heading and text takes no room."""
    assert draw_table(("a", "", "b"), [("x", "", "y")]) == "a  b\nx  y\n"
    assert draw_table(("a", "b"), []) == "a  b\n"


@pytest.mark.parametrize("blocks", [True, False])
def test_fitted_table(blocks: bool) -> None:
    """On a terminal the widest names are cut so that a line fits, and numbers and bars stay."""
    rows = [("word " * 40, 1234567, Bar(0.5, 1.0)), ("short", 2, Bar(-1.0, 1.0))]
    lines = ESCAPE.sub("", draw_table(("name", "n", ""), rows, blocks=blocks, width=60))
    assert max(map(len, lines.splitlines())) == 60
    assert "1,234,567" in lines
    assert ("…" if blocks else "~") in lines
    assert draw_bar(Bar(-1.0, 1.0), blocks=blocks) in lines
    assert lines.isascii() != blocks


def test_bars_go_before_names() -> None:
    """Names of usual length are whole on a narrow terminal: the bars are left out for them."""
    rows = [(f"worst concave points {k}", 1.5, -0.25, Bar(0.5, 1.0)) for k in range(3)]
    for width, has_bars in ((55, False), (60, True)):
        lines = ESCAPE.sub("", draw_table(("feature", "value", "weight", ""), rows, width=width))
        assert "worst concave points 2" in lines
        assert ("█" in lines) == has_bars


def test_wide_headings() -> None:
    """Where names alone do not suffice, the headings of numbers are cut to the numbers."""
    labels = [f"newsgroup.{i}.discussion" for i in range(10)]
    table = draw_table(("", *labels), [(label, *range(100, 110)) for label in labels], width=80)
    lines = ESCAPE.sub("", table).splitlines()
    assert max(map(len, lines)) == 80
    assert lines[0].split() == ["new…"] * 10
    assert lines[1].split()[1:] == [str(i) for i in range(100, 110)]


def test_columns_that_can_be_spared() -> None:
    """Where names would be cut, scaled values go first; of two columns of names both are cut."""
    name = "fractal dimension error"
    headings, row = (
        ("feature", "value", "scaled", "weight", "weight × scaled"),
        (name, 0.00624, 0.9443, -0.5839, -0.5514),
    )
    at = {width: draw_table(headings, [row], width=width) for width in (60, 90)}
    assert name in at[60]
    assert "0.9443" not in at[60]
    assert "0.9443" in at[90]
    long = "comp.os.ms-windows.misc"
    lines = ESCAPE.sub(
        "", draw_table(("class", "as", "n"), [(long, long, 5)], width=45)
    ).splitlines()
    assert max(map(len, lines)) <= 45


def test_narrow_terminal() -> None:
    """Names are never cut below eight characters, however narrow it is."""
    table = ESCAPE.sub("", draw_table(("name", "n"), [("a long name", 1)], width=5))
    assert table == "name      n\na long …  1\n"


def test_nothing_from_data_reaches_the_terminal_as_a_command() -> None:
    """Control characters in names are escaped, in headings too."""
    table = draw_table(("a\x1b[2J",), [("x\x1b]0;title\x07\ny\u202e",)])
    assert table == "a\\x1b[2J\nx\\x1b]0;title\\x07\\ny\\u202e\n"


@given(st.text())
def test_printable(text: str) -> None:
    """What is printed has no character that moves the cursor or changes the colour."""
    assert printable(text).isprintable()


@given(st.lists(st.floats(0, 1e9), max_size=200), st.booleans())
def test_curve(values: list[float], blocks: bool) -> None:
    """A curve has a character a value, at most 40, and ASCII alone where blocks can't be had."""
    curve = draw_curve(values, blocks=blocks)
    assert len(curve) == min(len(values), 40)
    assert blocks or curve.isascii()


def test_curve_of_nothing() -> None:
    """All zeros are a flat line."""
    assert draw_curve([0, 0]) == "▁▁"
    assert draw_curve([1, 2.5], draws=False) == "1 2.5"
