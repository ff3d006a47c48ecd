"""The command lab: the page until Ctrl-C, or a file."""

import json
import os
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rosenblatt.cli import main
from tests.cli.running import PROGRAM, run

TABLE = "width,height,kind\n1,2,a\n2,1,b\n3,3,a\n"


def lab(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["lab", *arguments], catch_exceptions=False)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_serves_until_it_is_stopped(stop: signal.Signals) -> None:
    """It prints its address, answers, and ends with code 0 on Ctrl-C or when it is told to."""
    process = subprocess.Popen(  # noqa: S603  # our own program
        [*PROGRAM, "lab", "--no-browser", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = json.loads(process.stdout.readline())["url"]
    assert url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(url) as answer:  # noqa: S310  # ours
        assert b"<title>Rosenblatt lab</title>" in answer.read()
    process.send_signal(stop)
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert said.splitlines()[-1] == "The lab has stopped."


def test_taken_port() -> None:
    """A port that somebody else has is told of in a sentence."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = lab("--no-browser", "--port", str(port))
    assert result.exit_code == 2
    assert f"Error: Port {port} cannot be used: " in result.stderr
    assert "Choose another with --port." in result.stderr


def test_export(tmp_path: Path) -> None:
    """--export writes one file and serves nothing."""
    table, page = tmp_path / "table.csv", tmp_path / "lab.html"
    table.write_text(TABLE)
    chosen = ("--x", "height", "--y", "width", "--label", "kind", "--positive", "a")
    result = lab(str(table), *chosen, "--export", str(page), "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["file"] == str(page)
    text = page.read_text(encoding="utf-8")
    assert '"points": [[2.0, 1.0, 1], [1.0, 2.0, -1], [3.0, 3.0, 1]]' in text
    assert '"names": ["height", "width"]' in text


def test_standard_input(tmp_path: Path) -> None:
    """A table may come from standard input."""
    done = run("lab", "-", "--export", "lab.html", folder=tmp_path, text=TABLE, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert '"names": ["width", "height"]' in (tmp_path / "lab.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--x", "width"], "--x has no effect without DATA."),
        (["--scale"], "--scale has no effect without DATA."),
        (["none.csv"], "none.csv"),
        (["--port", "0"], "0 is not in the range 1<=x<=65535"),
        (["--toy", "moons"], "'moons' is not one of 'separable', 'xor'"),
    ],
)
def test_bad_options(arguments: list[str], words: str) -> None:
    """What cannot be is refused before anything is served."""
    result = lab("--no-browser", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
