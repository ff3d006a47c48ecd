"""Kills, mutated bodies, syncs: a short round of each here, the storms in ``make explore``."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.service.history import at_version
from rosenblatt.service.limits import Limits
from rosenblatt.service.writer import Writer

from .client import Client as Asking
from .conftest import Asked, same

MODEL = "/v1/models/m"
JSON = {"Content-Type": "application/json"}


@contextmanager
def running(folder: Path, *before: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Give a service in a process of its own and its port; it is killed at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "rosenblatt", "serve", "--folder", str(folder), "--json"]
    with subprocess.Popen(  # noqa: S603  # our own program
        [*before, *command, "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        lines = ""
        while "}" not in lines:
            line = process.stdout.readline()
            assert line, "the service ended before it began"
            lines += line
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.02)
        try:
            yield process, port
        finally:
            os.killpg(process.pid, signal.SIGKILL)


class Client(threading.Thread):
    """Teaches examples with ids of its own until the service is gone, and keeps the answers."""

    def __init__(self, port: int, name: str, most: int = 10_000) -> None:
        super().__init__()
        self._port, self._name, self._most = port, name, most
        self.answers: dict[str, dict[str, Any]] = {}

    def run(self) -> None:
        """Ask until nobody answers."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=600)
        generator = random.Random(self._name)  # noqa: S311
        try:
            for i in range(self._most):
                features = {f"f{generator.randrange(40)}": generator.choice([-1, 1]) for _ in "abc"}
                id_ = f"{self._name}-{i}"
                body = {"features": features, "label": generator.choice("xy"), "id": id_}
                connection.request("POST", f"{MODEL}/learn", json.dumps(body), JSON)
                response = connection.getresponse()
                answer = json.loads(response.read())
                assert response.status == 200, answer
                self.answers[id_] = answer
        except (OSError, HTTPException, json.JSONDecodeError):
            pass
        finally:
            connection.close()


def kill_round(folder: Path, name: str, clients: int, wait: int) -> dict[str, dict[str, Any]]:
    """Let clients teach, kill the service after some answers, and return all answers."""
    with running(folder) as (process, port):
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("PUT", MODEL, "{}", JSON)
        assert connection.getresponse().status == 201
        connection.close()
        threads = [Client(port, f"{name}-{k}") for k in range(clients)]
        for thread in threads:
            thread.start()
        while sum(len(thread.answers) for thread in threads) < wait:
            time.sleep(0.001)
        process.kill()
        for thread in threads:
            thread.join()
    return {id_: answer for thread in threads for id_, answer in thread.answers.items()}


def test_more_connections_than_descriptors(tmp_path: Path) -> None:
    """Half heads beyond the descriptors of a process leave journal, export, why and forget."""
    limited = ("bash", "-c", 'ulimit -n 200 && exec "$@"', "bash")
    with running(tmp_path, *limited) as (_, port), client_of(port) as client:
        client.create("m", classes=["a", "b"])
        client.learn_many("m", [({f"w{i}": 1}, "ab"[i % 2], f"id{i}") for i in range(20)])
        wires = []
        try:
            for _ in range(500):
                wires.append(socket.create_connection(("127.0.0.1", port)))
                wires[-1].sendall(b"POST /v1/models/m/learn HTTP/1.1\r\n")
            for i in range(3):
                assert len(list(client.journal("m"))) == 20 + i
                assert client.export("m")
                assert client.why("m", {"w1": 1}).teachers
                assert client.forget("m", id=f"id{i}").examples == 1
        finally:
            for wire in wires:
                wire.close()


def client_of(port: int) -> Asking:
    """Return a client of a service that answers."""
    client = Asking(f"http://127.0.0.1:{port}")
    client.wait()
    return client


