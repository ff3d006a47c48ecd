"""A page that explains the perceptron: one file, or a widget, which needs anywidget."""

from rosenblatt.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
