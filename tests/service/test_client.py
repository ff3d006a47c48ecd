"""The client against a real service on a free port, and against one that loses connections."""

import re
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from onnxruntime import InferenceSession

from rosenblatt import load
from rosenblatt.errors import InputError
from rosenblatt.service import Client, ServiceError
from rosenblatt.service.limits import Limits
from rosenblatt.service.operations import OPERATIONS
from rosenblatt.service.server import ModelServer

from .running import serving

TOKEN = "a token that nobody else knows".replace(" ", "-")


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


def test_every_operation_has_a_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that can be asked can be asked by a method, and the answers have their types."""
    monkeypatch.setenv("ROSENBLATT_TOKEN", TOKEN)
    with serving(tmp_path, token=TOKEN) as server, Client(server.url) as client:
        asked = _recorded(client)
        assert client.health().ready
        assert client.ready().ready
        assert client.create("m", rule="perceptron", classes=["ham", "spam"]).version == 0
        assert client.learn("m", {"cheap": 1, "pills": 1}, "spam", id="a").sequence == 1
        many = client.learn_many("m", [({"lunch": 1}, "ham", "b"), ({"cheap": 1}, "spam")])
        assert [one.sequence for one in many.results] == [2, 3]
        assert client.predict("m", {"lunch": 1}, id="p").label == "ham"
        assert client.predict_many("m", [{"lunch": 1}, {"cheap": 1}]).labels == ["ham", "spam"]
        assert client.feedback("m", "p", "ham").sequence == 4
        explained = client.explain("m", {"cheap": 1, "new": 1})
        assert (explained.terms[0].name, explained.unknown) == ("cheap", 1)
        assert {one.id for one in client.why("m", {"lunch": 1}).teachers} <= {"a", "b"}
        assert [line.label for line in client.journal("m")] == ["spam", "ham", "spam", "ham"]
        assert [line.sequence for line in client.journal("m", after=3)] == [4]
        assert all(line.predicted != line.label for line in client.mistakes("m"))
        described = client.describe("m", curve=True)
        assert (described.learned, described.curve[-1].learned) == (4, 4)
        assert client.models() == [client.describe("m")]
        forgotten = client.forget("m", id="b")
        assert (forgotten.examples, client.job("m", forgotten.job or 0).status) == (1, "done")
        assert client.rollback("m", forgotten.version).learned == 3
        made = client.make_token("phone", ["predict"], models=["m"])
        assert [one.name for one in client.tokens()] == ["phone"]
        with Client(server.url, token=made.token) as other:
            assert other.predict("m", {"lunch": 1}).version == client.describe("m").version
            with pytest.raises(ServiceError, match="lacks the scope 'teach'") as refused:
                other.learn("m", {"x": 1}, "spam")
        assert refused.value.status == 403
        client.remove_token("phone")
        assert 'rosenblatt_examples_total{model="m"} 3' in client.metrics()
        described_paths = client.openapi()["paths"]
        assert b"weights" in client.export("m", "json")
        client.delete("m")
        assert client.models() == []
    wanted = {
        (one.method, one.path)
        for one in OPERATIONS
        if not one.path.startswith("/page") and one.path != "/"
    }
    assert wanted <= {(method, path) for path in described_paths for method in ("GET", *METHODS)}
    assert {(method, _pattern(path)) for method, path in asked} == wanted


METHODS = ("POST", "PUT", "DELETE")


def _recorded(client: Client) -> list[tuple[str, str]]:
    """Have a client note what it sends."""
    asked: list[tuple[str, str]] = []
    send = client._send  # noqa: SLF001

    def note(method: str, path: str, *values: object, **more: object) -> bytes:
        asked.append((method, path))
        return send(method, path, *values, **more)  # type: ignore[arg-type]

    client._send = note  # type: ignore[method-assign]  # noqa: SLF001
    return asked


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
            assert [one.name for one in phone.models()] == ["mine"]
            with pytest.raises(ServiceError, match="lacks the scope 'inspect' of 'others'"):
                phone.describe("others")
            with pytest.raises(ServiceError, match="is for some models only"):
                phone.metrics()


def test_a_return_leaves_curve_and_mistakes_behind(client: Client) -> None:
    """What a roll-back left behind is counted neither in the curve nor among the mistakes."""
    client.create("returned", classes=["a", "b"])
    client.learn_many("returned", [({"x": 1}, "b"), ({"y": 1}, "a"), ({"x": 1}, "a")])
    assert [line.sequence for line in client.mistakes("returned")] == [3, 2, 1]
    described = client.rollback("returned", 2)
    assert client.describe("returned", curve=True).curve[-1].learned == described.learned == 2
    assert [line.sequence for line in client.mistakes("returned")] == [2, 1]


def test_numpy_and_exports(client: Client, tmp_path: Path) -> None:
    """Arrays and numbers of NumPy are sent as they are; exported files give the same scores."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0).astype(int)
    client.create("array", features={"kind": "array"})
    client.learn_many("array", list(zip(X, y, strict=True)))
    assert client.learn("array", X[0], y[0]).sequence == 41
    found = client.predict_many("array", X)
    assert (np.array(found.labels) == y).mean() > 0.8
    (tmp_path / "array.model").write_bytes(client.export("array"))
    scores = load(tmp_path / "array.model").decision_function(X)
    assert np.array_equal(scores, found.scores)
    session = InferenceSession(client.export("array", "onnx"))
    labels = session.run(None, {session.get_inputs()[0].name: X})[0]
    assert labels.tolist() == found.labels
    again = client.create("copy", file=client.export("array"))
    assert client.predict_many(again.name, X).scores == found.scores


