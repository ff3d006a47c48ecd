"""Weights that rows change one by one: their features and classes, and the buffer of a row."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.numbered import ScaledEncoding
from rosenblatt.errors import InputError
from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.single_rows import MISTAKE, RIGHT
from rosenblatt.kernels.spread import FeatureMoments, RowScaler
from rosenblatt.models.feature_spaces import FeatureSpace, NamedFeatures
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Class, Model
from rosenblatt.models.weights import Weights
from rosenblatt.rules import ZERO_CONVENTIONS, pair_scale
from rosenblatt.tasks import Task
from rosenblatt.tasks.label_thresholds import THRESHOLDS
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import State

FIRST_ROOM = 32  # for the features of a row
FIRST_FEATURES = 64  # that weights have room for; doubled whenever they are too few
RUNNING = "running"  # among the arrays of an encoding: what scales the rows to come


class Cuts(NamedTuple):
    """From which scores on labels are predicted."""

    by_label: Mapping[Class, float] = {}  # those that a model had; others 0
    least_best: float = inf  # of the best label, where none is above its own


class OnlineWeights:
    """Weights that learn from the row in a buffer, and grow with new features and classes.

    The state has room for more features than have come up. All that moves its memory goes through
    ``moved``, so that a buffer always knows where the weights are.
    """

    def __init__(
        self,
        learner: Learner,
        space: FeatureSpace,
        classes: Sequence[Class] = (),
        state: State | None = None,
        *,
        width: int = 0,  # features that have a weight
        moments: FeatureMoments | None = None,  # scale the numbers of rows
        cuts: Cuts = Cuts(),  # noqa: B008  # immutable
        log: Log | None = None,  # gets the line of an update
    ) -> None:
        self.learner, self.space, self.moments = learner, space, moments
        self.state = learner.start(0, len(classes)) if state is None else state
        self.width, self.cuts, self.log = width, cuts, log
        self.scaler: RowScaler | None = None
        self.set_classes(classes)

    @classmethod
    def of_model(
        cls,
        model: Model,
        learner: Learner,
        space: FeatureSpace,
        classes: Sequence[Class],
        log: Log | None = None,
    ) -> Self:
        """Return the weights of a model, in memory of their own."""
        state, moments = model.state.copy(), None
        state.keep_average(learner.averaged)
        cuts = Cuts()
        if THRESHOLDS in model.arrays:
            *each, least_best = model.thresholds.tolist()
            cuts = Cuts(dict(zip(model.classes, each, strict=True)), least_best)
        running = model.encoding_arrays.get(RUNNING)
        if running is not None:
            if running.shape != (5, model.n_features):
                raise InputError("What scales the features of the model does not fit their number.")
            moments = FeatureMoments.restored(running)
        how: dict[str, Any] = {"width": model.n_features, "moments": moments, "cuts": cuts}
        self = cls(learner, space, classes, state, **how, log=log)
        self.widen()
        return self

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"buffer": None, "scaler": None, "direct": None}  # of addresses

    @property
    def task(self) -> Task:
        """What an answer is."""
        return self.state.task

    @property
    def undecided(self) -> bool:
        """Whether there is nothing to decide yet: one class without a rival, or no label."""
        return len(self.classes) < self.state.task.fewest

    # What is known grows

    def set_classes(self, classes: Sequence[Class]) -> None:
        """Change the names of the classes that the state has."""
        self.classes = tuple(classes)
        self.numbers: dict[Any, int] = {label: number for number, label in enumerate(classes)}
        # Answers by the number that decides a row, where that is all that it takes
        self.winners = self.state.task.winners(self.classes)
        self.winner_numbers = self.numbers if self.winners else {}
        cuts = [self.cuts.by_label.get(label, 0.0) for label in classes]
        self.thresholds = np.array([*cuts, self.cuts.least_best])
        self.moved()

    def moved(self) -> None:
        """Lay the weights out as rows of this space read them, and forget where they were."""
        self.buffer: RowLearner | None = None  # made when it is needed
        self.direct: dict[Any, int] | None = None  # by which dicts may go to the kernel as they are
        self.state.arrange(by_feature=self.space.sparse)

    def learn_task(self, name: str) -> None:
        """Change to another task before the first row."""
        self.learner = self.learner.of_task(name)
        self.state = self.learner.start(self.state.n_features, len(self.classes))
        self.set_classes(self.classes)

    def move_bias(self, by: float) -> None:
        """Change the bias of two classes."""
        self.state.move_bias(by)

    def take_space(self, space: FeatureSpace) -> None:
        """Change to rows of another kind before the first row."""
        self.space = space
        self.moved()

    def grow(self, classes: Sequence[Class]) -> None:
        """Make room for classes that are new; their weights have been 0 all along."""
        place = {label: number for number, label in enumerate(classes)}
        kept = np.array([place[label] for label in self.classes], np.intp)
        self.state = self.state.with_classes(kept, len(classes), pair_scale(self.learner.step))
        self.set_classes(classes)

    def shrink(self, learner: Learner, state: State, classes: Sequence[Class]) -> None:
        """Go back to what there was before ``grow`` or ``learn_task``; new features stay."""
        if self.state is not state:
            state.widen(self.state.n_features)
            self.learner, self.state = learner, state
            self.set_classes(classes)

    def widen(self) -> None:
        """Make room for features that are new; their weights have been 0 all along."""
        needed = self.width = max(self.width, self.space.n_features)
        if self.space.sparse:  # with room for those to come
            needed = max(FIRST_FEATURES, 1 << (needed - 1).bit_length())
        if needed > self.state.n_features:
            self.state.widen(needed)
            self.moved()
        if self.moments is not None:
            self.moments.widen(self.state.n_features)

    def number(self, x: Any, plain: Any) -> None:
        """Give the names of a row numbers and weights."""
        space, moments = self.space, self.moments
        space.learn(plain)
        if space.n_features != self.width:
            self.widen()
        if moments is not None and space.direct is not None and plain is not x:
            for name, value in x.items():
                if isinstance(value, str) and f"{name}={value}" in space.direct:
                    moments.leave(space.direct[f"{name}={value}"])

    # The row in the buffer

    def filled(self, x: Any) -> RowLearner | None:
        """Write a row to the buffer, where it is one that needs no more than a look."""
        rows, space = self.buffer, self.space
        if rows is None:
            return None
        if type(x) is np.ndarray:
            if x.shape != rows.shape or x.dtype.kind not in "fiub" or not x.size:
                return None
            rows.dense[...] = x
            return rows
        known = space.direct
        usual = type(x) is dict and known is not None and space.n_features == self.width
        return rows if usual and rows.row.fill(known or {}, x) else None

    def put(self, plain: Any) -> RowLearner:
        """Write a plain row to the buffer, unscaled; it grows where it has to."""
        rows = self.buffer or self._new_buffer(FIRST_ROOM)
        numbers, values = self.space.entries(plain, self.width)
        if not self.space.sparse:
            rows.dense[...] = values
            return rows
        if len(numbers) > rows.row.room:
            rows = self._new_buffer(2 * len(numbers))
        rows.row.put(numbers, values)
        return rows

    def learn(self, number: Any, weight: float) -> int:
        """Learn from the row of the buffer; where it cannot be learned nothing changes."""
        rows: Any = self.buffer
        if self.scaler is None:
            return int(rows.learn(number, weight))
        found = self.scaler(learning=True)
        if found == RIGHT:
            found = rows.learn(number, weight)
            if found > MISTAKE:
                self.scaler.undo()
        return found

    def learn_alone(self, plain: Any) -> int:
        """Learn from a row whose class is the only one: it has no rival yet."""
        found = RIGHT
        if self.moments is not None:
            at, values = self.space.entries(plain, self.width)
            row = np.array(values, np.float64), np.array(at, np.int32), np.array([0, len(at)])
            found = RowScaler(self.moments, *row)(learning=True)
        self.state.count += found == RIGHT
        return found

    def decide(self) -> int:
        """Return the number of the class of the row in the buffer, or what is wrong, negative."""
        rows: Any = self.buffer
        found = RIGHT if self.scaler is None else self.scaler(learning=False)
        return rows.predict() if found == RIGHT else -found

    def answer(self, number: int) -> Any:
        """Return what the row is that was decided last, as this number."""
        if self.winners:
            return self.winners[number]
        rows: Any = self.buffer
        return self.answers(np.array([rows.scores()]))[0]

    def answers(self, scores: NDArray[Any]) -> list[Any]:
        """Return what rows are by their scores."""
        task, positive = self.state.task, self.learner.zero == "positive"
        return task.named(task.answers(scores, self.thresholds, positive=positive), self.classes)

    def matrix(self, batch: Sequence[Any]) -> Rows:
        """Return plain rows as the weights read them, unscaled."""
        return self.space.rows(batch, self.width, self.state.n_features, self.learner.constant)

    def _new_buffer(self, room: int) -> RowLearner:
        """Return what learns rows of up to that many features, or dense ones."""
        sparse = self.space.sparse
        rows = row_learner(self.learner, self.state, room if sparse else 0, self.log)
        if self.moments is not None:
            every = np.arange(len(rows.dense), dtype=np.int32), np.array([0, len(rows.dense)])
            row = (rows.row.data, rows.row.indices, rows.row.indptr)
            self.scaler = RowScaler(self.moments, *(row if sparse else (rows.dense, *every)))
        self.buffer = rows
        self._remember(rows)
        return rows

    def _remember(self, rows: RowLearner) -> None:
        """Let rows keep the numbers of names, which stay."""
        if self.space.direct is not None:
            rows.row.remember(self.space.direct, complete=isinstance(self.space, NamedFeatures))
            self.direct = self.space.direct if self.moments is None else None

    # What a model is made of

    def learned(self) -> dict[str, Any]:
        """Return a copy of what a model has, without the room for more."""
        state = self.state.select(np.arange(self.width))
        arrays = {THRESHOLDS: self.thresholds} if self.cuts.by_label else {}
        machine = Weights(state, self.learner.constant)
        return {"machine": machine, "arrays": arrays}

    def with_scaling(self, model: Model) -> Model:
        """Return a model that scales rows as they would be scaled now, and can go on."""
        if self.moments is None:
            return model
        n = model.n_features
        centre, deviation = self.moments.centre()
        divisor = np.where(deviation > 0.0, deviation, 1.0)
        encoding = ScaledEncoding(centre[:n], divisor[:n], model.feature_names)
        arrays = encoding.arrays() | {RUNNING: self.moments.values[:, :n]}
        stored = StoredEncoding(encoding.as_json(), arrays)
        return replace(model, feature_names=None, stored_encoding=stored)


def row_learner(
    learner: Learner, state: State, room: int = 0, log: Log | None = None
) -> RowLearner:
    """Return what learns rows of up to that many features by a learner; by default dense ones."""
    how: dict[str, Any] = {"constant": learner.constant, "room": room, "log": log}
    return RowLearner(state, learner.step, zero=ZERO_CONVENTIONS[learner.zero], **how)


def names_of(model: Model) -> tuple[str, ...] | None:
    """Return the names of the features of a model, which may be scaled."""
    scaled = RUNNING in model.encoding_arrays
    return getattr(model.encoder, "known_names", None) if scaled else model.feature_names
