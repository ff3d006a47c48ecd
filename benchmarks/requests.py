"""Clients of a service: connections that ask one question after the other, and how long it took."""

import asyncio
import json
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np


class Load(NamedTuple):
    """What clients saw."""

    rate: float  # answers a second
    p50: float  # seconds
    p99: float
    failures: int  # answers that were not 200
    processor: float = 0.0  # seconds of the server's for each answer


class Connection(asyncio.Protocol):
    """A connection that sends the next request as soon as an answer has come whole."""

    def __init__(
        self, requests: Callable[[], bytes | None], done: Callable[[], None], *, lines: bool = False
    ) -> None:
        self._requests, self._done, self._lines = requests, done, lines
        self._received = b""
        self.seconds: list[float] = []
        self.failures = 0

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        self._transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._next()

    def _next(self) -> None:
        request = self._requests()
        if request is None:
            self._transport.close()
            self._done()
            return
        self._began = perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Take a part of an answer."""
        self._received += data
        if self._lines:
            if self._received.endswith(b"\n"):
                self._answered(failed=False)
            return
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(body) < length:
            return
        self._answered(failed=head[9:11] != b"20")

    def _answered(self, *, failed: bool) -> None:
        self.seconds.append(perf_counter() - self._began)
        self.failures += failed
        self._received = b""
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count what was lost."""
        if exc is not None:
            self.failures += 1
            self._done()


def post(path: str, body: Any) -> bytes:
    """Return a request as it goes over the wire."""
    text = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


def processor_seconds(process: int) -> float:
    """Return the processor time that a process and its children have taken so far."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if process in (int(path.parent.name), int(fields[1])):
                total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def ask_all(
    url: str, requests: Sequence[bytes], clients: int, process: int = 0, *, lines: bool = False
) -> Load:
    """Send all requests by so many connections at once; ``process`` is the server's.

    With ``lines`` requests and answers are lines of text, not HTTP.
    """
    import uvloop

    address = urlsplit(url)
    host, port = address.hostname or "127.0.0.1", address.port or 80

    async def run() -> tuple[float, list[Connection]]:
        loop = asyncio.get_running_loop()
        rest = iter(requests)
        over = [loop.create_future() for _ in range(clients)]
        began = perf_counter()
        connections = [
            (
                await loop.create_connection(
                    lambda one=one: Connection(  # type: ignore[misc]
                        lambda: next(rest, None),
                        lambda: one.done() or one.set_result(None),
                        lines=lines,
                    ),
                    host,
                    port,
                )
            )[1]
            for one in over
        ]
        await asyncio.gather(*over)
        return perf_counter() - began, connections

    before = processor_seconds(process) if process else 0.0
    seconds, connections = uvloop.run(run())
    taken = processor_seconds(process) - before if process else 0.0
    times = np.array([second for one in connections for second in one.seconds])
    p50, p99 = np.quantile(times, [0.5, 0.99])
    failures = sum(one.failures for one in connections)
    return Load(len(times) / seconds, float(p50), float(p99), failures, taken / max(1, len(times)))