def check_journal(folder: Path, answers: dict[str, dict[str, Any]]) -> None:
    """Assert that all that was acknowledged is there once, without a gap, and in the weights."""
    writer = Writer(folder)
    entry = writer.entries["m"]
    with writer.journal.reader() as reader:
        events = list(reader.events(entry.record.model, 0))
        replayed = at_version(reader, None, entry.record, entry.shown.version, Limits())
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    numbers = {event.id: event.sequence for event in events}
    assert len(numbers) == len(events)
    for id_, answer in answers.items():
        assert numbers[id_] == answer["sequence"]
    assert same(entry.shown.learner, replayed)
    writer.close()


def test_killed_under_load(tmp_path: Path) -> None:
    """After kill −9 no acknowledged example is lost, none is learned twice, no number missing."""
    answers = kill_round(tmp_path, "a", clients=6, wait=40)
    answers |= kill_round(tmp_path, "b", clients=6, wait=40)
    assert len(answers) >= 80
    check_journal(tmp_path, answers)


@pytest.mark.explore
def test_killed_two_hundred_times(tmp_path: Path, random_seed: int) -> None:
    """The same, two hundred times in one folder, with 32 clients and at random moments."""
    generator = random.Random(random_seed)  # noqa: S311
    answers: dict[str, dict[str, Any]] = {}
    for i in range(200):
        answers |= kill_round(tmp_path, str(i), clients=32, wait=generator.randrange(1, 400))
        check_journal(tmp_path, answers)


@pytest.mark.explore
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_log_is_synced_before_each_answer(tmp_path: Path) -> None:
    """Between the last write of an example to the log and its answer there is a sync of the log."""
    trace = tmp_path / "trace"
    calls = "trace=openat,fdatasync,fsync,pwrite64,write,writev,sendto,sendmsg"
    folder = tmp_path / "folder"
    with running(folder, "strace", "-f", "-y", "-s", "80", "-e", calls, "-o", str(trace)) as (
        _,
        port,
    ):
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("PUT", MODEL, "{}", JSON)
        connection.getresponse().read()
        client = Client(port, "s", most=30)
        client.run()
        connection.close()
    assert len(client.answers) == 30
    written = synced = answers = 0
    for number, line in enumerate(trace.read_text().splitlines()):
        if re.search(r"pwrite64\(\d+<[^>]*-wal>", line):
            written = number
        elif re.search(r"f(data)?sync\(\d+<[^>]*-wal>", line):
            synced = number
        elif "HTTP/1.1 200" in line:
            answers += 1
            assert synced > written > 0
    assert answers >= 30


def replaced(generator: random.Random, value: Any) -> Any:
    """Return a JSON value with one part of it replaced, removed or doubled."""
    if isinstance(value, dict) and value and generator.random() < 0.8:
        key = generator.choice(sorted(value))
        changed = {**value, key: replaced(generator, value[key])}
        if generator.random() < 0.2:
            changed[generator.choice(["x", "", "label", "id", "version", "\0"])] = changed.pop(key)
        return changed
    if isinstance(value, list) and value and generator.random() < 0.8:
        at = generator.randrange(len(value))
        return [*value[:at], replaced(generator, value[at]), *value[at:]]
    return generator.choice(VALUES)


VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 2**53, -(2**70), 1e308, 1e-320, "", "yes", "no", "\0", "é" * 300, "p"),
    *([], {}, [1.0, 2.0], {"a": None}, {"a": [1]}, ["x"], "x1", 3, {"label": "yes"}),
]


def mutated(generator: random.Random, body: bytes) -> bytes:
    """Return a body with a part replaced, or a few bytes changed, cut, doubled, put elsewhere."""
    if generator.random() < 0.6:
        return json.dumps(replaced(generator, json.loads(body))).encode()
    found = bytearray(body)
    for _ in range(generator.randrange(1, 4)):
        if not found:
            break
        at = generator.randrange(len(found))
        kind = generator.randrange(5)
        if kind == 0:
            found[at] = generator.randrange(256)
        elif kind == 1:
            del found[at : at + generator.randrange(1, 9)]
        elif kind == 2:
            found[at:at] = found[at : at + generator.randrange(1, 30)]
        elif kind == 3:
            found[at:at] = generator.choice(PIECES)
        else:
            found[at] ^= 1 << generator.randrange(8)
    return bytes(found)


