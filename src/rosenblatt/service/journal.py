"""The journal: one SQLite file that holds every model, example and token. All SQL stands here.

A model is its creation and the events after it, numbered from 1 without a gap. What is not a
learned example (a forgetting, a return to an older version) writes a *base* beside its event: the
model as it is then. So the weights of any version are those of the newest base before it and of the
examples learned since.

A return to a version goes on from there. Which examples count is never stored, but read from the
chain of returns: what one of them left behind counts again when another leads to a version that had
it. So an id may stand in several lines, of which no version counts two.

Every line of every table has a checksum, which the start compares.
"""

import json
import operator
import sqlite3
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rosenblatt.errors import InputError

APPLICATION_ID = 0x526F7365  # "Rose", at byte 68 of the file
SCHEMA_VERSION = 3
FILE = "journal.sqlite3"
SNAPSHOTS = "snapshots"  # folder beside it
_packed = msgspec.msgpack.Encoder().encode
RESTORE = "Restore it from a backup"
BUSY_SECONDS = 10  # that a statement waits for another process
CHECKPOINT_MILLISECONDS = 20  # that learning waits for readers of the log
WAITING, ERASED, DONE, FAILED = "waiting", "erased", "done", "failed"  # of jobs
LEARNED, HELD_BACK, FORGOT, ROLLED_BACK, RELEASED = range(1, 6)
KINDS = {
    LEARNED: "learn",
    HELD_BACK: "quarantine",  # of format 1: an example that was not learned
    FORGOT: "forget",
    ROLLED_BACK: "rollback",
    RELEASED: "release",  # of format 1: examples of quarantine follow, learned after all
}

SCHEMA = """
CREATE TABLE models (
    model INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number is never used again
    name TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,     -- how it was created, JSON
    created REAL NOT NULL,
    oldest INTEGER NOT NULL DEFAULT 0  -- version: older ones held what is forgotten
);
CREATE TABLE events (
    model INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    id TEXT,
    features TEXT,          -- JSON, names in order; NULL once forgotten
    label TEXT,             -- JSON
    token TEXT,             -- name of the teacher's token
    time REAL NOT NULL,
    predicted TEXT,         -- JSON, before it was learned
    mistake INTEGER,
    step REAL,
    rival TEXT,             -- JSON
    seen INTEGER,           -- Algorithm 7's c when it came
    classes INTEGER,        -- how many were known with it
    source INTEGER,         -- of format 1: the event that held the example back
    forgotten INTEGER,      -- the event that forgot it
    note TEXT,              -- JSON, what a forgetting or a return did
    PRIMARY KEY (model, sequence)
) WITHOUT ROWID;
CREATE INDEX events_by_token ON events (model, token, sequence) WHERE token IS NOT NULL;
CREATE INDEX events_by_turn ON events (model, sequence) WHERE kind IN (3, 4);
CREATE TABLE bases (
    model INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    file BLOB,              -- a model file; NULL before the first class
    PRIMARY KEY (model, sequence)
);
CREATE TABLE jobs (
    job INTEGER PRIMARY KEY AUTOINCREMENT,
    model INTEGER NOT NULL,
    request TEXT NOT NULL,  -- JSON
    token TEXT,
    time REAL NOT NULL,
    status TEXT NOT NULL,   -- waiting, erased (but for the write-ahead log), done or failed
    answer TEXT             -- JSON
);
"""
TOKENS = """
CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,   -- JSON, a list
    models TEXT,            -- JSON, a list; NULL: all
    created REAL NOT NULL
);
"""
FROM_1_TO_2 = f"""
-- the column events.undone stays and is not read
CREATE INDEX events_by_turn ON events (model, sequence) WHERE kind IN (3, 4);
ALTER TABLE tokens RENAME TO tokens_1;
{TOKENS}
-- who was in quarantine may not teach without somebody's decision
INSERT INTO tokens SELECT name, digest, CASE WHEN quarantined THEN (
    SELECT json_group_array(value) FROM json_each(scopes) WHERE value IN ('predict', 'inspect')
) ELSE scopes END, models, created FROM tokens_1;
DROP TABLE tokens_1;
-- forgetting has no modes any more: what was subtracted is forgotten by a replay, too
UPDATE jobs SET request = json_remove(request, '$.mode');
INSERT INTO jobs (model, request, time, status)
    SELECT DISTINCT model, '{{"before":0.0}}', strftime('%s', 'now'), 'waiting' FROM events
    WHERE kind = {FORGOT} AND json_extract(note, '$.mode') = 'subtract'
-- and what went on from weights whose bias a threshold had moved goes on from the weights before
    UNION SELECT model, '{{"before":0.0}}', strftime('%s', 'now'), 'waiting' FROM bases
    WHERE sequence = 0 AND instr(file, CAST('"bias_moved"' AS BLOB));
"""
FROM_2_TO_3 = """
-- and each table has a column ``checksum`` from now on
DROP INDEX IF EXISTS events_by_id;
CREATE INDEX events_by_id ON events (model, id) WHERE id IS NOT NULL;
"""


