"""Forgetting, older versions, going back: what is gone is gone, the rest stays."""

import json
import math
import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.service.forgetting import Replay, roll_back
from rosenblatt.service.journal import FILE
from rosenblatt.service.limits import RequestError
from rosenblatt.service.requests import ForgetRequest
from rosenblatt.service.writer import Writer

from .conftest import Asked, command, counts, create, same, taught, teach

MODEL = "/v1/models/m"
TEACHER = "t"


def examples(n: int, labels: str = "ab", seed: int = 0) -> list[dict[str, Any]]:
    """Return examples of whole numbers, for which sums are exact in any order."""
    generator = np.random.default_rng(seed)
    return [
        {
            "id": f"id{i}",
            "features": {
                f"f{name}": float(generator.integers(-3, 4))
                for name in generator.choice(12, 4, replace=False)
            },
            "label": labels[generator.integers(len(labels))],
        }
        for i in range(n)
    ]


def taught_service(folder: Path, batch: list[dict[str, Any]], **spec: Any) -> Asked:
    """Return a service whose model has learned these examples."""
    asked = Asked(folder)
    asked.ask("PUT", MODEL, spec)
    for one in batch:
        assert asked.ask("POST", f"{MODEL}/learn", one).status_code == 200
    return asked


def forget(asked: Asked, **request: Any) -> dict[str, Any]:
    """Return what became of a forgetting, when it is done."""
    answer = asked.ask("POST", f"{MODEL}/forget", request)
    assert answer.status_code == 202, answer.text
    return finished(asked, answer.json()["job"])


def finished(asked: Asked, job: int, model: str = MODEL) -> dict[str, Any]:
    """Return a job when it is no longer waiting."""
    while (found := asked.ask("GET", f"{model}/jobs/{job}").json())["status"] == "waiting":
        time.sleep(0.01)
    return dict(found)


