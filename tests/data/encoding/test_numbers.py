import datetime as dt
import math
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.encoding.features import InputColumn
from rosenblatt.data.encoding.numbers import (
    ASCII,
    ColumnStatistics,
    all_numbers,
    code_columns,
    column_numbers,
    read_numbers,
)
from rosenblatt.data.labels import NUMBER
from rosenblatt.errors import InputError
from tests.data.encoding.naive import MISSING
from tests.data.encoding.samples import table, typed

PLACEHOLDERS = [  # what people write for a number that is missing
    *("-", "--", "---", ".", "n/a", "na", "n.a.", "#n/a", "none", "nil", "null", "nan", "missing"),
    *("unknown", "not available"),
]
TOKENS = st.one_of(
    st.text("0123456789.+-eE", max_size=8),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from([*MISSING, " 7 ", "\t-1.5", "inf", "-NaN", "1_000", "0x10", "1e999", "1e141"]),
    st.text(st.characters(exclude_characters="".join(ASCII)), max_size=4),
)


@given(st.lists(st.one_of(st.none(), TOKENS), max_size=6))
def test_numbers_are_those_of_python(tokens: list[str | None]) -> None:
    """A token is the double that float says, a missing number, or an error, in any mixture."""
    expected = []
    for token in tokens:
        bare = (token or "").strip(" \t\n\r\v\f")
        if bare in MISSING or bare.lower() in PLACEHOLDERS:
            expected.append(math.nan)
        elif NUMBER.fullmatch(bare.encode()) and abs(float(bare)) <= 1e140:
            expected.append(float(bare))
        else:
            with pytest.raises(InputError):
                column_numbers(table({"x": tokens}), "x")
            return
    np.testing.assert_array_equal(column_numbers(table({"x": tokens}), "x"), expected)
    assert all_numbers(pl.Series(tokens, dtype=pl.String))


@pytest.mark.parametrize(
    "values",
    [
        [1, 0, None],
        [True, False, None],
        [1.0, 0.0, math.nan],
        pl.Series([1, 0, None], dtype=pl.UInt8),
        pl.Series([1, 0, None], dtype=pl.Decimal(10, 2)),
        [dt.timedelta(seconds=1), dt.timedelta(0), None],
        pl.Series(["1.", "0", "?"], dtype=pl.Categorical),
    ],
)
def test_columns_with_a_type_are_numbers_too(values: object) -> None:
    """Whole numbers, decimals, true and false, lengths of time (seconds); null and NaN miss."""
    np.testing.assert_array_equal(column_numbers(typed({"x": values}), "x"), [1, 0, np.nan])


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            "tall",
            (
                "data.csv, line 3: 'tall' in column 'my x' is not a finite number;"
                " for a column of words use category='my x'."
            ),
        ),
        (
            "-inf",
            "data.csv, line 3: '-inf' in column 'my x' is not finite.",
        ),
        (
            "1e141",
            "data.csv, line 3: 1e+141 in column 'my x' is too large; numbers may be up to 1e+140.",
        ),
    ],
)
def test_what_is_no_number_is_named_with_its_place(value: str, sentence: str) -> None:
    """The message says where, which column, what stands there and what to do."""
    with pytest.raises(InputError) as error:
        column_numbers(table({"my x": ["1", value, "2", value]}), "my x")
    assert str(error.value) == sentence


def test_infinities_and_other_types_of_typed_files_are_errors() -> None:
    """A typed column is told by its row."""
    with pytest.raises(
        InputError, match=r"data.parquet, row 2: the value of column 'x' is not fin"
    ):
        column_numbers(typed({"x": [1.0, math.inf]}), "x")
    with pytest.raises(InputError, match=r"column 'x' holds List.*leave it out with ignore='x'\."):
        column_numbers(typed({"x": [[1], [2]]}), "x")


def test_codes_are_whole_few_and_each_several_times() -> None:
    """Amounts of money, shares of a number, times and numbers of many values are no codes."""
    whole = [k % 250 for k in range(1250)]
    columns: dict[str, Any] = {
        "code": whole,
        "gaps": [None if k == 3 else float(k % 200) for k in range(1250)],
        "many": [k % 251 for k in range(1250)],
        "rare": [k % 250 if k < 1240 else None for k in range(1250)],
        "two": [k % 2 for k in range(1250)],
        "halves": [k / 2 for k in whole],
        "time": [dt.timedelta(seconds=k) for k in whole],
        "money": [f"${k}" for k in whole],
    }
    forms = {"money": "point"}
    own = [InputColumn(name, "numeric", form=forms.get(name, "")) for name in columns]
    rows = typed(columns)
    assert [*code_columns(rows, own, read_numbers(rows, own)[0])] == ["code", "gaps"]


VALUES = st.one_of(
    st.floats(-1e140, 1e140, allow_subnormal=False),
    st.floats(1e9, 1e9 + 1),
    st.just(float("nan")),
    st.integers(-5, 5).map(float),
)


@given(st.lists(VALUES, min_size=1, max_size=40), st.data())
def test_any_cuts_give_the_statistics_of_the_whole(
    values: list[float], data: st.DataObject
) -> None:
    """Mean and deviation are those of exact fractions to 1e-12, however rows are cut."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=5)))
    found = ColumnStatistics.empty(1)
    for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True):
        found.add(np.array(values[start:stop]).reshape(-1, 1))
    present = [x for x in values if x == x]  # noqa: PLR0124  # all but NaN
    count, _, _, low, high, n_missing = found.values[:, 0]
    assert (count, n_missing) == (len(present), len(values) - len(present))
    if not present:
        assert (found.mean[0], found.deviation[0]) == (0, 1)
        return
    exact = [Fraction(x) for x in present]
    size = max(abs(x) for x in present)
    assert (low, high) == (min(present), max(present))
    assert abs(Fraction(float(found.mean[0])) - statistics.mean(exact)) <= size * 1e-12
    if low < high:
        spread = float(statistics.pvariance(exact)) ** 0.5
        assert abs(found.deviation[0] - spread) <= 1e-12 * size or spread < 1e-150
    else:
        assert found.deviation[0] == 1


def test_equal_values_have_no_deviation() -> None:
    """What rounding leaves of a constant column is not blown up to a scale."""
    found = ColumnStatistics.empty(1)
    for n in (3, 7, 1000):
        found.add(np.full((n, 1), 0.1))
    assert (found.mean[0], found.deviation[0]) == (0.1, 1)


def test_numbers_of_other_scripts_are_those_of_ours() -> None:
    """A sign of print, or digits that are not ASCII, give the number that they stand for."""
    values = ["−1.5", "12", "－３", "٣٫٥", "१५.१", "—", "３％", "1−2"]
    for form, fault in (("", 2), ("point", 1)):
        column = InputColumn("x", "numeric", form=form)
        numbers, faults = read_numbers(table({"x": values}), [column])
        assert numbers[:6, 0].tolist()[:5] == [-1.5, 12.0, -3.0, 3.5, 15.1]
        assert np.isnan(numbers[5, 0])
        assert len(faults) == fault
