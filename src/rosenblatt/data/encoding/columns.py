"""What each column of a table is taken for."""

import shlex
from typing import Literal, NamedTuple, get_args

Role = Literal["label", "numeric", "category", "text", "ignored"]
Part = Literal["", "month", "weekday", "hour"]

ROLES: tuple[str, ...] = get_args(Role)
PARTS: tuple[str, ...] = get_args(Part)

# How a missing value is written in a column of text, blanks around it aside; null is missing too.
MISSING = frozenset({"", "?", "NA", "N/A", "nan", "NaN", "null", "NULL", "None"})
BLANKS = " \t\n\r\v\f"


def option(flag: str, column: str) -> str:
    """Return an option as a person types it into a shell."""
    return f"{flag} {shlex.quote(column)}"


class InputColumn(NamedTuple):
    """A column of the tables that an encoding takes, in the order of the first one."""

    name: str
    role: Role
    parts: tuple[Part, ...] = ("",)  # of a date or a time; anything else is whole

    @property
    def required(self) -> bool:
        """Whether rows can't be encoded without it."""
        return self.role not in ("label", "ignored")


class FeatureColumn(NamedTuple):
    """A column, or a part of a date or a time, that becomes features."""

    name: str
    role: Role
    part: Part = ""

    @property
    def title(self) -> str:
        """What names of features begin with."""
        return f"{self.name} {self.part}" if self.part else self.name


def feature_columns(columns: tuple[InputColumn, ...]) -> tuple[FeatureColumn, ...]:
    """Return what becomes features, in order."""
    return tuple(
        FeatureColumn(column.name, column.role, part)
        for column in columns
        if column.required
        for part in column.parts
    )
