"""A kernel as Python calls it: the types of the arguments find the machine code, words reach it."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, NamedTuple

from rosenblatt.kernels.compiling import calling
from rosenblatt.kernels.compiling.forms import kinds_within, plain_value, result_of, signature_of
from rosenblatt.kernels.compiling.frames import CallFrame, new_frame
from rosenblatt.kernels.compiling.machine import machine_code
from rosenblatt.kernels.compiling.registry import silent

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
        found = machine_code(self.__wrapped__, signature_of(arguments))
        if found is None:
            return None
        result = result_of(found.result)
        kinds = kinds_within(arguments)
        code = Code(found.address, result.words.unpack_from, result.make, kinds)
        self._codes[key] = code
        return code

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__  # found again by its name, as a function is
