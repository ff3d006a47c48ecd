"""Rows with several labels: learned, predicted, explained, forgotten and served from a file."""

import json
import math
import sqlite3
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from rosenblatt import MultilabelClassifier, OnlineLearner, guarantee, load
from rosenblatt.errors import InputError
from rosenblatt.models.guarantee import with_guarantee
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from rosenblatt.service.history import file_of
from rosenblatt.service.journal import FILE, LINES, line_checksum
from rosenblatt.service.limits import Limits
from rosenblatt.service.writer import Writer
from rosenblatt.tasks.label_thresholds import THRESHOLDS
from tests import reference
from tests.models.test_labels import made, written

from .client import Client
from .conftest import Asked, counts, crash, create, same, taught, teach, why
from .running import serving
from .test_forgetting import forget, taught_service

MODEL = "/v1/models/m"
TAGS = "abcd"


def tagged(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return examples of whole numbers; the first has no label, and labels come up one by one."""
    generator = np.random.default_rng(seed)
    return [
        {
            "id": f"id{i}",
            "features": {
                f"f{name}": float(generator.integers(-3, 4))
                for name in sorted(generator.choice(8, 4, replace=False))
            },
            "label": [tag for k, tag in enumerate(TAGS) if i > 4 * k and generator.random() < 0.4],
        }
        for i in range(n)
    ]


def test_each_label_says_what_is_promised_of_it(service: Asked) -> None:
    """Labels whose error at most is small enough are those that a guarantee of it gives."""
    generator = np.random.default_rng(2)
    X = np.round(generator.normal(size=(1200, 3)), 2)
    Y = X + 0.5 * generator.normal(size=X.shape) > 0.3
    clf = MultilabelClassifier().fit(X[:300], Y[:300].astype(int))
    sure = guarantee(clf, X[300:], Y[300:])
    file = file_of(with_guarantee(clf.model_, sure.apart))
    service.ask("PUT", MODEL, {"file": msgspec.to_builtins(file)})
    many = service.ask("POST", f"{MODEL}/predict", {"rows": X[:60].tolist()}).json()
    one = service.ask("POST", f"{MODEL}/predict", {"features": X[0].tolist()}).json()
    assert (one["label"], one["error_at_most"]) == (many["labels"][0], many["errors_at_most"][0])
    pairs = [
        [*zip(*both, strict=True)]
        for both in zip(many["labels"], many["errors_at_most"], strict=True)
    ]
    assert len({bound for row in pairs for _, bound in row}) > 5
    for error in (0.1, 0.2, 0.4):
        given = replace(sure, error=error).predict(X[:60])
        assert [[label for label, bound in row if bound <= error] for row in pairs] == [
            np.flatnonzero(row).tolist() for row in given
        ]


def test_labels_are_lists(service: Asked) -> None:
    """An example has a list of labels, and so has an answer, with a score for each label."""
    assert service.ask("PUT", MODEL, {"goal": "each"}).json()["goal"] == "each"
    chess = {"chess": 1}
    answer = service.ask("POST", f"{MODEL}/predict", {"features": chess}).json()
    assert (answer["label"], answer["score"]) == ([], None)
    learned = [
        service.ask("POST", f"{MODEL}/learn", {"features": features, "label": label}).json()
        for features, label in [
            ({"mail": 1}, []),  # right, for nothing was predicted
            (chess, ["perl", "game", "game"]),
            ({"mail": 1}, []),
            ({"mail": 1}, []),
        ]
    ]
    assert [one["predicted"] for one in learned] == [[], [], ["game", "perl"], []]
    answer = service.ask("POST", f"{MODEL}/predict", {"features": chess}).json()
    assert answer["label"] == ["game", "perl"]
    assert len(answer["score"]) == 2
    rows = {"rows": [chess, {"mail": 1}]}
    many = service.ask("POST", f"{MODEL}/predict", rows).json()
    assert many["labels"] == [["game", "perl"], []]
    assert many["scores"][0] == answer["score"]
    found = service.ask("GET", MODEL).json()
    assert found["classes"] == ["game", "perl"]
    assert (found["learned"], found["wrong"]) == (4, 2)
    lines = service.ask("GET", f"{MODEL}/journal").text.splitlines()
    assert [json.loads(line)["label"] for line in lines] == [[], ["game", "perl"], [], []]
    wrong = service.ask("GET", f"{MODEL}/journal?mistakes=1").text.splitlines()
    assert [json.loads(line)["sequence"] for line in wrong] == [3, 2]
    metrics = service.ask("GET", "/metrics").text
    assert 'rosenblatt_progressive_error{model="m"} 0.5' in metrics


@pytest.mark.parametrize(
    "spec",
    [
        {"goal": "each"},
        {"goal": "each", "rule": "arow"},
        {"goal": "each", "rule": "pa1", "memory": "last", "features": {"kind": "hashed"}},
        {"goal": "each", "rule": "pa1", "scale": True},
        {"goal": "ranking", "rule": "perceptron"},
    ],
)
def test_served_equals_streamed(tmp_path: Path, spec: dict[str, Any]) -> None:
    """Weights and answers are those of ``OnlineLearner``, bit for bit, after a crash as well."""
    batch = tagged(40)
    first = next(k for k, one in enumerate(batch) if one["label"])
    writer = Writer(tmp_path, Limits(snapshot_every=9))
    entry = create(writer, **spec)
    given = {name: spec[name] for name in ("goal", "memory", "scale") if name in spec}
    bits: dict[str, Any] = {"hash_bits": 18} if "features" in spec else {}
    online = OnlineLearner(spec.get("rule", "perceptron"), **given, **bits)
    teach(writer, entry, *(taught(one["features"], tuple(one["label"])) for one in batch))
    for one in batch[first:]:  # without any label there is nothing to learn in a service
        online.learn_one(one["features"], one["label"])
    rows, learner = [one["features"] for one in batch], entry.shown.learner
    said = [tuple(sorted(online.predict_one(x))) for x in rows]
    assert learner.answers(learner.scores(rows)) == said
    assert [learner.decided(x)[0] for x in rows] == said
    found = entry.own.learner.model()
    assert found is not None
    for name, array in online.model_.state.vectors.items():
        assert np.array_equal(getattr(found, name), array)
    assert found.count == online.model_.count
    assert entry.shown.mistakes == online.n_mistakes
    crash(writer)
    again = Writer(tmp_path)
    assert same(again.entries["m"].shown.learner, learner)
    assert counts(again.entries["m"]) == counts(entry)
    exported: Any = load(Model.copy(found))
    assert isinstance(exported, MultilabelClassifier)
    again.close()


@pytest.mark.parametrize("rule", ["perceptron", "arow"])
def test_replay_gives_the_model_that_never_saw_it(tmp_path: Path, rule: str) -> None:
    """Forgetting, among them the first example of a label, and going back work as with classes."""
    batch = tagged(40)
    first = next(k for k, one in enumerate(batch) if "d" in one["label"])
    asked = taught_service(tmp_path / "one", batch, goal="each", rule=rule)
    asked.ask("POST", f"{MODEL}/rollback", {"version": 30})
    assert forget(asked, id=f"id{first}")["status"] == "done"
    rest = [one for k, one in enumerate(batch[:30]) if k != first]
    other = taught_service(tmp_path / "other", rest, goal="each", rule=rule)
    ours, theirs = asked.writer.entries["m"], other.writer.entries["m"]
    assert same(ours.shown.learner, theirs.shown.learner)
    assert counts(ours) == counts(theirs)
    again = asked.ask("POST", f"{MODEL}/learn", batch[1]).json()
    assert again["duplicate"]
    asked.close()
    other.close()


@pytest.mark.parametrize("goal", ["each", "ranking"])
@pytest.mark.parametrize("memory", ["last", "average"])
@pytest.mark.parametrize("from_file", [False, True])
def test_why_is_the_sum_of_the_examples(
    tmp_path: Path, goal: str, memory: str, from_file: bool
) -> None:
    """The score of each label is what the examples add to it, and what the file began with."""
    batch = tagged(60)
    spec: dict[str, Any] = {"goal": goal, "memory": memory}
    start = 20 if from_file else 0
    online = OnlineLearner("perceptron", memory=memory, goal=goal)
    if from_file:
        for one in batch[:start]:
            online.learn_one(one["features"], one["label"])
        names = {"features": {"kind": "names"}}
        spec = {"file": msgspec.to_builtins(file_of(online.model_)), **names}
    writer = Writer(tmp_path)
    entry = create(writer, **spec)
    rest = [taught(one["features"], tuple(one["label"]), one["id"]) for one in batch[start:]]
    teach(writer, entry, *rest)
    x = batch[7]["features"]
    label, scores = entry.shown.learner.decided(x)
    for tag, score in zip(entry.shown.learner.classes, scores, strict=True):
        found = why(writer, entry, x, 100, label=tag)
        assert (found.label, found.positive, found.negative) == (label, tag, None)
        assert found.total == score
        assert found.others == 0
        amounts = [one.amount for one in found.teachers]
        assert len(amounts) > 3
        assert math.isclose(found.start + math.fsum(amounts), score, abs_tol=1e-9)
        if from_file and memory == "last":
            before = online.scores_one(x)[tag]
            rounds = 1e-12 if goal == "ranking" else 0.0  # shares of steps are fractions
            assert math.isclose(found.start, before, rel_tol=0.0, abs_tol=rounds)
        if not from_file:
            assert found.start == 0.0
    best = why(writer, entry, x, 5)
    assert best.positive == entry.shown.learner.classes[int(np.argmax(scores))]
    writer.close()


def test_why_before_the_first_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing was taught, why answers at once: no model is made from its file again."""
    online = OnlineLearner("perceptron", goal="each")
    for one in tagged(20):
        online.learn_one(one["features"], one["label"])
    writer = Writer(tmp_path)
    file = msgspec.to_builtins(file_of(online.model_))
    entry = create(writer, file=file, features={"kind": "names"})
    monkeypatch.setattr("rosenblatt.service.history.model_from", lambda _: pytest.fail("made"))
    found = why(writer, entry, {"chess": 1.0}, 5)
    assert (found.teachers, found.others, found.start) == ([], 0, found.total)
    writer.close()


def test_teachers_are_the_mistakes_of_a_plain_perceptron(service: Asked) -> None:
    """Those that taught a label are the updates of a two-class perceptron in plain lists."""
    batch = tagged(50)
    service.ask("PUT", MODEL, {"goal": "each", "memory": "last"})
    service.ask("POST", f"{MODEL}/learn", {"examples": batch})
    x = batch[3]["features"]
    for tag in TAGS:
        start = next(k for k, one in enumerate(batch) if tag in one["label"])
        rows = [[one["features"].get(f"f{j}", 0.0) for j in range(8)] for one in batch[start:]]
        sides = [1 if tag in one["label"] else -1 for one in batch[start:]]
        learned = reference.train_binary(rows, sides, reference.perceptron(), [range(len(rows))])
        point = [x.get(f"f{j}", 0.0) for j in range(8)]
        expected = {
            f"id{start + i}": sides[i] * (reference.PLAIN.dot(rows[i], point) + 1.0)
            for i, _, _ in learned.updates
        }
        asked = {"features": x, "label": tag, "top": 100}
        found = service.ask("POST", f"{MODEL}/why", asked).json()
        taught_by = {one["id"]: one["amount"] for one in found["teachers"]}
        assert taught_by == {id_: amount for id_, amount in expected.items() if amount}
        terms = service.ask("POST", f"{MODEL}/explain", asked).json()
        assert (terms["positive"], terms["negative"]) == (tag, None)
        assert terms["total"] == found["total"] == sum(expected.values())


def test_what_cannot_be_done_is_said(service: Asked) -> None:
    """One label where lists are taken, a list where one is, and what labels cannot have."""
    service.ask("PUT", MODEL, {"goal": "ranking"})
    service.ask("PUT", "/v1/models/one", {"classes": ["a", "b"]})

    def refused(path: str, body: Any, method: str = "POST") -> str:
        answer = service.ask(method, f"/v1/models/{path}", body)
        assert answer.status_code in (409, 422), answer.text
        return str(answer.json()["error"])

    x = {"f": 1}
    row: dict[str, Any] = {"features": x}
    assert "takes a list of labels for each example; got 'a'" in refused(
        "m/learn", row | {"label": "a"}
    )
    assert "takes one label for each example; got a list" in refused(
        "one/learn", row | {"label": ["a"]}
    )
    assert "knows no label; there is nothing to explain" in refused("m/explain", row)
    assert "of another type" in refused("m/learn", row | {"label": ["a", 1]})
    assert "1 to 200 characters" in refused("m/learn", row | {"label": ["a", ""]})
    service.ask("POST", f"{MODEL}/learn", row | {"label": ["a"]})
    assert service.ask("GET", MODEL).json()["classes"] == ["a"]
    assert "has no label 'z'" in refused("m/explain", row | {"label": "z"})
    assert "each row of this model has one" in refused("one/explain", row | {"label": "a"})
    assert "needs a first-order rule" in refused("n", {"goal": "ranking", "rule": "arow"}, "PUT")
    assert "goal" in refused("n", {"goal": "all"}, "PUT")
    file = msgspec.to_builtins(service.ask("GET", f"{MODEL}/export").content)
    assert "goal has no effect with file" in refused("n", {"goal": "each", "file": file}, "PUT")


def test_a_refused_batch_changes_nothing(tmp_path: Path) -> None:
    """Labels and weights of a request that fails are taken back."""
    writer = Writer(tmp_path, Limits(classes=5))
    entry = create(writer, goal="each", rule="arow")
    batch = [taught(one["features"], tuple(one["label"])) for one in tagged(30)]
    teach(writer, entry, *batch[:20])
    before = entry.own.learner.view()
    with pytest.raises(InputError, match="'z' is new and the model has all 5 classes"):
        teach(writer, entry, *batch[20:], taught({"new": 1.0}, ("a", "y", "z")))
    assert same(entry.own.learner, before)
    assert np.array_equal(entry.own.learner.scores([{"f1": 1.0}]), before.scores([{"f1": 1.0}]))
    teach(writer, entry, taught({"new": 1.0}, ("a", "y")))
    assert entry.shown.learner.classes == [*TAGS, "y"]
    writer.close()


def test_a_model_file_of_texts(tmp_path: Path, service: Asked) -> None:
    """A file is served with its thresholds and probabilities, and goes on learning."""
    model = model_from_files(
        written(tmp_path, "tsv"), label="tags", label_separator=";", text="text", calibrate=True
    )
    model.arrays[THRESHOLDS] = np.array([0.25, -0.5, 0.0, 0.75, -1.0])
    _, texts = made(30, seed=8)
    said = [list(one) for one in model.predict(texts)]
    file = msgspec.to_builtins(file_of(model))
    assert service.ask("PUT", MODEL, {"file": file}).status_code == 201
    rows = [{"text": text} for text in texts]
    many = service.ask("POST", f"{MODEL}/predict", {"rows": rows}).json()
    assert many["labels"] == said
    assert np.allclose(many["scores"], model.scores(texts), rtol=1e-12)
    answers = [service.ask("POST", f"{MODEL}/predict", {"features": x}).json() for x in rows]
    assert [one["label"] for one in answers] == said
    shares = [one["probability"] for one in answers]
    assert np.allclose(shares, model.probabilities(texts), rtol=1e-9)
    lesson = {"features": rows[0], "label": ["new", model.classes[0]]}
    learned = service.ask("POST", f"{MODEL}/learn", lesson).json()
    assert learned["predicted"] == said[0]
    after = service.ask("POST", f"{MODEL}/predict", {"features": rows[0]}).json()
    assert "probability" not in after
    path = tmp_path / "exported.model"
    path.write_bytes(service.ask("GET", f"{MODEL}/export").content)
    exported = Model.load(path)
    labels = sorted([*model.classes, "new"])
    assert list(exported.classes) == labels
    known = dict(zip(model.classes, model.thresholds, strict=False))
    assert exported.thresholds[:-1].tolist() == [known.get(label, 0.0) for label in labels]
    assert [list(exported.predict([texts[0]])[0])] == [after["label"]]


def test_a_journal_from_before_has_one_label_a_row(tmp_path: Path) -> None:
    """A journal whose models do not say their goal opens as it was."""
    writer = Writer(tmp_path)
    entry = create(writer, classes=["a", "b"])
    teach(writer, entry, taught({"f": 1.0}, "b"), taught({"g": 1.0}, "a"))
    writer.close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.create_function("line_checksum", -1, line_checksum)
        connection.execute("UPDATE models SET spec = json_remove(spec, '$.goal')")
        fields = LINES["models"]
        connection.execute(f"UPDATE models SET checksum = line_checksum({fields})")  # noqa: S608
    connection.close()
    again = Writer(tmp_path)
    assert same(again.entries["m"].shown.learner, entry.shown.learner)
    again.close()


def test_the_client_takes_sets(tmp_path: Path) -> None:
    """A set of labels is sent as a list; answers have tuples in order."""
    with serving(tmp_path) as server, Client(server.url) as client:
        client.create("m", goal="each", classes=["game", "perl"])
        client.learn("m", {"chess": 1}, {"perl", "game"}, id="a")
        client.learn_many("m", [({"mail": 1}, []), ({"mail": 1}, frozenset(), "c")])
        assert client.predict("m", {"chess": 1}, id="p").label == ("game", "perl")
        assert client.learn("m", {"chess": 1}, ["game", "perl"], id="a").duplicate
        client.feedback("m", "p", {"game"})
        assert [line.label for line in client.journal("m")][-1] == ("game",)
        assert client.why("m", {"chess": 1}, label="perl").positive == "perl"
        assert client.explain("m", {"chess": 1}, label="game").positive == "game"
        client.forget("m", id="a")
        assert client.describe("m").learned == 3


def test_curve_and_versions(service: Asked) -> None:
    """Each version answers as it did, and the curve counts rows that are not exactly right."""
    service.ask("PUT", MODEL, {"goal": "each", "rule": "pa1"})
    batch, said = tagged(20), []
    for one in batch:
        service.ask("POST", f"{MODEL}/learn", one)
        said.append(service.ask("POST", f"{MODEL}/predict", {"features": batch[9]["features"]}))
    for version, answer in enumerate(said, start=1):
        asked = {"features": batch[9]["features"], "version": version}
        assert service.ask("POST", f"{MODEL}/predict", asked).json() == answer.json()
    curve = service.ask("GET", f"{MODEL}?curve=1").json()["curve"]
    assert all(one["wrong"] <= two["wrong"] for one, two in pairwise(curve))
    lines = map(json.loads, service.ask("GET", f"{MODEL}/journal").text.splitlines())
    assert curve[-1]["wrong"] == sum(one["predicted"] != one["label"] for one in lines)
