"""Which format a model is stored in, and who wrote it."""

from importlib import import_module

from rosenblatt.models.store.faults import Damaged, Newer
from rosenblatt.models.store.model import Json

FORMAT_VERSION = 1


def versions() -> dict[str, Json]:
    """Return what stands first in every stored model."""
    package = import_module("rosenblatt")  # it stands above this layer, and is loaded already
    return {
        "format": "rosenblatt",
        "format_version": FORMAT_VERSION,
        "library_version": package.__version__,
    }


def check_version(told: object) -> None:
    """Raise unless this version reads that format."""
    text = str(told)
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
        msg = f"its format_version must be a number; got {told!r:.60}"
        raise Damaged(msg)
    if int(text) > FORMAT_VERSION:
        msg = f"format {int(text)}; this one reads {FORMAT_VERSION}"
        raise Newer(msg)
