"""A service of models that learn while they answer, and forget when asked: HTTP over a journal."""

from typing import TYPE_CHECKING

from rosenblatt.lazy import lazy_names

if TYPE_CHECKING:
    from rosenblatt.service.client import Client, ServiceError
    from rosenblatt.service.server import create_app

__all__ = ["Client", "ServiceError", "create_app"]

__getattr__ = lazy_names(
    __name__,
    {
        "Client": "rosenblatt.service.client",
        "ServiceError": "rosenblatt.service.client",
        "create_app": "rosenblatt.service.server",
    },
)
