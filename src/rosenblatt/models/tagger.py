"""Gives tokens their tags: the best path, the n best, and how probable tags and phrases are."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sequences.encoding import SentenceEncoding, WordEncoding
from rosenblatt.data.sequences.words import TokenColumns, WordTable, slots_for
from rosenblatt.errors import InputError
from rosenblatt.kernels.sequences.paths import EDGES, END, START, Sentences, sentence_scores
from rosenblatt.kernels.sequences.tagging import (
    Answers,
    Groups,
    Ranks,
    best_paths,
    tag_sentences,
    token_scores,
    write_sums,
)
from rosenblatt.kernels.sequences.words import Combinations, find_keys, write_keys
from rosenblatt.tasks.marginals import Marginals, marginals
from rosenblatt.tasks.phrases import barred_steps, reopened
from rosenblatt.tasks.sequences import best_tags, lattice_for, rows_for

MOST_WORDS = 1 << 17  # that the sums of groups are kept for
UNKNOWN = "?"  # the tag of a token that has none yet
ANY = -1  # the number that stands for it


@dataclass(frozen=True)
class Tags:
    """The tags of a model, as they are learned, and as they are given and said."""

    inner: tuple[str, ...]  # sorted
    scheme: str = ""  # of the inner ones
    reopened: bool = False  # whether BIO is given and said where IOBES is learned
    strict: bool = True  # whether steps that the scheme forbids are impossible

    @cached_property
    def said(self) -> tuple[str, ...]:
        """What is said for each inner tag."""
        return tuple(map(reopened, self.inner)) if self.reopened else self.inner

    @cached_property
    def outer(self) -> tuple[str, ...]:
        """The tags as they are said, sorted."""
        return tuple(sorted({*self.said}))

    @cached_property
    def barred(self) -> NDArray[np.bool_]:
        """Which steps are impossible."""
        return barred_steps(self.inner, self.scheme if self.strict else "")

    @cached_property
    def sets(self) -> NDArray[np.bool_]:
        """Which inner tags each outer one stands for."""
        return np.array([[said == one for said in self.said] for one in self.outer], bool).reshape(
            len(self.outer), len(self.inner)
        )

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each outer tag."""
        return {tag: k for k, tag in enumerate(self.outer)}

    def forced(self, tags: Sequence[Sequence[str | None]], bounds: NDArray[Any]) -> Any:
        """Return tags that tokens must have as numbers of outer tags, ``ANY`` for None or "?"."""
        lengths = [*map(len, tags)]
        if lengths != np.diff(bounds).tolist():
            raise InputError("forced must have a tag or None for each token of each sentence.")
        flat = [ANY if t in (None, UNKNOWN) else self.places.get(t, -2) for s in tags for t in s]
        if -2 in flat:
            strange = next(t for s in tags for t in s if t not in (None, UNKNOWN, *self.outer))
            raise InputError(
                f"The model knows no tag {strange!r:.60}; it knows {', '.join(self.outer[:12])}."
            )
        return np.array(flat, np.int32)


class Path(NamedTuple):
    """One of the best paths of a sentence."""

    tags: list[str]
    score: float


