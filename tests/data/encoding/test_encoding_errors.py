import datetime as dt
from typing import Any

import pytest

from rosenblatt.data.encoding import EncodingFit, RowUse
from rosenblatt.data.labels import Classes
from rosenblatt.errors import InputError
from tests.data.encoding.samples import table, typed

DATA = table({"x": ["1", "2"], "c": ["p", "q"], "label": ["a", "b"]})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"label": "nothing"},
            (
                "data.csv has no column 'nothing', named by label=."
                " The file has 3 columns: 'x', 'c', 'label'."
            ),
        ),
        (
            {"ignore": [3]},
            (
                "data.csv has no column number 3, named by ignore=."
                " The file has 3 columns: 'x', 'c', 'label'."
            ),
        ),
        (
            {"text": ["c"], "category": ["c"]},
            "Column 'c' can't be both category and text; choose one.",
        ),
        ({"label": "c", "ignore": [1]}, "Column 'c' can't be both label and ignored; choose one."),
        ({"ignore": ["x", "c"]}, "data.csv: no column is left to learn from."),
        ({"missing": "drop"}, "missing must be 'mean', 'zero' or 'error'; got 'drop'."),
        ({"hash_bits": 31}, "hash_bits must be a whole number from 1 to 30; got 31."),
        ({"hash_bits": True}, "hash_bits must be a whole number from 1 to 30; got True."),
        (
            {"max_features": 0},
            "max_features must be a whole number from 1 to 2147483647; got 0.",
        ),
        ({"scale": 1}, "scale must be True or False; got 1."),
    ],
)
def test_what_is_asked_for_must_be_possible(options: dict[str, Any], sentence: str) -> None:
    """The message says which option, and which columns there are."""
    with pytest.raises(InputError) as error:
        EncodingFit.from_sample(DATA, **options)
    assert str(error.value) == sentence


def test_lengths_of_time_are_no_categories() -> None:
    """A column whose values have no name is refused as a category."""
    rows = typed({"x": [dt.timedelta(seconds=1), dt.timedelta(0)], "label": ["a", "b"]})
    encoding = EncodingFit.from_sample(rows, label="label", category=["x"])
    with pytest.raises(InputError, match=r"column 'x' holds Duration.* can't be a category"):
        encoding.parse(rows, Classes(), RowUse(learn=True))


def test_columns_may_be_named_by_number() -> None:
    """From 0 on, or from −1 backwards."""
    encoding = EncodingFit.from_sample(DATA, label=-2, text=[2], ignore=[0])
    assert [column.role for column in encoding.columns] == ["ignored", "label", "text"]


def test_numeric_columns_must_fit() -> None:
    """More numeric columns than features are allowed is an error."""
    with pytest.raises(InputError, match=r"max_features must be at least 2, the number of numeric"):
        EncodingFit.from_sample(DATA, numeric=["x", "c"], max_features=1)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"x": ["1"], "label": ["a"]},
            "data.csv has no column 'c', which the model needs. The columns are 'x', 'label'.",
        ),
        (
            {"x": ["1"], "c": ["p"]},
            "data.csv has no column 'label', which holds the labels. The columns are 'x', 'c'.",
        ),
        (
            {"x": ["1", "old"], "c": ["p", "q"], "label": ["a", "b"]},
            (
                "data.csv, line 3: 'old' in column 'x' is not a finite number;"
                " for a column of words use category='x'."
            ),
        ),
        (
            {"x": ["1", "2"], "c": ["p", "q"], "label": ["a", None]},
            (
                "data.csv, line 3: the label, column 'label', is missing; leave the row out,"
                " or name another column with label=."
            ),
        ),
    ],
)
def test_later_tables_must_be_like_the_first(
    columns: dict[str, list[str | None]], sentence: str
) -> None:
    """Absent columns, words among numbers and missing labels are told with their place."""
    encoding = EncodingFit.from_sample(DATA)
    with pytest.raises(InputError) as error:
        encoding.parse(table(columns), Classes())
    assert str(error.value) == sentence


def test_missing_numbers_can_be_forbidden() -> None:
    """The first gap is told by its line and column."""
    encoding = EncodingFit.from_sample(DATA, missing="error", numeric=["x", "c"])
    with pytest.raises(InputError) as error:
        encoding.parse(table({"x": ["1", "2"], "c": ["1", "?"], "label": ["a", "b"]}), Classes())
    assert str(error.value) == (
        "data.csv, line 3: column 'c' has no value; fill it, or have it filled"
        " with missing='mean' or missing='zero'."
    )


def test_there_is_no_feature_beyond_the_last() -> None:
    """A number that names no feature is an InputError, not an IndexError."""
    encoding, _ = EncodingFit.from_sample(DATA).encoding()
    for index in (-1, 1):
        with pytest.raises(
            InputError, match=rf"There is no feature {index}; they count from 0 to 0"
        ):
            encoding.name(index)
