"""The writer: one thread that learns, commits in groups and only then lets readers see it.

It has learners of its own. A group of examples is learned on them, so that the journal can say what
each one did; after the COMMIT the weights that changed go to the readers' copies and the answers go
out, in one call to the readers' thread. So the weights that answer hold only what is on the disk,
and no prediction mixes two versions.
"""

import contextlib
import hashlib
import logging
import os
import queue
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shutil import disk_usage
from time import monotonic
from typing import Any, cast

import msgspec

from rosenblatt.data.atomic import lock
from rosenblatt.errors import InputError, RosenblattError, Sentence
from rosenblatt.models.feature_spaces import Features
from rosenblatt.service import history
from rosenblatt.service.journal import HELD_BACK, LEARNED, Event, Journal, ModelRecord, TokenRecord
from rosenblatt.service.learner import LessonResult, Served
from rosenblatt.service.limits import Limits, RequestError, no_model
from rosenblatt.service.requests import Example, Learned, ModelSpec, label_of

LOCK = "lock"
LAST_ADMIN = (
    "Token {!r} is the last one with the scope 'admin' for all models, and nobody could make "
    "another: make one first, or start the service with a token of the operator."
)
AGAIN_SECONDS = 0.5  # between attempts at what failed: writing to a full disk, emptying the log
log = logging.getLogger("rosenblatt.service")
Post = Callable[[Callable[[], None]], object]  # runs a function in the readers' thread


