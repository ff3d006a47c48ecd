"""Models of sequences: weights, an encoding of tokens and tags, learned together and stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sequences.encoding import Candidates, SentenceEncoding, stored_encoding
from rosenblatt.errors import InputError
from rosenblatt.kernels.sequences.paths import EDGES, Sentences
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.learner import Learner, generator_from
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.record import Json, Record, TrainingFacts
from rosenblatt.models.tagger import ANY, UNKNOWN, Tagger, Tags
from rosenblatt.models.weights import weights_of
from rosenblatt.tasks.calibration import Calibration
from rosenblatt.tasks.marginals import fitted_beta
from rosenblatt.tasks.phrases import barred_steps, breaks, closed, divided, scheme_of
from rosenblatt.tasks.sequences import MOST_TAGS, Sequences, no_bars, rows_for
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.holdout import HoldOut
from rosenblatt.training.loop import EarlyStopping
from rosenblatt.training.sequences import fit_sentences, sentence_examples, trimmed, with_room
from rosenblatt.training.state import State

BROKEN = (
    "The tags look like {scheme}, but some follow others as {scheme} does not allow, for example "
    "I-X behind O; so any tag may follow any other."
)
VOCABULARY = "vocabulary"  # under which a file has the marks of words of training
FEWEST_APART = 10  # sentences that a temperature is fitted to


class TokenTags(NamedTuple):
    """The tags of tokens as they are given: their names, and the number of each token's."""

    names: tuple[str, ...]
    numbers: NDArray[np.int32]  # ``ANY``: not known

    @classmethod
    def of_names(cls, names: Sequence[str], numbers: NDArray[Any]) -> "TokenTags":
        """Return tags by their names in any order, of which "?" is none."""
        known = sorted({*names} - {UNKNOWN})
        place = {name: number for number, name in enumerate(known)}
        table = np.array([place.get(name, ANY) for name in names], np.int32)
        return cls(tuple(known), table[numbers] if len(names) else np.empty(0, np.int32))

    @classmethod
    def of_lists(cls, y: Sequence[Sequence[Any]], lengths: Sequence[int]) -> "TokenTags":
        """Return the tags of sentences of these lengths, of which None and "?" are none."""
        if len(y) != len(lengths):
            raise InputError(f"X has {len(lengths)} sentences and y has {len(y)}.")
        seen: dict[str, int] = {}
        numbers = []
        for i, (tags, length) in enumerate(zip(y, lengths, strict=True)):
            if isinstance(tags, str) or len(tags) != length:
                raise InputError(
                    f"Sentence {i} has {length} tokens and {len(tags)} tags; y must be a list of "
                    "tags for each sentence."
                )
            for tag in tags:
                name = UNKNOWN if tag is None else str(tag)
                numbers.append(seen.setdefault(name, len(seen)))
        return cls.of_names([*seen], np.array(numbers, np.int32))

    def inner(self, tags: Tags, bounds: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers of the inner tags of a model."""
        place = {tag: number for number, tag in enumerate(tags.inner)}
        if not tags.reopened:
            table = np.array([place[name] for name in self.names], np.int32)
        else:
            table = np.array(
                [
                    [
                        place.get(closed([name, behind])[0], ANY)
                        for behind in ("O", f"I-{divided(name)[1]}")
                    ]
                    for name in self.names
                ],
                np.int32,
            ).reshape(len(self.names), 2)
        found = np.full(len(self.numbers), ANY, np.int32)
        known = self.numbers >= 0
        if not tags.reopened:
            found[known] = table[self.numbers[known]]
            return found
        kinds = [divided(name)[1] for name in self.names]
        goes_on = np.array(
            [[two == f"I-{kind}" for two in self.names] for kind in kinds], bool
        ).reshape(len(self.names), len(self.names))
        here, behind = self.numbers[:-1], self.numbers[1:]
        more = np.zeros(len(self.numbers), bool)
        both = (here >= 0) & (behind >= 0)
        more[:-1][both] = goes_on[here[both], behind[both]]
        last = bounds[1:][np.diff(bounds) > 0] - 1
        more[last] = False
        found[known] = table[self.numbers[known], more[known].astype(int)]
        open_end = np.zeros(len(self.numbers), bool)  # before a token whose tag is not known
        open_end[:-1] = (here >= 0) & (behind < 0)
        open_end[last] = False
        phrase = np.array([name != "O" for name in self.names], bool)
        open_end[known] &= phrase[self.numbers[known]]
        found[open_end] = ANY
        return found


def tags_of(given: TokenTags, bounds: NDArray[Any], *, free: bool) -> tuple[Tags, list[str]]:
    """Return the tags of a model that learns these, and what is to be told of them.

    BIO is learned as IOBES where all tags are known. ``free``: any tag may follow any other.
    """
    scheme = scheme_of(given.names)
    plain = Tags(given.names, scheme, strict=bool(scheme) and not free)
    if not plain.strict:
        return plain, []
    if breaks(given.numbers, bounds, barred_steps(given.names, scheme)):
        return replace(plain, strict=False), [BROKEN.format(scheme=scheme)]
    if scheme != "BIO" or (given.numbers < 0).any():
        return plain, []
    return closed_tags(given.names), []


def closed_tags(names: Sequence[str]) -> Tags:
    """Return the tags of a model that learns BIO as IOBES."""
    found = {"O"} & {*names}
    for letter, kind in map(divided, {*names} - {"O"}):  # of some kinds all phrases are one token
        found |= {f"{own}-{kind}" for own in ("S" if letter == "B" else "BIES")}
    return Tags(tuple(sorted(found)), "IOBES", reopened=True)


def with_tags(old: Tags, state: State, names: Sequence[str]) -> tuple[Tags, State]:
    """Return tags with these among them, and a state in which new ones have weights of zero."""
    if old.reopened:
        tags = closed_tags([*old.outer, *names])
    else:
        inner = tuple(sorted({*old.inner, *names}))
        scheme = scheme_of(inner)
        tags = Tags(inner, scheme, strict=old.strict and scheme == old.scheme)
    kept = np.array([tags.inner.index(tag) for tag in old.inner], np.int64)
    n_old, n_new = len(old.inner), len(tags.inner)
    rows = np.concatenate([kept, np.arange(n_new, n_new + len(state.weights) - n_old)])
    parts: dict[str, Any] = {}
    for name in ("weights", "ledger", "variance"):
        array = getattr(state, name)
        if array is not None:
            make = np.ones if name == "variance" else np.zeros
            parts[name] = make((len(array) + n_new - n_old, n_new))
            parts[name][np.ix_(rows, kept)] = array
    return tags, replace(state, **parts, task=Sequences(n_new), _average=None)


@dataclass
class SequenceModel:
    """What gives tags to tokens, and learns on."""

    learner: Learner
    encoding: SentenceEncoding
    tags: Tags
    state: State
    outcome: Outcome = field(default_factory=lambda: Outcome([], "max_iter", 0))
    calibration: Calibration | None = None  # its slope is the inverse of the temperature
    told: list[str] = field(default_factory=list)
    training: TrainingFacts = field(default_factory=TrainingFacts)
    vocabulary: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))

    @classmethod
    def fit(
        cls,
        learner: Learner,
        encoding: SentenceEncoding,
        columns: Any,
        given: TokenTags,
        *,
        min_count: int = 1,
        free: bool = False,
        calibrate: bool = False,
        observers: Sequence[Observer] = (),
    ) -> "SequenceModel":
        """Return the model of passes over sentences."""
        if not given.names:
            raise InputError("There is no tag to learn: give sentences with tags.")
        tags, told = tags_of(given, columns.bounds, free=free)
        if len(tags.inner) > MOST_TAGS:
            raise InputError(f"There are {len(tags.inner)} tags, and at most {MOST_TAGS} can be.")
        model = cls(learner, encoding, tags, _zeros(learner, len(tags.inner)), told=told)
        candidates = encoding.candidates(columns, min_count)
        own = given.inner(tags, columns.bounds)
        generator = generator_from(learner.random_state)
        if calibrate:
            model._calibrate(columns, candidates, own, generator)
        model._learn(candidates, own, learner, generator, observers)
        model.vocabulary = np.unique(encoding.marks(columns))
        model.training = {"n_rows": len(columns.bounds) - 1, "n_tokens": columns.n_tokens}
        return model

    @classmethod
    def begin(
        cls, learner: Learner, encoding: SentenceEncoding, names: Sequence[str], *, free: bool
    ) -> "SequenceModel":
        """Return the model before its first sentence, of tags of these names."""
        scheme = scheme_of(names)
        tags = Tags(tuple(names), scheme, strict=bool(scheme) and not free)
        if tags.strict and scheme == "BIO":
            tags = closed_tags(names)
        return cls(learner, encoding, tags, _zeros(learner, len(tags.inner)))

    def with_tags(self, tags: Tags) -> "SequenceModel":
        """Return the model before its first sentence, of other tags."""
        return replace(self, tags=tags, state=_zeros(self.learner, len(tags.inner)))

    def learn_on(self, columns: Any, given: TokenTags) -> None:
        """Go on learning: one pass over these sentences, in the order given."""
        self.add_tags(given.names)
        once = replace(self.learner, max_iter=1, shuffle=False, early_stopping=False)
        before = self.outcome
        candidates = self.encoding.candidates(columns)
        own = given.inner(self.tags, columns.bounds)
        self._learn(candidates, own, once, np.random.default_rng(0))
        self.outcome = replace(before, n_rows=before.n_rows)
        self.vocabulary = np.union1d(self.vocabulary, self.encoding.marks(columns))

    def _learn(
        self,
        candidates: Candidates,
        own: NDArray[np.int32],
        learner: Learner,
        generator: "np.random.Generator",
        observers: Sequence[Observer] = (),
    ) -> None:
        state, rows = self._ready(candidates)
        examples = sentence_examples(rows, own)
        self.outcome = fit_sentences(state, examples, learner.plan(), generator, observers)
        self.state = trimmed(state, int(rows.places.n_rows[0]))
        self.encoding = self.encoding.extended(candidates, rows.places.rows)
        self.__dict__.pop("tagger", None)

    def _ready(self, candidates: Candidates) -> tuple[State, Sentences]:
        """Return a state with room for candidates, and the sentences that have them."""
        n_tags = len(self.tags.inner)
        n_features = candidates.n_known + len(candidates.keys)
        places = rows_for(n_features, n_tags, candidates.n_known)
        n_rows = n_tags + EDGES + n_features
        one_each = np.eye(n_tags, dtype=bool)
        bars = self.tags.barred if self.tags.strict else no_bars(n_tags)
        rows = Sentences(*candidates[:4], places, bars, one_each, n_rows)
        return with_room(self.state, n_rows), rows

    def _calibrate(
        self,
        columns: Any,
        candidates: Candidates,
        own: NDArray[np.int32],
        generator: "np.random.Generator",
    ) -> None:
        """Fit the temperature to sentences that a model of all others scores."""
        n = len(columns.bounds) - 1
        share = min(max(self.learner.plan(hold_out=True).holdout, FEWEST_APART / max(n, 1)), 0.5)
        holdout = HoldOut.of_classes(np.zeros(n), share, generator)
        tried = holdout.between(0, n).tried
        numbers = tried.tolist()
        if not numbers:
            raise InputError(f"{n} sentences are too few to fit probabilities to; give more.")
        other = self.apart(candidates, own, tried, generator)
        scores = other.tagger.emissions(columns)
        truth = [own[columns.bounds[i] : columns.bounds[i + 1]] for i in numbers]
        beta = fitted_beta([scores[i] for i in numbers], truth, other.tagger.steps)
        self.calibration = Calibration(slope=beta, offset=0.0, n_rows=len(numbers))

    def apart(
        self,
        candidates: Candidates,
        own: NDArray[np.int32],
        tried: NDArray[np.int64],
        generator: "np.random.Generator",
        patience: int = 0,
    ) -> "SequenceModel":
        """Return a model that has learned all sentences but those tried.

        With ``patience``, passes without a better score on these that are waited for, its history
        has the scores.
        """
        state, rows = self._ready(candidates)
        stopping = EarlyStopping(0.0, patience) if patience else None
        plan = replace(self.learner.plan(), early_stopping=stopping)
        examples = sentence_examples(rows, own, tried)
        outcome = fit_sentences(state, examples, plan, generator)
        return replace(
            self,
            state=trimmed(state, int(rows.places.n_rows[0])),
            encoding=self.encoding.extended(candidates, rows.places.rows),
            outcome=outcome,
        )

    def add_tags(self, names: Sequence[str]) -> None:
        """Take in tags, whose weights have been zero until now."""
        if not {*names} <= {*self.tags.outer}:
            self.tags, self.state = with_tags(self.tags, self.state, names)
            self.__dict__.pop("tagger", None)

    @cached_property
    def tagger(self) -> Tagger:
        """What answers, by the weights that decide."""
        return Tagger(self.encoding, self.state.average(), self.tags)

    @property
    def beta(self) -> float:
        """The inverse of the temperature; raise InputError where none was fitted."""
        if self.calibration is None:
            raise InputError("The model has no probabilities: train it with calibrate.")
        return self.calibration.slope

    def as_model(self, options: dict[str, Json]) -> Model:
        """Return all of it as a model file holds it."""
        tags = self.tags
        own = {"scheme": tags.scheme, "reopened": tags.reopened, "strict": tags.strict}
        facts: TrainingFacts = {**self.training, "label_type": "|O", "tags": own}
        return Model(
            LearnerRecord.of(self.learner, Sequences.estimator, options),
            tags.inner,
            weights_of(self.learner, self.state),
            record=Record.of(self.outcome, facts),
            stored_encoding=StoredEncoding(self.encoding.as_json(), self.encoding.arrays()),
            calibration=self.calibration,
            arrays={VOCABULARY: self.vocabulary},
        )

    @classmethod
    def of_model(cls, model: Model) -> "SequenceModel":
        """Return what a model file holds, ready to answer and to learn on."""
        if not isinstance(model.task, Sequences):
            raise InputError(f"A {model.learner} does not give tags to tokens of sentences.")
        own = model.training.get("tags") or {}
        tags = Tags(tuple(map(str, model.classes)), **own)
        if tags.scheme:
            barred_steps(tags.inner, tags.scheme)
        encoding = stored_encoding(model.encoding, model.encoding_arrays)
        state = model.state
        state.arrange(by_feature=True)
        if state.n_features != encoding.n_features + len(tags.inner) + EDGES:
            raise InputError("its weights and its features do not fit together.")
        outcome = Outcome(
            model.record.passes, model.outcome["stop_reason"], model.outcome["best_pass"]
        )
        known = model.arrays.get(VOCABULARY, np.empty(0, np.uint32))
        return cls(
            *(model.made_by.learner, encoding, tags, state, outcome),
            calibration=model.calibration,
            training=model.training,
            vocabulary=known,
        )


def _zeros(learner: Learner, n_tags: int) -> State:
    """Return the state before the first sentence."""
    state = learner.start(n_tags + EDGES, n_tags, by_feature=True)
    state.arrange(by_feature=True)  # of one tag, too
    return state
