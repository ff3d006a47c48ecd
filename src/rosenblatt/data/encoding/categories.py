"""A column of categories: each value an indicator feature of its own."""

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import BLANKS, MISSING, FeatureColumn, plainly_typed
from rosenblatt.data.encoding.dates import date_part
from rosenblatt.data.encoding.vocabulary import Numbering
from rosenblatt.data.labels import TRUTHS
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.text.hashing import column_seed, term_hash

if TYPE_CHECKING:
    from rosenblatt.data.encoding.familiarity import ColumnCounts

NO_LEVEL = b""  # a missing value; no level is empty
DECIMAL = re.compile(rb"-?(?:0|[1-9][0-9]*)\.[0-9]+")


def category_numbers(
    table: Table,
    column: FeatureColumn,
    place: int,
    numbering: Numbering,
    *,
    growing: bool,
    counts: "ColumnCounts | None" = None,
) -> NDArray[np.int32]:
    """Return for each row the number of its level, −1 for one that is not known; count them."""
    values = _values(table, column).alias("value")
    counted = values.value_counts(sort=False, name="number of rows")
    found = counted["value"].to_list()
    n_rows = dict(zip(found, counted["number of rows"].to_list(), strict=True))
    seed = column_seed("category", column.title)
    numbers = {}
    for value in values.unique(maintain_order=True).to_list():
        level = known_level(value, column, place, numbering, growing=growing)
        key = term_hash(level, seed)
        numbers[value] = numbering.level(place, key, level, n_rows=n_rows[value], growing=growing)
        if counts is not None:
            counts.add_level(place, level, numbers[value], n_rows[value])
    return _replaced(values, numbers)


def known_level(
    value: Any, column: FeatureColumn, place: int, numbering: Numbering, *, growing: bool
) -> bytes:
    """Return the level that a value belongs to; if it is not known, by another spelling of it."""
    level = level_name(value)
    if numbering.folds:
        return folded_level(level)
    if not level:
        return level
    known = numbering.knows(place, term_hash(level, column_seed("category", column.title)))
    return numbering.spelling(place, value, level, known=known, growing=growing)


def missing_numbers(
    missing: NDArray[np.bool_],
    column: FeatureColumn,
    place: int,
    numbering: Numbering,
    *,
    growing: bool,
) -> NDArray[np.int32]:
    """Return for each row the number of "column is missing" where it is, else −1."""
    numbers = np.full(len(missing), -1, np.int32)
    n_rows = int(missing.sum())
    if n_rows:
        key = term_hash(NO_LEVEL, column_seed("missing", column.title))
        numbers[missing] = numbering.level(place, key, NO_LEVEL, n_rows=n_rows, growing=growing)
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
    if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
        msg = Sentence(
            f"{table.file}: column '{column.name}' holds {series.dtype}, which can't be a"
            f" category; leave it out with {Parameter('ignore', column.name)}."
        )
        raise InputError(msg)
    if series.dtype.is_float():
        return series.fill_nan(None)
    return series.cast(pl.String) if series.dtype.is_temporal() else series


def _replaced(values: "pl.Series", numbers: dict[Any, int]) -> NDArray[np.int32]:
    """Return the number of each value, which may be null."""
    of_null = numbers.pop(None, -1)
    if not numbers:
        return np.full(len(values), of_null, np.int32)
    known = pl.Series(list(numbers), dtype=values.dtype)
    new = pl.Series(list(numbers.values()), dtype=pl.Int32)
    replaced = values.replace_strict(known, new, default=of_null, return_dtype=pl.Int32)
    return np.array(replaced.to_numpy(), np.int32)
