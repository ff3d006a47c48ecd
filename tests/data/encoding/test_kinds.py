import datetime as dt
from typing import Any

import polars as pl
import pytest

from rosenblatt.data.encoding import EncodingFit, InputColumn
from rosenblatt.data.encoding.features import Columns
from rosenblatt.data.encoding.kinds import Sample, assigned_columns, detected_columns
from rosenblatt.errors import InputError
from tests.data.encoding.samples import table, typed

DAY = dt.date(2001, 2, 3)
NOON = dt.datetime(2001, 2, 3, 12, tzinfo=dt.UTC)
REVIEWS = [f"a fine film number {'x' * k} indeed" for k in range(30)]
TITLES = [f"{deed} money, order {k}" for k in range(20) for deed in ("win", "send")]
NAMES = [f"Ann {chr(97 + k)}{chr(98 + k)}son" for k in range(20)]

KEYS = [f"{k}ab{k}cd{k}" for k in range(20)]


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (["1", "2.5", "?", None, "-1e3"], "numeric"),
        (["1", "2", "inf"], "numeric"),  # that it is not finite is said where it stands
        (["1", "two"], "category"),
        (REVIEWS, "text"),
        (["usr/share/doc/zlib/copyright", "usr/lib/libz.so.gz"], "text"),
        (["never married before", "widowed some time ago"] * 9, "category"),
        (["it is a message of many words that comes again and again"] * 9, "text"),
        (["two words", "three words here"], "text"),
        (TITLES, "text"),
        (NAMES, "text"),
        (KEYS, "ignored"),
        (["?", None, "NA"], "category"),
    ],
)
def test_columns_of_text_are_told_apart(values: list[str], role: str) -> None:
    """Numbers, text of several words that mostly differs, and categories."""
    found = detected_columns(Sample(table({"x": values})), ["x"])[0]
    reason = "it has a different value in every row" if role == "ignored" else ""
    assert found == InputColumn("x", role, reason=reason)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([1, 2], InputColumn("x", "numeric")),
        ([True, None], InputColumn("x", "category")),
        ([None, None], InputColumn("x", "category")),
        (pl.Series(["1", "2"], dtype=pl.Categorical), InputColumn("x", "category")),
        ([DAY], InputColumn("x", "category", ("year", "month", "weekday"))),
        ([NOON], InputColumn("x", "category", ("year", "month", "weekday", "hour"))),
        ([dt.time(3)], InputColumn("x", "category", ("hour",))),
        ([dt.timedelta(3)], InputColumn("x", "numeric")),
    ],
)
def test_the_type_of_a_column_decides_in_typed_files(values: Any, column: InputColumn) -> None:
    """Dates and times are taken apart; what a file says is a category is one."""
    assert detected_columns(Sample(typed({"x": values})), ["x"])[0] == column


def test_what_can_be_no_feature_is_left_out() -> None:
    """Lists of lists, records and bytes are named with the reason."""
    data = typed(
        {"a": [[["x"]], [["y"]]], "b": [{"x": 1}, {"x": 2}], "c": [b"1", b"2"], "d": [1, 2]}
    )
    found = [detected_columns(Sample(data), [name])[0] for name in "abcd"]
    assert [column.role for column in found] == ["ignored"] * 3 + ["numeric"]
    reasons = [column.reason for column in found]
    assert reasons == ["it holds lists", "it holds objects", "it holds bytes", ""]


@pytest.mark.parametrize(
    ("values", "parts", "form"),
    [
        (["2001-02-03 10:11:12", "2001-02-04T10:11"], ("year", "month", "weekday", "hour"), "ymd"),
        (["2001/2/3", "2001-12-31"], ("year", "month", "weekday"), "ymd"),
        (["2001年2月3日", "2001. 12. 31."], ("year", "month", "weekday"), "ymd"),
        (
            ["2001/02/03 10:11:12 AM GMT+1", "2001/2/4 9:05 PM CET"],
            ("year", "month", "weekday", "hour"),
            "ymd",
        ),
        (["31.12.2001", "1.2.2002"], ("year", "month", "weekday"), "dmy"),
        (["12/31/2001", "1/2/2002"], ("year", "month", "weekday"), "mdy"),
        (["31/12/01", "1/2/02"], ("year", "month", "weekday"), "dmy"),
        (["1/2/2001", "3/4/2001"], ("year", "month", "weekday"), "mdy"),
        (["3-Jan-2001", "31 December 2001"], ("year", "month", "weekday"), "dby"),
        (["Jan 3, 2001 5:06 PM", "Dec 31, 2001"], ("year", "month", "weekday", "hour"), "bdy"),
        (["10:11", "23:59:59"], ("hour",), "time"),
    ],
)
def test_dates_are_known_by_how_they_are_written(
    values: list[str], parts: tuple[Any, ...], form: str
) -> None:
    """Dates and times of text are taken apart as those of typed files are."""
    found = detected_columns(Sample(table({"x": [*values, None, "?"]})), ["x"])[0]
    assert found == InputColumn("x", "category", parts, form)


