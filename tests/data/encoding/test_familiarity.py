"""New rows that are not like those of training are told column by column, and usual ones never."""

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rosenblatt.data.encoding import EncodingFit, RowUse, TableEncoding, encoding_from
from rosenblatt.data.encoding.familiarity import tail_bound
from rosenblatt.data.tables.frames import frame_tables
from rosenblatt.errors import UnfamiliarDataWarning

MEALS = ("bb", "fb", "hb", "sc")
WORDS = ("the", "room", "was", "clean", "and", "quiet", "breakfast", "came", "late", "today")


def bookings(n_rows: int, seed: int = 0) -> pl.DataFrame:
    """Return rows of a meal, a lead time that is missing now and then, a price and a review."""
    draw = np.random.default_rng(seed)
    lead = draw.exponential(50.0, n_rows)
    lead[np.arange(n_rows) % 25 < 2] = np.nan
    return pl.DataFrame(
        {
            "meal": draw.choice(MEALS, n_rows).tolist(),
            "lead_time": pl.Series(lead, nan_to_null=True),
            "price": 100.0 + 20.0 * draw.standard_normal(n_rows),
            "review": [" ".join(words) for words in draw.choice(WORDS, (n_rows, 9)).tolist()],
        }
    )


def learned(frame: pl.DataFrame, **settings: Any) -> TableEncoding:
    """Return the frozen encoding of all rows of a frame."""
    tables = list(frame_tables(frame))
    fit = EncodingFit.from_sample(tables[0], labelled=False, **settings)
    for table in tables:
        fit.learn(table)
    return fit.encoding()[0]


