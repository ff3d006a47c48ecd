import math
import re
from typing import Any

import polars as pl
import pytest

from rosenblatt.data.encoding.label_column import (
    check_labels,
    guess_label,
    label_faults,
    label_separator,
    quoted_columns,
    table_labels,
)
from rosenblatt.data.labels import Classes
from rosenblatt.errors import InputError, Question
from tests.data.encoding.samples import table, typed

MANY = [str(k) for k in range(40)]
WORDS = ["spam", "ham"] * 20
BITS = ["0", "1"] * 20
AGES = [str(20 + k % 12) for k in range(40)]
GRADES = [str(k % 4) for k in range(40)]
HOLES: list[str | None] = [*WORDS[:39], None]
PRICES = [f"{k % 5}.5" for k in range(40)]


@pytest.mark.parametrize(
    ("columns", "label"),
    [
        ({"a": MANY, "Class": WORDS, "b": BITS}, "Class"),
        ({"y": BITS, "label": WORDS, "b": BITS}, "label"),
        ({"y": BITS, "b": WORDS}, "y"),
        ({"x": MANY, "y": MANY, "b": WORDS}, "b"),  # a coordinate is no label
        ({"a": WORDS, "b": MANY}, "a"),
        ({"a": MANY, "b": BITS}, "b"),
        ({"a": AGES, "b": WORDS}, "b"),
        ({"a": AGES, "b": BITS}, "b"),
        ({"a": GRADES, "b": BITS}, "b"),
        ({"a": PRICES, "b": BITS}, "b"),  # fractions are no labels
        ({"a": BITS, "b": PRICES}, "a"),
        ({"a": BITS, "b": [None] * 40}, "a"),
        ({"column_1": ["pos"] * 40, "column_2": MANY}, "column_1"),  # sorted by its labels
        ({"day": BITS, "b": BITS}, "b"),
        ({"b": BITS, "DAY_OF_WEEK": GRADES}, "b"),
        ({"Outcome": BITS, "b": WORDS}, "Outcome"),
        ({"a": BITS, "Is_Fraud": BITS, "b": WORDS}, "Is_Fraud"),
        ({"a": MANY, "b": WORDS, "c": GRADES, "d": MANY}, "b"),  # the only one of words
        ({"a": MANY, "b": WORDS, "sex": WORDS}, "b"),
        ({"a": MANY, "b": BITS, "c": ["one"] * 40}, "b"),  # one value is no label
        ({"a": MANY, "kind": [*"abc", *"abc" * 12, "a"], "b": WORDS}, "b"),
        ({"a": MANY, "species": HOLES, "b": WORDS}, "species"),
    ],
)
def test_the_label_is_found_where_it_is_clear(columns: dict[str, list[str]], label: str) -> None:
    """By its name, as the last column, or as the only one that can well hold labels."""
    assert guess_label(table(columns), ()).column == label


@pytest.mark.parametrize(
    "columns",
    [
        {"a": WORDS, "b": BITS},
        {"a": WORDS, "b": WORDS},
        {"a": MANY, "b": MANY},
        {"label": WORDS, "LABEL": WORDS, "x": MANY},
        {"a": BITS},
        {"a": AGES, "b": ["1"] * 40},
        {"a": BITS, "b": WORDS, "c": MANY},  # of named columns the middle one is as likely
        {"a": ["pos"] * 40, "b": MANY},
        {"a": MANY, "b": WORDS, "c": [*"abc", *"abc" * 12, "a"]},
        {"class": GRADES, "survived": BITS, "x": MANY},
        {"a": MANY, "sex": WORDS, "b": MANY},
        {"a": MANY, "loan_status": GRADES, "b": WORDS},
        {"bill": MANY, "smoker": WORDS, "size": GRADES},  # a count, as far as anybody knows
        {"a": MANY, "b": BITS, "c": GRADES},
        {"a": MANY, "b": BITS, "c": HOLES},
        {"class": WORDS, "target": WORDS, "x": MANY},
    ],
)
def test_where_it_is_not_clear_the_message_names_flag_and_columns(
    columns: dict[str, Any],
) -> None:
    """No guess is made between columns that could both hold labels."""
    with pytest.raises(InputError) as error:
        guess_label(table(columns), ())
    sentence = str(error.value)
    likely = [name for name, values in columns.items() if len({*values} - {None}) in range(2, 31)]
    if likely:
        first, *lines, last = sentence.split("\n")
        assert first == "data.csv: which column holds the labels? These could:"
        assert sorted(lines) == sorted(f"  {_shown(name, columns[name])}" for name in likely)
        assert re.fullmatch(r"Name it, for example: label='\w+'", last)
    else:
        assert sentence.startswith(
            "data.csv: no column has few different words or whole numbers, as labels have. 'a': "
        )
        assert "; 'b': " in sentence
        assert sentence.endswith(". If one does hold classes, name it with label=.")


