"""Which kernels are called with which types, noted while they run as plain Python."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from rosenblatt.kernels.compiling.forms import TupleForm, plain_value, signature_of
from rosenblatt.kernels.compiling.function import CompiledFunction
from rosenblatt.kernels.compiling.machine import kernel_name


class Call(NamedTuple):
    """A kernel and the types that it is called with."""

    function: Callable[..., Any]
    signature: TupleForm


class Depth(threading.local):
    """Whether this thread is inside a kernel."""

    inside = False  # of a kernel: what it calls is compiled with it


@contextmanager
def recording(*, plain: bool = True) -> Iterator[dict[str, Call]]:
    """Give a table of all calls, which grows; kernels run as plain Python, or as usual."""
    calls: dict[str, Call] = {}
    depth = Depth()
    usual = CompiledFunction.__call__

    def note(self: CompiledFunction, *arguments: Any) -> Any:
        if depth.inside:
            return self.plain(*arguments)
        signature = signature_of(plain_value(arguments))
        calls[kernel_name(self.__wrapped__, signature)] = Call(self.__wrapped__, signature)
        if not plain:
            return usual(self, *arguments)
        depth.inside = True
        try:
            return self.plain(*arguments)
        finally:
            depth.inside = False

    CompiledFunction.__call__ = note  # type: ignore[method-assign]
    try:
        yield calls
    finally:
        CompiledFunction.__call__ = usual  # type: ignore[method-assign]