def test_refusals(client: Client) -> None:
    """An error has the sentence and the status of the service."""
    with pytest.raises(ServiceError, match="There is no model 'none'") as caught:
        client.predict("none", {})
    assert caught.value.status == 404
    with pytest.raises(ServiceError, match="cannot be the name of a model"):
        client.create("a b")
    client.create("refusals")
    with pytest.raises(ServiceError, match="features"):
        client.learn("refusals", [1.0, 2.0], "a")
    with pytest.raises(InputError, match="Numbers must be finite"):
        client.learn("refusals", {"x": float("nan")}, "a")
    with pytest.raises(InputError, match="A complex cannot be sent"):
        client.learn("refusals", {"x": 1j}, "a")  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("127.0.0.1:8765", "url must be an address"),
        ("ftp://host", "url must be an address"),
        ("http://name:word@host", "pass token="),
    ],
)
def test_bad_addresses(url: str, sentence: str) -> None:
    """An address that cannot be one is refused at once."""
    with pytest.raises(InputError, match=sentence):
        Client(url)


def test_the_token_is_never_shown(server: ModelServer) -> None:
    """Neither the text of a client nor an error has the token in it."""
    client = Client("http://127.0.0.1:9", token=TOKEN, retries=0)
    assert TOKEN not in repr(client)
    with pytest.raises(ServiceError) as caught:
        client.health()
    assert str(caught.value) == "http://127.0.0.1:9 does not answer: Connection refused."
    with pytest.raises(InputError, match="token must be one word"):
        Client(server.url, token="two\nlines")  # noqa: S106  # no secret


def test_one_client_for_many_threads(client: Client) -> None:
    """Threads share a client: each example is learned once, and connections are used again."""
    client.create("threads")
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda i: client.learn("threads", {f"x{i % 7}": 1}, i % 2), range(60))
        )
    assert sorted(one.sequence for one in found) == list(range(1, 61))
    assert len(client._idle) <= 4  # noqa: SLF001


def _whole(connection: socket.socket) -> bytes:
    """Return the next message of a connection, head and body; nothing at its end."""
    found = b""
    while True:
        head, end, body = found.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if end and len(body) >= int(length[1] if length else 0):
            return found
        part = connection.recv(1 << 16)
        if not part:
            return b""
        found += part


class LossyProxy:
    """Hands requests on to a service, and cuts the connection before so many of the answers."""

    def __init__(self, server: ModelServer, losses: int) -> None:
        self.losses, self.requests = losses, 0
        self._target = ("127.0.0.1", int(server.url.rstrip("/").rpartition(":")[2]))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                incoming, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._hand_on, args=(incoming,), daemon=True).start()

    def _hand_on(self, incoming: socket.socket) -> None:
        with incoming, socket.create_connection(self._target) as outgoing:
            while request := _whole(incoming):
                self.requests += 1
                outgoing.sendall(request)
                answer = _whole(outgoing)  # the service has done its part by now
                if self.losses > 0:
                    self.losses -= 1
                    return
                incoming.sendall(answer)

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()


def test_lost_answers(server: ModelServer, client: Client) -> None:
    """An example whose answer is lost is sent again and learned once; a roll-back is not resent."""
    client.create("lossy")
    proxy = LossyProxy(server, losses=2)
    try:
        with Client(proxy.url) as through:
            found = through.learn("lossy", {"x": 1}, "a")
            assert (found.sequence, found.duplicate, proxy.requests) == (1, True, 3)
            assert client.describe("lossy").learned == 1
            proxy.losses = 1
            with pytest.raises(ServiceError, match="Whether the request was carried out"):
                through.rollback("lossy", 0)
            assert proxy.requests == 4
            proxy.losses = 9
            with pytest.raises(ServiceError, match="does not answer"):
                Client(proxy.url, retries=1).describe("lossy")
            assert proxy.requests == 6
    finally:
        proxy.close()


def test_the_page_of_the_manual_names_everything() -> None:
    """The manual lists every operation with its scope, and every limit."""
    manual = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    for one in OPERATIONS:
        if not one.path.startswith("/page") and one.path != "/":
            line = next(
                line for line in manual.splitlines() if f"`{one.method} {one.path}`" in line
            )
            assert not line.startswith("|") or f"| {one.scope or 'none'} |" in line
    for field in fields(Limits):
        assert f"`{field.name}`" in manual
