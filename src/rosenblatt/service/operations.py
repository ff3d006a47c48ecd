"""What can be asked of the service: each operation with what it takes and answers."""

import asyncio
import re
import secrets
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast, get_type_hints

import msgspec
from msgspec import UNSET

from rosenblatt.service import history, requests
from rosenblatt.service.access import OPERATOR, digest_of
from rosenblatt.service.app import NDJSON, Application, Call, Handler, Operation, Reply
from rosenblatt.service.columns import ColumnFeatures
from rosenblatt.service.forgetting import roll_back
from rosenblatt.service.journal import (
    DONE,
    ERASED,
    KINDS,
    WAITING,
    Event,
    JournalReader,
    TokenRecord,
)
from rosenblatt.service.limits import RequestError
from rosenblatt.service.openapi import document
from rosenblatt.service.reasons import question_of, why_answer
from rosenblatt.service.writer import Entry, updated_by
from rosenblatt.version import __version__

CURVE_POINTS = 200
HELD_LOG = (
    "The model has forgotten the examples. Another program, perhaps a backup, is reading the "
    "journal, whose log holds them until it ends."
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
async def predict(
    app: Application, call: Call, body: requests.PredictRequest
) -> requests.Prediction | requests.Predictions:
    """Predict one row or many."""
    one = body.features is not UNSET
    if one == (body.rows is not UNSET) or (body.id is not None and not one):
        raise RequestError(422, EITHER.format("features", "rows"))
    batch: Any = [body.features] if one else body.rows
    served, version = await app.at(call.model, body.version)
    app.check(call.model, batch, [body.id])
    said = served.said(batch, one=one)
    app.metrics.predicted(call.model, len(batch))
    if not one:
        return requests.Predictions(
            labels=said.labels,
            scores=said.scores,
            version=version,
            errors_at_most=UNSET if said.bounds is None else said.bounds,
            unfamiliar=said.remarks or UNSET,
        )
    found = requests.Prediction(
        label=said.labels[0],
        score=said.scores[0] if said.scores else None,
        version=version,
        id=body.id,
        probability=UNSET if said.probabilities is None else said.probabilities[0],
        error_at_most=UNSET if said.bounds is None else said.bounds[0],
        unfamiliar=said.remarks or UNSET,
    )
    if body.id is not None:
        call.model.remembered.add(body.id, batch[0])
    return found


@operation("POST", "/v1/models/{model}/learn", "teach", lines=requests.Example)
async def learn(
    app: Application, call: Call, body: requests.LearnRequest
) -> requests.Learned | requests.LearnedMany:
    """Learn one example or many, all or none."""
    given, examples = [body.features is not UNSET, body.label is not UNSET], body.examples
    if not all(given) if examples is UNSET else (any(given) or body.id is not None):
        raise RequestError(422, EITHER.format("features with a label", "examples"))
    if examples is UNSET:
        return (await app.teach(call, [body]))[0]
    results = await app.teach(call, examples) if examples else []
    version = max((one.version for one in results), default=call.model.shown.version)
    return requests.LearnedMany(results=results, version=version)


@operation("POST", "/v1/models/{model}/feedback", "teach")
async def feedback(app: Application, call: Call, body: requests.Feedback) -> requests.Learned:
    """Give the label of an earlier prediction."""
    features: Any = call.model.remembered.rows.get(body.id)
    if features is None:
        msg = f"No prediction {body.id!r:.80} is remembered here; teach its features with learn."
        raise RequestError(404, msg)
    example = requests.Example(features=features, label=body.label, id=body.id)
    return (await app.teach(call, [example]))[0]


@operation("GET", "/v1/models", "inspect")
async def list_models(app: Application, call: Call) -> requests.ModelList:
    """List the models that the token may know of."""
    models, entries = call.caller.models, sorted(app.writer.entries.items())
    listed = [entry for name, entry in entries if models is None or name in models]
    return requests.ModelList(models=[described(entry) for entry in listed])


@operation("PUT", "/v1/models/{model}", "admin", status=HTTPStatus.CREATED, large=True)
async def create(app: Application, call: Call, body: requests.ModelSpec) -> requests.Description:
    """Create a model; the same again changes nothing."""
    name = call.path["model"]
    check_name(name)
    return described(await app.command(lambda: app.writer.create(name, body)))


@operation(
    *("GET", "/v1/models/{model}", "inspect"),
    query=(("curve", bool, "Whether the curve of the progressive error is wanted."),),
)
async def describe(app: Application, call: Call) -> requests.Description:
    """Describe a model."""
    if not call.query.get("curve"):
        return described(call.model)
    model = call.model.record.model
    curve = await app.read(lambda reader: reader.curve(model, CURVE_POINTS))
    return described(call.model, curve)


def described(
    entry: Entry, curve: Sequence[tuple[int, int, int, float]] = ()
) -> requests.Description:
    """Return what a model is and how it is doing, with the curve of its progressive error."""
    learner, space = entry.shown.learner.learner, entry.shown.learner.space
    points, learned, wrong = [], 0, 0
    for version, n, n_wrong, time in curve:
        learned, wrong = learned + n, wrong + n_wrong
        points.append(requests.CurvePoint(version=version, learned=learned, wrong=wrong, time=time))
    return requests.Description.from_record(
        entry.shown,
        name=entry.record.name,
        rule=learner.rule,
        memory=learner.memory,
        title=learner.title,
        goal=learner.task,
        parameters={name: value for name, value in learner.values.items() if value is not None},
        features=space.kind,
        columns=dict(space.columns) if isinstance(space, ColumnFeatures) else None,
        levels=space.levels if isinstance(space, ColumnFeatures) else {},
        ranges=space.ranges if isinstance(space, ColumnFeatures) else {},
        classes=entry.shown.learner.classes,
        n_features=entry.shown.learner.n_features,
        oldest=entry.record.oldest,
        created=entry.record.created,
        curve=points,
    )


@operation("DELETE", "/v1/models/{model}", "admin", status=HTTPStatus.NO_CONTENT)
async def delete(app: Application, call: Call) -> None:
    """Delete a model with all of its examples."""
    await app.command(lambda: app.writer.remove(call.model))
    app.versions.clear()


@operation("POST", "/v1/models/{model}/explain", "predict")
async def explain(
    app: Application, call: Call, body: requests.ExplainRequest
) -> requests.ExplanationAnswer:
    """Explain a prediction by its features."""
    app.check(call.model, [body.features])
    served, version = await app.at(call.model, body.version)
    return question_of(served, body).explanation(body.top, version)


@operation("POST", "/v1/models/{model}/why", "inspect")
async def why(app: Application, call: Call, body: requests.ExplainRequest) -> requests.WhyAnswer:
    """Explain a prediction by the examples."""
    if body.version is not None:
        msg = "Examples are named for the newest version only: leave version out."
        raise RequestError(422, msg)
    app.check(call.model, [body.features])
    return await asyncio.to_thread(why_answer, app.writer, call.model, body)


@operation(
    *("GET", "/v1/models/{model}/journal", "inspect"),
    answer=requests.JournalLine,
    kind=NDJSON,
    query=(
        ("after", int, "Number of the last event that is known already."),
        ("limit", int, f"Maximum number of events, up to {MOST_LINES}."),
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
        undone = reader.undone(model, events)
        found = [_line(event, undone.get(event.sequence)) for event in events]
        return msgspec.json.Encoder().encode_lines(found)

    return cast("bytes", await app.read(read))


def _line(event: Event, undone: int | None) -> requests.JournalLine:
    """Return an event as clients see it; ``undone`` is the return that left it behind."""
    return requests.JournalLine.from_record(
        event,
        kind=KINDS[event.kind],
        mistake=None if event.mistake is None else bool(event.mistake),
        updated=None if event.mistake is None else updated_by(event),
        features=event.features and history.features_from(event.features),
        label=history.label_from(event.label),
        predicted=history.label_from(event.predicted),
        rival=history.label_from(event.rival),
        undone=undone,
        note=event.note and msgspec.json.decode(event.note),
    )


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
    formats = {"model": history.file_of, **call.model.shown.learner.exports}
    if kind not in formats:
        raise RequestError(422, f"format must be {' or '.join(formats)}; got {kind!r:.40}.")
    record = call.model.record

    def written() -> Any:
        model = app.versions.get(record, call.query.get("version")).model()
        if model is None:
            msg = "The model has learned nothing yet; there is nothing to export."
            raise RequestError(409, msg)
        return formats[kind](model)

    type_ = "application/json" if kind == "json" else "application/octet-stream"
    named = f'attachment; filename="{record.name}.{kind}"'.encode()
    file = await asyncio.to_thread(written)
    return Reply(file, kind=type_, headers=((b"content-disposition", named),))


@operation("POST", "/v1/models/{model}/forget", "admin", status=HTTPStatus.ACCEPTED)
async def forget(app: Application, call: Call, body: requests.ForgetRequest) -> requests.Forgotten:
    """Forget examples, by a replay without them in the background."""
    token = call.caller.name
    return cast(
        "requests.Forgotten", await app.command(lambda: app.replays.add(call.model, body, token))
    )


@operation("GET", "/v1/models/{model}/jobs/{job}", "inspect")
async def job(app: Application, call: Call) -> requests.Job:
    """Ask how far a forgetting is."""
    number, model = call.path["job"], call.model.record.model
    for record in await app.read(lambda reader: reader.jobs(model)):
        if str(record.job) == number:
            answer = msgspec.json.decode(record.answer or "{}")
            found = requests.Job.from_record(
                record,
                request=msgspec.json.decode(record.request, type=requests.ForgetRequest),
                **{name: answer.get(name) for name in ("examples", "version", "error")},
            )
            if record.status == ERASED:
                found.status, found.reason = WAITING, HELD_LOG
            elif found.status == DONE and (found.version or 0) > call.model.shown.version:
                found.status = WAITING  # it is on the disk; readers see it in a moment
            return found
    raise RequestError(404, f"There is no job {number!r:.40}.")


@operation("POST", "/v1/models/{model}/rollback", "admin")
async def rollback(
    app: Application, call: Call, body: requests.RollbackRequest
) -> requests.Description:
    """Return to an older version."""
    entry, version = call.model, body.version
    served = await asyncio.to_thread(app.versions.new, entry.record, version)
    await app.command(lambda: roll_back(app.writer, entry, version, served, call.caller.name))
    return described(entry)


@operation("GET", "/v1/tokens", "admin")
async def list_tokens(app: Application, call: Call) -> requests.TokenList:
    """List the tokens, without the secrets."""
    call.caller.check_all_models()
    tokens = sorted(app.writer.tokens.values())
    return requests.TokenList(tokens=[requests.TokenAnswer.from_record(one) for one in tokens])


@operation("POST", "/v1/tokens", "admin", status=HTTPStatus.CREATED)
async def make_token(
    app: Application, call: Call, body: requests.TokenRequest
) -> requests.TokenAnswer:
    """Make a token, which is shown this once."""
    call.caller.check_all_models()
    secret, record = token_record(body, app.writer.clock())
    await app.command(lambda: app.writer.add_token(record))
    return requests.TokenAnswer.from_record(record, token=secret)


@operation("DELETE", "/v1/tokens/{token}", "admin", status=HTTPStatus.NO_CONTENT)
async def remove_token(app: Application, call: Call) -> None:
    """Remove a token: it is refused from now on."""
    call.caller.check_all_models()
    name, keep_admin = call.path["token"], app.access.operator is None
    await app.command(lambda: app.writer.remove_token(name, keep_admin=keep_admin))


@operation("GET", "/v1/token", "predict")
async def own_token(_app: Application, call: Call) -> requests.OwnToken:
    """Describe the token of the request."""
    return requests.OwnToken.from_record(call.caller)


def token_record(request: requests.TokenRequest, now: float) -> tuple[str, TokenRecord]:
    """Return a new token, and what the journal keeps of it."""
    check_name(request.name, "token")
    if request.name == OPERATOR:
        msg = f"The name {OPERATOR!r} is reserved for the token of the operator; choose another."
        raise RequestError(422, msg)
    for name in request.models or ():
        check_name(name)
    models = None if request.models is None else tuple(request.models)
    secret, scopes = secrets.token_urlsafe(32), tuple(sorted(set(request.scopes)))  # 256 bits
    return secret, TokenRecord(request.name, digest_of(secret), scopes, models, now)


@operation("GET", "/health", None)
async def health(_app: Application, _call: Call) -> requests.Ready:
    """Return whether the service runs."""
    return requests.Ready(ready=True)


@operation("GET", "/ready", None, other_statuses=(HTTPStatus.SERVICE_UNAVAILABLE,))
async def ready(app: Application, _call: Call) -> requests.Ready | Reply:
    """Return whether examples can be learned; predictions can in any case."""
    failure = app.writer.failure
    body = requests.Ready(ready=failure is None, reason=failure)
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
    if not re.fullmatch(requests.NAME, name):
        raise RequestError(
            422,
            f"{name[:80]!r} cannot be the name of a {of}: use letters, digits, dots, dashes and "
            "underscores, at most 64, the first a letter or digit.",
        )