class Event(NamedTuple):
    """A line of the journal."""

    sequence: int
    kind: int
    id: str | None
    features: str | None
    label: str | None
    token: str | None
    time: float
    predicted: str | None = None
    mistake: int | None = None
    step: float | None = None
    rival: str | None = None
    seen: int | None = None
    classes: int | None = None
    source: int | None = None
    forgotten: int | None = None
    note: str | None = None


class ModelRecord(NamedTuple):
    """A model as the journal knows it."""

    model: int
    name: str
    spec: str
    created: float
    oldest: int


class TokenRecord(NamedTuple):
    """A token as the journal knows it: never the token itself."""

    name: str
    digest: bytes
    scopes: tuple[str, ...]
    models: tuple[str, ...] | None  # None: all
    created: float


class JobRecord(NamedTuple):
    """A forgetting that runs beside the service."""

    job: int
    model: int
    request: str
    token: str | None
    time: float
    status: str
    answer: str | None


FIELDS = ", ".join(Event._fields)
LINES = {  # the tables, and what the checksums of their lines are of
    "models": ", ".join(ModelRecord._fields),
    "events": f"model, {FIELDS}",
    "bases": "model, sequence, file",
    "jobs": ", ".join(JobRecord._fields),
    "tokens": ", ".join(TokenRecord._fields),
}
INSERT = f"INSERT INTO events (model, {FIELDS}, checksum) VALUES (?, ?{', ?' * len(Event._fields)})"
# What is written has its checksum from triggers, which only the connection of the service has
SEALED = """
CREATE TEMP TRIGGER {0}_added AFTER INSERT ON main.{0} WHEN NEW.checksum IS NULL BEGIN
    UPDATE {0} SET checksum = line_checksum({1}) WHERE {2}; END;
CREATE TEMP TRIGGER {0}_changed AFTER UPDATE OF {1} ON main.{0} BEGIN
    UPDATE {0} SET checksum = line_checksum({1}) WHERE {2}; END;
"""
WITHIN = "model = ? AND sequence > ? AND sequence <= ?"
END = 1 << 62  # after every sequence number
PRESENT = f"kind = {LEARNED} AND forgotten IS NULL"
EXAMPLES = {  # conditions on examples that are not yet forgotten
    "model": f"model = :model AND kind IN ({LEARNED}, {HELD_BACK}) AND forgotten IS NULL",
    "id": "(id = :id OR source IN (SELECT sequence FROM events WHERE model = :model AND id = :id))",
    "token": "token = :token",
    "before": "time < :before",
}
TURNS = "events INDEXED BY events_by_turn WHERE kind IN (3, 4) AND model = ?"  # change what counts
IDS = "events INDEXED BY events_by_id WHERE model = ? AND id = ?"
WRONG = "(predicted IS NULL OR predicted <> label)"


