"""Requests as bytes on a socket: whole, in pieces, several at once, and what is no request."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.service.limits import Limits

from .client import Client
from .running import serving

BODY = b'{"features": {"a": 2, "b": -1}}'


def request(
    method: str = "POST", path: str = "/v1/models/m/predict", body: bytes = BODY, head: str = ""
) -> bytes:
    """Return a request with this body."""
    lines = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{lines}Content-Length: {len(body)}\r\n{head}\r\n".encode() + body


class Wire:
    """A socket, and the answers that come from it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=600)
        self._file = self.socket.makefile("rb")

    def send(self, *parts: bytes) -> None:
        """Send parts, each in a packet of its own."""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i, part in enumerate(parts):
            if i:
                time.sleep(0.02)
            self.socket.sendall(part)

    def answer(self, *, head: bool = False) -> tuple[int, dict[str, str], Any]:
        """Return status, headers and body of the next answer."""
        status = int(self._file.readline().split()[1])
        headers = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        body = b"" if head else self._file.read(int(headers["content-length"]))
        return status, headers, body

    def is_closed(self) -> bool:
        """Return whether the service has closed the connection."""
        return self._file.read(1) == b""

    def send_until_closed(self, part: bytes) -> None:
        """Send a part from time to time, until the connection is closed under the sender."""
        with suppress(OSError):
            while True:
                self.socket.sendall(part)
                time.sleep(0.05)

    def close(self) -> None:
        """End."""
        self._file.close()
        self.socket.close()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the port of a service with a model of two classes."""
    limits = Limits(body=2000, body_seconds=0.5)
    with serving(tmp_path_factory.mktemp("wire"), limits=limits) as server:
        with Client(server.url) as client:
            client.create("m", classes=["no", "yes"])
            client.learn("m", {"a": 1.0, "b": 1.0}, "yes")
            client.learn("m", {"b": 2.0}, "no")
        yield int(server.url.rstrip("/").rpartition(":")[2])


@pytest.fixture
def wire(port: int) -> Iterator[Wire]:
    """Return a connection."""
    found = Wire(port)
    yield found
    found.close()


def test_whole_and_in_pieces(wire: Wire) -> None:
    """A request is answered alike in one piece, in pieces, in chunks, and after one that failed."""
    whole = request()
    wire.send(whole)
    status, headers, body = wire.answer()
    assert (status, json.loads(body)["label"]) == (200, "yes")
    assert headers["content-type"] == "application/json"
    assert {"date", "cache-control", "x-content-type-options"} <= set(headers)
    for cuts in ((10,), (len(whole) - 3,), (len(whole) - len(BODY),), (5, 60, len(whole) - 10)):
        ends = (0, *cuts, len(whole))
        wire.send(*(whole[a:b] for a, b in pairwise(ends)))
        again, seen, found = wire.answer()
        assert (again, found) == (status, body)
        assert {**seen, "date": ""} == {**headers, "date": ""}
    chunked = whole.replace(b"Content-Length: %d" % len(BODY), b"Transfer-Encoding: chunked")
    head = chunked.removesuffix(BODY)
    wire.send(head + b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n")
    assert wire.answer()[::2] == (status, body)
    wire.send(request(body=b"{"))
    assert wire.answer()[0] == 400
    wire.send(whole)
    assert wire.answer()[::2] == (status, body)


def test_several_at_once_are_answered_in_order(wire: Wire) -> None:
    """Requests that come together are answered one after the other, learned in that order."""
    learn = b'{"features": {"c": 1}, "label": "yes", "id": "%d"}'
    path = "/v1/models/m/learn"
    requests = [request(path=path, body=learn % i) for i in range(3)]
    requests.insert(1, request())
    wire.send(b"".join(requests))
    answers = [json.loads(wire.answer()[2]) for _ in requests]
    numbers = [one["sequence"] for one in answers if "sequence" in one]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
    assert answers[1]["label"] == "yes"
    assert answers[1]["version"] >= numbers[0]


def test_other_ways_to_ask(port: int) -> None:
    """HEAD, a connection to be closed, HTTP/1.0 and a name in percent signs are answered, too."""
    wire = Wire(port)
    wire.send(request("HEAD", "/health", b""))
    assert wire.answer(head=True)[0] == 200
    wire.send(request(path="/v1/models/%6d/predict"))
    assert wire.answer()[0] == 200
    wire.send(request("GET", "/v1/models/m/journal?limit=1", b""))
    assert json.loads(wire.answer()[2])["sequence"] == 1
    wire.send(request(head="Expect: 100-continue\r\n"))
    status = wire.answer(head=True)[0]
    assert (status, wire.answer()[0]) == (100, 200)
    wire.send(request(head="Connection: close\r\n"))
    assert wire.answer()[0] == 200
    assert wire.is_closed()
    wire.close()
    wire = Wire(port)
    wire.send(request().replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert wire.answer()[0] == 200
    assert wire.is_closed()
    wire.close()


@pytest.mark.parametrize("pieces", [1, 2])
def test_a_body_beyond_the_limit(wire: Wire, pieces: int) -> None:
    """A body is refused when it is longer than the limit, whatever its head says."""
    body = b'{"features": {"a": 1}, "id": "%s"}' % (b"x" * 3000)
    head, _ = request(body=body).split(b"\r\n\r\n")
    wire.send(head + b"\r\n\r\n", body) if pieces == 2 else wire.send(head + b"\r\n\r\n" + body)
    assert wire.answer()[0] == 413
    unsaid = request(body=b"", head="Transfer-Encoding: chunked\r\n")
    unsaid = unsaid.replace(b"Content-Length: 0\r\n", b"")
    other = Wire(wire.socket.getpeername()[1])
    chunk = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
    other.send(unsaid, chunk) if pieces == 2 else other.send(unsaid + chunk)
    assert other.answer()[0] == 413
    other.close()


def test_a_body_that_does_not_come(wire: Wire) -> None:
    """A body that stays away is not waited for."""
    wire.send(request()[:-5])
    assert wire.answer()[0] == 408


def test_what_is_no_request(port: int) -> None:
    """Bytes that are no HTTP are answered with 400, and the connection is closed."""
    wire = Wire(port)
    wire.send(b"\x16\x03\x01 hello\r\n\r\n")
    assert wire.answer()[0] == 400
    assert wire.is_closed()
    wire.close()


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization"])
def test_a_header_that_stands_twice(port: int, name: str) -> None:
    """Two headers of a kind are refused: a proxy may have looked at the other one."""
    wire = Wire(port)
    twice = f"{name}: evil.com\r\n" * (1 if name == "Host" else 2)
    wire.send(request(head=twice))
    status, _, body = wire.answer()
    sentence = f"The header {name} must stand once."
    assert (status, json.loads(body)) == (400, {"error": sentence})
    wire.send(request().replace(b"Host: localhost", b"Host: localhost:evil.com"))
    status, _, body = wire.answer()
    assert status == 421
    wire.close()


def test_what_was_accepted_is_answered_before_the_end(tmp_path: Path) -> None:
    """A service that is told to end answers what it has accepted, and closes."""
    with serving(tmp_path) as server:
        with Client(server.url) as client:
            client.create("m", classes=["no", "yes"])
        wire = Wire(int(server.url.rstrip("/").rpartition(":")[2]))
        body = b'{"features": {"a": 1}, "label": "yes"}'
        wire.send(request(path="/v1/models/m/learn", body=body))
        status, _, answer = wire.answer()
        wire.send(request(path="/v1/models/m/learn", body=body))
    assert (status, json.loads(answer)["sequence"]) == (200, 1)
    late = wire.socket.recv(1000)
    assert late == b"" or json.loads(late.partition(b"\r\n\r\n")[2])["sequence"] == 2
    wire.close()


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the port of a service that waits half a second for a head, on six connections."""
    limits = Limits(head_seconds=0.5, idle_seconds=20, connections=6, head=2000)
    with serving(tmp_path_factory.mktemp("narrow"), limits=limits) as server:
        with Client(server.url) as client:
            client.create("m", classes=["no", "yes"])
        yield int(server.url.rstrip("/").rpartition(":")[2])


