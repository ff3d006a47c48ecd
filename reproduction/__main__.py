"""Make the tables of the papers again: ``python -m reproduction``."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from shutil import get_terminal_size
from time import perf_counter
from typing import Any

import click

from reproduction import TABLES
from reproduction.data_sets import DataFolder
from reproduction.experiment import Experiment
from reproduction.results import (
    DOCUMENT,
    HEADINGS,
    PAGE,
    Results,
    line_cells,
    lines_by_claim,
    state_of,
    time_in_words,
    without_empty_columns,
)
from reproduction.table import Table
from reproduction.tables import make_tables
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.errors import InputError

DOCS = Path(__file__).parents[1] / "docs"
A_MINUTE = 60.0


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
@click.option(
    "--resume",
    is_flag=True,
    help="Make only tables that FOLDER does not have whole, or that older code made.",
)
def reproduce(
    screen: Screen, *, quick: bool, only: Sequence[str], output: str, resume: bool
) -> bool:
    """Print the figures of papers and the textbook beside ours, and say which reproduce.

    The data sets are read from the folder that the variable ROSENBLATT_DATA names. All tables take
    less than an hour on two cores; how long is told by the times of the last run. Each is written
    to FOLDER as it is finished, so that Ctrl-C loses none; tables of earlier runs stay there until
    they are made again. Exit code 1 where a table had to be left out since its data set is missing.
    """
    folder, results = DataFolder.from_environment(), Results.of(Path(output))
    wanted = [experiment(name) for name in TABLES if name in (only or TABLES)]
    progress = Progress(screen, last_times(results, quick=quick))
    try:
        skipped = make_tables(wanted, folder, results, progress, quick=quick, resume=resume)
    finally:
        progress.clear()
    if not progress.tables:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
        msg = f"No table could be made ({reasons})."
        raise InputError(msg)
    for name, reason in skipped.items():
        screen.warn(f"The table {name} is left out: {reason}.")
    if screen.wants_json:
        screen.json({"tables": [table.as_json() for table in progress.tables], "skipped": skipped})
    screen.say(f"Written to {results.folder / PAGE} and {results.folder / DOCUMENT}.")
    return not skipped


class Progress:
    """Which table is being made, what of it on a terminal, and about how long all will take.

    That is told from the times of the last run, longer or shorter by what tables of this one took.
    """

    def __init__(self, screen: Screen, last: Mapping[str, float]) -> None:
        self.tables: list[Table] = []  # those shown
        self._screen = screen
        self._last = last  # seconds by name
        self._name = ""
        self._later: Sequence[str] = ()
        self._n_begun, self._started = 0, perf_counter()
        self._spent, self._expected = 0.0, 0.0  # seconds of the tables made in this run
        self._width = 0

    def begin(self, name: str, later: Sequence[str]) -> None:
        """Say which table is begun, and how long it and all will take."""
        self._name, self._later, self._started = name, later, perf_counter()
        self._n_begun += 1
        left = self.left()
        time = f"; about {time_in_words(left)} left" if left is not None else ""
        self._screen.say(f"Table {self._n_begun} of {self._n_begun + len(later)}: {name}{time}.")

    def left(self) -> float | None:
        """Return about how many seconds are left; None where the last run does not say."""
        if any(name not in self._last for name in (self._name, *self._later)):
            return None
        pace = (self._spent + A_MINUTE) / (self._expected + A_MINUTE)  # a short table says little
        own = pace * self._last[self._name] - (perf_counter() - self._started)
        return max(own, 0.0) + pace * sum(self._last[name] for name in self._later)

    def tell(self, text: str) -> None:
        """Show what is done now and how long all will take, on a terminal."""
        if self._screen.draws_talk:
            left = self.left()
            time = f" (about {time_in_words(left)} left)" if left is not None else ""
            text = f"{self._name}: {text}{time}"[: get_terminal_size().columns - 1]
            click.echo(f"\r{text:<{self._width}}", nl=False, err=True)
            self._width = len(text)

    def show(self, table: Table) -> None:
        """Print a table."""
        self.clear()
        if table.name == self._name and table.name in self._last:
            self._spent += table.seconds
            self._expected += self._last[table.name]
        self.tables.append(table)
        _show(self._screen, table)

    def clear(self) -> None:
        """Take the line of the terminal away."""
        if self._width:
            click.echo(f"\r{'':<{self._width}}\r", nl=False, err=True)
            self._width = 0


def last_times(results: Results, *, quick: bool) -> dict[str, float]:
    """Return how many seconds tables took in the last run: that of the folder, or of the docs."""
    found: dict[str, float] = {}
    for known in (Results.of(DOCS) if DOCS.is_dir() else results, results):
        found |= {
            t.name: t.seconds for t in known.tables.values() if t.complete and t.quick == quick
        }
    return found


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