@pytest.mark.parametrize(
    "values", [["2001-02-30"], ["31.31.2001"], ["1.2.3"], ["25:00"], ["2001-02-03", "soon"]]
)
def test_what_is_no_date_is_none(values: list[str]) -> None:
    """There is no 30th of February."""
    assert detected_columns(Sample(table({"x": values})), ["x"])[0] == InputColumn("x", "category")


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["$12,345", "$7"], "point"),
        (["1,234.5", "-2"], "point"),
        (["12 %", "3.5%"], "point"),
        (["1 234", "5"], "point"),
        (["0,5", "12"], "comma"),
        (["1.234,56 €", "7"], "comma"),
        (["3,14", "2"], "comma"),
        (["1,234", "2,345"], "point"),
        (["−1.5", "2", "—"], ""),
        (["−1,5", "2"], "comma"),
        (["٣٫٥", "١٢", "٤٠"], "point"),
        (["१५.१", "-२.५"], "point"),
        (["１２", "－３．５"], "point"),
    ],
)
def test_numbers_are_known_as_people_write_them(values: list[str], form: str) -> None:
    """Signs of money, thousands apart and a decimal comma are numbers, not categories."""
    assert detected_columns(Sample(table({"x": values})), ["x"])[0] == InputColumn(
        "x", "numeric", form=form
    )


