"""A model on one page: what it learned from, how good it is, what decides, and what is proved."""

from rosenblatt.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
