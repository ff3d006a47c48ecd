"""Forgetting and going back: commands of the writer.

A replay makes the model that never saw some examples, beside the service, and puts it in the place
of the old one between two groups. It erases the examples, removes every base and snapshot that held
them, and writes a base, in one transaction: a crash leaves either all of it or none.
"""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from rosenblatt.errors import RosenblattError
from rosenblatt.service.history import example_of, file_of, new_learner, text_of
from rosenblatt.service.journal import (
    ERASED,
    FAILED,
    FORGOT,
    RESTORE,
    ROLLED_BACK,
    WAITING,
    Event,
    JobRecord,
    JournalReader,
)
from rosenblatt.service.learner import Served
from rosenblatt.service.limits import RequestError
from rosenblatt.service.requests import ForgetRequest, Forgotten
from rosenblatt.service.writer import Entry, Writer, columns_of

TURNS = 3  # a replay catches up so often beside the service before it does the rest within
RETRY_SECONDS = 1.0  # between looks at jobs while nothing can be done about them
_request = msgspec.json.Decoder(ForgetRequest)
Answered = tuple[Any, ...]  # the answer to a command, and what shows it to readers


def matching(reader: JournalReader, entry: Entry, request: ForgetRequest) -> list[Event]:
    """Return the examples that a request means."""
    wanted = _given(request)
    if not wanted:
        raise RequestError(422, "Say which examples are to be forgotten: give id, token or before.")
    model = entry.record.model
    if request.id is not None and not reader.with_id(model, request.id):
        msg = f"The model {entry.record.name!r} has no example {request.id!r:.80}."
        raise RequestError(404, msg)
    return reader.examples(model, **wanted)


def _given(request: ForgetRequest) -> dict[str, Any]:
    fields = msgspec.structs.asdict(request)
    return {name: value for name, value in fields.items() if value is not None}


def roll_back(
    writer: Writer, entry: Entry, version: int, served: Served, token: str | None
) -> Answered:
    """Make an older version the newest; a command. ``served`` is the model of that version."""
    writer.check_current(entry)
    model, journal, head = entry.record.model, writer.journal, entry.own.version + 1
    if version < (journal.model(model) or entry.record).oldest:
        msg = f"Version {version} has examples that were forgotten in the meantime."
        raise RequestError(410, msg)
    file, note = file_of(served.model()), text_of({"version": version})
    event = Event(head, ROLLED_BACK, None, None, None, token, writer.clock(), note=note)
    with journal.transaction():
        journal.turn(model, event, file)
    return head, writer.renewed(entry, served, forgotten=False)


class Replays:
    """Forgettings that run beside the service, one after the other.

    A job stands in the journal from the moment it is accepted, so one that a crash cut short is
    begun again at the next start.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer, self._over = writer, threading.Event()
        self._pool = ThreadPoolExecutor(1, "replays")
        with writer.journal.reader() as reader:
            for job in reader.jobs():
                self._begin(job)

    def add(self, entry: Entry, request: ForgetRequest, token: str | None) -> Answered:
        """Accept a job; a command of the writer."""
        writer, now = self._writer, self._writer.clock()
        writer.check_current(entry)
        examples = matching(writer.journal, entry, request)
        job = JobRecord(0, entry.record.model, text_of(request), token, now, WAITING, None)
        with writer.journal.transaction():
            number = writer.journal.insert("jobs", **job._asdict() | {"job": None})
        answer = Forgotten(examples=len(examples), version=entry.own.version, job=number)
        return answer, partial(self._begin, job._replace(job=number))

    def close(self) -> None:
        """End, in the middle of a job perhaps."""
        self._over.set()
        self._pool.shutdown(cancel_futures=True)

    def _begin(self, job: JobRecord) -> None:
        with suppress(RuntimeError):  # closed: it is begun at the next start
            self._pool.submit(self._run, job)

    def _run(self, job: JobRecord) -> None:
        """Do a job, again if the service is read-only or has no descriptor left."""
        while not self._over.is_set():
            try:
                self._do(job)
            except (RosenblattError, sqlite3.Error, OSError):
                self._over.wait(RETRY_SECONDS)
            else:
                return

    def _do(self, job: JobRecord) -> None:
        writer = self._writer
        entry = next((e for e in writer.entries.values() if e.record.model == job.model), None)
        if entry is None:
            return
        request = _request.decode(job.request)
        try:
            while not self._over.is_set():
                replay = Replay(writer, entry, request)
                for _ in range(TURNS):
                    replay.catch_up()
                if self._wait(partial(replay.swap, job.job, job.token)):
                    return
        except (RosenblattError, msgspec.MsgspecError, sqlite3.DatabaseError) as error:
            if writer.failure is not None or isinstance(error, sqlite3.OperationalError):
                raise
            damaged = not isinstance(error, RosenblattError)
            message = f"The journal is damaged: {error}. {RESTORE}." if damaged else str(error)

            def fail() -> Answered:
                with writer.journal.transaction():
                    writer.journal.end_job(job.job, FAILED, text_of({"error": message}))
                return (None,)

            self._wait(fail)

    def _wait(self, run: Callable[[], Answered]) -> Any:
        future = self._writer.command(run)
        while not self._over.is_set():
            with suppress(TimeoutError):
                return future.result(timeout=0.5)
        return None


class Replay:
    """A model that is made anew from its creation, without some of its examples."""

    def __init__(self, writer: Writer, entry: Entry, request: ForgetRequest) -> None:
        self._writer, self._entry, self._request = writer, entry, request
        model = entry.record.model
        with writer.journal.reader() as reader:
            _, file = reader.base(model, 0)
            self._turn = reader.last_turn(model)
        self._served = new_learner(entry.spec, writer.limits, file)
        self._upto = 0
        self._rewritten: list[tuple[Any, ...]] = []

    def catch_up(self) -> None:
        """Learn the examples that have come since the last call."""
        with self._writer.journal.reader() as reader:
            self._learn(reader)

    def _learn(self, reader: JournalReader) -> None:
        entry, model = self._entry, self._entry.record.model
        head = reader.head(model)
        left_out = {one.sequence for one in matching(reader, entry, self._request)}
        for event in reader.counted(model, self._upto):
            if event.sequence in left_out:
                continue
            columns = columns_of(self._served.learn(*example_of(event)))
            if columns != event[7:13]:
                self._rewritten.append((*columns, event.sequence))
        self._upto = head

    def swap(self, job: int, token: str | None) -> Answered:
        """Put the new model in the place of the old one; a command. False: begin again."""
        writer, entry = self._writer, self._entry
        model, journal = entry.record.model, writer.journal
        writer.check_current(entry)
        if journal.last_turn(model) != self._turn:
            return (False,)  # what counts has changed meanwhile
        self._learn(journal)
        examples = matching(journal, entry, self._request)
        head, file = entry.own.version + 1, file_of(self._served.model())
        note = text_of({"examples": len(examples), "by": list(_given(self._request))})
        answer = Forgotten(examples=len(examples), version=head, job=job)
        event = Event(head, FORGOT, None, None, None, token, writer.clock(), note=note)
        with journal.transaction():
            journal.erase(model, [one.sequence for one in examples], head)
            journal.forget_versions(model, head)
            journal.turn(model, event, file)
            journal.rewrite(model, self._rewritten)
            journal.end_job(job, ERASED, text_of(answer))
        writer.drop_snapshots(entry)
        writer.empty_log()
        return True, writer.renewed(entry, self._served, forgotten=True)
