"""The service as an ASGI application: the checks before each operation, and its answer."""

import asyncio
import errno
import json
import logging
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from itertools import chain, repeat
from time import perf_counter
from typing import Any, cast
from urllib.parse import parse_qsl

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from rosenblatt.errors import InputError, Parameter, RosenblattError, spelled
from rosenblatt.models.feature_spaces import NUMBERS, Features
from rosenblatt.service.access import Access, Caller
from rosenblatt.service.columns import ColumnFeatures
from rosenblatt.service.forgetting import Replays
from rosenblatt.service.history import Versions
from rosenblatt.service.journal import JournalReader
from rosenblatt.service.learner import Served
from rosenblatt.service.limits import Headers, Limits, RequestError, no_model
from rosenblatt.service.metrics import Metrics
from rosenblatt.service.requests import Label, Learned, Problem
from rosenblatt.service.tagger import SentenceSpace
from rosenblatt.service.writer import Entry, Writer

JSON, NDJSON = "application/json", "application/x-ndjson"
HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
SINGLE = (b"host", b"origin", b"authorization", b"content-type", b"content-length")
TRUTHS = {"0": False, "1": True, "false": False, "true": True}
NOBODY = Caller(None, (), None)
BEGAN = "rosenblatt.began"  # in the scope of a request: when it came
log = logging.getLogger("rosenblatt.service")
encode = msgspec.json.Encoder().encode
_UNREADABLE = "it must be UTF-8 text and not nested too deeply"


@dataclass(slots=True)
class Call:
    """A request whose head has passed all checks."""

    caller: Caller
    model: Entry  # that the path names, if it names one that exists
    path: dict[str, str]
    query: dict[str, Any]
    lines: bool  # whether the body is NDJSON


class Reply(Response):
    """An answer: bytes, nothing, or what becomes JSON."""

    def __init__(
        self, body: Any, status: HTTPStatus = HTTPStatus.OK, kind: str = JSON, headers: Headers = ()
    ) -> None:
        self.status_code, self.background = status, None
        self.body = (body or b"") if isinstance(body, bytes | None) else encode(body)
        length = (b"content-length", b"%d" % len(self.body))
        self.raw_headers = [(b"content-type", kind.encode()), length, *HEADERS, *headers]


Handler = Callable[..., Awaitable[Any]]  # of an Application, a Call and the body, if one comes


@dataclass(frozen=True)
class Operation:
    """An operation: checked, answered and documented by the same types."""

    method: str
    path: str
    scope: str | None  # None: open to all
    summary: str
    handler: Handler
    request: Any = None  # type of the body
    answer: Any = None  # structs are documented
    query: tuple[tuple[str, type, str], ...] = ()  # name, type, meaning
    status: HTTPStatus = HTTPStatus.OK
    other_statuses: tuple[HTTPStatus, ...] = ()  # with the same kind of answer
    lines: Any = None  # type of a line, where NDJSON is taken, too
    kind: str = JSON  # of the answer
    large: bool = False  # whether a model file may come


