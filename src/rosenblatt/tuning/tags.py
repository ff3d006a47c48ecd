"""Models of tags tried on sentences that they have not learned.

They find tags that are probably wrong, and the way to learn that does best.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sequences.encoding import Candidates, WordEncoding
from rosenblatt.data.sequences.files import SentenceFile
from rosenblatt.data.sequences.templates import word_templates
from rosenblatt.data.sequences.words import TokenColumns
from rosenblatt.models.learner import Learner
from rosenblatt.models.sentence_files import (
    learner_of,
    read_all,
    sentence_files,
    template_file,
    token_line,
    words_and_tags,
)
from rosenblatt.models.sequences import SequenceModel, tags_of
from rosenblatt.tasks.marginals import fitted_beta
from rosenblatt.training.holdout import Division, folds

AROUND = 4  # words on either side of a doubtful one
MOST_PASSES = 20
MARGINS: tuple[dict[str, Any], ...] = tuple({"rule": "pa1", "C": C} for C in (1.0, 0.1, 0.03))
SECOND_ORDER: tuple[dict[str, Any], ...] = tuple(
    {"rule": "arow", "r": r} for r in (1.0, 10.0, 100.0)
)
TRIED = (*MARGINS, {"rule": "perceptron"}, *SECOND_ORDER)  # ways to learn
Tell = Callable[[int, int], object]


def no_news(_done: int, _of: int) -> None:
    """Say nothing of how many trainings are done."""


class Corpus:
    """Sentences of files with their tags, for models that learn some and are tried on others."""

    def __init__(
        self,
        paths: Sequence[str],
        *,
        label: str | None = None,
        template: str | None = None,
        transitions: str = "auto",
        format: str | None = None,  # noqa: A002  # as a user says it
        encoding: Mapping[str, Any] | None = None,
    ) -> None:
        self.files = sentence_files(paths, format, **(encoding or {}))
        block = read_all(self.files)
        self.line = token_line(self.files[0], label)
        words, self.given = words_and_tags(self.files[0], block, self.line)
        templates = word_templates() if template is None else template_file(template)
        self.start = WordEncoding.empty(templates, len(words.starts))
        self.columns: TokenColumns = words.take(self.start.layout.columns)
        self.tags, self.told = tags_of(self.given, self.columns.bounds, free=transitions == "free")
        self.own = self.given.inner(self.tags, self.columns.bounds)
        self._candidates: dict[int, Candidates] = {}

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return len(self.columns.bounds) - 1

    def divisions(self, n_folds: int, seed: Any) -> list[Division]:
        """Return folds of sentences; those of the same words are in one fold."""
        first: dict[tuple[bytes, ...], int] = {}
        text, bounds = self.columns.text.tobytes(), self.columns.bounds.tolist()
        places = [
            *zip(self.columns.starts[0].tolist(), self.columns.stops[0].tolist(), strict=True)
        ]
        numbers = []
        for i in range(self.n_sentences):
            words = tuple(text[a:b] for a, b in places[bounds[i] : bounds[i + 1]])
            numbers.append(first.setdefault(words, i))
        zeros = np.zeros(self.n_sentences, np.int64)
        return folds(zeros, n_folds, seed, first=np.array(numbers))

    def model_without(
        self, learner: Learner, tried: NDArray[np.int64], min_count: int = 1, patience: int = 0
    ) -> SequenceModel:
        """Return a model that has learned all sentences but those tried."""
        if min_count not in self._candidates:
            self._candidates[min_count] = self.start.candidates(self.columns, min_count)
        base = SequenceModel.begin(learner, self.start, self.tags.outer, free=True)
        base = replace(base.with_tags(self.tags), told=[])
        generator = np.random.default_rng(learner.random_state)
        candidates = self._candidates[min_count]
        return base.apart(candidates, self.own, tried, generator, patience)


class TagSuspect(NamedTuple):
    """A token whose tag is probably wrong."""

    file: str
    line: int
    word: str
    label: str
    suggested: str
    probability: float  # that the tag is right, by models that have not seen the sentence
    sentence: list[str]  # its words
    place: int  # the word among them


@dataclass(frozen=True)
class TagAudit:
    """Tokens that models of the other sentences tag otherwise, the least probable tag first."""

    suspects: list[TagSuspect]
    n_tokens: int
    n_sentences: int
    folds: int
    title: str
    notes: list[str] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        found = {"tokens": self.n_tokens, "sentences": self.n_sentences, "folds": self.folds}
        rows = [suspect._asdict() for suspect in self.suspects]
        return found | {"learner": self.title, "n_suspects": len(rows), "suspects": rows}


def audit_tags(
    corpus: Corpus,
    learner: Learner,
    *,
    n_folds: int = 5,
    min_count: int = 1,
    tell: Tell = no_news,
) -> TagAudit:
    """Return tokens whose tags are probably wrong, the least probable tag first.

    Sentences of each fold are scored by a model of all others. One temperature, fitted to all
    of them, makes probabilities of the scores of paths.
    """
    scores: list[NDArray[Any]] = [np.empty(0)] * corpus.n_sentences
    truth: list[NDArray[Any]] = [np.empty(0, np.int32)] * corpus.n_sentences
    bounds, parts = corpus.columns.bounds, []
    for number, division in enumerate(corpus.divisions(n_folds, learner.random_state), 1):
        tagger = corpus.model_without(learner, division.tried, min_count).tagger
        emissions = tagger.emissions(corpus.columns)
        for i in division.tried.tolist():
            scores[i], truth[i] = emissions[i], corpus.own[bounds[i] : bounds[i + 1]]
        parts.append((division.tried.tolist(), tagger))
        tell(number, n_folds)
    steps = [tagger.steps for _, tagger in parts]
    beta = float(
        np.median(
            [
                fitted_beta([scores[i] for i in own], [truth[i] for i in own], one)
                for (own, _), one in zip(parts, steps, strict=True)
            ]
        )
    )
    doubts: dict[int, tuple[str, float]] = {}  # by token
    names = corpus.given.names
    places = np.array([corpus.tags.places.get(name, -1) for name in names])
    for own, tagger in parts:
        for i, shares in zip(own, tagger.shares([scores[i] for i in own], beta), strict=True):
            given = corpus.given.numbers[bounds[i] : bounds[i + 1]]
            for t in np.flatnonzero(given >= 0).tolist():
                best, place = int(shares[t].argmax()), int(places[given[t]])
                if best != place:
                    found = corpus.tags.outer[best], float(shares[t, place])
                    doubts[int(bounds[i]) + t] = found
    suspects = sorted(_suspects(corpus, doubts), key=lambda one: one.probability)
    n_tokens = int(np.count_nonzero(corpus.given.numbers >= 0))
    title = learner.title
    return TagAudit(suspects, n_tokens, corpus.n_sentences, n_folds, title, corpus.told)


def _suspects(corpus: Corpus, doubts: Mapping[int, tuple[str, float]]) -> Iterator[TagSuspect]:
    """Yield the tokens of these numbers, as they stand in the files."""
    before = 0
    for file in corpus.files:
        again = SentenceFile.of(
            file.source, file.format, encoding=file.encoding, encoding_errors=file.encoding_errors
        )
        for block in again.blocks():
            bounds, n = block.columns.bounds, block.columns.n_tokens
            here = [token - before for token in doubts if before <= token < before + n]
            labels = block.columns.cells(corpus.line.label) if here else []
            words = block.columns.cells(corpus.line.words_of(corpus.line.width)[0]) if here else []
            for token in here:
                sentence = int(np.searchsorted(bounds, token, side="right")) - 1
                first, last = int(bounds[sentence]), int(bounds[sentence + 1])
                suggested, probability = doubts[before + token]
                yield TagSuspect(
                    *(file.name, block.line_of(token), words[token], labels[token], suggested),
                    *(probability, words[first:last], token - first),
                )
            before += n


class TagTrial(NamedTuple):
    """A way to learn, and how it did on sentences that it had not learned."""

    options: dict[str, Any]
    errors: list[float]  # share of wrong tokens, of each fold
    passes: int  # that did best
    seconds: float

    @property
    def error(self) -> float:
        """The mean error."""
        return sum(self.errors) / len(self.errors)

    @property
    def name(self) -> str:
        """What was tried, in words."""
        return ", ".join(str(v) if k == "rule" else f"{k} {v:g}" for k, v in self.options.items())


def tune_tags(
    corpus: Corpus,
    fixed: Mapping[str, Any],
    *,
    n_folds: int = 1,
    time_limit: float | None = None,
    tell: Tell = no_news,
) -> list[TagTrial]:
    """Return ways to learn, the best first, each with its best number of passes.

    What is ``fixed`` is not tried. With one fold a fifth of the sentences is held out.
    """
    began = perf_counter()
    ways = [way for way in TRIED if _agrees(way, fixed)] or [{}]
    seed = fixed.get("random_state", 0)
    divisions = corpus.divisions(max(n_folds, 5), seed)[:n_folds]
    trials: list[TagTrial] = []
    for number, way in enumerate(ways):
        trials.append(_trial(corpus, way, fixed, divisions))
        tell(number + 1, len(ways) + 1)
        if time_limit is not None and perf_counter() - began > time_limit:
            break
    else:
        if "min_count" not in fixed:
            best = min(trials, key=lambda one: one.error)
            way = {k: v for k, v in best.options.items() if k != "max_iter"}
            trials.append(_trial(corpus, way | {"min_count": 2}, fixed, divisions))
    return sorted(trials, key=lambda one: one.error)


def _agrees(way: Mapping[str, Any], fixed: Mapping[str, Any]) -> bool:
    return all(fixed.get(name, value) == value for name, value in way.items()) and (
        "rule" in way or "rule" not in fixed
    )


def _trial(
    corpus: Corpus,
    way: Mapping[str, Any],
    fixed: Mapping[str, Any],
    divisions: Sequence[Division],
) -> TagTrial:
    """Return how a way to learn does, by the curve of its passes."""
    began, both = perf_counter(), {**fixed, **way}
    min_count = both.pop("min_count", 1)
    most = both.pop("max_iter", MOST_PASSES)
    learner = learner_of(**both, max_iter=most)
    curves = []
    for division in divisions:
        found = corpus.model_without(learner, division.tried, min_count, patience=MOST_PASSES)
        scores = [1.0 - (record.validation_score or 0.0) for record in found.outcome.history]
        curves.append([*scores, *[scores[-1]] * (most - len(scores))])
    means = np.mean(curves, axis=0)
    best = int(means.argmin()) if "max_iter" not in fixed else len(means) - 1
    errors = [curve[best] for curve in curves]
    chosen = {**way, "max_iter": best + 1}
    return TagTrial(chosen, errors, best + 1, perf_counter() - began)
