from pathlib import Path

import pytest

from rosenblatt.data.files import table_batches
from rosenblatt.data.formats import Layout
from rosenblatt.errors import InputError

CASES = [
    (b"1,2,3\n4,5\n", r"rows\.csv, line 2: 2 fields where 3 were expected \(separated by ','\)\.$"),
    (b"1,2\n\n3,4,5\n", r"line 3: 3 fields where 2 were expected"),
    (b'1,"a\nb"\n3,4,\n', r"line 3: 3 fields where 2 were expected"),
    (b"1,2,3\n4,,\n5,6\n7,8,9,10\n", r"line 3: 2 fields where 3 were expected"),
    (b"a,b\n1,2\nx,caf\xe9\n", r"line 3: 'caf\\xe9' is not UTF-8 text; name the encoding"),
    (b'a,b\n1,2\n"x\n\xff",2\n', r"line 4: .*\\xff' is not UTF-8 text"),
    (
        b'a,b\n1,2\n3,"x\n4,5\n',
        r"line 3: the quote before 'x\\n4,5\\n' is never closed; .*quoting=False\.$",
    ),
    (b'a,b\n1,"x"y\n', r"line 2: 'y' follows the quote that closes a field, where ',' or the end"),
    (b'"a"b,c\n1,2\n', r"line 1: 'b' follows the quote that closes a field"),
    (b'"a,c\n1,2\n', r"line 1: the quote before 'a,c\\n1,2\\n' is never closed"),
]


@pytest.mark.parametrize(("text", "sentence"), CASES)
@pytest.mark.parametrize("size", [4, 1 << 20])
def test_bad_rows_are_named(text: bytes, sentence: str, size: int, tmp_path: Path) -> None:
    """The error says file, line, what is wrong and what was expected, for blocks of any size."""
    file = tmp_path / "rows.csv"
    file.write_bytes(text)
    with pytest.raises(InputError, match=sentence):
        list(table_batches(file, Layout(separator=","), block_bytes=size))


def test_a_header_of_an_empty_quoted_field(tmp_path: Path) -> None:
    """It is a row like any other: the row behind it that cannot be read is named."""
    file = tmp_path / "rows.csv"
    file.write_bytes(b'""\n"c","d"\n1\n')
    with pytest.raises(InputError, match=r"line 2: ',' follows the quote that closes a field"):
        list(table_batches(file, Layout(separator=";", header=True)))


def test_a_bad_row_far_behind_is_counted_from_the_first_line(tmp_path: Path) -> None:
    """Line numbers go through the blocks; the tables before the bad block arrive."""
    file = tmp_path / "rows.tsv"
    file.write_bytes(b"1\t2\n" * 50_000 + b"3\n")
    tables = table_batches(file, block_bytes=1 << 14)
    heights: list[int] = []
    with pytest.raises(
        InputError, match=r"line 50001: 1 field where 2 were .* \(separated by tabs\)"
    ):
        heights.extend(table.frame.height for table in tables)
    assert 40_000 < sum(heights) <= 50_000


def test_missing_columns_are_named(tmp_path: Path) -> None:
    """The error names file and column, and says what there is."""
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"rows\.csv has no column 'c'; it has 'a', 'b'\.$"):
        list(table_batches(file, names=["a", "c"]))
    with pytest.raises(InputError, match=r"has none of the columns 'x'; it has 'a', 'b'\.$"):
        list(table_batches(file, names=["x"], optional=["x"]))
    with pytest.raises(InputError, match=r"names has 'a' more than once\.$"):
        table_batches(file, names=["a", "a"])
    with pytest.raises(InputError, match=r"names must name at least one column\.$"):
        table_batches(file, names=[])
    file.write_text("1,2\n3,4\n")
    with pytest.raises(InputError, match=r"has no header and 2 columns; expected 3 or 4: 'a', 'b'"):
        list(table_batches(file, names=["a", "b", "c", "d"], optional=["d"]))


def test_a_long_unclosed_quote_is_not_looked_through_again_and_again(tmp_path: Path) -> None:
    """A stray quote at the start of a large file is an error within a moment."""
    file = tmp_path / "rows.csv"
    file.write_bytes(b'1,"2\n' + b"3,4\n" * 1_000_000)
    with pytest.raises(
        InputError, match=r"line 1: the quote before '2\\n3,4\\n.*…' is never closed"
    ):
        list(table_batches(file, block_bytes=1 << 14))


def test_svmlight_text_has_no_columns(tmp_path: Path) -> None:
    """A file that is no table says which reader is for it."""
    file = tmp_path / "rows.svm"
    file.write_text("1 1:1\n")
    with pytest.raises(InputError, match=r"rows\.svm is svmlight text, which has no columns"):
        table_batches(file)
