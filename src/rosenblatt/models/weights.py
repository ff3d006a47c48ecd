"""Weights that predict, with all that learning goes on from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.arrays import list_arrays, read_list
from rosenblatt.mistakes.updates import Mistakes, label_steps
from rosenblatt.models.learner import Learner
from rosenblatt.tasks import CLASSES, Task, task_of
from rosenblatt.training.state import State


@dataclass
class Weights:
    """Weight vectors: the last and their average in a state, and where it is kept their list."""

    state: State
    constant: float = 1.0  # the constant feature of rows: 1 where a bias is learned
    by_vote: bool = False  # whether all vectors decide
    listed: Mistakes | None = None  # the updates, with the rows that made them, as they come
    stored: Mapping[str, NDArray[Any]] | None = None  # those of a file, which learning on drops

    @classmethod
    def of_arrays(
        cls,
        task: Task,
        weights: NDArray[Any],
        ledger: NDArray[Any] | None = None,
        variance: NDArray[Any] | None = None,
        count: int = 1,
        **parts: Any,
    ) -> "Weights":
        """Return weights by class, in the same memory."""
        return cls(State.of_vectors(weights, ledger, variance, task, count), **parts)

    @classmethod
    def of_learner(cls, learner: Learner, state: State) -> "Weights":
        """Return the weights of a learner before the first row, with a list if they vote."""
        listed = Mistakes.sparse(state.n_features, learner.constant) if learner.voted else None
        return cls(state, learner.constant, learner.voted, listed)

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
        """What a file has for each weight, by class."""
        return self.state.vectors

    @property
    def kind(self) -> str:
        """The kind of the model in words that need no knowledge of learners."""
        return "vote of linear models" if self.by_vote else "linear model"

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
            listed.shift = shift
        return replace(self, listed=listed, stored=None)

    def scores(self, rows: Rows, *, positive: bool = False) -> NDArray[Any]:
        """Return what rows score: (n,) for two classes, else (n, K); of votes their shares."""
        if not self.by_vote:
            return self.state.scores(rows)
        from rosenblatt.mistakes.scores import vote_counter, vote_scores  # wanted by few

        shape: Any = self.mistakes, self.task.n_classes, self.count
        return vote_scores(vote_counter(*shape, positive=positive)(rows))

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
        how: Any = {"constant": self.constant, "by_vote": self.by_vote}
        return Weights.of_arrays(self.task, **vectors, count=self.count, **how)

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

    def of_label(self, number: int) -> "Weights":
        """Return those of one of several labels, by number."""
        parts: dict[str, Any] = {"constant": self.constant, "count": self.count}
        for name, part in self.vectors.items():
            parts[name] = part[number : number + 1]
        mistakes = every = self.mistakes
        if every is not None:
            mistakes = Mistakes(label_steps(every.updates, number), every.end, every.support)
        return Weights.of_arrays(task_of(CLASSES, 2), listed=mistakes, **parts)
