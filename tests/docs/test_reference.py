"""The reference: each parameter of a public name with its type, in the order of the signature."""

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.docs.run_as_reader import PARTS

ENTRY = re.compile(r"(?m)^(\S[^\n:]*?)(?: : (.*))?$")


def callables() -> Iterator[tuple[str, Any]]:
    """Yield the public classes and functions, and the methods of these classes."""
    for part in PARTS:
        module = importlib.import_module(f"rosenblatt{part}")
        for name in module.__all__:
            thing = getattr(module, name)
            if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
                continue
            yield name, thing
            if inspect.isclass(thing):
                for own in vars(thing):
                    if not own.startswith("_") and callable(getattr(thing, own)):
                        yield f"{name}.{own}", getattr(thing, own)


def described(thing: Any) -> list[tuple[str, str]]:
    """Return the parameters in a docstring, each with its type."""
    text = inspect.getdoc(thing) or ""
    section = re.search(r"(?ms)^Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", text)
    entries = ENTRY.findall(section[1]) if section else []
    return [(name, kind) for names, kind in entries for name in names.replace("*", "").split(", ")]


@pytest.mark.parametrize(("name", "thing"), [pytest.param(*one, id=one[0]) for one in callables()])
def test_parameters(name: str, thing: Any) -> None:
    """Where a docstring describes parameters, it has all, in order, and says what they are."""
    found = described(thing)
    if found:
        takes = [one for one in inspect.signature(thing).parameters if one != "self"]
        assert [one for one, _ in found] == takes
        untyped = [one for one, kind in found if not kind or kind.startswith("default ")]
        assert [one for one in untyped if one != "parameters"] == [], name
