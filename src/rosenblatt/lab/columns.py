"""Points from a table: two columns of numbers and one of labels."""

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.label_column import guess_label, listed_columns
from rosenblatt.data.encoding.numbers import all_numbers, column_numbers
from rosenblatt.data.files import table_batches
from rosenblatt.data.formats import Format, detect_format
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from rosenblatt.lab.document import LARGEST, LONGEST_NAME, MOST_POINTS, Document, View
from rosenblatt.training.examples import permute
from rosenblatt.wording import counted

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 100_000
MOST_LABELS = 50  # different ones, of which one is chosen against the others
ROOM = 0.12  # of the extent of the points, left free around them
ALIKE = 3.0  # extents that differ less get one scale for both axes


def read_table(path: str) -> Table:
    """Return the rows of a file of columns."""
    if detect_format(path) is Format.SVMLIGHT:
        formats = "CSV, TSV, JSON lines, ARFF, Parquet or Arrow"
        raise InputError(f"{path} has no named columns: the lab takes {formats}.")
    import polars as pl

    tables, height = [], 0
    for table in table_batches(path):
        tables.append(table)
        height += table.frame.height
        if height > MOST_ROWS:
            msg = f"{path} has more than {MOST_ROWS:,} rows: give the lab a part of them."
            raise InputError(msg)
    if height < 2:
        raise InputError(f"{path} has {counted(height, 'row')}; the lab needs rows of two classes.")
    frame = pl.concat([table.frame for table in tables])
    lines = None
    if tables[0].lines is not None:
        lines = np.concatenate([table.lines for table in tables if table.lines is not None])
    return tables[0]._replace(frame=frame, lines=lines)


def document_of_table(
    table: Table,
    *,
    x: str | None = None,
    y: str | None = None,
    label: str | None = None,
    positive: str | None = None,
    scale: bool = False,
) -> tuple[Document, list[str]]:
    """Return the points of a table, and sentences on what was left out or changed.

    What is not named is found out. Of more than two labels ``positive`` is one class and all the
    others are the other one. ``scale`` brings both coordinates to mean 0 and deviation 1.
    """
    names = _chosen(table, {"x": x, "y": y, "label": label})
    X = np.column_stack([column_numbers(table, names[role]) for role in ("x", "y")])
    words = _words(table.frame[names["label"]])
    rows = [i for i, word in enumerate(words) if word is not None and np.isfinite(X[i]).all()]
    notes = []
    if missing := len(words) - len(rows):
        were = "was" if missing == 1 else "were"
        notes.append(f"{counted(missing, 'row')} with a missing value {were} left out.")
    labels, sides = _sides(table.file, names["label"], [str(words[i]) for i in rows], positive)
    X = X[rows]
    if len(X) > MOST_POINTS:  # the same ones as the page draws, in their order
        notes.append(f"{MOST_POINTS} of {len(X):,} rows were drawn at random.")
        order = np.arange(len(X))
        permute(order, np.random.default_rng(0))
        kept = np.sort(order[:MOST_POINTS])
        X, sides = X[kept], [sides[i] for i in kept]
    if scale:
        deviation = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
        notes.append("Both coordinates were brought to mean 0 and deviation 1.")
    if np.abs(X).max() > LARGEST:
        raise InputError(f"{table.file}: coordinates must be at most {LARGEST:g}; scale them.")
    points = [(a, b, int(side)) for (a, b), side in zip(X.tolist(), sides, strict=True)]
    mark = " (scaled)" if scale else ""
    axes = (f"{names['x']}{mark}"[:LONGEST_NAME], f"{names['y']}{mark}"[:LONGEST_NAME])
    return Document(tuple(points), names=axes, labels=labels, view=view_of(X)), notes


def _chosen(table: Table, given: dict[str, str | None]) -> dict[str, str]:
    """Return which column is x, y and label: three that there are, the given ones where given."""
    columns = table.frame.columns
    numeric = [name for name in columns if _is_numeric(table.frame[name])]
    label = given["label"] or _label(table, numeric)
    free = [name for name in numeric if name not in (label, given["x"], given["y"])]
    names: dict[str, str | None] = {"x": given["x"], "y": given["y"], "label": label}
    for role, name in names.items():
        chosen = name or (free.pop(0) if free else None)
        if chosen is None or chosen not in columns:
            got = f"there is no '{chosen}'" if chosen is not None else _shortage(table)
            msg = f"{table.file}: a column for {role} is needed; {got}. {listed_columns(columns)}"
            raise InputError(msg)
        names[role] = chosen
    if len(set(names.values())) < len(names):
        said = ", ".join(f"{role} '{name}'" for role, name in names.items())
        raise InputError(f"{table.file}: x, y and label must be three columns; got {said}.")
    return {role: str(name) for role, name in names.items()}


def _label(table: Table, numeric: list[str]) -> str:
    try:
        return guess_label(table, ()).column
    except InputError:
        names = table.frame.columns
        return next((name for name in reversed(names) if name not in numeric), names[-1])


def _shortage(table: Table) -> str:
    for name in table.frame.columns:
        words = [word for word in _words(table.frame[name]) if word]
        numbers = all(re.fullmatch(r"[+-]?\d*,?\d+", word) for word in words)
        if numbers and any("," in word for word in words):
            return f"the numbers in '{name}' have decimal commas, write 1.5 instead of 1,5"
    return "there is no other column of numbers"


def view_of(X: NDArray[Any]) -> View:
    """Return a view with room around the points; one scale for both axes if that fits both."""
    if not len(X):
        return Document().view
    low, high = X.min(axis=0), X.max(axis=0)
    middle = (low + high) / 2
    extent = np.where(high > low, high - low, np.maximum(np.abs(middle), 1.0))
    if extent.max() < ALIKE * extent.min():
        extent[:] = extent.max()
    half = extent * (0.5 + ROOM)
    left, bottom, right, top = (float(v) for v in (*(middle - half), *(middle + half)))
    return left, right, bottom, top


def _is_numeric(series: "pl.Series") -> bool:
    import polars as pl

    if series.dtype == pl.String:
        return series.drop_nulls().len() > 0 and all_numbers(series)
    return bool(series.dtype.is_numeric())


def _words(series: "pl.Series") -> list[str | None]:
    return [None if value is None else str(value)[:LONGEST_NAME] for value in series.to_list()]


def _sides(
    file: str, label: str, words: list[str], positive: str | None
) -> tuple[tuple[str, str], list[int]]:
    values = sorted(set(words))
    with suppress(ValueError):  # numbers by their value
        values.sort(key=lambda word: float(word.replace("−", "-")))
    if not 2 <= len(values) <= MOST_LABELS:
        raise InputError(
            f"{file}: the labels in column '{label}' must have 2 to {MOST_LABELS} values; it has "
            f"{len(values)}: choose another column."
        )
    positive = values[-1] if positive is None else positive
    if positive not in values:
        msg = f"{file}: column '{label}' has no label '{positive}'; it has {', '.join(values)}."
        raise InputError(msg)
    others = [value for value in values if value != positive]
    negative = others[0] if len(others) == 1 else f"not {positive}"[:LONGEST_NAME]
    return (negative, positive), [1 if word == positive else -1 for word in words]
