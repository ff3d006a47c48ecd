"""Rows in memory as tables: data frames of pandas, polars or Arrow, dictionaries, and texts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import (
    NO_NESTING,
    Nesting,
    Selection,
    Table,
    choose,
    choose_unnamed,
    chosen_columns,
    flat_columns,
    flat_row,
    in_slices,
    listed_names,
    numbered_names,
    outer_names,
    require_library,
    rows_for,
)
from rosenblatt.errors import InputError

NAME = "X"  # what messages call the rows
PLAIN = (str, bool, int, float)  # values that a file could hold side by side


def frame_tables(
    X: Any, wanted: Selection | None = None, *, text: str | None = None, arrays: bool = False
) -> Iterator[Table]:
    """Yield rows in memory as tables whose rows count from 0.

    X is a data frame of pandas, polars or Arrow, a sequence of dictionaries, which may lack keys,
    or of texts, if ``text`` names their column; with ``arrays`` also an array of two dimensions.
    """
    require_library("rows of named columns")
    if arrays and isinstance(X, np.ndarray) and X.ndim == 2:
        columns = X.T if X.dtype.kind in "biuf" else X.T.tolist()
        names, named = numbered_names(X.shape[1]), False
        frame = pl.DataFrame({name: _column(name, columns[k]) for k, name in enumerate(names)})
    else:
        frame, named = _frame(X, wanted, text)
        frame = flat_columns(frame, NAME)
    if named:
        choice = choose(frame.columns, wanted, NAME)
    else:
        choice = choose_unnamed(frame.width, wanted, NAME)
    chosen = chosen_columns(frame, choice)
    return in_slices(Table(chosen, NAME, 0, None, 0), most_rows=rows_for(chosen))


def has_names(X: Any) -> bool:
    """Return whether X is a data frame or dictionaries, and its columns have names."""
    if isinstance(X, np.ndarray) or not hasattr(X, "__len__"):
        return hasattr(X, "__arrow_c_stream__")
    if _is_pandas(X):
        return all(isinstance(name, str) for name in getattr(X, "columns", [None]))
    columns = hasattr(X, "columns") or hasattr(X, "column_names")
    return columns or (isinstance(X, (list, tuple)) and any(isinstance(x, Mapping) for x in X[:1]))


def _frame(X: Any, wanted: Selection | None, text: str | None) -> "tuple[pl.DataFrame, bool]":
    """Return a data frame of polars, and whether its columns have names."""
    if isinstance(X, pl.LazyFrame):
        raise InputError("X is a LazyFrame of polars: give X.collect().")
    if isinstance(X, pl.DataFrame):
        return X, True
    if _is_pandas(X) and hasattr(X, "columns"):
        return _of_pandas(X, wanted)
    has_columns = any(hasattr(X, name) for name in ("columns", "column_names", "schema"))
    if has_columns and hasattr(X, "__arrow_c_stream__"):
        try:
            return pl.DataFrame(X), True
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            msg = f"X cannot be read as a table of Arrow: {str(error).splitlines()[0]}."
            raise InputError(msg) from error
    values = _listed(X)
    first = next((value for value in values if not _is_missing(value)), None)
    if isinstance(first, Mapping):
        return _of_dictionaries(values, wanted), True
    if isinstance(first, str) and text is not None:
        return pl.DataFrame([_column(text, values)]), True
    which = "named columns" if wanted is None else f"the columns {listed_names(wanted.required)}"
    lists = " or a list of dictionaries" if text is None else ", a list of dictionaries or of texts"
    raise InputError(
        f"X must hold {which}: give a data frame (pandas, polars or Arrow){lists}; got a"
        f" {type(X).__name__}."
    )


def _listed(X: Any) -> list[Any]:
    """Return the values of a sequence that may hold dictionaries or texts; none of another."""
    if hasattr(X, "to_pylist"):  # of Arrow
        return list(X.to_pylist())
    single = isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__iter__")
    return [] if single or getattr(X, "ndim", 1) != 1 else list(_present(X))


def _of_dictionaries(rows: Sequence[Any], wanted: Selection | None) -> "pl.DataFrame":
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping) or not all(isinstance(key, str) for key in row):
            msg = f"Row {number} of X must be a dictionary whose keys are the names of columns."
            raise InputError(msg)
    try:
        nesting = NO_NESTING if wanted else Nesting.of(map(dict, rows))
        flat = [flat_row({**row}, nesting) for row in rows]
    except (ValueError, RecursionError) as error:
        why = error if isinstance(error, ValueError) else "a row is nested too deep"
        raise InputError(f"X: {why}.") from None
    names = dict.fromkeys(chain.from_iterable(flat))
    whole = nesting.crowded & names.keys()
    used = set(names if wanted is None else wanted.names) - whole  # whatever the others hold
    columns = {
        name: _column(name, [row.get(name) if name in used else None for row in flat])
        for name in names
    }
    objects = {name: columns[name].cast(pl.List(pl.Null)) for name in whole}
    return pl.DataFrame(columns | objects)


def _of_pandas(X: Any, wanted: Selection | None) -> "tuple[pl.DataFrame, bool]":
    """Return a data frame of pandas column by column: polars would need pyarrow for that."""
    named = all(isinstance(name, str) for name in X.columns)
    names = [str(name) for name in X.columns] if named else numbered_names(X.shape[1])
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"X has more than one column {twice!r}: give each a name of its own.")
    wanted = wanted if named else None
    used = set(names if wanted is None else wanted.names)  # whatever the others hold
    used |= outer_names(used)
    frame: dict[str, Any] = {}
    for k, name in enumerate(names):
        values = _present(X.iloc[:, k]) if name in used else [None] * len(X)
        if isinstance(values, list) and any(isinstance(value, dict) for value in values):
            rows = [{} if value is None else {name: value} for value in values]
            own: dict[str, Any] = _of_dictionaries(rows, wanted).to_dict()
        else:
            own = {name: _column(name, values)}
        for twice in frame.keys() & own.keys():
            raise InputError(f"X has more than one column {twice!r}: give each a name of its own.")
        frame |= own
    return pl.DataFrame(frame), named


def _present(X: Any) -> Any:
    """Return the values of a column: an array of numbers or times, else a list, None if missing."""
    kind = getattr(X, "dtype", None)
    if getattr(kind, "tz", None) is not None:  # the time on the clock there, as a file has it
        X = X.dt.tz_localize(None)
        kind = X.dtype
    if isinstance(kind, np.dtype) and kind.kind in "biufmM":
        return X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    values = list(X)
    gaps = X.isna().tolist() if _is_pandas(X) else [False] * len(values)
    return [None if gone else value for value, gone in zip(values, gaps, strict=True)]


def _column(name: str, values: Any) -> "pl.Series":
    """Return values as a column; where they are of several kinds, they become text, as in files."""
    if isinstance(values, np.ndarray):
        if values.dtype == np.float16:
            values = values.astype(np.float32)
        series = pl.Series(name, values, nan_to_null=True)
    else:
        plain = [value.item() if isinstance(value, np.generic) else value for value in values]
        plain = [None if _is_missing(value) else value for value in plain]
        kinds = {type(value) for value in plain} - {type(None)}
        if np.ndarray in kinds:
            return _column_of_arrays(name, plain)
        if len(kinds) > 1 and all(issubclass(kind, PLAIN) for kind in kinds) and str in kinds:
            plain = [value if value is None else str(value) for value in plain]
        with _of_one_kind(name, kinds):
            series = pl.Series(name, plain, strict=not kinds <= {int, float})
    return pl.Series(name, [None] * len(series)) if series.null_count() == len(series) else series


def _column_of_arrays(name: str, cells: list[Any]) -> "pl.Series":
    """Return cells that hold arrays as a column of lists; polars takes plain arrays alone."""
    held = [cell for cell in cells if cell is not None]
    kinds = {type(cell) for cell in held}
    if len(kinds) > 1 or any(cell.ndim != 1 or cell.dtype == object for cell in held):
        held = [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in held]
    places = np.cumsum([cell is not None for cell in cells]) - 1
    numbers = [None if cell is None else k for cell, k in zip(cells, places, strict=True)]
    with _of_one_kind(name, kinds):
        return pl.Series(name, held).gather(pl.Series(numbers, dtype=pl.UInt32))


@contextmanager
def _of_one_kind(name: str, kinds: set[type]) -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        msg = f"Column {name!r} of X must hold values of one kind; got {names}."
        raise InputError(msg) from error


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or NaT; an array in a cell is none of them."""
    return value is None or (value != value) is True  # noqa: PLR0124  # NaN


def _is_pandas(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pandas"
