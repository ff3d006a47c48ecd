"""The shapes that the page is made of; ``templates`` holds their HTML, which escapes all text."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.wording import printable

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ImportError:  # pragma: no cover
    _MISSING = "Reports need Jinja2; install it with: pip install 'rosenblatt[plots]'"
    raise InputError(_MISSING) from None

Cell = str | int  # of a table; what is not Markup is shown as it is
BARS = "size"  # the name of a column of bars


@cache
def templates() -> Environment:
    """Return the templates of the page."""
    return Environment(
        loader=PackageLoader("rosenblatt.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(str(value)),
    )


def part(shape: str, *values: Any, **options: Any) -> Markup:
    """Return a shape of ``parts.html`` around these values."""
    made: Markup = getattr(_shapes(), shape)(*values, **options)
    return made


@cache
def _shapes() -> Any:
    return templates().get_template("parts.html").module


def table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[Cell]], kind: str = ""
) -> Markup:
    """Return a table; columns with a number stand to the right."""
    lines = list(rows)
    right = [any(_is_number(line[column]) for line in lines) for column in range(len(headings))]
    return part("table", caption, headings, lines, right, kind)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int) or cell[:1] in tuple("+-−0123456789")