def bytes_of(folder: Path) -> bytes:
    """Return all that a folder holds."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("spec", [{}, {"memory": "last"}, {"rule": "arow"}, {"rule": "pa1"}])
def test_replay_gives_the_model_that_never_saw_it(tmp_path: Path, spec: dict[str, Any]) -> None:
    """After a replay the weights are those of a model that was never taught the examples."""
    batch = examples(40, "abc")
    asked = taught_service(tmp_path / "one", batch, **spec)
    for i in (3, 17):
        assert forget(asked, id=f"id{i}")["status"] == "done"
    other = taught_service(
        tmp_path / "other", [one for i, one in enumerate(batch) if i not in (3, 17)], **spec
    )
    ours, theirs = asked.writer.entries["m"], other.writer.entries["m"]
    assert same(ours.shown.learner, theirs.shown.learner)
    assert counts(ours) == counts(theirs)
    answer = asked.ask("POST", f"{MODEL}/learn", batch[3])
    assert answer.status_code == 410
    asked.close()
    again = Writer(tmp_path / "one")
    assert same(again.entries["m"].shown.learner, theirs.shown.learner)
    again.close()
    other.close()


def test_nothing_of_the_example_stays(tmp_path: Path) -> None:
    """No file of the folder holds the label or the words of a forgotten example."""
    secret = {"features": {"x": 1.0, "who": "jane-doe-4711"}, "label": "b", "id": "s"}
    asked = taught_service(tmp_path, [*examples(5), secret])
    assert b"jane-doe-4711" in bytes_of(tmp_path)
    forget(asked, id="s")
    assert b"jane-doe-4711" not in bytes_of(tmp_path)
    names = asked.writer.entries["m"].shown.learner.space.names() or ()
    assert "x" not in names  # no other example has it
    assert any(name.startswith("f") for name in names)
    asked.close()
    assert b"jane-doe-4711" not in bytes_of(tmp_path)


def test_forget_a_teacher_and_a_time(tmp_path: Path) -> None:
    """All examples of a token, or all before a time, are forgotten together."""
    now = [100.0]
    writer = Writer(tmp_path, clock=lambda: now[0])
    entry = create(writer)
    for i, one in enumerate(examples(9)):
        now[0] += 1
        teach(
            writer, entry, taught(one["features"], one["label"], one["id"]), token=TEACHER * (i % 2)
        )
    writer.close()
    asked = Asked(tmp_path)
    assert forget(asked, token=TEACHER)["examples"] == 4
    assert forget(asked, before=106.0)["examples"] == 3
    lines = [json.loads(line) for line in asked.ask("GET", f"{MODEL}/journal").text.splitlines()]
    assert [line["sequence"] for line in lines if line["features"]] == [7, 9]
    assert asked.ask("POST", f"{MODEL}/forget", {}).status_code == 422
    assert asked.ask("POST", f"{MODEL}/forget", {"id": "none"}).status_code == 404
    asked.close()


def test_any_version_can_be_asked_again(tmp_path: Path) -> None:
    """A prediction asked for a past version has the bits that it had then, after a restart too."""
    batch = examples(25, "abc")
    asked = Asked(tmp_path)
    asked.ask("PUT", MODEL, {})
    row, then = {"f1": 0.3, "f2": -0.7, "f5": 1.1}, []
    for one in batch:
        then.append(asked.ask("POST", f"{MODEL}/predict", {"features": row}).json())
        asked.ask("POST", f"{MODEL}/learn", one)
    asked.close()
    asked = Asked(tmp_path)
    for answer in then:
        body = {"features": row, "version": answer["version"]}
        assert asked.ask("POST", f"{MODEL}/predict", body).json() == answer
    assert asked.ask("POST", f"{MODEL}/predict", {**body, "version": 26}).status_code == 404
    forget(asked, id="id3")
    answer = asked.ask("POST", f"{MODEL}/predict", body)
    assert answer.status_code == 410
    assert "the oldest that can be asked for is 26" in answer.json()["error"]
    asked.close()


def test_roll_back_and_forth(tmp_path: Path) -> None:
    """Going back to a version makes its model the newest; the way back there is open, too."""
    batch = examples(20)
    asked = taught_service(tmp_path, batch)
    entry = asked.writer.entries["m"]
    whole = entry.shown.learner.view()
    assert asked.ask("POST", f"{MODEL}/rollback", {"version": 12}).json()["version"] == 21
    first = taught_service(tmp_path / "first", batch[:12])
    assert same(entry.shown.learner, first.writer.entries["m"].shown.learner)
    assert entry.shown.learned == 12
    assert asked.ask("POST", f"{MODEL}/rollback", {"version": 20}).json()["learned"] == 20
    assert same(entry.shown.learner, whole)
    asked.ask("POST", f"{MODEL}/rollback", {"version": 12})
    asked.ask("POST", f"{MODEL}/learn", {**batch[0], "id": "new"})
    forget(asked, id="id2")
    kept = [*batch[:2], *batch[3:12], batch[0]]
    other = taught_service(
        tmp_path / "other", [{**one, "id": str(i)} for i, one in enumerate(kept)]
    )
    assert same(entry.shown.learner, other.writer.entries["m"].shown.learner)
    assert asked.ask("POST", f"{MODEL}/rollback", {"version": 3}).status_code == 410
    for one in (asked, first, other):
        one.close()


def test_a_return_beyond_a_return(tmp_path: Path) -> None:
    """What counts after several returns is what the version had that they lead to."""
    batch = examples(8)
    asked = taught_service(tmp_path, batch[:5])
    asked.ask("POST", f"{MODEL}/rollback", {"version": 3})
    asked.ask("POST", f"{MODEL}/learn", batch[5])  # version 7
    asked.ask("POST", f"{MODEL}/rollback", {"version": 5})
    assert asked.ask("POST", f"{MODEL}/rollback", {"version": 7}).json()["learned"] == 4
    text = asked.ask("GET", f"{MODEL}/journal").text
    undone = [json.loads(line)["undone"] for line in text.splitlines()]
    assert undone == [None, None, None, 6, 6, None, None, None, None]
    row = {"features": {f"f{i}": 1.0 for i in range(12)}, "top": 1000}
    teachers = asked.ask("POST", f"{MODEL}/why", row).json()["teachers"]
    assert {one["sequence"] for one in teachers} <= {1, 2, 3, 7}
    points = asked.ask("GET", f"{MODEL}?curve=1").json()["curve"]
    assert [point["version"] for point in points] == [1, 2, 3, 7]
    wrong = asked.ask("GET", f"{MODEL}/journal?mistakes=1&limit=3").text
    assert {json.loads(line)["sequence"] for line in wrong.splitlines()} <= {1, 2, 3, 7}
    forget(asked, id="id1")
    other = taught_service(tmp_path / "other", [batch[i] for i in (0, 2, 5)])
    assert same(asked.writer.entries["m"].shown.learner, other.writer.entries["m"].shown.learner)
    assert counts(asked.writer.entries["m"]) == counts(other.writer.entries["m"])
    asked.close()
    other.close()


def test_an_example_again_after_a_return(tmp_path: Path) -> None:
    """What a return left behind is learned when it is sent again with its id, as if it were new."""
    batch = examples(8)
    asked = taught_service(tmp_path, batch)
    entry = asked.writer.entries["m"]
    asked.ask("POST", f"{MODEL}/rollback", {"version": 5})
    kept = asked.ask("POST", f"{MODEL}/learn", batch[4]).json()
    assert (kept["sequence"], kept["duplicate"]) == (5, True)
    other = {**batch[7], "features": {"f1": 2.0}}  # under the same id
    for body, sequence in ((batch[6], 10), (batch[5], 11), (other, 12)):
        for duplicate in (False, True):
            answer = asked.ask("POST", f"{MODEL}/learn", body).json()
            assert (answer["sequence"], answer["duplicate"]) == (sequence, duplicate)
    assert asked.ask("POST", f"{MODEL}/learn", batch[7]).status_code == 409
    one = taught_service(tmp_path / "one", [*batch[:5], batch[6], batch[5], other])
    assert same(entry.shown.learner, one.writer.entries["m"].shown.learner)
    # Back where the first ones count, it is they that have the ids
    asked.ask("POST", f"{MODEL}/rollback", {"version": 8})
    assert asked.ask("POST", f"{MODEL}/learn", batch[7]).json()["sequence"] == 8
    assert asked.ask("POST", f"{MODEL}/learn", other).status_code == 409
    asked.close()
    asked = Asked(tmp_path)
    assert asked.ask("POST", f"{MODEL}/learn", batch[6]).json()["sequence"] == 7
    assert forget(asked, id="id6")["examples"] == 2
    assert asked.ask("POST", f"{MODEL}/learn", batch[6]).status_code == 410
    late = {**batch[0], "id": "late"}
    asked.ask("POST", f"{MODEL}/learn", late)
    asked.ask("POST", f"{MODEL}/rollback", {"version": 14})
    assert forget(asked, id="late")["examples"] == 1
    assert asked.ask("POST", f"{MODEL}/learn", late).status_code == 410
    asked.close()
    one.close()


def test_a_return_during_a_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay under which a return changes what counts is begun again."""
    batch = examples(20)
    asked = taught_service(tmp_path / "one", batch)
    catch_up, fresh = Replay.catch_up, iter([True])

    def beside(replay: Replay) -> None:
        catch_up(replay)
        if next(fresh, False):
            writer, entry = asked.writer, asked.writer.entries["m"]
            served = asked.app.versions.new(entry.record, 12)
            command(writer, lambda: roll_back(writer, entry, 12, served, None))

    monkeypatch.setattr(Replay, "catch_up", beside)
    assert forget(asked, id="id4")["version"] == 22
    other = taught_service(tmp_path / "other", [*batch[:4], *batch[5:12]])
    ours, theirs = asked.writer.entries["m"], other.writer.entries["m"]
    assert same(ours.shown.learner, theirs.shown.learner)
    assert counts(ours) == counts(theirs)
    asked.close()
    other.close()


