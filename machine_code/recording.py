"""Which kernels are called with which types, noted while they run as plain Python."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from rosenblatt.kernels.compiling.function import CompiledFunction
from rosenblatt.kernels.compiling.signatures import kernel_name, plain_value


class Call(NamedTuple):
    """A kernel and the types that it is called with, as numba has them."""

    kernel: CompiledFunction
    kinds: Any


class Ways:
    """How a kernel is run while its calls are watched."""

    def __init__(self) -> None:
        self.usual = CompiledFunction.__call__
        self.thread = threading.local()  # whether it is inside a kernel, whose calls are its own

    def plain(self, kernel: CompiledFunction, *arguments: Any) -> Any:
        """Run a kernel as plain Python, and what it calls."""
        self.thread.inside = True
        try:
            return kernel.plain(*arguments)
        finally:
            self.thread.inside = False


@contextmanager
def watching(watch: Callable[..., Any]) -> Iterator[None]:
    """Have ``watch(ways, name, kernel, arguments)`` run kernels in place of their calls."""
    ways = Ways()

    def call(kernel: CompiledFunction, *arguments: Any) -> Any:
        if getattr(ways.thread, "inside", False):
            return kernel.plain(*arguments)
        name = kernel_name(kernel.__wrapped__, plain_value(arguments))
        return watch(ways, name, kernel, arguments)

    CompiledFunction.__call__ = call  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        CompiledFunction.__call__ = ways.usual  # type: ignore[method-assign]


@contextmanager
def recording(*, plain: bool = True) -> Iterator[dict[str, Call]]:
    """Give a table of all calls, which grows; kernels run as plain Python, or as usual."""
    from rosenblatt.kernels.compiling.compiler import numba_type

    calls: dict[str, Call] = {}

    def note(ways: Ways, name: str, kernel: CompiledFunction, arguments: tuple[Any, ...]) -> Any:
        if name not in calls:
            calls[name] = Call(kernel, numba_type(plain_value(arguments)))
        return (ways.plain if plain else ways.usual)(kernel, *arguments)

    with watching(note):
        yield calls
