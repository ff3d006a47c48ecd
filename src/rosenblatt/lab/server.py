"""The server of the page: standard library, this machine only, this page only.

It hands out one text and, on request, Python's own verdict on a document. Other pages that a
browser has open, and other machines, get nothing: it listens on the loopback address; the Host of a
request must be that address (a name that somebody points at it is refused); a question must come
from the origin of the page (Origin) and bear the token that stands in it. A connection carries one
request and is cut off after a few seconds, however slowly it trickles.
"""

import json
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Timer
from typing import Any, NoReturn

from rosenblatt.errors import InputError, Parameter, RosenblattError, Sentence
from rosenblatt.lab.document import Document
from rosenblatt.lab.page import page_text

ADDRESS = "127.0.0.1"
USUAL_PORT = 8417  # the same each time, so that links to a state keep working
MOST_BYTES = 200_000  # of a document; 500 points need a tenth of it
PATIENCE = 10.0  # seconds in which a request must have come

POLICY = "frame-ancestors 'none'"  # the rest stands in the page
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Connection": "close",
}


class Refusal(Exception):  # noqa: N818  # it is one
    """Why a request is not answered."""

    def __init__(self, status: HTTPStatus, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class LabServer(ThreadingHTTPServer):
    """Serves one page."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(
        self, document: Document, port: int | None = None, patience: float = PATIENCE
    ) -> None:
        """Listen on a port; without one on the usual one, or any that is free if that is taken."""
        self.token = secrets.token_urlsafe(32)
        self.patience = patience
        try:
            super().__init__((ADDRESS, USUAL_PORT if port is None else port), Handler)
        except OSError as error:
            if port is not None:
                reason = error.strerror or error
                msg = Sentence(
                    f"Port {port} cannot be used: {reason}. Choose another with ",
                    *(Parameter("port"), "."),
                )
                raise InputError(msg) from None
            super().__init__((ADDRESS, 0), Handler)
        self.page = page_text(document, self.token).encode()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away in the middle of an answer."""


class Handler(BaseHTTPRequestHandler):
    """One connection, which carries one request."""

    server: LabServer
    protocol_version = "HTTP/1.1"
    server_version = "rosenblatt"
    sys_version = ""
    timeout = PATIENCE  # for an answer to be taken
    wbufsize = -1  # head and body leave together: apart they wait 40 ms for each other
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Begin, and read no further when time is up, whatever has come by then."""
        super().setup()
        self._clock = Timer(self.server.patience, self._cut_off)
        self._clock.daemon = True
        self._clock.start()

    def finish(self) -> None:
        """End."""
        self._clock.cancel()
        with suppress(OSError):
            super().finish()

    def _cut_off(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)  # the answer that it was too slow may leave

    def do_GET(self) -> None:
        """Send the page."""
        self._respond(self._page)

    def do_HEAD(self) -> None:
        """Send only what would stand above it."""
        self._respond(self._page)

    def do_POST(self) -> None:
        """Answer a question of the page."""
        self._respond(self._certificate)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # any other method
            return lambda: self._respond(self._no_method)
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name it has there
        """Keep quiet: the terminal is for the person."""

    def _respond(self, answer: Callable[[], tuple[str, bytes]]) -> None:
        self.close_connection = True
        more: dict[str, str] = {}
        try:
            self._check_host()
            kind, body = answer()
            status = HTTPStatus.OK
        except Refusal as refusal:
            kind, body = "application/json", json.dumps({"error": str(refusal)}).encode()
            status, more = refusal.status, refusal.headers
        self.send_response(status)
        for name, value in {**HEADERS, **more}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _check_host(self) -> None:
        allowed = {f"{name}:{self.server.server_port}" for name in (ADDRESS, "localhost")}
        if self.headers.get_all("Host", []) not in [[host] for host in allowed]:
            sentence = f"This server answers only under its own address, {self.server.url}."
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, sentence)

    def _page(self) -> tuple[str, bytes]:
        path = self.path.partition("?")[0]
        if path == "/certificate":
            self._no_method()
        if path != "/":
            sentence = f"There is no {path[:80]} here; the page is at {self.server.url}."
            raise Refusal(HTTPStatus.NOT_FOUND, sentence)
        return "text/html; charset=utf-8", self.server.page

    def _certificate(self) -> tuple[str, bytes]:
        if self.path != "/certificate":
            if self.path.partition("?")[0] == "/":
                self._no_method()
            raise Refusal(HTTPStatus.NOT_FOUND, f"There is no {self.path[:80]} to send to.")
        self._check_sender()
        try:
            given = json.loads(self._body())
        except (ValueError, RecursionError):
            sentence = "The document is not JSON text in UTF-8."
            raise Refusal(HTTPStatus.BAD_REQUEST, sentence) from None
        self._clock.cancel()  # the request has come whole: what now takes time is ours
        from rosenblatt.lab.certificate import certificate_lines

        try:
            lines = certificate_lines(Document.from_plain(given))
        except RosenblattError as error:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
        return "application/json", json.dumps({"lines": lines}).encode()

    def _check_sender(self) -> None:
        host = self.headers["Host"]
        if self.headers.get_all("Origin", []) != [f"http://{host}"]:
            sentence = "Questions are taken only from the page that this server served."
            raise Refusal(HTTPStatus.FORBIDDEN, sentence)
        token = self.headers.get("X-Rosenblatt-Token", "")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            sentence = "This page was served by a lab that has ended: reload it."
            raise Refusal(HTTPStatus.FORBIDDEN, sentence)
        if self.headers.get_content_type() != "application/json":
            sentence = "A document must have the type application/json."
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            sentence = "A document must say how long it is (Content-Length)."
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, sentence)
        if len(length) > 12 or int(length) > MOST_BYTES:
            sentence = (
                f"A document may have at most {MOST_BYTES:,} bytes; this one has {length[:20]}."
            )
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "The document was cut off.")
        return body

    def _no_method(self) -> NoReturn:
        allowed = "POST" if self.path == "/certificate" else "GET, HEAD"
        sentence = f"{self.command[:20]} is not done here; {allowed} is."
        raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, sentence, Allow=allowed)
