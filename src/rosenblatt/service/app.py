"""The service as an ASGI application: the checks before each operation, and its answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from time import perf_counter
from typing import Any, cast
from urllib.parse import parse_qsl

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route, Router

from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.service import answers
from rosenblatt.service.access import Access, Caller
from rosenblatt.service.features import ColumnFeatures, Features
from rosenblatt.service.forgetting import Replays
from rosenblatt.service.history import text_of
from rosenblatt.service.learner import ServedLearner
from rosenblatt.service.limits import RequestError
from rosenblatt.service.metrics import Metrics
from rosenblatt.service.requests import Example, Learned, Problem
from rosenblatt.service.writer import Entry, Taught, Writer, no_model

OF_MODEL = "/v1/models/{model}/"
JSON, NDJSON = "application/json", "application/x-ndjson"
HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
JSON_TYPE = (b"content-type", b"application/json")
log = logging.getLogger("rosenblatt.service")
encode = msgspec.json.Encoder().encode


@dataclass
class Call:
    """A request that has passed all checks."""

    caller: Caller
    entry: Entry | None
    path: dict[str, str]
    query: dict[str, str]
    body: Any  # decoded; None for requests without one
    lines: bool = False  # the body was NDJSON

    @property
    def model(self) -> Entry:
        """The model that the path names."""
        return cast("Entry", self.entry)


@dataclass
class Reply:
    """An answer that is not simply a body of JSON with status 200."""

    body: Any
    status: HTTPStatus = HTTPStatus.OK
    kind: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


Handler = Callable[["Application", Call], Awaitable[Any]]


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
        endpoints = [(one, Endpoint(self, one)) for one in operations]
        self._router = Router(
            [Route(one.path, endpoint, methods=[one.method]) for one, endpoint in endpoints],
            redirect_slashes=False,
        )
        self._direct = {  # by method and last part of the path, for what is asked most
            (one.method, one.path.removeprefix(OF_MODEL)): endpoint
            for one, endpoint in endpoints
            if one.path.startswith(OF_MODEL) and one.path.count("/") == 4
        }

    def close(self) -> None:
        """End, after what has been accepted."""
        self.replays.close()
        self.writer.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            return
        scope["app"] = self  # so that the router raises instead of answering by itself
        began = perf_counter()
        try:
            headers = scope["header_values"] = dict(scope["headers"])
            self.access.check_host(headers.get(b"host", b""), headers.get(b"origin"))
            parts = scope["path"].split("/")
            direct = len(parts) == 5 and self._direct.get((scope["method"], parts[4]))
            if (
                direct and parts[1] == "v1" and parts[2] == "models"
            ):  # 30 µs less than by the router
                scope["path_params"] = {"model": parts[3]}
                await direct(scope, receive, send)
            else:
                await self._router(scope, receive, send)
        except (RosenblattError, HTTPException, msgspec.MsgspecError) as error:
            reply = _problem(error)
        except ConnectionError:
            return
        except Exception:  # a fault of ours: a sentence for the client, the trace for the log
            log.exception("A request failed.")
            body = Problem(error="The service made a mistake; its log says more.")
            reply = Reply(body, HTTPStatus.INTERNAL_SERVER_ERROR)
        else:
            return
        self.metrics.request("refused", int(reply.status), perf_counter() - began)
        await respond(send, reply, head=scope["method"] == "HEAD")

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

    async def teach(
        self, entry: Entry, examples: Sequence[Taught], caller: Caller
    ) -> list[Learned]:
        """Have the writer learn examples."""
        future = asyncio.get_running_loop().create_future()
        self.writer.teach(entry, examples, caller.name, future)
        learned: list[Learned] = await future
        return learned

    async def at(self, entry: Entry, version: int | None) -> tuple[ServedLearner, int]:
        """Return the model at a version, or as it is now."""
        if version is None or version == entry.version:
            return entry.view, entry.version
        return await self.in_thread(self.versions.get, entry, version), version

    def taught(self, entry: Entry, one: Example) -> Taught:
        """Return an example as the writer takes it, checked."""
        if one.id is not None and len(one.id) > self.limits.id_length:
            msg = f"An id may have {self.limits.id_length} characters; got {len(one.id):,}."
            raise InputError(msg)
        self.check(entry, one.features)
        label = answers.checked_label(one.label, self.limits)
        return Taught(one.features, text_of(one.features), label, one.id)

    def check(self, entry: Entry, features: Features) -> None:
        """Raise for features beyond a limit."""
        columns = isinstance(entry.view.space, ColumnFeatures)
        answers.check_features(features, self.limits, columns=columns)

    def check_batch(self, size: int) -> None:
        """Raise for a batch beyond the limit."""
        if size > self.limits.batch:
            msg = f"A request may hold {self.limits.batch:,} rows; got {size:,}. Send several."
            raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, msg)


class Endpoint:
    """An operation as an ASGI application: the checks before it, and its answer."""

    def __init__(self, app: Application, operation_: Operation) -> None:
        self._app, self._operation = app, operation_
        self._handler = operation_.handler
        self._decode = _decoder(operation_.request)
        self._decode_line = _decoder(operation_.lines)
        self._label = f"{operation_.method} {operation_.path}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request that has come to this operation."""
        app, wanted = self._app, self._operation
        began = perf_counter()
        headers: dict[bytes, bytes] = scope["header_values"]
        path = scope["path_params"]
        name = path.get("model")
        if wanted.scope is None:
            caller = Caller(None, frozenset(), None)
        else:
            given = headers.get(b"authorization")
            caller = app.access.caller(None if given is None else given.decode("latin-1"))
            app.access.check(caller, wanted.scope, name)
        entry = None
        if name is not None:
            entry = app.writer.entries.get(name)
            if entry is None and wanted.method != "PUT":
                raise no_model(name)
        call = Call(caller, entry, path, {}, None)
        if wanted.request is not None:
            await self._read(call, headers, receive)
        if scope["query_string"]:
            call.query = dict(parse_qsl(scope["query_string"].decode("latin-1"), max_num_fields=20))
        answer = await self._handler(app, call)
        reply = answer if isinstance(answer, Reply) else Reply(answer, wanted.status)
        app.metrics.request(self._label, int(reply.status), perf_counter() - began)
        await respond(send, reply, head=scope["method"] == "HEAD")

    async def _read(self, call: Call, headers: dict[bytes, bytes], receive: Any) -> None:
        kind = headers.get(b"content-type", b"")
        if kind != b"application/json":
            kind = kind.split(b";")[0].strip().lower()
        limits = self._app.limits
        if kind == b"application/json":
            decode = self._decode
        elif kind == b"application/x-ndjson" and self._operation.lines is not None:
            decode, call.lines = self._decode_line, True
        else:
            taken = JSON if self._operation.lines is None else f"{JSON} or {NDJSON}"
            msg = f"The body must have the type {taken} (Content-Type)."
            raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, msg)
        most = limits.model_file if self._operation.large else limits.body
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > most:
            raise _too_large(most)
        body = await _body(receive, most, limits.body_seconds)
        try:
            call.body = decode.decode_lines(body) if call.lines else decode.decode(body)
        except (UnicodeDecodeError, RecursionError) as error:
            msg = "The body is not JSON text in UTF-8, or it is nested too deeply."
            raise RequestError(HTTPStatus.BAD_REQUEST, msg) from error


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


