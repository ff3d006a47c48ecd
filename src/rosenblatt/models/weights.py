"""Weights that predict, with all that learning goes on from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.arrays import list_arrays, read_list
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.learner import Learner
from rosenblatt.tasks import Task
from rosenblatt.training.places import Scattered
from rosenblatt.training.state import State

if TYPE_CHECKING:
    from rosenblatt.training.streaming import StreamFit


@dataclass
class Weights:
    """Weight vectors: the last and their average in a state, and where it is kept their list."""

    state: State
    constant: float = 1.0  # the constant feature of rows: 1 where a bias is learned
    listed: Mistakes | None = None  # the updates, with the rows that made them, as they come
    stored: Mapping[str, NDArray[Any]] | None = None  # those of a file, which learning on drops

    by_vote: ClassVar[bool] = False  # whether all vectors decide
    kind: ClassVar[str] = "linear model"  # in words that need no knowledge of learners
    title: ClassVar[str] = ""  # whose weights are shown; empty: the learner's

    @classmethod
    def of_arrays(
        cls,
        task: Task,
        weights: NDArray[Any] | Scattered,
        ledger: Any = None,
        variance: Any = None,
        count: int = 1,
        **parts: Any,
    ) -> "Weights":
        """Return weights by class, in the same memory; or those that exist, if all are such."""
        if isinstance(weights, Scattered):
            each = {"weights": weights, "ledger": ledger, "variance": variance}
            given = {name: part for name, part in each.items() if part is not None}
            return cls(State.of_scattered(given, task, count), **parts)
        return cls(State.of_vectors(weights, ledger, variance, task, count), **parts)

    @property
    def linear(self) -> "Weights":
        """These; raises InputError of a kernel machine."""
        return self

    @property
    def task(self) -> Task:
        """What an answer is."""
        return self.state.task

    @property
    def count(self) -> int:
        """Algorithm 7's c: one more than the rows seen."""
        return self.state.count

    @property
    def n_features(self) -> int:
        """Number of features, without the constant one of the bias."""
        return self.state.n_features

    @property
    def vectors(self) -> dict[str, NDArray[Any]]:
        """What is kept for each weight, by class."""
        return self.state.vectors

    @property
    def stored_vectors(self) -> Mapping[str, NDArray[Any] | Scattered]:
        """What a file has for each weight, by class: of those that exist where few do."""
        return self.state.stored

    @property
    def kinds(self) -> frozenset[str]:
        """What is kept for each weight: names."""
        return frozenset(self.state.taken)

    @property
    def mistakes(self) -> Mistakes | None:
        """The updates, with the rows that made them, checked; None where there is no list."""
        if self.listed is not None or self.stored is None:
            return self.listed
        task, shape = self.task, (self.n_features, self.constant, self.count)
        return read_list(self.stored, task.n_vectors, *shape, joint=task.joint)

    def growing(self, shift: int = 0) -> "Weights":
        """Return weights whose list goes on; rows to come have numbers that are higher by this."""
        listed = self.mistakes
        if listed is not None:
            listed.count_rows_from(shift)
        return replace(self, listed=listed, stored=None)

    def scores(self, rows: Rows, *, positive: bool = False) -> NDArray[Any]:  # noqa: ARG002
        """Return what rows score: (n,) for two classes, else (n, K)."""
        return self.state.scores(rows)

    def tried_scores(self, rows: Rows, **_: bool) -> NDArray[Any]:
        """Return what rows score now, at the cost of these rows alone."""
        self.state.lay_out_for(rows)
        return self.state.scores(rows, lasting=False)

    @property
    def n_deciding(self) -> int | None:
        """How many weight vectors decide together; None where one alone does."""
        return None

    def check_start(self, name: str) -> None:
        """Raise InputError where a learner of this name cannot start with given weights."""

    def decided(self, *_: Any) -> dict[str, Any]:
        """Return what more is to be told of a decision by these scores."""
        return {}

    def copy(self) -> "Weights":
        """Return weights of their own memory."""
        stored = self.stored if self.listed is None else list_arrays(self.listed)
        return replace(self, state=self.state.copy(), listed=None, stored=stored)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a file holds beside the vectors: the list."""
        if self.listed is not None:
            return list_arrays(self.listed)
        return dict(self.stored or {})

    def with_vectors(self, vectors: dict[str, Any]) -> "Weights":
        """Return others by class, in the same memory; they are not the sum of the list."""
        how: Any = {"count": self.count, "constant": self.constant}
        return type(self).of_arrays(self.task, **vectors, **how)

    def moved(self, by: float) -> "Weights":
        """Return weights whose bias is higher by this, beside the same ledger and list."""
        state = replace(self.state, weights=self.state.weights.copy(), _average=None)
        state.move_bias(by)
        return replace(self, state=state)

    def with_classes(
        self, kept: NDArray[Any], n_classes: int, scale: float, moved: float = 0.0
    ) -> "Weights":
        """Return weights of more classes; see ``State.with_classes``.

        Their bias is back where it was before it was ``moved`` by this.
        """
        state, mistakes = self.state.copy(), self.mistakes
        if moved:
            state.move_bias(moved)
        if n_classes != self.task.n_classes:
            state = state.with_classes(kept, n_classes, scale)
            flat, joint = self.task.flat, self.task.joint
            mistakes = mistakes and mistakes.with_classes(kept, scale, joint=joint, flat=flat)
        return replace(self, state=state, listed=mistakes, stored=None)


def weights_of(learner: Learner, state: State, listed: Mistakes | None = None) -> Weights:
    """Return the weights by which a learner predicts; those that vote have a list at once."""
    if not learner.voted:
        return Weights(state, learner.constant, listed)
    from rosenblatt.models.voted import VotedWeights  # wanted by few

    if listed is None:
        listed = Mistakes.sparse(state.n_features, learner.constant)
    return VotedWeights(state, learner.constant, listed)


def trained_weights(learner: Learner, trained: "StreamFit") -> Weights:
    """Return the weights of a training, with the mistakes that they are made of if recorded."""
    mistakes, rows, state = trained.outcome.mistakes, trained.supply.rows(), trained.state
    if mistakes is None or rows is None:
        return weights_of(learner, state)
    listed = Mistakes.of_rows(mistakes.before(state.count), rows, state.count)
    return weights_of(learner, state, listed)


def deciding_weights(learner: Learner, trained: "StreamFit") -> Weights:
    """Return the weights of a training with no more than they predict by."""
    if learner.voted:
        return trained_weights(learner, trained)
    return weights_of(learner, trained.state)
