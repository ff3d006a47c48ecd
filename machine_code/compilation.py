"""The compilation of many kernels, each typed once for all targets, in many processes."""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import click

from machine_code.platforms import PLATFORMS
from machine_code.recording import Call
from rosenblatt.kernels.compiling.signatures import symbol_of


def compile_objects(
    calls: dict[str, Call], platforms: tuple[str, ...], folder: Path, jobs: int
) -> dict[str, str]:
    """Write the object files of all calls to a folder; return the result of each by its symbol."""
    for platform in platforms:
        (folder / platform).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = {
            symbol_of(name): pool.submit(_compile, symbol_of(name), call, platforms, folder)
            for name, call in sorted(calls.items())
        }
        with click.progressbar(futures.items(), label="Compiling", file=sys.stderr) as bar:
            return {symbol: future.result() for symbol, future in bar}


def _compile(symbol: str, call: Call, platforms: tuple[str, ...], folder: Path) -> str:
    from rosenblatt.kernels.compiling.compiler import compile_kernel, symbol_for

    owners = {target: name for name in platforms for target in PLATFORMS[name].targets}
    result, objects = compile_kernel(call.kernel, call.kinds, symbol, *owners)
    for target, data in objects.items():
        (folder / owners[target] / f"{symbol_for(symbol, target)}.o").write_bytes(data)
    return result
