"""A served learner: lessons by examples, and answers, of weights that a request may undo."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Spellings
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.single_rows import MISTAKE, TOO_LARGE
from rosenblatt.kernels.spread import FeatureMoments
from rosenblatt.mistakes.updates import Mistakes, label_steps
from rosenblatt.models.bias import bias_shift
from rosenblatt.models.export import to_json, to_onnx
from rosenblatt.models.feature_spaces import Features, FeatureSpace
from rosenblatt.models.guarantee import certainty_of
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import NO_ENCODING, Class, Model
from rosenblatt.rules import ZERO_CONVENTIONS
from rosenblatt.service.weights import SCORE_OVERFLOW, Changes, Mark, ServedWeights
from rosenblatt.tasks import Task
from rosenblatt.tasks.certainty import GuaranteeCurve
from rosenblatt.training.examples import Examples
from rosenblatt.training.state import State, recorded_pass, run_pass

Answer = Class | tuple[Class, ...]  # of an example: one label, or any number in order
LESSON_OVERFLOW = (
    "The weights would overflow on this example, which is not learned: its values are too large."
)
UNSCALABLE = "A value of the example is too large to be scaled; the example is not learned."


class LessonResult(NamedTuple):
    """What an example did when it was learned."""

    predicted: Answer | None  # by the weights that decide, before it was learned
    mistake: bool  # of the last weights: what ``n_mistakes_`` counts
    updated: bool  # whether a step was made; rules with a margin learn from right answers, too
    step: float | None  # τ; None where the rule is of second order, or each label has its own
    rival: Class | None  # the class that lost by it
    seen: int  # Algorithm 7's c when it came
    n_classes: int  # that were known with it


class Said(NamedTuple):
    """What is said of rows, or of sentences."""

    labels: list[Any]
    scores: list[Any]  # none where there is nothing to decide yet
    bounds: list[Any] | None = None  # at most which error is promised of each
    probabilities: list[Any] | None = None
    remarks: list[str] | None = None  # on columns that are odd


class Served(Protocol):
    """A model that is served: it learns and answers, and goes back where a request fails."""

    exports: ClassVar[Mapping[str, Callable[[Model], bytes]]]  # beside model files

    @property
    def learner(self) -> Learner:
        """How it learns."""

    @property
    def space(self) -> Any:
        """How what is learned comes."""

    @property
    def task(self) -> Any:
        """What an answer is."""

    @property
    def state(self) -> State:
        """The weights."""

    @property
    def classes(self) -> list[Any]:
        """The classes known so far, sorted."""

    @property
    def n_features(self) -> int:
        """How many features have a weight."""

    def said(self, batch: Sequence[Any], *, one: bool) -> Said:
        """Return what is said of rows; of one that comes alone with its probability."""

    def checked(self, answer: Any) -> Any:
        """Return the answer of an example as the model has it; or raise."""

    def learn(self, features: Any, answer: Any) -> "LessonResult":
        """Learn from one example."""

    def fold(self, batch: Sequence[tuple[Any, Any]]) -> Any:
        """Learn from examples of the journal, which were learned before, in few passes."""

    def begin(self, *, single: bool = False) -> Any:
        """Return a mark that ``undo`` goes back to; ``single``: one example comes at most."""

    def undo(self, mark: Any) -> None:
        """Go back to the mark: nothing since has been learned."""

    def changes(self) -> Any:
        """Return what has changed since the last call."""

    def apply(self, changes: Any) -> None:
        """Change to what another one of the same space was when it gave these changes."""

    def view(self) -> "Served":
        """Return a copy to read from: weights of its own, the numbering shared."""

    def model(self) -> Model | None:
        """Return the model as a file has it, in memory of its own; None without a class."""


@dataclass(eq=False)
class ServedLearner:
    """Learns from examples, answers, and goes back where a request fails.

    Its space grows with the examples and is shared with readers, who have a ``view``.
    """

    weights: ServedWeights
    most_classes: int = 1000
    origin: Model | None = None  # the model file that it goes on from
    is_origin: bool = False  # whether nothing has been learned since
    promises: GuaranteeCurve | None = None  # of the answers of the model file
    class_weights: Mapping[Any, float] = field(default_factory=dict)  # of steps; default 1
    exports: ClassVar[Mapping[str, Callable[[Model], bytes]]] = {
        "json": lambda model: to_json(model).encode(),
        "onnx": to_onnx,
    }

    @classmethod
    def new(
        cls,
        learner: Learner,
        space: FeatureSpace,
        classes: Iterable[Class] = (),
        most_classes: int = 1000,
        *,
        scale: bool = False,
    ) -> "ServedLearner":
        """Return a learner before its first example.

        ``scale`` scales numbers by their running mean and deviation.
        """
        moments = FeatureMoments(0) if scale else None
        known, log = _in_order(classes), _row_log(learner)
        weights = ServedWeights(learner, space, known, moments=moments, log=log)
        weights.widen()
        return cls(weights, most_classes)

    @classmethod
    def of_model(
        cls,
        model: Model,
        learner: Learner,
        space: FeatureSpace,
        most_classes: int = 1000,
        class_weights: Mapping[Any, float] | None = None,
    ) -> "ServedLearner":
        """Return a learner that goes on from a model, in memory of its own."""
        weights = ServedWeights.of_model(model, learner, space, model.classes, _row_log(learner))
        apart = certainty_of(model)
        promises = None if apart is None else apart.curve()
        how: dict[str, Any] = {"origin": model, "is_origin": True, "promises": promises}
        return cls(weights, most_classes, **how, class_weights=class_weights or {})

    @property
    def learner(self) -> Learner:
        """How it learns."""
        return self.weights.learner

    @property
    def space(self) -> FeatureSpace:
        """How features get numbers."""
        return self.weights.space

    @property
    def state(self) -> State:
        """The weights, which may have room for more features."""
        return self.weights.state

    @property
    def task(self) -> Task:
        """What an answer is."""
        return self.weights.state.task

    @property
    def classes(self) -> list[Class]:
        """The classes known so far, sorted."""
        return list(self.weights.classes)

    @property
    def n_features(self) -> int:
        """How many features have a weight."""
        return self.weights.width

    @property
    def undecided(self) -> bool:
        """Whether there is nothing to decide yet: one class without a rival, or no label."""
        return self.weights.undecided

    # Answers

    @property
    def default(self) -> Answer | None:
        """What it predicts while there is nothing to decide: no label, or the only class if any."""
        found: Answer | None = self.task.default(self.weights.classes)
        return found

    def rows(self, batch: Sequence[Features]) -> Rows:
        """Return features as rows that the weights can read."""
        return self.weights.rows(batch)

    def scores(self, batch: Sequence[Features]) -> NDArray[Any]:
        """Return the score of each row: above 0 for the second of two classes, else one a class."""
        return self.weights.scores(batch)

    def answers(self, scores: NDArray[Any]) -> Sequence[Answer]:
        """Return what scores predict."""
        return self.weights.answers(scores)

    def promised(self, answers: Sequence[Answer], scores: NDArray[Any]) -> list[Any] | None:
        """Return at most which error is promised of each answer, or of each label of it.

        None where the model file has no guarantee, or has learned since.
        """
        if self.promises is None or not self.is_origin:
            return None
        bounds = self.promises.bounds_of(self.task.confidence(scores)).tolist()
        numbers = self.weights.numbers
        pairs = zip(bounds, answers, strict=True)
        return [self.task.of_members(bound, answer, numbers) for bound, answer in pairs]

    def said(self, batch: Sequence[Features], *, one: bool) -> "Said":
        """Return what is said of rows; of one that comes alone with its probability."""
        if self.undecided or not batch:
            self.rows(batch)  # raises for what is no row
            return Said([self.default] * len(batch), [])
        if one:
            label, score = self.decided(batch[0])
            labels, scores, array = [label], [score], np.asarray([score])
        else:
            array = self.scores(batch)
            labels, scores = [*self.answers(array)], array.tolist()
        bounds = self.promised(labels, array)
        probabilities, origin = None, self.origin
        if one and self.is_origin and origin is not None and origin.calibration is not None:
            (each,) = origin.probabilities_of(array).tolist()
            probabilities = [origin.task.told_probability(each)]
        return Said(labels, scores, bounds, probabilities, self.space.remarks())

    def decided(self, features: Features) -> tuple[Answer, Any]:
        """Return the answer for one row and its score, or a list of one a class."""
        weights = self.weights
        row = weights.filled(features) or weights.put(weights.space.plain(features))
        return self._decided(), row.scores()

    def _decided(self) -> Any:
        """Return what the row in the buffer is predicted to be."""
        number = self.weights.decide()
        if number < 0:
            raise WeightOverflowError(SCORE_OVERFLOW)
        return self.weights.answer(number)

    # Lessons

    def leave_origin(self) -> None:
        """Take back what a threshold or a calibration moved, once there is something to learn.

        They were those of the old weights; ``rosenblatt train --from`` drops them, too.
        """
        if self.is_origin and self.origin is not None and (moved := bias_shift(self.origin)):
            self.weights.move_bias(moved)
            self.weights.touch()
        self.is_origin = False

    def learn(self, features: Features, answer: Answer) -> LessonResult:
        """Learn from one example; where it raises, ``undo`` what it may have made room for."""
        weights, task = self.weights, self.weights.state.task
        labels, predicted = task.members(answer), task.default(weights.classes)
        self.check_labels(labels)
        plain, row, width = weights.space.plain(features), None, weights.width
        if not weights.undecided:
            row = weights.filled(features) or weights.put(plain)
            predicted = self._decided()
        counts = bool(labels or weights.classes)  # else there is no label yet that it could teach
        weight = self.class_weights.get(answer, 1.0) if counts else 0.0
        if counts:
            weights.number(features, plain)
            self.leave_origin()
            self.grow(labels)
        count, n = weights.state.count, len(weights.classes)
        if weights.undecided or weight == 0.0:  # which is as if it had not come
            weights.matrix([plain])  # raises for what is no row
            if weight != 0.0 and weights.learn_alone(plain) > MISTAKE:
                raise WeightOverflowError(UNSCALABLE)
            nothing = weights.stepped(updated=False)
            return LessonResult(predicted, False, False, *nothing, count, n)  # noqa: FBT003
        scaled = weights.moments is not None
        if row is None or scaled or width != weights.width or row is not weights.buffer:
            row = weights.filled(features) or weights.put(plain)
        weights.note(row)
        before = weights.before(row)
        found = weights.learn(task.row_target([weights.numbers[one] for one in labels]), weight)
        if found > MISTAKE:
            raise WeightOverflowError(UNSCALABLE if found == TOO_LARGE else LESSON_OVERFLOW)
        updated = weights.updated(row, before)
        if updated or scaled:
            weights.touch(row)
        stepped = weights.stepped(updated=updated)
        return LessonResult(predicted, found == MISTAKE, updated, *stepped, count, n)

    def fold(self, batch: Sequence[tuple[Features, Answer]], label: Class | None = None) -> Log:
        """Learn from examples of the journal, which were learned before, in few passes.

        Returns the steps of one of several labels if it is given; they name examples by their place
        in the batch.
        """
        start, steps, weights = 0, Mistakes(), self.weights
        members = [self.task.members(answer) for _, answer in batch]
        if not weights.classes:  # no label is known until an example has one
            start = next((k for k, labels in enumerate(members) if labels), len(batch))
        if weights.moments is not None:  # each row is scaled by those before it
            for features, answer in batch[start:]:
                self.learn(features, answer)
            return steps.updates
        if start < len(batch):
            self.leave_origin()
        while start < len(batch):
            self.grow(members[start])
            stop = start + 1
            while stop < len(batch) and weights.numbers.keys() >= {*members[stop]}:
                stop += 1
            plain = [weights.space.plain(features) for features, _ in batch[start:stop]]
            for (features, _), one in zip(batch[start:stop], plain, strict=True):
                weights.number(features, one)
            numbers = [[weights.numbers[one] for one in row] for row in members[start:stop]]
            targets, sets = self.task.row_targets(numbers)
            each = [self.class_weights.get(answer, 1.0) for _, answer in batch[start:stop]]
            weight = np.array(each) if self.class_weights else None
            examples = Examples(weights.matrix(plain), targets, weight, sets=sets)
            zero = ZERO_CONVENTIONS[self.learner.zero]
            visit = self.state, examples, examples.numbers(), self.learner.step, zero
            if label in weights.numbers:
                _, made = recorded_pass(*visit)
                made = label_steps(made, weights.numbers[label])
                steps.extend(made._replace(row=made.row + start), len(made.row), self.state.count)
            else:
                run_pass(*visit)
            start = stop
        weights.touch()
        return steps.updates

    def checked(self, answer: Answer) -> Answer:
        """Return the answer of an example as the model has it, labels in order; or raise."""
        task = self.task
        if not task.fits(answer) or (isinstance(answer, tuple) and None in answer):
            got = "a list" if isinstance(answer, tuple) else f"{answer!r:.80}"
            raise InputError(f"The model takes {task.form} for each example; got {got}.")
        labels = [self.known(one) for one in task.members(answer)]
        self.check_labels(labels)
        found: Answer = task.joined(labels)
        return found

    def check_labels(self, labels: Sequence[Class]) -> None:
        """Raise InputError for labels that cannot be classes of this model."""
        known = self.weights.classes
        every = (*known, *labels)
        for label in labels:
            if _kind(label) is not _kind(every[0]):
                first = ", ".join(f"{one!r:.80}" for one in (known or every[:1])[:3])
                so_far = f"of another type than the classes so far, {first}"
                raise InputError(f"The label {label!r:.80} is {so_far}.")
        new = [label for label in labels if label not in self.weights.numbers]
        if new and len(known) + len(new) > self.most_classes:
            raise InputError(
                f"The label {new[-1]!r:.80} is new and the model has all {self.most_classes} "
                "classes that it may have."
            )

    def known(self, label: Class) -> Class:
        """Return a label as the class is called that it names, if any: 1 for 1.0 and "1"."""
        classes = self.weights.classes
        if not classes or (type(label) is bool and type(classes[0]) is not bool):
            return label
        number = self.weights.numbers.get(label)
        if number is None:
            texts = [str(one) for one in classes]
            text = str(label) if str(label) in texts else Spellings(texts).find(label)
            number = None if text is None else texts.index(text)
        return label if number is None else classes[number]

    def grow(self, labels: Sequence[Class]) -> None:
        """Make room for classes that are new."""
        if not self.weights.numbers.keys() >= {*labels}:
            self.weights.grow(_in_order((*self.weights.classes, *labels)))

    def begin(self, *, single: bool = False) -> tuple[Mark, bool]:
        """Return a mark that ``undo`` goes back to; ``single``: one example comes at most."""
        return self.weights.begin(single=single, moves=self.is_origin), self.is_origin

    def undo(self, mark: tuple[Mark, bool]) -> None:
        """Go back to the mark: nothing since has been learned."""
        before, self.is_origin = mark
        self.weights.undo(before)

    # What readers see

    def changes(self) -> Changes:
        """Return what has changed since the last call."""
        return self.weights.changes()

    def apply(self, changes: Changes) -> None:
        """Change to what another learner of the same space was when it gave these changes."""
        self.weights.apply(changes)
        self.is_origin = False

    def view(self) -> "ServedLearner":
        """Return a copy to read from: weights of its own, the numbering shared."""
        return replace(self, weights=self.weights.view())

    def model(self) -> Model | None:
        """Return the model as a file has it, in memory of its own; None without a class."""
        weights, origin, learner = self.weights, self.origin, self.learner
        if not weights.classes:
            return None
        if self.is_origin and origin is not None:
            return origin.copy()
        made_by = LearnerRecord.of(learner)
        if origin is not None:
            made_by = LearnerRecord.of(learner, origin.learner, origin.options)
        if self.class_weights:
            pairs = [list(pair) for pair in self.class_weights.items()]
            made_by = replace(made_by, options=made_by.options | {"class_weight": pairs})
        model = Model(
            *(made_by, weights.classes),
            **weights.learned(),
            feature_names=weights.space.names(),
            stored_encoding=NO_ENCODING if origin is None else origin.stored_encoding,
        )
        return weights.with_scaling(model)


def _row_log(learner: Learner) -> Log | None:
    """Return room for the step of an example, where its rule and task give it one."""
    return None if learner.second_order else learner.answer.row_log()


def _in_order(labels: Iterable[Class]) -> tuple[Class, ...]:
    """Return different labels as NumPy sorts them."""
    return tuple(sorted(dict.fromkeys(labels)))


def _kind(label: Class) -> type:
    return type(label) if isinstance(label, str | bool) else float
