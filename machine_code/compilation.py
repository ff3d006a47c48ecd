"""The compilation of many kernels, in processes where numba knows the processor from the start."""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import click

from machine_code.recording import Call
from rosenblatt.kernels import single_rows
from rosenblatt.kernels.compiling import calling
from rosenblatt.kernels.compiling.forms import TupleForm
from rosenblatt.kernels.compiling.machine import symbol_of
from rosenblatt.kernels.compiling.store import Record, source_digest

BUILTINS = [(module.EMITTER, name) for module in (calling, single_rows) for name in module.BUILTINS]


def compiled_records(calls: list[tuple[str, Call]], processor: str, jobs: int) -> list[Record]:
    """Return the machine code of all calls, and of what every call goes through."""
    os.environ["NUMBA_CPU_NAME"] = processor
    os.environ["NUMBA_CPU_FEATURES"] = ""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_builtin, *place, processor) for place in BUILTINS]
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


def _builtin(emitter: str, function: str, processor: str) -> Record:
    from rosenblatt.kernels.compiling.compiler import compile_builtin

    name = f"{emitter}.{function}"
    code = compile_builtin(getattr(import_module(emitter), function), symbol_of(name), processor)
    return Record(name, str(code.result), processor, source_digest(), code.data)
