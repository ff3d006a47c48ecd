"""Learning, journal, restart: what is acknowledged is on the disk and in the weights, once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
import pytest
from scipy import sparse

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    OnlineLearner,
    Perceptron,
)
from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.models.feature_spaces import NamedFeatures
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.service.history import at_version, file_of
from rosenblatt.service.journal import FILE, SNAPSHOTS
from rosenblatt.service.learner import ServedLearner
from rosenblatt.service.limits import Limits, RequestError
from rosenblatt.service.requests import Example
from rosenblatt.service.writer import Writer

from .conftest import counts, crash, create, same, taught, teach, why

HASHED = {"features": {"kind": "hashed", "bits": 3}}  # so few that names share weights
LEARNERS: dict[str, tuple[dict[str, Any], Any]] = {
    "averaged": ({}, AveragedPerceptron()),
    "last": ({"memory": "last", "parameters": {"eta0": 0.5}}, Perceptron(eta0=0.5)),
    "arow": ({"rule": "arow"}, ConfidenceWeightedClassifier()),
}


def test_numbers_of_names_are_not_kept() -> None:
    """A name that was taken back has no weight, though the row before had it as well."""
    served = ServedLearner.new(Learner("perceptron", "last"), NamedFeatures(), ("a", "b"))
    row = {"u": 1.0, "y": 1.0}
    served.learn(row, "b")
    assert served.decided(row)[1] == served.scores([row])[0] == 3.0
    served.space.shrink(1)
    served.space.learn({"z": 1.0})
    assert served.space.names() == ("u", "z")
    assert served.decided(row)[1] == served.scores([row])[0] == 2.0


def examples(n: int, labels: str = "abc", seed: int = 0) -> list[Example]:
    """Return examples with eight of thirty names; the third class comes late."""
    generator = np.random.default_rng(seed)
    found = []
    for i in range(n):
        names = generator.choice(30, 8, replace=False)
        features = {f"f{name}": float(generator.normal()) for name in names}
        known = labels if i > n // 3 else labels[:2]
        found.append(taught(features, known[generator.integers(len(known))], f"id{i}"))
    return found


def matrix(batch: list[Example], names: tuple[str, ...]) -> Any:
    """Return examples as rows whose columns are these names."""
    number = {name: k for k, name in enumerate(names)}
    rows = sparse.lil_array((len(batch), len(names)))
    for i, one in enumerate(batch):
        for name, value in one.features.items():  # type: ignore[union-attr]
            rows[i, number[name]] = value
    return sparse.csr_array(rows)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    """Return an open folder."""
    opened = Writer(tmp_path)
    yield opened
    opened.close()


@pytest.mark.parametrize("name", LEARNERS)
def test_parity_with_partial_fit(tmp_path: Path, name: str) -> None:
    """Examples taught one by one or in batches give the bits of partial_fit in that order."""
    spec, estimator = LEARNERS[name]
    batch = examples(90)
    writer = Writer(tmp_path)
    entry = create(writer, **spec)
    for one in batch[:50]:
        teach(writer, entry, one)
    teach(writer, entry, *batch[50:])
    names = entry.shown.learner.space.names()
    assert names is not None
    rows = matrix(batch, names)
    for i, one in enumerate(batch):
        estimator.partial_fit(rows[[i]], [one.label])
    model = entry.shown.learner.model()
    assert model is not None
    assert np.array_equal(model.weights, estimator.model_.weights)
    assert np.array_equal(
        entry.shown.learner.scores([one.features for one in batch]),
        estimator.decision_function(rows),
    )
    private = entry.own.learner.model()
    assert private is not None
    for part in ("ledger", "variance"):
        ours, theirs = getattr(private, part), getattr(estimator.model_, part)
        assert (ours is None) == (theirs is None)
        assert ours is None or np.array_equal(ours, theirs)
    crash(writer)


def test_parity_of_arrays(writer: Writer) -> None:
    """Examples that are arrays give the bits of partial_fit on dense rows."""
    generator = np.random.default_rng(1)
    X, y = generator.normal(size=(40, 5)), generator.integers(0, 3, 40)
    entry = create(writer, features={"kind": "array"})
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        teach(writer, entry, taught(x, label))
    estimator = AveragedPerceptron()
    for x, label in zip(X, y, strict=True):
        estimator.partial_fit([x], [label])
    assert np.array_equal(entry.shown.learner.scores(X.tolist()), estimator.decision_function(X))


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("spec", [*(spec for spec, _ in LEARNERS.values()), HASHED])
def test_restart_has_the_same_bits(tmp_path: Path, spec: dict[str, Any], clean: bool) -> None:
    """A service that was stopped, or killed, starts with the weights that it had."""
    writer = Writer(tmp_path)
    entry = create(writer, **spec)
    teach(writer, entry, *examples(60))
    (writer.close if clean else lambda: crash(writer))()
    again = Writer(tmp_path)
    assert same(again.entries["m"].shown.learner, entry.shown.learner)
    assert same(again.entries["m"].own.learner, entry.own.learner)
    assert again.entries["m"].shown.version == entry.shown.version == 60
    assert counts(again.entries["m"]) == counts(entry)
    again.close()


def test_torn_snapshots_cost_only_time(tmp_path: Path) -> None:
    """A snapshot that is cut, changed or gone is passed over: the journal is the truth."""
    writer = Writer(tmp_path)
    entry = create(writer)
    teach(writer, entry, *examples(30))
    writer.close()
    (snapshot,) = (tmp_path / SNAPSHOTS).iterdir()
    whole = snapshot.read_bytes()
    for torn in (whole[:100], b"", whole[:-1] + b"\0", None):
        if torn is None:
            snapshot.unlink()
        else:
            snapshot.write_bytes(torn)
        again = Writer(tmp_path)
        assert same(again.entries["m"].own.learner, entry.own.learner)
        crash(again)


def test_torn_log_ends_in_whole_groups(tmp_path: Path) -> None:
    """A write-ahead log that is cut anywhere gives the model of some acknowledged version."""
    writer = Writer(tmp_path / "first")
    entry = create(writer)
    versions = {}
    for one in examples(12):
        teach(writer, entry, one)
        versions[entry.shown.version] = entry.shown.learner.view()
    log = (tmp_path / "first" / f"{FILE}-wal").read_bytes()
    file = (tmp_path / "first" / FILE).read_bytes()
    writer.close()
    seen = set()
    for k in range(8):
        folder = tmp_path / f"cut{k}"
        folder.mkdir()
        (folder / FILE).write_bytes(file)
        (folder / f"{FILE}-wal").write_bytes(log[: len(log) - k * 3001])
        again = Writer(folder)
        found = again.entries["m"]
        seen.add(found.shown.version)
        assert found.shown.version == 0 or same(found.shown.learner, versions[found.shown.version])
        crash(again)
    assert 12 in seen
    assert len(seen) > 2


def test_same_id_is_learned_once(writer: Writer) -> None:
    """An id with the same body gets its first answer again; with another body it is refused."""
    entry = create(writer)
    (first,) = teach(writer, entry, taught({"x": 1.0}, "a", "one"))
    teach(writer, entry, taught({"x": 1.0}, "b"))
    (again,) = teach(writer, entry, taught({"x": 1.0}, "a", "one"))
    assert (again.sequence, again.mistake, again.duplicate) == (first.sequence, first.mistake, True)
    assert entry.shown.version == 2
    with pytest.raises(RequestError, match="used for another example") as refused:
        teach(writer, entry, taught({"x": 2.0}, "a", "one"))
    assert refused.value.status == 409
    one, two = teach(writer, entry, taught({}, "a", "two"), taught({}, "a", "two"))
    assert (one.duplicate, two.duplicate, two.sequence) == (False, True, 3)


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "arow"])
def test_a_step_is_told_whoever_was_right(writer: Writer, rule: str) -> None:
    """``updated`` says whether the weights changed: by a rule with a margin on right rows, too."""
    entry = create(writer, rule=rule, memory="last", classes=["a", "b"])
    updated: list[bool] = []
    mistakes: list[bool] = []
    for _ in range(8):
        before = entry.shown.learner.scores([{"x": 0.3}])[0] if updated else 0.0
        (answer,) = teach(writer, entry, taught({"x": 0.3}, "b", f"id{len(updated)}"))
        after = entry.shown.learner.scores([{"x": 0.3}])[0]
        assert answer.updated == (before != after)
        updated.append(answer.updated)
        mistakes.append(answer.mistake)
    assert mistakes == [True] + 7 * [False]
    assert sum(updated) == 1 if rule == "perceptron" else sum(updated) > 1
    again = [teach(writer, entry, taught({"x": 0.3}, "b", f"id{k}"))[0].updated for k in range(8)]
    assert again == updated  # from the journal


def test_a_batch_is_learned_whole_or_not(tmp_path: Path) -> None:
    """Where one example of a batch is refused, nothing of it is learned, named or journaled."""
    writer = Writer(tmp_path, Limits(classes=3))
    entry = create(writer)
    teach(writer, entry, *examples(20, "ab"))
    before, version = entry.own.learner.view(), entry.shown.version
    with pytest.raises(InputError, match="has all 3 classes"):
        teach(writer, entry, taught({"new": 1.0}, "c"), taught({"newer": 1.0}, "d"))
    with pytest.raises(RosenblattError, match="another type"):
        teach(writer, entry, taught({"new": 1.0}, "a", "z"), taught({}, 3))
    assert same(entry.own.learner, before)
    teach(writer, entry, taught({"new": 1.0}, "a", "z"))
    assert entry.shown.version == version + 1
    crash(writer)
    again = Writer(tmp_path, Limits(classes=3))
    assert same(again.entries["m"].own.learner, entry.own.learner)
    again.close()


def test_overflow_is_refused_and_undone(writer: Writer) -> None:
    """An example on which the weights would overflow is refused and leaves no trace."""
    entry = create(writer, memory="last", parameters={"eta0": 1e308})
    teach(writer, entry, taught({"x": 1.0}, "a"))
    teach(writer, entry, taught({"x": 1.0}, "b"))
    before = entry.own.learner.view()
    with pytest.raises(RosenblattError, match="would overflow"):
        teach(writer, entry, taught({"y": 9.0}, "a"))
    assert same(entry.own.learner, before)
    assert entry.shown.version == 2


def test_two_services_keep_off_one_folder(tmp_path: Path, writer: Writer) -> None:
    """A second service is refused while the first has the folder."""
    del writer
    with pytest.raises(InputError, match="in use by another service"):
        Writer(tmp_path)


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    """A file that is no journal, or is damaged, is refused with a sentence and left alone."""
    import sqlite3

    other = sqlite3.connect(tmp_path / FILE)
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match="not a journal of rosenblatt"):
        Writer(tmp_path)
    (tmp_path / FILE).write_bytes(b"not a database at all, but long enough to look at" * 100)
    with pytest.raises(InputError, match="cannot be used as a journal"):
        Writer(tmp_path)


def test_full_disk_makes_read_only_and_recovers(tmp_path: Path) -> None:
    """Without room nothing is acknowledged, predictions go on, and with room learning does."""
    writer = Writer(tmp_path, Limits(journal_bytes=200_000))
    entry = create(writer)
    stored = 0

    def fill() -> None:
        nonlocal stored
        for i in range(200):
            teach(writer, entry, taught({"x": float(i), "text": "y" * 900}, "ab"[i % 2], f"id{i}"))
            stored += 1

    with pytest.raises(RequestError, match=r"read-only.*is full") as refused:
        fill()
    assert refused.value.status == 503
    assert entry.shown.version == stored
    assert entry.shown.learner.scores([{"x": 1.0}]).shape == (1,)
    with pytest.raises(RequestError, match="read-only"):
        teach(writer, entry, taught({"x": 1.0}, "a"))
    writer.journal._most_bytes = None  # noqa: SLF001  # as if there were room again
    writer.journal.connection.execute("PRAGMA max_page_count = 1000000")
    while writer.failure is not None:
        pass
    entry = writer.entries["m"]
    assert entry.shown.version == stored
    teach(writer, entry, taught({"x": 1.0}, "a"))
    assert entry.shown.version == stored + 1
    writer.close()


def test_a_failed_sync_is_not_tried_again(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failed COMMIT nothing is learned until the service is started again."""
    import sqlite3

    entry = create(writer)
    teach(writer, entry, *examples(5))
    before = entry.shown.learner.view()

    def fail() -> None:
        message = "disk I/O error"
        raise sqlite3.OperationalError(message)

    monkeypatch.setattr(writer.journal, "commit", fail)
    for _ in range(2):
        with pytest.raises(RequestError, match="restart the service"):
            teach(writer, entry, *examples(3, seed=2))
    assert same(entry.shown.learner, before)


