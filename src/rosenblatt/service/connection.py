"""Connections of uvicorn: how long and how many, and one that answers at once what came whole."""

from asyncio import Event
from http import HTTPStatus
from time import monotonic
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rosenblatt.service.app import Reply, problem
from rosenblatt.service.limits import RequestError

STATUS_LINES = {
    int(status): f"HTTP/1.1 {status:d} {status.phrase}\r\n".encode() for status in HTTPStatus
}


class Waiting:
    """A request whose answer is yet to come, as uvicorn looks at it."""

    __slots__ = ("disconnected", "keep_alive", "response_complete")
    message_event = Event()  # nobody waits for it

    def __init__(self) -> None:
        self.response_complete = self.disconnected = False
        self.keep_alive = True


class DirectConnection(HttpToolsProtocol):
    """A connection whose requests are answered without a task, where they come in one piece.

    For each request uvicorn makes a task, and messages for its body and its answer: more than half
    of the time that a prediction takes. What comes in pieces, asks for another version of HTTP or
    to close the connection, or comes before the last answer has gone out goes uvicorn's way.
    """

    app: Any
    _parts: list[bytes] | None = None  # of a body; None: the request goes uvicorn's way

    def on_headers_complete(self) -> None:
        """Choose the way."""
        parser = self.parser
        cycle: Any = self.cycle  # None before the first request
        if (
            (cycle is None or cycle.response_complete)
            and parser.should_keep_alive()
            and parser.get_http_version() == "1.1"
            and not (self.expect_100_continue or self.flow.write_paused or parser.should_upgrade())
            and b"%" not in self.url
            and self.url[:1] == b"/"
            and parser.get_method() != b"HEAD"
        ):
            self._parts = []
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        if self._parts is None:
            super().on_body(body)
        else:
            self._parts.append(body)

    def data_received(self, data: bytes) -> None:
        """Take what has come; a request that is not whole by now goes uvicorn's way."""
        super().data_received(data)
        if self._parts is not None and self.parser is not None:
            parts, self._parts = self._parts, None
            super().on_headers_complete()
            for part in parts:
                super().on_body(part)

    def on_message_complete(self) -> None:
        """Answer a request that has come whole."""
        if self._parts is None:
            super().on_message_complete()
            return
        parts, self._parts = self._parts, None
        scope: Any = self.scope
        path, _, scope["query_string"] = self.url.partition(b"?")
        scope["path"], scope["method"] = path.decode("latin-1"), self.parser.get_method().decode()
        waiting: Any = Waiting()
        self.cycle = waiting

        def write(reply: Reply) -> None:
            waiting.response_complete = True
            if not waiting.disconnected:
                send(self, reply, keep_alive=waiting.keep_alive)
                self.on_response_complete()

        self.app.answer(scope, parts[0] if len(parts) == 1 else b"".join(parts), write)


def send(connection: HttpToolsProtocol, reply: Reply, *, keep_alive: bool) -> None:
    """Write an answer."""
    headers, body = reply.wire()
    lines = [STATUS_LINES[reply.status]]
    for name, value in connection.server_state.default_headers + headers:
        lines += name, b": ", value, b"\r\n"
    if not keep_alive:
        lines.append(b"connection: close\r\n")
    connection.transport.write(b"".join((*lines, b"\r\n", body)))
    if not keep_alive:
        connection.transport.close()


class Connection(DirectConnection):
    """A connection that is closed where no request comes, or another has more need of it.

    uvicorn by itself waits for ever for the first request, and for the rest of a head.
    """

    _since = 0.0  # when it was made, or the last answer went out
    _in_head = False
    _head_bytes = 0
    _head_timer: Any = None  # ends the connection, unless a head is complete before

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
        self._refuse(RequestError(HTTPStatus.SERVICE_UNAVAILABLE, msg, retry_after=1))

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
            if self._in_head and self._head_bytes > self.app.limits.head:
                msg = f"The head of a request may have {self.app.limits.head:,} bytes at most."
                self._refuse(RequestError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, msg))

    def on_message_begin(self) -> None:
        """Count the bytes of a head."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Wait no longer."""
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        self._in_head = False
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Note when the connection became idle."""
        self._since = monotonic()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._head_timer is not None:
            self._head_timer.cancel()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.app.limits.head_seconds, self._late)

    def _late(self) -> None:
        seconds = self.app.limits.head_seconds
        msg = f"The head of a request did not come within {seconds:g} seconds."
        self._refuse(RequestError(HTTPStatus.REQUEST_TIMEOUT, msg))

    def _refuse(self, error: RequestError) -> None:
        """Say why the connection ends, and end it."""
        if not self.transport.is_closing():
            send(self, problem(error), keep_alive=False)
