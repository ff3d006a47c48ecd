"""Dates and times, typed or written as text, taken apart into year, month, weekday and hour."""

import re
from collections.abc import Iterable

from rosenblatt.data.encoding.columns import BLANKS, MISSING, DatePart, FeatureColumn, InputColumn
from rosenblatt.data.labels import shown
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

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
