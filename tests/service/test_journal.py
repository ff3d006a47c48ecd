"""The journal as a file: older formats, damage, and what counts in it."""

import json
import os
import sqlite3
import stat
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import InputError
from rosenblatt.service.access import digest_of
from rosenblatt.service.journal import (
    FILE,
    FORGOT,
    LEARNED,
    LINES,
    ROLLED_BACK,
    Event,
    Journal,
    TokenRecord,
)
from rosenblatt.service.writer import Writer

from .conftest import Asked, create, taught, teach

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
    assert asked.ask("GET", "/v1/models/m").json()["learned"] == 9  # without 4 and 5, and e12
    lines = asked.ask("GET", "/v1/models/m/journal").text
    assert lines.count('"kind":"quarantine"') == 4
    assert lines.count('"forgotten":21') == 2  # held back as e12, and learned after all
    assert asked.writer.entries["s"].shown.learner.space.names() == ("x", "z")
    tokens = {one.name: one.scopes for one in asked.writer.tokens.values()}
    assert tokens == {"anna": ("teach",), "liar": ("predict",), "root": ("admin",)}
    asked.close()
    again = opened(old)
    assert again.writer.entries["m"].shown.version == 21
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


@given(st.data())
def test_what_counts_is_the_chain_of_returns(data: st.DataObject) -> None:
    """Whatever is learned, forgotten and returned to, what counts is what a plain list says."""
    with TemporaryDirectory() as folder:
        journal = Journal(Path(folder))
        histories: list[list[int]] = [[]]  # the examples that count, of each version
        learned: list[int] = []
        oldest = 0
        for head in range(1, data.draw(st.integers(1, 25)) + 1):
            kind = data.draw(st.sampled_from([LEARNED, LEARNED, ROLLED_BACK, FORGOT]))
            note, kept = None, histories[-1]
            if kind == LEARNED:
                kept = [*kept, head]
                learned.append(head)
            elif kind == ROLLED_BACK:
                version = data.draw(st.integers(oldest, head - 1))
                note, kept = json.dumps({"version": version}), histories[version]
            else:
                gone = data.draw(st.sampled_from(learned)) if learned else 0
                journal.erase(1, [gone], head)
                kept, oldest = [one for one in kept if one != gone], head
            journal.append(1, [Event(head, kind, None, "{}", '"a"', None, 0.0, note=note)])
            histories.append(kept)
        reader = journal
        assert [event.sequence for event in reader.counted(1)] == histories[-1]
        assert reader.counts(1)[0] == len(histories[-1])
        assert sum(point[1] for point in reader.curve(1, 3)) == len(histories[-1])
        newest = [event.sequence for event in reader.latest_counted(1, 4)]
        assert newest == histories[-1][::-1][:4]
        undone = reader.undone(1, reader.events(1, 0))
        for event in reader.events(1, 0, None, f"kind = {LEARNED} AND forgotten IS NULL"):
            assert (event.sequence in undone) == (event.sequence not in histories[-1])
        journal.close()


def taught_folder(folder: Path) -> Path:
    """Return a folder of a service that has learned, with its snapshot."""
    writer = Writer(folder)
    entry = create(writer)
    teach(writer, entry, *(taught({f"word{i}": 1.0}, "ab"[i % 2], str(i)) for i in range(300)))
    writer.close()
    return folder


@pytest.mark.parametrize("gone", [False, True])
def test_a_lost_journal_beside_snapshots(tmp_path: Path, gone: bool) -> None:
    """A journal that is empty or gone is not begun anew while there are snapshots of models."""
    folder = taught_folder(tmp_path)
    journal = folder / FILE
    journal.unlink()
    if not gone:
        journal.touch()
    snapshots = sorted((folder / "snapshots").iterdir())
    assert snapshots
    with pytest.raises(InputError) as refused:
        Writer(folder)
    assert str(refused.value) == (
        f"{journal} is {'missing' if gone else 'empty'}, but there are snapshots of models beside "
        f"it. Restore it from a backup, or remove {folder / 'snapshots'} to begin anew."
    )
    assert sorted((folder / "snapshots").iterdir()) == snapshots
    for one in snapshots:
        one.unlink()
    Writer(folder).close()


