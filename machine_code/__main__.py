"""``python -m machine_code``: compile for the wheel all that the tour calls."""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from machine_code.recording import Call, recording
from machine_code.tour import walk
from rosenblatt.kernels.compiling.calling import BUILTINS, EMITTER
from rosenblatt.kernels.compiling.forms import TupleForm
from rosenblatt.kernels.compiling.machine import package_processors, source_digest, symbol_of
from rosenblatt.kernels.compiling.store import FOLDER, Record, write_package_code


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
    for processor in processors:
        started = perf_counter()
        records = _compiled([(name, calls[name]) for name in names], processor, jobs)
        path = output / f"{processor}.code"
        write_package_code(path, source_digest(), {symbol_of(r.name): r for r in records})
        size, seconds = path.stat().st_size / 1e6, perf_counter() - started
        click.echo(f"{path}: {len(records):,} kernels, {size:.1f} MB, {seconds:.0f} s", err=True)


def _compiled(calls: list[tuple[str, Call]], processor: str, jobs: int) -> list[Record]:
    """Compile in processes of their own, in which numba knows this processor from the start."""
    os.environ["NUMBA_CPU_NAME"] = processor
    os.environ["NUMBA_CPU_FEATURES"] = ""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_builtin, name, processor) for name in BUILTINS]
        for name, (function, signature) in calls:
            place = function.__module__, function.__name__
            futures.append(pool.submit(_kernel, name, *place, signature, processor))
        with click.progressbar(futures, label=processor, file=sys.stderr) as bar:
            return [future.result() for future in bar]


def _kernel(name: str, module: str, function: str, signature: TupleForm, processor: str) -> Record:
    from rosenblatt.kernels.compiling.compiler import compile_kernel

    kernel: Any = getattr(import_module(module), function)
    code = compile_kernel(kernel.__wrapped__, signature, symbol_of(name), processor)
    return Record(name, str(code.result), processor, source_digest(), code.data)


def _builtin(function: str, processor: str) -> Record:
    from rosenblatt.kernels.compiling.compiler import compile_builtin

    name = f"{EMITTER}.{function}"
    code = compile_builtin(getattr(import_module(EMITTER), function), symbol_of(name), processor)
    return Record(name, str(code.result), processor, source_digest(), code.data)


if __name__ == "__main__":
    build()