def test_a_write_that_fails_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """Where the system refuses a write, what was acknowledged before is there after a restart."""
    resource = pytest.importorskip("resource")
    folder = tmp_path / "a folder? #1"
    writer = Writer(folder)
    entry = create(writer)
    teach(writer, entry, *examples(10))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = folder / f"{FILE}-wal"
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 5000, hard))
    try:
        with pytest.raises(RequestError, match="read-only"):
            teach(writer, entry, *examples(200, seed=2)[10:])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert writer.failure is not None
    assert entry.shown.version == 10
    with writer.journal.reader() as reader:
        assert reader.head(entry.record.model) == 10
    crash(writer)
    again = Writer(folder)
    assert again.entries["m"].shown.version == 10
    assert same(again.entries["m"].shown.learner, entry.shown.learner)
    again.close()


def test_a_queue_that_is_full_is_refused(writer: Writer) -> None:
    """More examples than the queue holds are refused at once, with the time to wait."""
    entry = create(writer)
    writer.waiting = writer.limits.queue
    with pytest.raises(RequestError, match="wait to be learned already") as refused:
        teach(writer, entry, taught({}, "a"))
    assert (refused.value.status, refused.value.retry_after) == (503, 1)


def test_features_beyond_the_limit(writer: Writer) -> None:
    """A model that has all its features refuses new names, or ignores them if asked to."""
    entry = create(writer, "strict", features={"limit": 2})
    teach(writer, entry, taught({"a": 1.0, "b": 1.0}, "x"))
    with pytest.raises(InputError, match="'c' is new and the model has all 2 features"):
        teach(writer, entry, taught({"c": 1.0}, "y"))
    entry = create(writer, "easy", features={"limit": 2, "when_full": "ignore"})
    teach(writer, entry, taught({"a": 1.0, "b": 1.0, "c": 1.0}, "x"), taught({"d": 2.0}, "y"))
    assert entry.shown.learner.space.names() == ("a", "b")