PIECES = [
    *(b"null", b"true", b"-1", b"1e308", b"[]", b"{}", b'""', b'"id":', b"\\u0000", b"\xff"),
    *(b"99999999999999999999999", b'"version":1,', b'"examples":[', b"[[[[[[", b'"features":'),
]
BODIES = [
    ("predict", b'{"features": {"a": 1.5, "b": "word", "c": true}, "id": "p"}'),
    ("predict", b'{"rows": [{"a": 1}, {"b": -2e3}], "version": 1}'),
    ("learn", b'{"features": {"a": 1.5, "b": "word"}, "label": "yes", "id": "x1"}'),
    ("learn", b'{"examples": [{"features": {"a": 1}, "label": "no"}]}'),
    ("feedback", b'{"id": "p", "label": "yes"}'),
    ("explain", b'{"features": {"a": 2}, "top": 3}'),
    ("why", b'{"features": {"a": 2}}'),
    ("forget", b'{"id": "x1", "before": 3}'),
    ("rollback", b'{"version": 1}'),
]


def no_fault_of_ours(folder: Path, seed: int, n: int) -> None:
    """Send mutated bodies and assert that each answer is the client's or the model's affair."""
    asked = Asked(folder)
    asked.ask("PUT", MODEL, {"classes": ["no", "yes"]})
    generator = random.Random(seed)  # noqa: S311
    found: list[Any] = []

    async def send(message: Any) -> None:
        found.append(message)

    async def one(path: str, body: bytes) -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        await asked.app({**scope, "query_string": b"", "root_path": ""}, receive, send)

    async def storm() -> None:
        for _ in range(n):
            operation, body = generator.choice(BODIES)
            changed = mutated(generator, body)
            found.clear()
            await one(f"{MODEL}/{operation}", changed)
            status = found[0]["status"]
            assert status < 500, (operation, changed, found)
            answer = json.loads(found[1]["body"])
            assert status < 300 or list(answer) == ["error"]

    try:
        asked.run(storm())
    finally:
        asked.close()
    Writer(folder).close()


def test_mutated_bodies(tmp_path: Path) -> None:
    """No mutated body is answered by a fault of the service, and the folder opens again."""
    no_fault_of_ours(tmp_path, seed=0, n=1500)


@pytest.mark.explore
def test_a_million_mutated_bodies(tmp_path: Path, random_seed: int) -> None:
    """The same, a million times."""
    for i in range(100):
        no_fault_of_ours(tmp_path / str(i), random_seed + i, 10_000)


@pytest.mark.explore
def test_schemathesis(tmp_path: Path) -> None:
    """What the OpenAPI page says is what is taken and answered, whatever is generated from it."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import positive_data_acceptance  # names of rules, say

    asked = Asked(tmp_path)
    asked.ask("PUT", MODEL, {"classes": ["no", "yes"]})
    document = asked.ask("GET", "/openapi.json").json()
    for path in document["paths"].values():
        for described in path.values():
            described.pop("security", None)  # without tokens, as here, nobody is asked for one
    schema = schemathesis.openapi.from_dict(document)

    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]  # an error would fail here

        @given(case=operation.as_strategy())
        @settings(
            max_examples=60,
            derandomize=True,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any) -> None:
            given_ = case.as_transport_kwargs(base_url="http://127.0.0.1")
            answer = asked.ask(
                case.method,
                case.formatted_path,
                **{key: given_[key] for key in ("json", "params", "headers") if key in given_},
            )
            assert answer.status_code < 500
            case.validate_response(answer, excluded_checks=[positive_data_acceptance])

        check()
    asked.close()
