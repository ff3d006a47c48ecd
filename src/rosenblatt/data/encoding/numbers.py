"""A column as float64 numbers, NaN where a value is missing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import BLANKS, MISSING, option
from rosenblatt.data.labels import NUMBER, shown
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError

if TYPE_CHECKING:
    import polars as pl

# Squares of larger numbers, summed over many rows, leave the range of float64.
LARGEST = 1e140


def column_numbers(table: Table, name: str) -> NDArray[np.float64]:
    """Return the numbers of a column; raise InputError with its place where a value is none."""
    import polars as pl

    series = table.frame[name]
    if series.dtype == pl.Duration:
        series = series.dt.total_microseconds() / 1e6
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        numbers = _parsed(table, series)
    elif series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
        numbers = _floats(series)
    else:
        msg = (
            f"{table.file}: column '{name}' holds {series.dtype}, not numbers;"
            f" leave it out with {option('--ignore', name)}."
        )
        raise InputError(msg)
    beyond = np.abs(numbers) > LARGEST  # infinite ones, too
    if beyond.any():
        row = int(beyond.argmax())
        raise InputError(_beyond(table, name, row, float(numbers[row])))
    return numbers


def forbid_missing(table: Table, names: Sequence[str], numbers: NDArray[np.float64]) -> None:
    """Raise InputError with its place where a number is missing; there is a name a column."""
    gaps = np.isnan(numbers)
    if gaps.any():
        row = int(gaps.any(axis=1).argmax())
        msg = (
            f"{table.place(row)}: column '{names[int(gaps[row].argmax())]}' has no value; fill it,"
            " or say what is to be taken for it with --missing mean or --missing zero."
        )
        raise InputError(msg)


def all_numbers(series: "pl.Series") -> bool:
    """Whether every value of a column of text that is not missing is a finite number."""
    values = series.drop_nulls()
    numbers = _floats(values)
    odd = values.filter(~np.isfinite(numbers)).unique().to_list()
    return all(_number(token) is not None for token in odd)


def _floats(series: "pl.Series") -> NDArray[np.float64]:
    """Return what polars reads as a number; it takes what ``labels.NUMBER`` does, NaN and inf."""
    import polars as pl

    return np.array(series.cast(pl.Float64, strict=False).to_numpy(), np.float64)  # null is NaN


def _parsed(table: Table, series: "pl.Series") -> NDArray[np.float64]:
    numbers = _floats(series)
    odd = np.flatnonzero(~np.isfinite(numbers))
    if len(odd):
        odd = odd[series.gather(odd).is_not_null().to_numpy()]
        tokens = series.gather(odd).to_list()
        read = {token: _number(token) for token in set(tokens)}
        for row, token in zip(odd.tolist(), tokens, strict=True):
            number = read[token]
            if number is None:
                raise InputError(_not_a_number(table, series.name, row, token))
            numbers[row] = number
    return numbers


def _number(token: str) -> float | None:
    """Return the number that a token is, NaN where it stands for a missing one, else None."""
    bare = token.strip(BLANKS)
    if bare in MISSING:
        return np.nan
    return float(bare) if NUMBER.fullmatch(bare.encode()) else None


def _not_a_number(table: Table, name: str, row: int, token: str) -> str:
    return (
        f"{table.place(row)}: {shown(token.encode())} in column '{name}' is not a finite number;"
        f" for a column of words say {option('--category', name)}."
    )


def _beyond(table: Table, name: str, row: int, number: float) -> str:
    if np.isinf(number):
        return f"{table.place(row)}: the value of column '{name}' is not finite."
    return (
        f"{table.place(row)}: {number:g} in column '{name}' is too large; numbers may be up to"
        f" {LARGEST:g}."
    )
