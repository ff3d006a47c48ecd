"""What the compiler will want to know of functions, noted without importing it."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_args

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = TypeVar("Kind")

CHANGED = "changed"
Changed = Annotated[Kind, CHANGED]  # an argument of a kernel that it writes to

INLINED: set[Callable[..., Any]] = set()
INSTRUCTIONS: dict[Callable[..., Any], str] = {}  # the module that emits each
METHODS: list[tuple[str, Callable[..., Any]]] = []  # of named tuples: name, and how it is compiled


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
