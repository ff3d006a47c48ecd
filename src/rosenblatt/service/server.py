"""The service on a socket: what it must have to start, and uvicorn around the application."""

import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rosenblatt.errors import InputError, Parameter
from rosenblatt.service.access import LOOPBACK_NAMES, Access, digest_of, is_loopback
from rosenblatt.service.app import Application, problem
from rosenblatt.service.limits import PORT, Limits, RequestError
from rosenblatt.service.operations import OPERATIONS, check_name
from rosenblatt.service.requests import ModelSpec
from rosenblatt.service.writer import Writer

SWITCH_SECONDS = 0.001  # that a reader waits for the writer's thread at most; Python's own is 0.005
RESERVED = 128  # descriptors for the journal: each reader has three, and there are up to 32
COLLECTED_AFTER = 20_000  # new objects; Python's own 700 are those of a few requests


class Connection(HttpToolsProtocol):
    """A connection that is closed if no request comes, or another has more need of it.

    It has limits for which uvicorn has no settings: the number of connections, time and size of a
    head. uvicorn by itself waits for ever for the first request, and for the rest of a head.
    """

    app: Any
    _since = 0.0  # when it was made, or the last answer went out
    _in_head = False
    _head_bytes = 0
    _timer: Any = None  # ends the connection, unless a head is complete before

    def connection_made(self, transport: Any) -> None:
        """Wait for a request; where there is no room, end the connection that waited longest."""
        super().connection_made(transport)
        self._since = monotonic()
        self._expect_head()
        most = self.app.limits.connections
        if len(self.connections) <= most:
            return
        others: Any = self.connections - {self}
        idle = [one for one in others if one.is_idle and not one.transport.is_closing()]
        if sum(not one.transport.is_closing() for one in others) < most:
            return
        if idle:
            min(idle, key=lambda one: one._since).transport.abort()  # noqa: SLF001
            return
        msg = f"The service has all {most:,} connections that it may have; try again soon."
        self._refuse(RequestError(503, msg, retry_after=1))

    @property
    def is_idle(self) -> bool:
        """Whether no answer is due."""
        cycle: Any = self.cycle  # None before the first request
        return cycle is None or cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Take what has come; a head that it begins must be complete in time."""
        super().data_received(data)
        if self.timeout_keep_alive_task is None and self.is_idle:
            self._expect_head()
            self._head_bytes += len(data)
            most = self.app.limits.head
            if self._in_head and self._head_bytes > most:
                msg = f"The head of a request may have {most:,} bytes at most."
                self._refuse(RequestError(431, msg))

    def on_message_begin(self) -> None:
        """Count the bytes of a head."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Wait no longer."""
        self._stop_timer()
        self._in_head = False
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Note when the connection became idle."""
        self._since = monotonic()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_timer()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.app.limits.head_seconds, self._late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        seconds = self.app.limits.head_seconds
        msg = f"The head of a request did not come within {seconds:g} seconds."
        self._refuse(RequestError(408, msg))

    def _refuse(self, error: RequestError) -> None:
        """Say why the connection ends, and end it."""
        if self.transport.is_closing():
            return
        reply = problem(error)
        lines = [f"HTTP/1.1 {error.status:d} {error.status.phrase}\r\n".encode()]
        for name, value in (*self.server_state.default_headers, *reply.raw_headers):
            lines += name, b": ", value, b"\r\n"
        self.transport.write(b"".join((*lines, b"connection: close\r\n\r\n", reply.body)))
        self.transport.close()


def create_app(
    folder: str | os.PathLike[str],
    *,
    token: str | None = None,
    names: Sequence[str] = LOOPBACK_NAMES,
    limits: Limits | None = None,
) -> Application:
    """Return the service of a folder as an ASGI application, to be closed by ``close``.

    Parameters are those of ``ModelServer``; ``names`` are all names that requests may use.
    """
    writer = Writer(folder, limits)
    operator = None if token is None else digest_of(token)
    access = Access(lambda: writer.tokens, operator, names, writer.limits.rate)
    return Application(writer, access, OPERATIONS)


class ModelServer:
    """A service of the models of a folder, bound to an address; ``run`` answers until a signal.

    The folder is made if it does not exist. The port is 8765, or any free one if that is taken.
    ``token`` is the operator's, which may do everything, and ``names`` are those of this host that
    requests may use besides the address.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
        names: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> None:
        shown = f"[{host}]" if ":" in host else host
        own = LOOPBACK_NAMES if is_loopback(host) else (shown,)
        limits = _within_descriptors(limits or Limits())
        self.app = create_app(folder, token=token, names=(*own, *names), limits=limits)
        self.writer = self.app.writer
        try:
            if not is_loopback(host) and token is None:
                _check_tokens(self.writer, host)
            self._socket = _bound(host, port)
        except BaseException:
            self.app.close()
            raise
        self.url = f"http://{shown}:{self._socket.getsockname()[1]}/"

    def add_file(self, path: str | os.PathLike[str]) -> str:
        """Serve a model file under its name without the ending, and return that."""
        try:
            file = Path(path).read_bytes()
        except OSError as error:
            msg = f"{os.fspath(path)} cannot be read: {error.strerror or error}."
            raise InputError(msg) from error
        name = Path(path).stem
        check_name(name)
        self.writer.command(lambda: self.writer.create(name, ModelSpec(file=file))).result()
        return name

    def config(self) -> Any:
        """Return how uvicorn runs the application."""
        limits = self.writer.limits
        return uvicorn.Config(
            self.app,
            http=Connection,
            loop="uvloop" if find_spec("uvloop") else "asyncio",
            ws="none",
            lifespan="on",
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=False,  # who asks is known by the token, not by the address
            backlog=min(2048, limits.connections),  # connections that may wait to be accepted
            timeout_keep_alive=limits.idle_seconds,  # type: ignore[arg-type]  # any number will do
            timeout_graceful_shutdown=10,
        )

    def run(self) -> None:
        """Answer until Ctrl-C or SIGTERM, finish what has been accepted, and close."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends as by Ctrl-C
        sys.setswitchinterval(SWITCH_SECONDS)
        gc.collect()
        gc.freeze()  # what was imported stays: looking through it takes 50 ms of a client's time
        gc.set_threshold(COLLECTED_AFTER)
        try:
            uvicorn.Server(self.config()).run([self._socket])
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the folder and the address."""
        self.app.close()
        self._socket.close()


def _within_descriptors(limits: Limits) -> Limits:
    """Return limits that leave descriptors for the journal; a backlog may double connections."""
    if sys.platform != "win32":  # which has no such limit
        import resource

        wanted = 2 * limits.connections + RESERVED
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            most = max(1, (soft - RESERVED) // 2)
            return replace(limits, connections=min(limits.connections, most))
    return limits


def _check_tokens(writer: Writer, host: str) -> None:
    if not writer.tokens:
        raise InputError(
            f"Others can reach {host}, and there is no token: make one with "
            f"{Parameter('new_token')} first, or leave {Parameter('host')} out."
        )


def _bound(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in (PORT, 0) if port is None else (port,):
        bound = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there two services could share a port, one of them in vain
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, wanted))
        except OSError as error:
            bound.close()
            if port is None and wanted:
                continue
            msg = f"Cannot listen on {host}, port {wanted}: {error.strerror or error}."
            raise InputError(msg) from error
        return bound
    raise InputError(f"No port of {host} is free.")
