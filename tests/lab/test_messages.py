import csv
import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rosenblatt import diagnose, trace
from rosenblatt.lab.messages import KEPT, Session
from rosenblatt.lab.toy_sets import toy_set


def asked(**message: Any) -> dict[str, Any]:
    """Return the answer of a new session."""
    return Session().answer(message)


def test_look_sends_what_is_new() -> None:
    """A page that has steps of a training is sent only those that it lacks."""
    session, document = Session(), toy_set("xor").plain()
    first = session.answer({"kind": "look", "document": document, "at": 3, "id": 7})
    assert first["id"] == 7
    assert first["frame"]["at"] == 3
    have = len(first["steps"]["row"])
    more = session.answer(
        {
            "kind": "look",
            "document": document,
            "at": 3,
            "go": "pass",
            "key": first["key"],
            "have": have,
        }
    )
    assert more["steps"]["from"] == have
    whole = asked(kind="look", document=document, at=4)
    for name in ("row", "activation", "mistake", "step", "mistakes", "weights"):
        assert first["steps"][name] + more["steps"][name] == whole["steps"][name], name
    other = session.answer({"kind": "look", "document": document, "key": "another", "have": 3})
    assert other["steps"]["from"] == 0


def test_steps_are_the_trace() -> None:
    """The columns that a page tabulates are those of the library's trace."""
    document = toy_set("separable")
    steps = asked(kind="look", document=document.plain(), go="end")["steps"]
    expected = trace(document.X, document.y)
    assert steps["row"] == [step.row for step in expected]
    assert steps["activation"] == [step.activation for step in expected]
    assert steps["weights"] == [[*step.w, step.b] for step in expected if step.step]
    assert steps["mistakes"] == np.cumsum([step.mistake for step in expected]).tolist()


def test_answers_follow_from_the_message() -> None:
    """A session that has forgotten a training answers as one that remembers it."""
    session, document = Session(), toy_set("xor").plain()
    first = session.answer({"kind": "look", "document": document, "at": 30})
    for seed in range(KEPT + 1):
        session.answer({"kind": "look", "document": {**document, "seed": seed + 1}})
    known = {"key": first["key"], "have": first["length"]}
    again = session.answer({"kind": "look", "document": document, "at": 2, **known})
    assert again["length"] == first["length"]
    assert again["steps"]["row"] == []


def test_verdict() -> None:
    """The verdict is that of ``diagnose``, with the rows of its proof."""
    found = asked(kind="verdict", document=toy_set("xor").plain())
    assert found["status"] == "inseparable"
    assert sorted(found["rows"]) == [[0, "1/2"], [1, "1/2"], [2, "1/2"], [3, "1/2"]]
    assert found["bound"] is None
    document = toy_set("separable")
    found, verdict = (
        asked(kind="verdict", document=document.plain()),
        diagnose(document.X, document.y),
    )
    assert found["bound"] == verdict.bound
    assert found["lines"] == str(verdict).splitlines()
    assert {row for row, _ in found["rows"]} == {0, 16}
    aggressive = replace(document, rule="pa")
    assert asked(kind="verdict", document=aggressive.plain())["bound"] is None
    mapped = replace(toy_set("circles"), map="pairs")
    assert asked(kind="verdict", document=mapped.plain())["status"] == "separable"
    one_class = {"points": [[0, 0, 1]]}
    assert asked(kind="verdict", document=one_class)["sentence"] == (
        "A verdict needs points of both classes."
    )


def test_downloads() -> None:
    """Data and trace can be taken home, as tables and as JSON, with every number in full."""
    document = toy_set("separable").plain()

    def text(what: str, form: str, **more: Any) -> str:
        found = asked(kind="download", what=what, form=form, document={**document, **more})
        assert found["kind"] == "file"
        assert found["name"] == f"rosenblatt-{what}.{form}"
        return str(found["text"])

    assert json.loads(text("data", "json")) == document
    rows = list(csv.DictReader(io.StringIO(text("data", "csv"))))
    assert [float(row["x₁"]) for row in rows] == [point[0] for point in document["points"]]
    steps = trace(toy_set("separable").X, toy_set("separable").y, averaged=True)
    records = json.loads(text("trace", "json"))
    for record, step in zip(records, steps, strict=True):
        assert step.average_w is not None
        assert record["w"] == step.w.tolist()
        assert record["average_w"] == step.average_w.tolist()
        assert (record["row"], record["activation"]) == (step.row, step.activation)
    table = list(csv.DictReader(io.StringIO(text("trace", "csv"))))
    assert [float(row["w x₂"]) for row in table] == [step.w[1] for step in steps]
    kernel = json.loads(text("trace", "json", kernel="rbf"))
    assert kernel[0]["row_weight"] == -1.0
    assert text("trace", "csv", points=[]) == "pass,row\n"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (None, "A message must be an object whose kind is one of look, verdict, set,"),
        ({"kind": "format disk"}, "A message must be an object whose kind is one of"),
        ({"kind": ["look"]}, "A message must be an object whose kind is one of"),
        ({"kind": "look"}, "A document must be an object with points and settings; got None."),
        ({"kind": "look", "document": {}, "at": -1}, "at must be a whole number from 0 to 20000"),
        ({"kind": "look", "document": {}, "at": "1"}, "at must be a whole number"),
        ({"kind": "look", "document": {}, "go": "up"}, "A way to go must be one of stay, start"),
        ({"kind": "look", "document": {}, "go": {}}, "A way to go must be one of stay, start"),
        ({"kind": "look", "document": {}, "lines": ["x"]}, "lines must be a list of last, average"),
        ({"kind": "set", "name": "moons"}, "There is no toy set 'moons'"),
        ({"kind": "table", "text": 1, "name": "a"}, "text must be a text of at most 1,000,000"),
        ({"kind": "points", "text": "a", "name": "a", "x": 1}, "x must be a text of at most 1,000"),
        ({"kind": "download", "document": {}}, "There is no download 'None' as 'None'"),
    ],
)
def test_bad_messages(message: Any, words: str) -> None:
    """Whatever comes is answered; what cannot be done by a sentence that says why."""
    answer = Session().answer(message)
    assert answer["kind"] == "error"
    assert words in answer["sentence"]


def test_own_faults_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is answered even where the lab itself fails."""
    monkeypatch.setattr("rosenblatt.lab.messages.toy_set", lambda _: 1 / 0)
    answer = asked(kind="set", name="xor", id=3)
    assert (answer["kind"], answer["id"]) == ("error", 3)
    assert "a fault of its own: ZeroDivisionError" in answer["sentence"]


@pytest.mark.parametrize(
    "settings", [{"kernel": "polynomial", "degree": 8, "gamma": 1e6}, {"map": "pairs"}]
)
def test_large_numbers(settings: dict[str, Any]) -> None:
    """The largest coordinates and steepest kernels are answered in plain JSON, or refused."""
    points = [[1e6, -1e6, 1], [-1e6, 1e6, -1], [1e6, 1e6, 1], [-1e6, 999_999, -1]]
    document = {"points": points, "view": [-2e6, 2e6, -2e6, 2e6], "max_iter": 20, **settings}
    for message in ({"kind": "look", "go": "end"}, {"kind": "verdict"}):
        answer = asked(document=document, **message)
        json.dumps(answer, allow_nan=False)
        assert "fault of its own" not in str(answer.get("sentence"))
