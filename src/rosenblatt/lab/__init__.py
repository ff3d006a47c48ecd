"""A page that explains the perceptron: one file, or a widget of a notebook.

The page computes everything by itself, with the numbers of ``rosenblatt.trace``. Names are resolved
on first use: the widget needs anywidget, the page does not.
"""

from rosenblatt.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
