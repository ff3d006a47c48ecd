"""Dates and times, typed or written as text, taken apart into year, month, weekday and hour."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import BLANKS, MISSING, DatePart, FeatureColumn, InputColumn
from rosenblatt.data.labels import shown
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from polars.series.struct import StructNameSpace

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])

CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?"
)
YEAR4, YEAR, NUMBER = r"(?P<year>[0-9]{4})", r"(?P<year>[0-9]{4}|[0-9]{2})", "[0-9]{1,2}"
MONTH_NAME = r"(?P<month>[A-Za-z]{3,9})\.?"
PATTERNS = {
    "ymd": rf"{YEAR4}[-/.](?P<month>{NUMBER})[-/.](?P<day>{NUMBER})(?:[T ]+{CLOCK})?",
    "dmy": rf"(?P<day>{NUMBER})[-/.](?P<month>{NUMBER})[-/.]{YEAR}(?:[T ,]+{CLOCK})?",
    "mdy": rf"(?P<month>{NUMBER})[-/.](?P<day>{NUMBER})[-/.]{YEAR}(?:[T ,]+{CLOCK})?",
    "dby": rf"(?P<day>{NUMBER})[- ]{MONTH_NAME}[- ,]+{YEAR}(?:[T ,]+{CLOCK})?",
    "bdy": rf"{MONTH_NAME} (?P<day>{NUMBER}),? {YEAR4}(?:[T ,]+{CLOCK})?",
    "time": CLOCK,
}


class Moments(NamedTuple):
    """What the values of a column of text are, if they are dates or times."""

    series: "pl.Series"  # of type Datetime or Time, null where a value is missing or no date
    valid: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    n_clocks: int  # values with a time of day that is not midnight


def read_moments(series: "pl.Series", form: str) -> Moments:
    """Return the dates or times of a column of text that are written in this form."""
    import polars as pl

    bare = series.str.strip_chars(BLANKS)
    missing = (series.is_null() | bare.is_in(list(MISSING))).to_numpy()
    groups = bare.str.extract_groups(f"^(?:{PATTERNS[form]})$").struct
    half = groups.field("half").str.to_lowercase()
    hour = _whole(groups.field("hour"))
    hour = np.where((half == "pm").fill_null(value=False), hour % 12 + 12, hour)
    hour = np.where((half == "am").fill_null(value=False), hour % 12, hour)
    if form == "time":
        valid = (hour >= 0) & (hour < 24)
        n_days: NDArray[np.int64] = np.zeros(len(series), np.int64)
    else:
        n_days, valid = _days(groups)
        valid &= hour < 24
    seconds = 86400 * n_days + 3600 * np.maximum(hour, 0)
    moments = pl.Series(series.name, np.where(valid, 1000 * seconds, 0)).cast(pl.Datetime("ms"))
    if form == "time":
        moments = moments.dt.time()
    moments = moments.scatter(np.flatnonzero(~valid), None) if not valid.all() else moments
    return Moments(moments, valid, missing, int(np.count_nonzero(valid & (hour > 0))))


def _days(groups: "StructNameSpace") -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the days from 1970 on to each date, and whether there is such a day.

    By the count of days that begins years in March (H. Hinnant, "chrono-compatible low-level date
    algorithms").
    """
    year, month = _whole(groups.field("year")), _month(groups.field("month"))
    day = _whole(groups.field("day"))
    century = np.where(year < 70, 2000, 1900)
    year = np.where((year >= 0) & (year < 100), year + century, year)
    valid = (year >= 0) & (month >= 1) & (month <= 12) & (day >= 1)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    valid &= day <= DAYS[np.where(valid, month, 0)] - ((month == 2) & ~leap)
    shifted = year - (month <= 2)
    era, of_era = shifted // 400, shifted % 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = 146097 * era + 365 * of_era + of_era // 4 - of_era // 100 + of_year - 719468
    return days, valid


def _whole(series: "pl.Series") -> NDArray[np.int64]:
    """Return numbers, −1 where there is none."""
    import polars as pl

    return np.asarray(series.cast(pl.Int64, strict=False).fill_null(-1).to_numpy())


def _month(series: "pl.Series") -> NDArray[np.int64]:
    """Return the number of each month, by number or by name; 0 where it is none."""
    import polars as pl

    numbers = _whole(series)
    names = series.str.slice(0, 3).str.to_lowercase()
    known = list(range(1, 13))
    named = names.replace_strict(list(MONTHS), known, default=0, return_dtype=pl.Int64)
    return np.where(numbers >= 0, numbers, named.fill_null(0).to_numpy())


def date_form(values: "pl.Series") -> str:
    """Return how the dates or times of a column of text are written, empty where they are none.

    Where day and month could be either, the day comes first if points or dashes stand between them
    and the month if slashes do.
    """
    some = [value.strip(BLANKS) for value in values.head(10).to_list()]
    likely = [
        form
        for form, pattern in PATTERNS.items()
        if all(re.fullmatch(pattern, value) for value in some)
    ]
    forms = [form for form in likely if read_moments(values, form).valid.all()]
    if "dmy" in forms and "mdy" in forms:
        return "mdy" if values.str.contains("/", literal=True).any() else "dmy"
    return forms[0] if forms else ""


def date_parts(values: "pl.Series", form: str) -> tuple[DatePart, ...]:
    """Return what the dates or times of a column of text are taken apart into."""
    if form == "time":
        return ("hour",)
    has_clock = read_moments(values, form).n_clocks > 0
    return ("year", "month", "weekday", "hour") if has_clock else ("year", "month", "weekday")


def date_part(table: Table, series: "pl.Series", column: FeatureColumn) -> "pl.Series":
    """Return a part of the dates or times of a column, null where a value is missing."""
    import polars as pl

    if series.dtype == pl.Null:
        return series
    dated = series.dtype in (pl.Date, pl.Datetime)
    timed = series.dtype in (pl.Datetime, pl.Time)
    if not (timed if column.part == "hour" else dated):
        msg = (
            f"{table.file}: column '{column.name}' holds {series.dtype}; the model was trained on"
            f" {'times' if column.part == 'hour' else 'dates'} there."
        )
        raise InputError(msg)
    if column.part == "weekday":
        days = series.dt.weekday()
        return days.replace_strict(list(range(1, 8)), list(WEEKDAYS), return_dtype=pl.String)
    if column.part == "year":
        return series.dt.year()
    return series.dt.month() if column.part == "month" else series.dt.hour()


def with_dates(table: Table, columns: Iterable[InputColumn]) -> tuple[Table, dict[int, str]]:
    """Return a table with dates in the place of text, and by row what is wrong with those."""
    import polars as pl

    faults: dict[int, str] = {}
    dates = []
    for column in columns:
        series = table.frame[column.name]
        if column.parts == ("",) or not column.form or series.dtype != pl.String:
            continue
        moments = read_moments(series, column.form)
        dates.append(moments.series)
        what = "time" if column.form == "time" else "date"
        for row in np.flatnonzero(~moments.valid & ~moments.missing).tolist():
            value = shown(str(series[row]).encode())
            faults.setdefault(row, f"{value} in column '{column.name}' is not a {what}")
    return table._replace(frame=table.frame.with_columns(dates)) if dates else table, faults
