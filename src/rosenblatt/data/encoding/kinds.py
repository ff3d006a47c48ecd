"""What each column is taken for: as a person says, else as a sample of its rows suggests."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, get_args

import numpy as np

from rosenblatt.data.encoding.columns import MISSING, DatePart, InputColumn, Role
from rosenblatt.data.encoding.label_column import guessed_label, listed_columns
from rosenblatt.data.encoding.numbers import all_numbers
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError, Parameter, Sentence

if TYPE_CHECKING:
    import polars as pl

TEXT_ROWS = 1000  # that decide between text and category
FEWEST_WORDS = 3  # on average, in a column of text whose values mostly differ
SURELY_TEXT = 8  # words on average, in any column of text
FEWEST_ROWS = 20  # from where on it is odd that all values differ
MOSTLY = 0.9  # of the rows


def detected_column(table: Table, name: str) -> InputColumn:
    """Return what a column is taken for.

    Numeric if all values are finite numbers, or true and false, or lengths of time. Dates and times
    of a typed file become categories of month, weekday and hour. Text if its values have at
    least three words on average and more than half of them differ, or at least eight words; a word
    is here two letters or more in a row. Everything else is a category.
    """
    import polars as pl

    series = table.frame[name]
    kind = series.dtype
    if kind in (pl.Date, pl.Datetime, pl.Time):
        day: tuple[DatePart, ...] = () if kind == pl.Time else ("month", "weekday")
        hour: tuple[DatePart, ...] = () if kind == pl.Date else ("hour",)
        return InputColumn(name, "category", day + hour)
    if kind.is_numeric() or kind in (pl.Boolean, pl.Duration):
        return InputColumn(name, "numeric")
    if kind in (pl.Categorical, pl.Enum, pl.Null):
        return InputColumn(name, "category")
    if kind != pl.String:
        msg = Sentence(
            f"{table.file}: column '{name}' holds {kind}, which can't become features;"
            " leave it out with ",
            Parameter("ignore", name),
            ".",
        )
        raise InputError(msg)
    return InputColumn(name, _kind_of_text(_present(series)))


def oddities(table: Table, column: InputColumn) -> list[str]:
    """Return sentences on what a person might not know of a column and should."""
    import polars as pl

    series, name = table.frame[column.name], column.name
    leave_out = Sentence("; leave it out with ", Parameter("ignore", name), ".")
    values = _present(series)
    if not len(values):
        rows = f"the first {len(series):,} rows" if len(series) else "the file"
        return [f"Column '{name}' has no value in {rows}; it is taken for a category."]
    if len(values) < FEWEST_ROWS:
        return []
    if column.role == "numeric":
        numbers = values.cast(pl.Float64, strict=False).to_numpy()
        if len(values) == len(series) and (np.diff(numbers) == 1).all():
            start = ", ".join(f"{number:g}" for number in numbers[:3])
            return [Sentence(f"Column '{name}' counts the rows ({start}, …)", leave_out)]
    if column.role == "category" and column.parts == ("",):
        return _oddities_of_category(values, name, leave_out)
    return []


def _oddities_of_category(values: "pl.Series", name: str, leave_out: Sentence) -> list[str]:
    word = _word_among_numbers(values)
    n_values = values.n_unique()
    if word is not None:
        note = Sentence(
            f"Column '{name}' is taken for a category, since {word!r} in it is not a number;"
            " if it should be one, mend the file and use ",
            Parameter("numeric", name),
            ".",
        )
    elif n_values == len(values):
        note = Sentence(f"Column '{name}' has a different value in every row", leave_out)
    elif n_values >= MOSTLY * len(values):
        count = f"{n_values:,} different values in {len(values):,} rows"
        note = Sentence(f"Column '{name}' has {count}", leave_out)
    else:
        return []
    return [note]


def _word_among_numbers(values: "pl.Series") -> str | None:
    """Return the first word of a column that is all but numbers, None of any other."""
    import polars as pl

    if values.dtype != pl.String:
        return None
    is_word = values.str.strip_chars().cast(pl.Float64, strict=False).is_null()
    if not 0 < is_word.sum() <= (1 - MOSTLY) * len(values):
        return None
    return str(values.filter(is_word)[0])[:40]


def _present(series: "pl.Series") -> "pl.Series":
    import polars as pl

    values = series.drop_nulls()
    if values.dtype == pl.String:
        values = values.filter(~values.str.strip_chars().is_in(list(MISSING)))
    return values


def _kind_of_text(values: "pl.Series") -> Role:
    if not len(values):
        return "category"
    if all_numbers(values):
        return "numeric"
    some = values.head(TEXT_ROWS)
    words = some.str.count_matches(r"\p{L}{2,}").mean()
    n_words = float(words) if isinstance(words, (int, float)) else 0.0
    mostly_differ = 2 * some.n_unique() > len(some)
    is_text = n_words >= SURELY_TEXT or (n_words >= FEWEST_WORDS and mostly_differ)
    return "text" if is_text else "category"


def assigned_columns(
    table: Table,
    label: str | int | None,
    asked: Mapping[str, Iterable[str | int]],
    *,
    has_label: bool,
) -> tuple[tuple[InputColumn, ...], list[str]]:
    """Return the columns of a table with their roles, and sentences on what is odd about them.

    ``asked`` has for a role the columns that a person gave it, by name or number.
    """
    roles: dict[str, Role] = {}
    if label is not None and has_label:
        roles[column_name(table, label, "label")] = "label"
    for role in get_args(Role):
        parameter = "ignore" if role == "ignored" else role
        for which in asked.get(role, ()):
            name = column_name(table, which, parameter)
            if roles.setdefault(name, role) != role:
                msg = f"Column '{name}' can't be both {roles[name]} and {role}; choose one."
                raise InputError(msg)
    if has_label and "label" not in roles.values():
        roles[guessed_label(table, roles)] = "label"
    columns = tuple(
        InputColumn(name, roles[name]) if name in roles else detected_column(table, name)
        for name in table.frame.columns
    )
    if not any(column.required for column in columns):
        msg = f"{table.file}: no column is left to learn from."
        raise InputError(msg)
    notes = [note for column in columns if column.required for note in oddities(table, column)]
    return columns, notes


def column_name(table: Table, which: str | int, parameter: str) -> str:
    """Return the name of the column that a person means by a name or a number from 0."""
    names = table.frame.columns
    if isinstance(which, int) and -len(names) <= which < len(names):
        return names[which]
    if isinstance(which, str) and which in names:
        return which
    shown = f"'{which}'" if isinstance(which, str) else f"number {which}"
    msg = Sentence(
        f"{table.file} has no column {shown}, named by ",
        Parameter(parameter),
        f". {listed_columns(names)}",
    )
    raise InputError(msg)
