"""The server of the page: standard library, this machine only, this page only.

Other pages that a browser has open, and other machines, get nothing: it listens on the loopback
address; the Host of a request must be that address (a name that somebody points at it is refused);
a message must come from the origin of the page (Origin) and bear the token that stands in it.
"""

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from threading import Thread
from typing import Any, NoReturn

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.lab.document import Document
from rosenblatt.lab.messages import Session
from rosenblatt.lab.page import icon_text, module_text, page_text, shim_text, style_text

ADDRESS = "127.0.0.1"
USUAL_PORT = 8417  # the same each time, so that links to a state keep working
MOST_BYTES = 4_000_000  # of a message; a text of a million characters may need them
PATIENCE = 10.0  # seconds that a connection may keep silent

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refusal(Exception):  # noqa: N818  # it is one
    """Why a request is not answered."""

    def __init__(self, status: HTTPStatus, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class LabServer(ThreadingHTTPServer):
    """Serves one page and answers its messages."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, document: Document, port: int | None = None) -> None:
        """Listen on a port; without one on the usual one, or any that is free if that is taken."""
        self.token = secrets.token_urlsafe(32)
        self.session = Session()
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
        self.texts = {
            "/": ("text/html", page_text(document, self.token)),
            "/lab.js": ("text/javascript", module_text()),
            "/page.js": ("text/javascript", shim_text("page.js")),
            "/lab.css": ("text/css", style_text()),
            "/icon.svg": ("image/svg+xml", icon_text()),
        }

    def warm_up(self) -> None:
        """Import what a verdict needs, which takes a second or two, while the browser opens."""
        Thread(target=import_module, args=["rosenblatt.lab.verdicts"], daemon=True).start()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away in the middle of an answer."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: LabServer
    protocol_version = "HTTP/1.1"
    server_version = "rosenblatt"
    sys_version = ""
    timeout = PATIENCE
    wbufsize = -1  # head and body leave together: apart they wait 40 ms for each other
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Send the page or a part of it."""
        self._respond(self._file)

    def do_HEAD(self) -> None:
        """Send only what would stand above it."""
        self._respond(self._file)

    def do_POST(self) -> None:
        """Answer a message of the page."""
        self._respond(self._message)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # any other method
            return lambda: self._respond(self._no_method)
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name it has there
        """Keep quiet: the terminal is for the person."""

    def _respond(self, answer: Callable[[], tuple[str, bytes]]) -> None:
        more: dict[str, str] = {}
        try:
            self._check_host()
            kind, body = answer()
            status = HTTPStatus.OK
        except Refusal as refusal:
            self.close_connection = True  # what was sent after the head is not read
            body = json.dumps({"kind": "error", "sentence": str(refusal)}).encode()
            status, kind, more = refusal.status, "application/json", refusal.headers
        self.send_response(status)
        for name, value in {**HEADERS, **more}.items():
            self.send_header(name, value)
        charset = "" if kind == "application/json" else "; charset=utf-8"
        self.send_header("Content-Type", kind + charset)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _check_host(self) -> None:
        allowed = {f"{name}:{self.server.server_port}" for name in (ADDRESS, "localhost")}
        if self.headers.get_all("Host", []) not in [[host] for host in allowed]:
            sentence = f"This server answers only under its own address, {self.server.url}."
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, sentence)

    def _file(self) -> tuple[str, bytes]:
        path = self.path.partition("?")[0]
        if path == "/message":
            self._no_method("POST")
        if path not in self.server.texts:
            sentence = f"There is no {path[:80]} here; the page is at {self.server.url}."
            raise Refusal(HTTPStatus.NOT_FOUND, sentence)
        kind, text = self.server.texts[path]
        return kind, text.encode()

    def _message(self) -> tuple[str, bytes]:
        if self.path != "/message":
            if self.path.partition("?")[0] in self.server.texts:
                self._no_method()
            raise Refusal(HTTPStatus.NOT_FOUND, f"There is no {self.path[:80]} to send to.")
        self._check_sender()
        try:
            message = json.loads(self._body())
        except (ValueError, RecursionError):
            sentence = "The message is not JSON text in UTF-8."
            raise Refusal(HTTPStatus.BAD_REQUEST, sentence) from None
        answer = self.server.session.answer(message)
        if answer["kind"] == "error":
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, answer["sentence"])
        return "application/json", json.dumps(answer, allow_nan=False).encode()

    def _check_sender(self) -> None:
        host = self.headers["Host"]
        if self.headers.get_all("Origin", []) != [f"http://{host}"]:
            sentence = "Messages are taken only from the page that this server served."
            raise Refusal(HTTPStatus.FORBIDDEN, sentence)
        token = self.headers.get("X-Rosenblatt-Token", "")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            sentence = "This page was served by a lab that has ended: reload it."
            raise Refusal(HTTPStatus.FORBIDDEN, sentence)
        if self.headers.get_content_type() != "application/json":
            sentence = "A message must have the type application/json."
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            sentence = "A message must say how long it is (Content-Length)."
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, sentence)
        if len(length) > 12 or int(length) > MOST_BYTES:
            sentence = (
                f"A message may have at most {MOST_BYTES:,} bytes; this one has {length[:20]}."
            )
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)
        try:
            body = self.rfile.read(int(length))
        except TimeoutError:
            body = b""
        if len(body) < int(length):
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "The message was cut off.")
        return body

    def _no_method(self, allowed: str = "GET, HEAD") -> NoReturn:
        if self.path == "/message":
            allowed = "POST"
        sentence = f"{self.command[:20]} is not done here; {allowed} is."
        raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, sentence, Allow=allowed)
