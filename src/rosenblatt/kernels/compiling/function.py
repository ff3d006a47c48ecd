"""A kernel as Python calls it: the types of the arguments find the machine code, words reach it.

And what the compiler will want to know of functions, noted without importing it.
"""

from array import array
from collections.abc import Callable
from functools import update_wrapper
from struct import Struct
from typing import Annotated, Any, NamedTuple, TypeVar, get_args

import numpy as np

from rosenblatt.kernels.compiling import calling
from rosenblatt.kernels.compiling.forms import (
    BOOL,
    FLOAT,
    INT,
    MOST_WORDS,
    RESULT_WORDS,
    UNSIGNED,
    CallFrame,
    Form,
    NumberForm,
    TupleForm,
    kinds_within,
    new_frame,
    plain_value,
    signature_of,
    writeable,
)
from rosenblatt.kernels.compiling.machine import machine_code

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = TypeVar("Kind")

CHANGED = "changed"
Changed = Annotated[Kind, CHANGED]  # an argument of a kernel that it writes to

INLINED: set[Callable[..., Any]] = set()
INSTRUCTIONS: dict[Callable[..., Any], str] = {}  # the module that emits each
METHODS: list[tuple[str, Callable[..., Any]]] = []  # of named tuples: name, and how it is compiled


DONE = 1  # what machine code returns; numba makes it 0 after an exception


class Code(NamedTuple):
    """Machine code for one key."""

    address: int
    unpack: Callable[[Any], tuple[Any, ...]]
    make: Callable[[tuple[Any, ...]], Any]
    kinds: tuple[object, ...]  # kept alive: a key has their addresses


class FilledFrame(NamedTuple):
    """Machine code, a frame that is filled but for one word, and what the result overwrites."""

    code: int
    address: int
    offset: int  # of the word, in words
    head: Any  # array of the first words


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

    def bound(
        self, arguments: tuple[Any, ...], place: int | None
    ) -> tuple[Callable[[int], Any], FilledFrame] | None:
        """Return a function of the argument at this place, or of none, the others being these.

        None where no call with such arguments has been made.
        """
        frame = new_frame()
        code = self._codes.get(calling.flatten(frame.address, arguments))
        if code is None:
            return None
        before: list[bytes] = []
        calling.collect(arguments[:place], before, [])
        offset = MOST_WORDS - 1 if place is None else len(before)
        run, room, address = calling.run, frame.room, frame.address
        words = memoryview(room).cast("B").cast("q")
        head = array("q", words[:RESULT_WORDS])

        def call(value: int) -> Any:
            words[offset] = value
            if run(code.address, address) != DONE:
                msg = f"{self.__wrapped__.__qualname__} raised an exception, which no kernel may."
                raise RuntimeError(msg)
            result = code.make(code.unpack(room))
            words[:RESULT_WORDS] = head
            return result

        return call, FilledFrame(code.address, address, offset, head)

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__  # found again by its name, as a function is


class BoundCall:
    """Calls of a kernel with the same arguments, but for one whole number or none.

    They are flattened once, so a call takes half a microsecond besides the work. Other threads
    wait: the arrays may be replaced between two calls, and never during one.
    """

    def __init__(
        self, kernel: Callable[..., Any], arguments: tuple[Any, ...], place: int | None
    ) -> None:
        self._kernel, self._arguments, self._place = kernel, arguments, place
        self._run: Callable[[int], Any] | None = None
        self.frame: FilledFrame | None = None  # once it has been called

    def __call__(self, value: int = 0) -> Any:
        """Run the kernel with this number."""
        if self._run is not None:
            return self._run(value)
        place, arguments = self._place, self._arguments
        if place is not None:
            arguments = (*arguments[:place], value, *arguments[place + 1 :])
        result = self._kernel(*arguments)  # compiles if need be
        if isinstance(self._kernel, CompiledFunction):
            self._arguments = arguments  # they have to live as long as their addresses are in use
            found = self._kernel.bound(arguments, place)
            self._run, self.frame = (None, None) if found is None else found
        return result


class Result(NamedTuple):
    """How what a kernel returns is read from the words that it leaves."""

    words: Struct
    make: Callable[[tuple[Any, ...]], Any]


def result_of(form: Form) -> Result:
    """Return how a value of this form is read."""
    codes = {INT: "q", FLOAT: "d", BOOL: "?7x", UNSIGNED: "Q"}
    if form is None:
        return Result(Struct(""), _nothing)
    if isinstance(form, NumberForm):
        return Result(Struct(codes[form]), _first)
    if isinstance(form, TupleForm) and all(isinstance(f, NumberForm) for f in form.fields):
        words = Struct("".join(codes[f] for f in form.fields if isinstance(f, NumberForm)))
        return Result(words, getattr(form.kind, "_make", tuple))
    msg = f"A kernel returns numbers, not {form}."
    raise TypeError(msg)


def _nothing(_: tuple[Any, ...]) -> None:
    return None


def _first(words: tuple[Any, ...]) -> Any:
    return words[0]


def silent(function: Function) -> Function:
    """Return a function that says nothing of overflows, as compiled code."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")(function)


def changed_arguments(function: Callable[..., Any]) -> list[int]:
    """Return the places of the arguments that a kernel writes to."""
    names = list(function.__annotations__)
    return [k for k, name in enumerate(names) if _is_changed(function.__annotations__[name])]


def _is_changed(annotation: Any) -> bool:
    return CHANGED in getattr(annotation, "__metadata__", ()) or any(
        map(_is_changed, get_args(annotation))
    )
