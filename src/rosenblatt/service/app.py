"""The service as an ASGI application: the checks before each operation, and its answer."""

import asyncio
import errno
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from time import perf_counter
from typing import Any, cast
from urllib.parse import parse_qsl

import msgspec
from starlette.routing import Match, Route

from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.models.checks import Fault
from rosenblatt.models.document import parse
from rosenblatt.service import answers
from rosenblatt.service.access import Access, Caller
from rosenblatt.service.features import ColumnFeatures, Features
from rosenblatt.service.forgetting import Replays
from rosenblatt.service.history import text_of
from rosenblatt.service.learner import ServedLearner
from rosenblatt.service.limits import RequestError
from rosenblatt.service.metrics import Metrics
from rosenblatt.service.requests import Example, Problem
from rosenblatt.service.writer import Entry, Taught, Writer, no_model

OF_MODEL = "/v1/models/{model}/"
JSON, NDJSON = "application/json", "application/x-ndjson"
HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
TRUTHS = {"0": False, "1": True, "false": False, "true": True}
NOBODY = Caller(None, frozenset(), None)
log = logging.getLogger("rosenblatt.service")
encode = msgspec.json.Encoder().encode
_UNREADABLE = "it must be UTF-8 text and not nested too deeply"


@dataclass(slots=True)
class Call:
    """A request: what its head says, once that has passed all checks, and then its body."""

    caller: Caller
    entry: Entry | None
    path: dict[str, str]
    query: dict[str, Any]
    body: Any = None  # decoded; None for requests without one
    lines: bool = False  # the body is NDJSON

    @property
    def model(self) -> Entry:
        """The model that the path names."""
        return cast("Entry", self.entry)


@dataclass(slots=True)
class Reply:
    """An answer that is not simply a body of JSON with status 200."""

    body: Any
    status: HTTPStatus = HTTPStatus.OK
    kind: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def wire(self) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """Return headers and body as they are sent."""
        body = self.body if isinstance(self.body, bytes) else encode(self.body)
        length = (b"content-length", b"%d" % len(body))
        return [(b"content-type", self.kind.encode()), length, *HEADERS, *self.headers], body


Handler = Callable[["Application", Call], Any]  # what it returns may be awaitable


@dataclass(frozen=True)
class Operation:
    """What can be asked: checked, answered and documented by the same types."""

    method: str
    path: str
    scope: str | None  # None: open to all
    summary: str
    handler: Handler
    request: Any = None  # type of the body
    answer: Any = None
    query: tuple[tuple[str, type, str], ...] = ()  # name, type, meaning
    status: HTTPStatus = HTTPStatus.OK
    other_statuses: tuple[HTTPStatus, ...] = ()  # with the same kind of answer
    lines: Any = None  # type of a line, where NDJSON is taken, too
    kind: str = JSON  # of the answer
    large: bool = False  # whether a model file may come


