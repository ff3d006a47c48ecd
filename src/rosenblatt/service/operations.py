"""What can be asked of the service: each operation with what it takes and answers."""

import asyncio
import re
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from rosenblatt.service import answers
from rosenblatt.service.access import OPERATOR, Caller, digest_of, new_token
from rosenblatt.service.app import NDJSON, Application, Call, Handler, Operation, Reply
from rosenblatt.service.forgetting import roll_back
from rosenblatt.service.history import text_of
from rosenblatt.service.journal import JournalReader, TokenRecord
from rosenblatt.service.limits import RequestError
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
ROW, EXAMPLE = "features", "features with a label"
OPERATIONS: list[Operation] = []  # those that are asked most come first


def operation(
    method: str, path: str, scope: str | None, summary: str, **more: Any
) -> Callable[[Handler], Handler]:
    """Add a function to the table of operations."""

    def add(handler: Handler) -> Handler:
        OPERATIONS.append(Operation(method, path, scope, summary, handler, **more))
        return handler

    return add


@operation(
    *("POST", "/v1/models/{model}/predict", "predict", "Predict one row or many"),
    request=PredictRequest,
    answer=Prediction | Predictions,
)
async def predict(app: Application, call: Call) -> Prediction | Predictions:
    """Answer with a label for one row, or labels for many."""
    entry, body = call.model, call.body
    single = body.features is not UNSET
    if single == (body.rows is not UNSET) or (body.id is not None and not single):
        raise _either(ROW, "rows")
    served, version = await app.at(entry, body.version)
    if single:
        app.check(entry, [body.features])
        found = answers.predict(served, version, body.features, body.id)
        app.metrics.predicted(entry, 1)
        if body.id is not None:
            app.check_id(body.id)
            entry.remembered.add(body.id, body.features)
        return found
    app.check(entry, body.rows)
    app.metrics.predicted(entry, len(body.rows))
    return answers.predict_many(served, version, body.rows)


def _either(one: str, other: str) -> RequestError:
    msg = f"Give either {one} or {other}; an id goes with {one} only."
    return RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, msg)


@operation(
    *("POST", "/v1/models/{model}/learn", "teach", "Learn one example or many, all or none"),
    request=LearnRequest,
    lines=Example,
    answer=Learned | LearnedMany,
)
async def learn(app: Application, call: Call) -> Learned | LearnedMany:
    """Answer when the examples are on the disk and in the weights."""
    entry, body = call.model, call.body
    if not call.lines:
        given = [body.features is not UNSET, body.label is not UNSET]
        single = body.examples is UNSET
        if not all(given) if single else (any(given) or body.id is not None):
            raise _either(EXAMPLE, "examples")
        if single:
            return (await app.teach(entry, [body], call.caller))[0]
        body = body.examples
    app.check_batch(len(body))
    results = await app.teach(entry, body, call.caller) if body else []
    version = max((one.version for one in results), default=entry.shown.version)
    return LearnedMany(results=results, version=version)


@operation(
    *("POST", "/v1/models/{model}/feedback", "teach", "Give the label of an earlier prediction"),
    request=Feedback,
    answer=Learned,
)
async def feedback(app: Application, call: Call) -> Learned:
    """Learn from the features that were predicted under an id."""
    entry, body = call.model, call.body
    features: Any = entry.remembered.get(body.id)
    if features is None:
        msg = f"No prediction {body.id!r:.80} is remembered here; teach its features with learn."
        raise RequestError(HTTPStatus.NOT_FOUND, msg)
    example = Example(features=features, label=body.label, id=body.id)
    return (await app.teach(entry, [example], call.caller))[0]


@operation("GET", "/v1/models", "inspect", "List the models", answer=ModelList)
async def list_models(app: Application, call: Call) -> ModelList:
    """List the models that the caller may know of."""
    models = call.caller.models
    return ModelList(
        models=[
            answers.described(entry)
            for name, entry in sorted(app.writer.entries.items())
            if models is None or name in models
        ]
    )


@operation(
    *("PUT", "/v1/models/{model}", "admin", "Create a model"),
    request=ModelSpec,
    answer=Description,
    status=HTTPStatus.CREATED,
    large=True,
)
async def create(app: Application, call: Call) -> Description:
    """Create a model; the same again changes nothing."""
    name = call.path["model"]
    check_name(name)
    entry = await app.command(lambda: app.writer.create(name, call.body))
    return answers.described(entry)


@operation(
    *("GET", "/v1/models/{model}", "inspect", "Describe a model"),
    answer=Description,
    query=(("curve", bool, "Whether the curve of the progressive error is wanted."),),
)
async def describe(app: Application, call: Call) -> Description:
    """Describe a model, with the curve of its progressive error if it is asked for."""
    entry = call.model
    if not call.query.get("curve"):
        return answers.described(entry)

    model = entry.record.model
    curve = await app.read(lambda reader: reader.curve(model, answers.CURVE_POINTS))
    return answers.described(entry, curve)