def test_a_return_to_a_forgotten_version(tmp_path: Path) -> None:
    """A version that is forgotten while the return to it is prepared stays forgotten."""
    asked = taught_service(tmp_path, examples(10))
    writer, entry = asked.writer, asked.writer.entries["m"]
    served = asked.app.versions.new(entry.record, 8)
    forget(asked, id="id4")
    before = entry.shown.learner.view()
    for version in (8, 10):
        with pytest.raises(RequestError) as refused:
            command(writer, partial(roll_back, writer, entry, version, served, None))
        assert (refused.value.status, str(refused.value)) == (
            410,
            f"Version {version} has examples that were forgotten in the meantime.",
        )
    assert same(entry.shown.learner, before)
    assert asked.ask("POST", f"{MODEL}/rollback", {"version": 10}).status_code == 410
    assert asked.ask("POST", f"{MODEL}/rollback", {"version": 11}).status_code == 200
    asked.close()


def test_a_replay_that_a_crash_cut_short_is_begun_again(tmp_path: Path) -> None:
    """A job that stands in the journal is done after the next start."""
    asked = taught_service(tmp_path / "one", examples(10))
    asked.app.replays.close()
    job = asked.ask("POST", f"{MODEL}/forget", {"id": "id4"}).json()["job"]
    assert asked.ask("GET", f"{MODEL}/jobs/{job}").json()["status"] == "waiting"
    asked.writer.close()
    asked = Asked(tmp_path / "one")
    finished(asked, job)
    batch = examples(10)
    other = taught_service(tmp_path / "two", batch[:4] + batch[5:])
    assert same(asked.writer.entries["m"].shown.learner, other.writer.entries["m"].shown.learner)
    asked.close()
    other.close()


