"""A served learner: an online learner whose lessons can be undone and published."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Spellings
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.single_rows import MISTAKE, TOO_LARGE
from rosenblatt.mistakes.updates import Mistakes, label_steps
from rosenblatt.models.feature_spaces import Features, FeatureSpace
from rosenblatt.models.guarantee import GuaranteeCurve, rows_apart
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import MOVED, Class, Model
from rosenblatt.models.online import OnlineLearner
from rosenblatt.rules import ZERO_CONVENTIONS
from rosenblatt.training.examples import Examples, targets_of, winner_leads, winners
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import State, recorded_pass, run_pass

Labels = Class | tuple[Class, ...]  # of an example: one, or any number in order
NO_UPDATE = -2  # as the rival in the log
SCORE_OVERFLOW = "The score of a row overflowed: its values are too large."
LESSON_OVERFLOW = (
    "The weights would overflow on this example, which is not learned: its values are too large."
)
UNSCALABLE = "A value of the example is too large to be scaled; the example is not learned."


class LessonResult(NamedTuple):
    """What an example did when it was learned."""

    predicted: Labels | None  # by the weights that decide, before it was learned
    mistake: bool  # of the last weights: what ``n_mistakes_`` counts
    step: float | None  # τ; None where the rule is of second order, or each label has its own
    rival: Class | None  # the class that lost by it
    seen: int  # Algorithm 7's c when it came
    n_classes: int  # that were known with it


class Changes(NamedTuple):
    """What a group of lessons changed in the weights, for readers of another copy."""

    classes: tuple[Class, ...]
    n_features: int
    features: Any  # numbers of those that changed, and of the bias; ...: all of them
    state: State  # of these features
    moments: NDArray[Any] | None  # of these features, where they are scaled


class ServedLearner(OnlineLearner):
    """An online learner whose lessons are undone if a request fails, and published to readers.

    Its space grows with the examples and is shared with readers. ``scale`` scales numbers by their
    running mean and deviation.
    """

    def __init__(
        self,
        learner: Learner,
        space: FeatureSpace,
        classes: Sequence[Class] = (),
        most_classes: int = 1000,
        *,
        scale: bool = False,
    ) -> None:
        self.most_classes = most_classes
        self.origin: Model | None = None  # the model file that it goes on from
        self.is_origin = False  # whether nothing has been learned since
        self.promises: GuaranteeCurve | None = None  # of the answers of the model file
        self.class_weights: dict[Any, float] = {}  # multiply the steps of a class; default 1
        self._touched: list[NDArray[Any]] | None = None  # None: everything
        self._trail: list[Any] | None = None
        self._begin(learner, space, _in_order(classes), scale=scale)
        self._log = None if learner.second_order or learner.labels else empty_log(1)
        self._widen()

    @classmethod
    def of_model(
        cls, model: Model, learner: Learner, space: FeatureSpace, most_classes: int = 1000
    ) -> "ServedLearner":
        """Return a learner that goes on from a model, in memory of its own."""
        served = cls(learner, space, most_classes=most_classes)
        served._resume(model, model.classes)
        served.origin, served.is_origin = model, True
        apart = rows_apart(model)
        served.promises = None if apart is None else apart.curve()
        return served

    def _moved(self) -> None:
        """Lay the weights out as rows of this space read them."""
        super()._moved()
        self.state.arrange(by_feature=self.space.sparse)
        self._touched = None

    def _remember(self, rows: RowLearner) -> None:
        """Do nothing: what is undone forgets the numbers of its names."""

    def _plain(self, x: Any) -> Any:
        return self.space.plain(x)

    def rows(self, batch: Sequence[Features]) -> Rows:
        """Return features as rows that the weights can read."""
        rows: Any = self._matrix([self.space.plain(features) for features in batch])
        if self.moments is None:
            return cast("Rows", rows)
        if rows.sparse:
            return cast("CSR", rows)._replace(data=self.moments.scaled(rows.data, rows.indices))
        every = np.tile(np.arange(self._width), len(batch))
        values = self.moments.scaled(rows.values.reshape(-1), every)
        return cast("Rows", rows._replace(values=values.reshape(rows.values.shape)))

    def scores(self, batch: Sequence[Features]) -> NDArray[Any]:
        """Return the score of each row: above 0 for the second of two classes, else one a class.

        The bits of ``decision_function``; of no use while there are fewer than two classes.
        """
        rows, state = self.rows(batch), self.state
        if not rows.sparse or state.ledger is None:
            return state.scores(rows)
        rows, needed = _gathered(cast("CSR", rows), state.weights, state.ledger, state.count)
        scores = np.empty((rows.shape[0], *needed.shape[1:]))
        (activations if needed.ndim == 1 else class_scores)(rows, needed, scores)
        if not np.isfinite(scores).all():
            raise WeightOverflowError(SCORE_OVERFLOW)
        return scores

    @property
    def default(self) -> Labels | None:
        """What it predicts while there is nothing to decide: no label, or the only class if any."""
        return () if self.learner.labels else next(iter(self._classes), None)

    def labels(self, scores: NDArray[Any]) -> Sequence[Labels]:
        """Return the labels that scores predict."""
        if self.learner.labels:
            return self._label_sets(scores)
        numbers = winners(scores, positive=self.learner.zero == "positive")
        return [self._classes[number] for number in numbers.tolist()]

    def promised(self, labels: Sequence[Labels], scores: NDArray[Any]) -> list[Any] | None:
        """Return at most which error is promised of each answer, of several labels of each one.

        None where the model file has no guarantee, or has learned since.
        """
        if self.promises is None or not self.is_origin:
            return None
        several = bool(self.learner.labels)
        bounds: list[Any] = self.promises.bounds_of(
            scores if several else winner_leads(scores)
        ).tolist()
        if not several:
            return bounds
        pairs = zip(labels, bounds, strict=True)
        return [[row[self._numbers[one]] for one in self._each(label)] for label, row in pairs]

    def decided(self, features: Features) -> tuple[Labels, Any]:
        """Return the label of one row and its score, or a list of one a class; see ``scores``."""
        row = self._entered(features)
        return self._label(row), row.scores()

    def _label(self, row: RowLearner) -> Labels:
        number = self._decide(row)
        if number < 0:
            raise WeightOverflowError(SCORE_OVERFLOW)
        return self._given(row) if self.learner.labels else self._classes[number]

    def leave_origin(self) -> None:
        """Take back what a threshold or a calibration moved, once there is something to learn.

        They were those of the old weights; ``rosenblatt train --from`` drops them, too.
        """
        if self.is_origin and self.origin is not None and MOVED in self.origin.training:
            state = self.state
            state.by_class(state.weights)[0, -1] += self.origin.training[MOVED]
            self._touched = None
        self.is_origin = False

    def learn(self, features: Features, label: Labels) -> LessonResult:
        """Learn from one example; where it raises, ``undo`` what it may have made room for."""
        labels, predicted = self._each(label), self.default
        self.check_labels(labels)
        plain, row, width = self.space.plain(features), None, self._width
        if not self.undecided:
            row = self._entered(features, plain)
            predicted = self._label(row)
        counts = bool(labels or self._classes)  # else there is no label yet that it could teach
        weight = self.class_weights.get(label, 1.0) if counts else 0.0
        if counts:
            self._number(features, plain)
            self.leave_origin()
            self.grow(labels)
        count, n = self.state.count, len(self._classes)
        step: float | None = None if self._log is None else 0.0
        rival: Class | None = None
        if self.undecided or weight == 0.0:  # which is as if it had not come
            self._matrix([plain])  # raises for what is no row
            if weight != 0.0 and self._learn_alone(plain) > MISTAKE:
                raise WeightOverflowError(UNSCALABLE)
            return LessonResult(
                predicted, mistake=False, step=step, rival=None, seen=count, n_classes=n
            )
        scaled = self.moments is not None
        if row is None or scaled or width != self._width or not row.learns(self.state):
            row = self._entered(features, plain)
        self._note(row)
        if self._log is not None:
            self._log.rival[0] = NO_UPDATE
        numbers = [self._numbers[one] for one in labels]
        found = self._step(row, numbers if self.learner.labels else numbers[0], weight)
        if found > MISTAKE:
            raise WeightOverflowError(UNSCALABLE if found == TOO_LARGE else LESSON_OVERFLOW)
        updated = self._log is None or self._log.rival[0] != NO_UPDATE
        if (updated or scaled) and self._touched is not None and self.space.sparse:
            self._touched.append(self._features(row))
        if updated and self._log is not None:
            step, lost = self._log.tau.item(), self._log.rival.item()
            rival = self._classes[lost if n > 2 else max(lost, 0)]
        return LessonResult(predicted, found == MISTAKE, step, rival, count, n)

    def fold(self, batch: Sequence[tuple[Features, Labels]], label: Class | None = None) -> Log:
        """Learn from examples of the journal, which were learned before, in few passes.

        Returns the steps of one of several labels if it is given; they name examples by their place
        in the batch.
        """
        start, steps = 0, Mistakes()
        if not self._classes:  # no label is known until an example has one
            labelled = (k for k, (_, own) in enumerate(batch) if own != ())
            start = next(labelled, len(batch))
        if self.moments is not None:  # each row is scaled by those before it
            for features, own in batch[start:]:
                self.learn(features, own)
            return steps.updates
        if start < len(batch):
            self.leave_origin()
        while start < len(batch):
            self.grow(self._each(batch[start][1]))
            stop = start + 1
            while stop < len(batch) and self._numbers.keys() >= {*self._each(batch[stop][1])}:
                stop += 1
            plain = [self.space.plain(features) for features, _ in batch[start:stop]]
            for (features, _), one in zip(batch[start:stop], plain, strict=True):
                self._number(features, one)
            rows = self._matrix(plain)
            examples = self._examples(rows, [own for _, own in batch[start:stop]])
            zero = ZERO_CONVENTIONS[self.learner.zero]
            visit = self.state, examples, examples.numbers(), self.learner.step, zero
            if label in self._numbers:
                _, made = recorded_pass(*visit)
                made = label_steps(made, self._numbers[label])
                steps.extend(made._replace(row=made.row + start), len(made.row), self.state.count)
            else:
                run_pass(*visit)
            start = stop
        self._touched = None
        return steps.updates

    def _each(self, label: Labels) -> tuple[Class, ...]:
        """Return the labels of an example, of which there may be only one."""
        return cast("tuple[Class, ...]", label if self.learner.labels else (label,))

    def _examples(self, rows: Rows, labels: Sequence[Labels]) -> Examples:
        """Return rows with labels that are known, as a pass takes them."""
        members = [[self._numbers[one] for one in self._each(label)] for label in labels]
        numbers = np.array([number for row in members for number in row], np.int32)
        if self.learner.labels:
            ends = np.cumsum([0, *map(len, members)])
            return Examples(rows, np.arange(len(labels), dtype=np.int32), sets=(numbers, ends))
        weights = [self.class_weights.get(label, 1.0) for label in labels]
        targets = targets_of(numbers, self.state.n_classes)
        return Examples(rows, targets, np.array(weights) if self.class_weights else None)

    def checked(self, label: Labels) -> Labels:
        """Return the label of an example as the model has it, several in order; or raise."""
        if isinstance(label, tuple) != bool(self.learner.labels):
            wanted = "a list of labels" if self.learner.labels else "one label"
            got = "a list" if isinstance(label, tuple) else f"{label!r:.80}"
            raise InputError(f"The model takes {wanted} for each example; got {got}.")
        labels = [self.known(one) for one in self._each(label)]
        self.check_labels(labels)
        return _in_order(labels) if self.learner.labels else labels[0]

    def check_labels(self, labels: Sequence[Class]) -> None:
        """Raise InputError for labels that cannot be classes of this model."""
        every = (*self._classes, *labels)
        for label in labels:
            if _kind(label) is not _kind(every[0]):
                known = ", ".join(f"{one!r:.80}" for one in (self._classes or every[:1])[:3])
                so_far = f"of another type than the classes so far, {known}"
                raise InputError(f"The label {label!r:.80} is {so_far}.")
        new = [label for label in labels if label not in self._numbers]
        if new and len(self._classes) + len(new) > self.most_classes:
            raise InputError(
                f"The label {new[-1]!r:.80} is new and the model has all {self.most_classes} "
                "classes that it may have."
            )

    def known(self, label: Class) -> Class:
        """Return a label as the class is called that it names, if any: 1 for 1.0 and "1"."""
        if not self._classes or (type(label) is bool and type(self._classes[0]) is not bool):
            return label
        number = self._numbers.get(label)
        if number is None:
            texts = [str(one) for one in self._classes]
            text = str(label) if str(label) in texts else Spellings(texts).find(label)
            number = None if text is None else texts.index(text)
        return label if number is None else self._classes[number]

    def grow(self, labels: Sequence[Class]) -> None:
        """Make room for classes that are new."""
        if not self._numbers.keys() >= {*labels}:
            self._grow(_in_order((*self._classes, *labels)))

    def _features(self, row: RowLearner) -> Any:
        """Return where the weights of a row stand."""
        if not self.space.sparse:
            return slice(0, self._width)
        return row.row.indices[: row.row.indptr[1]].copy()

    def _note(self, row: RowLearner) -> None:
        """Note what undoes a lesson: the weights of its row, and what stands in them."""
        if self._trail is None:
            return
        state = self.state
        at, turned = self._features(row), not state.by_feature and state.weights.ndim == 2
        arrays = [a for a in (state.weights, state.ledger, state.variance) if a is not None]
        views = [array.T if turned else array for array in arrays]
        self._trail += [(view, at, view[at].copy(), view[-1].copy()) for view in views]

    def begin(self, *, single: bool = False) -> Any:
        """Return a mark that ``undo`` goes back to; ``single``: one example comes at most."""
        self._trail = None if single else []  # a single one that is refused has changed nothing
        state, moments = self.state, None
        bias = state.by_class(state.weights)[:, -1].copy() if self.is_origin else None
        if self.moments is not None:
            moments = self.moments.features if single else self.moments.features.copy()
        return state, replace(state), self._classes, self._width, bias, moments

    def undo(self, mark: Any) -> None:
        """Go back to the mark: nothing since has been learned."""
        trail, self._trail = self._trail or [], None
        for view, at, values, bias in reversed(trail):
            view[at], view[-1] = values, bias
        self.state, saved, classes, self._width, bias, moments = mark
        vars(self.state).update(vars(saved))  # its arrays and counts
        if bias is not None:
            self.is_origin = True
            self.state.by_class(self.state.weights)[:, -1] = bias
        if self.moments is not None:
            self.moments.features = moments
            self.moments.forget(self._width)
        self._set_classes(classes)
        self.space.shrink(self._width)

    def changes(self) -> Changes:
        """Return what has changed since the last call."""
        touched, self._touched = self._touched, []
        at: Any = ...
        if touched is not None and self.space.sparse and sum(map(len, touched)) * 2 <= self._width:
            numbers = np.unique(np.concatenate([np.empty(0, np.int64), *touched]))
            at = np.append(numbers, self.state.n_features)
        moments = None if self.moments is None else self.moments.features[_without_bias(at)].copy()
        return Changes(self._classes, self._width, at, self._copied(at), moments)

    def _copied(self, at: Any = ...) -> State:
        """Return a copy of the weights of some features, to read from."""
        state = self.state
        ledger = None if state.ledger is None else np.array(state.ledger[at])
        weights = np.array(state.weights[at])
        return replace(state, weights=weights, ledger=ledger, variance=None, _average=None)

    def apply(self, changes: Changes) -> None:
        """Change to what another learner of the same space was when it gave these changes."""
        state, new, at = self.state, changes.state, changes.features
        self._width, self.is_origin = changes.n_features, False
        same_size = at is not ... or new.weights.shape == state.weights.shape
        if not same_size or changes.classes != self._classes:
            self.state = new
            if self.moments is not None and changes.moments is not None:
                self.moments.features = changes.moments
            self._set_classes(changes.classes)
            return
        # in the same memory, whose addresses kernels know
        state.weights[at] = new.weights
        if state.ledger is not None:
            state.ledger[at] = new.ledger
        state.count = new.count
        if self.moments is not None:
            self.moments.features[_without_bias(at)] = changes.moments

    def view(self) -> "ServedLearner":
        """Return a copy to read from: weights of its own, the numbering shared."""
        other, moments = object.__new__(ServedLearner), deepcopy(self.moments)
        other.__dict__.update(self.__getstate__(), state=self._copied(), moments=moments)
        return other

    def model(self) -> Model | None:
        """Return the model as a file has it, in memory of its own; None without a class."""
        if not self._classes:
            return None
        origin, learner = self.origin, self.learner
        if self.is_origin and origin is not None:
            return origin.copy()
        options = learner.options() if origin is None else dict(origin.options)
        if self.class_weights:
            options["class_weight"] = [list(pair) for pair in self.class_weights.items()]
        name = learner.estimator if origin is None else origin.learner
        model = Model(
            *(name, options, self._classes),
            **self._learned(name),
            feature_names=self.space.names(),
            encoding=None if origin is None else origin.encoding,
            encoding_arrays={} if origin is None else origin.encoding_arrays,
        )
        return self._with_scaling(model)


def _gathered(rows: CSR, weights: NDArray[Any], ledger: NDArray[Any], count: int) -> Any:
    """Return rows and the averages w − u/c that they need, those alone, by their places.

    The same numbers in the same order as with all the averages, so the same sums.
    """
    at, n = rows.indices, len(rows.indices)
    needed = np.empty((n + 1, *weights.shape[1:]))
    needed[:n] = weights.take(at, 0) - ledger.take(at, 0) / count
    needed[n] = weights[-1] - ledger[-1] / count
    return CSR(rows.data, np.arange(n, dtype=np.int32), rows.indptr, n, rows.constant), needed


def _without_bias(features: Any) -> Any:
    return ... if features is ... else features[:-1]


def _in_order(labels: Iterable[Class]) -> tuple[Class, ...]:
    """Return different labels as NumPy sorts them."""
    return tuple(sorted(dict.fromkeys(labels)))


def _kind(label: Class) -> type:
    return type(label) if isinstance(label, str | bool) else float
