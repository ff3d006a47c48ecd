import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.files import table_batches
from rosenblatt.data.formats import Layout
from rosenblatt.data.tables.heading import SeparatedOptions
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from tests.data.tables.fuzzing import fuzz, rows_of, separated_tables

SIZES = [1, 2, 3, 5, 7, 16, 1 << 16]
BLANKS = " \t\r\n\v\f"
LETTERS = st.one_of(
    st.sampled_from("\",;\n\r\t '|x^\x01\ufeff"),
    st.characters(codec="utf-8", exclude_characters="\0"),
)
FIELDS = st.text(LETTERS, max_size=8)


def _read(
    text: bytes, size: int = 1 << 16, *, separator: str = ",", quoting: bool = True
) -> list[Table]:
    asked = SeparatedOptions(separator, quoting, header=False, wanted=None)
    return separated_tables(text, asked, size)


@st.composite
def _written(draw: st.DrawFn) -> tuple[list[list[str]], str, bytes]:
    """Return rows of random text, a separator, and the file that the csv module writes of them."""
    width = draw(st.integers(2, 4))  # of one column a line of spaces is no row
    rows = draw(st.lists(st.lists(FIELDS, min_size=width, max_size=width), max_size=8))
    separator = draw(st.sampled_from(",;|\t"))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    file = io.StringIO()
    options: dict[str, Any] = {"lineterminator": end, "quoting": quoting}
    csv.writer(file, delimiter=separator, **options).writerows(rows)
    return rows, separator, file.getvalue().encode()


@given(_written(), st.sampled_from(SIZES))
def test_what_the_csv_module_writes_is_read(
    written: tuple[list[list[str]], str, bytes], size: int
) -> None:
    """Any text in any field comes back, without the blanks around it, for blocks of any size."""
    rows, separator, text = written
    expected = [[field.strip(BLANKS) or None for field in row] for row in rows]
    assert [row for _, row in rows_of(_read(text, size, separator=separator))] == expected


@given(
    st.lists(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\0\t\n")),
            min_size=2,
            max_size=2,
        )
    ),
    st.sampled_from(SIZES),
)
def test_quotes_in_tsv_are_ordinary(rows: list[list[str]], size: int) -> None:
    """Without quoting a row is a line, parted at its tabs, whatever else is in it."""
    text = "".join("\t".join(row) + "\n" for row in rows).encode()
    expected = [[field.strip(BLANKS) or None for field in row] for row in rows]
    found = rows_of(_read(text, size, separator="\t", quoting=False))
    assert found == list(enumerate(expected, 1))


def test_mutated_files_are_read_as_a_naive_reader_reads_them() -> None:
    """Neither a crash nor a wrong row nor a wrong line, over hundreds of damaged files."""
    assert fuzz(200, seed=20) > 30


@pytest.mark.explore
def test_many_mutated_files_are_read_as_a_naive_reader_reads_them(random_seed: int) -> None:
    """So are many more."""
    assert fuzz(30_000, random_seed) > 5_000


@pytest.mark.parametrize("size", SIZES)
def test_lines_are_counted_through_quotes_and_blank_lines(size: int) -> None:
    """Each row knows the line on which it begins."""
    text = b'a,"1\n2"\n\n   \nb,3\r\n\r\n"c\n\n",4\nd,5'
    expected = [(1, ["a", "1\n2"]), (5, ["b", "3"]), (7, ["c", "4"]), (10, ["d", "5"])]
    assert rows_of(_read(text, size)) == expected


def test_long_tables_are_parted() -> None:
    """No table has more than 65,536 rows, and rows and lines are counted through."""
    tables = _read(b"".join(b"%d,x\n" % k for k in range(150_000)), 1 << 22)
    assert [table.frame.height for table in tables] == [65_536, 65_536, 18_928]
    assert tables[1].frame[0, 0] == "65536"
    assert tables[1].place(0) == "fuzz, line 65537"
    assert tables[2].first_row == 131_073


