"""Messages between a page and Python: the same for the server, the notebook and the recording."""

import json
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock
from typing import Any

from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.lab.document import MEMORIES, Document
from rosenblatt.lab.downloads import download
from rosenblatt.lab.pictures import Pictures
from rosenblatt.lab.run import MOST_STEPS, Run
from rosenblatt.lab.toy_sets import toy_set

KEPT = 8  # trainings, so that going back to a setting or to another tab is free
MOST_TEXT = 1_000_000  # characters of a table


class Session:
    """Answers messages. It remembers trainings, yet every answer follows from its message alone."""

    def __init__(self) -> None:
        self._trainings: OrderedDict[str, tuple[Run, Pictures]] = OrderedDict()
        self._lock = Lock()
        self._answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "look": self._look,
            "verdict": self._verdict,
            "set": self._set,
            "table": self._table,
            "points": self._points,
            "download": self._download,
        }

    def answer(self, message: Any) -> dict[str, Any]:
        """Return the answer to a message; what is wrong with it becomes a sentence."""
        number = message.get("id") if isinstance(message, dict) else None
        try:
            return {**self._answer(message), "id": number}
        except RosenblattError as error:
            sentence = str(error)
        except Exception as error:  # noqa: BLE001  # a page that gets no answer waits for ever
            sentence = f"The lab failed on this, which is a fault of its own: {error!r}."
        return {"kind": "error", "sentence": sentence, "id": number}

    def _answer(self, message: Any) -> dict[str, Any]:
        kind = message.get("kind") if isinstance(message, dict) else None
        if not isinstance(kind, str) or kind not in self._answers:
            kinds = ", ".join(self._answers)
            msg = f"A message must be an object whose kind is one of {kinds}."
            raise InputError(msg)
        return self._answers[kind](message)

    def training(self, document: Document) -> tuple[str, Run, Pictures]:
        """Return the training of a document, and a key by which a page knows it again."""
        text = json.dumps(document.plain(), sort_keys=True)
        key = sha256(text.encode()).hexdigest()[:16]
        if key not in self._trainings:
            run = Run(document)
            self._trainings[key] = run, Pictures(run)
            if len(self._trainings) > KEPT:
                self._trainings.popitem(last=False)
        self._trainings.move_to_end(key)
        return key, *self._trainings[key]

    def _look(self, message: dict[str, Any]) -> dict[str, Any]:
        """Go a way and show what is there, with the steps that the page does not have yet."""
        document = Document.from_plain(message.get("document"))
        with self._lock:  # a training goes on where it stopped, for one at a time
            return self._sight(document, message)

    def _sight(self, document: Document, message: dict[str, Any]) -> dict[str, Any]:
        key, run, pictures = self.training(document)
        known = _whole(message, "have") if message.get("key") == key else 0
        run.follow(known)  # again, where the training was forgotten meanwhile
        at = run.place(_whole(message, "at"), str(message.get("go", "stay")))
        return {
            "kind": "sight",
            "key": key,
            "steps": steps(run, known),
            "length": len(run.visits),
            "ended": run.ended,
            "stop_reason": run.stop_reason,
            "features": list(run.space.names),
            "frame": pictures.frame(at, _lines(message)),
        }

    def _verdict(self, message: dict[str, Any]) -> dict[str, Any]:
        from rosenblatt.lab.verdicts import verdict_on

        return {"kind": "verdict", **verdict_on(Document.from_plain(message.get("document")))}

    def _set(self, message: dict[str, Any]) -> dict[str, Any]:
        name = message.get("name")
        return {"kind": "document", "document": toy_set(str(name)).plain(), "notes": []}

    def _table(self, message: dict[str, Any]) -> dict[str, Any]:
        from rosenblatt.lab.columns import describe_columns, table_of_text

        with table_of_text(_text(message, "text", MOST_TEXT), _text(message, "name")) as table:
            return {"kind": "columns", **describe_columns(table)}

    def _points(self, message: dict[str, Any]) -> dict[str, Any]:
        from rosenblatt.lab.columns import document_of_table, table_of_text

        chosen = {
            name: _text(message, name) if message.get(name) is not None else None
            for name in ("x", "y", "label", "positive")
        }
        scale = message.get("scale") is True
        with table_of_text(_text(message, "text", MOST_TEXT), _text(message, "name")) as table:
            document, notes = document_of_table(table, **chosen, scale=scale)
        return {"kind": "document", "document": document.plain(), "notes": notes}

    def _download(self, message: dict[str, Any]) -> dict[str, Any]:
        document = Document.from_plain(message.get("document"))
        if message.get("what") == "page":
            from rosenblatt.lab.export import exported_page

            text = exported_page(document)
            return {"kind": "file", "name": "rosenblatt.html", "type": "text/html", "text": text}
        with self._lock:
            _, run, _ = self.training(document)
            return download(str(message.get("what")), str(message.get("form")), run)


def steps(run: Run, known: int) -> dict[str, Any]:
    """Return the visits from number ``known`` on, by column, and the weights after each update."""
    new = run.visits[known:]
    before = run.n_updates(known)
    so_far = sum(visit.mistake for visit in run.visits[:known])
    counts = []
    for visit in new:
        so_far += visit.mistake
        counts.append(so_far)
    features = bool(run.space.names)
    return {
        "from": known,
        "pass": [visit.pass_ for visit in new],
        "row": [visit.row for visit in new],
        "activation": [visit.activation for visit in new],
        "mistake": [visit.mistake for visit in new],
        "step": [visit.tau for visit in new],
        "mistakes": counts,
        "weights": [
            update.weights.tolist() if features else [float(update.weights[update.row])]
            for update in run.updates[before:]
        ],
    }


def _whole(message: dict[str, Any], name: str) -> int:
    value = message.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_STEPS:
        msg = f"{name} must be a whole number from 0 to {MOST_STEPS}; got {str(value)[:80]!r}."
        raise InputError(msg)
    return value


def _lines(message: dict[str, Any]) -> list[str]:
    """Return the memories whose boundaries a page shows."""
    value = message.get("lines", MEMORIES)
    if not isinstance(value, list | tuple) or not all(name in MEMORIES for name in value):
        msg = f"lines must be a list of {', '.join(MEMORIES)}; got {str(value)[:80]!r}."
        raise InputError(msg)
    return [*value]


def _text(message: dict[str, Any], name: str, longest: int = 1000) -> str:
    value = message.get(name)
    if not isinstance(value, str) or len(value) > longest:
        msg = f"{name} must be a text of at most {longest:,} characters."
        raise InputError(msg)
    return value
