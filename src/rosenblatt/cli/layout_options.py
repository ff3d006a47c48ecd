"""Options that say how data files are laid out; several commands have them."""

from typing import Any

import click

from rosenblatt.cli.option_group import Command, Decorator, option_group
from rosenblatt.data.formats import Format

OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--format",
        "format_name",
        type=click.Choice([str(kind) for kind in Format]),
        help="Format of the files; found out if not given.",
    ),
    click.option("--separator", metavar="CHAR", help="What parts the fields of CSV."),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line names the columns; found out if not given.",
    ),
    click.option(
        "--zero-based/--one-based",
        default=None,
        help="From where svmlight files count features; found out if not given.",
    ),
)


def layout_options(command: Command) -> Command:
    """Add the options to a command, which is given ``layout``."""
    from functools import wraps

    @wraps(command)
    def with_layout(
        *args: Any,
        format_name: str | None,
        separator: str | None,
        header: bool | None,
        zero_based: bool | None,
        **options: Any,
    ) -> Any:
        from rosenblatt.data.files import Layout

        kind = None if format_name is None else Format(format_name)
        layout = Layout(kind, _tab(separator), header, zero_based)
        return command(*args, layout=layout, **options)

    return option_group(OPTIONS)(with_layout)


def _tab(separator: str | None) -> str | None:
    """A tab is hard to type."""
    return "\t" if separator in ("\\t", "tab") else separator
