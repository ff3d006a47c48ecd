"""The figures as a table for a person and as JSON for a program."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.figure import Figure, Skipped
from reproduction.machine import made_now, told

RESULTS = Path(__file__).parent / "results"
VERDICTS = {True: "[green]met[/]", False: "[bold red]missed[/]", None: ""}

Lines = Sequence[Figure | Skipped]


def print_group(console: Console, name: str, lines: Lines, seconds: float) -> None:
    """Print one group of figures."""
    table = Table(title=f"{name} ({seconds:.0f} s)", title_justify="left", title_style="bold")
    for column in ("what", "ours", "peer", "whose", "ratio", "target", "verdict"):
        number = column in {"ours", "peer", "ratio", "target"}
        table.add_column(column, justify="right" if number else "left", no_wrap=number)
    for line in lines:
        if isinstance(line, Skipped):
            table.add_row(line.what, "", "", f"skipped: {line.reason}")
            continue
        what = f"{line.what} [dim]({line.note})[/]" if line.note else line.what
        numbers = str(line.ours), str(line.peer), line.peer_name, str(line.ratio)
        table.add_row(what, *numbers, line.target_text, VERDICTS[line.met])
    console.print(table)


def print_summary(console: Console, groups: Mapping[str, Lines]) -> None:
    """Print how many targets are met, name those that are not, and say what measured them."""
    figures = [(name, line) for name, lines in groups.items() for line in _figures(lines)]
    missed = [f"{name}: {line.what}" for name, line in figures if line.met is False]
    bound = sum(line.met is not None for _, line in figures)
    console.print(f"{bound - len(missed)} of {bound} targets met.")
    for what in missed:
        console.print(f"  missed  {what}", highlight=False)
    console.print(f"Measured on {told(made_now())}", highlight=False)  # for docs/speed.md


def write_results(stem: str, groups: Mapping[str, Lines]) -> Path:
    """Write the figures, with what they were measured on, and return the file."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{stem}.json"
    path.write_text(json.dumps(_record(groups), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


def _record(groups: Mapping[str, Lines]) -> dict[str, Any]:
    return {
        **made_now(),
        "figures": {
            name: [line.as_record() for line in _figures(lines)] for name, lines in groups.items()
        },
        "skipped": {
            line.what: line.reason
            for lines in groups.values()
            for line in lines
            if isinstance(line, Skipped)
        },
    }


def _figures(lines: Lines) -> list[Figure]:
    return [line for line in lines if isinstance(line, Figure)]


def put(name: str, text: str, page: Path) -> None:
    """Write a table to its place in a page: after the mark of its name, up to the next end."""
    before, mark, after = page.read_text("utf-8").partition(f"<!-- {name} -->\n")
    _, end, rest = after.partition("<!-- end -->")
    if not (mark and end):
        sys.exit(f"The page has no place for the table {name!r}.")
    page.write_text(f"{before}{mark}\n{text}\n\n{end}{rest}", "utf-8")
