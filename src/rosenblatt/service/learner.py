"""A served learner: it scores rows, and learns from one at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Spellings
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.counts import empty_log
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.single_rows import MISTAKE
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import MOVED, Class, Model
from rosenblatt.models.scoring import linear_scores
from rosenblatt.rules import ZERO_CONVENTIONS, pair_scale
from rosenblatt.service.features import Features, FeatureSpace, gathered
from rosenblatt.training.examples import Examples, targets_of, winners
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import State, run_pass

FIRST_ROOM = 64  # features that weights have room for before they first grow
ROW_ROOM = 32  # features that there is room for in the buffer of a row
NO_UPDATE = -2  # as the rival in the log
SCORE_OVERFLOW = "The score of a row overflowed: its values are too large."


class Effect(NamedTuple):
    """What an example did when it was learned."""

    predicted: Class | None  # by the weights that decide, before it was learned
    mistake: bool  # of the last weights: what ``n_mistakes_`` counts
    step: float | None  # τ; None where the rule is of second order
    rival: Class | None  # the class that lost by it
    seen: int  # Algorithm 7's c when it came
    n_classes: int  # that were known with it


@dataclass
class Changes:
    """What a group of lessons changed in the weights, for those who read another copy."""

    classes: tuple[Class, ...]
    n_features: int
    count: int
    features: NDArray[Any] | None  # None: all of them, in arrays of their own
    weights: NDArray[Any]
    ledger: NDArray[Any] | None
    by_feature: bool


class ServedLearner:
    """Weights of a learner, the classes it knows, and how features are numbered.

    The kernels are those of ``partial_fit``: a row learned here changes the weights by the same
    bits. Weights have room for more features than there are, so that a new one costs nothing most
    of the time; the room has weight 0 and is in no sum.

    Parameters
    ----------
    learner : Learner
        Rule, memory and their parameters.
    space : FeatureSpace
        How features are numbered; it grows with the examples.
    classes : sequence of labels
        Those known from the start.
    most_classes : int
        More are refused.
    """

    def __init__(
        self,
        learner: Learner,
        space: FeatureSpace,
        classes: Sequence[Class] = (),
        most_classes: int = 1000,
    ) -> None:
        self.learner, self.space = learner, space
        self.most_classes = most_classes
        self.origin: Model | None = None  # the model file that it goes on from
        self.is_origin = False  # whether nothing has been learned since
        self.class_weights: dict[Class, float] = {}  # multiply its steps; 1 where there is none
        self.classes = _in_order(classes)
        self.n_features = space.n_features
        self.state = learner.start(self._room(self.n_features), len(self.classes))
        self._numbers = {label: k for k, label in enumerate(self.classes)}
        self._zero = ZERO_CONVENTIONS[learner.zero]
        self._log = None if learner.second_order else empty_log(1)
        self._touched: list[NDArray[Any]] | None = None  # None: everything
        self._trail: list[Any] | None = None
        self._row: RowLearner | None = None  # made when it is needed
        self._arrange()

    @classmethod
    def of_model(
        cls, model: Model, learner: Learner, space: FeatureSpace, most_classes: int = 1000
    ) -> "ServedLearner":
        """Return a learner that goes on from a model, in memory of its own."""
        served = cls(learner, space, most_classes=most_classes)
        served.classes = model.classes
        served._numbers = {label: k for k, label in enumerate(model.classes)}
        copy = model.copy()
        state = State.of_vectors(
            copy.weights, copy.ledger, len(copy.classes), copy.count, copy.variance
        )
        state.keep_average(learner.averaged)
        served.n_features, served.state, served.origin = model.n_features, state, model
        served.is_origin = True
        if space.sparse:
            state.widen(served._room(model.n_features))
        served._arrange()
        return served

    def _room(self, n_features: int) -> int:
        if not self.space.sparse:
            return n_features
        return max(FIRST_ROOM, 1 << (n_features - 1).bit_length()) if n_features else FIRST_ROOM

    def _arrange(self) -> None:
        """Lay the weights out as rows of this space read them."""
        state = self.state
        if state.n_classes != 2 and state.by_feature != self.space.sparse:
            for name in ("weights", "ledger", "variance"):
                array = getattr(state, name)
                if array is not None:
                    setattr(state, name, np.ascontiguousarray(array.T))
            state.by_feature = self.space.sparse
        self._touched = None

    def rows(self, batch: Sequence[Features]) -> Rows:
        """Return features as rows that the weights can read."""
        return self.space.rows(batch, self.n_features, self.state.n_features, self.learner.constant)

    def scores(self, batch: Sequence[Features]) -> NDArray[Any]:
        """Return the score of each row: above 0 for the second of two classes, else one a class.

        The bits of ``decision_function``; of no use while there are fewer than two classes.
        """
        rows, state = self.rows(batch), self.state
        if not rows.sparse or state.ledger is None:
            return linear_scores(state, rows)
        rows, needed = gathered(cast("CSR", rows), state.weights, state.ledger, state.count)
        scores = np.empty((rows.shape[0], *needed.shape[1:]))
        (activations if state.n_classes == 2 else class_scores)(rows, needed, scores)
        if not np.isfinite(scores).all():
            raise WeightOverflowError(SCORE_OVERFLOW)
        return scores

    def labels(self, scores: NDArray[Any]) -> list[Class]:
        """Return the labels that scores predict."""
        numbers = winners(scores, positive=self.learner.zero == "positive")
        return [self.classes[number] for number in numbers.tolist()]

    def decided(self, features: Features) -> tuple[Class, Any]:
        """Return the label of one row and its score, or a list of one a class; see ``scores``."""
        row = self._entered(features)
        return self._label(row), row.scores()

    def _label(self, row: RowLearner) -> Class:
        number = row.predict()
        if number < 0:
            raise WeightOverflowError(SCORE_OVERFLOW)
        return self.classes[number]

    def _entered(self, features: Features) -> RowLearner:
        """Return what decides a row and learns from it, with this row in its buffer."""
        space, row = self.space, self._row
        if row is None or not row.learns(self.state):
            row = self._new_row(ROW_ROOM)
        # what the writer has numbered since has no weight here, and is left out by ``rows``
        if space.n_features == self.n_features and space.fill(row.row, features):
            return row
        found: Any = self.rows([features])
        if not space.sparse:
            row.values[0] = found.values[0]
            return row
        if len(found.indices) > row.row.room:
            row = self._new_row(2 * len(found.indices))
        row.row.put(found.indices, found.data)
        return row

    def _new_row(self, room: int) -> RowLearner:
        self._row = RowLearner(
            *(self.state, self.learner.step),
            zero=self._zero,
            constant=self.learner.constant,
            room=room if self.space.sparse else 0,
            log=self._log,
        )
        return self._row

    def leave_origin(self) -> None:
        """Take back what a threshold or a calibration moved, once there is something to learn.

        They were those of the old weights; ``rosenblatt train --from`` drops them, too.
        """
        if self.is_origin and self.origin is not None and MOVED in self.origin.training:
            state = self.state
            state.by_class(state.weights)[0, -1] += self.origin.training[MOVED]
            self._touched = None
        self.is_origin = False

    def learn(self, features: Features, label: Class) -> Effect:
        """Learn from one example; where it raises, ``undo`` what it may have made room for."""
        self.check_label(label)
        predicted = self.classes[0] if self.classes else None
        row, width = None, self.n_features
        if len(self.classes) > 1:
            row = self._entered(features)
            predicted = self._label(row)
        self.space.learn([features])
        self.leave_origin()
        self.grow(label)
        state, count = self.state, self.state.count
        step: float | None = None if self._log is None else 0.0
        weight = self.class_weights.get(label, 1.0)
        if len(self.classes) < 2 or weight == 0.0:  # which is as if it had not come
            self.rows([features])  # raises for what is no row
            state.count += weight != 0.0
            self._note([], count)
            n = len(self.classes)
            return Effect(predicted, mistake=False, step=step, rival=None, seen=count, n_classes=n)
        if row is None or width != self.n_features or not row.learns(state):
            row = self._entered(features)
        before = [] if self._trail is None else self._before(row)
        if self._log is not None:
            self._log.rival[0] = NO_UPDATE
        found = row.learn(self._numbers[label], weight)
        if found > MISTAKE:
            msg = (
                "The weights would overflow on this example, which is not learned: its values "
                "are too large."
            )
            raise WeightOverflowError(msg)
        self._note(before, count)
        rival: Class | None = None
        if self._log is None or self._log.rival[0] != NO_UPDATE:
            self._touch(row)
            if self._log is not None:
                step = self._log.tau.item()
                lost = self._log.rival.item()
                rival = self.classes[lost if state.n_classes > 2 else max(lost, 0)]
        return Effect(predicted, found == MISTAKE, step, rival, count, state.n_classes)

    def fold(self, batch: Sequence[tuple[Features, Class]]) -> None:
        """Learn from examples of the journal, which were learned before, in few passes."""
        if batch:
            self.leave_origin()
        start = 0
        while start < len(batch):
            self.grow(batch[start][1])
            stop = start + 1
            while stop < len(batch) and batch[stop][1] in self._numbers:
                stop += 1
            features = [one for one, _ in batch[start:stop]]
            self.space.learn(features)
            self._widen()
            rows = self.rows(features)
            numbers = np.array([self._numbers[label] for _, label in batch[start:stop]])
            given = self.class_weights
            weights = [given.get(label, 1.0) for _, label in batch[start:stop]] if given else None
            examples = Examples(
                rows,
                targets_of(numbers, self.state.n_classes),
                None if weights is None else np.array(weights),
            )
            run_pass(self.state, examples, examples.numbers(), self.learner.step, self._zero)
            start = stop
        self._touched = None

    def check_label(self, label: Class) -> None:
        """Raise InputError for a label that cannot be a class of this model."""
        if label in self._numbers:
            if type(label) is bool and type(self.classes[0]) is not bool:
                raise self._other_kind(label)
            return
        if self.classes and _kind(label) is not _kind(self.classes[0]):
            raise self._other_kind(label)
        if len(self.classes) >= self.most_classes:
            msg = (
                f"The label {label!r:.80} is new and the model has all {self.most_classes} classes "
                "that it may have."
            )
            raise InputError(msg)

    def known(self, label: Class) -> Class:
        """Return a label as the class is called that it names, if any: 1 for 1.0 and "1"."""
        if not self.classes or (type(label) is bool and type(self.classes[0]) is not bool):
            return label
        number = self._numbers.get(label)
        if number is None:
            texts = [str(one) for one in self.classes]
            text = str(label) if str(label) in texts else Spellings(texts).find(label)
            number = None if text is None else texts.index(text)
        return label if number is None else self.classes[number]

    def _other_kind(self, label: Class) -> InputError:
        known = ", ".join(f"{one!r:.80}" for one in self.classes[:3])
        msg = f"The label {label!r:.80} is of another type than the classes so far, {known}."
        return InputError(msg)

    def grow(self, label: Class) -> None:
        """Make room for what is new; its weights have been 0 all along."""
        if label not in self._numbers:
            together = _in_order((*self.classes, label))
            kept = np.array([together.index(one) for one in self.classes], np.intp)
            scale = pair_scale(self.learner.step)
            self.state = self.state.with_classes(kept, len(together), scale)
            self.classes = together
            self._numbers = {one: k for k, one in enumerate(together)}
            self._arrange()
        self._widen()

    def _widen(self) -> None:
        if self.space.n_features > self.n_features:
            self.n_features = self.space.n_features
            if self.n_features > self.state.n_features:
                self.state.widen(self._room(self.n_features))
                self._touched = None

    def _features(self, row: RowLearner) -> Any:
        """Return where the weights of a row stand."""
        if not self.space.sparse:
            return slice(0, self.n_features)
        return row.row.indices[: row.row.indptr[1]].copy()

    def _before(self, row: RowLearner) -> list[Any]:
        """Return what undoes a step on a row: arrays and what stands in them."""
        at = self._features(row)
        return [(view, at, view[at].copy(), view[-1].copy()) for view in self._views()]

    def _note(self, before: list[Any], count: int) -> None:
        """Note what undoes a lesson."""
        if self._trail is not None:
            self._trail.append((before, count))

    def _touch(self, row: RowLearner) -> None:
        """Note that the weights of a row have changed."""
        if self._touched is not None and self.space.sparse:
            self._touched.append(self._features(row))

    def _views(self) -> list[NDArray[Any]]:
        state = self.state
        arrays = (state.weights, state.ledger, state.variance)
        turned = not state.by_feature and state.n_classes != 2
        return [array.T if turned else array for array in arrays if array is not None]

    @staticmethod
    def _restore(before: list[tuple[NDArray[Any], Any, Any, Any]]) -> None:
        for view, at, values, bias in before:
            view[at] = values
            view[-1] = bias

    def begin(self, *, single: bool = False) -> Any:
        """Return a mark that ``undo`` goes back to; ``single``: one example comes at most."""
        self._trail = None if single else []  # a single one that is refused has changed nothing
        state = self.state
        arrays = state.weights, state.ledger, state.variance
        bias = state.by_class(state.weights)[:, -1].copy() if self.is_origin else None
        return state, arrays, state.by_feature, self.classes, self.n_features, bias

    def undo(self, mark: Any) -> None:
        """Go back to the mark: nothing since has been learned."""
        trail, self._trail = self._trail or [], None
        counts = [count for _, count in trail]
        for before, _ in reversed(trail):
            self._restore(before)
        state, arrays, by_feature, classes, n_features, bias = mark
        state.weights, state.ledger, state.variance = arrays
        state.by_feature = by_feature
        if bias is not None:
            self.is_origin = True
            state.by_class(state.weights)[:, -1] = bias
        if counts:
            state.count = counts[0]
        self.state, self.classes = state, classes
        self._numbers = {one: k for k, one in enumerate(classes)}
        self.space.shrink(n_features)
        self.n_features = n_features
        self._touched = None

    def changes(self) -> Changes:
        """Return what has changed since the last call."""
        state, touched = self.state, self._touched
        self._touched = []
        whole = touched is None or sum(map(len, touched)) * 2 > self.n_features
        if whole or not self.space.sparse:
            return self._whole()
        at = np.append(
            np.unique(np.concatenate(touched)) if touched else np.empty(0, np.int64),
            state.n_features,
        )
        ledger = None if state.ledger is None else state.ledger[at]
        return Changes(
            *(self.classes, self.n_features, state.count, at),
            *(state.weights[at], ledger, state.by_feature),
        )

    def _whole(self) -> Changes:
        state = self.state
        ledger = None if state.ledger is None else state.ledger.copy()
        return Changes(
            *(self.classes, self.n_features, state.count, None),
            *(state.weights.copy(), ledger, state.by_feature),
        )

    def apply(self, changes: Changes) -> None:
        """Change to what another learner of the same space was when it gave these changes."""
        state, features = self.state, changes.features
        if features is None and (
            changes.classes != self.classes or changes.weights.shape != state.weights.shape
        ):
            self.state = State(
                *(changes.weights, changes.ledger, len(changes.classes), changes.count),
                changes.by_feature,
            )
            self._numbers = {one: k for k, one in enumerate(changes.classes)}
        else:  # in the same memory, whose addresses kernels know
            at = ... if features is None else features
            state.weights[at] = changes.weights
            if state.ledger is not None:
                state.ledger[at] = changes.ledger
            state.count = changes.count
        self.classes, self.n_features = changes.classes, changes.n_features
        self.is_origin = False

    def view(self) -> "ServedLearner":
        """Return a copy to read from: weights of its own, the numbering shared."""
        other, seen = object.__new__(ServedLearner), self._whole()
        state = State(seen.weights, seen.ledger, len(self.classes), seen.count, seen.by_feature)
        other.__dict__.update(self.__dict__, state=state, _row=None)
        return other

    def model(self) -> Model | None:
        """Return the model as a file has it, in memory of its own; None without a class."""
        if not self.classes:
            return None
        if self.is_origin and self.origin is not None:
            return self.origin.copy()
        state, learner = self.state, self.learner
        width = self.n_features

        def trimmed(array: NDArray[Any] | None) -> NDArray[Any] | None:
            if array is None:
                return None
            vectors = state.by_class(array)
            return np.ascontiguousarray(np.concatenate([vectors[:, :width], vectors[:, -1:]], 1))

        weights, origin = trimmed(state.weights), self.origin
        options = learner.options() if origin is None else dict(origin.options)
        if self.class_weights:
            options["class_weight"] = [list(pair) for pair in self.class_weights.items()]
        return Model(
            learner.estimator if origin is None else origin.learner,
            options,
            self.classes,
            cast("NDArray[Any]", weights),
            trimmed(state.ledger),
            state.count,
            feature_names=self.space.names(),
            encoding=None if origin is None else origin.encoding,
            encoding_arrays={} if origin is None else origin.encoding_arrays,
            variance=trimmed(state.variance),
        )


def _in_order(labels: Sequence[Class]) -> tuple[Class, ...]:
    """Return different labels as NumPy sorts them."""
    different: list[Any] = list(dict.fromkeys(labels))
    return tuple(sorted(different))


def _kind(label: Class) -> type:
    return type(label) if isinstance(label, str | bool) else float