def test_an_empty_journal_beside_its_log(tmp_path: Path) -> None:
    """SQLite would delete the log of an empty file: it is refused before it is opened."""
    (tmp_path / FILE).touch()
    log = tmp_path / f"{FILE}-wal"
    log.write_bytes(b"examples")
    with pytest.raises(InputError, match="is empty, but there is a log of it beside it"):
        Writer(tmp_path)
    assert log.read_bytes() == b"examples"


def test_no_start_on_a_damaged_journal(tmp_path: Path) -> None:
    """A page that was overwritten is found at the start, whether it is asked for or not."""
    journal = taught_folder(tmp_path) / FILE
    whole = journal.read_bytes()
    for at in range(len(whole) // 2 // 4096 * 4096, len(whole), 4096):
        journal.write_bytes(whole[:at] + b"\xff" * 100 + whole[at + 100 :])
        with pytest.raises(InputError, match=r"(is damaged|cannot be used as a journal): .*") as no:
            Writer(tmp_path)
        assert str(no.value).endswith("Restore it from a backup.")
    journal.write_bytes(whole.replace(b"(model, sequence)", b"(mode\xec, sequence)"))
    with pytest.raises(InputError, match=r"cannot be used as a journal: .* a backup\."):
        Writer(tmp_path)
    journal.write_bytes(whole)
    Writer(tmp_path).close()


DAMAGE = {
    "a feature": (b'{"word5":1.0}', b'{"word5":1.1}', "line 6 of events of the model 'm'"),
    "no text": (b'{"word7":1.0}', b'{"wor\xff7":1.0}', "line 8 of events of the model 'm'"),
    "an id": (b"the-ninth", b"the-nineh", "line 9 of events of the model 'm'"),
    "a spec": (b'"memory":""', b'"memory":"v', "line 1 of models of the model 'm'"),
    "a scope": (b'["predict"]', b'["admin22"]', "line 'anna' of tokens"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_the_start_says_which_line_is_damaged(tmp_path: Path, name: str) -> None:
    """A journal whose contents changed under a sound structure is refused, with the line."""
    writer = Writer(tmp_path)
    entry = create(writer)
    ids = {8: "the-ninth"}
    batch = [taught({f"word{i}": 1.0}, "ab"[i % 2], ids.get(i)) for i in range(20)]
    teach(writer, entry, *batch)
    token = TokenRecord("anna", b"digest", ("predict",), None, 0.0)
    writer.command(lambda: writer.add_token(token)).result()
    writer.close()
    journal, (old, new, line) = tmp_path / FILE, DAMAGE[name]
    whole = journal.read_bytes()
    assert whole.count(old) in (1, 2)  # an id is in its index, too
    journal.write_bytes(whole.replace(old, new))
    with pytest.raises(InputError) as refused:
        Writer(tmp_path)
    assert str(refused.value) == (
        f"{journal} is damaged: {line}: the checksum differs. Restore it from a backup."
    )
    journal.write_bytes(whole)
    Writer(tmp_path).close()


def test_every_change_keeps_the_checksums(tmp_path: Path) -> None:
    """Whatever the service writes, forgets, returns to and removes opens again."""
    asked = opened(tmp_path)
    for name in "mn":
        asked.ask("PUT", f"/v1/models/{name}", {})
        for i, id_ in enumerate(("a", "\0", "é\n", None)):
            example = {"features": {f"w{i}": -0.0}, "label": "xy"[i % 2], "id": id_}
            assert asked.ask("POST", f"/v1/models/{name}/learn", example).status_code == 200
    asked.ask("POST", "/v1/models/m/rollback", {"version": 2})
    job = asked.ask("POST", "/v1/models/m/forget", {"id": "a"}).json()["job"]
    while asked.ask("GET", f"/v1/models/m/jobs/{job}").json()["status"] == "waiting":
        time.sleep(0.01)
    asked.ask("DELETE", "/v1/models/n")
    for name in ("one", "two"):
        asked.ask("POST", "/v1/tokens", {"name": name, "scopes": ["teach"], "models": ["m"]})
    asked.ask("DELETE", "/v1/tokens/one")
    asked.close()
    again = opened(tmp_path)
    assert again.ask("GET", "/v1/models/m").json()["version"] == 6
    again.close()


def test_a_journal_of_format_2_is_sealed(tmp_path: Path) -> None:
    """A journal without checksums is read as it is and has them from its first start on."""
    journal = taught_folder(tmp_path) / FILE
    connection = sqlite3.connect(journal)
    for table in LINES:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
    connection.execute("DROP INDEX events_by_id")
    where = "ON events (model, id) WHERE id IS NOT NULL"
    connection.execute(f"CREATE UNIQUE INDEX events_by_id {where}")
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()
    asked = Asked(tmp_path)
    assert asked.ask("GET", "/v1/models/m").json()["learned"] == 300
    asked.ask("POST", "/v1/models/m/rollback", {"version": 299})
    example = {"features": {"word299": 1.0}, "label": "b", "id": "299"}
    assert asked.ask("POST", "/v1/models/m/learn", example).json()["sequence"] == 302
    asked.close()
    journal.write_bytes(journal.read_bytes().replace(b'{"word299":1.0}', b'{"word299":1.5}'))
    line = r"line 300 of events of the model 'm', and 1 more: the checksum differs"
    with pytest.raises(InputError, match=line):
        Writer(tmp_path)


@pytest.mark.parametrize("path", ["journal", "export?version=150", "why"])
def test_damage_is_not_the_fault_of_a_request(tmp_path: Path, path: str) -> None:
    """A line of the journal that cannot be read is an error of the service, not of a body."""
    asked = Asked(taught_folder(tmp_path))
    asked.writer.journal.connection.execute("UPDATE events SET features = '{' WHERE sequence = 5")
    body = {"features": {"word5": 1}} if path == "why" else None
    answer = asked.ask("POST" if body else "GET", f"/v1/models/m/{path}", body)
    assert answer.status_code == 500
    assert answer.json() == {"error": "Internal error; see the service's log."}
    assert asked.ask("POST", "/v1/models/m/forget", {"id": "7"}).status_code == 202
    while (job := asked.ask("GET", "/v1/models/m/jobs/1").json())["status"] == "waiting":
        time.sleep(0.01)
    assert job["status"] == "failed"
    assert job["error"].startswith("The journal is damaged: ")
    asked.close()
    for snapshot in (tmp_path / "snapshots").iterdir():
        snapshot.unlink()
    with pytest.raises(InputError, match=r"is damaged: .* Restore it from a backup"):
        Writer(tmp_path)


def test_an_id_is_found_as_fast_in_a_long_journal(tmp_path: Path) -> None:
    """The steps of SQLite to look up an id do not grow with the examples."""
    journal, steps = Journal(tmp_path), []
    for start in (1, 1001):
        lines = range(start, start + 1000)
        journal.append(1, [Event(i, LEARNED, f"id{i}", "{}", '"a"', None, 0.0) for i in lines])
        taken: list[None] = []
        journal.connection.set_progress_handler(partial(taken.append, None), 1)
        assert [event.sequence for event in journal.with_id(1, "id7")] == [7]
        journal.connection.set_progress_handler(None, 1)
        steps.append(len(taken))
    journal.close()
    assert steps[0] == steps[1] < 200


def test_only_its_user_can_read_the_folder(tmp_path: Path) -> None:
    """Folders are made with mode 700 and files with 600, however open files are by default."""
    before = os.umask(0)
    try:
        folder = taught_folder(tmp_path / "made" / "service")
        writer = Writer(folder)
        teach(writer, writer.entries["m"], taught({"x": 1.0}, "a"))
        modes = {
            path.relative_to(folder).parts[0]: stat.S_IMODE(path.stat().st_mode)
            for path in folder.rglob("*")
            if path.is_file()
        }
        writer.close()
    finally:
        os.umask(before)
    assert modes.keys() == {FILE, f"{FILE}-wal", f"{FILE}-shm", "lock", "snapshots"}
    assert set(modes.values()) == {0o600}
    for made in (folder, folder / "snapshots"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
