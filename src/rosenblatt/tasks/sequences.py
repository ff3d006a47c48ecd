"""Paths of tags: a sentence is a row, and its answer has a tag for each token."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.counts import Counts, Log, empty_log
from rosenblatt.kernels.second_order import GaussianWeights
from rosenblatt.kernels.sequences.passes import path_pass, second_order_path_pass
from rosenblatt.kernels.sequences.paths import (
    EDGES,
    NO_ROW,
    TAG_BITS,
    Differences,
    Lattice,
    Places,
    Sentences,
    tag_rows,
)
from rosenblatt.rules import Rule
from rosenblatt.tasks.certainty import SentenceCertainty
from rosenblatt.tasks.task import Call, Part, Task, Vectors, or_empty

USUAL_COST = 1.0  # of a wrong token, where no finite margin is wanted
MOST_TAGS = 1 << TAG_BITS


def _not_asked(*_: Any, **__: Any) -> Any:
    """Raise InputError: a path is no answer of the kind that is asked for."""
    raise InputError(
        "This is not available for a model of sequences, which gives each token of a sentence a "
        "tag; predict, evaluate, weights, explain and prune are."
    )


Room = tuple[Lattice, Differences, Log]  # of a pass


class PathLesson(NamedTuple):
    """What one sentence did when it was learned."""

    counts: Counts
    step: float  # τ, or α of a rule of second order
    truth: NDArray[np.int32]  # the path that gained: the best one that agrees with the tags
    rival: NDArray[np.int32]  # the path that lost, if there was a step


@dataclass(frozen=True)
class Sequences(Task):
    """Each token of a sentence has one of several tags; a mistake is a wrong path."""

    name: ClassVar[str] = "sequences"
    noun: ClassVar[str] = "tag"
    nouns: ClassVar[str] = "tags"
    column: ClassVar[str] = "tags"
    rows: ClassVar[str] = "sentences"
    gives: ClassVar[str] = "for each token one of"
    fewest: ClassVar[int] = 1
    estimator: ClassVar[str] = "SequencePerceptron"
    rule: ClassVar[str] = "pa1"
    passes_of_averages: ClassVar[int] = 15
    races: ClassVar[bool] = False
    apart: ClassVar[type[SentenceCertainty]] = SentenceCertainty

    def check(self, *, memory: str, rule: str) -> None:
        """Raise InputError for a memory that sequences cannot have."""
        if memory == "vote":
            raise InputError("Sequences have no vote; use the average or the last weights.")

    def kernel_call(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int, log: Log
    ) -> Call:
        """Return the kernel of a pass that changes this state, and its arguments."""
        return self._call(state, part, order, rule, (*room_for(part.rows, self.n_classes), log))

    def _call(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, room: Room
    ) -> Call:
        rows: Any = part.rows
        tags = (part.sets or (np.empty(0, np.int32),))[0]
        given = rows, tags, or_empty(part.weight), order, rule, cost_of(rule)
        u = or_empty(state.ledger, ndim=2)
        if state.variance is None:
            return path_pass, (*given, room, state.weights, u, state.count)
        gaussian = GaussianWeights(state.weights, state.variance)
        return second_order_path_pass, (*given, room, gaussian, u, state.count)

    def lesson(self, state: Vectors, part: Part, rule: Rule) -> PathLesson:
        """Change the weights by the one sentence of a part; return what it did."""
        rows: Any = part.rows
        lattice, found = room_for(rows, self.n_classes)
        log = empty_log(1)
        kernel, arguments = self._call(state, part, part.order, rule, (lattice, found, log))
        counts: Counts = kernel(*arguments)
        n = int(rows.bounds[-1])
        step = log.tau.item() if counts.updates else 0.0
        return PathLesson(counts, step, lattice.truth[:n], lattice.path[:n])

    def tried_loss(
        self, state: Any, parts: Iterable[Part], zero: int, average: Callable[[], NDArray[Any]]
    ) -> float:
        """Return the share of tokens that have a wrong tag, times the number of sentences."""
        wrong = n_tokens = n_sentences = 0
        for part in parts:
            rows: Any = part.rows
            tags = (part.sets or (np.empty(0, np.int32),))[0]
            found = best_tags(rows, part.order, average())
            judged = np.zeros(len(tags), bool)
            for i in part.order.tolist():
                judged[rows.bounds[i] : rows.bounds[i + 1]] = True
            judged &= tags >= 0
            wrong += int(np.count_nonzero(found[judged] != tags[judged]))
            n_tokens += int(np.count_nonzero(judged))
            n_sentences += len(part.order)
        return wrong / max(n_tokens, 1) * n_sentences

    def targets(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of sentences, whose tags stand beside them."""
        return numbers

    def numbers(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of sentences."""
        return targets

    def fits(self, answer: Any) -> bool:
        """Return whether an answer is a path: only where sentences are learned from."""
        return False

    answers = labels_of = check_labels = form_of_y = decision_graph = read = sides = _not_asked
    strata = losses = measure = confidence = fit = probabilities = values = sure = _not_asked
    most_frequent = one_answer = misjudged = class_numbers = class_counts = _not_asked
    wrong_rows = error_on = tried_error = tried_line = nothing_held_out = _not_asked
    doubts = explained = decision_lines = evaluation = truths = right = members = _not_asked
    joined = given = default = winners = joint_probabilities = doubted = certainty = _not_asked
    of_arrays = named = told_probability = row_targets = row_log = of_members = _not_asked
    label_shown = judged_fold = opponents = row_target = _not_asked


def cost_of(rule: Rule) -> float:
    """Return what a wrong token costs: the margin that the rule wants of a row, or 1 at most.

    A rule without a margin, the perceptron, is told of no cost: its rival is the best path.
    """
    return rule.target if isfinite(rule.target) else USUAL_COST


def rows_for(n_features: int, n_tags: int, n_known: int = 0) -> Places:
    """Return which rows of weights features have: the first ones some, the others none yet."""
    rows = np.full(n_features, NO_ROW, np.int32)
    first = n_tags + EDGES
    rows[:n_known] = np.arange(first, first + n_known)
    return Places(rows, np.array([first + n_known]))


def room_for(rows: Any, n_tags: int) -> tuple[Lattice, Differences]:
    """Return room for the longest sentence: its lattice, and how two paths of it differ."""
    lengths = np.diff(rows.bounds)
    features = rows.starts[rows.bounds]
    most = 2 * (int((np.diff(features) + lengths).max(initial=0)) + 1)  # keys of a difference
    n_slots = 1 << (2 * most).bit_length()
    return lattice_for(rows, n_tags), Differences(
        np.zeros(n_slots, np.int64), np.empty(n_slots), np.empty(most, np.int64)
    )


def lattice_for(rows: Sentences, n_tags: int) -> Lattice:
    """Return room for the longest sentence."""
    longest = int(np.diff(rows.bounds).max(initial=1))
    n_values = int(np.diff(rows.starts).max(initial=1))
    emissions, best = np.empty((2, longest, n_tags))
    truth, path = np.zeros((2, longest), np.int32)
    features = np.empty(n_values, np.int32), np.ones(n_values, rows.values.dtype)
    return Lattice(emissions, best, np.zeros((n_tags + EDGES, n_tags)), *features, truth, path)


def best_tags(
    rows: Sentences,
    order: NDArray[Any],
    w: NDArray[Any],
    forced: NDArray[np.int32] | None = None,  # −1: any
) -> NDArray[np.int32]:
    """Return the tags of all tokens, those of the sentences of the order by their best paths."""
    tags = np.full(int(rows.bounds[-1]), -1, np.int32)
    given = np.empty(0, np.int32) if forced is None else forced
    tag_rows(rows, order, w, given, lattice_for(rows, w.shape[1]), tags)
    return tags


def no_bars(n_tags: int) -> NDArray[np.bool_]:
    """Return that every step from tag to tag is possible."""
    return np.zeros((n_tags + EDGES, n_tags), bool)
