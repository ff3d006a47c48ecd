"""Which column holds the labels, and the class of each row."""

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import BLANKS
from rosenblatt.data.encoding.numbers import all_numbers
from rosenblatt.data.labels import Classes, Label, read_label
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError, Parameter, Sentence

if TYPE_CHECKING:
    import polars as pl

LABEL_NAMES = ("label", "class", "target", "y")  # in any case; the first that there is
MOST_VALUES = 100  # that a column without such a name may have to be taken for the labels
CLEARLY_FEWER = 5  # times fewer values than the first column decide for the last
COLUMNS_NAMED = 20  # in a message


class _Candidate(NamedTuple):
    """What is known of a column that may hold the labels."""

    name: str
    n_values: int
    numeric: bool


def guessed_label(table: Table, taken: Collection[str]) -> str:
    """Return the column that holds the labels, where the sample makes it clear.

    It is the column called label, class, target or y (that one only if it could be a label by its
    values). Else it is the first or the last column, if one of them alone has few different whole
    numbers or words: at most 100, and fewer than half as many as there are rows. If both have, it
    is the last one if that has words and the first has numbers, or if it has at most a fifth as
    many values. ``taken`` columns are known to be something else.
    """
    names = [name for name in table.frame.columns if name not in taken]
    for wanted in LABEL_NAMES:
        matching = [name for name in names if name.strip().lower() == wanted]
        if len(matching) == 1 and (wanted != "y" or _candidate(table, matching[0])):
            return matching[0]
        if len(matching) > 1:
            break
    else:
        if len(names) > 1:
            first, last = _candidate(table, names[0]), _candidate(table, names[-1])
            if last and (first is None or _decides(first, last)):
                return last.name
            if first and last is None:
                return first.name
    msg = Sentence(
        f"{table.file}: it is not clear which column holds the labels; name it with ",
        Parameter("label"),
        f". {listed_columns(table.frame.columns)}",
    )
    raise InputError(msg)


def listed_columns(names: Sequence[str]) -> str:
    """Return a sentence that names the columns there are."""
    some = ", ".join(f"'{name}'" for name in names[:COLUMNS_NAMED])
    more = f" and {len(names) - COLUMNS_NAMED} more" if len(names) > COLUMNS_NAMED else ""
    return f"The columns are {some}{more}."


def table_labels(
    table: Table, name: str | None, classes: Classes | None, *, required: bool
) -> NDArray[np.int32]:
    """Return the class of each row; −1 where there is none, which is an error if it is required."""
    there = name in table.frame.columns
    if name is None or classes is None or not (there or required):
        return np.full(table.frame.height, -1, np.int32)
    if not there:
        msg = (
            f"{table.file} has no column '{name}', which holds the labels."
            f" {listed_columns(table.frame.columns)}"
        )
        raise InputError(msg)
    return label_codes(table, name, classes, required=required)


def label_codes(table: Table, name: str, classes: Classes, *, required: bool) -> NDArray[np.int32]:
    """Return the class of each row; −1 where it is missing, an InputError if it is required."""
    import polars as pl

    series = table.frame[name]
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    distinct = series.unique(maintain_order=True)
    readable = series.dtype == pl.String or series.dtype in (pl.Boolean, pl.Null)
    if not readable and not series.dtype.is_numeric():
        msg = Sentence(
            f"{table.file}: column '{name}' holds {series.dtype}, which can't be labels;"
            " name the column of the labels with ",
            Parameter("label"),
            ".",
        )
        raise InputError(msg)
    values, labels = [], []
    missing: list[Any] = []
    for value in distinct.to_list():
        try:
            label = _label(value)
        except ValueError as error:
            row = _first_row(series, value)
            bad = f"{table.place(row)}, column '{name}': {error}."
            raise InputError(bad) from None
        if label is None:
            missing.append(value)
        else:
            values.append(value)
            labels.append(label)
    if missing and required:
        row = min(_first_row(series, value) for value in missing)
        msg = Sentence(
            f"{table.place(row)}: the label, column '{name}', is missing;"
            " leave the row out, or name another column with ",
            Parameter("label"),
            ".",
        )
        raise InputError(msg)
    codes = classes.codes(labels)
    if not values:
        return np.full(len(series), -1, np.int32)
    known = pl.Series(values, dtype=series.dtype)
    replaced = series.replace_strict(known, pl.Series(codes), default=-1, return_dtype=pl.Int32)
    return np.array(replaced.to_numpy(), np.int32)


def _label(value: Any) -> Label | None:
    """Return the label that a value of a column is, None for a missing one."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        bare = value.strip(BLANKS)
        return read_label(bare.encode()) if bare else None
    if isinstance(value, int):
        return value
    number = float(value)  # of a float or a decimal
    if math.isnan(number):
        return None
    if math.isinf(number):
        msg = f"label '{number}' is not finite"
        raise ValueError(msg)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _first_row(series: "pl.Series", value: Any) -> int:
    if value is None:
        return int(series.is_null().to_numpy().argmax())
    if isinstance(value, float) and math.isnan(value):
        return int(series.is_nan().to_numpy().argmax())
    return int((series == value).fill_null(value=False).to_numpy().argmax())


def _candidate(table: Table, name: str) -> _Candidate | None:
    """Return a column as a candidate, or None if its values can't well be labels."""
    import polars as pl

    values = table.frame[name].drop_nulls()
    if values.dtype in (pl.Categorical, pl.Enum):
        values = values.cast(pl.String)
    is_text = values.dtype == pl.String
    if not (is_text or values.dtype == pl.Boolean or values.dtype.is_numeric()) or not len(values):
        return None
    n_values = values.n_unique()
    if n_values > MOST_VALUES or 2 * n_values >= len(values):
        return None
    distinct = values.unique()
    numeric = values.dtype.is_numeric() or (is_text and all_numbers(distinct))
    if numeric:
        numbers = distinct.cast(pl.Float64, strict=False).drop_nulls()
        if not (numbers == numbers.floor()).all():
            return None
    return _Candidate(name, n_values, numeric)


def _decides(first: _Candidate, last: _Candidate) -> bool:
    return (first.numeric and not last.numeric) or (CLEARLY_FEWER * last.n_values <= first.n_values)
