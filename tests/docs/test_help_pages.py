"""The documentation of the command line is what the commands say of themselves."""

import click
import pytest

from rosenblatt.cli import COMMANDS, main
from tests.docs.help_pages import DOCS, fresh_page, page_of


@pytest.mark.parametrize("name", COMMANDS)
def test_pages_are_fresh(name: str) -> None:
    """Every command has a page with examples, and with all options as --help prints them."""
    page = page_of(name).read_text("utf-8")
    assert page == fresh_page(name), "run: python -m tests.docs.help_pages"
    assert f"$ rosenblatt {name} " in page
    line = f"| [{name}](commands/{name}.md) | {COMMANDS[name]} |\n"
    assert line in (DOCS / "command-line.md").read_text("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_shows_its_default(name: str) -> None:
    """An option that takes a value, or turns something on or off, says what happens without it."""
    context = click.Context(main)
    command = main.get_command(context, name)
    assert command is not None
    for option in command.get_params(click.Context(command)):
        if not isinstance(option, click.Option) or option.multiple:
            continue
        record = option.get_help_record(context)
        if record is None or (option.is_flag and not option.secondary_opts):
            continue
        assert "[default: " in record[1] or "required" in record[1], record
