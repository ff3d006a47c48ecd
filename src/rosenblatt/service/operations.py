"""What can be asked of the service: each operation with what it takes and answers."""

import asyncio
import re
import secrets
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast, get_type_hints

import msgspec
from msgspec import UNSET

from rosenblatt.service import answers
from rosenblatt.service.access import OPERATOR, digest_of
from rosenblatt.service.app import NDJSON, Application, Call, Handler, Operation, Reply
from rosenblatt.service.forgetting import roll_back
from rosenblatt.service.history import text_of
from rosenblatt.service.journal import JournalReader, TokenRecord
from rosenblatt.service.limits import RequestError
from rosenblatt.service.openapi import document
from rosenblatt.service.requests import (
    NAME,
    Description,
    Example,
    ExplainRequest,
    ExplanationAnswer,
    Feedback,
    ForgetRequest,
    Forgotten,
    Job,
    JournalLine,
    Learned,
    LearnedMany,
    LearnRequest,
    ModelList,
    ModelSpec,
    Prediction,
    Predictions,
    PredictRequest,
    Ready,
    RollbackRequest,
    TokenAnswer,
    TokenList,
    TokenRequest,
    WhyAnswer,
)
from rosenblatt.version import __version__

MOST_LINES = 10_000  # of the journal in one answer
PAGE = Path(__file__).parent / "page"
LAB = Path(__file__).parents[1] / "lab" / "assets"
LAB_PARTS = ("colours.css", "elements.js", "chart.js", "icon.svg")  # that the page takes from there
PAGE_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
PAGE_HEADERS = (
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
EITHER = "Give either {0} or {1}; an id goes with {0} only."
OPERATIONS: list[Operation] = []  # those that are asked most come first


def operation(
    method: str, path: str, scope: str | None, **more: Any
) -> Callable[[Handler], Handler]:
    """Add a function to the table of operations: its types check bodies, its docstring sums up."""

    def add(handler: Handler) -> Handler:
        types = get_type_hints(handler)
        given = {"request": types.get("body"), "answer": types["return"]} | more
        summary = (handler.__doc__ or "").partition(".")[0]
        OPERATIONS.append(Operation(method, path, scope, summary, handler, **given))
        return handler

    return add


@operation("POST", "/v1/models/{model}/predict", "predict")
async def predict(app: Application, call: Call, body: PredictRequest) -> Prediction | Predictions:
    """Predict one row or many."""
    features, rows = body.features, cast("Any", body.rows)
    if (features is UNSET) == (rows is UNSET) or (body.id is not None and features is UNSET):
        raise RequestError(422, EITHER.format("features", "rows"))
    served, version = await app.at(call.model, body.version)
    if features is UNSET:
        app.check(call.model, rows)
        app.metrics.predicted(call.model, len(rows))
        return answers.predict_many(served, version, rows)
    app.check(call.model, [features], [body.id])
    found = answers.predict(served, version, features, body.id)
    app.metrics.predicted(call.model, 1)
    if body.id is not None:
        call.model.remembered.add(body.id, features)
    return found


@operation("POST", "/v1/models/{model}/learn", "teach", lines=Example)
async def learn(app: Application, call: Call, body: LearnRequest) -> Learned | LearnedMany:
    """Learn one example or many, all or none."""
    given, examples = [body.features is not UNSET, body.label is not UNSET], body.examples
    if not all(given) if examples is UNSET else (any(given) or body.id is not None):
        raise RequestError(422, EITHER.format("features with a label", "examples"))
    if examples is UNSET:
        return (await app.teach(call, [body]))[0]
    results = await app.teach(call, examples) if examples else []
    version = max((one.version for one in results), default=call.model.shown.version)
    return LearnedMany(results=results, version=version)


@operation("POST", "/v1/models/{model}/feedback", "teach")
async def feedback(app: Application, call: Call, body: Feedback) -> Learned:
    """Give the label of an earlier prediction."""
    features: Any = call.model.remembered.rows.get(body.id)
    if features is None:
        msg = f"No prediction {body.id!r:.80} is remembered here; teach its features with learn."
        raise RequestError(404, msg)
    example = Example(features=features, label=body.label, id=body.id)
    return (await app.teach(call, [example]))[0]


@operation("GET", "/v1/models", "inspect")
async def list_models(app: Application, call: Call) -> ModelList:
    """List the models that the token may know of."""
    models, entries = call.caller.models, sorted(app.writer.entries.items())
    listed = [entry for name, entry in entries if models is None or name in models]
    return ModelList(models=[answers.described(entry) for entry in listed])


@operation("PUT", "/v1/models/{model}", "admin", status=HTTPStatus.CREATED, large=True)
async def create(app: Application, call: Call, body: ModelSpec) -> Description:
    """Create a model; the same again changes nothing."""
    name = call.path["model"]
    check_name(name)
    return answers.described(await app.command(lambda: app.writer.create(name, body)))


@operation(
    *("GET", "/v1/models/{model}", "inspect"),
    query=(("curve", bool, "Whether the curve of the progressive error is wanted."),),
)
async def describe(app: Application, call: Call) -> Description:
    """Describe a model."""
    if not call.query.get("curve"):
        return answers.described(call.model)
    model = call.model.record.model
    curve = await app.read(lambda reader: reader.curve(model, answers.CURVE_POINTS))
    return answers.described(call.model, curve)


@operation("DELETE", "/v1/models/{model}", "admin", status=HTTPStatus.NO_CONTENT)
async def delete(app: Application, call: Call) -> None:
    """Delete a model with all of its examples."""
    await app.command(lambda: app.writer.remove(call.model))
    app.versions.clear()


@operation("POST", "/v1/models/{model}/explain", "predict")
async def explain(app: Application, call: Call, body: ExplainRequest) -> ExplanationAnswer:
    """Explain a prediction by its features."""
    app.check(call.model, [body.features])
    served, version = await app.at(call.model, body.version)
    return answers.explain(served, version, body.features, body.top)


@operation("POST", "/v1/models/{model}/why", "inspect")
async def why(app: Application, call: Call, body: ExplainRequest) -> WhyAnswer:
    """Explain a prediction by the examples."""
    if body.version is not None:
        msg = "Examples are named for the newest version only: leave version out."
        raise RequestError(422, msg)
    app.check(call.model, [body.features])
    return await asyncio.to_thread(answers.why, app.writer, call.model, body.features, body.top)


@operation(
    *("GET", "/v1/models/{model}/journal", "inspect"),
    answer=JournalLine,
    kind=NDJSON,
    query=(
        ("after", int, "Number of the last event that is known already."),
        ("limit", int, f"At most so many events, up to {MOST_LINES}."),
        ("mistakes", bool, "Only examples that were predicted wrong, the latest first."),
    ),
)
async def journal(app: Application, call: Call) -> bytes:
    """Read the events of a model, as NDJSON."""
    after, limit = call.query.get("after", 0), call.query.get("limit", 1000)
    if limit > MOST_LINES:
        raise RequestError(422, f"limit must be at most {MOST_LINES}; got {limit}.")
    model = call.model.record.model

    def read(reader: JournalReader) -> bytes:
        if call.query.get("mistakes"):
            events = reader.latest_counted(model, limit, "predicted <> label")
        else:
            events = list(reader.events(model, after, after + limit))
        return answers.lines(events, reader.undone(model, events))

    return cast("bytes", await app.read(read))


@operation(
    *("GET", "/v1/models/{model}/export", "inspect"),
    kind="application/octet-stream",
    query=(
        ("format", str, "model (the default), json or onnx."),
        ("version", int, "As the model was then."),
    ),
)
async def export(app: Application, call: Call) -> Reply:
    """Export a model as a file."""
    kind = call.query.get("format", "model")
    if kind not in {"model", "json", "onnx"}:
        raise RequestError(422, f"format must be model, json or onnx; got {kind!r:.40}.")
    served = await asyncio.to_thread(app.versions.get, call.model, call.query.get("version"))
    type_, body = await asyncio.to_thread(answers.exported, served, kind)
    named = f'attachment; filename="{call.model.record.name}.{kind}"'.encode()
    return Reply(body, kind=type_, headers=((b"content-disposition", named),))


@operation("POST", "/v1/models/{model}/forget", "admin", status=HTTPStatus.ACCEPTED)
async def forget(app: Application, call: Call, body: ForgetRequest) -> Forgotten:
    """Forget examples, by a replay without them in the background."""
    token = call.caller.name
    return cast("Forgotten", await app.command(lambda: app.replays.add(call.model, body, token)))


@operation("GET", "/v1/models/{model}/jobs/{job}", "inspect")
async def job(app: Application, call: Call) -> Job:
    """Ask how far a forgetting is."""
    number, model = call.path["job"], call.model.record.model
    for record in await app.read(lambda reader: reader.jobs(model)):
        if str(record.job) == number:
            found = answers.job_of(record)
            if found.status == "done" and (found.version or 0) > call.model.shown.version:
                found.status = "waiting"  # it is on the disk; readers see it in a moment
            return found
    raise RequestError(404, f"There is no job {number!r:.40}.")


@operation("POST", "/v1/models/{model}/rollback", "admin")
async def rollback(app: Application, call: Call, body: RollbackRequest) -> Description:
    """Return to an older version."""
    entry, version = call.model, body.version
    served = await asyncio.to_thread(app.versions.new, entry, version)
    await app.command(lambda: roll_back(app.writer, entry, version, served, call.caller.name))
    return answers.described(entry)


@operation("GET", "/v1/tokens", "admin")
async def list_tokens(app: Application, call: Call) -> TokenList:
    """List the tokens, without the secrets."""
    call.caller.check_all_models()
    return TokenList(tokens=[_token(record) for record in sorted(app.writer.tokens.values())])


@operation("POST", "/v1/tokens", "admin", status=HTTPStatus.CREATED)
async def make_token(app: Application, call: Call, body: TokenRequest) -> TokenAnswer:
    """Make a token, which is shown this once."""
    call.caller.check_all_models()
    secret, record = token_record(body, app.writer.clock())
    await app.command(lambda: app.writer.add_token(record))
    return _token(record, secret)


@operation("DELETE", "/v1/tokens/{token}", "admin", status=HTTPStatus.NO_CONTENT)
async def remove_token(app: Application, call: Call) -> None:
    """Remove a token: it is refused from now on."""
    call.caller.check_all_models()
    await app.command(lambda: app.writer.remove_token(call.path["token"]))


def token_record(request: TokenRequest, now: float) -> tuple[str, TokenRecord]:
    """Return a new token, and what the journal keeps of it."""
    check_name(request.name, "token")
    if request.name == OPERATOR:
        msg = f"The name {OPERATOR!r} is reserved for the token of the operator; choose another."
        raise RequestError(422, msg)
    for name in request.models or ():
        check_name(name)
    models = None if request.models is None else text_of(request.models)
    secret, scopes = secrets.token_urlsafe(32), text_of(sorted(set(request.scopes)))  # 256 bits
    return secret, TokenRecord(request.name, digest_of(secret), scopes, models, now)


def _token(record: TokenRecord, secret: str | None = None) -> TokenAnswer:
    scopes, models = (
        msgspec.json.decode(text or "null") for text in (record.scopes, record.models)
    )
    return TokenAnswer(
        name=record.name, scopes=scopes, models=models, created=record.created, token=secret
    )


@operation("GET", "/health", None)
async def health(_app: Application, _call: Call) -> Ready:
    """Return whether the service runs."""
    return Ready(ready=True)


@operation("GET", "/ready", None, other_statuses=(HTTPStatus.SERVICE_UNAVAILABLE,))
async def ready(app: Application, _call: Call) -> Ready | Reply:
    """Return whether examples can be learned; predictions can in any case."""
    failure = app.writer.failure
    body = Ready(ready=failure is None, reason=failure)
    return body if failure is None else Reply(body, HTTPStatus.SERVICE_UNAVAILABLE)


@operation("GET", "/metrics", "inspect", kind="text/plain; version=0.0.4; charset=utf-8")
async def metrics(app: Application, call: Call) -> bytes:
    """Return counters for Prometheus."""
    call.caller.check_all_models()
    return app.metrics.text().encode()


@operation("GET", "/openapi.json", None)
async def openapi(app: Application, _call: Call) -> dict[str, Any]:
    """Return this interface as OpenAPI."""
    return document(app.operations, __version__)


@operation("GET", "/", None, kind="text/html; charset=utf-8")
async def page(_app: Application, _call: Call) -> Reply:
    """Return the page for people."""
    return page_file("index.html")


@operation("GET", "/page/{file}", None, kind="text/html; charset=utf-8")
async def page_part(_app: Application, call: Call) -> Reply:
    """Return a part of the page."""
    return page_file(call.path["file"])


def page_file(name: str) -> Reply:
    """Return a file of the page; only those that are there by name."""
    known = {file.name: file for file in (*PAGE.iterdir(), *(LAB / part for part in LAB_PARTS))}
    file = known.get(name)
    kind = PAGE_TYPES.get(Path(name).suffix)
    if file is None or kind is None:
        raise RequestError(404, "Not found.")
    return Reply(file.read_bytes(), kind=kind, headers=PAGE_HEADERS)


def check_name(name: str, of: str = "model") -> None:
    """Raise for what cannot be the name of a model or a token."""
    if not re.fullmatch(NAME, name):
        raise RequestError(
            422,
            f"{name[:80]!r} cannot be the name of a {of}: use letters, digits, dots, dashes and "
            "underscores, at most 64, the first a letter or digit.",
        )