def test_forgetting_while_others_teach(tmp_path: Path) -> None:
    """A replay under load ends in the model of the examples that are left, in their order."""
    batch = examples(120, "abc")
    asked = taught_service(tmp_path / "one", batch[:20])
    requests: list[tuple[str, str, Any]] = [("POST", f"{MODEL}/learn", one) for one in batch[20:]]
    for place, id_ in ((10, "id3"), (50, "id9"), (90, "id15")):
        requests.insert(place, ("POST", f"{MODEL}/forget", {"id": id_}))
    answers = asked.all(requests)
    assert {answer.status_code for answer in answers} == {200, 202}
    jobs = [answer.json()["job"] for answer in answers if answer.status_code == 202]
    for job in jobs:
        finished(asked, job)
    text = asked.ask("GET", f"{MODEL}/journal").text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    left = [line for line in lines if line["kind"] == "learn" and line["forgotten"] is None]
    assert len(left) == 117
    other = taught_service(
        tmp_path / "two",
        [{name: line[name] for name in ("id", "features", "label")} for line in left],
    )
    assert same(asked.writer.entries["m"].shown.learner, other.writer.entries["m"].shown.learner)
    text = other.ask("GET", f"{MODEL}/journal").text
    for ours, theirs in zip(left, map(json.loads, text.splitlines()), strict=True):
        assert [ours[name] for name in ("predicted", "mistake", "step", "rival")] == [
            theirs[name] for name in ("predicted", "mistake", "step", "rival")
        ]
    asked.close()
    other.close()


def test_explain_and_why_add_up(tmp_path: Path) -> None:
    """The score is the sum of what features add, and the sum of what examples add."""
    for labels in ("ab", "abc"):
        for memory in ("last", "average"):
            asked = taught_service(
                tmp_path / f"{labels}{memory}", examples(40, labels), memory=memory
            )
            row = {"features": {"f1": 2.0, "f2": -1.0, "f3": 1.0, "unknown": 5.0}, "top": 1000}
            score = asked.ask("POST", f"{MODEL}/predict", {"features": row["features"]}).json()
            explained = asked.ask("POST", f"{MODEL}/explain", row).json()
            why = asked.ask("POST", f"{MODEL}/why", row).json()
            terms = math.fsum(term["amount"] for term in explained["terms"])
            assert math.isclose(explained["total"], terms + explained["bias"], abs_tol=1e-9)
            teachers = math.fsum(teacher["amount"] for teacher in why["teachers"])
            assert math.isclose(why["total"], teachers + why["start"], abs_tol=1e-9)
            assert math.isclose(why["total"], explained["total"], abs_tol=1e-9)
            assert explained["label"] == why["label"] == score["label"]
            assert explained["unknown"] == 1
            asked.close()


