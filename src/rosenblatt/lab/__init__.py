"""A page to play with the perceptron: served, in a notebook, or recorded in one file.

Python computes every number with the visits of ``rosenblatt.trace``; the page only draws. Names are
resolved on first use: the widget needs anywidget, the page does not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.lab.document import Document
    from rosenblatt.lab.export import write_page
    from rosenblatt.lab.toy_sets import toy_set
    from rosenblatt.lab.widget import Lab

__all__ = ["Document", "Lab", "toy_set", "write_page"]

_HOMES = {
    "Document": "rosenblatt.lab.document",
    "Lab": "rosenblatt.lab.widget",
    "toy_set": "rosenblatt.lab.toy_sets",
    "write_page": "rosenblatt.lab.export",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'rosenblatt.lab' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_HOMES[name]), name)
