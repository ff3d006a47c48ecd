"""A session as one HTML file: recorded step by step, to be looked at without Python."""

import json
from typing import Any

from rosenblatt.data.atomic import replacing
from rosenblatt.lab.document import Document
from rosenblatt.lab.downloads import download
from rosenblatt.lab.messages import Session, steps
from rosenblatt.lab.page import standalone_page
from rosenblatt.lab.verdicts import verdict_on

MOST_FRAMES = 2000
MOST_CHARACTERS = 12_000_000  # of all frames together, so that a browser opens the file at once


def exported_page(document: Document) -> str:
    """Return a page that shows the training of a document, one frame a step."""
    return standalone_page(recording(document))


def write_page(document: Document, path: str) -> int:
    """Write the page to a file; return how many steps it holds."""
    value = recording(document)
    text = standalone_page(value)
    with replacing(path) as stream:
        stream.write(text.encode())
    return len(value["frames"]) - 1


def recording(document: Document) -> dict[str, Any]:
    """Return every frame of a training, up to the size that a file should have."""
    _, run, pictures = Session().training(document)
    frames: list[dict[str, Any]] = []
    size = 0
    at = run.place(0)
    while True:
        frames.append(pictures.frame(at))
        size += len(json.dumps(frames[-1]))
        after = run.place(at, "step")
        if after == at or len(frames) > MOST_FRAMES or size > MOST_CHARACTERS:
            break
        at = after
    columns = steps(run, 0)
    held = {name: values[:at] for name, values in columns.items() if isinstance(values, list)}
    held["weights"] = columns["weights"][: run.n_updates(at)]
    complete = run.ended and at == len(run.visits)
    return {
        "document": document.plain(),
        "frames": frames,
        "steps": {"from": 0, **held},
        "features": list(run.space.names),
        "complete": complete,
        "stop_reason": run.stop_reason if complete else None,
        "verdict": {"kind": "verdict", **verdict_on(document)},
        "files": {
            f"{what}.{form}": download(what, form, run)
            for what in ("data", "trace")
            for form in ("csv", "json")
        },
    }