def test_export_gives_the_model_of_a_version(tmp_path: Path) -> None:
    """An exported file is the model of the library, with the names of its features."""
    import rosenblatt

    asked = taught_service(tmp_path, examples(20))
    file = tmp_path / "m.model"
    file.write_bytes(asked.ask("GET", f"{MODEL}/export").content)
    estimator = rosenblatt.load(file)
    view = asked.writer.entries["m"].shown.learner
    assert estimator.feature_names_in_.tolist() == list(view.space.names() or ())
    for kind in ("json", "onnx"):
        assert asked.ask("GET", f"{MODEL}/export?format={kind}&version=10").status_code == 200
    assert asked.ask("GET", f"{MODEL}/export?format=pickle").status_code == 422
    asked.close()


def test_a_reader_of_the_log_is_waited_for(tmp_path: Path) -> None:
    """While a backup reads, a forgetting is waiting, and nothing else waits; then all is gone."""
    secret = {"features": {"who": "jane-doe-4711"}, "label": "b", "id": "s"}
    asked = taught_service(tmp_path, [*examples(5), secret])
    backup = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    backup.execute("BEGIN")
    backup.execute("SELECT COUNT(*) FROM events").fetchone()
    job = asked.ask("POST", f"{MODEL}/forget", {"id": "s"}).json()["job"]
    while asked.ask("GET", MODEL).json()["oldest"] == 0:
        time.sleep(0.01)
    for one in examples(3, seed=1):
        body = {**one, "id": f"{one['id']} again"}
        assert asked.ask("POST", f"{MODEL}/learn", body).status_code == 200
    found = asked.ask("GET", f"{MODEL}/jobs/{job}").json()
    assert found["status"] == "waiting"
    assert "whose log holds them until it ends" in found["reason"]
    assert b"jane-doe-4711" in bytes_of(tmp_path)
    backup.close()
    assert finished(asked, job)["examples"] == 1
    assert b"jane-doe-4711" not in bytes_of(tmp_path)
    asked.close()


def test_a_log_that_was_held_is_emptied_after_a_restart(tmp_path: Path) -> None:
    """A service that ended while its log was held empties it when it starts again."""
    secret = {"features": {"who": "jane-doe-4711"}, "label": "b", "id": "s"}
    asked = taught_service(tmp_path, [*examples(5), secret])
    backup = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    backup.execute("BEGIN")
    backup.execute("SELECT COUNT(*) FROM events").fetchone()
    job = asked.ask("POST", f"{MODEL}/forget", {"id": "s"}).json()["job"]
    while asked.ask("GET", MODEL).json()["oldest"] == 0:
        time.sleep(0.01)
    asked.close()
    assert b"jane-doe-4711" in bytes_of(tmp_path)
    asked = Asked(tmp_path)
    assert asked.ask("GET", f"{MODEL}/jobs/{job}").json()["status"] == "waiting"
    backup.close()
    assert finished(asked, job)["examples"] == 1
    assert b"jane-doe-4711" not in bytes_of(tmp_path)
    asked.close()


def test_a_deleted_model_leaves_the_log(tmp_path: Path) -> None:
    """The examples of a deleted model leave the log when nobody reads it any more."""
    asked = taught_service(
        tmp_path, [{"features": {"who": "jane-doe-4711"}, "label": "b", "id": "s"}]
    )
    backup = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    backup.execute("BEGIN")
    backup.execute("SELECT COUNT(*) FROM events").fetchone()
    assert asked.ask("DELETE", MODEL).status_code == 204
    assert b"jane-doe-4711" in bytes_of(tmp_path)
    backup.close()
    while b"jane-doe-4711" in bytes_of(tmp_path):
        time.sleep(0.01)
    asked.close()


def test_export_beside_a_forgetting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export without a version is of the newest, whatever is forgotten while it is made."""
    asked = taught_service(tmp_path, examples(20))
    reader = asked.writer.journal.reader
    fresh = iter([True])

    def beside(*_: Any) -> Any:
        if next(fresh, False):  # between the request and the first look at the journal
            replay = Replay(asked.writer, asked.writer.entries["m"], ForgetRequest(id="id3"))
            assert command(asked.writer, lambda: replay.swap(0, None))
        return reader()

    monkeypatch.setattr(asked.writer.journal, "reader", beside)
    answer = asked.ask("GET", f"{MODEL}/export")
    assert answer.status_code == 200, answer.text
    assert asked.ask("GET", f"{MODEL}/export?version=20").status_code == 410
    assert asked.ask("GET", MODEL).json()["oldest"] == 21
    asked.close()
