import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from rosenblatt.errors import InputError
from rosenblatt.lab.page import page_text
from rosenblatt.lab.server import ADDRESS, MOST_BYTES, USUAL_PORT, LabServer
from rosenblatt.lab.toy_sets import toy_set
from tests.lab.browser import serving


@pytest.fixture(scope="module")
def server() -> Iterator[LabServer]:
    """Serve a lab on any free port."""
    with serving(toy_set("xor")) as running:
        yield running


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


def question(server: LabServer, value: Any, **headers: str | None) -> tuple[int, dict[str, Any]]:
    """Ask for a verdict as the page does, or with some headers changed."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    response, content = sent(server, "POST", "/certificate", body, **headers)
    assert response.getheader("Content-Type") == "application/json"
    return response.status, json.loads(content)


def test_serves_the_page(server: LabServer) -> None:
    """The page is there whole, under a policy that lets nobody frame it."""
    response, content = sent(server, "GET", "/")
    assert response.status == 200
    assert response.getheader("Content-Type") == "text/html; charset=utf-8"
    assert content.decode() == page_text(toy_set("xor"), server.token)
    assert response.getheader("Content-Security-Policy") == "frame-ancestors 'none'"
    assert response.getheader("X-Content-Type-Options") == "nosniff"
    head, nothing = sent(server, "HEAD", "/")
    assert head.getheader("Content-Length") == str(len(content))
    assert nothing == b""


def test_listens_on_loopback_only(server: LabServer) -> None:
    """Nobody but this machine can reach it."""
    assert server.server_address[0] == "127.0.0.1"


def test_answers_the_page(server: LabServer) -> None:
    """A question from the page is answered, under either name of the address."""
    asked = toy_set("xor").plain()
    status, answer = question(server, asked)
    assert status == 200
    assert "inseparable" in answer["lines"][0]
    name = f"localhost:{server.server_port}"
    assert question(server, asked, Host=name, Origin=f"http://{name}")[0] == 200


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
        ({"Content-Length": "9" * 5000}, 413, "may have at most 200,000 bytes"),
        ({"Content-Length": str(MOST_BYTES + 1)}, 413, "may have at most 200,000 bytes"),
        ({"Transfer-Encoding": "chunked"}, 411, "must say how long it is"),
    ],
)
def test_refuses_strangers(
    server: LabServer, headers: dict[str, str | None], status: int, words: str
) -> None:
    """Requests that the page would not send are refused with the status and a sentence."""
    found, answer = question(server, toy_set("xor").plain(), **headers)
    assert found == status
    assert words in answer["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_bad_json(server: LabServer, body: bytes) -> None:
    """What is no JSON is refused, however it is broken."""
    status, answer = question(server, body)
    assert (status, answer["error"]) == (400, "The document is not JSON text in UTF-8.")


def test_bad_document(server: LabServer) -> None:
    """What is no document is told in the words of the library."""
    status, answer = question(server, {"rule": "svm"})
    assert status == 422
    assert "The part rule of the document must be one of" in answer["error"]


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "/secret", 404, "There is no /secret here; the page is at http://127.0.0.1:"),
        ("GET", "/../lab.css", 404, "There is no /../lab.css here"),
        ("GET", "/certificate", 405, "GET is not done here; POST is."),
        ("POST", "/", 405, "POST is not done here; GET, HEAD is."),
        ("POST", "/other", 404, "There is no /other to send to."),
        ("PUT", "/", 405, "PUT is not done here; GET, HEAD is."),
        ("OPTIONS", "/certificate", 405, "OPTIONS is not done here; POST is."),
        ("DELETE", "/certificate", 405, "DELETE is not done here; POST is."),
    ],
)
def test_unknown_paths_and_methods(
    server: LabServer, method: str, path: str, status: int, words: str
) -> None:
    """Other paths and other methods get a clear error, and no permission for other origins."""
    response, content = sent(server, method, path)
    assert response.status == status
    assert words in json.loads(content)["error"]
    assert (response.getheader("Allow") is not None) == (status == 405)
    assert response.getheader("Access-Control-Allow-Origin") is None


HALF = (
    "POST /certificate HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
    "X-Rosenblatt-Token: {token}\r\nContent-Type: application/json\r\n"
    "Content-Length: 100\r\n\r\n{{"
)


@pytest.mark.parametrize("begun", ["", "GET / HTTP/1.1\r\nHo", HALF])
def test_trickled_requests_are_cut_off(begun: str) -> None:
    """A request that never comes whole is given up."""
    with serving(toy_set("xor"), patience=0.2) as impatient:
        address = ADDRESS, impatient.server_port
        with socket.create_connection(address) as slow:
            host = f"{ADDRESS}:{impatient.server_port}"
            slow.sendall(begun.format(host=host, token=impatient.token).encode())
            said = slow.recv(1000)  # nothing more is sent, and yet it ends
    assert said == b"" or said.startswith(b"HTTP/1.1 4")


def test_others_are_answered_meanwhile(server: LabServer) -> None:
    """A connection that keeps silent holds up nobody."""
    with socket.create_connection((ADDRESS, server.server_port)):
        assert sent(server, "GET", "/")[0].status == 200


def test_ports() -> None:
    """A port that is taken is told of; the usual one gives way to a free one by itself."""
    with (
        LabServer(toy_set("xor"), 0) as first,
        pytest.raises(InputError, match=rf"Port {first.server_port} cannot be used: .+ port="),
    ):
        LabServer(toy_set("xor"), first.server_port)
    with LabServer(toy_set("xor")) as usual, LabServer(toy_set("xor")) as other:
        assert usual.server_port != other.server_port
        assert other.server_port != USUAL_PORT
