"""The templates of the page, which escape all text, and tables as they show them."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.lazy import installing
from rosenblatt.wording import Bar, Cell, number, printable

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ImportError:  # pragma: no cover
    _MISSING = f"Reports need Jinja2; install it with: {installing('plots')}"
    raise InputError(_MISSING) from None

BARS = "size"  # the name of a column of bars
LONG_WORD = re.compile(r"[^\s-]{25}")  # that a narrow column has to break


@cache
def templates() -> Environment:
    """Return the templates of the page."""
    environment = Environment(
        loader=PackageLoader("rosenblatt.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(str(value)),
    )
    environment.filters |= {"thousands": "{:,}".format, "file_names": file_names}
    environment.filters["has_long_word"] = LONG_WORD.search
    return environment


def file_names(paths: Sequence[str]) -> str:
    """Return the names of files without their folders, which are private."""
    return ", ".join(PurePath(path).name or path for path in paths)


def part(shape: str, *values: Any, **options: Any) -> Markup:
    """Return a shape of ``parts.html`` around these values."""
    made: Markup = getattr(templates().get_template("parts.html").module, shape)(*values, **options)
    return made


def table(
    headings: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str, kind: str = ""
) -> Markup:
    """Return a table; numbers stand to the right, and columns without any text are left out."""
    lines = [[_shown(cell) for cell in row] for row in rows]
    kept = [k for k, text in enumerate(headings) if text or any(line[k] for line in lines)]
    lines = [[line[kept[0]], *(_minus(line[k]) for k in kept[1:])] for line in lines]
    right = [any(_is_number(line[column]) for line in lines) for column in range(len(kept))]
    return part("table", caption, [headings[k] or BARS for k in kept], lines, right, kind)


def _shown(cell: Cell) -> str | int:
    """Return a cell as text, whole number or Markup."""
    if isinstance(cell, Bar):
        return part("bar", cell.value, cell.longest)
    return cell if isinstance(cell, str | int) else number(cell)


def _minus(cell: str | int) -> str | int:
    """Return a negative number with a minus sign."""
    if not isinstance(cell, str) or isinstance(cell, Markup):
        return cell
    return re.sub(r"^-(?=\d)", "−", cell)


def _is_number(cell: str | int) -> bool:
    return isinstance(cell, int) or cell[:1] in tuple("+-−0123456789")
