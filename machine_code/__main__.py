"""``python -m machine_code``: compile for the wheel all that the tour calls."""

import os
from pathlib import Path
from time import perf_counter

import click

from machine_code.compilation import compiled_records
from machine_code.recording import recording
from machine_code.tour import walk
from rosenblatt.kernels.compiling.machine import package_processors, symbol_of
from rosenblatt.kernels.compiling.store import FOLDER, source_digest, write_package_code


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=FOLDER,
    show_default=True,
    help="Folder to write to, a file for each kind of processor.",
)
@click.option(
    "--processor",
    "processors",
    multiple=True,
    default=package_processors(),
    show_default=True,
    help="Kind of processor to compile for (repeatable).",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count(),
    show_default=True,
    help="Number of processes.",
)
@click.option("--list", "listing", is_flag=True, help="Print the signatures and compile nothing.")
def build(output: Path, processors: tuple[str, ...], jobs: int, *, listing: bool) -> None:
    """Compile every kernel for every signature that the library reaches with documented types."""
    started = perf_counter()
    with recording() as calls:
        walk()
    names = sorted(calls)
    if listing:
        click.echo("\n".join(names))
        return
    click.echo(f"{len(names):,} signatures, found in {perf_counter() - started:.0f} s", err=True)
    started = perf_counter()
    made = compiled_records([(name, calls[name]) for name in names], processors, jobs)
    click.echo(f"compiled in {perf_counter() - started:.0f} s", err=True)
    for processor in processors:
        records = {symbol_of(r.name): r for r in made if r.processor == processor}
        path = output / f"{processor}.code"
        write_package_code(path, source_digest(), records)
        size = path.stat().st_size / 1e6
        click.echo(f"{path}: {len(records):,} kernels, {size:.1f} MB", err=True)


if __name__ == "__main__":
    build()
