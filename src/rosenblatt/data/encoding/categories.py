"""A column of categories, lists of them or dates: each value, or part, an indicator of its own.

Dates and times, typed or written as text, have the parts year, month, weekday and hour.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding.features import (
    BLANKS,
    FEW_VALUES,
    FOLDING,
    MISSING,
    TOKENS,
    DatePart,
    FeatureColumn,
    InputColumn,
    Numbering,
    plainly_typed,
    replaced_values,
    unusable,
)
from rosenblatt.data.labels import TRUTHS, shown
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import SEED, column_seed, term_hash
from rosenblatt.wording import composed

if TYPE_CHECKING:
    from rosenblatt.data.encoding.familiarity import ColumnCounts

NO_LEVEL = b""  # a missing value; no level is empty
DECIMAL = re.compile(rb"-?(?:0|[1-9][0-9]*)\.[0-9]+")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?:[A-Z]{1,4})?(?:[+-][0-9]{1,2}(?::?[0-9]{2})?)?"
)
YEAR4, YEAR, NUMBER = r"(?P<year>[0-9]{4})", r"(?P<year>[0-9]{4}|[0-9]{2})", "[0-9]{1,2}"
MONTH_NAME = r"(?P<month>[A-Za-z]{3,9})\.?"
PATTERNS = {
    "ymd": (
        rf"{YEAR4}[-/.年년] ?(?P<month>{NUMBER})[-/.月월] ?(?P<day>{NUMBER})[.日일]?"
        rf"(?:[T ]+{CLOCK})?"
    ),
    "dmy": rf"(?P<day>{NUMBER})[-/.](?P<month>{NUMBER})[-/.]{YEAR}(?:[T ,]+{CLOCK})?",
    "mdy": rf"(?P<month>{NUMBER})[-/.](?P<day>{NUMBER})[-/.]{YEAR}(?:[T ,]+{CLOCK})?",
    "dby": rf"(?P<day>{NUMBER})[- ]{MONTH_NAME}[- ,]+{YEAR}(?:[T ,]+{CLOCK})?",
    "bdy": rf"{MONTH_NAME} (?P<day>{NUMBER}),? {YEAR4}(?:[T ,]+{CLOCK})?",
    "time": CLOCK,
}


def category_numbers(
    table: Table, column: FeatureColumn, numbering: Numbering, counts: "ColumnCounts | None" = None
) -> NDArray[np.int32]:
    """Return for each row the number of its level, −1 for one that is not known; count them."""
    return _level_numbers(_values(table, column), column, numbering, counts)


def _level_numbers(
    values: "pl.Series", column: FeatureColumn, numbering: Numbering, counts: "ColumnCounts | None"
) -> NDArray[np.int32]:
    values = values.alias("value")
    seed = column_seed(column.role, column.title)
    numbers = {}
    for value, n_rows in _counted(values):
        level = known_level(value, column, numbering)
        if not level and value is not None and column.role == "list":
            numbers[value] = -1  # in a list it is nothing
            continue
        key = _level_hash(level, seed, numbering)
        numbers[value] = numbering.level(column.place, key, level, n_rows)
        if counts is not None:
            counts.add_level(column.place, level, numbers[value], n_rows)
    return replaced_values(values, numbers)


def _counted(values: "pl.Series") -> Iterable[tuple[Any, int]]:
    """Return the different values, in the order in which they come, with how many have each."""
    if len(values) <= FEW_VALUES:
        return Counter(values.to_list()).items()
    return values.to_frame().group_by("value", maintain_order=True).len("number of rows").rows()


def list_part(
    table: Table, column: FeatureColumn, numbering: Numbering, counts: "ColumnCounts | None" = None
) -> Batch:
    """Return what lists give to the rows: a feature of value 1 for each level that they have."""
    lists = read_lists(table, column.name).list.drop_nulls().list.unique(maintain_order=True)
    items = plainly_typed(lists.explode(empty_as_null=False))  # null for a missing list
    numbers = _level_numbers(items, column, numbering, counts).astype(np.int64)
    rows = np.repeat(np.arange(len(lists)), lists.list.len().fill_null(1).to_numpy())
    keys = np.unique((rows << 32 | numbers)[numbers >= 0])  # two spellings may be one level
    indptr = np.searchsorted(keys, np.arange(len(lists) + 1) << 32)
    return Batch(np.ones(len(keys), np.float32), (keys & 0xFFFFFFFF).astype(np.int32), indptr)


def read_lists(table: Table, name: str) -> "pl.Series":
    """Return a column as lists; a plain value is a list of one."""
    series = table.frame[name]
    if isinstance(series.dtype, pl.Array):
        series = series.arr.to_list()
    is_list = isinstance(series.dtype, pl.List)
    inner = series.dtype.inner if isinstance(series.dtype, pl.List) else series.dtype
    unread = is_list and inner == pl.Null and series.null_count() == len(series)
    if inner.is_nested() or inner in (pl.Binary, pl.Object) or unread:
        raise unusable(table.file, series, "which can't be lists of categories")
    return series if is_list else _one_each(series)


def _one_each(series: "pl.Series") -> "pl.Series":
    lists = series.reshape((-1, 1)).arr.to_list()
    return lists.to_frame("x").select(pl.when(series.is_not_null()).then(pl.col("x"))).to_series()


def group_keys(table: Table, column: str) -> NDArray[np.uint64]:
    """Return a number for the group of each row, the same for equal values."""
    values = plainly_typed(table.frame[column])
    levels = {value: level_name(value).decode() for value in values.unique().to_list()}
    keys = {value: term_hash(composed(one).encode(), SEED) >> 1 for value, one in levels.items()}
    return np.array([keys[value] for value in values.to_list()], np.uint64)


def known_level(value: Any, column: FeatureColumn, numbering: Numbering) -> bytes:
    """Return the level that a value belongs to; if it is not known, by another spelling of it."""
    level = level_name(value)
    if numbering.version == FOLDING:
        return folded_level(level)
    if not level:
        return level
    key = _level_hash(level, column_seed(column.role, column.title), numbering)
    return numbering.spelling(column.place, key, value, level)


def _level_hash(level: bytes, seed: int, numbering: Numbering) -> int:
    """Return the hash of a level, by which it is found: as it is once it is composed."""
    if numbering.version >= TOKENS and not level.isascii():
        level = composed(level.decode()).encode()
    return term_hash(level, seed)


def missing_numbers(
    missing: NDArray[np.bool_], column: FeatureColumn, numbering: Numbering
) -> NDArray[np.int32]:
    """Return for each row the number of "column is missing" where it is, else −1."""
    numbers = np.full(len(missing), -1, np.int32)
    n_rows = int(missing.sum())
    if n_rows:
        key = term_hash(NO_LEVEL, column_seed("missing", column.title))
        numbers[missing] = numbering.level(column.place, key, NO_LEVEL, n_rows)
    return numbers


def level_name(value: Any) -> bytes:
    """Return the level that a value belongs to; it is empty where the value is missing.

    Text is the level as it is written. The number 1.0 is the level 1, since a column of whole
    numbers has that type where some are missing.

    >>> [level_name(value) for value in (1.0, "1.0", "2.50", True, "True", "01", " x ", "NA")]
    [b'1', b'1.0', b'2.50', b'True', b'True', b'01', b'x', b'']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NO_LEVEL
    if isinstance(value, float):
        return str(int(value) if value.is_integer() else value).encode()
    bare = str(value).strip(BLANKS)
    return NO_LEVEL if bare in MISSING else bare.encode()


