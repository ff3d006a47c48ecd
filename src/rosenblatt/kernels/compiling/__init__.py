"""How kernels are compiled, stored, loaded and called.

A kernel is a Python function. ``compiled`` makes it a function of machine code, one for each
combination of argument types, its *signature*. Machine code is looked for in the package, which
brings it along when it is built as a wheel, then in the user's cache; what is in neither is
compiled by numba and put into the cache. numba is imported for that alone. Without numba such a
kernel runs as plain Python, with a warning.

With ``ROSENBLATT_PLAIN=1`` nothing is compiled or loaded and every kernel runs as plain Python: the
same bits, a hundred times slower.

What a kernel may call: what Python and NumPy have and numba knows, functions that are ``inlined``,
other kernels, an ``instruction``, and ``compiled_methods`` of named tuples. All are
known by a global name or a name of the enclosing function; an attribute of a module is not looked
through. No kernel raises, makes an array or has a negative index, which would not be counted from
the end.

An argument that a kernel writes to is annotated ``Changed``: it must not be read-only, and a call
with one that is raises ValueError.
"""

import inspect
from typing import cast

from rosenblatt.kernels.compiling.cache import cache_folder
from rosenblatt.kernels.compiling.calling import PLAIN, calls
from rosenblatt.kernels.compiling.function import (
    INLINED,
    INSTRUCTIONS,
    METHODS,
    BoundCall,
    Changed,
    CompiledFunction,
    Function,
    silent,
)
from rosenblatt.kernels.compiling.machine import (
    compiler_problem,
    machine_code_source,
    processor,
)

__all__ = [
    "PLAIN",
    "BoundCall",
    "Changed",
    "available",
    "compiled",
    "compiled_methods",
    "inlined",
    "instruction",
    "machine_code_state",
]


def available() -> bool:
    """Return whether kernels run as machine code here, or could.

    Where they do not, what was written for machine code alone, as the scan of svmlight, is better
    left to its definition in plain Python.
    """
    return not PLAIN and machine_code_source() is not None


def machine_code_state() -> dict[str, str | None]:
    """Return what kernels run as here, for which processor, where compiled code is kept.

    And why nothing can be compiled, where something would have to be.
    """
    source = None if PLAIN else machine_code_source()
    problem = None if PLAIN or source == "package" else compiler_problem()
    runs = {"package": "machine code of the package", "compiler": "machine code of the cache"}
    if source == "compiler" and problem is not None:
        runs["compiler"] = "machine code of the cache where it has any, else plain Python"
    cache = cache_folder()
    return {
        "runs": runs.get(source or "", "plain Python"),
        "called_by": None if source is None else calls,
        "processor": None if source is None else processor(),
        "cache": None if cache is None else str(cache),
        "problem": problem,
    }


def compiled(function: Function) -> Function:
    """Return a kernel as a function of machine code, loaded or compiled at its first call."""
    return silent(function) if PLAIN else cast("Function", CompiledFunction(function))


def inlined(function: Function) -> Function:
    """Note that a small function is compiled into every kernel that calls it."""
    INLINED.add(function)
    return function


def instruction(function: Function) -> Function:
    """Note that kernels do what a function does by instructions that numba has no words for.

    The module of the same name in ``emission`` has the numba intrinsic, and is imported by the
    compiler alone. The decorated function is the definition, and what runs in plain Python.
    """
    INSTRUCTIONS.add(function)
    return function


def compiled_methods(kind: type) -> None:
    """Note that kernels may call the methods of a named tuple, and all others of their names.

    Inlining lets LLVM drop what a rule does not ask for: the perceptron ignores ‖x‖², and a CSR
    pass is a third faster for it.
    """
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        METHODS[name] = list(inspect.signature(method).parameters)
