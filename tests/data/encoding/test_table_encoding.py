import datetime as dt
import itertools
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.batch import BadRows, Batch, join
from rosenblatt.data.encoding import (
    EncodingFit,
    RowUse,
    TableEncoding,
    encoded_block,
    encoding_from,
)
from rosenblatt.data.encoding.numbers import ColumnStatistics
from rosenblatt.data.labels import Classes
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import column_seed, term_hash
from tests.data.encoding.naive import naive_features, naive_names
from tests.data.encoding.samples import (
    ROLES,
    Rows,
    drawn_rows,
    encoding_for,
    encoding_of,
    fit_for,
    single_rows,
    table,
    table_of,
    typed,
)


def _cut(rows: Rows, cuts: list[int]) -> list[Rows]:
    bounds = [0, *sorted(cut % (len(rows) + 1) for cut in cuts), len(rows)]
    return [rows[a:b] for a, b in itertools.pairwise(bounds)]


def _block(fit: EncodingFit, parts: list[Rows]) -> Batch:
    batches, first = [], 1
    for part in parts:
        batches.append(fit.parse(table_of(part, list(ROLES), first), None))
        first += len(part)
    return join(batches)


def _assert_close(found: list[dict[str, float]], expected: list[dict[str, float]]) -> None:
    assert [list(row) for row in found] == [list(row) for row in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(list(one.values()), list(other.values()), rtol=3e-7)


@given(drawn_rows(), st.lists(st.integers(0, 12), max_size=3))
def test_rows_are_those_of_the_definition(rows: Rows, cuts: list[int]) -> None:
    """Features, values, their order in a row and their numbers, however a table is cut."""
    parts, fit = _cut(rows, cuts), fit_for(rows)
    batch = _block(fit, parts)
    encoding, _ = fit.encoding()
    _assert_close(single_rows(encoding, batch), [naive_features(row, ROLES) for row in rows])
    assert encoding.names(range(encoding.n_features)) == naive_names(parts, ROLES)
    starts = batch.indptr[:-1]
    assert (batch.indices[starts] == 0).all()
    assert (batch.indices[starts + 1] == 1).all()


@given(drawn_rows({"review": "text"}))
def test_a_text_alone_is_named_by_its_words(rows: Rows) -> None:
    """Where nothing else is a feature, names need no column."""
    fit = fit_for(rows, {"review": "text"})
    batch = fit.parse(table_of(rows, ["review"]), None)
    encoding, _ = fit.encoding()
    expected = [naive_features(row, {"review": "text"}) for row in rows]
    _assert_close(single_rows(encoding, batch), expected)
    assert encoding.encode(table_of(rows, ["review"]), None).data.dtype == np.float32


@given(drawn_rows(), st.sampled_from(["mean", "zero"]), st.booleans(), st.integers(0, 12))
def test_numbers_are_filled_and_scaled(rows: Rows, missing: str, scale: bool, cut: int) -> None:
    """Finished rows, and those that a frozen encoding gives, are filled and standardised.

    Beyond three deviations they grow by the logarithm.
    """
    fit = fit_for(rows, missing=missing, scale=scale)
    raw = _block(fit, _cut(rows, [cut]))
    before = raw.data.copy()
    encoding, features = fit.encoding()
    values = encoded_block(raw, encoding, features).data
    assert np.array_equal(raw.data, before, equal_nan=True)  # it can be encoded once more
    known = encoding.encode(table_of(rows, list(ROLES)), None)
    assert np.array_equal(known.indices, raw.indices)
    assert np.array_equal(known.data, values)
    for number in (0, 1):
        column = raw.data[raw.indptr[:-1] + number]
        present = column[~np.isnan(column)]
        mean = float(np.mean(present)) if len(present) else 0.0
        filled = np.where(np.isnan(column), mean if missing == "mean" else 0.0, column)
        width = np.ptp(present) if len(present) else 0.0
        deviation = 1.0 if width == 0.0 else np.std(present) if width > 1e-140 else width / 2
        expected = filled
        if scale:
            z = (filled - mean) / deviation
            far = np.sign(z) * (3 + np.log(np.maximum(abs(z), 3) / 3))
            expected = np.where(abs(z) > 3, far, z)
        found = values[raw.indptr[:-1] + number]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_column_of_tiny_numbers_is_scaled_to_sizes_near_one() -> None:
    """The squares of 1.8e-261 underflow, and yet the column is scaled, not divided by zero."""
    for tiny in (1.8e-261, 1e-160, 5e-324):
        found = ColumnStatistics.empty(1)
        numbers = np.array([[0.0], [tiny], [np.nan], [0.0]])
        found.add(numbers)
        scaled = found.finished(numbers, "mean", scale=True)
        assert np.isfinite(scaled).all()
        assert 0.5 <= np.ptp(scaled) <= 2.0


@given(drawn_rows(), st.integers(1, 12), st.lists(st.integers(0, 12), max_size=3))
def test_hashed_rows_have_the_same_values_under_other_numbers(
    rows: Rows, bits: int, cuts: list[int]
) -> None:
    """Numbers are below m + 2^bits, each once in a row, and where terms share one values add."""
    found = []
    for parts in (_cut(rows, cuts), [rows]):
        fit = fit_for(rows, hash_bits=bits, scale=False, missing="zero")
        block = _block(fit, parts)
        encoding, features = fit.encoding()
        found.append(encoded_block(block, encoding, features))
    batch, whole = found
    assert encoding.n_features == 2 + 2**bits
    assert encoding.n_unknown == 0
    for one, other in zip(batch[:3], whole[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    seed = column_seed("category", "colour")
    for i, row in enumerate(rows):
        own = slice(batch.indptr[i], batch.indptr[i + 1])
        indices = batch.indices[own].tolist()
        assert len(set(indices)) == len(indices)
        assert max(indices) < encoding.n_features
        level = (row["colour"] or "").encode()
        key = term_hash(b"" if level in (b"?", b"N/A", b"None") else level, seed)
        place = indices.index(2 + key % 2**bits)
        assert batch.data[own][place] >= 1
    assert encoding.name(2) == "hash 0"


def test_what_a_frozen_encoding_does_not_know_is_dropped_and_counted() -> None:
    """New words, pairs and levels leave no trace in rows; each counts once for a row."""
    rows: Rows = [{"age": "1", "colour": "red", "review": "a good film", "size": "2"}] * 2
    encoding = encoding_for(rows)
    n_features = encoding.n_features
    other: Rows = [{"age": "?", "colour": "pink", "review": "a bad bad film", "size": "2"}]
    found = single_rows(encoding, encoding.encode(table_of(other, list(ROLES)), None))
    assert list(found[0]) == ["age", "size", "review: a", "review: film"]
    np.testing.assert_allclose(
        list(found[0].values())[2:], (3 / 4 / 2) ** 0.5
    )  # of two known words
    assert encoding.n_features == n_features
    # age is missing, colour=pink; bad; a bad, bad bad, bad film
    assert encoding.n_unknown == 6


def test_a_full_vocabulary_takes_in_no_more() -> None:
    """With max_features the first that come are kept."""
    columns = {"text": ["one two three", "four one"], "c": ["x", "y"]}
    fit = EncodingFit.from_sample(
        table(columns), text=["text"], category=["c"], labelled=False, max_features=4
    )
    batch = fit.parse(table(columns), None)
    encoding, _ = fit.encoding()
    assert encoding.n_features == 4
    assert encoding.names(range(4)) == ["text: one", "text: two", "text: one two", "text: three"]
    assert encoding.n_left_out == 5  # two three; four, four one; x, y
    assert batch.indptr.tolist() == [0, 4, 5]


def test_dates_and_times_become_categories() -> None:
    """Year, month and weekday of a date, the hour of a time; a missing one is missing in each."""
    days = [dt.datetime(2001, 1, 1, 23, 5), dt.datetime(2026, 11, 15), None]  # noqa: DTZ001
    written = ["2001-01-01 23:05", "2026-11-15", "?"]
    for data in (
        typed({"day": days, "x": [1, 2, 3], "label": ["a", "b", "a"]}),
        table({"day": written, "x": ["1", "2", "3"], "label": ["a", "b", "a"]}),
    ):
        encoding = encoding_of(EncodingFit.from_sample(data, scale=False), data)
        assert single_rows(encoding, encoding.encode(data, None)) == [
            _parts(1, "2001", "1", "Mon", "23"),
            _parts(2, "2026", "11", "Sun", "0"),
            _parts(3, *["(missing)"] * 4),
        ]


def _parts(x: float, *values: str) -> dict[str, float]:
    parts = ("year", "month", "weekday", "hour")
    return {"x": x} | {f"day {p}={v}": 1 for p, v in zip(parts, values, strict=True)}


def test_rows_that_cannot_be_encoded_are_left_out_when_asked() -> None:
    """Words among numbers, what is not finite, dates that are none and labels that are missing."""
    n = 400
    columns: dict[str, list[Any]] = {
        "x": [str(k % 17) for k in range(n)],
        "day": [f"2001-02-{k % 28 + 1:02}" for k in range(n)],
        "label": ["a", "b"] * (n // 2),
    }
    columns["x"][300:302] = ["old", "inf"]
    columns["label"][310] = None
    data = table(columns)
    use = RowUse(learn=True, bad_rows=BadRows(skip=True))
    encoding = EncodingFit.from_sample(data, lenient=True)
    later = table({"x": ["1", "2"], "day": ["2001-02-30", "2001-02-03"], "label": ["a", "b"]})
    batch, other = (encoding.parse(one, Classes(), use) for one in (data, later))
    assert [column.role for column in encoding.columns] == ["numeric", "category", "label"]
    assert (batch.n_rows, other.n_rows) == (n - 3, 1)
    assert [(row.before, str(row.reason)) for row in (*batch.bad, *other.bad)] == [
        (300, "'old' in column 'x' is not a finite number; for a column of words use category='x'"),
        (300, "'inf' in column 'x' is not finite"),
        (308, ""),
        (0, "'2001-02-30' in column 'day' is not a date"),
    ]
    use = RowUse(learn=True, bad_rows=BadRows(skip=False))
    with pytest.raises(
        InputError, match=r"is not a date\. Leave such rows out with bad_rows='skip'\.$"
    ):
        encoding.parse(later, Classes(), use)


def test_numbers_as_people_write_them_are_read_in_their_column() -> None:
    """What was decided for a column holds for every table, also after a model was loaded."""
    values = ["$1,200.50", "$7", None] * 10
    data = table({"price": values, "share": ["0,5", "12", "1,25"] * 10, "label": ["a", "b"] * 15})
    encoding, _ = EncodingFit.from_sample(data, scale=False, missing="zero").encoding()
    loaded = encoding_from(json.loads(json.dumps(encoding.as_json())), encoding.arrays())
    later = table({"price": ["$2,000", "3"], "share": ["7,5", "?"]})
    assert isinstance(loaded, TableEncoding)
    rows = [single_rows(one, one.encode(later, None)) for one in (encoding, loaded)]
    assert rows[0] == rows[1] == [{"price": 2000, "share": 7.5}, {"price": 3, "share": 0}]
    assert encoding.notes[:2] == [
        "Column 'price' has numbers such as '$1,200.50', read as 1200.5.",
        "Column 'share' has numbers such as '0,5', read as 0.5.",
    ]


def test_a_level_is_the_text_in_the_file() -> None:
    """3.1 and 3.10 are two levels, so are 1, 1.0 and 01, 7E10 and 70000000000, True and true."""
    levels = ["3.1", "3.10", "1", "1.0", "01", "7E10", "70000000000", "True", "true"]
    data = table({"c": levels})
    fit = EncodingFit.from_sample(data, category=["c"], labelled=False)
    block = fit.parse(data, None)
    encoding, _ = fit.encoding()
    for rows in (block, encoding.encode(data, None)):
        names = [*map("".join, single_rows(encoding, rows))]
        assert names == [f"c={level}" for level in levels]


@pytest.mark.parametrize(
    ("levels", "values", "found"),
    [
        (["1", "2"], ["1.0", "+2", "01", "2.00", "1e0"], ["c=1", "c=2", "", "", ""]),
        (["1.0", "2.0"], [1, 2], ["c=1.0", "c=2.0"]),
        (["1", "2", "x"], ["1.0", "2"], ["", "c=2"]),
        (["1", "2", "x"], [1.0, 2.0], ["c=1", "c=2"]),
        (["01", "1e5"], [1, 100000], ["c=01", "c=1e5"]),
        (["3.1", "3.10"], [3.1, 2.0], ["c=3.1", ""]),
        (["True", "False"], [True, False], ["c=True", "c=False"]),
        (["true", "false"], ["True", "FALSE"], ["c=true", "c=false"]),
        (["0.1", "x"], pl.Series([0.1], dtype=pl.Float32), ["c=0.1"]),
        (["1.50", "x"], pl.Series(["1.50"]).cast(pl.Decimal(5, 2)), ["c=1.50"]),
    ],
)
def test_a_known_level_is_found_by_its_number_where_that_is_sure(
    levels: list[str], values: Any, found: list[str]
) -> None:
    """Texts by another plain spelling where all are numbers, numbers by the only text of them."""
    sample = table({"c": levels})
    fit = EncodingFit.from_sample(sample, category=["c"], labelled=False)
    encoding = encoding_of(fit, sample)
    batch = encoding.encode(typed({"c": values}), None)
    assert [*map("".join, single_rows(encoding, batch))] == found


@pytest.mark.parametrize(
    ("levels", "values", "sentence"),
    [
        (["01", "02"], [1, 2], "1 is read as '01'"),
        (["3.1", "3.10"], [3.1], "3.1 may be '3.1' or '3.10'"),
    ],
)
def test_numbers_that_were_texts_in_training_are_said(
    levels: list[str], values: list[float], sentence: str
) -> None:
    """What a data frame has made a number may have been another text: said once."""
    sample = table({"zip": levels})
    fit = EncodingFit.from_sample(sample, category=["zip"], labelled=False)
    encoding = encoding_of(fit, sample)
    encoding.encode(sample, None)
    assert encoding.spelling_notes() == []
    encoding.encode(typed({"zip": values}), None)
    assert encoding.spelling_notes() == [
        f"Column 'zip' holds numbers, but texts in training: {sentence}. Read it as text."
    ]
    assert encoding.spelling_notes() == []


def test_hashed_levels_of_one_plain_number_are_one() -> None:
    """No other level is known to compare with: 1.0 and +1 are 1, but 3.10 is not 3.1."""
    sample = table({"c": ["1", "1.0", "+1", "3.1", "3.10"]})
    fit = EncodingFit.from_sample(sample, category=["c"], labelled=False, hash_bits=20)
    one, *same, short, long = fit.parse(sample, None).indices.tolist()
    assert same == [one, one]
    assert short != long


def test_levels_are_the_same_in_every_format() -> None:
    """1, 1.0 and "1" are one level; NaN, null and "?" are missing; True is as Python writes it."""
    fit = EncodingFit.from_sample(table({"c": ["1"]}), category=["c"], labelled=False)
    columns: list[Any] = [["1", "?", "true"], [1, None, 2], [1.0, float("nan"), 2.0], [True, None]]
    columns += [pl.Series(["1", None, " 2 "], dtype=pl.Categorical), [None, None]]
    batches = [fit.parse(typed({"c": values}), None) for values in columns]
    encoding, _ = fit.encoding()
    names = [[*map("".join, single_rows(encoding, batch))] for batch in batches]
    assert names == [
        ["c=1", "c=(missing)", "c=true"],
        ["c=1", "c=(missing)", "c=2"],
        ["c=1", "c=(missing)", "c=2"],
        ["c=True", "c=(missing)"],
        ["c=1", "c=(missing)", "c=2"],
        ["c=(missing)", "c=(missing)"],
    ]


def test_a_batch_says_where_its_rows_stand() -> None:
    """Labels, file, lines and bytes are those of the table; features count from 0."""
    data = table({"x": ["1", "2"], "label": ["a", "b"]}, first_row=7)
    batch = EncodingFit.from_sample(data).parse(data, Classes(["b"]))
    assert batch.labels.tolist() == [1, 0]
    assert batch.classes == ("b", "a")
    assert (batch.file, batch.first_line, batch.n_lines, batch.bytes_read) == (
        "data.csv",
        8,
        2,
        100,
    )
    assert batch.zero_based
    assert batch.n_features == 1


def test_labels_may_be_absent_when_predicting() -> None:
    """An encoding gives class −1 to rows without a label, and to all without the column."""
    data = table({"x": ["1", "2"], "label": ["a", "b"]})
    encoding = encoding_of(EncodingFit.from_sample(data), data)
    assert encoding.encode(data, None).labels.tolist() == [-1, -1]
    classes = Classes(["a", "b"])
    assert encoding.encode(table({"x": ["1"]}), classes).labels.tolist() == [-1]
    gap = table({"x": ["1", "2"], "label": [None, "b"]})
    assert encoding.encode(gap, classes).labels.tolist() == [-1, 1]
    assert [(c.name, c.required) for c in encoding.columns] == [("x", True), ("label", False)]


def test_columns_are_found_by_name_in_any_order() -> None:
    """Other columns and another order of them change nothing."""
    data = table({"x": ["1", "2"], "c": ["p", "q"], "label": ["a", "b"]})
    fit = EncodingFit.from_sample(data)
    batch = fit.parse(data, Classes())
    moved = table({"new": ["?", "!"], "c": ["p", "q"], "label": ["a", "b"], "x": ["1", "2"]})
    again = fit.parse(moved, Classes())
    assert all(map(np.array_equal, batch[:4], again[:4]))


def test_tables_can_be_prepared_in_any_order() -> None:
    """What is prepared ahead, in whatever order, encodes as if it were not."""
    tables = [table({"t": [f"word{k} and more", "and"], "x": [str(k), "?"]}) for k in range(3)]
    for bits in (None, 10):
        options: dict[str, Any] = {"text": ["t"], "labelled": False, "hash_bits": bits}
        one, other = (EncodingFit.from_sample(tables[0], **options) for _ in range(2))
        prepared = {k: one.prepare(tables[k]) for k in (2, 0, 1)}
        for k, data in enumerate(tables):
            batch, again = one.parse(prepared[k], None), other.parse(data, None)
            for a, b in zip(batch[:4], again[:4], strict=True):
                np.testing.assert_array_equal(a, b)


def test_a_table_without_rows_gives_none() -> None:
    """An empty table is encoded to an empty batch."""
    rows: Rows = [{"age": "1", "colour": "red", "review": "a good film", "size": "2"}]
    for bits in (None, 4):
        fit = fit_for(rows, hash_bits=bits)
        block = fit.parse(table_of([], list(ROLES)), None)
        encoding, features = fit.encoding()
        parts = block, encoded_block(block, encoding, features)
        for batch in (*parts, encoding.encode(table_of([], list(ROLES)), None)):
            assert (batch.n_rows, len(batch.data), batch.n_features) == (0, 0, 0)
