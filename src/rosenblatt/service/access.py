"""Who may do what: tokens and their scopes, the host a request names, and how often it may ask."""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from time import monotonic
from typing import NamedTuple

from rosenblatt.service.journal import TokenRecord
from rosenblatt.service.limits import RequestError

PORT_OF_HOST = re.compile(r":[0-9]{0,5}\Z")
SCOPES = ("predict", "teach", "inspect", "admin")
ADMIN = "admin"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
OPERATOR = "operator"  # name of the token that file or environment gave


class Caller(NamedTuple):
    """Who sent a request."""

    name: str | None  # of the token; None where no tokens are needed
    scopes: tuple[str, ...]
    models: tuple[str, ...] | None  # None: all

    def check_all_models(self) -> None:
        """Raise for a token that is for some models only."""
        if self.models is not None:
            msg = f"Token {self.name!r} is for some models only; this needs one for all."
            raise RequestError(403, msg)


ANYBODY = Caller(None, SCOPES, None)


class Access:
    """Check the host, token and rate of each request.

    ``tokens`` returns the known tokens by digest, ``operator`` is the digest of one from file or
    environment, ``hosts`` are the names allowed in ``Host``, without the port, and ``rate`` is the
    number of requests a second of each caller. Without tokens at the start everything is allowed,
    until there is one: no later removal opens the service again.
    """

    def __init__(
        self,
        tokens: Callable[[], Mapping[bytes, TokenRecord]],
        operator: bytes | None = None,
        hosts: Iterable[str] = LOOPBACK_NAMES,
        rate: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._tokens, self.operator = tokens, operator
        self._open = operator is None and not tokens()
        self._hosts = frozenset(host.lower() for host in hosts)
        self._rate, self._clock = rate, clock
        self._buckets: dict[str, tuple[float, float]] = {}  # requests that are left, and when

    def check_host(self, host: bytes, origin: bytes | None) -> None:
        """Raise for a request to another host name, or from the page of another host."""
        name = PORT_OF_HOST.sub("", host.decode("latin-1").lower())
        if name not in self._hosts:
            msg = f"Unknown host name {name[:80]!r}; the service must be started with it."
            raise RequestError(421, msg)
        if origin is not None and origin.partition(b"://")[2].lower() != host.lower():
            raise RequestError(403, "Requests from pages of other hosts are refused.")

    def caller(self, authorization: str | None) -> Caller:
        """Return who sent a request with this header."""
        self._open = self._open and not self._tokens()
        if self._open:
            return ANYBODY
        kind, _, token = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not token:
            msg = "A token is needed: send the header 'Authorization: Bearer TOKEN'."
            raise RequestError(401, msg)
        digest = digest_of(token)
        if self.operator is not None and secrets.compare_digest(digest, self.operator):
            return Caller(OPERATOR, SCOPES, None)
        found = None
        for known, record in self._tokens().items():  # all of them, each in constant time
            if secrets.compare_digest(digest, known):
                found = record
        if found is None:
            raise RequestError(401, "Unknown token.")
        return Caller(found.name, found.scopes, found.models)

    def check(self, caller: Caller, scope: str, model: str | None) -> None:
        """Raise unless the caller has the scope, which admin includes, and is below the rate."""
        foreign = caller.models is not None and model is not None and model not in caller.models
        if foreign or not {scope, ADMIN}.intersection(caller.scopes):
            of = "" if model is None else f" of {model!r}"
            raise RequestError(403, f"Token {caller.name!r} lacks the scope {scope!r}{of}.")
        if self._rate is None:
            return
        rate, now, name = self._rate, self._clock(), caller.name or ""
        most = max(1.0, rate)
        tokens, then = self._buckets.get(name, (most, now))
        tokens = min(most, tokens + (now - then) * rate)
        self._buckets[name] = tokens - (tokens >= 1.0), now
        if tokens < 1.0:
            msg = f"A token may send {rate:g} requests a second; try again later."
            raise RequestError(429, msg, retry_after=1)


def digest_of(token: str) -> bytes:
    """Return the digest to store for a token; its 256 bits need no slow hash."""
    return hashlib.sha256(token.strip().encode()).digest()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