def _file(folder: Path, text: str | bytes, name: str = "rows.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_a_header_names_the_columns(tmp_path: Path) -> None:
    """Names may be quoted, behind a byte order mark, and missing for one column."""
    file = _file(tmp_path, b'\xef\xbb\xbf"the, name",,^b$\r\n1,2,3\r\n')
    (table,) = table_batches(file)
    assert table.frame.to_dict(as_series=False) == {
        "the, name": ["1"],
        "column_2": ["2"],
        "^b$": ["3"],
    }
    assert table.place(0).endswith("rows.csv, line 2")
    assert table.bytes_read == file.stat().st_size


def test_columns_come_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    """Names are found wherever they stand, others are dropped, and optional ones may be missing."""
    file = _file(tmp_path, "c,b,a\n3,2,1\n6,5,4\n")
    (table,) = table_batches(file, names=["a", "c", "label"], optional=["label"])
    assert table.frame.to_dict(as_series=False) == {"a": ["1", "4"], "c": ["3", "6"]}


@pytest.mark.parametrize(
    ("text", "names", "optional", "expected"),
    [
        ("1,2\n", ["x", "y"], [], {"x": "1", "y": "2"}),
        ("1,2\n", ["x", "label", "y"], ["label"], {"x": "1", "y": "2"}),
        ("1,2,3\n", ["column_3", "column_1"], [], {"column_3": "3", "column_1": "1"}),
        (
            "2,3\n",
            ["column_1", "column_2", "column_3"],
            ["column_1"],
            {"column_2": "2", "column_3": "3"},
        ),
        (
            "1,2,3\n",
            ["column_1", "column_2", "column_3"],
            ["column_3"],
            {"column_1": "1", "column_2": "2", "column_3": "3"},
        ),
    ],
)
def test_columns_of_a_file_without_header_are_known_by_number_or_order(
    text: str, names: list[str], optional: list[str], expected: dict[str, str], tmp_path: Path
) -> None:
    """column_3 is the third; other names go by order, with or without the optional ones."""
    (table,) = table_batches(_file(tmp_path, text), names=names, optional=optional)
    assert table.frame.row(0, named=True) == expected
    assert table.frame.columns == list(expected)


def test_files_without_rows_yield_nothing(tmp_path: Path) -> None:
    """An empty file, blank lines, and a header alone have no rows; that is no error here."""
    for text in ("", "\n\n  \n", "\ufeff"):
        assert list(table_batches(_file(tmp_path, text))) == []
    assert list(table_batches(_file(tmp_path, "a,b\n"), Layout(header=True))) == []
    assert list(table_batches(_file(tmp_path, "a,b"), names=["b"])) == []


def test_a_row_wider_than_the_sample_is_measured_whole(tmp_path: Path) -> None:
    """Rows of any width are read, also those that the first 64 KiB do not hold."""
    row = ",".join(str(k) for k in range(30_000))
    tables = table_batches(_file(tmp_path, f"{row}\n{row}\n"), block_bytes=1000)
    assert [table.frame.shape for table in tables] == [(1, 30_000), (1, 30_000)]


def test_the_caller_may_say_how_a_file_is_written(tmp_path: Path) -> None:
    """Separator, quoting and header are taken as given."""
    file = _file(tmp_path, '"a"#1\n"b"#2\n')
    (table,) = table_batches(file, Layout(separator="#", quoting=False, header=True))
    assert table.frame.to_dict(as_series=False) == {'"a"': ['"b"'], "1": ["2"]}
    with pytest.raises(InputError, match="separator must be a tab or a printable ASCII character"):
        Layout(separator=",,")
    with pytest.raises(InputError, match="block_bytes must be at least 1; got 0"):
        table_batches(file, block_bytes=0)
    with pytest.raises(InputError, match=r"format must be one of svmlight, csv, .*; got 'xls'"):
        Layout(format="xls")  # type: ignore[arg-type]