class Application(Starlette):
    """The service as an ASGI application, which another can mount.

    It closes ``writer``. Paths are compared with ``operations`` in their order.
    """

    def __init__(self, writer: Writer, access: Access, operations: Sequence[Operation]) -> None:
        self.writer, self.access, self.operations = writer, access, operations
        self.limits = writer.limits
        self.metrics = Metrics(writer)
        self.versions = Versions(writer.journal, writer.snapshots, writer.limits)
        self.replays = Replays(writer)
        super().__init__(
            routes=[
                Route(one.path, Endpoint(self, one), methods=[one.method]) for one in operations
            ],
            exception_handlers={
                HTTPException: self._not_routed,
                RosenblattError: self._refused,
                OSError: self._without_files,
                sqlite3.Error: self._without_files,
                Exception: self._refused,  # the server logs it
            },
            lifespan=self.lifespan,
        )
        self.router.redirect_slashes = False

    def close(self) -> None:
        """End, after what has been accepted."""
        self.replays.close()
        self.writer.close()

    @asynccontextmanager
    async def lifespan(self, _outer: Any = None) -> AsyncIterator[None]:
        """Publish what the writer does in the running loop, until it ends."""
        self.begin()
        yield
        self.writer.post = lambda function: function()  # there will be no loop

    def begin(self) -> None:
        """Publish what the writer does in the running loop."""
        self.writer.post = asyncio.get_running_loop().call_soon_threadsafe

    async def _refused(self, request: Request, error: Exception) -> Response:
        """Answer with what is wrong."""
        reply = problem(error)
        seconds = perf_counter() - request.scope.get(BEGAN, perf_counter())
        self.metrics.request("refused", reply.status_code, seconds)
        return reply

    async def _not_routed(self, request: Request, _error: Exception) -> Response:
        """Answer a request that no operation matches."""
        routes = cast("list[Route]", self.routes)
        found = [one for one in routes if one.matches(request.scope)[0] is Match.PARTIAL]
        if not found:
            return await self._refused(request, RequestError(404, "Not found."))
        allowed = sorted({method for one in found for method in one.methods or ()})
        msg = f"Method not allowed; use {' or '.join(allowed)}."
        return await self._refused(request, RequestError(405, msg, allow=", ".join(allowed)))

    async def _without_files(self, request: Request, error: Exception) -> Response:
        """Answer 503 where the process has no descriptor left; raise other errors again."""
        if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_CANTOPEN and (
            getattr(error, "errno", None) not in {errno.EMFILE, errno.ENFILE}
        ):
            raise error
        log.error("The journal cannot be opened.", exc_info=error)
        msg = "The journal cannot be opened; too many files may be open. Try again soon."
        return await self._refused(request, RequestError(503, msg, retry_after=1))

    async def read(self, function: Callable[[JournalReader], Any]) -> Any:
        """Run a function on the journal as it is now, in another thread."""

        def run() -> Any:
            with self.writer.journal.reader() as reader:
                return function(reader)

        return await asyncio.to_thread(run)

    async def command(self, run: Callable[[], Any]) -> Any:
        """Have the writer run a command between two groups."""
        return await self.writer.command(run, asyncio.get_running_loop().create_future())

    async def teach(self, call: Call, examples: Sequence[Any]) -> list[Learned]:
        """Check examples and have the writer learn them, all or none."""
        self.check(call.model, [one.features for one in examples], [one.id for one in examples])
        for one in examples:
            for label in one.label if isinstance(one.label, tuple) else (one.label,):
                if label is not None:
                    _check_label(label, self.limits)
        future = asyncio.get_running_loop().create_future()
        await self.writer.teach(call.model, examples, call.caller.name, future)
        return cast("list[Learned]", future.result())

    async def at(self, entry: Entry, version: int | None) -> tuple[Served, int]:
        """Return the model at a version, or as it is now."""
        if version is None or version == entry.shown.version:
            return entry.shown.learner, entry.shown.version
        return await asyncio.to_thread(self.versions.get, entry.record, version), version

    def check(self, entry: Entry, batch: Sequence[Any], ids: Sequence[str | None] = ()) -> None:
        """Raise for rows and ids beyond a limit."""
        most, longest = self.limits.batch, max((len(id_) for id_ in ids if id_), default=0)
        if len(batch) > most:
            msg = f"A request may hold {most:,} rows; got {len(batch):,}. Send several."
            raise RequestError(413, msg)
        if longest > self.limits.id_length:
            msg = f"An id may have at most {self.limits.id_length} characters; got {longest:,}."
            raise InputError(msg)
        space = entry.shown.learner.space
        if isinstance(space, SentenceSpace):
            check_sentences(batch, self.limits)
        else:
            check_features(batch, self.limits, columns=isinstance(space, ColumnFeatures))


def check_sentences(batch: Sequence[Any], limits: Limits) -> None:
    """Raise InputError for sentences beyond a limit."""
    n, most = max(map(len, batch), default=0), limits.name_length
    if n > limits.features:
        raise InputError(f"features has {n:,} tokens; at most {limits.features:,} are taken.")
    for token in chain.from_iterable(batch):
        if isinstance(token, dict):
            check_features([token], limits, columns=False)
            continue
        for word in token if isinstance(token, list) else [token]:
            if isinstance(word, str) and len(word) > most:
                taken = f"at most {most:,} are taken"
                raise InputError(f"A word has {len(word):,} characters; {taken}.")


