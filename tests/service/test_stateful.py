"""Whatever is done in whatever order, served weights are those of partial_fit, crashes included."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rosenblatt.models.feature_spaces import NamedFeatures
from rosenblatt.service.forgetting import Replay, roll_back
from rosenblatt.service.history import at_version
from rosenblatt.service.learner import ServedLearner
from rosenblatt.service.limits import Limits
from rosenblatt.service.requests import Example, ForgetRequest
from rosenblatt.service.writer import Entry, Writer

from .conftest import command, crash, create, same, taught, teach

LIMITS = Limits(snapshot_every=4)
NAMES = st.sampled_from("abcdef")
FEATURES = st.dictionaries(NAMES, st.integers(-3, 3).map(float), max_size=4)
EXAMPLES = st.tuples(FEATURES, st.sampled_from(["no", "yes", "perhaps"]))
SPECS: list[dict[str, Any]] = [
    {},
    {"memory": "last"},
    {"rule": "pa2"},
    {"rule": "arow"},
    {"goal": "each"},
    {"goal": "ranking", "rule": "pa1", "memory": "last"},
]
SETS = {"no": (), "yes": ("yes",), "perhaps": ("perhaps", "yes")}  # where a row has several labels


class Served(RuleBasedStateMachine):
    """A service beside a plain list of what it should have learned."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.writer = Writer(Path(self.folder.name), LIMITS)
        self.kept: list[tuple[str, Example]] = []  # the examples that count
        self.histories: dict[int, list[tuple[str, Example]]] = {}  # of each version
        self.number = 0

    @initialize(spec=st.sampled_from(SPECS))
    def create(self, spec: dict[str, Any]) -> None:
        """Create a model of some kind."""
        create(self.writer, **spec)
        self.spec = spec
        self.histories[0] = []

    @property
    def entry(self) -> Entry:
        """The model."""
        return self.writer.entries["m"]

    def example(self, pair: tuple[dict[str, float], str]) -> tuple[str, Example]:
        """Return a new example with an id."""
        self.number += 1
        label = SETS[pair[1]] if "goal" in self.spec else pair[1]
        return str(self.number), taught(pair[0], label, str(self.number))

    @rule(batch=st.lists(EXAMPLES, min_size=1, max_size=4))
    def learn(self, batch: list[tuple[dict[str, float], str]]) -> None:
        """Learn examples of one request."""
        examples = [self.example(pair) for pair in batch]
        teach(self.writer, self.entry, *(one for _, one in examples))
        first = self.entry.shown.version - len(batch)
        for i, one in enumerate(examples):
            self.kept = [*self.kept, one]
            self.histories[first + i + 1] = self.kept

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def learn_again(self, data: st.DataObject) -> None:
        """Send an example again: it is not learned twice."""
        _, one = data.draw(st.sampled_from(self.kept))
        version = self.entry.shown.version
        (answer,) = teach(self.writer, self.entry, one)
        assert answer.duplicate
        assert self.entry.shown.version == version

    @rule(clean=st.booleans())
    def restart(self, clean: bool) -> None:
        """End, by hand or by a crash, and start again."""
        before = self.entry
        (self.writer.close if clean else lambda: crash(self.writer))()
        self.writer = Writer(Path(self.folder.name), LIMITS)
        assert same(self.entry.shown.learner, before.shown.learner)
        assert self.entry.shown.version == before.shown.version

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """Forget an example."""
        id_, one = data.draw(st.sampled_from(self.kept))
        writer, entry = self.writer, self.entry
        replay = Replay(writer, entry, ForgetRequest(id=id_))
        assert command(writer, lambda: replay.swap(0, None))
        self.kept = [pair for pair in self.kept if pair[1] is not one]
        self.histories = {entry.shown.version: self.kept}

    @precondition(lambda self: len(self.histories) > 1)
    @rule(data=st.data())
    def go_back(self, data: st.DataObject) -> None:
        """Return to an older version."""
        version = data.draw(st.sampled_from(sorted(self.histories)))
        writer, entry = self.writer, self.entry
        with writer.journal.reader() as reader:
            served = at_version(reader, writer.snapshots, entry.record, version, LIMITS)
        command(writer, lambda: roll_back(writer, entry, version, served, None))
        self.kept = self.histories[version]
        self.histories[entry.shown.version] = self.kept

    @precondition(lambda self: self.histories)
    @rule(data=st.data())
    def ask_a_version(self, data: st.DataObject) -> None:
        """Build an older version: it is what its examples make."""
        version = data.draw(st.sampled_from(sorted(self.histories)))
        with self.writer.journal.reader() as reader:
            found = at_version(reader, self.writer.snapshots, self.entry.record, version, LIMITS)
        assert np.array_equal(self._weights(found), self._weights(self._learned(version)))

    def _learned(self, version: int) -> ServedLearner:
        plain = ServedLearner.new(self.entry.own.learner.learner, NamedFeatures())
        for _, one in self.histories[version]:
            features: Any = one.features
            label: Any = one.label
            plain.learn(features, label)
        return plain

    @staticmethod
    def _weights(served: Any) -> Any:
        """Return the score of every name alone, whatever its number is."""
        if served.undecided:
            return np.zeros(0)
        return served.scores([{name: 1.0} for name in "abcdef"])

    @invariant()
    def has_learned_what_counts(self) -> None:
        """Weights, versions and tallies are those of the examples that count, once each."""
        if "m" not in self.writer.entries or not hasattr(self, "spec"):
            return
        entry = self.entry
        assert entry.shown.learned == len(self.kept)
        assert same(entry.shown.learner, entry.own.learner.view())
        plain = self._learned(entry.shown.version)
        assert np.array_equal(self._weights(entry.shown.learner), self._weights(plain))
        with self.writer.journal.reader() as reader:
            numbers = [event.sequence for event in reader.events(entry.record.model, 0)]
        assert numbers == list(range(1, entry.shown.version + 1))

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.writer.close()
        self.folder.cleanup()


TestServed = Served.TestCase
TestServed.settings = settings(
    max_examples=settings().max_examples // 6,  # 8, and 333 in explore
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
