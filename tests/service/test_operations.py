"""All that can be asked, by httpx, of a real service on a free port."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime import InferenceSession

from rosenblatt import load
from rosenblatt.service import requests
from rosenblatt.service.limits import PORT, Limits
from rosenblatt.service.operations import OPERATIONS
from rosenblatt.service.server import ModelServer

from .client import Client, Refusal
from .running import serving

TOKEN = "a token that nobody else knows".replace(" ", "-")
MANUAL = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """Run one service for all; each test has models of its own."""
    with serving(tmp_path_factory.mktemp("client")) as running:
        yield running


@pytest.fixture
def client(server: ModelServer) -> Iterator[Client]:
    """Return a client of it."""
    with Client(server.url) as opened:
        yield opened


def test_every_operation_can_be_asked(tmp_path: Path) -> None:
    """Each operation answers over the network, with the type that it is described by."""
    with serving(tmp_path, token=TOKEN) as server, Client(server.url, TOKEN) as client:
        assert client.ask(requests.Ready, "GET", "/health").ready
        assert client.ask(requests.Ready, "GET", "/ready").ready
        assert client.create("m", rule="perceptron", classes=["ham", "spam"]).version == 0
        assert client.learn("m", {"cheap": 1, "pills": 1}, "spam", id="a").sequence == 1
        many = client.learn_many("m", [({"lunch": 1}, "ham", "b"), ({"cheap": 1}, "spam")])
        assert [one.sequence for one in many.results] == [2, 3]
        assert client.predict("m", {"lunch": 1}, id="p").label == "ham"
        assert _predictions(client, "m", [{"lunch": 1}, {"cheap": 1}]).labels == ["ham", "spam"]
        assert client.feedback("m", "p", "ham").sequence == 4
        explained = client.explain("m", {"cheap": 1, "new": 1})
        assert (explained.terms[0].name, explained.unknown) == ("cheap", 1)
        assert {one.id for one in client.why("m", {"lunch": 1}).teachers} <= {"a", "b"}
        assert [line.label for line in client.journal("m")] == ["spam", "ham", "spam", "ham"]
        assert [line.sequence for line in client.journal("m", after=3)] == [4]
        assert all(line.predicted != line.label for line in client.journal("m", mistakes=1))
        described = client.describe("m", curve=1)
        assert (described.learned, described.curve[-1].learned) == (4, 4)
        assert _models(client) == [client.describe("m")]
        forgotten = client.forget("m", id="b")
        assert (forgotten.examples, forgotten.status) == (1, "done")
        assert _rolled_back(client, "m", forgotten.version or 0).learned == 3
        made = client.make_token("phone", ["predict"], models=["m"])
        tokens = client.ask(requests.TokenList, "GET", "/v1/tokens").tokens
        assert [one.name for one in tokens] == ["phone"]
        with Client(server.url, token=made.token) as other:
            assert other.predict("m", {"lunch": 1}).version == client.describe("m").version
            with pytest.raises(Refusal, match="lacks the scope 'teach'") as refused:
                other.learn("m", {"x": 1}, "spam")
        assert refused.value.status == 403
        client.send("DELETE", "/v1/tokens/phone")
        assert 'rosenblatt_examples_total{model="m"} 3' in client.send("GET", "/metrics").decode()
        assert client.ask(requests.OwnToken, "GET", "/v1/token").name == "operator"
        described_paths = client.ask(dict[str, Any], "GET", "/openapi.json")["paths"]
        assert b"weights" in client.export("m", "json")
        client.send("DELETE", "/v1/models/m")
        assert _models(client) == []
    wanted = {
        (one.method, one.path)
        for one in OPERATIONS
        if not one.path.startswith("/page") and one.path != "/"
    }
    assert wanted <= {(method, path) for path in described_paths for method in ("GET", *METHODS)}
    assert {(method, _pattern(path)) for method, path in client.asked} == wanted


METHODS = ("POST", "PUT", "DELETE")


def _predictions(client: Client, model: str, rows: list[Any]) -> requests.Predictions:
    return client.post(requests.Predictions, model, "predict", rows=rows)


def _rolled_back(client: Client, model: str, version: int) -> requests.Description:
    return client.post(requests.Description, model, "rollback", version=version)


def _models(client: Client) -> list[requests.Description]:
    return client.ask(requests.ModelList, "GET", "/v1/models").models


def _pattern(path: str) -> str:
    parts = path.split("/")
    if parts[1:3] == ["v1", "models"] and len(parts) > 3:
        parts[3] = "{model}"
    if parts[1:3] == ["v1", "tokens"] and len(parts) > 3:
        parts[3] = "{token}"
    if len(parts) > 5:
        parts[5] = "{job}"
    return "/".join(parts)


def test_a_token_for_one_model_sees_that_one_only(tmp_path: Path) -> None:
    """A token for some models lists those, and is refused what tells of all."""
    with serving(tmp_path, token=TOKEN) as server, Client(server.url, token=TOKEN) as client:
        client.create("mine")
        client.create("others")
        made = client.make_token("phone", ["inspect"], models=["mine"])
        with Client(server.url, token=made.token) as phone:
            assert [one.name for one in _models(phone)] == ["mine"]
            with pytest.raises(Refusal, match="lacks the scope 'inspect' of 'others'"):
                phone.describe("others")
            with pytest.raises(Refusal, match="is for some models only"):
                phone.send("GET", "/metrics")


def test_a_return_leaves_curve_and_mistakes_behind(client: Client) -> None:
    """What a roll-back left behind is counted neither in the curve nor among the mistakes."""
    client.create("returned", classes=["a", "b"])
    client.learn_many("returned", [({"x": 1}, "b"), ({"y": 1}, "a"), ({"x": 1}, "a")])
    assert [line.sequence for line in client.journal("returned", mistakes=1)] == [3, 2, 1]
    described = _rolled_back(client, "returned", 2)
    assert client.describe("returned", curve=1).curve[-1].learned == described.learned == 2
    assert [line.sequence for line in client.journal("returned", mistakes=1)] == [2, 1]


def test_exports(client: Client, tmp_path: Path) -> None:
    """Exported files give the scores of the service, and a model goes on from one."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0).astype(int)
    client.create("array", features={"kind": "array"})
    client.learn_many("array", list(zip(X.tolist(), y.tolist(), strict=True)))
    assert client.learn("array", X[0].tolist(), int(y[0])).sequence == 41
    found = _predictions(client, "array", X.tolist())
    assert (np.array(found.labels) == y).mean() > 0.8
    (tmp_path / "array.model").write_bytes(client.export("array"))
    scores = load(tmp_path / "array.model").decision_function(X)
    assert np.array_equal(scores, found.scores)
    session = InferenceSession(client.export("array", "onnx"))
    labels = session.run(None, {session.get_inputs()[0].name: X})[0]
    assert labels.tolist() == found.labels
    again = client.create("copy", file=client.export("array"))
    assert _predictions(client, again.name, X.tolist()).scores == found.scores