class Application:
    """The service as an ASGI application.

    Parameters
    ----------
    writer : Writer
        Of the folder that is served; closed with the application.
    access : Access
    operations : sequence of Operation
        What can be asked, in the order in which paths are compared.
    """

    def __init__(self, writer: Writer, access: Access, operations: Sequence[Operation]) -> None:
        self.writer, self.access, self.operations = writer, access, operations
        self.limits = writer.limits
        self.metrics = Metrics(writer)
        self.versions = answers.Versions(writer)
        self.replays = Replays(writer)
        self._routes = [
            (Route(one.path, endpoint.open, methods=[one.method]), endpoint)
            for one in operations
            for endpoint in [Endpoint(self, one)]
        ]
        self._direct = {  # by method and last part of the path: 30 µs less than by the routes
            (endpoint.method, route.path.removeprefix(OF_MODEL)): endpoint
            for route, endpoint in self._routes
            if route.path.startswith(OF_MODEL) and route.path.count("/") == 4
        }

    def close(self) -> None:
        """End, after what has been accepted."""
        self.replays.close()
        self.writer.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request that comes in pieces, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            return
        began = perf_counter()
        try:
            endpoint, call = self._opened(scope)
            most = endpoint.most_bytes
            body = await _body(receive, most, self.limits.body_seconds) if most else b""
            answer = endpoint.run(call, body)
            if isinstance(answer, Awaitable):
                answer = await answer
            reply = endpoint.reply(answer, began)
        except ConnectionError:
            return
        except Exception as error:  # noqa: BLE001  # the client is told, or the log
            reply = self._refusal(error, began)
        headers, body = reply.wire()
        await send({"type": "http.response.start", "status": int(reply.status), "headers": headers})
        body = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": body})

    def answer(self, scope: Any, body: bytes, write: Callable[[Reply], None]) -> None:
        """Answer a request that has come whole by a call of ``write``, at once or later."""
        began = perf_counter()

        def settle(future: Any) -> None:
            try:
                reply = endpoint.reply(future.result(), began)
            except Exception as error:  # noqa: BLE001  # the client is told, or the log
                reply = self._refusal(error, began)
            write(reply)

        try:
            endpoint, call = self._opened(scope)
            answer = endpoint.run(call, body)
            if isinstance(answer, Awaitable):
                asyncio.ensure_future(answer).add_done_callback(settle)
                return
            reply = endpoint.reply(answer, began)
        except Exception as error:  # noqa: BLE001  # the client is told, or the log
            reply = self._refusal(error, began)
        write(reply)

    def _opened(self, scope: Any) -> tuple["Endpoint", Call]:
        """Return a request whose head has passed all checks."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        self.access.check_host(headers.get(b"host", b""), headers.get(b"origin"))
        parts = scope["path"].split("/")
        direct = len(parts) == 5 and self._direct.get((scope["method"], parts[4]))
        if direct and parts[1] == "v1" and parts[2] == "models" and parts[3]:
            return direct, direct.open({"model": parts[3]}, headers, scope["query_string"])
        allowed: set[str] = set()
        for route, endpoint in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                return endpoint, endpoint.open(found["path_params"], headers, scope["query_string"])
            if match is Match.PARTIAL:
                allowed |= route.methods or set()
        if not allowed:
            raise RequestError(HTTPStatus.NOT_FOUND, "There is nothing here.")
        msg = f"This is not done here with that method; use {' or '.join(sorted(allowed))}."
        raise RequestError(HTTPStatus.METHOD_NOT_ALLOWED, msg, allow=", ".join(sorted(allowed)))

    def _refusal(self, error: Exception, began: float) -> Reply:
        """Return what a client is told of an error."""
        reply = problem(error)
        self.metrics.request("refused", int(reply.status), perf_counter() - began)
        return reply

    async def _live(self, receive: Any, send: Any) -> None:
        """Begin and end with the server."""
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.begin()
            else:
                self.writer.post = lambda function: function()  # there will be no loop
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    def begin(self) -> None:
        """Have the writer show what it did in the loop that runs here."""
        self.writer.post = asyncio.get_running_loop().call_soon_threadsafe

    async def in_thread(self, function: Callable[..., Any], *values: Any) -> Any:
        """Run what reads the disk beside the readers' thread."""
        return await asyncio.to_thread(function, *values)

    async def command(self, run: Callable[[], Any]) -> Any:
        """Have the writer do something between two groups."""
        future = asyncio.get_running_loop().create_future()
        self.writer.command(run, future)
        return await future

    def teach(
        self, entry: Entry, examples: Sequence[Taught], caller: Caller, *, single: bool = True
    ) -> Awaitable[Any]:
        """Have the writer learn examples; awaited, it is the answer to a single one or a list."""
        future = asyncio.get_running_loop().create_future()
        self.writer.teach(entry, examples, caller.name, future, single=single)
        return future

    async def at(self, entry: Entry, version: int | None) -> tuple[ServedLearner, int]:
        """Return the model at a version, or as it is now."""
        if version is None or version == entry.version:
            return entry.view, entry.version
        return await self.in_thread(self.versions.get, entry, version), version

    def taught(self, entry: Entry, one: Example) -> Taught:
        """Return an example as the writer takes it, checked."""
        if one.id is not None:
            self.check_id(one.id)
        self.check(entry, [one.features])
        label = answers.checked_label(one.label, self.limits)
        return Taught(one.features, text_of(one.features), label, one.id)

    def check(self, entry: Entry, batch: Sequence[Features]) -> None:
        """Raise for rows beyond a limit."""
        self.check_batch(len(batch))
        columns = isinstance(entry.view.space, ColumnFeatures)
        answers.check_features(batch, self.limits, columns=columns)

    def check_id(self, id_: str) -> None:
        """Raise for an id that is too long."""
        if len(id_) > self.limits.id_length:
            msg = f"An id may have {self.limits.id_length} characters; got {len(id_):,}."
            raise InputError(msg)

    def check_batch(self, size: int) -> None:
        """Raise for more rows than are taken together."""
        if size > self.limits.batch:
            msg = f"A request may hold {self.limits.batch:,} rows; got {size:,}. Send several."
            raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, msg)