@pytest.mark.parametrize("sent", [b"", b"POST /v1/models/m/pre", b"\r\n", request()[:60]])
def test_a_head_that_does_not_come(narrow: int, sent: bytes) -> None:
    """A connection without a request, or with half a head, is closed with a sentence."""
    wire = Wire(narrow)
    wire.send(sent)
    status, _, body = wire.answer()
    assert (status, json.loads(body)) == (
        408,
        {"error": "The head of a request did not come within 0.5 seconds."},
    )
    assert wire.is_closed()
    wire.close()


@pytest.mark.parametrize("drop", [b"\r\n", b"X-Slow: 1\r\n"])
def test_a_head_that_comes_in_drops(narrow: int, drop: bytes) -> None:
    """A little of a head from time to time does not keep a connection, after an answer neither."""
    wire = Wire(narrow)
    wire.send(request("GET", "/health", b""))
    assert wire.answer()[0] == 200
    if drop != b"\r\n":
        wire.send(b"GET /health HTTP/1.1\r\n")
    wire.send_until_closed(drop)
    wire.close()


def test_a_head_without_end(narrow: int) -> None:
    """A head beyond its size is refused."""
    wire = Wire(narrow)
    wire.send(b"GET /health HTTP/1.1\r\n", b"X: " + b"x" * 3000)
    status, _, body = wire.answer()
    assert (status, json.loads(body)) == (
        431,
        {"error": "The head of a request may have 2,000 bytes at most."},
    )
    wire.close()