class RecentPredictions:
    """The features of predictions with an id, for feedback; the oldest are dropped first."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.rows: OrderedDict[str, Features] = OrderedDict()
        self._n_values = 0

    def add(self, id_: str, features: Features) -> None:
        """Remember one prediction more."""
        self._n_values += len(features) - len(self.rows.pop(id_, ()))
        self.rows[id_] = features
        limits = self._limits
        while len(self.rows) > limits.remembered or self._n_values > limits.remembered_features:
            _, oldest = self.rows.popitem(last=False)
            self._n_values -= len(oldest)

    def clear(self) -> None:
        """Forget all of them."""
        self.rows.clear()
        self._n_values = 0


@dataclass
class LearnerStatus:
    """A learner and what its examples came to."""

    learner: Served
    version: int  # number of the last event
    learned: int = 0
    wrong: int = 0  # by the weights that decide, before it was learned
    mistakes: int = 0  # by the last weights

    def count(self, event: Event) -> None:
        """Count an example that has been learned."""
        self.version = event.sequence
        self.learned += 1
        self.wrong += event.predicted != event.label
        self.mistakes += event.mistake or 0

    @property
    def error(self) -> float | None:
        """The progressive error."""
        return self.wrong / self.learned if self.learned else None

    def copy(self) -> "LearnerStatus":
        """Return this for readers, with a learner of their own."""
        view = self.learner.view()
        self.learner.changes()
        return replace(self, learner=view)


@dataclass
class Entry:
    """A model that is served: as the writer has it, and as readers see it."""

    record: ModelRecord
    spec: ModelSpec
    own: LearnerStatus  # the writer's
    shown: LearnerStatus  # the readers'
    remembered: RecentPredictions
    snapshot: int = 0  # version of the last one

    def go_back(self, before: LearnerStatus, mark: Any) -> None:
        """Undo what has been learned since the mark."""
        before.learner.undo(mark)
        self.own = before

    def renew(self, learned: LearnerStatus) -> None:
        """Change to another learner, of whose version there is no snapshot to write."""
        self.own, self.snapshot = learned, learned.version

    def remember(self, predictions: RecentPredictions) -> None:
        """Keep the predictions that were remembered before."""
        self.remembered = predictions

    def note_snapshot(self) -> None:
        """Note that a snapshot of this version is written."""
        self.snapshot = self.own.version

    def show(self, record: ModelRecord, shown: LearnerStatus, *, forgotten: bool) -> None:
        """Let readers see another learner; ``forgotten`` drops old predictions."""
        self.record, self.shown = record, shown
        if forgotten:
            self.remembered.clear()

    def publishing(self) -> Callable[[], None]:
        """Return what lets readers see all that the writer has learned."""
        changes, own = self.own.learner.changes(), replace(self.own)

        def show() -> None:
            self.shown.learner.apply(changes)
            self.shown = replace(own, learner=self.shown.learner)

        return show


@dataclass
class WriterTask:
    """What the writer is asked for, and its answer."""

    future: Any  # with set_result and set_exception; touched in the readers' thread only
    run: Callable[[], Any]  # in the writer's thread; returns the answer, or see ``command``
    entry: Entry | None = None  # that learns
    n_examples: int = 0  # that it learns, all or none; 0: a command
    result: Any = field(default=None, init=False)
    error: Exception | None = field(default=None, init=False)

    def obey(self) -> list[Any]:
        """Run a command, and return what shows its result to readers."""
        shows: list[Any]
        self.result, *shows = self.run()
        return shows

    def learn(self) -> bool:
        """Run lessons; return whether they were learned, else they are refused."""
        try:
            self.result = self.run()
        except RosenblattError as error:
            self.refuse(error)
        return self.error is None

    def refuse(self, error: Exception) -> None:
        """Answer with an error."""
        self.error = error

    def answer(self) -> None:
        """Give the future its answer, unless the client has gone."""
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class Writer:
    """The thread that writes the journal and the snapshots of a folder.

    The folder is made where it does not exist; a lock keeps a second service off it. ``post`` runs
    a function in the readers' thread, and ``clock`` returns the seconds since 1970.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        limits: Limits | None = None,
        post: Post = lambda function: function(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.limits = limits or Limits()
        self.folder = Path(folder)
        self.clock = clock
        self.failure: str | None = None  # why nothing can be learned
        self.waiting = 0  # examples
        self.commits = 0
        self.entries: dict[str, Entry] = {}  # the readers'
        self.tokens: dict[bytes, TokenRecord] = {}  # the readers', by digest
        self.post = post
        self._fault: str | None = None  # the writer's
        self._recoverable = False
        self._log_due: float | None = None  # when to try again to empty the log
        self._queue: queue.SimpleQueue[WriterTask | None] = queue.SimpleQueue()
        self._lock = _locked(self.folder)
        try:
            self.journal = Journal(self.folder, self.limits.journal_bytes)
            self.snapshots = history.Snapshots(self.folder)
            self._own = self._load()
            self.entries = dict(self._own)
            self._tokens_shown()()
            self.empty_log()
        except BaseException:
            self._lock.close()
            raise
        self._background = ThreadPoolExecutor(1, "snapshots")
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish what has been accepted, write snapshots, and let go of the folder."""
        self._queue.put(None)
        self._thread.join()
        if self._fault is None:
            for entry in self._own.values():
                self._snapshot(entry, least=1)
        self._background.shutdown()
        self.journal.close()
        self._lock.close()

    # what the readers' thread asks for

    def teach(
        self, entry: Entry, examples: Sequence[Example], token: str | None, future: Any = None
    ) -> Any:
        """Have examples learned, all or none; the future gets a list of ``Learned``."""
        _check_open(self.failure)
        if self.waiting + len(examples) > self.limits.queue:
            msg = f"{self.waiting:,} examples wait to be learned already; try again soon."
            raise RequestError(503, msg, retry_after=1)
        self.waiting += len(examples)
        future = future or Future()
        run = partial(self._lessons, entry, examples, token)
        self._queue.put(WriterTask(future, run, entry, len(examples)))
        return future

    def command(self, run: Callable[[], Any], future: Any = None) -> Any:
        """Run a function between two groups; it returns an answer, and what shows it to readers.

        A ``future`` of the readers' loop gets the answer without a detour.
        """
        _check_open(self.failure)
        future = future or Future()
        self._queue.put(WriterTask(future, run))
        return future

    def _show(self, *functions: Callable[[], None], tasks: Sequence[WriterTask] = ()) -> None:
        """Run functions, then answer tasks, in the readers' thread, or here if that has ended."""

        def show() -> None:
            for function in functions:
                function()
            self.waiting -= sum(task.n_examples for task in tasks)
            for task in tasks:
                task.answer()

        try:
            self.post(show)
        except RuntimeError:  # its loop is closed: the service is about to end
            show()

    # the writer's thread

    def empty_log(self) -> None:
        """Empty the log, which holds erased examples, now or when its readers end; for commands."""
        self._log_due = monotonic() + AGAIN_SECONDS
        with contextlib.suppress(sqlite3.OperationalError):  # tried again
            if self.journal.empty_log():
                self._log_due = None

    def _retry(self) -> None:
        """Try again to empty the log, or to write to a disk that was full."""
        if self._fault is None:
            if self._log_due is not None and monotonic() >= self._log_due:
                self.empty_log()
        elif self._recoverable:
            with contextlib.suppress(OSError, sqlite3.Error, RosenblattError):
                room = disk_usage(self.folder).free
                if room >= self.limits.free_bytes and self.journal.has_room():
                    self._recover()

    def _run(self) -> None:
        while True:
            self._retry()
            still = self._log_due is None and self._fault is None
            try:
                first = self._queue.get(timeout=None if still else AGAIN_SECONDS)
            except queue.Empty:
                continue
            group, task = self._group(first)
            if group:
                self._learn(group)
            if task is None:
                return
            if not task.n_examples:
                self._obey(task)

    def _group(self, task: WriterTask | None) -> tuple[list[WriterTask], WriterTask | None]:
        """Return the lessons that wait, up to a limit, and the task that ended them."""
        group: list[WriterTask] = []
        size = 0
        while task is not None and task.n_examples:
            group.append(task)
            size += task.n_examples
            if size >= self.limits.group:
                break
            try:
                task = self._queue.get_nowait()
            except queue.Empty:
                break
        return group, task

    def _learn(self, group: list[WriterTask]) -> None:
        """Learn and commit a group, then publish it and answer."""
        entries: dict[int, Entry] = {}  # that have learned
        shows: list[Callable[[], None]] = []
        try:
            _check_open(self._fault)
            with self.journal.transaction():
                for task in group:
                    if task.learn():
                        entries[id(task.entry)] = cast("Entry", task.entry)
                shows = [entry.publishing() for entry in entries.values()]
            self.commits += 1
        except Exception as error:  # noqa: BLE001  # whatever it was, the learners are void
            failure = self._fail(error)
            for task in group:
                task.refuse(failure)
            entries, shows = {}, []
        self._show(*shows, tasks=group)
        for entry in entries.values():
            self._snapshot(entry, self.limits.snapshot_every)

    def _lessons(
        self, entry: Entry, examples: Sequence[Example], token: str | None
    ) -> list[Learned]:
        """Learn the examples of a request, all or none."""
        self.check_current(entry)
        own, learner, before = entry.own, entry.own.learner, replace(entry.own)
        mark = learner.begin(single=len(examples) == 1)
        model, now = entry.record.model, self.clock()
        answers = []
        events: dict[str | int, Event] = {}  # new ones, by id or number
        try:
            for one in examples:
                label = learner.checked(label_of(one.label))
                body = history.text_of(one.features), history.text_of(label)
                if one.id is not None:
                    first = events.get(one.id) or self._taught(model, one.id)
                    if first is not None:
                        answers.append(_first_answer(first, body))
                        continue
                lesson, version = learner.learn(one.features, label), own.version + 1
                known = version, LEARNED, one.id, *body, token, now
                event = events[one.id or version] = Event(*known, *columns_of(lesson))
                own.count(event)
                answers.append(learned_of(event))
        except RosenblattError as error:
            entry.go_back(before, mark)
            if len(examples) > 1:
                error.args = (Sentence(f"Example {len(answers) + 1}: ", *error.args),)
            raise
        self.journal.append(model, events.values())
        return answers

    def _taught(self, model: int, id_: str) -> Event | None:
        """Return the event that has an id; None where it is free: new, or left by a return."""
        found = self.journal.with_id(model, id_)
        undone = self.journal.undone(model, found) if found else {}
        bound = [one for one in found if one.forgotten or one.sequence not in undone]
        return min(bound, key=lambda one: one.forgotten or 0, default=None)

    def _obey(self, task: WriterTask) -> None:
        shows: list[Callable[[], None]] = []
        try:
            _check_open(self._fault)
            shows = task.obey()
        except Exception as error:  # noqa: BLE001  # whatever it was, the learners are void
            task.refuse(self._fail(error))
        self._show(*shows, tasks=[task])

    # failures

    def _fail(self, error: Exception) -> Exception:
        """Return a refusal as it is; for other errors go read-only: weights were not stored."""
        if isinstance(error, RosenblattError):
            return error
        log.error("The service is read-only from now on.", exc_info=error)
        fault = f"the journal could not be written ({error}); restart the service"
        full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
        if full:
            fault = "the disk, or what the journal may take of it, is full"
        self._fault, self._recoverable = fault, full
        self._show(lambda: setattr(self, "failure", fault))
        return _read_only(fault)

    def _recover(self) -> None:
        """Read the journal anew and go on."""
        self.journal.reopen()
        own = self._load()
        self._own, self._fault, self._recoverable = own, None, False

        def show() -> None:
            for name in own.keys() & self.entries.keys():
                own[name].remember(self.entries[name].remembered)
            self.failure = None

        self._show(show, self._entries_shown())

    def _entries_shown(self) -> Callable[[], None]:
        """Return what lets readers see the models that there are now."""
        own = dict(self._own)
        return lambda: setattr(self, "entries", own)

    # models

    def _load(self) -> dict[str, Entry]:
        """Return all models as the journal has them."""
        try:
            own = {record.name: self._entry(record) for record in self.journal.models()}
        except (msgspec.MsgspecError, sqlite3.DatabaseError) as error:
            raise self.journal.damaged(error) from error
        self.snapshots.remove_others({entry.record.model for entry in own.values()})
        return own

    def _entry(self, record: ModelRecord) -> Entry:
        reader = self.journal
        head = reader.head(record.model)
        self.snapshots.remove_outside(record.model, record.oldest, head)
        learner = history.at_version(reader, self.snapshots, record, head, self.limits)
        own = LearnerStatus(learner, head, *reader.counts(record.model))
        snapshot = self.snapshots.version(record.model)
        spec, remembered = history.spec_from(record.spec), RecentPredictions(self.limits)
        return Entry(record, spec, own, own.copy(), remembered, snapshot)

    def create(self, name: str, spec: ModelSpec) -> tuple[Any, ...]:
        """Create a model; a command."""
        if name in self._own:
            if self._own[name].spec == _without_file(spec):
                return (self._own[name],)
            msg = f"There is a model {name!r} already; delete it first or choose another name."
            raise RequestError(409, msg)
        if len(self._own) >= self.limits.models:
            msg = f"There are {self.limits.models} models already; delete one first."
            raise RequestError(422, msg)
        served = history.new_learner(spec, self.limits, spec.file)  # raises where it cannot be
        history.check_spec(spec, served)
        now = self.clock()
        text = history.text_of(_without_file(spec))
        with self.journal.transaction():
            number = self.journal.insert("models", name=name, spec=text, created=now)
            self.journal.insert("bases", model=number, sequence=0, file=spec.file)
        entry = self._own[name] = self._entry(ModelRecord(number, name, text, now, 0))
        return entry, self._entries_shown()

    def remove(self, entry: Entry) -> tuple[None, Callable[[], None]]:
        """Remove a model with all of its examples; a command."""
        self.check_current(entry)
        with self.journal.transaction():
            self.journal.remove_model(entry.record.model)
        self.drop_snapshots(entry)
        self.empty_log()
        del self._own[entry.record.name]
        return None, self._entries_shown()

    def check_current(self, entry: Entry) -> None:
        """Raise where a model has been removed meanwhile; for commands."""
        if self._own.get(entry.record.name) is not entry:
            raise no_model(entry.record.name)

    def renewed(self, entry: Entry, served: Served, *, forgotten: bool) -> Callable[[], None]:
        """Replace a learner, and return what shows it; ``forgotten`` drops old predictions."""
        reader, model = self.journal, entry.record.model
        record = reader.model(model) or entry.record
        entry.renew(LearnerStatus(served, reader.head(model), *reader.counts(model)))
        shown = entry.own.copy()
        return partial(entry.show, record, shown, forgotten=forgotten)

    def drop_snapshots(self, entry: Entry) -> None:
        """Remove all snapshots of a model, those that are being written too; for commands."""
        self._background.submit(self.snapshots.remove_outside, entry.record.model).result()

    def _snapshot(self, entry: Entry, least: int) -> None:
        """Write a snapshot in the background if at least this many events came since the last."""
        model, number, version = None, entry.record.model, entry.own.version
        if version - entry.snapshot >= least:
            model = entry.own.learner.model()
        if model is None:
            return
        entry.note_snapshot()

        def write() -> None:
            with contextlib.suppress(RosenblattError, OSError):
                self.snapshots.write(number, version, history.file_of(model) or b"")

        self._background.submit(write)

    # tokens

    def _tokens_shown(self) -> Callable[[], None]:
        """Return what lets readers see the tokens that there are now."""
        tokens = self.journal.tokens()
        return lambda: setattr(self, "tokens", {token.digest: token for token in tokens})

    def add_token(self, token: TokenRecord) -> tuple[TokenRecord, Callable[[], None]]:
        """Add a token; a command."""
        if any(one.name == token.name for one in self.journal.tokens()):
            raise RequestError(409, f"There is a token {token.name!r} already; remove it first.")
        with self.journal.transaction():
            models = None if token.models is None else history.text_of(token.models)
            lists = {"scopes": history.text_of(token.scopes), "models": models}
            self.journal.insert("tokens", **token._asdict() | lists)
        return token, self._tokens_shown()

    def remove_token(self, name: str, *, keep_admin: bool) -> tuple[None, Callable[[], None]]:
        """Remove a token; a command. ``keep_admin``: not the last one that may make tokens."""
        tokens = self.journal.tokens()
        admins = [one.name for one in tokens if "admin" in one.scopes and one.models is None]
        if name not in [one.name for one in tokens]:
            raise RequestError(404, f"There is no token {name!r}.")
        if keep_admin and admins == [name]:
            raise RequestError(409, LAST_ADMIN.format(name))
        with self.journal.transaction():
            self.journal.remove_token(name)
        return None, self._tokens_shown()


def columns_of(lesson: LessonResult) -> tuple[Any, ...]:
    """Return a lesson as the journal has it: predicted, mistake, step, rival, seen, classes."""
    return (
        None if lesson.predicted is None else history.text_of(lesson.predicted),
        int(lesson.mistake),
        None if lesson.step is None else lesson.step + 0.0,  # SQLite keeps -0.0 as 0.0
        history.text_of(lesson.rival) if lesson.updated else None,  # NOTHING where each has its own
        lesson.seen,
        lesson.n_classes,
    )


def updated_by(event: Event) -> bool:
    """Return whether an example made a step; of an old journal what its mistake says of it."""
    return bool(event.mistake) or event.rival is not None


def learned_of(event: Event, *, duplicate: bool = False) -> Learned:
    """Return the answer to an example from its line in the journal."""
    made: Any = {"mistake": bool(event.mistake), "updated": updated_by(event)}
    predicted = history.label_from(event.predicted)
    return Learned(
        sequence=event.sequence,
        version=event.sequence,
        predicted=predicted,
        duplicate=duplicate,
        **made,
    )


def _first_answer(first: Event, body: tuple[str, str]) -> Learned:
    """Return the answer that an id had, if it comes with the same features and label again."""
    if first.forgotten is not None:
        msg = f"The example {first.id!r:.80} was forgotten; teach it again under another id."
        raise RequestError(410, msg)
    if first.kind == HELD_BACK:
        msg = f"The example {first.id!r:.80} was held back; teach it again under another id."
        raise RequestError(409, msg)
    if (first.features, first.label) != body:
        msg = f"The id {first.id!r:.80} was used for another example; give each its own."
        raise RequestError(409, msg)
    return learned_of(first, duplicate=True)


def _check_open(failure: str | None) -> None:
    if failure is not None:
        raise _read_only(failure)


def _read_only(reason: str) -> RequestError:
    msg = f"Nothing was stored: the service is read-only, because {reason}."
    return RequestError(503, msg, retry_after=30)


def _without_file(spec: ModelSpec) -> ModelSpec:
    """Return a specification with the digest of its model file in place of the file."""
    if spec.file is None:
        return spec
    return msgspec.structs.replace(spec, file=hashlib.sha256(spec.file).digest())


def _locked(folder: Path) -> Any:
    """Return the open lock file of a folder; raise InputError where another service has it."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        (folder / LOCK).touch(0o600)
        file = (folder / LOCK).open("a")
    except OSError as error:
        raise InputError(f"{folder} cannot be used: {error.strerror or error}.") from error
    try:
        lock(file)
    except OSError as error:
        file.close()
        msg = f"{folder} is in use by another service; stop it or choose another folder."
        raise InputError(msg) from error
    return file
