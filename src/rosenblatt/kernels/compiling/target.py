"""A target of numba's that stops at LLVM code: what is called is linked, and nothing is optimised.

As a target for the process, numba optimises a kernel and every function that it calls, each by
itself, and makes machine code of each. All of that would be thrown away: a kernel with all that it
calls is optimised once, for the processor that it is meant for, and made an object file. To leave
it out takes half of the time. Other code in the process that uses numba does not meet this target.
"""

import operator
from functools import cached_property
from typing import Any

from numba import jit, types
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUTarget, cpu_target
from numba.core.runtime import rtsys
from numba.core.runtime.context import NRTContext
from numba.core.target_extension import CPU, dispatcher_registry, jit_registry, target_registry

NAME = "rosenblatt"
INDEXING = (operator.getitem, operator.setitem)


class Kernels(CPU):
    """The target: all that numba knows of processors holds for it, too."""


class LinkedCode(AOTCodeLibrary):
    """LLVM code of a function and of all that it calls."""

    def _optimize_final_module(self) -> None:
        """Do nothing: the object file is made elsewhere."""


class Linker(AOTCPUCodegen):
    """What makes LLVM code of a function."""

    _library_class = LinkedCode


class NoReferences(NRTContext):
    """Count no references: kernels make no arrays, and the caller keeps its arguments alive."""

    def incref(self, *_where_and_what: Any) -> None:
        """Emit nothing."""

    decref = incref


class KernelContext(CPUContext):
    """What numba knows of the target."""

    def init(self) -> None:
        """Set up; what counts references is made by numba's own target, which can run it."""
        rtsys.initialize(cpu_target.target_context)
        super().init()
        self._internal_codegen = Linker(NAME)

    @cached_property
    def nrt(self) -> NoReferences:
        """Return what emits the counting of references."""
        return NoReferences(self, self.enable_nrt)

    def get_function(self, function: Any, signature: Any, *first: Any, **call: Any) -> Any:
        """Return what emits a function; it takes the indices of arrays as they are.

        numba tests each for a sign, to count a negative one from the end: 12 instructions for a
        value of a sparse row where 4 do. No kernel has a negative index.
        """
        key = function.get_impl_key(signature) if isinstance(function, types.Callable) else function
        if key not in INDEXING or not isinstance(signature.args[0], types.Array):
            return super().get_function(function, signature, *first, **call)
        array, index, *value = signature.args
        unsigned = _unsigned(index)
        signature = signature.replace(args=(array, unsigned, *value))
        emit = super().get_function(key, signature, *first, **call)

        def emit_unsigned(builder: Any, arguments: Any, *place: Any, **loc: Any) -> Any:
            place_ = self.cast(builder, arguments[1], index, unsigned)
            return emit(builder, (arguments[0], place_, *arguments[2:]), *place, **loc)

        return emit_unsigned

    def get_executable(self, _library: Any, _description: Any, _environment: Any) -> object:
        """Return what numba will know the function by, though Python cannot call it."""
        return object()


def _unsigned(index: Any) -> Any:
    """Return the type of an index, or of several, without a sign."""
    if isinstance(index, types.BaseTuple):
        return types.Tuple([_unsigned(one) for one in index])
    return types.uintp if isinstance(index, types.Integer) else index


class KernelTarget(CPUTarget):
    """The contexts of the target."""

    @cached_property
    def _toplevel_target_context(self) -> KernelContext:
        return KernelContext(self.typing_context, NAME)


TARGET = KernelTarget(NAME)


class KernelFunction(Dispatcher):
    """A function that kernels call, for all types of its arguments."""

    targetdescr = TARGET

    def add_overload(self, compiled: Any) -> None:
        """Keep the code for some types; Python does not call it."""
        self.overloads[tuple(compiled.signature.args)] = compiled


def kernel_jit(*function: Any, **options: Any) -> Any:
    """Return a function of Python as one that kernels call; or what does that, by the options."""
    return jit(*function, _target=NAME, **options)


target_registry[NAME] = Kernels
dispatcher_registry[Kernels] = KernelFunction
jit_registry[Kernels] = kernel_jit