def folded_level(level: bytes) -> bytes:
    """Return a level as encodings up to version 4 have it: 2.5 for 2.50, true for True.

    >>> [folded_level(level) for level in (b"1.0", b"2.50", b"True", b"01")]
    [b'1', b'2.5', b'true', b'01']
    """
    if DECIMAL.fullmatch(level):
        return level_name(float(level))
    return level.lower() if level.lower().decode() in TRUTHS else level


def _values(table: Table, column: FeatureColumn) -> "pl.Series":
    series = table.frame[column.name]
    if column.part:
        return date_part(table, series, column)
    series = plainly_typed(series)
    if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object, pl.Duration):
        raise unusable(table.file, series, "which can't be a category")
    if series.dtype.is_float():
        return series.fill_nan(None)
    return series.cast(pl.String) if series.dtype.is_temporal() else series


def read_dates(series: "pl.Series", form: str) -> "pl.Series":
    """Return the dates or times of a column of text; null where a value is not of this form.

    Minutes and seconds are left out. A year of two digits is from 1970 to 2069.
    """
    bare = series.str.strip_chars(BLANKS).alias(series.name)
    found = bare.str.extract_groups(f"^(?:{PATTERNS[form]})$").struct.unnest()
    half, hour = pl.col("half").str.to_lowercase(), pl.col("hour").cast(pl.Int64)
    later = pl.when(half == "pm").then(12).when(half == "am").then(0)
    hour = pl.when(half.is_in(["am", "pm"])).then(hour % 12 + later).otherwise(hour)
    if form == "time":
        stamp = pl.format("1970-01-01 {}", hour.cast(pl.String).str.zfill(2))
    else:
        year, month, day = (pl.col(name) for name in ("year", "month", "day"))
        century = pl.when(year.str.slice(-2) < "70").then(pl.lit("20")).otherwise(pl.lit("19"))
        full = (year.str.len_bytes() == 4) & ~year.str.starts_with("00")
        year = pl.when(full).then(year).otherwise(century + year.str.slice(-2))
        month = month.str.slice(0, 3).str.zfill(2)
        hour = hour.fill_null(0).cast(pl.String).str.zfill(2)
        stamp = pl.format("{}-{}-{} {}", year, month, day.str.zfill(2), hour)
    pattern = "%Y-%b-%d %H:%M" if "b" in form else "%Y-%m-%d %H:%M"
    dates = found.select((stamp + ":00").str.to_datetime(pattern, time_unit="ms", strict=False))
    dated = dates.to_series().alias(series.name)
    return dated.dt.time() if form == "time" else dated


