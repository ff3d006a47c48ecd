"""The role of every column of a sample: as a person says, else as its values suggest."""

from collections.abc import Iterable, Mapping
from typing import get_args

from rosenblatt.data.encoding.columns import InputColumn, Role
from rosenblatt.data.encoding.kinds import detected_column, oddities
from rosenblatt.data.encoding.label_column import found_label, listed_columns
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError


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
        roles[column_name(table, label, "--label")] = "label"
    for role in get_args(Role):
        flag = "--ignore" if role == "ignored" else f"--{role}"
        for which in asked.get(role, ()):
            name = column_name(table, which, flag)
            if roles.setdefault(name, role) != role:
                msg = f"Column '{name}' can't be both {roles[name]} and {role}; choose one."
                raise InputError(msg)
    if has_label and "label" not in roles.values():
        roles[found_label(table, roles)] = "label"
    columns = tuple(
        InputColumn(name, roles[name]) if name in roles else detected_column(table, name)
        for name in table.frame.columns
    )
    if not any(column.required for column in columns):
        msg = f"{table.file}: no column is left to learn from."
        raise InputError(msg)
    notes = [note for column in columns if column.required for note in oddities(table, column)]
    return columns, notes


def column_name(table: Table, which: str | int, flag: str) -> str:
    """Return the name of the column that a person means by a name or a number from 0."""
    names = table.frame.columns
    if isinstance(which, int) and -len(names) <= which < len(names):
        return names[which]
    if isinstance(which, str) and which in names:
        return which
    shown = f"'{which}'" if isinstance(which, str) else f"number {which}"
    msg = f"{table.file} has no column {shown}, named by {flag}. {listed_columns(names)}"
    raise InputError(msg)
