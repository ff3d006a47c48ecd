"""What a person takes home: the data and the trace, as CSV and as JSON, or the whole session."""

import csv
import io
import json
from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.lab.document import Document
from rosenblatt.lab.run import Run

TYPES = {"csv": "text/csv", "json": "application/json", "html": "text/html"}


def download(what: str, form: str, run: Run) -> dict[str, Any]:
    """Return a file by name, type and text; a trace is followed to its end."""
    if what not in ("data", "trace") or form not in ("csv", "json"):
        msg = f"There is no download {what!r} as {form!r}: there are data and trace, csv and json."
        raise InputError(msg)
    if what == "data":
        text = data_csv(run.document) if form == "csv" else _json(run.document.plain())
    else:
        run.place(0, "end")
        text = trace_csv(run) if form == "csv" else _json(trace_records(run))
    name = f"rosenblatt-{what}.{form}"
    return {"kind": "file", "name": name, "type": TYPES[form], "text": text}


def data_csv(document: Document) -> str:
    """Return the points as a table that ``rosenblatt train`` and the lab itself read."""
    labels = [label.replace("−", "-") for label in document.labels]  # −1, as other programs read it
    rows = [[repr(a), repr(b), labels[side > 0]] for a, b, side in document.points]
    return _csv([[*document.names, "label"], *rows])


def trace_records(run: Run) -> list[dict[str, Any]]:
    """Return one record a visit, with the keys that a trace of the library has."""
    document, names = run.document, run.space.names
    records, weights = [], run.moment(0).weights
    updates = iter(run.updates)
    for at, visit in enumerate(run.visits, 1):
        update = next(updates) if visit.tau != 0.0 else None
        weights = weights if update is None else update.weights
        a, b, side = document.points[visit.row]
        record = {
            "pass": visit.pass_,
            "row": visit.row,
            "x": [a, b],
            "y": document.labels[side > 0],
            "activation": visit.activation,
            "mistake": visit.mistake,
            "step": visit.tau,
        }
        average = run.moment(at).average
        if names:
            record |= {"w": weights[:-1].tolist(), "b": float(weights[-1])}
            record |= {"average_w": average[:-1].tolist(), "average_b": float(average[-1])}
        else:
            record["row_weight"] = float(weights[visit.row])
        records.append(record)
    return records


def trace_csv(run: Run) -> str:
    """Return the visits as a table, one column a number."""
    lines: list[list[Any]] = []
    for record in trace_records(run):
        flat: dict[str, Any] = {}
        for key, value in record.items():
            if isinstance(value, list):
                names = run.document.names if key == "x" else run.space.names
                flat |= {f"{key} {name}": v for name, v in zip(names, value, strict=True)}
            else:
                flat[key] = value
        if not lines:
            lines.append(list(flat))
        lines.append(list(flat.values()))
    return _csv(lines or [["pass", "row"]])


def _csv(lines: list[list[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