class Tagger:
    """Weights, the encoding that gives their rows, and tags: what answers sentences."""

    def __init__(self, encoding: SentenceEncoding, weights: NDArray[Any], tags: Tags) -> None:
        self.encoding, self.tags = encoding, tags
        self.w = np.ascontiguousarray(weights)
        self.steps = np.where(tags.barred, -np.inf, self.w[: len(tags.inner) + EDGES])
        self._sums: WordSums | None = None
        if isinstance(encoding, WordEncoding):
            self._sums = WordSums(encoding, self.w)

    def columns(self, X: Sequence[Sequence[Any]]) -> Any:
        """Return sentences as the encoding reads them."""
        return self.encoding.columns(X)

    def numbers(self, columns: Any, forced: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """Return the inner tag of each token; ``forced`` are numbers of outer tags."""
        given = np.empty(0, np.int32) if forced is None else forced
        if self._sums is None:
            rows = self._rows(columns)
            order = np.arange(rows.shape[0])
            return best_tags(rows, order, self.w, given)
        words, how = self._sums.ready(columns)
        longest = int(np.diff(columns.bounds).max(initial=1))
        emissions, best = np.empty((2, longest, self.w.shape[1]))
        found = np.full(columns.n_tokens, ANY, np.int32)
        room = Answers(given, self.tags.sets, self.steps, emissions, best, found)
        tag_sentences(words, columns.bounds, *how, self.w, room)
        return found

    def _rows(self, columns: Any) -> Sentences:
        """Return sentences with the rows of features that have weights."""
        candidates, n_tags = self.encoding.candidates(columns), len(self.tags.inner)
        n_features = candidates.n_known + len(candidates.keys)
        places = rows_for(n_features, n_tags, candidates.n_known)
        tags = self.tags.barred, self.tags.sets
        return Sentences(*candidates[:4], places, *tags, len(self.w) - 1)

    def said(self, numbers: NDArray[Any], bounds: NDArray[Any]) -> list[list[str]]:
        """Return inner tags of tokens as lists of outer ones, one a sentence."""
        names = np.array(self.tags.said, object)[numbers].tolist()
        ends = bounds.tolist()
        return [names[a:b] for a, b in itertools.pairwise(ends)]

    def emissions(self, columns: Any) -> list[NDArray[np.float64]]:
        """Return for each sentence what each tag of each token scores."""
        bounds, n_tags = columns.bounds, self.w.shape[1]
        lengths = np.diff(bounds).tolist()
        found = [np.empty((length, n_tags)) for length in lengths]
        if self._sums is None:
            rows = self._rows(columns)
            room = lattice_for(rows, n_tags)
            for i, length in enumerate(lengths):
                sentence_scores(rows, self.w, i, room)
                found[i][:] = room.emissions[:length]
            return found
        words, how = self._sums.ready(columns)
        for i in range(len(lengths)):
            token_scores(words, bounds, i, *how, self.w, found[i])
        return found

    def score(self, path: NDArray[Any], scores: NDArray[np.float64]) -> float:
        """Return the score of a path, by what each tag of each token scores."""
        n, n_tags = len(path), self.w.shape[1]
        if not n:
            return 0.0
        ends = self.steps[n_tags + START, path[0]] + self.steps[n_tags + END, path[-1]]
        steps = self.steps[path[:-1], path[1:]].sum()
        return float(scores[np.arange(n), path].sum() + steps + ends)

    def paths(self, columns: Any, n: int) -> list[list[Path]]:
        """Return the n best paths of each sentence, the best first; of an empty one none."""
        said, found = np.array(self.tags.said, object), []
        for scores in self.emissions(columns):
            length, n_tags = scores.shape
            before, ranks = np.zeros((2, length, n_tags, n), np.int32)
            taken = np.zeros(n_tags, np.int64)
            room = Ranks(np.empty((length, n_tags, n)), before, ranks, taken)
            paths, totals = np.zeros((n, length), np.int32), np.zeros(n)
            many = best_paths(length, scores, self.steps, room, paths, totals) if length else 0
            found.append([Path(said[paths[r]].tolist(), float(totals[r])) for r in range(many)])
        return found

    def marginals(self, columns: Any, beta: float) -> list[Marginals]:
        """Return the sums over the paths of each sentence."""
        return marginals(self.emissions(columns), self.steps, beta)

    def probabilities(self, columns: Any, beta: float) -> list[NDArray[np.float64]]:
        """Return for each sentence the probability of each outer tag of each token."""
        return self.shares(self.emissions(columns), beta)

    def shares(
        self, scores: Sequence[NDArray[np.float64]], beta: float
    ) -> list[NDArray[np.float64]]:
        """Return the same by what each tag of each token scores."""
        outer = self.tags.sets.T.astype(np.float64)
        return [one.tags @ outer for one in marginals(scores, self.steps, beta)]


Scoring = tuple[Groups, Combinations, NDArray[np.uint64], NDArray[np.uint64]]


class WordSums:
    """The words that a tagger has met, with the sums of the weights of their templates."""

    def __init__(self, encoding: WordEncoding, w: NDArray[Any]) -> None:
        self._encoding, self._w = encoding, w
        self._slots = slots_for(encoding.keys, encoding.n_features)
        self._slots[self._slots[:, 1] > 0, 1] += np.uint64(w.shape[1] + EDGES)  # rows
        self._begin()

    def _begin(self) -> None:
        layout = self._encoding.layout
        self._words = WordTable(layout.columns)
        self._n = 0
        self._groups = Groups(
            layout.offsets[layout.groups[:-1]],
            layout.places[layout.groups[:-1]],
            np.empty((len(layout.groups) - 1, 0, self._w.shape[1])),
        )

    def ready(self, columns: TokenColumns) -> "tuple[NDArray[np.int32], Scoring]":
        """Return the words of tokens, and what a kernel scores them by."""
        if self._words.n > MOST_WORDS:
            self._begin()
        numbers, layout, words = self._words.numbers(columns), self._encoding.layout, self._words
        if words.n > self._n:
            n, sums = self._n, self._groups.sums
            if words.n > sums.shape[1]:
                wide = np.empty((len(sums), 2 * words.n, sums.shape[2]))
                wide[:, :n] = sums[:, :n]
                sums = wide
            keys = np.empty((words.n, layout.n_singles), np.uint64)
            write_keys(
                *(words.functions, n, words.n, words.column),
                *(layout.places, layout.functions, layout.seeds, keys),
            )
            rows = np.full(keys.shape, -1, np.int32)
            find_keys(keys[n:].reshape(-1), self._slots, rows[n:].reshape(-1))
            write_sums(rows, n, words.n, layout.groups, self._w, sums)
            self._groups, self._n = self._groups._replace(sums=sums), words.n
        return numbers, (self._groups, layout.combinations, words.functions, self._slots)
