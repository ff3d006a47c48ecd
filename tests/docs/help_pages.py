"""Pastes what ``--help`` prints into the page on the command line; a test sees that it is fresh."""

from pathlib import Path

import click
from click.testing import CliRunner

from rosenblatt.cli import COMMANDS, main

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
LAST_LINE = "pasted by `python -m tests.docs.help_pages`.\n"


def fresh_page() -> str:
    """Return the page with the help of every command as it is now."""
    head, found, _ = PAGE.read_text().partition(LAST_LINE)
    if not found:
        msg = f"{PAGE} has lost the line before the help pages."
        raise ValueError(msg)
    pages = "".join(f"\n### {name}\n\n```text\n{help_of(name)}```\n" for name in COMMANDS)
    return head + found + pages


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
    PAGE.write_text(fresh_page())
