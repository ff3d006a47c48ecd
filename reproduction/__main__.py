"""Make the tables of the papers again: ``python -m reproduction``."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, Self

import click

from reproduction import TABLES
from reproduction.data_sets import DataFolder
from reproduction.experiment import Experiment, make_tables
from reproduction.results import (
    DOCUMENT,
    HEADINGS,
    PAGE,
    Results,
    line_cells,
    lines_by_claim,
    state_of,
    without_empty_columns,
)
from reproduction.table import Table
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.errors import InputError


def experiment(name: str) -> Experiment:
    """Return what makes the table of this name."""
    made: Experiment = import_module(f"reproduction.{name.replace('-', '_')}").EXPERIMENT
    return made


@click.command(cls=ScreenCommand, example="python -m reproduction --quick --only libol")
@click.option("--quick", is_flag=True, help="Take a subset, in less than two minutes.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(TABLES),
    help="Make this table; may be given several times. By default all are made.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    default=".",
    show_default=True,
    metavar="FOLDER",
    help="Where reproduction.json and reproduction.md are kept.",
)
@click.option("--resume", is_flag=True, help="Take tables that FOLDER already has from there.")
def reproduce(
    screen: Screen, *, quick: bool, only: Sequence[str], output: str, resume: bool
) -> bool:
    """Print the figures of papers and the textbook beside ours, and say which reproduce.

    The data sets are read from the folder that the variable ROSENBLATT_DATA names. All tables take
    less than an hour on two cores. Each is written to FOLDER as it is finished, so that Ctrl-C
    loses none; tables of earlier runs stay there until they are made again. Exit code 1 where a
    table had to be left out since its data set is missing.
    """
    folder, results = DataFolder.from_environment(), Results.of(Path(output))
    names = [name for name in TABLES if name in (only or TABLES)]
    made: list[Table] = []

    with Status(screen) as status:

        def show(table: Table) -> None:
            status.clear()
            made.append(table)
            _show(screen, table)

        skipped = make_tables(
            [experiment(name) for name in names],
            folder,
            results,
            quick=quick,
            resume=resume,
            tell=status.tell,
            show=show,
        )
    if not made:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
        msg = f"No table could be made ({reasons})."
        raise InputError(msg)
    for name, reason in skipped.items():
        screen.warn(f"The table {name} is left out: {reason}.")
    if screen.wants_json:
        screen.json({"tables": [table.as_json() for table in made], "skipped": skipped})
    screen.say(f"Written to {results.folder / PAGE} and {results.folder / DOCUMENT}.")
    return not skipped


class Status:
    """One line on a terminal that says what is being done now."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._width = 0

    def tell(self, text: str) -> None:
        """Show what begins; where nothing is drawn, nothing is said."""
        if self._screen.draws_talk:
            text = text[: get_terminal_size().columns - 1]
            click.echo(f"\r{text:<{self._width}}", nl=False, err=True)
            self._width = len(text)

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            click.echo(f"\r{'':<{self._width}}\r", nl=False, err=True)
            self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()


def _show(screen: Screen, table: Table) -> None:
    screen.heading(f"{table.title} ({table.name}: {state_of(table)}, {table.seconds:.0f} s)")
    screen.show(table.source)
    for claim, lines in lines_by_claim(table).items():
        headings, cells = without_empty_columns(HEADINGS, [line_cells(line) for line in lines])
        screen.table(headings, cells, claim)
    for grid in table.grids:
        rows: list[list[Any]] = [list(row) for row in grid.rows]
        screen.table(grid.headings, rows, grid.title)
    screen.show()
    for sentence in [*table.conclusion, *table.notes]:
        screen.show(sentence)


if __name__ == "__main__":
    reproduce()