class JournalReader:
    """What can be asked of a journal."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def _all(self, text: str, *values: Any) -> list[Any]:
        return self.connection.execute(text, values).fetchall()

    def _events(self, where: str, values: Any) -> Iterator[Event]:
        rows = self.connection.execute(f"SELECT {FIELDS} FROM events WHERE {where}", values)
        return map(Event._make, rows)

    def models(self) -> list[ModelRecord]:
        """Return all models by name."""
        text = f"SELECT {LINES['models']} FROM models ORDER BY name"
        return [ModelRecord(*row) for row in self._all(text)]

    def model(self, model: int) -> ModelRecord | None:
        """Return a model by its number, None where it has been deleted."""
        return next((one for one in self.models() if one.model == model), None)

    def head(self, model: int) -> int:
        """Return the version of a model: the number of its last event."""
        return self._all("SELECT MAX(sequence) FROM events WHERE model = ?", model)[0][0] or 0

    def with_id(self, model: int, id_: str) -> list[Event]:
        """Return the events of an id: several if it was taught again after a return."""
        rows = self._all(f"SELECT {FIELDS} FROM {IDS} ORDER BY sequence", model, id_)
        return list(map(Event._make, rows))

    def events(
        self, model: int, after: int, upto: int | None = None, where: str = "1"
    ) -> Iterator[Event]:
        """Yield the events after one and up to another, in order."""
        clauses = f"{WITHIN} AND {where} ORDER BY sequence"
        return self._events(clauses, (model, after, END if upto is None else upto))

    def examples(self, model: int, **wanted: Any) -> list[Event]:
        """Return the examples, learned or held back, with this ``id`` and ``token``, ``before``."""
        where = " AND ".join(EXAMPLES[name] for name in ("model", *wanted))
        return list(self._events(f"{where} ORDER BY sequence", {"model": model, **wanted}))

    def last_turn(self, model: int) -> int:
        """Return the last event that changed which examples count, 0 without one."""
        return self._all(f"SELECT MAX(sequence) FROM {TURNS}", model)[0][0] or 0

    def returns(self, model: int) -> list[tuple[int, int]]:
        """Return the returns on the way to the newest version: their events and their versions."""
        text = (
            f"SELECT sequence, json_extract(note, '$.version') FROM {TURNS} "
            f"AND kind = {ROLLED_BACK} ORDER BY sequence DESC"
        )
        found, end = [], self.head(model)
        for event, version in self._all(text, model):
            if event <= end:  # later ones were left behind themselves
                found.append((event, version))
                end = version
        return found[::-1]

    def _stretches(self, model: int) -> list[tuple[int, int]]:
        """Return where the events are that count: after one, and up to another."""
        returns = self.returns(model)
        starts = [0, *(event for event, _ in returns)]
        return list(zip(starts, [*(version for _, version in returns), END], strict=True))

    def counted(self, model: int, after: int = 0, where: str = "1") -> Iterator[Event]:
        """Yield the examples that count, in order."""
        for start, stop in self._stretches(model):
            yield from self.events(model, max(start, after), stop, f"{PRESENT} AND {where}")

    def latest_counted(self, model: int, limit: int, where: str = "1") -> list[Event]:
        """Return the latest examples that count, the last one first."""
        found: list[Event] = []
        latest = f"{PRESENT} AND {where} ORDER BY sequence DESC LIMIT"
        for start, stop in reversed(self._stretches(model)):
            where = f"{WITHIN} AND {latest} {limit - len(found):d}"
            found += self._events(where, (model, start, stop))
        return found

    def undone(self, model: int, events: Iterable[Event]) -> dict[int, int]:
        """Return which return left an example behind, of those that do not count for one."""
        returns = self.returns(model)
        found = {}
        for event in events:
            at = bisect_left(returns, (event.sequence,))
            if event.kind == LEARNED and at < len(returns) and returns[at][1] < event.sequence:
                found[event.sequence] = returns[at][0]
        return found

    def _sums(self, model: int, width: int) -> dict[int, tuple[int, int, int, int, float]]:
        """Return last version, examples, wrong ones, mistakes and last time of ``width`` events."""
        text = (
            "SELECT (sequence - 1) / ?, MAX(sequence), COUNT(*), "
            f"SUM({WRONG}), SUM(COALESCE(mistake, 0)), MAX(time) FROM events "
            f"WHERE {WITHIN} AND {PRESENT} GROUP BY 1"
        )
        sums: dict[int, tuple[int, int, int, int, float]] = {}
        for start, stop in self._stretches(model):
            for key, last, *counts, time in self._all(text, width, model, start, stop):
                _, *before, past = sums.get(key, (0, 0, 0, 0, time))
                learned, wrong, mistakes = map(operator.add, before, counts)
                sums[key] = last, learned, wrong, mistakes, max(past, time)
        return sums

    def counts(self, model: int) -> tuple[int, int, int]:
        """Return how many examples count, how many were predicted wrong, how many mistakes."""
        _, learned, wrong, mistakes, _ = self._sums(model, END).get(0, (0, 0, 0, 0, 0.0))
        return learned, wrong, mistakes

    def curve(self, model: int, points: int) -> list[tuple[int, int, int, float]]:
        """Return last version, number of examples, wrong ones and last time of stretches."""
        sums = self._sums(model, max(1, -(-self.head(model) // points)))
        return [(last, learned, wrong, time) for last, learned, wrong, _, time in sums.values()]

    def base(self, model: int, upto: int) -> tuple[int, bytes | None]:
        """Return the newest base up to a version: its version and its model file."""
        text = (
            "SELECT sequence, file FROM bases WHERE model = ? AND sequence <= ? "
            "ORDER BY sequence DESC LIMIT 1"
        )
        sequence, file = self._all(text, model, upto)[0]
        return sequence, file

    def tokens(self) -> list[TokenRecord]:
        """Return all tokens by name."""
        text = f"SELECT {LINES['tokens']} FROM tokens ORDER BY name"
        return [
            TokenRecord(
                name, key, tuple(json.loads(scopes)), models and tuple(json.loads(models)), at
            )
            for name, key, scopes, models, at in self._all(text)
        ]

    def jobs(self, model: int | None = None) -> list[JobRecord]:
        """Return the jobs of a model, or all that wait for a replay."""
        where, value = ("status", WAITING) if model is None else ("model", model)
        text = f"SELECT {LINES['jobs']} FROM jobs WHERE {where} = ? ORDER BY job"
        return [JobRecord(*row) for row in self._all(text, value)]


class Journal(JournalReader):
    """An open journal. One thread writes; others read by connections of their own, ``reader``.

    What the thread that writes reads of it has its open transaction included.
    """

    def __init__(self, folder: Path, most_bytes: int | None = None) -> None:
        self.path = folder / FILE
        self._check_lost(folder / SNAPSHOTS)
        self._most_bytes = most_bytes
        super().__init__(self._opened())

    def _check_lost(self, snapshots: Path) -> None:
        """Raise InputError where the file was lost, but not its log or snapshots."""
        if self.path.exists() and self.path.stat().st_size:
            return
        state = "empty" if self.path.exists() else "missing"
        log = self.path.with_name(f"{FILE}-wal")
        if log.exists() and log.stat().st_size:  # SQLite would delete it
            beside, away = "there is a log of it beside it", log
        elif any(snapshots.glob("*.model")):
            beside, away = "there are snapshots of models beside it", snapshots
        else:
            return
        msg = f"{self.path} is {state}, but {beside}. {RESTORE}, or remove {away} to begin anew."
        raise InputError(msg)

    def _opened(self) -> sqlite3.Connection:
        try:
            self.path.touch(0o600)  # what SQLite puts beside it gets the same mode
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare(connection)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            msg = f"{self.path} cannot be used as a journal: {error}. {RESTORE}."
            raise InputError(msg) from error
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        pragma = partial(_pragma, connection)
        connection.create_function("line_checksum", -1, line_checksum, deterministic=True)
        tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        version = self._checked(connection) if tables or pragma("application_id") else 0
        pragma("journal_mode = WAL")
        pragma("synchronous = FULL")
        pragma("secure_delete = ON")  # what is forgotten is overwritten
        if (pragma("journal_mode"), pragma("synchronous")) != ("wal", 2):
            raise InputError(f"{self.path} cannot be written durably here; choose a local disk.")
        if version != SCHEMA_VERSION:
            connection.execute("BEGIN IMMEDIATE")
            before = {0: SCHEMA + TOKENS, 1: FROM_1_TO_2}.get(version, "")
            for statement in (before + FROM_2_TO_3).split(";\n"):
                connection.execute(statement)
            for table, fields in LINES.items():
                connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
                connection.execute(f"UPDATE {table} SET checksum = line_checksum({fields})")
            pragma(f"application_id = {APPLICATION_ID}")
            pragma(f"user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
        for table, fields in LINES.items():
            key = "model = NEW.model AND sequence = NEW.sequence"
            where = key if table == "events" else "rowid = NEW.rowid"
            connection.executescript(SEALED.format(table, fields, where))
        if self._most_bytes is not None:
            pragma(f"max_page_count = {max(1, self._most_bytes // pragma('page_size'))}")

    def _checked(self, connection: sqlite3.Connection) -> int:
        """Return the format of a file; raise InputError unless it is a journal that is whole."""
        version: int = _pragma(connection, "user_version")
        if _pragma(connection, "application_id") != APPLICATION_ID:
            msg = f"{self.path} is not a journal of rosenblatt; choose another folder."
            raise InputError(msg)
        if not 1 <= version <= SCHEMA_VERSION:
            raise InputError(
                f"{self.path} has format {version}, and this rosenblatt knows "
                f"{SCHEMA_VERSION}; upgrade rosenblatt."
            )
        found = _pragma(connection, "integrity_check(1)")
        if found != "ok":
            raise self.damaged(found)
        if version == SCHEMA_VERSION:
            self._check_lines(connection)
        return version

    def _check_lines(self, connection: sqlite3.Connection) -> None:
        """Raise InputError for the first line that does not have its checksum."""
        for table, fields in LINES.items():
            number = "sequence" if "sequence" in fields else fields.partition(",")[0]
            name = f"(SELECT name FROM models AS own WHERE own.model = {table}.model)"
            named = f"{number}, {name if 'model,' in fields else 'NULL'}"
            unequal = f"SELECT {named} FROM {table} WHERE checksum IS NOT line_checksum({fields})"
            try:
                found = connection.execute(unequal).fetchall()
            except sqlite3.OperationalError:  # some text is not UTF-8; three times as slow
                connection.text_factory = partial(str, encoding="utf-8", errors="replace")
                lines = connection.execute(f"SELECT {named}, checksum, {fields} FROM {table}")
                found = [line[:2] for line in lines if line[2] != line_checksum(*line[3:])]
            if found:
                (line, model), more = found[0], f", and {len(found) - 1:,} more"
                of = "" if model is None else f" of the model {model!r:.80}"
                where = f"line {line!r:.80} of {table}{of}{more if found[1:] else ''}"
                raise self.damaged(f"{where}: the checksum differs")

    def damaged(self, reason: object) -> InputError:
        """Return the error for a journal that cannot be read."""
        return InputError(f"{self.path} is damaged: {reason}. {RESTORE}.")

    def reopen(self) -> None:
        """Open the file anew, as after a failure."""
        self.close()
        self.connection = self._opened()

    def has_room(self) -> bool:
        """Return whether the file may grow, or has pages to use again."""
        names = "max_page_count", "page_count", "freelist_count"
        most, pages, free = (_pragma(self.connection, name) for name in names)
        return bool(pages < most or free)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @contextmanager
    def reader(self) -> Iterator[JournalReader]:
        """Read the journal as it is now, for another thread."""
        connection = sqlite3.connect(
            f"{self.path.resolve().as_uri()}?mode=ro",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        with closing(connection):
            connection.execute("BEGIN")
            yield JournalReader(connection)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is done within, or give it up if something is raised."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.commit()
        except BaseException:
            with suppress(sqlite3.Error):  # SQLite may have done so itself
                self.connection.execute("ROLLBACK")
            raise

    def commit(self) -> None:
        """Force a transaction to the disk; nothing is acknowledged before it returns."""
        self.connection.execute("COMMIT")

    def empty_log(self) -> bool:
        """Empty the write-ahead log; return False while a reader, such as a backup, holds it.

        Jobs whose examples were in the log are done when it is empty.
        """
        _pragma(self.connection, f"busy_timeout = {CHECKPOINT_MILLISECONDS}")
        try:
            held = _pragma(self.connection, "wal_checkpoint(TRUNCATE)")
        finally:
            _pragma(self.connection, f"busy_timeout = {1000 * BUSY_SECONDS}")
        if not held:
            self.connection.execute(f"UPDATE jobs SET status = '{DONE}' WHERE status = '{ERASED}'")
        return not held

    def insert(self, table: str, **values: Any) -> int:
        """Add a row to a table, and return its number."""
        names, places = ", ".join(values), ", ".join("?" * len(values))
        text = f"INSERT INTO {table} ({names}) VALUES ({places})"
        return int(self.connection.execute(text, [*values.values()]).lastrowid or 0)

    def remove_model(self, model: int) -> None:
        """Remove a model with all of its examples."""
        for table in ("events", "bases", "jobs", "models"):
            self.connection.execute(f"DELETE FROM {table} WHERE model = ?", (model,))

    def append(self, model: int, events: Iterable[Event]) -> None:
        """Add events, which have the next numbers."""
        lines = ((model, *event) for event in events)
        self.connection.executemany(INSERT, ((*line, line_checksum(*line)) for line in lines))

    def turn(self, model: int, event: Event, file: bytes | None) -> None:
        """Add an event that changes which examples count, with the model file as its base."""
        self.append(model, [event])
        self.insert("bases", model=model, sequence=event.sequence, file=file)

    def rewrite(self, model: int, lessons: Iterable[tuple[Any, ...]]) -> None:
        """Change what examples did: predicted, mistake, step, rival, seen, classes, sequence."""
        self.connection.executemany(
            "UPDATE events SET predicted = ?, mistake = ?, step = ?, rival = ?, seen = ?, "
            f"classes = ? WHERE model = {model:d} AND sequence = ?",
            lessons,
        )

    def erase(self, model: int, sequences: Iterable[int], by: int) -> None:
        """Erase examples; their ids stay, so that they are not taught again by a retry."""
        self.connection.executemany(
            "UPDATE events SET features = NULL, label = NULL, predicted = NULL, rival = NULL, "
            f"step = NULL, forgotten = ? WHERE model = {model:d} AND sequence = ?",
            ((by, sequence) for sequence in sequences),
        )

    def forget_versions(self, model: int, before: int) -> None:
        """Remove what would bring back a version before this one, but for the first base."""
        self.connection.execute(
            "DELETE FROM bases WHERE model = ? AND sequence > 0 AND sequence < ?", (model, before)
        )
        self.connection.execute("UPDATE models SET oldest = ? WHERE model = ?", (before, model))

    def end_job(self, job: int, status: str, answer: str) -> None:
        """Write down how a job ended."""
        text = "UPDATE jobs SET status = ?, answer = ? WHERE job = ?"
        self.connection.execute(text, (status, answer, job))

    def remove_token(self, name: str) -> None:
        """Remove a token, which is no longer accepted."""
        self.connection.execute("DELETE FROM tokens WHERE name = ?", (name,))


def line_checksum(*values: Any) -> int:
    """Return the checksum of a line: CRC-32 of its values as MessagePack."""
    return zlib.crc32(_packed(values))


def _pragma(connection: sqlite3.Connection, text: str) -> Any:
    """Set or ask a setting of SQLite, and return what it is."""
    row = connection.execute(f"PRAGMA {text}").fetchone()
    return None if row is None else row[0]
