"""JSON laid out for people: what fits on a line stands on one, and every record on its own."""

import json
import re
from collections.abc import Iterable

from rosenblatt.models.store.model import Json

WIDTH = 160  # one pass, and one weight with its name, should stand on a line
STEP = "  "
LONE = re.compile("[\ud800-\udfff]")  # half of a pair: no text, though Python's strings may hold it


def laid_out(value: Json) -> str:
    """Return JSON text that breaks where a line would be too long."""
    return LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", _broken(value, "")) + "\n"


def _broken(value: Json, indent: str) -> str:
    if not isinstance(value, (dict, list)):
        return _line(value)
    simple = not any(isinstance(item, (dict, list)) for item in _items(value))
    if len(value) < WIDTH and (simple or not _holds_records(value)):
        line = _line(value)
        if len(indent + line) <= WIDTH:
            return line
    inner = indent + STEP
    if isinstance(value, dict):
        items = [f"{_line(key)}: {_broken(item, inner)}" for key, item in value.items()]
        return _between("{", items, "}", indent)
    if simple:
        return _between("[", _filled(value, WIDTH - len(inner)), "]", indent)
    return _between("[", [_broken(item, inner) for item in value], "]", indent)


def _items(value: Json) -> Iterable[Json]:
    return value.values() if isinstance(value, dict) else value


def _holds_records(value: Json) -> bool:
    """Whether a list of objects stands anywhere in it."""
    if not isinstance(value, (dict, list)):
        return False
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return True
    return any(_holds_records(item) for item in _items(value))


def _between(opening: str, items: list[str], closing: str, indent: str) -> str:
    inner = f"\n{indent}{STEP}"
    return f"{opening}{inner}{f',{inner}'.join(items)}\n{indent}{closing}"


def _filled(values: list[Json], width: int) -> list[str]:
    """Return the values on as few lines as hold them."""
    lines: list[str] = []
    line: list[str] = []
    length = 0
    for text in map(_line, values):
        if line and length + len(text) + 2 > width:
            lines.append(", ".join(line))
            line, length = [], 0
        line.append(text)
        length += len(text) + 2
    return [*lines, ", ".join(line)]


_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
