"""A connection of uvicorn that answers at once what has come whole."""

from asyncio import Event
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rosenblatt.service.app import Reply

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


class Connection(HttpToolsProtocol):
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
                self._send(reply, keep_alive=waiting.keep_alive)

        self.app.answer(scope, parts[0] if len(parts) == 1 else b"".join(parts), write)

    def _send(self, reply: Reply, *, keep_alive: bool) -> None:
        headers, body = reply.wire()
        lines = [STATUS_LINES[reply.status]]
        for name, value in self.server_state.default_headers + headers:
            lines += name, b": ", value, b"\r\n"
        if not keep_alive:
            lines.append(b"connection: close\r\n")
        self.transport.write(b"".join((*lines, b"\r\n", body)))
        if not keep_alive:
            self.transport.close()
        self.on_response_complete()
