"""``rosenblatt serve``: what it takes, and what it says where it cannot start."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rosenblatt import Perceptron, save
from rosenblatt.cli import main
from rosenblatt.lazy import installing
from rosenblatt.service.server import ModelServer
from rosenblatt.service.writer import Writer


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the current one; no service there answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ROSENBLATT_TOKEN", raising=False)
    monkeypatch.setattr(ModelServer, "run", ModelServer.close)
    return tmp_path


def serve(*arguments: str) -> Any:
    """Return what the command did."""
    return CliRunner().invoke(main, ["serve", *arguments])


def test_without_an_argument(here: Path) -> None:
    """The command alone serves a folder of the current directory on this machine."""
    result = serve("--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["url"].startswith("http://127.0.0.1:")
    assert (here / answer["folder"] / "journal.sqlite3").exists()


def test_model_files_are_served_by_name(here: Path) -> None:
    """A model file is served under its name, and again by the next call."""
    save(Perceptron().fit([[0.0], [1.0]], ["no", "yes"]), here / "yes.model")
    for _ in range(2):
        assert json.loads(serve("yes.model", "--json").stdout)["models"] == ["yes"]
    save(Perceptron().fit([[0.0], [1.0]], ["yes", "no"]), here / "yes.model")
    result = serve("yes.model")
    assert result.exit_code == 2
    assert "There is a model 'yes' already" in result.stderr
    assert "cannot be read" in serve("none.model").stderr
    (here / "bad.model").write_text("nothing")
    assert "is not a rosenblatt model" in serve("bad.model").stderr


def test_new_token_is_shown_once(here: Path) -> None:
    """A token is printed, and only its digest is kept."""
    result = serve("--new-token", "ann", "--scope", "teach", "--model", "mail")
    assert result.exit_code == 0, result.output
    token = result.stdout.strip()
    assert len(token) == 43
    for file in here.rglob("*"):
        assert file.is_dir() or token.encode() not in file.read_bytes()
    writer = Writer(here / "rosenblatt-service")
    (record,) = writer.tokens.values()
    writer.close()
    assert (record.name, record.scopes, record.models) == ("ann", ("teach",), ("mail",))
    again = serve("--new-token", "ann")
    assert (again.exit_code, again.stderr.startswith("Error")) == (2, True)
    assert "--scope has no effect without --new-token" in serve("--scope", "teach").stderr


def test_other_hosts_need_a_token(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that others can reach is refused until there is a token."""
    del here
    result = serve("--host", "0.0.0.0")  # noqa: S104  # what is refused
    assert result.exit_code == 2
    assert "make one with --new-token first, or leave --host out" in result.stderr
    monkeypatch.setenv("ROSENBLATT_TOKEN", "short")
    assert "at least 20 characters" in serve().stderr
    monkeypatch.setenv("ROSENBLATT_TOKEN", "x" * 43)
    assert serve("--host", "0.0.0.0").exit_code == 0  # noqa: S104


def test_token_file(here: Path) -> None:
    """A token from a file must be one and long."""
    (here / "token").write_text("two words that are no token\n")
    assert "token must hold one token" in serve("--token-file", "token").stderr
    assert "cannot be read" in serve("--token-file", "none").stderr
    (here / "token").write_text("x" * 43 + "\n")
    assert serve("--token-file", "token").exit_code == 0


def test_a_folder_in_use(here: Path) -> None:
    """A second service is refused while the first has the folder."""
    writer = Writer(here / "rosenblatt-service")
    result = serve()
    writer.close()
    assert result.exit_code == 2
    assert "in use by another service" in result.stderr


def test_the_extra_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a package is missing the command says what to install."""
    from rosenblatt.service import limits

    del here
    monkeypatch.setattr(limits, "find_spec", lambda name: None if name == "uvicorn" else name)
    result = serve()
    assert result.exit_code == 2
    assert f"The service needs uvicorn: {installing('serve')}" in result.stderr