async def respond(send: Any, reply: Reply, *, head: bool = False) -> None:
    """Send an answer."""
    body = reply.body if isinstance(reply.body, bytes) else encode(reply.body)
    length = (b"content-length", b"%d" % len(body))
    if reply.kind is JSON and not reply.headers:
        headers = [JSON_TYPE, length, *HEADERS]
    else:
        headers = [(b"content-type", reply.kind.encode()), length, *HEADERS, *reply.headers]
    await send({"type": "http.response.start", "status": int(reply.status), "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else body})


def _problem(error: Exception) -> Reply:
    """Return what a client is told of an error."""
    headers: list[tuple[bytes, bytes]] = []
    if isinstance(error, RequestError):
        status, sentence = error.status, str(error)
        if error.retry_after is not None:
            headers.append((b"retry-after", str(error.retry_after).encode()))
        if status == HTTPStatus.UNAUTHORIZED:
            headers.append((b"www-authenticate", b"Bearer"))
    elif isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        sentence = "There is nothing here." if status == HTTPStatus.NOT_FOUND else error.detail
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            sentence = "This is not done here with that method."
        headers += [(k.lower().encode(), v.encode()) for k, v in (error.headers or {}).items()]
    elif isinstance(error, msgspec.ValidationError):
        status, sentence = HTTPStatus.UNPROCESSABLE_ENTITY, f"The body does not fit: {error}."
    elif isinstance(error, msgspec.MsgspecError):
        status, sentence = HTTPStatus.BAD_REQUEST, f"The body is not JSON: {error}."
    else:
        status, sentence = HTTPStatus.UNPROCESSABLE_ENTITY, str(error)
    return Reply(Problem(error=sentence), status, headers=tuple(headers))