class Endpoint:
    """An operation of an application: the checks before it, and its answer."""

    def __init__(self, app: Application, operation_: Operation) -> None:
        self._app, self._operation = app, operation_
        self._handler, self.method = operation_.handler, operation_.method
        self._decode = _decoder(operation_.request)
        self._decode_line = _decoder(operation_.lines)
        self._label = f"{operation_.method} {operation_.path}"
        self.most_bytes = 0  # of a body; 0: there is none
        if operation_.request is not None:
            limits = app.limits
            self.most_bytes = limits.model_file if operation_.large else limits.body

    def open(self, path: dict[str, str], headers: dict[bytes, bytes], query: bytes) -> Call:
        """Return a request to this operation; raise where its head says that it is refused."""
        app, wanted = self._app, self._operation
        name = path.get("model")
        caller = NOBODY
        if wanted.scope is not None:
            given = headers.get(b"authorization")
            caller = app.access.caller(None if given is None else given.decode("latin-1"))
            app.access.check(caller, wanted.scope, name)
        entry = None
        if name is not None:
            entry = app.writer.entries.get(name)
            if entry is None and wanted.method != "PUT":
                raise no_model(name)
        lines = self.most_bytes > 0 and self._comes_in_lines(headers)
        return Call(caller, entry, path, self._fields(query) if query else {}, None, lines)

    def _fields(self, query: bytes) -> dict[str, Any]:
        """Return what stands behind the question mark, as the operation describes it."""
        kinds = {name: kind for name, kind, _ in self._operation.query}
        found: dict[str, Any] = {}
        for name, text in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
            kind = kinds.get(name)
            number = text.isascii() and text.isdigit() and len(text) < 19
            if kind is None:
                msg = f"{name!r:.40} is not known here; known: {', '.join(kinds) or 'nothing'}."
            elif kind is int and not number:
                msg = f"{name} must be a whole number of at least 0; got {text!r:.40}."
            elif kind is bool and text not in TRUTHS:
                msg = f"{name} must be {', '.join(TRUTHS)}; got {text!r:.40}."
            else:
                found[name] = TRUTHS[text] if kind is bool else kind(text)
                continue
            raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, msg)
        return found

    def _comes_in_lines(self, headers: dict[bytes, bytes]) -> bool:
        """Return whether a body is NDJSON; raise where it is neither that nor JSON, or too long."""
        kind = headers.get(b"content-type", b"")
        if kind != b"application/json":
            kind = kind.split(b";")[0].strip().lower()
        lines = kind == b"application/x-ndjson" and self._operation.lines is not None
        if kind != b"application/json" and not lines:
            taken = JSON if self._operation.lines is None else f"{JSON} or {NDJSON}"
            msg = f"The body must have the type {taken} (Content-Type)."
            raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, msg)
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > self.most_bytes:
            raise _too_large(self.most_bytes)
        return lines

    def run(self, call: Call, body: bytes) -> Any:
        """Return the answer to a request with this body, or what to await for it."""
        if self.most_bytes:
            if len(body) > self.most_bytes:
                raise _too_large(self.most_bytes)
            decode = self._decode_line.decode_lines if call.lines else self._decode.decode
            try:
                call.body = decode(body)
                _check_keys(call.body, body, lines=call.lines)
            except (msgspec.ValidationError, Fault) as error:
                msg = f"Invalid request body: {error}."
                raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, msg) from error
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                reason = str(error) if isinstance(error, msgspec.DecodeError) else _UNREADABLE
                msg = f"The body is not JSON: {reason}."
                raise RequestError(HTTPStatus.BAD_REQUEST, msg) from error
        return self._handler(self._app, call)

    def reply(self, answer: Any, began: float) -> Reply:
        """Return an answer with its status, counted."""
        reply = answer if isinstance(answer, Reply) else Reply(answer, self._operation.status)
        self._app.metrics.request(self._label, int(reply.status), perf_counter() - began)
        return reply


