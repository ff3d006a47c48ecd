import datetime as dt
from typing import Any

import polars as pl
import pytest

from rosenblatt.data.encoding import InputColumn, TableEncoding
from rosenblatt.data.encoding.kinds import detected_column
from rosenblatt.errors import InputError
from tests.data.encoding.samples import table, typed

DAY = dt.date(2001, 2, 3)
NOON = dt.datetime(2001, 2, 3, 12, tzinfo=dt.UTC)
REVIEWS = [f"a fine film number {'x' * k} indeed" for k in range(30)]


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (["1", "2.5", "?", None, "-1e3"], "numeric"),
        (["1", "2", "inf"], "category"),
        (["1", "two"], "category"),
        (["2001-02-03 10:11:12", "2001-02-04 10:11:12"], "category"),
        (REVIEWS, "text"),
        (["usr/share/doc/zlib/copyright", "usr/lib/libz.so.gz"], "text"),
        (["never married before", "widowed some time ago"] * 9, "category"),
        (["it is a message of many words that comes again and again"] * 9, "text"),
        (["two words", "three words here"], "category"),
        (["?", None, "NA"], "category"),
    ],
)
def test_columns_of_text_are_told_apart(values: list[str], role: str) -> None:
    """Numbers, text of several words that mostly differs, and categories."""
    assert detected_column(table({"x": values}), "x") == InputColumn("x", role)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([1, 2], InputColumn("x", "numeric")),
        ([True, None], InputColumn("x", "numeric")),
        ([None, None], InputColumn("x", "category")),
        (pl.Series(["1", "2"], dtype=pl.Categorical), InputColumn("x", "category")),
        ([DAY], InputColumn("x", "category", ("month", "weekday"))),
        ([NOON], InputColumn("x", "category", ("month", "weekday", "hour"))),
        ([dt.time(3)], InputColumn("x", "category", ("hour",))),
        ([dt.timedelta(3)], InputColumn("x", "numeric")),
    ],
)
def test_the_type_of_a_column_decides_in_typed_files(values: Any, column: InputColumn) -> None:
    """Dates and times are taken apart; what a file says is a category is one."""
    assert detected_column(typed({"x": values}), "x") == column


def test_what_can_be_no_feature_has_to_be_left_out() -> None:
    """Lists and records are refused by name."""
    with pytest.raises(InputError) as error:
        detected_column(typed({"x": [[1], [2]]}), "x")
    assert str(error.value) == (
        "data.parquet: column 'x' holds List(Int64), which can't become features;"
        " leave it out with ignore='x'."
    )


def test_a_person_is_told_of_columns_that_number_the_rows() -> None:
    """Counters, identifiers and columns without a value get a sentence each; others none."""
    n = 40
    columns: dict[str, Any] = {
        "": [str(k) for k in range(n)],
        "id": [f"{k:03}x" for k in range(n)],
        "a key": [f"k{min(k, 37)}" for k in range(n)],
        "constant": ["1"] * n,
        "level": ["a", "b"] * (n // 2),
        "empty": [None] * n,
        "label": ["p", "n"] * (n // 2),
    }
    assert TableEncoding.from_sample(table(columns)).notes == [
        "Column '' counts the rows (0, 1, 2, …); leave it out with ignore=''.",
        "Column 'id' has a different value in every row; leave it out with ignore='id'.",
        "Column 'a key' has 38 different values in 40 rows; leave it out with ignore='a key'.",
        "Column 'empty' has no value in the first 40 rows; it is taken for a category.",
    ]


def test_a_person_is_told_of_a_word_among_numbers() -> None:
    """One word that makes a column of numbers a category is named."""
    columns = {"age": ["41"] * 39 + ["old"], "label": ["p", "n"] * 20}
    (note,) = TableEncoding.from_sample(table(columns)).notes
    assert note == (
        "Column 'age' is taken for a category, since 'old' in it is not a number; if it should be"
        " one, mend the file and use numeric='age'."
    )
