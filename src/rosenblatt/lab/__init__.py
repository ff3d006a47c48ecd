"""A page to play with the perceptron: served, in a notebook, or recorded in one file.

Python computes every number with the visits of ``rosenblatt.trace``; the page only draws. Names are
resolved on first use: the widget needs anywidget, the page does not.
"""

from typing import TYPE_CHECKING

from rosenblatt.lazy import lazy_names

if TYPE_CHECKING:
    from rosenblatt.lab.document import Document
    from rosenblatt.lab.export import write_page
    from rosenblatt.lab.toy_sets import toy_set
    from rosenblatt.lab.widget import Lab

__all__ = ["Document", "Lab", "toy_set", "write_page"]

__getattr__ = lazy_names(
    __name__,
    {
        "Document": "rosenblatt.lab.document",
        "Lab": "rosenblatt.lab.widget",
        "toy_set": "rosenblatt.lab.toy_sets",
        "write_page": "rosenblatt.lab.export",
    },
)
