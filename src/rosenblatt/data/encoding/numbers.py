"""Numeric columns: their values, and the mean and spread by which they are filled and scaled."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import BLANKS, MISSING
from rosenblatt.data.labels import NUMBER, shown
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError, Parameter, Sentence

if TYPE_CHECKING:
    import polars as pl

# Squares of larger numbers, summed over many rows, leave the range of float64.
LARGEST = 1e140
SMALLEST_WIDTH = 1e-140  # of values whose squared differences float64 holds to the last digit
LEAST = 5e-324  # the smallest number above 0

FIELDS = ("count", "mean", "m2", "low", "high", "n_missing")


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
        msg = Sentence(
            f"{table.file}: column '{name}' holds {series.dtype}, not numbers; leave it out with ",
            Parameter("ignore", name),
            ".",
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
        msg = Sentence(
            f"{table.place(row)}: column '{names[int(gaps[row].argmax())]}' has no value; fill it,"
            " or have it filled with ",
            Parameter("missing", "mean"),
            " or ",
            Parameter("missing", "zero"),
            ".",
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
    return Sentence(
        f"{table.place(row)}: {shown(token.encode())} in column '{name}' is not a finite number;"
        " for a column of words use ",
        Parameter("category", name),
        ".",
    )


def _beyond(table: Table, name: str, row: int, number: float) -> str:
    if np.isinf(number):
        return f"{table.place(row)}: the value of column '{name}' is not finite."
    return (
        f"{table.place(row)}: {number:g} in column '{name}' is too large; numbers may be up to"
        f" {LARGEST:g}."
    )


class ColumnStatistics:
    """Exact running statistics of each column; the same, to rounding, however rows are cut.

    Blocks are merged as in Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for
    computing sample variances" (1979): with d the difference of the means of two parts,
    mean = mean₁ + d·n₂/n and M₂ = M₂₁ + M₂₂ + d²·n₁·n₂/n.
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values  # (len(FIELDS), n_columns)

    @classmethod
    def empty(cls, n_columns: int) -> "ColumnStatistics":
        """Return statistics of no rows."""
        values = np.zeros((len(FIELDS), n_columns))
        values[FIELDS.index("low")] = np.inf
        values[FIELDS.index("high")] = -np.inf
        return cls(values)

    def add(self, block: NDArray[np.float64]) -> None:
        """Take in rows, NaN where a value is missing."""
        count, mean, m2, low, high, n_missing = self.values
        present = ~np.isnan(block)
        n_new = present.sum(axis=0).astype(np.float64)
        n_missing += len(block) - n_new
        own = np.maximum(n_new, 1)
        new_mean = np.where(present, block, 0).sum(axis=0) / own
        apart = np.where(present, block - new_mean, 0)
        rest = apart.sum(axis=0) / own  # what rounding left
        new_m2 = (apart * apart).sum(axis=0) - rest * rest * n_new
        new_mean += rest
        total = np.maximum(count + n_new, 1)
        difference = np.where(n_new > 0, new_mean - mean, 0)
        mean += difference * (n_new / total)
        m2 += np.maximum(new_m2, 0) + difference * difference * (count * n_new / total)
        count += n_new
        np.fmin(low, np.fmin.reduce(block, axis=0, initial=np.inf), out=low)
        np.fmax(high, np.fmax.reduce(block, axis=0, initial=-np.inf), out=high)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each column; 0 where all is missing."""
        _, mean, _, low, high, _ = self.values
        return np.where(low <= high, np.clip(mean, low, high), 0)

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation of each column, or 1 where all values are equal."""
        count, _, m2, low, high, _ = self.values
        deviation = np.sqrt(m2 / np.maximum(count, 1))
        with np.errstate(invalid="ignore"):  # of a column without values
            width = high - low
        # Squares of small differences underflow; half the width is what the deviation is at most.
        deviation = np.where(width < SMALLEST_WIDTH, np.maximum(width / 2, LEAST), deviation)
        # Equal values can leave a deviation that is all rounding.
        return np.where(low < high, deviation, 1)

    def finished(self, numbers: NDArray[Any], missing: str, *, scale: bool) -> NDArray[np.float64]:
        """Return rows with gaps filled by the mean or by zero, scaled to deviation 1 or not."""
        filled = np.where(np.isnan(numbers), self.mean if missing == "mean" else 0.0, numbers)
        return (filled - self.mean) / self.deviation if scale else filled
