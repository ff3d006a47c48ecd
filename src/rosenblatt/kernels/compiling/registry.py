"""What the compiler will want to know of functions, noted without importing it."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

INLINED: set[Callable[..., Any]] = set()
INSTRUCTIONS: dict[Callable[..., Any], str] = {}  # the module that emits each
METHODS: list[tuple[str, Callable[..., Any]]] = []  # of named tuples: name, and how it is compiled


def silent(function: Function) -> Function:
    """Return a function that says nothing of overflows, as compiled code."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")(function)
