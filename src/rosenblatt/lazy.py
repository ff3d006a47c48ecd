"""Names and modules that are imported when somebody uses them, not before.

The stub of a package, ``__init__.pyi``, lists its names once, for type checkers and this module.
"""

import ast
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

# Imports of modules that need each other, begun in several threads, fail or wait for ever.
_one_at_a_time = threading.RLock()
_finders: dict[str, Callable[[str], Any]] = {}  # by package


def installing(extra: str) -> str:
    """Return the command that installs an extra, from where the package was installed.

    A folder with the source, an archive, a wheel or a repository is named again; only what came
    from a package index is asked for by name.

    >>> "[plots]" in installing("plots")
    True
    """
    from importlib.metadata import PackageNotFoundError, distribution
    from json import loads

    try:
        told = distribution("rosenblatt").read_text("direct_url.json")
    except PackageNotFoundError:  # the source on the path
        return f'pip install ".[{extra}]"'
    if told is None:
        return f'pip install "rosenblatt[{extra}]"'
    origin = loads(told)
    url = origin["url"]
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]["vcs"]
        return f'pip install "rosenblatt[{extra}] @ {vcs}+{url}"'
    if not url.startswith("file:"):
        return f'pip install "rosenblatt[{extra}] @ {url}"'
    editable = "--editable " if origin.get("dir_info", {}).get("editable") else ""
    return f'pip install {editable}"{url2pathname(urlsplit(url).path)}[{extra}]"'


Lazy = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def lazy_names(package: str, file: str, extra: str = "", **needs: str) -> Lazy:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, whose file is given.

    ``needs`` are modules, with the names of what they belong to, that an ``extra`` installs.

    >>> from rosenblatt import tracing
    >>> find, _, names = lazy_names("rosenblatt.tracing", tracing.__file__)
    >>> names
    ['ProofStep', 'Step', 'Trace', 'trace']
    >>> find("cube")
    Traceback (most recent call last):
    AttributeError: module 'rosenblatt.tracing' has no attribute 'cube'
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    lines = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    homes = {alias.name: str(line.module) for line in lines for alias in line.names}

    def find(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        try:
            with _one_at_a_time:
                value = getattr(import_module(homes[name]), name)
        except ModuleNotFoundError as error:
            if error.name not in needs:
                raise
            msg = f"{name} needs {needs[error.name]}: {installing(extra)}"
            raise ModuleNotFoundError(msg, name=error.name) from None
        setattr(sys.modules[package], name, value)  # found directly from now on
        return value

    _finders[package] = find
    return find, lambda: sorted({*vars(sys.modules[package]), *homes}), sorted(homes)


class LazyModule(ModuleType):
    """A module that is imported when one of its names is first used."""

    def __getattr__(self, name: str) -> Any:
        with _one_at_a_time:
            value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # found directly from now on
        return value


def public_name(name: str) -> Any:
    """Return what the package offers under a name, for floors below the one that makes it."""
    return _finders["rosenblatt"](name)
