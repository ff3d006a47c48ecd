"""What a service takes at most, and the error that says so."""

from dataclasses import dataclass
from http import HTTPStatus
from importlib.util import find_spec

from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.lazy import installing

NEEDED = ("starlette", "msgspec", "uvicorn", "httptools")
PORT = 8765
TOKEN_VARIABLE = "ROSENBLATT_TOKEN"  # noqa: S105  # the name of a variable
Headers = tuple[tuple[bytes, bytes], ...]  # of an answer


def require_packages() -> None:
    """Raise an error that names the missing packages."""
    missing = [name for name in NEEDED if not find_spec(name)]
    if missing:
        msg = f"The service needs {', '.join(missing)}: {installing('serve')}"
        raise InputError(msg)


class RequestError(RosenblattError):
    """A refused request: a status of HTTP and a sentence."""

    def __init__(self, status: int, sentence: str, **headers: object) -> None:
        super().__init__(sentence)
        self.status, self.retry_after = HTTPStatus(status), headers.get("retry_after")
        if status == HTTPStatus.UNAUTHORIZED:
            headers["www_authenticate"] = "Bearer"
        pairs = ((name.replace("_", "-"), str(value)) for name, value in headers.items())
        self.headers: Headers = tuple((name.encode(), value.encode()) for name, value in pairs)


def no_model(name: str) -> RequestError:
    """Return the error for an unknown model."""
    return RequestError(404, f"There is no model {name!r}.")


@dataclass(frozen=True)
class Limits:
    """What one service takes at most. Each limit has its own error.

    >>> Limits(batch=10).batch
    10
    """

    body: int = 8 << 20  # bytes of a request
    model_file: int = 256 << 20  # bytes of a request that creates a model from a file
    features: int = 20_000  # of one example
    name_length: int = 1_000  # characters of the name of a feature
    text_length: int = 100_000  # characters of a word or text as the value of a feature
    label_length: int = 200  # characters
    id_length: int = 200  # characters
    magnitude: float = 1e30  # of a number
    classes: int = 1_000  # of a model
    model_features: int = 1 << 20  # different ones of a model
    hash_bits: int = 22
    models: int = 1_000
    batch: int = 10_000  # examples or rows of a request
    queue: int = 20_000  # examples that wait to be learned
    group: int = 1_000  # examples that are committed together
    remembered: int = 100_000  # predictions that feedback can name
    remembered_features: int = 5_000_000  # of all of them together, for each model
    rate: float | None = None  # requests a second of each token
    head: int = 64 << 10  # bytes of the head of a request
    head_seconds: float = 10.0  # until a head must have come
    body_seconds: float = 20.0  # until a body must have come
    idle_seconds: float = 60.0  # that a connection is kept between two requests
    connections: int = 1_000  # that are open at a time, as far as there are descriptors
    journal_bytes: int | None = None  # size of the journal
    free_bytes: int = 16 << 20  # of the disk: with less, a service that ran out of room stays still
    snapshot_every: int = 20_000  # events of a model