def measured(n: int, form: str) -> list[Example]:
    """Return examples of unequal scales; as names with words, some of which come up late."""
    generator = np.random.default_rng(4)
    found = []
    for i in range(n):
        size, weight = generator.normal(1000.0, 50.0), generator.normal(0.0, 0.01)
        features: Any = [size, weight, 0.0]
        if form == "names":
            late = {"late": float(i)} if i > n // 2 else {}
            features = {"colour": "rgb"[i % 3], **late, "size": size, "weight": weight}
        label = "abc"[int(size > 1000.0) + int(i > n // 3 and weight > 0.0)]
        found.append(taught(features, label, f"id{i}"))
    return found


def bits(model: Model | None) -> list[Any]:
    """Return all numbers of a model that scales."""
    assert model is not None
    arrays = model.encoding_arrays
    assert model.encoding is not None
    assert model.encoding["kind"] == "scaled"
    return [model.weights.tolist(), *(arrays[name].tolist() for name in sorted(arrays))]


@pytest.mark.parametrize("rule", ["perceptron", "arow"])
@pytest.mark.parametrize("form", ["names", "array"])
def test_running_scale(tmp_path: Path, rule: str, form: str) -> None:
    """A model that scales learns as OnlineLearner does, and so do its copies and its replay."""
    batch = measured(90, form)
    writer = Writer(tmp_path)
    entry = create(writer, rule=rule, scale=True, features={"kind": form})
    online = OnlineLearner(rule, scale=True)
    for one in batch[:40]:
        answer = teach(writer, entry, one)[0]
        assert answer.predicted == online.predict_one(one.features)
        online.learn_one(one.features, cast("str", one.label))
    before = bits(entry.own.learner.model())
    new = taught({"size": 5.0, "new": 1.0} if form == "names" else [1.0, 2.0, 3.0], "d")
    for bad in (taught(batch[0].features, 3), taught(_larger(batch[0].features), "a")):
        with pytest.raises(RosenblattError):
            teach(writer, entry, batch[50], new, bad)
        with pytest.raises(RosenblattError):
            teach(writer, entry, bad)
        assert bits(entry.own.learner.model()) == before
    teach(writer, entry, *batch[40:])
    for one in batch[40:]:
        online.learn_one(one.features, cast("str", one.label))
    found = bits(entry.own.learner.model())
    assert found == bits(online.model_) == bits(entry.shown.learner.model())
    rows = [one.features for one in batch]
    assert entry.shown.learner.answers(entry.shown.learner.scores(rows)) == [
        online.predict_one(x) for x in rows
    ]
    assert [entry.shown.learner.decided(x)[0] for x in rows] == [
        online.predict_one(x) for x in rows
    ]
    replayed = at_version(writer.journal, None, entry.record, entry.shown.version, Limits())
    assert bits(replayed.model()) == found
    crash(writer)
    again = Writer(tmp_path)
    assert bits(again.entries["m"].shown.learner.model()) == found
    file = file_of(online.model_)
    served = create(again, "file", file=msgspec.to_builtins(file), features={"kind": ""})
    numbers = [0.0] * online.n_features
    assert served.shown.learner.decided(numbers)[0] in online.classes
    again.close()


def _larger(features: Any) -> Any:
    """Return a row whose values cannot be scaled."""
    if isinstance(features, dict):
        return {name: 1e200 for name in features if name != "colour"}
    return [1e200] * len(features)


def test_hashed_features_cannot_be_scaled(writer: Writer) -> None:
    """What shares a number has no mean of its own; the examples of a scaled model have no sum."""
    with pytest.raises(InputError, match="cannot scale features that share a number"):
        create(writer, scale=True, features=HASHED["features"])
    entry = create(writer, scale=True)
    teach(writer, entry, *measured(9, "names"))
    with pytest.raises(RequestError, match="a model that scales are not the sum of its examples"):
        why(writer, entry, {"size": 1000.0}, 5)
