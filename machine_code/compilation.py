"""The compilation of many kernels, each typed once for all targets, in many processes."""

import sys
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click

from machine_code.platforms import PLATFORMS
from machine_code.recording import Call
from rosenblatt.kernels.compiling.forms import TupleForm
from rosenblatt.kernels.compiling.machine import symbol_of


def compile_objects(
    calls: dict[str, Call], platforms: tuple[str, ...], folder: Path, jobs: int
) -> dict[str, str]:
    """Write the object files of all calls to a folder; return the result of each by its symbol."""
    for platform in platforms:
        (folder / platform).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = {}
        for name in sorted(calls):
            function, signature = calls[name]
            place = function.__module__, function.__name__
            futures[symbol_of(name)] = pool.submit(
                _compile_objects, symbol_of(name), *place, signature, platforms, folder
            )
        with click.progressbar(futures.items(), label="Compiling", file=sys.stderr) as bar:
            return {symbol: future.result() for symbol, future in bar}


def _compile_objects(
    symbol: str,
    module: str,
    function: str,
    signature: TupleForm,
    platforms: tuple[str, ...],
    folder: Path,
) -> str:
    from rosenblatt.kernels.compiling.compiler import compile_kernel, symbol_for

    kernel: Any = getattr(import_module(module), function)
    owners = {target: name for name in platforms for target in PLATFORMS[name].targets}
    code = compile_kernel(kernel.__wrapped__, signature, symbol, *owners)
    for target, data in code.data.items():
        (folder / owners[target] / f"{symbol_for(symbol, target)}.o").write_bytes(data)
    return str(code.result)