def test_a_refused_body_that_never_ends(narrow: int) -> None:
    """A body that goes on after its answer does not keep the connection."""
    wire = Wire(narrow)
    wire.send(
        request("GET", "/nothing", b"", "Transfer-Encoding: chunked\r\n").replace(
            b"Content-Length: 0\r\n", b""
        )
    )
    assert wire.answer()[0] == 404
    wire.send_until_closed(b"1\r\nx\r\n")
    wire.close()


def test_a_refused_body_is_read_to_its_end(wire: Wire) -> None:
    """A large body that is refused by its head is read all the same, so the answer is seen."""
    wire.send(request(body=b"x" * 3_000_000))
    assert wire.answer()[0] == 413
    wire.send(request())
    assert wire.answer()[0] == 200


def test_idle_connections_make_room(narrow: int) -> None:
    """Who has waited longest without a request is closed where another wants to ask."""
    idle = [Wire(narrow) for _ in range(6)]
    for wire in idle:
        wire.send(request("GET", "/health", b""))
        assert wire.answer()[0] == 200
    others = [Wire(narrow) for _ in range(3)]
    for wire in others:
        wire.send(request("GET", "/health", b""))
        assert wire.answer()[0] == 200
    assert [wire.is_closed() for wire in idle[:3]] == [True] * 3
    for wire in idle[3:]:
        wire.send(request("GET", "/health", b""))
        assert wire.answer()[0] == 200
    for wire in (*idle, *others):
        wire.close()


def test_all_connections_busy(narrow: int) -> None:
    """Where all connections wait for an answer, the next is told to come again."""
    busy = [Wire(narrow) for _ in range(6)]
    for wire in busy:
        wire.send(request()[:-5])  # the rest of the body is yet to come
        time.sleep(0.02)
    wire = Wire(narrow)
    status, headers, body = wire.answer()
    assert (status, headers["retry-after"], json.loads(body)) == (
        503,
        "1",
        {"error": "The service has all 6 connections that it may have; try again soon."},
    )
    assert wire.is_closed()
    for one in busy:
        one.send(request()[-5:])
        assert one.answer()[0] == 200
    for one in (*busy, wire):
        one.close()
