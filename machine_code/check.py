"""``python -m machine_code.check``: take the tour with the machine code of the package alone.

The first calls of each signature are made twice, by machine code and as plain Python, and must
return and write the same bits.
"""

import struct
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from machine_code.recording import Ways, watching
from machine_code.tour import VISITS, walk
from rosenblatt.kernels.compiling import machine
from rosenblatt.kernels.compiling.function import CompiledFunction
from rosenblatt.mistakes import threads

CALLS = 3  # of a signature that are compared


class Comparison:
    """How many calls of each signature were compared, and which differed."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.differing: set[str] = set()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Compare the calls of kernels meanwhile."""
        several = threads.n_threads
        threads.n_threads = lambda: 1  # else others write to parts of the same array meanwhile
        try:
            with watching(self._compare):
                yield
        finally:
            threads.n_threads = several

    def _compare(
        self, ways: Ways, name: str, kernel: CompiledFunction, arguments: tuple[Any, ...]
    ) -> Any:
        """Run a kernel in both ways, on the same arrays."""
        if self.calls[name] == CALLS:
            return ways.usual(kernel, *arguments)
        self.calls[name] += 1
        arrays = [*_arrays(arguments), *_arrays_at(arguments, sys._getframe(2).f_locals)]  # noqa: SLF001
        before = [array.copy() for array in arrays]
        result = ways.usual(kernel, *arguments)
        after = [array.copy() for array in arrays]
        for array, old in zip(arrays, before, strict=True):
            if array.flags.writeable:
                array[...] = old
        expected = ways.plain(kernel, *arguments)
        if [_bits(result), *map(_bits, after)] != [_bits(expected), *map(_bits, arrays)]:
            self.differing.add(name)
        return result


def _arrays(value: Any) -> Iterator[NDArray[Any]]:
    """Yield the arrays within a value."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for field in value:
            yield from _arrays(field)


def _arrays_at(arguments: tuple[Any, ...], variables: dict[str, Any]) -> Iterator[NDArray[Any]]:
    """Yield arrays that a kernel is given by their address, found among its caller's variables."""
    addresses = {argument for argument in arguments if type(argument) is int}
    for variable in variables.values():
        within = vars(variable).values() if hasattr(variable, "__dict__") else ()
        for value in (variable, *(variable if isinstance(variable, tuple) else within)):
            if isinstance(value, np.ndarray) and value.ctypes.data in addresses:
                yield value


def _bits(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_bits, value))
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return struct.pack("d", value) if isinstance(value, float | np.floating) else value


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("visits", nargs=-1, type=click.Choice([*VISITS]))
def main(visits: tuple[str, ...]) -> None:
    """Take the tour, or the VISITS of it that are named, and fail where something is wrong."""
    if find_spec("numba") is not None:
        msg = "numba is installed here: nothing would be missed."
        raise click.ClickException(msg)
    if machine.machine_code_source() != "package":
        msg = "This package has no machine code for this machine."
        raise click.ClickException(msg)
    comparison = Comparison()
    with comparison.running():
        walk(visits or VISITS)
    for wrong, names in (
        ("signatures have no machine code", sorted(machine.missing_code())),
        ("signatures give other bits than plain Python", sorted(comparison.differing)),
    ):
        if names:
            raise click.ClickException("\n".join([f"{len(names)} {wrong}:", *names]))
    calls = comparison.calls
    click.echo(
        f"{machine.processor()}: nothing is missing, and {calls.total():,} calls of {len(calls):,} "
        "signatures give the bits of plain Python."
    )


if __name__ == "__main__":
    main()