def _check_keys(found: Any, body: bytes, *, lines: bool) -> None:
    """Raise Fault where a key stands twice in an object: decoding took the last.

    Each key has its colon, so there are none but those found where the numbers are equal. The
    slow way is for colons within texts.
    """
    if body.count(b":") > _n_keys(found):
        for part in body.splitlines() if lines else [body]:
            if part.strip():
                parse(part)


def _n_keys(found: Any) -> int:
    """Return how many keys a body had at least, without those that say the default."""
    if isinstance(found, dict):
        return len(found)
    if isinstance(found, list):
        nested = bool(found) and isinstance(found[0], dict | list | msgspec.Struct)
        return sum(map(_n_keys, found)) if nested else 0
    if isinstance(found, msgspec.Struct):
        given = [getattr(found, name) for name in found.__struct_fields__]
        pairs = zip(given, _defaults(type(found)), strict=True)
        return sum(1 + _n_keys(value) for value, default in pairs if value != default)
    return 0


@cache
def _defaults(kind: type[msgspec.Struct]) -> list[Any]:
    fields = msgspec.structs.fields(kind)
    return [
        one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory()
        for one in fields
    ]


def _decoder(kind: Any) -> Any:
    return None if kind is None else msgspec.json.Decoder(kind)


async def _body(receive: Any, most: int, seconds: float) -> bytes:
    message = None
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ConnectionResetError
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise _too_large(most)
                if not message.get("more_body"):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except TimeoutError:
        msg = f"The body did not come within {seconds:g} seconds."
        raise RequestError(HTTPStatus.REQUEST_TIMEOUT, msg) from None


def _too_large(most: int) -> RequestError:
    msg = f"The body may have {most:,} bytes at most."
    return RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, msg)


def problem(error: Exception) -> Reply:
    """Return what a client is told of an error; a fault of ours goes to the log."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    status, sentence = HTTPStatus.UNPROCESSABLE_ENTITY, str(error)
    if isinstance(error, RequestError):
        status, headers = error.status, error.headers
    elif getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CANTOPEN or (
        isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)
    ):
        log.error("The journal cannot be opened.", exc_info=error)
        status, headers = HTTPStatus.SERVICE_UNAVAILABLE, ((b"retry-after", b"1"),)
        sentence = "The journal cannot be opened; too many files may be open. Try again soon."
    elif not isinstance(error, RosenblattError):
        log.error("A request failed.", exc_info=error)
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        sentence = "Internal error; see the log of the service."
    return Reply(Problem(error=sentence), status, headers=headers)
