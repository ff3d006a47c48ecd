import http.client
import json
import socket
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest

from rosenblatt.errors import InputError
from rosenblatt.lab.server import ADDRESS, MOST_BYTES, USUAL_PORT, LabServer
from rosenblatt.lab.toy_sets import toy_set


@pytest.fixture(scope="module")
def server() -> Iterator[LabServer]:
    """Serve a lab on any free port."""
    with LabServer(toy_set("xor"), 0) as lab:
        thread = Thread(target=lab.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield lab
        lab.shutdown()
        thread.join()


def sent(
    server: LabServer, method: str, path: str, body: bytes | None = None, **headers: str | None
) -> tuple[http.client.HTTPResponse, bytes]:
    """Send a request; headers that are None are left out."""
    connection = http.client.HTTPConnection(ADDRESS, server.server_port)
    connection.putrequest(method, path, skip_host=True)
    given: dict[str, str | None] = {"Host": f"{ADDRESS}:{server.server_port}"}
    if body is not None:
        given |= {
            "Origin": f"http://{ADDRESS}:{server.server_port}",
            "X-Rosenblatt-Token": server.token,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
        }
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def message(server: LabServer, value: Any, **headers: str | None) -> tuple[int, dict[str, Any]]:
    """Send a message as the page does, or with some headers changed."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    response, content = sent(server, "POST", "/message", body, **headers)
    assert response.getheader("Content-Type") == "application/json"
    return response.status, json.loads(content)


def test_serves_the_page_and_its_parts(server: LabServer) -> None:
    """The page and its parts are there, under a policy that lets in nothing else."""
    for path, kind in {
        "/": "text/html",
        "/lab.js": "text/javascript",
        "/page.js": "text/javascript",
        "/lab.css": "text/css",
        "/icon.svg": "image/svg+xml",
    }.items():
        response, content = sent(server, "GET", path)
        assert response.status == 200
        assert response.getheader("Content-Type") == f"{kind}; charset=utf-8"
        policy = response.getheader("Content-Security-Policy") or ""
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert response.getheader("X-Content-Type-Options") == "nosniff"
        head, nothing = sent(server, "HEAD", path)
        assert head.getheader("Content-Length") == str(len(content))
        assert nothing == b""


def test_listens_on_loopback_only(server: LabServer) -> None:
    """Nobody but this machine can reach it."""
    assert server.server_address[0] == "127.0.0.1"


def test_answers_the_page(server: LabServer) -> None:
    """A message from the page is answered, under either name of the address."""
    asked = {"kind": "look", "document": toy_set("xor").plain(), "id": 5}
    status, answer = message(server, asked)
    assert (status, answer["kind"], answer["id"]) == (200, "sight", 5)
    name = f"localhost:{server.server_port}"
    assert message(server, asked, Host=name, Origin=f"http://{name}")[0] == 200


@pytest.mark.parametrize(
    ("headers", "status", "words"),
    [
        ({"Host": "evil.example"}, 421, "answers only under its own address"),
        ({"Host": "127.0.0.1"}, 421, "answers only under its own address"),
        ({"Host": None}, 421, "answers only under its own address"),
        ({"Origin": "http://evil.example"}, 403, "only from the page that this server served"),
        ({"Origin": "null"}, 403, "only from the page that this server served"),
        ({"Origin": None}, 403, "only from the page that this server served"),
        ({"Origin": "http://127.0.0.1:1"}, 403, "only from the page that this server served"),
        ({"X-Rosenblatt-Token": "guess"}, 403, "served by a lab that has ended: reload it"),
        ({"X-Rosenblatt-Token": None}, 403, "served by a lab that has ended: reload it"),
        ({"X-Rosenblatt-Token": "gü"}, 403, "served by a lab that has ended: reload it"),
        ({"Content-Type": "text/plain"}, 415, "must have the type application/json"),
        ({"Content-Length": None}, 411, "must say how long it is"),
        ({"Content-Length": "-1"}, 411, "must say how long it is"),
        ({"Content-Length": "9" * 5000}, 413, "may have at most 4,000,000 bytes"),
        ({"Content-Length": str(MOST_BYTES + 1)}, 413, "may have at most 4,000,000 bytes"),
        ({"Transfer-Encoding": "chunked"}, 411, "must say how long it is"),
    ],
)
def test_refuses_strangers(
    server: LabServer, headers: dict[str, str | None], status: int, words: str
) -> None:
    """Requests that the page would not send are refused with the status and a sentence."""
    found, answer = message(server, {"kind": "set", "name": "xor"}, **headers)
    assert (found, answer["kind"]) == (status, "error")
    assert words in answer["sentence"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_bad_json(server: LabServer, body: bytes) -> None:
    """What is no JSON is refused, however it is broken."""
    status, answer = message(server, body)
    assert (status, answer["sentence"]) == (400, "The message is not JSON text in UTF-8.")


def test_bad_message(server: LabServer) -> None:
    """What cannot be done is told in the words of the library."""
    status, answer = message(server, {"kind": "look", "document": {"rule": "svm"}})
    assert status == 422
    assert "The part rule of the document must be one of" in answer["sentence"]


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "/secret", 404, "There is no /secret here; the page is at http://127.0.0.1:"),
        ("GET", "/../lab.css", 404, "There is no /../lab.css here"),
        ("GET", "/message", 405, "GET is not done here; POST is."),
        ("POST", "/", 405, "POST is not done here; GET, HEAD is."),
        ("POST", "/other", 404, "There is no /other to send to."),
        ("PUT", "/", 405, "PUT is not done here; GET, HEAD is."),
        ("OPTIONS", "/message", 405, "OPTIONS is not done here; POST is."),
        ("DELETE", "/message", 405, "DELETE is not done here; POST is."),
    ],
)
def test_unknown_paths_and_methods(
    server: LabServer, method: str, path: str, status: int, words: str
) -> None:
    """Other paths and other methods get a clear error, and no permission for other origins."""
    response, content = sent(server, method, path)
    assert response.status == status
    assert words in json.loads(content)["sentence"]
    assert (response.getheader("Allow") is not None) == (status == 405)
    assert response.getheader("Access-Control-Allow-Origin") is None


def test_silence_is_not_waited_for(server: LabServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that is cut off ends after a while, and others are answered meanwhile."""
    from rosenblatt.lab.server import Handler

    sent_head = Event()
    with socket.socket() as slow:
        slow.bind((ADDRESS, 0))
        name = slow.getsockname()

        def patience(handler: Handler) -> float | None:
            if handler.client_address != name:
                return None
            sent_head.wait()  # no clock runs until then
            return 0.3

        monkeypatch.setattr(Handler, "timeout", property(patience))
        slow.connect((ADDRESS, server.server_port))
        head = (
            f"POST /message HTTP/1.1\r\nHost: {ADDRESS}:{server.server_port}\r\n"
            f"Origin: http://{ADDRESS}:{server.server_port}\r\n"
            f"X-Rosenblatt-Token: {server.token}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        slow.sendall(head.encode())
        sent_head.set()
        assert message(server, {"kind": "set", "name": "xor"})[0] == 200
        assert slow.recv(1000).startswith(b"HTTP/1.1 408 ")


def test_ports() -> None:
    """A port that is taken is told of; the usual one gives way to a free one by itself."""
    with (
        LabServer(toy_set("xor"), 0) as first,
        pytest.raises(InputError, match=rf"Port {first.server_port} cannot be used: .+ --port"),
    ):
        LabServer(toy_set("xor"), first.server_port)
    with LabServer(toy_set("xor")) as usual, LabServer(toy_set("xor")) as other:
        assert usual.server_port != other.server_port
        assert other.server_port != USUAL_PORT
