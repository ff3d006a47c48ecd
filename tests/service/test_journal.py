"""The journal as a file: those of older versions are read."""

import sqlite3
import time
from pathlib import Path

import pytest

from rosenblatt.service.access import digest_of

from .conftest import Asked

OLD = Path(__file__).parent / "journal-1.sql"  # written by the version that had format 1


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a folder with a journal of format 1."""
    connection = sqlite3.connect(tmp_path / "journal.sqlite3")
    connection.executescript(OLD.read_text(encoding="utf-8"))
    connection.close()
    return tmp_path


def opened(folder: Path) -> Asked:
    """Return a service of a folder, asked by its operator."""
    asked = Asked(folder, operator=digest_of("boss"))
    asked.headers = {"authorization": "Bearer boss"}
    return asked


def test_a_journal_of_format_1_is_read(old: Path) -> None:
    """Held back, released and subtracted examples, budgets and jobs of format 1 are understood."""
    asked = opened(old)
    while {asked.ask("GET", f"/v1/models/{name}").json()["version"] for name in "ms"} != {21, 6}:
        time.sleep(0.01)  # the forgetting of e12 that waited, and a replay of what was subtracted
    lines = asked.ask("GET", "/v1/models/m/journal").text
    assert lines.count('"kind":"quarantine"') == 4
    assert lines.count('"forgotten":21') == 2  # held back as e12, and learned after all
    assert asked.writer.entries["s"].view.space.names() == ("x", "z")
    tokens = {one.name: one.scopes for one in asked.writer.tokens.values()}
    assert tokens == {"anna": '["teach"]', "liar": '["predict"]', "root": '["admin"]'}
    asked.close()
    again = opened(old)
    assert again.writer.entries["m"].version == 21
    again.close()


def test_an_id_that_was_held_back(old: Path) -> None:
    """An example that format 1 held back is neither a duplicate nor learned under its id."""
    asked = opened(old)
    body = {"features": {"x1": 1}, "label": "a", "id": "e22"}
    answer = asked.ask("POST", "/v1/models/m/learn", body)
    assert answer.status_code == 409
    assert answer.json() == {
        "error": "The example 'e22' was held back; teach it again under another id."
    }
    asked.close()
