"""A kernel as Python calls it: the types of the arguments find the machine code, words reach it."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, NamedTuple

from rosenblatt.kernels.compiling import calling
from rosenblatt.kernels.compiling.forms import (
    kinds_within,
    plain_value,
    result_of,
    signature_of,
    writeable,
)
from rosenblatt.kernels.compiling.frames import CallFrame, new_frame
from rosenblatt.kernels.compiling.machine import machine_code
from rosenblatt.kernels.compiling.registry import changed_arguments, silent

DONE = 1  # what machine code returns; numba makes it 0 after an exception


class Code(NamedTuple):
    """Machine code for one key."""

    address: int
    unpack: Callable[[Any], tuple[Any, ...]]
    make: Callable[[tuple[Any, ...]], Any]
    kinds: tuple[object, ...]  # kept alive: a key has their addresses


class CompiledFunction:
    """A kernel; calls with arguments of the same types use the same machine code.

    Arguments are positional. A call takes about a microsecond besides the work; other threads of
    Python run meanwhile.
    """

    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.plain = silent(function)
        self._codes: dict[bytes, Code] = {}
        self._frames: list[CallFrame] = []  # a frame is taken for a call and given back

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = new_frame()
        address, room = frame
        code = self._codes.get(calling.flatten(address, arguments))
        if code is None:
            arguments = plain_value(arguments)
            code = self._find(calling.flatten(address, arguments), arguments)
            if code is None:
                return self.plain(*arguments)
        if calling.invoke(code.address, address) != DONE:
            msg = f"{self.__wrapped__.__qualname__} raised an exception, which no kernel may."
            raise RuntimeError(msg)
        result = code.make(code.unpack(room))
        self._frames.append(frame)
        return result

    def _find(self, key: bytes, arguments: tuple[Any, ...]) -> Code | None:
        """Return machine code for these arguments, or None where there can't be any."""
        if key in self._codes:
            return self._codes[key]
        self._check_writeable(arguments)
        found = machine_code(self.__wrapped__, signature_of(arguments))
        if found is None:
            return None
        result = result_of(found.result)
        kinds = kinds_within(arguments)
        code = Code(found.address, result.words.unpack_from, result.make, kinds)
        self._codes[key] = code
        return code

    def _check_writeable(self, arguments: tuple[Any, ...]) -> None:
        """Raise for a read-only array that the kernel writes to; a key says whether arrays are."""
        for k in changed_arguments(self.__wrapped__):
            if k < len(arguments) and not writeable(arguments[k]):
                name = list(self.__wrapped__.__annotations__)[k]
                msg = (
                    f"{self.__wrapped__.__qualname__} writes to its argument {name}, and the array "
                    "is read-only: give a copy."
                )
                raise ValueError(msg)

    def code_for(self, *arguments: Any) -> Code | None:
        """Return the machine code that a call with these arguments has used."""
        frame = new_frame()
        return self._codes.get(calling.flatten(frame.address, arguments))

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__  # found again by its name, as a function is


class BoundCall:
    """Calls of a kernel with the same arguments but for the first, a whole number.

    They are flattened once, so a call takes a fifth of a microsecond besides the work. The kernel
    returns a whole number, which takes the place of the first argument. Other threads wait: the
    arrays may be replaced between two calls, and never during one.
    """

    def __init__(self, kernel: Callable[..., Any], others: tuple[Any, ...]) -> None:
        self._kernel, self._others = kernel, others
        self._words: Any = None  # of a frame that has been filled
        self._place = (0, 0)  # of the code and of the frame

    def __call__(self, first: int) -> int:
        """Run the kernel."""
        words = self._words
        if words is None:
            return self._first_call(first)
        words[0] = first
        if calling.run(*self._place) != DONE:
            msg = f"{self._kernel.__qualname__} raised an exception, which no kernel may."
            raise RuntimeError(msg)
        result: int = words[0]
        return result

    def _first_call(self, first: int) -> int:
        """Call as usual, which compiles if need be, and fill a frame for later calls."""
        arguments = (first, *self._others)
        result: int = self._kernel(*arguments)
        code = (
            self._kernel.code_for(*arguments)
            if isinstance(self._kernel, CompiledFunction)
            else None
        )
        if code is not None:
            frame = new_frame()
            calling.flatten(frame.address, arguments)
            self._words = memoryview(frame.room).cast("B").cast("q")
            self._place = code.address, frame.address
        return result