def test_columns_that_number_the_rows_are_left_out() -> None:
    """Counters and identifiers are said to be left out, each with its reason; others are not."""
    n = 40
    columns: dict[str, Any] = {
        "": [str(k) for k in range(n)],
        "id": [f"{k:03}x" for k in range(n)],
        "a key": [f"k{min(k, 37)}" for k in range(n)],
        "constant": ["1"] * n,
        "customerId": [str(k * 7 % 41 + 100) for k in range(n)],
        "amount": [str(k * 7 % 41 + 100) for k in range(n)],
        "level": ["a", "b", "a", "a"] * (n // 4),
        "empty": [None] * n,
        "label": ["p", "n"] * (n // 2),
    }
    encoding = EncodingFit.from_sample(table(columns))
    assert {one.name: one.reason for one in encoding.columns if one.role == "ignored"} == {
        "": "it counts the rows: 0, 1, 2, …",
        "id": "it has a different value in every row",
        "a key": "it has 38 different values in 40 rows",
        "customerId": "it has a different number in every row, and its name is that of a key",
        "empty": "it has no value in the first 40 rows",
    }
    assert encoding.notes == []
    kept = EncodingFit.from_sample(table(columns), category=["id"], numeric=[""])
    assert [one.name for one in kept.columns if one.role == "ignored"] == [
        "a key",
        "customerId",
        "empty",
    ]


def test_names_are_learned_from_where_there_is_nothing_else() -> None:
    """A column of short texts that all differ is text if it is all there is."""
    columns = {"query": [f"shoes {'x' * k}" for k in range(40)], "label": ["p", "n"] * 20}
    encoding = EncodingFit.from_sample(table(columns))
    assert [one.role for one in encoding.columns] == ["text", "label"]
    numbered = EncodingFit.from_sample(table({"id": [str(k) for k in range(40)], **columns}))
    assert [one.role for one in numbered.columns] == ["ignored", "text", "label"]
    assert numbered.columns[0].reason == "it counts the rows: 0, 1, 2, …"


def test_a_person_is_told_of_a_word_among_numbers() -> None:
    """One word that makes a column of numbers a category is named."""
    columns = {"age": ["41"] * 39 + ["old"], "label": ["p", "n"] * 20}
    (note,) = EncodingFit.from_sample(table(columns)).notes
    assert note == (
        "Column 'age' is taken for a category, since 'old' in it is not a number; if it should be"
        " one, use numeric='age'."
    )


def test_numbers_that_are_left_out_for_a_word_are_told_of() -> None:
    """Numbers that all differ, but for a word, are no key: the option that reads them is named."""
    columns = {
        "cost": [f"{k}.5" for k in range(39)] + ["Total"],
        "kind": ["a", "b"] * 20,
        "label": ["p", "n", "n", "p"] * 10,
    }
    encoding = EncodingFit.from_sample(table(columns))
    (note,) = encoding.notes
    assert note == (
        "Column 'cost' is left out, since 'Total' in it is not a number; if it should be one, use"
        " numeric='cost'."
    )
    assert encoding.columns[0].reason == "not all of its values are numbers"


def test_rows_without_a_label_decide_on_no_column() -> None:
    """A total at the end, in a row without a label, leaves a column of numbers what it is."""
    columns = {"age": [str(k * 7 % 50) for k in range(40)], "label": ["p", "n"] * 20}
    for missing in ("", "NA", None):
        ages, labels = [*columns["age"], "Total"], [*columns["label"], missing]
        encoding = EncodingFit.from_sample(table({"age": ages, "label": labels}))
        assert [one.role for one in encoding.columns] == ["numeric", "label"]
        assert not encoding.notes


def test_shares_with_and_without_a_percent_sign_are_told_of() -> None:
    """29% is read as 29 and 0.29 as 0.29: whether they mean the same, only a person can say."""
    labels = ["p", "n", "n", "p"] * 10
    encoding = EncodingFit.from_sample(table({"rate": ["29%", "0.29"] * 20, "label": labels}))
    assert encoding.columns[0] == InputColumn("rate", "numeric", form="point")
    (note,) = encoding.notes
    assert note == (
        "Column 'rate' has numbers such as '29%', read as 29, beside '0.29', read as 0.29: if they"
        " mean the same, write all with a percent sign or none."
    )
    for values, said in ((["29%", "-"], "'29%', read as 29."), (["$1", "2"], "'$1', read as 1.")):
        (note,) = EncodingFit.from_sample(table({"x": values * 20, "label": labels})).notes
        assert note == f"Column 'x' has numbers such as {said}"


@pytest.mark.parametrize(
    ("values", "read", "other"),
    [
        (["05/05/2021", "03/04/2021"], "2021-03-04", "2021-04-03"),
        (["03.04.2021", "05.05.2021"], "2021-04-03", "2021-03-04"),
    ],
)
def test_days_that_may_be_months_are_told_of(values: list[str], read: str, other: str) -> None:
    """Where day and month cannot be told apart it is said how dates are read; else nothing is."""
    labels = ["p", "n", "n", "p"] * 10
    (note,) = EncodingFit.from_sample(table({"day": values * 20, "label": labels})).notes
    shown = max(values, key=lambda value: value[:2] != "05")
    assert note == (
        f"Column 'day': day and month cannot be told apart in dates such as '{shown}', read as"
        f" {read}. If it is {other}, write dates in that way."
    )
    for clear in ([values[0], f"31{values[0][2:]}"], ["05/05/2021", "06/06/2021"]):
        assert not EncodingFit.from_sample(table({"day": clear * 20, "label": labels})).notes


THOUSANDS = ["7.082", "912", "23.162", "88"] * 10


def _forms(columns: dict[str, list[str]], **options: Any) -> dict[str, str]:
    chosen, *_ = assigned_columns(table(columns), Columns(**options), labelled=False)
    return {column.name: column.form for column in chosen}


def test_thousands_without_decimals_are_asked_about() -> None:
    """Three digits behind every point beside larger whole numbers may be thousands."""
    with pytest.raises(InputError) as error:
        _forms({"Betrag": THOUSANDS})
    assert str(error.value) == (
        "data.csv: is '7.082' in column 'Betrag', beside '912', the number 7082 or one with"
        " decimals? For 7082 use decimal='comma', for decimals decimal='point'."
    )
    assert _forms({"Betrag": THOUSANDS}, decimal="comma") == {"Betrag": "comma"}
    assert _forms({"Betrag": THOUSANDS}, decimal="point") == {"Betrag": ""}
    with pytest.raises(InputError, match=r"^decimal= must be 'point' or 'comma'; got ','\.$"):
        _forms({"Betrag": THOUSANDS}, decimal=",")


def test_other_columns_tell_thousands_from_decimals() -> None:
    """Where one has decimal commas the point parts thousands; where one has points, it does not."""
    commas = {"Quote": ["0,5", "0,25"] * 20}
    assert _forms({"Betrag": THOUSANDS, **commas}) == {"Betrag": "comma", "Quote": "comma"}
    points = {"rate": ["0.5", "0.25"] * 20}
    assert _forms({"amount": THOUSANDS, **points}) == {"amount": "", "rate": ""}
    money = [f"{value} €" for value in THOUSANDS]
    assert _forms({"Betrag": money, **commas}) == {"Betrag": "comma", "Quote": "comma"}


@pytest.mark.parametrize(
    "values",
    [
        ["7.082", "912", "6.5", "88"] * 10,
        ["0.125", "912", "2.375", "88"] * 10,
        ["7.082", "9120", "23.162", "88"] * 10,
        ["7.082", "912.000", "23.162", "88.100"] * 10,
        ["7.082", "2", "3.162", "5"] * 10,
        ["1234.567", "912"] * 20,
    ],
)
def test_decimals_are_not_asked_about(values: list[str]) -> None:
    """Fewer digits, a leading zero, larger or only small whole numbers: these are decimals."""
    assert _forms({"x": values}) == {"x": ""}
