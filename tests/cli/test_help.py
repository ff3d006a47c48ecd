"""Help of commands with many options: the common ones first, all of them in groups on demand."""

import re

import click
import pytest

from rosenblatt.cli import main
from rosenblatt.parameters import GROUPS, SETTINGS
from tests.cli.running import invoked

LONG = ("train", "tune", "evaluate")
NOT_OPTIONS = {"observers", "progress", "tell"}


def options_of(name: str) -> list[click.Option]:
    """Return the options of a command."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return [param for param in command.params if isinstance(param, click.Option)]


@pytest.mark.parametrize("name", LONG)
def test_short_help(name: str) -> None:
    """--help shows about a dozen options and names the groups of the others."""
    told = invoked(name, "--help").stdout
    shown = [line for line in told.splitlines() if line.startswith("  -")]
    assert 12 <= len(shown) <= 18
    words = " ".join(told.split())
    assert "More options: Data, Columns, Text, Learning, Stopping, Rare classes and" in words
    assert "Show all of them with --help-all." in words
    assert "  --label COLUMN  " in told
    assert "--validation-fraction" not in told
    assert "-h, --help" in told


@pytest.mark.parametrize("name", LONG)
def test_whole_help(name: str) -> None:
    """--help-all shows every option once, under the heading of its group, in the same order."""
    told = invoked(name, "--help-all").stdout
    for option in options_of(name):
        assert len(re.findall(rf"\n  {', '.join(option.opts)}[ \n]", told)) == 1, option.opts
    headings = [line[:-1] for line in told.splitlines() if line.endswith(":") and line[0] != " "]
    groups = [heading for heading in headings if heading in GROUPS]
    assert groups == [group for group in GROUPS if group in groups]
    assert headings == ["Options", *groups, "Example"]
    stopping = told.partition("\nStopping:\n")[2].partition("\n\n")[0]
    assert "--max-iter N" in stopping
    assert "--label" not in stopping


def test_groups_of_train() -> None:
    """Every parameter of the table is an option of train, in the group of the table."""
    groups = {option.name: getattr(option, "group", "") for option in options_of("train")}
    assert {name: groups[name] for name in SETTINGS.keys() - NOT_OPTIONS} == {
        name: setting.group for name, setting in SETTINGS.items() if name not in NOT_OPTIONS
    }


def test_commands_with_few_options_show_all() -> None:
    """The other commands list all their options, and have no --help-all."""
    assert "--bad-rows" in invoked("predict", "--help").stdout
    assert "No such option '--help-all'" in invoked("predict", "--help-all").stderr