def date_form(values: "pl.Series") -> tuple[str, tuple[DatePart, ...]]:
    """Return how the dates or times of a column are written, and the parts that they have.

    The form is empty where they are none. Where day and month could be either, the day comes first
    if points or dashes stand between them and the month if slashes do.
    """
    some = [value.strip(BLANKS) for value in values.head(10).to_list()]
    read = {
        form: read_dates(values, form)
        for form, pattern in PATTERNS.items()
        if all(re.fullmatch(pattern, value) for value in some)
    }
    forms = [form for form, dates in read.items() if not dates.null_count()]
    if not forms:
        return "", ("",)
    form = forms[0]
    if {"dmy", "mdy"} <= {*forms}:
        form = "mdy" if values.str.contains("/", literal=True).any() else "dmy"
    if form == "time":
        return form, ("hour",)
    hour: tuple[DatePart, ...] = ("hour",) if (read[form].dt.hour() > 0).any() else ()
    return form, ("year", "month", "weekday", *hour)


def date_part(table: Table, series: "pl.Series", column: FeatureColumn) -> "pl.Series":
    """Return a part of the dates or times of a column, null where a value is missing."""
    if series.dtype == pl.Null:
        return series
    dated = series.dtype in (pl.Date, pl.Datetime)
    timed = series.dtype in (pl.Datetime, pl.Time)
    if not (timed if column.part == "hour" else dated):
        raise InputError(
            f"{table.file}: column '{column.name}' holds {series.dtype}; the model was trained on"
            f" {'times' if column.part == 'hour' else 'dates'} there."
        )
    part: pl.Series = getattr(series.dt, column.part)()
    if column.part != "weekday":
        return part
    return part.replace_strict(list(range(1, 8)), list(WEEKDAYS), return_dtype=pl.String)


def with_dates(table: Table, columns: Iterable[InputColumn]) -> tuple[Table, dict[int, str]]:
    """Return a table with dates in the place of text, and by row what is wrong with those."""
    faults: dict[int, str] = {}
    dates = []
    for column in columns:
        series = table.frame[column.name]
        if series.dtype != pl.String:
            continue
        dates.append(read_dates(series, column.form))
        what = "time" if column.form == "time" else "date"
        present = series.is_not_null() & ~series.str.strip_chars(BLANKS).is_in([*MISSING])
        for row in (present & dates[-1].is_null()).arg_true().to_list():
            value = shown(str(series[row]).encode())
            faults.setdefault(row, f"{value} in column '{column.name}' is not a {what}")
    return table._replace(frame=table.frame.with_columns(dates)) if dates else table, faults
