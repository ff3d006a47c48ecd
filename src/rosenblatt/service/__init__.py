"""A service of models that learn while they answer, and forget when asked: HTTP over a journal."""

from rosenblatt.lazy import lazy_names
from rosenblatt.service.limits import NEEDED

__getattr__, __dir__, __all__ = lazy_names(
    __name__, __file__, "serve", **dict(zip(NEEDED, NEEDED, strict=True))
)
