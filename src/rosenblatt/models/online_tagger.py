"""A tagger that learns sentence by sentence: features, tags and weights are added as they come.

What a sentence costs depends on its length, not on the size of the model: the weights stand in room
for more, doubled where it is too small, and a sentence is answered by the weights of its own
features.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sequences.encoding import Candidates, SentenceEncoding
from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.sequences.paths import EDGES, NO_ROW, Places, Sentences
from rosenblatt.models.learner import Learner
from rosenblatt.models.sequences import SequenceModel, TokenTags, with_tags
from rosenblatt.models.tagger import Tagger, Tags
from rosenblatt.tasks.sequences import PathLesson, no_bars
from rosenblatt.training.history import Outcome
from rosenblatt.training.sequences import sentence_examples, with_room
from rosenblatt.training.state import State, averaged, run_pass

FIRST_ROOM = 1 << 10  # rows of weights
MOST_PIECES = 64  # of features that are not yet joined with the others


class MetSentences(NamedTuple):
    """Sentences as a tagger reads them: their features, and which of these have weights."""

    columns: Any
    encoding: SentenceEncoding  # without features; its words are those of the sentences
    found: Candidates
    numbers: NDArray[np.int32]  # of each feature that is found, among all; ``NO_ROW``: has none


class PathDifference(NamedTuple):
    """What one path through a sentence has more often than another, by features and by steps."""

    features: dict[tuple[Any, str], float]  # by key of a feature, and tag
    steps: dict[tuple[str, str], float]  # by tag before, or edge, and tag

    def dot(self, other: "PathDifference") -> float:
        """Return the inner product with the difference of two paths through another sentence."""
        pairs: list[tuple[Mapping[Any, float], Mapping[Any, float]]] = [
            (self.features, other.features),
            (self.steps, other.steps),
        ]
        return sum(x * more[key] for own, more in pairs for key, x in own.items() if key in more)


class OnlineTagger:
    """Weights, features and tags that sentences change one by one."""

    def __init__(self, model: SequenceModel) -> None:
        self.learner: Learner = model.learner
        self.tags: Tags = model.tags
        self.state: State = model.state
        self.width = model.encoding.n_features  # features that have weights
        self._bare, self._known = model.encoding.bare(), model.encoding
        self.places: dict[Any, int] = {key: k for k, key in enumerate(model.encoding.known)}
        self._pieces: list[SentenceEncoding] = []  # of features that came since
        self._vocabulary = [model.vocabulary]
        self._training = model.training
        self._outcome: Outcome = model.outcome

    @property
    def first(self) -> int:
        """The row of weights of the first feature, behind those of steps."""
        return len(self.tags.inner) + EDGES

    # Answers

    def met(self, X: Sequence[Sequence[Any]]) -> MetSentences:
        """Return sentences as they are read."""
        encoding = self._bare.bare()
        columns = encoding.columns(X)
        found = encoding.candidates(columns)
        get = self.places.get
        numbers = np.array([get(key, NO_ROW) for key in found.keys.tolist()], np.int32)
        numbers[numbers >= self.width] = NO_ROW  # another thread has added them
        return MetSentences(columns, encoding, found, numbers)

    def tagger(self, met: MetSentences) -> Tagger:
        """Return what answers these sentences, by the weights that decide."""
        own = np.flatnonzero(met.numbers != NO_ROW)
        rows = np.concatenate([np.arange(self.first), self.first + met.numbers[own]])
        places = np.full(len(met.numbers), NO_ROW, np.int32)
        places[own] = np.arange(len(own))
        state = self.state
        w = np.zeros((len(rows) + 1, len(self.tags.inner)))
        if state.ledger is None:
            w[:-1] = state.weights[rows]
        else:
            averaged(state.weights, state.ledger, state.count, w[:-1], rows)
        return Tagger(met.encoding.extended(met.found, places), w, self.tags)

    # Lessons

    def add_tags(self, names: Sequence[str]) -> None:
        """Take in tags that are new; their weights have been zero all along."""
        if not {*names} <= {*self.tags.outer}:
            self.tags, self.state = with_tags(self.tags, self.state, names)

    def learn(self, met: MetSentences, given: TokenTags) -> Counts:
        """Learn from sentences in their order; all of their tags are known."""
        sentences = self._sentences(met)
        examples = sentence_examples(sentences, given.inner(self.tags, met.columns.bounds))
        order = np.arange(sentences.shape[0])
        counts = run_pass(self.state, examples, order, self.learner.step, 0)
        self._take_in(met, sentences.places)
        return counts

    def lesson(self, met: MetSentences, given: TokenTags) -> PathLesson:
        """Do the same with one sentence, and return what it did."""
        sentences = self._sentences(met)
        examples = sentence_examples(sentences, given.inner(self.tags, met.columns.bounds))
        task: Any = self.state.task
        found: PathLesson = task.lesson(self.state, examples, self.learner.step)
        self.state = replace(self.state, count=self.state.count + 1)
        self._take_in(met, sentences.places)
        return found

    def _sentences(self, met: MetSentences) -> Sentences:
        """Return sentences as the kernels learn from them; there is room for their features."""
        n_tags, n_new = len(self.tags.inner), int(np.count_nonzero(met.numbers == NO_ROW))
        needed = self.first + self.width + n_new
        if needed > self.state.n_features:
            self.state = with_room(self.state, max(FIRST_ROOM, 1 << needed.bit_length()))
        rows = np.where(met.numbers == NO_ROW, NO_ROW, met.numbers + self.first).astype(np.int32)
        places = Places(rows, np.array([self.first + self.width]))
        barred = self.tags.barred if self.tags.strict else no_bars(n_tags)
        one_each = np.eye(n_tags, dtype=bool)
        return Sentences(*met.found[:4], places, barred, one_each, self.state.n_features)

    def _take_in(self, met: MetSentences, places: Places) -> None:
        """Number the features that got rows of weights."""
        own = np.where(met.numbers == NO_ROW, places.rows, NO_ROW).astype(np.int32)
        self._vocabulary.append(met.encoding.marks(met.columns))
        if (own != NO_ROW).any():
            piece = met.encoding.extended(met.found, own)
            for number, key in enumerate(piece.known, self.width):
                self.places[key] = number  # a reader that sees it finds no weight yet
            self._pieces.append(piece)
            self.width += piece.n_features

    def tidy(self) -> None:
        """Join the features that came since, where they are in many pieces; ``go_back`` ends here.

        Each of them holds the words of its sentences.
        """
        if len(self._pieces) > MOST_PIECES:
            self._known, self._pieces = self._known.joined(self._pieces), []
            self._vocabulary = [np.unique(np.concatenate(self._vocabulary))]

    def go_back(self, state: State, tags: Tags, width: int, n_sentences: int) -> None:
        """Forget the features from this number on, and the words of the last calls of learn."""
        while self.width > width:
            piece = self._pieces.pop()
            for key in piece.known:
                del self.places[key]
            self.width -= piece.n_features
        del self._vocabulary[len(self._vocabulary) - n_sentences :]
        self.state, self.tags = state, tags

    # What a model is made of

    def fitted(self) -> SequenceModel:
        """Return the model as it is now, in memory of its own."""
        state = self.state.select(np.arange(self.first + self.width))
        parts = self.learner, self._known.joined(self._pieces), self.tags
        words = np.unique(np.concatenate(self._vocabulary))
        how: dict[str, Any] = {"training": self._training, "vocabulary": words}
        return SequenceModel(*parts, state, self._outcome, **how)

    def model(self, options: dict[str, Any]) -> Any:
        """Return the same as a model file holds it."""
        return self.fitted().as_model(options)

    def view(self) -> "OnlineTagger":
        """Return a copy to read from, with weights of its own; the numbering is shared."""
        other = copy(self)
        other.state = self.copied()
        return other

    def apply(self, tags: Tags, width: int, rows: NDArray[Any] | None, state: State) -> None:
        """Change to what another one was; its state has these rows of weights, None: all."""
        self.tags, self.width = tags, width
        if rows is None:
            self.state = state
            return
        self.state.weights[rows] = state.weights
        if self.state.ledger is not None:
            self.state.ledger[rows] = state.ledger
        self.state = replace(self.state, count=state.count)

    def copied(self, rows: NDArray[Any] | None = None) -> State:
        """Return a copy of rows of weights to read from, by default of all, with as much room."""
        state, parts = self.state, dict[str, Any]()
        for name in ("weights", "ledger"):
            array = getattr(state, name)
            if array is not None and rows is not None:
                parts[name] = array[rows]
            elif array is not None:
                parts[name] = np.zeros_like(array)
                parts[name][: self.first + self.width] = array[: self.first + self.width]
        return replace(state, **parts, variance=None, _average=None)

    def difference(self, met: MetSentences, path: Any, other: Any) -> PathDifference:
        """Return how two paths through the one sentence differ, by numbers of inner tags."""
        names, keys = self.tags.inner, met.found.keys.tolist()
        features: dict[tuple[Any, str], float] = {}
        steps: dict[tuple[str, str], float] = {}
        for tags, sign in ((path, 1.0), (other, -1.0)):
            said = [names[k] for k in tags]
            for before, tag in zip(["<", *said], [*said, ">"], strict=True):
                steps[before, tag] = steps.get((before, tag), 0.0) + sign
        for t in np.flatnonzero(np.asarray(path) != np.asarray(other)).tolist():
            for p in range(int(met.found.starts[t]), int(met.found.starts[t + 1])):
                key, x = keys[met.found.features[p]], float(met.found.values[p])
                for k, sign in ((path[t], x), (other[t], -x)):
                    pair = key, names[k]
                    features[pair] = features.get(pair, 0.0) + sign
        return PathDifference(features, steps)
