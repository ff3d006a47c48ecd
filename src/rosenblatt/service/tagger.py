"""A served tagger: a sentence is a row, and its answer a path of tags, "?" where one is unknown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sequences.encoding import (
    NamedEncoding,
    SentenceEncoding,
    WordEncoding,
    named_values,
)
from rosenblatt.data.sequences.templates import read_templates, word_templates
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import plain_options
from rosenblatt.models.model import Model
from rosenblatt.models.online_tagger import MetSentences, OnlineTagger, PathDifference
from rosenblatt.models.sentence_files import options_of
from rosenblatt.models.sequences import SequenceModel, TokenTags
from rosenblatt.models.tag_export import tags_to_json
from rosenblatt.models.tagger import UNKNOWN, Tags
from rosenblatt.service.learner import LESSON_OVERFLOW, LessonResult, Said
from rosenblatt.service.limits import Limits
from rosenblatt.service.requests import FeatureSpec
from rosenblatt.training.state import State, is_finite

TagPath = tuple[str, ...]


class TaggerChanges(NamedTuple):
    """What a group of sentences changed, for readers of another copy."""

    tags: Tags
    width: int
    rows: NDArray[Any] | None  # of weights that changed; None: all
    state: State  # of these rows


class TaggerMark(NamedTuple):
    """What there was before lessons that may be undone."""

    state: State
    tags: Tags
    width: int
    is_origin: bool


class SentenceSpace:
    """How sentences come: lists of words, of the cells of columns, or of objects of features."""

    kind = "sentences"

    def __init__(self, encoding: SentenceEncoding) -> None:
        self.named = isinstance(encoding, NamedEncoding)

    def plain(self, sentence: Any) -> Any:
        """Return a sentence, features by name as a replay has them; or raise InputError."""
        if not isinstance(sentence, list) or not all(
            isinstance(token, dict) if self.named else _is_word(token) for token in sentence
        ):
            what = "objects of features" if self.named else "words"
            raise InputError(f"The model tags sentences: features must be a list of {what}.")
        if not self.named:
            return sentence
        return [dict(sorted(named_values(token).items())) for token in sentence]


def _is_word(token: Any) -> bool:
    return isinstance(token, str) or (
        isinstance(token, list) and all(isinstance(cell, str) for cell in token)
    )


@dataclass(eq=False)
class ServedTagger:
    """Learns from sentences, answers, and goes back where a request fails.

    It is to sentences what ``ServedLearner`` is to rows, and is asked the same.
    """

    tagger: OnlineTagger
    space: SentenceSpace
    options: dict[str, Any]  # of its estimator
    limits: Limits
    origin: Model | None = None  # the model file that it goes on from
    is_origin: bool = False  # whether nothing has been learned since
    exports: ClassVar[Mapping[str, Any]] = {"json": lambda model: tags_to_json(model).encode()}

    def __post_init__(self) -> None:
        self._trail: list[Any] | None = None
        self._touched: list[NDArray[Any]] | None = None  # None: all rows
        self._n_learned = 0  # calls of learn that may be undone
        self._room = 0  # for rows of weights, when readers saw them last

    @classmethod
    def new(
        cls, learner: Learner, features: FeatureSpec, tags: Sequence[str], limits: Limits
    ) -> "ServedTagger":
        """Return a tagger before its first sentence."""
        encoding: SentenceEncoding = NamedEncoding()
        if features.kind != "names":
            templates = word_templates()
            if features.templates:
                templates = read_templates(features.templates, "features.templates")
            columns = max(macro.column for template in templates for macro in template)
            encoding = WordEncoding.empty(templates, columns + 1)
        model = SequenceModel.begin(learner, encoding, sorted({*tags}), free=False)
        beside = {"templates": features.templates or "words", "transitions": "auto"}
        options = plain_options(options_of(learner) | beside)
        return cls(OnlineTagger(model), SentenceSpace(encoding), options, limits)

    @classmethod
    def of_model(cls, model: Model, limits: Limits, *, is_origin: bool) -> "ServedTagger":
        """Return a tagger that goes on from a model, in memory of its own."""
        fitted = SequenceModel.of_model(model.copy())
        space = SentenceSpace(fitted.encoding)
        found = cls(OnlineTagger(fitted), space, model.options, limits)
        return replace(found, origin=model, is_origin=True) if is_origin else found

    @property
    def learner(self) -> Learner:
        """How it learns."""
        return self.tagger.learner

    @property
    def state(self) -> State:
        """The weights, which have room for more features."""
        return self.tagger.state

    @property
    def task(self) -> Any:
        """What an answer is."""
        return self.tagger.state.task

    @property
    def classes(self) -> list[str]:
        """The tags known so far, sorted."""
        return list(self.tagger.tags.outer)

    @property
    def n_features(self) -> int:
        """How many features have weights."""
        return self.tagger.width

    # Answers

    def read(self, sentences: Sequence[Any]) -> MetSentences:
        """Return sentences as they are read, or raise InputError."""
        return self.tagger.met([self.space.plain(sentence) for sentence in sentences])

    def said(self, sentences: Sequence[Any], *, one: bool) -> Said:
        """Return the best paths of sentences; of one that comes alone with its probabilities."""
        met = self.read(sentences)
        if not self.classes or not sentences:
            return Said([(UNKNOWN,) * len(sentence) for sentence in sentences], [])
        own, bounds = self.tagger.tagger(met), met.columns.bounds
        numbers, emissions = own.numbers(met.columns), own.emissions(met.columns)
        paths: list[TagPath] = [tuple(tags) for tags in own.said(numbers, bounds)]
        pieces = np.split(numbers, bounds[1:-1])
        scores = [own.score(*both) for both in zip(pieces, emissions, strict=True)]
        shares, origin = None, self.origin
        if one and self.is_origin and origin is not None and origin.calibration is not None:
            places, (rows,) = own.tags.places, own.shares(emissions, origin.calibration.slope)
            pairs = zip(rows.tolist(), paths[0], strict=True)
            shares = [[row[places[tag]] for row, tag in pairs]]
        return Said(paths, scores, probabilities=shares)

    # Lessons

    def checked(self, answer: Any) -> TagPath:
        """Return the tags of an example, or raise InputError."""
        if not isinstance(answer, tuple):
            raise InputError(f"label must be a list with a tag for each token; got {answer!r:.60}.")
        path = tuple(UNKNOWN if tag is None else tag for tag in answer)
        strange = next((tag for tag in path if not isinstance(tag, str)), None)
        if strange is not None:
            raise InputError(f"A tag must be a word, or null where it is not known: {strange!r}.")
        self._check_tags(path)
        return path

    def _check_tags(self, path: Iterable[str]) -> None:
        known = self.tagger.tags.outer
        new = sorted({*path} - {*known, UNKNOWN})
        if len(known) + len(new) > self.limits.classes:
            raise InputError(
                f"The tag {new[-1]!r:.80} is new and the model has all {self.limits.classes} tags "
                "that it may have."
            )

    def learn(self, sentence: Any, answer: TagPath) -> LessonResult:
        """Learn from one sentence; where it raises, ``undo`` what it may have made room for."""
        self.space.plain(sentence)
        if len(answer) != len(sentence):
            raise InputError(f"The sentence has {len(sentence)} tokens and {len(answer)} tags.")
        said: Any = self.said([sentence], one=False).labels[0]
        masked = (k if tag != UNKNOWN else tag for k, tag in zip(said, answer, strict=True))
        seen = self.state.count
        found, most = self.taught(sentence, answer), self.limits.model_features
        if self.tagger.width > most:
            raise InputError(
                f"The sentence has new features and the model has all {most:,} that it may have."
            )
        step = found.step if found.counts.updates else 0.0
        return LessonResult(
            predicted=tuple(masked),
            mistake=found.counts.mistakes > 0,
            updated=found.counts.updates > 0,
            step=None if self.learner.second_order else step,
            rival=None,
            seen=seen,
            n_classes=len(self.tagger.tags.outer),
        )

    def taught(self, sentence: Any, answer: TagPath) -> "TaughtSentence":
        """Learn from one sentence, and return what it did."""
        met, given = self._ready([(sentence, answer)])
        found = self.tagger.lesson(met, given)
        self._note_learned(met, found.counts.loss)
        parts = found.counts, found.step
        return TaughtSentence(*parts, self.tagger.difference(met, found.truth, found.rival))

    def fold(self, batch: Sequence[tuple[Any, TagPath]]) -> None:
        """Learn from sentences of the journal, which were learned before, in few passes."""
        start = 0
        while start < len(batch):
            known = {*self.tagger.tags.outer, UNKNOWN, *batch[start][1]}
            stop = start + 1
            while stop < len(batch) and known.issuperset(batch[stop][1]):
                stop += 1
            met, given = self._ready(batch[start:stop])
            counts = self.tagger.learn(met, given)
            self._note_learned(met, counts.loss)
            self.tagger.tidy()
            start = stop

    def _ready(self, batch: Sequence[tuple[Any, TagPath]]) -> tuple[MetSentences, TokenTags]:
        """Return sentences and their tags as they are learned; there is room for new tags."""
        lengths = [len(sentence) for sentence, _ in batch]
        given = TokenTags.of_lists([answer for _, answer in batch], lengths)
        before = self.tagger.tags
        self.tagger.add_tags(given.names)
        if self.tagger.tags is not before:
            self._touched = None
        met = self.read([sentence for sentence, _ in batch])
        self._note(met)
        return met, given

    def _note(self, met: MetSentences) -> None:
        """Note what undoes lessons: the weights that they may change, and where they stand."""
        if self._trail is None:
            return
        known = met.numbers[met.numbers >= 0] + self.tagger.first
        rows = np.concatenate([np.arange(self.tagger.first), known])
        self._trail += [(array, rows, array[rows]) for array in _arrays(self.state)]

    def _note_learned(self, met: MetSentences, loss: float) -> None:
        """Note which rows have changed; raise where weights have left the range of float64."""
        self.is_origin, self._n_learned = False, self._n_learned + 1
        own = [self.tagger.places.get(key, -1) for key in met.found.keys.tolist()]
        numbers = np.array(own, np.int64)
        first = self.tagger.first
        rows = np.concatenate([np.arange(first), first + numbers[numbers >= 0]])
        if self._touched is not None:
            self._touched.append(rows)
        if not np.isfinite(loss) or not all(is_finite(one[rows]) for one in _arrays(self.state)):
            raise WeightOverflowError(LESSON_OVERFLOW)

    def begin(self, *, single: bool = False) -> TaggerMark:
        """Return a mark that ``undo`` goes back to."""
        del single  # one sentence may fail when its weights have changed
        self.tagger.tidy()
        self._trail, self._n_learned = [], 0
        tagger, state = self.tagger, replace(self.state)
        return TaggerMark(state, tagger.tags, tagger.width, self.is_origin)

    def undo(self, mark: TaggerMark) -> None:
        """Go back to the mark: nothing since has been learned."""
        trail, self._trail = self._trail or [], None
        for array, rows, values in reversed(trail):
            array[rows] = values
        last = self.tagger.first + self.tagger.width
        self.tagger.go_back(mark.state, mark.tags, mark.width, self._n_learned)
        for array in _arrays(mark.state):
            array[self.tagger.first + mark.width : min(last, len(array) - 1)] = float(
                array is mark.state.variance
            )
        self.is_origin = mark.is_origin

    # What readers see

    def changes(self) -> TaggerChanges:
        """Return what has changed since the last call."""
        tagger, room = self.tagger, len(self.state.weights)
        touched, self._touched = self._touched, []
        rows = None
        if touched is not None and room == self._room:
            rows = np.unique(np.concatenate([np.empty(0, np.int64), *touched]))
            rows = rows[rows < tagger.first + tagger.width]  # others were undone
        self._room = room
        return TaggerChanges(tagger.tags, tagger.width, rows, tagger.copied(rows))

    def apply(self, changes: TaggerChanges) -> None:
        """Change to what another tagger of the same numbering was when it gave these changes."""
        self.tagger.apply(*changes)
        self.is_origin = False

    def view(self) -> "ServedTagger":
        """Return a copy to read from: weights of its own, the numbering shared."""
        return replace(self, tagger=self.tagger.view())

    def model(self) -> Model | None:
        """Return the model as a file has it, in memory of its own; None without a tag."""
        if not self.tagger.tags.inner:
            return None
        if self.is_origin and self.origin is not None:
            return self.origin.copy()
        found: Model = self.tagger.model(self.options)
        return found


class TaughtSentence(NamedTuple):
    """What a sentence did when it was learned."""

    counts: Any
    step: float
    difference: PathDifference  # of the path that gained and the one that lost


def _arrays(state: State) -> list[NDArray[Any]]:
    arrays = (state.weights, state.ledger, state.variance)
    return [array for array in arrays if array is not None]