def check_features(batch: Sequence[Features], limits: Limits, *, columns: bool) -> None:
    """Raise InputError for rows of features beyond a limit."""
    n, most = max(map(len, batch), default=0), limits.magnitude
    if n > limits.features:
        raise InputError(f"features has {n:,} entries; at most {limits.features:,} are taken.")
    if _usual(batch, limits):
        return
    longest = limits.text_length if columns else limits.name_length
    for features in batch:
        named: Any = features if isinstance(features, Mapping) else None
        for name, value in zip(repeat(""), features) if named is None else named.items():
            if len(name) > limits.name_length:
                taken = f"at most {limits.name_length:,} are taken"
                msg = f"The name of a feature has {len(name):,} characters; {taken}."
            elif named is None and not isinstance(value, float):
                msg = f"features must be a list of numbers; got {value!r:.60}."
            elif isinstance(value, str) and len(value) > longest:
                taken = f"{len(value):,} characters; at most {longest:,} are taken"
                msg = f"The word of the feature {name[:80]!r} has {taken}."
            elif isinstance(value, float) and not -most <= value <= most:
                what = f"The feature {name[:80]!r}" if named else "A number in features"
                msg = f"{what} is {value:g}; its size must be at most {most:g}."
            else:
                continue
            raise InputError(msg)


def _usual(batch: Sequence[Features], limits: Limits) -> bool:
    """Return whether all rows hold only numbers, within the limits; ten times as fast."""
    if set(map(type, batch)) != {dict}:
        return False
    named: Any = batch
    one = len(batch) == 1
    values = named[0].values() if one else list(chain.from_iterable(map(dict.values, named)))
    if set(map(type, values)) != NUMBERS:
        return False
    longest = max(map(len, named[0] if one else set().union(*named)))
    most = limits.magnitude
    return longest <= limits.name_length and max(values) <= most and min(values) >= -most


def _check_label(label: Label, limits: Limits) -> None:
    """Raise InputError for a label beyond a limit."""
    if isinstance(label, str):
        if not 0 < len(label) <= limits.label_length:
            msg = f"A label must have 1 to {limits.label_length} characters; got {len(label):,}."
            raise InputError(msg)
    elif not isinstance(label, bool) and abs(label) >= 2**53:
        raise InputError(f"A label that is a number must be below 2^53; got {label!r:.60}.")


