"""Weights of a served learner: what they learn can be undone, and published to readers."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.spread import FeatureMoments
from rosenblatt.models.feature_spaces import Features
from rosenblatt.models.model import Class
from rosenblatt.models.online_weights import OnlineWeights
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import State

NO_UPDATE = -2  # as the rival in the log
SCORE_OVERFLOW = "The score of a row overflowed: its values are too large."


class Changes(NamedTuple):
    """What a group of lessons changed in the weights, for readers of another copy."""

    classes: tuple[Class, ...]
    n_features: int
    features: Any  # numbers of those that changed, and of the bias; ...: all of them
    state: State  # of these features
    moments: NDArray[Any] | None  # of these features, where they are scaled


class Mark(NamedTuple):
    """What there was before lessons that may be undone."""

    state: State  # its arrays and counts then
    classes: tuple[Class, ...]
    width: int
    bias: NDArray[Any] | None  # where it may move at once
    moments: NDArray[Any] | None


class ServedWeights(OnlineWeights):
    """Online weights whose space grows with the examples and is shared with readers."""

    def __init__(self, *parts: Any, **more: Any) -> None:
        self._trail: list[Any] | None = None
        self._touched: list[NDArray[Any]] | None = None  # None: everything
        super().__init__(*parts, **more)

    def moved(self) -> None:
        """Lay the weights out anew; readers need them all."""
        super().moved()
        self._touched = None

    def _remember(self, rows: RowLearner) -> None:
        """Do nothing: what is undone forgets the numbers of its names."""

    # Many rows

    def rows(self, batch: Sequence[Features]) -> Rows:
        """Return features as rows that the weights can read."""
        rows: Any = self.matrix([self.space.plain(features) for features in batch])
        if self.moments is None:
            return cast("Rows", rows)
        if rows.sparse:
            return cast("CSR", rows)._replace(data=self.moments.scaled(rows.data, rows.indices))
        every = np.tile(np.arange(self.width), len(batch))
        values = self.moments.scaled(rows.values.reshape(-1), every)
        return cast("Rows", rows._replace(values=values.reshape(rows.values.shape)))

    def scores(self, batch: Sequence[Features]) -> NDArray[Any]:
        """Return the score of each row: above 0 for the second of two classes, else one a class.

        The bits of ``decision_function``; of no use while there are fewer than two classes.
        """
        return self.state.scores(self.rows(batch), lasting=False)

    # Lessons that may be undone

    def begin(self, *, single: bool, moves: bool) -> Mark:
        """Return a mark that ``undo`` goes back to; ``single``: one example comes at most.

        ``moves`` says whether the bias may be moved without a lesson.
        """
        self._trail = None if single else []  # a single one that is refused has changed nothing
        state, moments = self.state, None
        bias = state.by_class(state.weights)[:, -1].copy() if moves else None
        if self.moments is not None:
            moments = self.moments.features if single else self.moments.features.copy()
        return Mark(replace(state), self.classes, self.width, bias, moments)

    def note(self, row: RowLearner) -> None:
        """Note what undoes a lesson: the weights of its row, and what stands in them."""
        if self._trail is None:
            return
        state = self.state
        at, turned = self._features(row), not state.by_feature and state.weights.ndim == 2
        arrays = [a for a in (state.weights, state.ledger, state.variance) if a is not None]
        views = [array.T if turned else array for array in arrays]
        self._trail += [(view, at, view[at].copy(), view[-1].copy()) for view in views]

    def before(self, row: RowLearner) -> NDArray[Any] | None:
        """Return what tells later whether a step was made: nothing where the log gets its line."""
        if self.log is None:
            return self._of_row(row)
        self.log.rival[0] = NO_UPDATE
        return None

    def updated(self, row: RowLearner, before: NDArray[Any] | None) -> bool:
        """Return whether the row made a step."""
        if self.log is None:
            return not np.array_equal(cast("Any", before), self._of_row(row))
        return bool(self.log.rival[0] != NO_UPDATE)

    def stepped(self, *, updated: bool) -> tuple[float | None, Class | None]:
        """Return the step of the lesson and the class that lost by it, as the log has them."""
        if self.log is None or not updated:
            return (None if self.log is None else 0.0), None
        lost = self.log.rival.item()
        rival = self.classes[lost if len(self.classes) > 2 else max(lost, 0)]
        return self.log.tau.item(), rival

    def _of_row(self, row: RowLearner) -> NDArray[Any]:
        """Return a copy of the weights of a row, and of the bias."""
        state = self.state
        turned = not state.by_feature and state.weights.ndim == 2
        view = state.weights.T if turned else state.weights
        return np.concatenate([view[self._features(row)], view[-1:]])

    def undo(self, mark: Mark) -> None:
        """Go back to the mark: nothing since has been learned."""
        trail, self._trail = self._trail or [], None
        for view, at, values, bias in reversed(trail):
            view[at], view[-1] = values, bias
        self.state, self.width = mark.state, mark.width
        if mark.bias is not None:
            self.state.by_class(self.state.weights)[:, -1] = mark.bias
        if mark.moments is not None:
            self.moments = _moments(mark.moments)
            self.moments.forget(self.width)
        self.set_classes(mark.classes)
        self.space.shrink(self.width)

    def _features(self, row: RowLearner) -> Any:
        """Return where the weights of a row stand."""
        if not self.space.sparse:
            return slice(0, self.width)
        return row.row.indices[: row.row.indptr[1]].copy()

    # What readers are told

    def touch(self, row: RowLearner | None = None) -> None:
        """Note that the weights of a row have changed, by default all weights."""
        if row is None:
            self._touched = None
        elif self._touched is not None and self.space.sparse:
            self._touched.append(self._features(row))

    def changes(self) -> Changes:
        """Return what has changed since the last call."""
        touched, self._touched = self._touched, []
        at: Any = ...
        if touched is not None and self.space.sparse and sum(map(len, touched)) * 2 <= self.width:
            numbers = np.unique(np.concatenate([np.empty(0, np.int64), *touched]))
            at = np.append(numbers, self.state.n_features)
        moments = None if self.moments is None else self.moments.features[_without_bias(at)].copy()
        return Changes(self.classes, self.width, at, self._copied(at), moments)

    def apply(self, changes: Changes) -> None:
        """Change to what other weights of the same space were when they gave these changes."""
        state, new, at = self.state, changes.state, changes.features
        self.width = changes.n_features
        same_size = at is not ... or new.weights.shape == state.weights.shape
        if not same_size or changes.classes != self.classes:
            self.state = new
            if changes.moments is not None:
                self.moments = _moments(changes.moments)
            self.set_classes(changes.classes)
            return
        # in the same memory, whose addresses kernels know
        state.weights[at] = new.weights
        if state.ledger is not None:
            state.ledger[at] = new.ledger
        state.count = new.count
        if self.moments is not None:
            self.moments.features[_without_bias(at)] = changes.moments

    def view(self) -> "ServedWeights":
        """Return a copy to read from: weights of its own, the numbering shared."""
        how: dict[str, Any] = {"width": self.width, "moments": deepcopy(self.moments)}
        parts = self.learner, self.space, self.classes, self._copied()
        return ServedWeights(*parts, **how, cuts=self.cuts, log=self.log)

    def _copied(self, at: Any = ...) -> State:
        """Return a copy of the weights of some features, to read from."""
        state = self.state
        ledger = None if state.ledger is None else np.array(state.ledger[at])
        weights = np.array(state.weights[at])
        return replace(state, weights=weights, ledger=ledger, variance=None, _average=None)


def _moments(features: NDArray[Any]) -> FeatureMoments:
    """Return the moments of features, in the same memory."""
    moments = FeatureMoments(0)
    moments.features = features
    return moments


def _without_bias(features: Any) -> Any:
    return ... if features is ... else features[:-1]
