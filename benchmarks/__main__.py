"""Measure everything that the project promises about speed: ``python -m benchmarks``."""

import sys
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter

import click
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

from benchmarks import (
    averaged,
    csr,
    dense,
    distributed,
    file_memory,
    files,
    groups,
    kernel,
    labelled_lines,
    memory,
    multiclass,
    online,
    service,
    startup,
    tags,
    text,
    voted,
)
from benchmarks.figure import Figure, Skipped
from benchmarks.report import print_group, print_summary, write_results
from benchmarks.stopwatch import FULL, QUICK, Scale
from benchmarks.table import ROWS, table
from benchmarks.table import write as write_table

FILE_WIDTH = 140  # columns where the output is not a terminal

GROUPS: dict[str, Callable[[Scale], Iterator[Figure | Skipped]]] = {
    "dense": dense.figures,
    "csr": csr.figures,
    "groups": groups.figures,
    "averaged": averaged.figures,
    "multiclass": multiclass.figures,
    "online": online.figures,
    "memory": memory.figures,
    "startup": startup.figures,
    "files": files.figures,
    "text": text.figures,
    "tags": tags.figures,
    "labelled-lines": labelled_lines.figures,
    "file-memory": file_memory.figures,
    "distributed": distributed.figures,
    "service": service.figures,
    "voted": voted.figures,
    "kernel": kernel.figures,
}


@click.command()
@click.option("--only", type=click.Choice(list(GROUPS)), multiple=True, help="Run this group.")
@click.option("--table", "as_table", is_flag=True, help="Measure the table of docs/speed.md.")
@click.option("--row", type=click.Choice(list(ROWS)), multiple=True, help="With --table: this row.")
@click.option("--write", is_flag=True, help="With --table: put it into docs/speed.md.")
@click.option("--quick", is_flag=True, help="A tenth of the rows, for a look at the direction.")
def main(
    only: tuple[str, ...], as_table: bool, row: tuple[str, ...], write: bool, quick: bool
) -> None:
    """Measure the groups of figures, print a table of each, write results/latest.json.

    A part of the groups, or a quick run, is written to a file of its own name. With --table print
    the rows of docs/speed.md in Markdown; one that this version has measured is not measured again.
    """
    warnings.simplefilter("ignore", ConvergenceWarning)  # the rows are made not to converge
    if as_table or row:
        text = table(row, QUICK if quick else FULL)
        click.echo(text)
        if write:
            write_table(text)
        return
    console = Console() if sys.stdout.isatty() else Console(width=FILE_WIDTH)
    results: dict[str, list[Figure | Skipped]] = {}
    for name in only or GROUPS:
        started = perf_counter()
        with console.status(f"{name} …"):
            results[name] = list(GROUPS[name](QUICK if quick else FULL))
        print_group(console, name, results[name], perf_counter() - started)
    stem = "-".join([*(only or ["latest"]), *(["quick"] if quick else [])])
    print_summary(console, results)
    console.print(f"Written to benchmarks/results/{write_results(stem, results).name}")


if __name__ == "__main__":
    main()
