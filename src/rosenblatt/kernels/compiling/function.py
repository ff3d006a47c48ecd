"""A kernel as Python calls it: the types of the arguments find the machine code, words reach it.

And what the compiler will want to know of functions, noted without importing it.
"""

from collections.abc import Callable
from functools import update_wrapper
from inspect import signature
from typing import Annotated, Any, TypeVar, get_args

import numpy as np

from rosenblatt.kernels.compiling import calling
from rosenblatt.kernels.compiling.calling import Code
from rosenblatt.kernels.compiling.machine import machine_code
from rosenblatt.kernels.compiling.signatures import (
    kernel_name,
    kinds_within,
    plain_value,
    result_maker,
    writeable,
)

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = TypeVar("Kind")

CHANGED = "changed"
Changed = Annotated[Kind, CHANGED]  # an argument of a kernel that it writes to

INLINED: set[Callable[..., Any]] = set()
INSTRUCTIONS: set[Callable[..., Any]] = set()
METHODS = {"step": ["self", "margin", "sqnorm"]}  # of named tuples: the names of arguments


class CompiledFunction:
    """A kernel; calls with arguments of the same types use the same machine code.

    Arguments are positional. A call takes about a microsecond besides the work; other threads of
    Python run meanwhile.
    """

    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.plain = silent(function)
        self.codes: dict[bytes, Code] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        result = calling.call(self.codes, arguments)
        if result is not NotImplemented:
            return result
        arguments = plain_value(arguments)
        if not self._find(arguments):
            return self.plain(*arguments)
        return calling.call(self.codes, arguments)

    def _find(self, arguments: tuple[Any, ...]) -> bool:
        """Look for machine code for these arguments; return whether there is any."""
        name = kernel_name(self.__wrapped__, arguments)
        flat = calling.flatten(arguments)
        if flat is not None and flat[0] not in self.codes:
            self._check_writeable(arguments)
            loaded = machine_code(name, self.__wrapped__, arguments)
            if loaded is None:
                return False
            own_name, alive = self.__wrapped__.__qualname__, kinds_within(arguments)
            code = Code(loaded.address, *result_maker(loaded.result), own_name, alive)
            self.codes[flat[0]] = code
        return flat is not None

    def _check_writeable(self, arguments: tuple[Any, ...]) -> None:
        """Raise for a read-only array that the kernel writes to; a key says whether arrays are."""
        kinds = self.__wrapped__.__annotations__
        for name, argument in zip(kinds, arguments, strict=False):
            if _is_changed(kinds[name]) and not writeable(argument):
                msg = (
                    f"{self.__wrapped__.__qualname__} writes to its argument {name}, and the array "
                    "is read-only: give a copy."
                )
                raise ValueError(msg)

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__  # found again by its name, as a function is


class BoundCall:
    """Calls of a kernel with the same arguments, but for one whole number, ``varying``, or none.

    The C module flattens them once, so a call takes a fifth of a microsecond besides the work.
    Other threads wait: the arrays may be replaced between two calls, and never during one.
    """

    def __init__(
        self, kernel: Callable[..., Any], *arguments: Any, varying: str | None = None
    ) -> None:
        names = list(signature(kernel).parameters)
        self._place = None if varying is None else names.index(varying)
        self._kernel, self._arguments = kernel, arguments
        self.bound: Any = None  # what the C module runs, once it has been called

    def __call__(self, value: int = 0) -> Any:
        """Run the kernel with this number."""
        if self.bound is not None:
            return calling.machine.run(self.bound, value)
        place, arguments = self._place, self._arguments
        if place is not None:
            arguments = (*arguments[:place], value, *arguments[place + 1 :])
        result = self._kernel(*arguments)  # compiles if need be
        if calling.machine and isinstance(self._kernel, CompiledFunction):
            self.bound = calling.machine.bind(self._kernel.codes, arguments, place)
        return result


def silent(function: Function) -> Function:
    """Return a function that says nothing of overflows, as compiled code."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")(function)


def _is_changed(annotation: Any) -> bool:
    return CHANGED in getattr(annotation, "__metadata__", ()) or any(
        map(_is_changed, get_args(annotation))
    )