def test_what_was_passed_over_is_listed_with_the_reason() -> None:
    """Where no column can hold labels, each is named with what it holds instead."""
    columns: dict[str, list[Any]] = {"day": BITS, "n": MANY, "price": PRICES, "one": ["x"] * 40}
    with pytest.raises(InputError) as error:
        guess_label(table({**columns, "void": [None] * 40, "taken": WORDS}), ["taken"])
    assert str(error.value) == (
        "data.csv: no column has few different words or whole numbers, as labels have. 'day': a"
        " time, a key or a split by its name; 'n': 40 different numbers in 40 rows; 'price':"
        " numbers that are not whole, such as 0.5; 'one': one value alone, 'x'; 'void': no value."
        " If one does hold classes, name it with label=."
    )


def _shown(name: str, values: list[str | None]) -> str:
    distinct = sorted({value for value in values if value is not None})
    more = f", … {len(distinct)} values" if len(distinct) > 4 else ""
    return f"'{name}' ({', '.join(distinct[:4])}{more})"


def test_likely_columns_come_first() -> None:
    """Outcomes by their name, words and two values before numbers, attributes last; not all."""
    columns = {"sex": WORDS, "rooms": GRADES, "a": BITS, "churn": BITS, "vote": BITS, "b": WORDS}
    with pytest.raises(Question) as error:
        guess_label(table(columns), ())
    assert re.findall("  '(.*)' ", str(error.value)) == ["churn", "vote", "b", "a", "sex", "rooms"]
    with pytest.raises(Question) as error:
        guess_label(table({f"x{k}": BITS for k in range(20)}), ())
    assert str(error.value).endswith("  and 8 more\nName it, for example: label='x19'")


def test_missing_labels_written_in_words() -> None:
    """NA and nan are no classes, though None may be one."""
    found = table({"a": MANY, "b": [*WORDS[:36], "NA", "nan", "None", "None"]})
    classes = Classes()
    codes = table_labels(found, "b", classes, required=False)
    assert classes.labels == ("spam", "ham", "None")
    assert codes[36:].tolist() == [-1, -1, 2, 2]


def test_a_long_list_of_columns_ends_with_the_last_ones() -> None:
    """The column that is meant is often the last one."""
    assert quoted_columns([f"x{k}" for k in range(50)]).endswith(
        "'x16', 30 more, 'x47', 'x48', 'x49'"
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            [f"{k}.5" for k in range(40)],
            (
                "data.csv: the labels, column 'y', are 40 different numbers in the first 40 rows: a"
                " quantity, not classes. Make classes of it first, for instance low and high, or"
                " name another column with label=."
            ),
        ),
        ([str(k) for k in range(400)], "are 400 different numbers in the first 400 rows"),
        ([f"w{k}" for k in range(40)], "has 40 different values in 40 rows, so that nearly every"),
    ],
)
def test_a_quantity_is_no_label(values: list[str], sentence: str) -> None:
    """A continuous target is refused with the number of its values and what to do."""
    with pytest.raises(InputError) as error:
        check_labels(table({"y": values}), "y")
    assert sentence in str(error.value)


def test_many_classes_are_classes() -> None:
    """Whole numbers and words that recur are labels, however many they are; so are few halves."""
    for values in ([str(k % 200) for k in range(4000)], [f"{k % 5}.5" for k in range(40)]):
        check_labels(table({"y": values}), "y")