class Endpoint:
    """An operation of an application: the checks before it, and its answer."""

    def __init__(self, app: Application, operation_: Operation) -> None:
        self._app, self._operation = app, operation_
        self._decode = msgspec.json.Decoder(operation_.request or Any)
        self._decode_line = msgspec.json.Decoder(operation_.lines or Any)
        self._label = f"{operation_.method} {operation_.path}"
        self._most_bytes = 0  # of a body; 0: there is none
        if operation_.request is not None:
            limits = app.limits
            self._most_bytes = limits.model_file if operation_.large else limits.body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, carry it out and answer."""
        app, operation = self._app, self._operation
        scope[BEGAN] = began = perf_counter()
        app.begin()  # an application that mounts this one need not know of its lifespan
        call = self._opened(scope)
        if self._most_bytes:
            body = await _body(receive, self._most_bytes, app.limits.body_seconds)
            answer = await operation.handler(app, call, self._decoded(body, lines=call.lines))
        else:
            answer = await operation.handler(app, call)
        if not isinstance(answer, Reply):
            answer = Reply(answer, operation.status, operation.kind)
        app.metrics.request(self._label, answer.status_code, perf_counter() - began)
        await answer(scope, receive, send)

    def _opened(self, scope: Scope) -> Call:
        """Return the request of a head; raise where it is refused."""
        app, wanted, path = self._app, self._operation, scope["path_params"]
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if len(headers) < len(scope["headers"]):
            _check_single([name for name, _ in scope["headers"]])
        app.access.check_host(headers.get(b"host", b""), headers.get(b"origin"))
        name = path.get("model")
        caller = NOBODY
        if wanted.scope is not None:
            given = headers.get(b"authorization")
            caller = app.access.caller(None if given is None else given.decode("latin-1"))
            app.access.check(caller, wanted.scope, name)
        entry = app.writer.entries.get(name)
        if entry is None and name is not None and wanted.method != "PUT":
            raise no_model(name)
        lines = self._most_bytes > 0 and self._comes_in_lines(headers)
        query = scope["query_string"]
        fields = self._fields(query) if query else {}
        return Call(caller, cast("Entry", entry), path, fields, lines)

    def _fields(self, query: bytes) -> dict[str, Any]:
        """Return the query parameters, converted to their types."""
        kinds = {name: kind for name, kind, _ in self._operation.query}
        found: dict[str, Any] = {}
        for name, text in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
            kind = kinds.get(name)
            number = text.isascii() and text.isdigit() and len(text) < 19
            if kind is None:
                msg = f"Unknown query parameter {name!r:.40}; known: {', '.join(kinds) or 'none'}."
            elif kind is int and not number:
                msg = f"{name} must be a whole number of at least 0; got {text!r:.40}."
            elif kind is bool and text not in TRUTHS:
                msg = f"{name} must be {', '.join(TRUTHS)}; got {text!r:.40}."
            else:
                found[name] = TRUTHS[text] if kind is bool else kind(text)
                continue
            raise RequestError(422, msg)
        return found

    def _comes_in_lines(self, headers: dict[bytes, bytes]) -> bool:
        """Return whether the body is NDJSON; raise unless it is that or JSON, and short enough."""
        kind = headers.get(b"content-type", b"")
        if kind != b"application/json":
            kind = kind.split(b";")[0].strip().lower()
        lines = kind == b"application/x-ndjson" and self._operation.lines is not None
        if kind != b"application/json" and not lines:
            taken = JSON if self._operation.lines is None else f"{JSON} or {NDJSON}"
            raise RequestError(415, f"Content-Type must be {taken}.")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > self._most_bytes:
            raise _too_large(self._most_bytes)
        return lines

    def _decoded(self, body: bytes, *, lines: bool) -> Any:
        """Return a body as its type, or raise."""
        decode = self._decode_line.decode_lines if lines else self._decode.decode
        try:
            found = decode(body)
            # Decoding takes the last of equal keys. Each key has its colon, so there are no equal
            # ones if the numbers agree; else texts have colons, or the slow parser finds the key.
            if body.count(b":") > _n_keys(found):
                for part in body.splitlines() if lines else [body]:
                    if part.strip():
                        json.loads(part, object_pairs_hook=_check_keys)
        except (msgspec.ValidationError, InputError) as error:
            raise RequestError(422, f"Invalid request body: {error}.") from error
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, msgspec.DecodeError) else _UNREADABLE
            raise RequestError(400, f"The body is not JSON: {reason}.") from error
        return self._operation.request(examples=found) if lines else found


def _check_single(names: Sequence[bytes]) -> None:
    """Raise where a header stands twice of which a proxy may have read the other one."""
    for name in SINGLE:
        if names.count(name) > 1:
            raise RequestError(400, f"The header {name.decode().title()} must stand once.")


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    """Raise InputError where a key stands twice in an object."""
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise InputError(f"the key {key!r:.60} stands twice in one place")


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
    return [
        one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory()
        for one in msgspec.structs.fields(kind)
    ]


async def _body(receive: Receive, most: int, seconds: float) -> bytes:
    """Return a body that comes in time."""
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestError(400, "Incomplete body.")  # the client has gone
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise _too_large(most)
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise RequestError(408, f"The body did not come within {seconds:g} seconds.") from None


def _too_large(most: int) -> RequestError:
    return RequestError(413, f"The body may have {most:,} bytes at most.")


def _field(parameter: Parameter) -> str:
    """Return a parameter as the field of a request that it is."""
    name, value = parameter
    return name if value is None else f"{name} {encode(value).decode()}"


def problem(error: Exception) -> Reply:
    """Return the answer for an error."""
    if not isinstance(error, RosenblattError):
        error = RequestError(500, "Internal error; see the service's log.")
    elif not isinstance(error, RequestError):
        error = RequestError(422, spelled(error, _field))
    return Reply(Problem(error=str(error)), error.status, headers=error.headers)