def remarks(encoding: TableEncoding, frame: pl.DataFrame) -> list[str]:
    """Return what is warned of when rows are encoded."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoding.encode_frame(frame)
    assert all(issubclass(one.category, UnfamiliarDataWarning) for one in caught)
    return [str(one.message) for one in caught]


GONE = pl.lit(None, pl.Float64)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            pl.col("meal").str.to_uppercase(),
            "Column 'meal': none of its 4 values was seen in training.",
        ),
        (pl.lit("BB").alias("meal"), "Column 'meal': its only value, 'BB', was not seen in"),
        (
            pl.col("meal").replace({"bb": "BB", "fb": "FB"}),
            "Column 'meal': 2 of its 4 values, in 48 % of the rows, were not seen in training.",
        ),
        (GONE.alias("lead_time"), "Column 'lead_time': all missing; 8 % were in training."),
        (
            pl.when(pl.col("price") > 100).then(GONE).otherwise("price").alias("price"),
            "Column 'price': 48 % missing; none were in training.",
        ),
        (
            pl.col("price") * 1000,
            "Column 'price': the median is 1,000 times that of the training rows.",
        ),
        (pl.col("price") / 100, "Column 'price': the median is 0.01 times that of the training"),
        (pl.col("price") * 3, "Column 'price': the median is 3 times that of the training rows."),
        (
            -pl.col("price"),
            "Column 'price': the median is -98.85, that of the training rows 100.2.",
        ),
        (
            pl.when(pl.col("price") > 120).then(10_000.0).otherwise("price").alias("price"),
            "Column 'price': 14 % of its numbers are outside of the range of training, ",
        ),
        (
            pl.lit("das zimmer war sauber").alias("review"),
            "Column 'review': 0 % of its words were seen in training; 100 % is usual.",
        ),
    ],
)
def test_sentences(change: pl.Expr, sentence: str) -> None:
    """A column that changed is told of in one sentence, and no other column is."""
    encoding, new = learned(bookings(2000)), bookings(500, seed=1)
    assert remarks(encoding, new) == []
    (told,) = remarks(encoding, new.with_columns(change))
    assert told.startswith(sentence), told


@pytest.mark.parametrize(
    ("year", "new", "median"),
    [
        (2016.7, [2016.9] * 200, "2,016.9, that of the training rows 2,016.7"),
        (2017.0, [2016.0, 2018.0] * 100, "2,018, that of the training rows 2,017"),
        (2017.0, [2016.5, 2016.0] * 100, "2,016, that of the training rows 2,017"),
    ],
)
def test_medians_are_told_apart(year: float, new: list[float], median: str) -> None:
    """Two medians that differ are written with as many digits as show it."""
    encoding = learned(pl.DataFrame({"year": [year] * 500}))
    (told,) = remarks(encoding, pl.DataFrame({"year": new}))
    assert told == f"Column 'year': the median is {median}."


def test_single_row() -> None:
    """One row is no evidence, unless whoever asks wants to know of every odd value."""
    encoding = learned(bookings(2000))
    row = bookings(1, seed=2).with_columns(meal=pl.lit("BB"), price=GONE, review=pl.lit("zimmer"))
    assert remarks(encoding, row) == []
    counts = encoding.new_counts()
    (table,) = frame_tables(row)
    encoding.encode(table, None, RowUse(learn=False, counts=counts))
    assert encoding.remarks(counts, at_once=True) == [
        "Column 'meal': its only value, 'BB', was not seen in training.",
        "Column 'price': missing; none were in training.",
    ]


def test_stored() -> None:
    """A loaded encoding tells the same; of an older file it tells what can be known."""
    encoding = learned(bookings(2000))
    new = bookings(500, seed=1).with_columns(
        pl.col("meal").str.to_uppercase(), pl.col("price") * 10, lead_time=GONE
    )
    told = remarks(encoding, new)
    assert len(told) == 3
    arrays = encoding.arrays()
    again = encoding_from(encoding.as_json(), arrays)
    assert isinstance(again, TableEncoding)
    assert remarks(again, new) == told
    del arrays["summaries"]
    old = encoding_from(encoding.as_json(), arrays)
    assert isinstance(old, TableEncoding)
    known = remarks(old, new)
    assert known[:2] == told[:2]
    assert "100 % of its numbers are outside of the range of training" in known[2]


def test_hashed_values_are_not_told_apart() -> None:
    """A hash does not know what it has seen; gaps and numbers are told all the same."""
    encoding = learned(bookings(2000), hash_bits=18)
    new = bookings(500, seed=1).with_columns(pl.col("meal").str.to_uppercase(), lead_time=GONE)
    assert remarks(encoding, new) == ["Column 'lead_time': all missing; 8 % were in training."]


def test_tail_bound() -> None:
    """The bound is above the exact chance, and equal to it where all are hit."""
    for n, total, p in [(5, 5, 0.1), (8, 20, 0.1), (60, 100, 0.3)]:
        exact = sum(
            math.comb(total, k) * p**k * (1 - p) ** (total - k) for k in range(n, total + 1)
        )
        assert exact <= tail_bound(n, total, p) * (1 + 1e-9) < 50 * exact


@pytest.mark.data
@pytest.mark.parametrize("n_training", [60, 1000, None])
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("adult.train.csv.gz", lambda path: pl.read_csv(path, has_header=False, n_rows=20_000)),
        ("elec2.csv.gz", lambda path: pl.read_csv(path, infer_schema=False)),
        ("covtype.csv.gz", lambda path: pl.read_csv(path, has_header=False, n_rows=20_000)),
        (
            "sms_spam.tsv.gz",
            lambda path: pl.read_csv(path, separator="\t", has_header=False, quote_char=None),
        ),
        (
            "debtags.train.tsv.gz",
            lambda path: pl.read_csv(path, separator="\t", has_header=False, quote_char=None),
        ),
    ],
)
def test_usual_rows_are_never_remarked_on(
    data_folder: Path, name: str, read: Callable[[Path], pl.DataFrame], n_training: int | None
) -> None:
    """Held-out rows of real data, one or thousands at a time, give no remark."""
    frame, draw = read(data_folder / name), np.random.default_rng(0)
    frame = frame[draw.permutation(frame.height)]
    half = frame.height // 2
    encoding, held_out = learned(frame[: n_training or half]), frame[half:]
    for size, times in ((1, 20), (3, 20), (10, 20), (50, 10), (300, 5), (2000, 1)):
        for _ in range(times):
            start = int(draw.integers(0, held_out.height - size))
            assert remarks(encoding, held_out[start : start + size]) == [], size
