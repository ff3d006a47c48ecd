"""A page that explains the perceptron: one file, or a widget of a notebook.

The page computes everything by itself, with the numbers of ``rosenblatt.trace``. Names are resolved
on first use: the widget needs anywidget, the page does not.
"""

from typing import TYPE_CHECKING

from rosenblatt.lazy import lazy_names

if TYPE_CHECKING:
    from rosenblatt.lab.document import Document
    from rosenblatt.lab.page import page_text, write_page
    from rosenblatt.lab.toy_sets import toy_set
    from rosenblatt.lab.widget import Lab

__all__ = ["Document", "Lab", "page_text", "toy_set", "write_page"]

__getattr__ = lazy_names(
    __name__,
    {
        "Document": "rosenblatt.lab.document",
        "Lab": "rosenblatt.lab.widget",
        "page_text": "rosenblatt.lab.page",
        "toy_set": "rosenblatt.lab.toy_sets",
        "write_page": "rosenblatt.lab.page",
    },
)
