"""The OpenAPI page, made of the types that check the requests."""

import re
from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from rosenblatt.service.app import JSON, NDJSON, TRUTHS, Operation
from rosenblatt.service.requests import NAME, Problem

REFERENCE = "#/components/schemas/{name}"
ERRORS = {
    "400": "The body is not valid JSON, or a header stands twice.",
    "401": "Token missing or unknown.",
    "403": "The token lacks the scope.",
    "404": "Not found.",
    "409": "Conflict with the current state.",
    "410": "The example or version was forgotten.",
    "413": "The body is too large.",
    "415": "Unsupported media type.",
    "421": "Unknown host name.",
    "422": "Invalid request body.",
    "429": "Too many requests.",
    "503": "The service is read-only, or its queue is full.",
}


def document(operations: Sequence[Operation], version: str) -> dict[str, Any]:
    """Return the OpenAPI document of these operations."""
    kinds = [kind for one in operations for kind in (one.request, one.lines, one.answer)]
    ordered = sorted({Problem, *_structs(*kinds)}, key=lambda kind: kind.__name__)
    _, components = msgspec.json.schema_components(ordered, ref_template=REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "rosenblatt", "version": version},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _structs(*kinds: Any) -> list[Any]:
    """Return the types among these, or their alternatives, that have a schema."""
    each = [one for kind in kinds for one in get_args(kind) or (kind,)]
    return [one for one in each if isinstance(one, type) and issubclass(one, msgspec.Struct)]


def _described(one: Operation) -> dict[str, Any]:
    own = {str(int(code)): _response(one) for code in (one.status, *one.other_statuses)}
    problem = {JSON: {"schema": _reference(Problem)}}
    errors = {code: {"description": text, "content": problem} for code, text in ERRORS.items()}
    found: dict[str, Any] = {
        "operationId": one.handler.__name__,
        "summary": one.summary,
        "parameters": _parameters(one),
        "responses": own | errors | own,
    }
    if one.scope is not None:
        found["security"] = [{"token": [one.scope]}]
    if one.request is not None:
        content = {JSON: {"schema": _reference(one.request)}}
        if one.lines is not None:
            content[NDJSON] = {"schema": _reference(one.lines)}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _parameters(one: Operation) -> list[dict[str, Any]]:
    patterns = {"model": NAME, "token": NAME, "job": "^[0-9]{1,18}$", "version": "^[0-9]{1,18}$"}
    in_path = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": patterns.get(name, "^[a-z.]{1,40}$")},
        }
        for name in re.findall(r"\{(\w+)", one.path)
    ]
    kinds: dict[type, dict[str, Any]] = {
        bool: {"type": "string", "enum": list(TRUTHS)},
        int: {"type": "integer", "minimum": 0},
        str: {"type": "string"},
    }
    in_query = [
        {"name": name, "in": "query", "description": meaning, "schema": kinds[kind]}
        for name, kind, meaning in one.query
    ]
    return in_path + in_query


def _response(one: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {"description": one.summary}
    schemas = [_reference(kind) for kind in _structs(one.answer)]
    if schemas:
        schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        found["content"] = {one.kind: {} if one.kind == NDJSON else {"schema": schema}}
    elif int(one.status) != 204:
        found["content"] = {one.kind.partition(";")[0]: {}}
    return found


def _reference(kind: Any) -> dict[str, str]:
    return {"$ref": REFERENCE.format(name=kind.__name__)}
