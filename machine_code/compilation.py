"""The compilation of many kernels, each typed once for all processors, in many processes."""

import sys
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import click

from machine_code.recording import Call
from rosenblatt.kernels.compiling.forms import TupleForm
from rosenblatt.kernels.compiling.machine import symbol_of
from rosenblatt.kernels.compiling.store import Record, source_digest


def compiled_records(
    calls: list[tuple[str, Call]], processors: tuple[str, ...], jobs: int
) -> list[Record]:
    """Return the machine code of all calls."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = []
        for name, (function, signature) in calls:
            place = function.__module__, function.__name__
            futures.append(pool.submit(_kernel, name, *place, signature, processors))
        with click.progressbar(futures, label="Compiling", file=sys.stderr) as bar:
            return [record for future in bar for record in future.result()]


def _kernel(
    name: str, module: str, function: str, signature: TupleForm, processors: tuple[str, ...]
) -> list[Record]:
    from rosenblatt.kernels.compiling.compiler import compile_kernel

    kernel: Any = getattr(import_module(module), function)
    code = compile_kernel(kernel.__wrapped__, signature, symbol_of(name), *processors)
    sources = source_digest()
    return [Record(name, str(code.result), p, sources, data) for p, data in code.data.items()]
