"""Names of a package that are imported when somebody uses them, not before."""

import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

# Imports of modules that need each other, begun in several threads, fail or wait for ever.
_one_at_a_time = threading.RLock()
_finders: dict[str, Callable[[str], Any]] = {}  # by package


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, given the module that each name lives in.

    >>> find = lazy_names("rosenblatt.rules", {"sqrt": "math"})
    >>> find("sqrt")(4.0)
    2.0
    >>> find("cube")
    Traceback (most recent call last):
    AttributeError: module 'rosenblatt.rules' has no attribute 'cube'
    """

    def find(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        with _one_at_a_time:
            value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # found directly from now on
        return value

    _finders[package] = find
    return find


def public_name(name: str) -> Any:
    """Return what the package offers under a name, for floors below the one that makes it."""
    return _finders["rosenblatt"](name)
