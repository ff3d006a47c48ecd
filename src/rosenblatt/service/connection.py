"""Limits for which uvicorn has no settings: number of connections, time and size of a head."""

from http import HTTPStatus
from time import monotonic
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rosenblatt.service.app import problem
from rosenblatt.service.limits import RequestError


class Connection(HttpToolsProtocol):
    """A connection that is closed where no request comes, or another has more need of it.

    uvicorn by itself waits for ever for the first request, and for the rest of a head.
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
            most = self.app.limits.head
            if self._in_head and self._head_bytes > most:
                msg = f"The head of a request may have {most:,} bytes at most."
                self._refuse(RequestError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, msg))

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
        self._refuse(RequestError(HTTPStatus.REQUEST_TIMEOUT, msg))

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