def test_columns_that_are_something_else_are_not_asked() -> None:
    """What a person names as text or leaves out is no label."""
    assert guess_label(table({"a": MANY, "b": WORDS, "label": BITS}), {"label"}).column == "b"


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["+1", "-1", "1.0", " 1 "], ["+1", "-1", "1.0", "1"]),
        (["3.1", "3.10", "7E10", "01", "inf"], ["3.1", "3.10", "7E10", "01", "inf"]),
        (["spam", "ham", "?", "None"], ["spam", "ham", "?", "None"]),
        (["normal.", "smurf."], ["normal.", "smurf."]),
        (pl.Series([2, 1, 2], dtype=pl.UInt8), [2, 1, 2]),
        ([1.0, 2.5, -0.0], [1, 2.5, 0]),
        ([True, False], [True, False]),
        (pl.Series(["a", "b", "a"], dtype=pl.Categorical), ["a", "b", "a"]),
        (pl.Series(["1.50"]).cast(pl.Decimal(5, 2)), ["1.50"]),
        (pl.Series([0.1, 2.0], dtype=pl.Float32), [0.1, 2]),
    ],
)
def test_labels_are_the_texts_in_the_file(values: Any, labels: list[Any]) -> None:
    """Texts stay as they are written, without blanks around; typed values keep their type."""
    classes = Classes()
    codes = table_labels(typed({"c": values}), "c", classes, required=True)
    found = [classes.labels[code] for code in codes]
    assert [(type(x), x) for x in found] == [(type(x), x) for x in labels]


def test_numbers_of_classes_go_on_from_table_to_table() -> None:
    """Classes are numbered in the order in which they are first met."""
    classes = Classes()
    first = table_labels(table({"c": ["b", "a", "b"]}), "c", classes, required=True)
    second = table_labels(table({"c": ["c", "a"]}), "c", classes, required=True)
    assert (first.tolist(), second.tolist(), classes.labels) == ([0, 1, 0], [2, 1], ("b", "a", "c"))


@pytest.mark.parametrize("values", [["a", None, "b"], ["a", " ", "b"], [1.0, math.nan, 2.0]])
def test_a_missing_label_is_an_error_where_it_is_needed(values: list[Any]) -> None:
    """The message says where; elsewhere the row has class −1."""
    with pytest.raises(InputError) as error:
        table_labels(typed({"c": values}), "c", Classes(), required=True)
    assert str(error.value) == (
        "data.parquet, row 2: the label, column 'c', is missing; leave the row out, or name another"
        " column with label=."
    )
    codes = table_labels(typed({"c": values}), "c", Classes(), required=False)
    assert codes.tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, math.inf], r"data.parquet, row 2, column 'c': label 'inf' is not finite\."),
        (["x" * 2000], r"row 1, column 'c': label 'x+…' is longer than 1000 bytes\."),
        ([[1], [2]], r"column 'c' holds List\(Int64\), which can't be labels"),
    ],
)
def test_what_is_no_label_is_an_error(values: list[Any], words: str) -> None:
    """The message says where and why."""
    with pytest.raises(InputError, match=words):
        table_labels(typed({"c": values}), "c", Classes(), required=True)


@pytest.mark.parametrize(
    ("values", "said", "separator", "sets"),
    [
        (["a; b", "b;a", "", None, "NA"], ";", ";", [("a", "b"), ()]),
        (["a  b", "a"], " ", " ", [("a", "b"), ("a",)]),
        ([["b", "a"], [], None, ["a", "b"]], None, "\x1f", [("a", "b"), ()]),
        ([[2.0, 1.0], [1.0]], None, "\x1f", [("1", "2"), ("1",)]),
        (["a\x1fb", "a"], None, "\x1f", [("a", "b"), ("a",)]),
        (["a\x1fb", "c"], "/", "/", [("a", "b"), ("c",)]),
    ],
)
def test_rows_may_have_several_labels(
    values: list[Any], said: str | None, separator: str, sets: list[Any]
) -> None:
    """A separator or lists make a set of labels of each value; none is a set, too."""
    rows, classes = typed({"c": values}), Classes()
    assert label_separator(rows, "c", said) == separator
    numbers = table_labels(rows, "c", classes, required=True, separator=separator)
    assert classes.labels == tuple(sets)
    assert numbers[0] == 0
    assert numbers.min() == 0


def test_one_label_is_not_several() -> None:
    """Without a separator a row with two labels is a fault of the row."""
    rows = typed({"c": ["a", "b", "a\x1fb"]})
    assert label_faults(rows, "c", "") == {
        2: "column 'c': the labels 'a' and 'b', where one was expected"
    }