@operation(
    *("DELETE", "/v1/models/{model}", "admin", "Delete a model with all of its examples"),
    status=HTTPStatus.NO_CONTENT,
)
async def delete(app: Application, call: Call) -> Reply:
    """Delete a model."""
    await app.command(lambda: app.writer.remove(call.model))
    app.versions.clear()
    return Reply(b"", HTTPStatus.NO_CONTENT)


@operation(
    *("POST", "/v1/models/{model}/explain", "predict", "Explain a prediction by its features"),
    request=ExplainRequest,
    answer=ExplanationAnswer,
)
async def explain(app: Application, call: Call) -> ExplanationAnswer:
    """Answer with what each feature adds to the score."""
    body = call.body
    app.check(call.model, [body.features])
    served, version = await app.at(call.model, body.version)
    return answers.explain(served, version, body.features, body.top)


@operation(
    *("POST", "/v1/models/{model}/why", "inspect", "Explain a prediction by the examples"),
    request=ExplainRequest,
    answer=WhyAnswer,
)
async def why(app: Application, call: Call) -> Any:
    """Answer with the examples that taught the model this score."""
    body = call.body
    if body.version is not None:
        msg = "Examples are named for the newest version only: leave version out."
        raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, msg)
    app.check(call.model, [body.features])
    return await asyncio.to_thread(answers.why, app.writer, call.model, body.features, body.top)


@operation(
    *("GET", "/v1/models/{model}/journal", "inspect", "Read the events of a model, as NDJSON"),
    answer=JournalLine,
    kind=NDJSON,
    query=(
        ("after", int, "Number of the last event that is known already."),
        ("limit", int, f"At most so many events, up to {MOST_LINES}."),
        ("mistakes", bool, "Only examples that were predicted wrong, the latest first."),
    ),
)
async def journal(app: Application, call: Call) -> Reply:
    """Answer with events, one a line."""
    after, limit = call.query.get("after", 0), call.query.get("limit", 1000)
    if limit > MOST_LINES:
        msg = f"limit must be at most {MOST_LINES}; got {limit}."
        raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, msg)
    model = call.model.record.model

    def read(reader: JournalReader) -> bytes:
        if call.query.get("mistakes"):
            events = reader.latest_counted(model, limit, "predicted <> label")
        else:
            events = list(reader.events(model, after, after + limit))
        return answers.lines(reader, model, events)

    return Reply(await app.read(read), kind=NDJSON)


@operation(
    *("GET", "/v1/models/{model}/export", "inspect", "Export a model as a file"),
    kind="application/octet-stream",
    query=(
        ("format", str, "model (the default), json or onnx."),
        ("version", int, "As the model was then."),
    ),
)
async def export(app: Application, call: Call) -> Reply:
    """Answer with a file of the model."""
    kind = call.query.get("format", "model")
    if kind not in {"model", "json", "onnx"}:
        msg = f"format must be model, json or onnx; got {kind!r:.40}."
        raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, msg)
    entry = call.model
    served = await asyncio.to_thread(app.versions.get, entry, call.query.get("version"))
    type_, body = await asyncio.to_thread(answers.exported, served, kind)
    name = f"{entry.record.name}.{kind}"
    headers = ((b"content-disposition", f'attachment; filename="{name}"'.encode()),)
    return Reply(body, kind=type_, headers=headers)


@operation(
    *("POST", "/v1/models/{model}/forget", "admin", "Forget examples"),
    request=ForgetRequest,
    answer=Forgotten,
    status=HTTPStatus.ACCEPTED,
)
async def forget(app: Application, call: Call) -> Any:
    """Accept a replay without the examples, which runs in the background."""
    token = call.caller.name
    return await app.command(lambda: app.replays.add(call.model, call.body, token))


@operation(
    *("GET", "/v1/models/{model}/jobs/{job}", "inspect", "Ask how far a forgetting is"), answer=Job
)
async def job(app: Application, call: Call) -> Job:
    """Answer with the state of a job."""
    number, model = call.path["job"], call.model.record.model
    for record in await app.read(lambda reader: reader.jobs(model)):
        if str(record.job) == number:
            found = answers.job_of(record)
            if found.status == "done" and (found.version or 0) > call.model.shown.version:
                found.status = "waiting"  # it is on the disk; readers see it in a moment
            return found
    raise RequestError(HTTPStatus.NOT_FOUND, f"There is no job {number!r:.40}.")


@operation(
    *("POST", "/v1/models/{model}/rollback", "admin", "Return to an older version"),
    request=RollbackRequest,
    answer=Description,
)
async def rollback(app: Application, call: Call) -> Description:
    """Make the model of an older version the newest."""
    entry, version = call.model, call.body.version
    served = await asyncio.to_thread(app.versions.new, entry, version)
    await app.command(lambda: roll_back(app.writer, entry, version, served, call.caller.name))
    return answers.described(entry)


