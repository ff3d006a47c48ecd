"""Pastes what ``--help`` prints into the page of each command; a test sees that it is fresh."""

from pathlib import Path

import click
from click.testing import CliRunner

from rosenblatt.cli import COMMANDS, main

DOCS = Path(__file__).parents[2] / "docs"
LAST_LINE = "<!-- pasted by python -m tests.docs.help_pages -->\n"


def page_of(command: str) -> Path:
    """Return the page of a command."""
    return DOCS / "commands" / f"{command}.md"


def fresh_page(command: str) -> str:
    """Return the page of a command with its help as it is now."""
    head, found, _ = page_of(command).read_text("utf-8").partition(LAST_LINE)
    if not found:
        msg = f"{page_of(command)} has lost the line before the help."
        raise ValueError(msg)
    return f"{head}{found}\n```text\n{help_of(command)}```\n"


def help_of(command: str) -> str:
    """Return what a command prints for --help-all, or --help where its options are few."""
    loaded = main.get_command(click.Context(main), command)
    assert loaded is not None
    whole = any("--help-all" in param.opts for param in loaded.params)
    result = CliRunner(env={"COLUMNS": "80"}).invoke(
        main,
        [command, "--help-all" if whole else "--help"],
        prog_name="rosenblatt",
        terminal_width=80,
    )
    return "".join(f"{line.rstrip()}\n" for line in result.output.splitlines())


if __name__ == "__main__":
    for name in COMMANDS:
        page_of(name).write_text(fresh_page(name), "utf-8")