def test_refusals(client: Client) -> None:
    """An error has the sentence and the status of the service."""
    with pytest.raises(Refusal, match="There is no model 'none'") as caught:
        client.predict("none", {})
    assert caught.value.status == 404
    with pytest.raises(Refusal, match="cannot be the name of a model"):
        client.create("a%20b")
    client.create("refusals")
    with pytest.raises(Refusal, match="features"):
        client.learn("refusals", [1.0, 2.0], "a")


def test_the_example_of_the_manual(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of httpx in the manual run as they stand, but for the address."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    code = MANUAL.split("## Python\n")[1].split("```python\n")[1].split("```")[0]
    found: dict[str, Any] = {}
    exec(code.replace(f"http://127.0.0.1:{PORT}", server.url.rstrip("/")), found)  # noqa: S102
    found["service"].close()
    assert (found["answer"].json()["label"], found["refused"].status_code) == ("spam", 404)
    assert found["refused"].json() == {"error": "There is no model 'male'."}
    with Client(server.url) as client:
        assert client.describe("mail").learned == 2


def test_the_page_of_the_manual_names_everything() -> None:
    """The manual lists every operation with its scope, and every limit."""
    for one in OPERATIONS:
        if not one.path.startswith("/page") and one.path != "/":
            line = next(
                line for line in MANUAL.splitlines() if f"`{one.method} {one.path}`" in line
            )
            assert not line.startswith("|") or f"| {one.scope or 'none'} |" in line
    for field in fields(Limits):
        assert f"`{field.name}`" in MANUAL