@operation("GET", "/v1/tokens", "admin", "List the tokens", answer=TokenList)
async def list_tokens(app: Application, call: Call) -> TokenList:
    """List tokens, without the secrets."""
    _check_everything(call.caller)
    tokens = sorted(app.writer.tokens.values())
    return TokenList(tokens=[_token(record) for record in tokens])


@operation(
    *("POST", "/v1/tokens", "admin", "Make a token"),
    request=TokenRequest,
    answer=TokenAnswer,
    status=HTTPStatus.CREATED,
)
async def make_token(app: Application, call: Call) -> TokenAnswer:
    """Make a token and show it this once."""
    _check_everything(call.caller)
    secret = new_token()
    record = token_record(call.body, secret, app.writer.clock())
    await app.command(lambda: app.writer.add_token(record))
    answer = _token(record)
    answer.token = secret
    return answer


@operation(
    *("DELETE", "/v1/tokens/{token}", "admin", "Remove a token"), status=HTTPStatus.NO_CONTENT
)
async def remove_token(app: Application, call: Call) -> Reply:
    """Remove a token: it is refused from now on."""
    _check_everything(call.caller)
    await app.command(lambda: app.writer.remove_token(call.path["token"]))
    return Reply(b"", HTTPStatus.NO_CONTENT)


def _check_everything(caller: Caller) -> None:
    if caller.models is not None:
        msg = f"The token {caller.name!r} is for some models only; this needs one for all."
        raise RequestError(HTTPStatus.FORBIDDEN, msg)


def token_record(request: TokenRequest, secret: str, now: float) -> TokenRecord:
    """Return a token as the journal keeps it."""
    check_name(request.name, "token")
    if request.name == OPERATOR:
        msg = f"The name {OPERATOR!r} is reserved for the token of the operator; choose another."
        raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, msg)
    for name in request.models or ():
        check_name(name)
    models = None if request.models is None else text_of(request.models)
    scopes = text_of(sorted(set(request.scopes)))
    return TokenRecord(request.name, digest_of(secret), scopes, models, now)


def _token(record: TokenRecord) -> TokenAnswer:
    return TokenAnswer(
        name=record.name,
        scopes=msgspec.json.decode(record.scopes),
        models=None if record.models is None else msgspec.json.decode(record.models),
        created=record.created,
    )


@operation("GET", "/health", None, "Whether the service runs", answer=Ready)
async def health(_app: Application, _call: Call) -> Ready:
    """Answer that the service runs."""
    return Ready(ready=True)


@operation(
    *("GET", "/ready", None, "Whether examples can be learned"),
    answer=Ready,
    other_statuses=(HTTPStatus.SERVICE_UNAVAILABLE,),
)
async def ready(app: Application, _call: Call) -> Any:
    """Answer whether examples can be learned; predictions can in any case."""
    failure = app.writer.failure
    body = Ready(ready=failure is None, reason=failure)
    return body if failure is None else Reply(body, HTTPStatus.SERVICE_UNAVAILABLE)


@operation(
    *("GET", "/metrics", "inspect", "Counters for Prometheus"),
    kind="text/plain; version=0.0.4; charset=utf-8",
)
async def metrics(app: Application, call: Call) -> Reply:
    """Answer with counters."""
    _check_everything(call.caller)
    return Reply(app.metrics.text().encode(), kind="text/plain; version=0.0.4; charset=utf-8")


@operation("GET", "/openapi.json", None, "This interface as OpenAPI")
async def openapi(app: Application, _call: Call) -> Any:
    """Answer with the document that describes all operations."""
    from rosenblatt.service.openapi import document
    from rosenblatt.version import __version__

    return document(app.operations, __version__)


@operation("GET", "/", None, "The page for people", kind="text/html; charset=utf-8")
async def page(_app: Application, _call: Call) -> Reply:
    """Answer with the page."""
    return page_file("index.html")


@operation("GET", "/page/{file}", None, "A part of the page", kind="text/html; charset=utf-8")
async def page_part(_app: Application, call: Call) -> Reply:
    """Answer with a file that the page needs."""
    return page_file(call.path["file"])


def page_file(name: str) -> Reply:
    """Return a file of the page; only those that are there by name."""
    known = {file.name: file for file in (*PAGE.iterdir(), *(LAB / part for part in LAB_PARTS))}
    file = known.get(name)
    kind = PAGE_TYPES.get(Path(name).suffix)
    if file is None or kind is None:
        raise RequestError(HTTPStatus.NOT_FOUND, "Not found.")
    return Reply(file.read_bytes(), kind=kind, headers=PAGE_HEADERS)


def check_name(name: str, of: str = "model") -> None:
    """Raise for what cannot be the name of a model or a token."""
    if not re.fullmatch(NAME, name):
        msg = (
            f"{name[:80]!r} cannot be the name of a {of}: use letters, digits, dots, dashes and "
            "underscores, at most 64, the first a letter or digit."
        )
        raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, msg)
