"""One row at a time, by name or by place, with the two verbs of river: learn_one, predict_one."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite
from os import PathLike, fspath
from typing import Any, Self, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.numbered import ScaledEncoding
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.single_rows import MISTAKE, NOT_FINITE, OVERFLOW, RIGHT, TOO_LARGE, UNUSUAL
from rosenblatt.kernels.spread import FeatureMoments, RowScaler
from rosenblatt.lazy import public_name
from rosenblatt.models.continuation import with_labels
from rosenblatt.models.feature_spaces import (
    MOST_FEATURES,
    ArrayFeatures,
    FeatureSpace,
    HashedFeatures,
    NamedFeatures,
)
from rosenblatt.models.label_thresholds import above
from rosenblatt.models.learner import MANY, Learner
from rosenblatt.models.model import MOVED, THRESHOLDS, Class, Model, model_of, record_of
from rosenblatt.parameters import (
    CHECKS,
    FLAG,
    GOALS,
    MEMORIES,
    Check,
    check_parameters,
    one_of,
    optional,
)
from rosenblatt.rules import ZERO_CONVENTIONS, Interval, RuleValues, pair_scale
from rosenblatt.training.history import Outcome
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import overflow

Labels = Collection[Class]  # of a row that may have several
FIRST_ROOM = 32  # for the features of a row
FIRST_FEATURES = 64  # that weights have room for; doubled whenever they are too few
MOST_HASH_BITS = 28
CHECKED: dict[str, Check | Interval] = {
    "rule": CHECKS["rule"],
    "memory": one_of([None, *MEMORIES]),
    "hash_bits": optional(Interval(low=1, high=MOST_HASH_BITS, closed=True, whole=True)),
    "scale": FLAG,
    "zero": CHECKS["zero"],
    "fit_intercept": CHECKS["fit_intercept"],
    "goal": one_of([None, *GOALS]),
}
RUNNING = "running"  # among the arrays of an encoding: what scales the rows to come
HASHED_NAMES = "hashed_names"  # in the record of a model's training: bits of the hash


class OnlineLearner:
    """Learns from one row after the other, and predicts at any time.

    A row is a dict of named features, or an array or list of numbers. Names get numbers as they
    come up, or with ``hash_bits`` by their hash, so that memory stays bounded. A feature that a
    dict leaves out is 0; one whose value is text counts as the feature "name=text" of value 1, as
    in scikit-learn's ``DictVectorizer``. New classes may come up at any time.

    A row has one class, or a set, list or tuple of any number of labels: the first row decides. A
    label has a weight vector of its own, as in ``MultilabelClassifier``, and learns from every row
    since it came up first.

    After any rows the weights are those of ``partial_fit`` on the same rows, bit for bit. It is
    made for speed, and not for several threads at once.

    Parameters
    ----------
    rule : str, default "arow"
        "perceptron", "margin", "pa", "pa1", "pa2", "arow", "cw", "scw1" or "scw2".
    memory : "average" or "last", default None
        Which weights predict; by default "average", for the second-order rules "last".
    classes : labels, default ()
        Classes or labels that are yet to come. A row teaches nothing while its class is the only
        one known.
    hash_bits : int, default None
        Names are hashed to 2 to the power of this many features, 28 at most.
    scale : bool, default False
        Scale each number by the mean and the deviation that it has had in the rows learned so far,
        this one included. It is for measurements of unequal scales; words and texts are left as
        they are, and a number that has had one value counts as 0. Weights stay as they are while
        the scaling settles. Not with ``hash_bits``.
    zero : "mistake", "negative" or "positive", default "mistake"
        What an activation of zero is, as of the estimators.
    fit_intercept : bool, default True
        Whether to learn a bias.
    goal : "each" or "ranking", default None
        When a row of several labels is right, as of ``MultilabelClassifier``; every row must then
        come with a set, list or tuple of labels. By default "each", if the first row does.
    **parameters
        Those of the rule: ``eta0``, ``margin``, ``C``, ``r``, ``confidence``.

    Examples
    --------
    >>> from rosenblatt import OnlineLearner
    >>> learner = OnlineLearner("arow", r=0.5)
    >>> learner.predict_one({"size": 2.0}) is None
    True
    >>> learner.learn_one({"size": 2.0, "colour": "red"}, "apple")
    >>> learner.learn_one({"size": 9.0, "colour": "green"}, "melon")
    >>> learner.learn_one({"size": 2.5, "colour": "red"}, "apple")
    >>> learner.predict_one({"size": 8.0})
    'melon'
    >>> learner.to_estimator().feature_names_in_
    array(['size', 'colour=red', 'colour=green'], dtype=object)

    >>> tags = OnlineLearner("perceptron")
    >>> for _ in range(3):
    ...     tags.learn_one({"chess": 1}, {"game"})
    ...     tags.learn_one({"chess": 1, "script": 1}, {"game", "perl"})
    ...     tags.learn_one({"mail": 1}, set())
    >>> sorted(tags.predict_one({"chess": 1, "script": 1}))
    ['game', 'perl']
    """

    def __init__(
        self,
        rule: str = "arow",
        *,
        memory: str | None = None,
        classes: Iterable[Class] = (),
        hash_bits: int | None = None,
        scale: bool = False,
        zero: str = "mistake",
        fit_intercept: bool = True,
        goal: str | None = None,
        **parameters: Unpack[RuleValues],
    ) -> None:
        given = (rule, memory, hash_bits, scale, zero, fit_intercept, goal)
        check_parameters("OnlineLearner", dict(zip(CHECKED, given, strict=True)), CHECKED)
        shared: dict[str, Any] = {"zero": zero, "fit_intercept": bool(fit_intercept)}
        learner = Learner(rule, memory or "", cast("dict[str, float | None]", parameters), **shared)
        if scale and hash_bits is not None:
            msg = "OnlineLearner cannot scale features that share a number: leave hash_bits out."
            raise InputError(msg)
        learner = learner if goal is None else learner.of_labels(goal)
        self._labels = np.unique(np.asarray([*classes]))
        space: FeatureSpace = NamedFeatures(limit=MOST_FEATURES, checked=True)
        if hash_bits is not None:
            space = HashedFeatures(hash_bits, checked=True)
        self._begin(learner, space, self._labels.tolist(), scale=scale)
        self._named: bool | None = None  # None: no row has come yet
        self._open = goal is None  # whether the first row decides that rows have several labels
        self.n_rows = 0  # learned from
        self.n_mistakes = 0  # made on them

    def _begin(
        self, learner: Learner, space: FeatureSpace, classes: Sequence[Class], *, scale: bool
    ) -> None:
        self.learner, self.space = learner, space
        self.moments = FeatureMoments(0) if scale else None
        self._cuts: dict[Class, float] = {}  # thresholds of labels that a model had; others 0
        self._least_best = inf  # from which score on the best label is taken, where none is above
        self.state = learner.start(0, len(classes))
        self._width = 0  # features that have a weight; the state has room for more
        self._log: Log | None = None  # gets the line of an update
        self._scaler: RowScaler | None = None
        self._set_classes(classes)

    @classmethod
    def from_model(cls, fitted: Any, *, hash_bits: int | None = None) -> Self:
        """Return a learner that goes on from a fitted estimator, a ``Model`` or a model file.

        Parameters
        ----------
        fitted : estimator, Model, or path of a model file
            Of a linear learner. Where its features have names, rows are dicts.
        hash_bits : int, default None
            The one that names were hashed by, where a record of that was lost.
        """
        model = (
            Model.load(fspath(fitted), several=True)
            if isinstance(fitted, str | PathLike)
            else model_of(fitted, several=True)
        )
        model.check_weights()
        encodes = model.encoding is not None and RUNNING not in model.encoding_arrays
        if model.voted or encodes or model.options.get("class_weight"):
            reason = "votes" if model.voted else "weighs its classes"
            reason = "makes features of what it is given" if encodes else reason
            raise InputError(f"OnlineLearner cannot go on from a {model.learner} that {reason}.")
        learner = model.how
        bits = hash_bits or model.training.get(HASHED_NAMES)
        self = cls(learner.rule, memory=learner.memory, hash_bits=bits)
        self._open = False
        if bits is not None and model.n_features != 1 << bits:
            msg = f"hash_bits={bits} is {1 << bits} features; the model has {model.n_features}."
            raise InputError(msg)
        names = names_of(model)
        if bits is None:
            self.space = ArrayFeatures(model.n_features)
            if names is not None:
                self.space = NamedFeatures(names, MOST_FEATURES, checked=True)
        self._named = self.space.sparse
        self.learner, self._labels = learner, model.labels
        self._resume(model, self._labels.tolist())
        if MOVED in model.training:  # what was learned is where it was before
            self.state.by_class(self.state.weights)[0, -1] += model.training[MOVED]
        self.n_rows, self.n_mistakes = (
            model.outcome.get(name, 0) for name in ("n_iter", "n_mistakes")
        )
        return self

    def _resume(self, model: Model, classes: Sequence[Class]) -> None:
        self.state, self._width = model.copy().state, model.n_features
        self.state.keep_average(self.learner.averaged)
        if THRESHOLDS in model.arrays:
            *cuts, self._least_best = model.thresholds.tolist()
            self._cuts = dict(zip(model.classes, cuts, strict=True))
        running = model.encoding_arrays.get(RUNNING)
        if running is not None:
            if running.shape != (5, model.n_features):
                raise InputError("What scales the features of the model does not fit their number.")
            self.moments = FeatureMoments.restored(running)
        self._set_classes(classes)
        self._widen()

    def learn_one(self, x: Any, y: Class | Labels, w: float = 1.0) -> None:
        """Learn from one row.

        Parameters
        ----------
        x : dict of numbers or texts by name, or array or list of numbers
        y : str, bool or whole number; or set, frozenset, list or tuple of them
            Its class; or its labels, of which there may be none.
        w : number of at least 0, default 1
            Multiplies the step. A row of weight 0 is left out altogether.
        """
        try:
            number = self._numbers.get(y)
        except TypeError:  # a set or list of labels
            number = None
        if number is None or w != 1.0 or self.learner.labels:
            self._learn_unusual(x, y, w)
            return
        rows: Any = self._rows
        found = UNUSUAL
        if self._direct and type(x) is dict:
            found = rows.learn_named(number, self.space.direct, x)
        if found == UNUSUAL:
            found = self._learn(x, number, w)
        if found > MISTAKE:
            raise self._error(found, x)
        self.n_rows += 1
        self.n_mistakes += found

    def _learn(self, x: Any, number: Any, w: float) -> int:
        """Learn from a row of a known class, or labels, however it looks; return what was found."""
        rows = self._rows
        if rows is None or not self._filled(rows, x):
            plain = self._plain(x)
            self._number(x, plain)
            if self.undecided:
                return self._learn_alone(plain)
            rows = self._put(plain)
        return rows.learn(number, w) if self._scaler is None else self._step(rows, number, w)

    @property
    def undecided(self) -> bool:
        """Whether there is nothing to decide yet: one class without a rival, or no label."""
        return len(self._classes) < (1 if self.learner.labels else 2)

    def _learn_alone(self, x: Any) -> int:
        """Learn from a row whose class is the only one: it has no rival yet."""
        found = RIGHT
        if self.moments is not None:
            at, values = self.space.entries(x, self._width)
            row = np.array(values, np.float64), np.array(at, np.int32), np.array([0, len(at)])
            found = RowScaler(self.moments, *row)(learning=True)
        self.state.count += found == RIGHT
        return found

    def _step(self, rows: RowLearner, number: Any, w: float) -> int:
        """Learn from the row of the buffer; where it cannot be learned nothing changes."""
        if self._scaler is None:
            return rows.learn(number, w)
        found = self._scaler(learning=True)
        if found == RIGHT:
            found = rows.learn(number, w)
            if found > MISTAKE:
                self._scaler.undo()
        return found

    def _learn_unusual(self, x: Any, y: Class | Labels, w: float) -> None:
        """Learn from a row of a new class, several labels or another weight.

        One that is refused adds no class.
        """
        if not (isfinite(w) and w >= 0.0):
            raise InputError(f"w must be a finite number of at least 0; got {w!r}.")
        if w == 0.0:
            return
        learner, state, labels = self.learner, self.state, self._labels
        try:
            numbers = self._class_numbers(self._labels_of(y))
            found = self._learn(x, numbers if self.learner.labels else numbers[0], w)
            if found > MISTAKE:
                raise self._error(found, x)
        except (InputError, WeightOverflowError):
            if self.state is not state:
                state.widen(self.state.n_features)  # for names that came up with it
                self.learner, self.state, self._labels = learner, state, labels
                self._set_classes(labels.tolist())
            raise
        self.n_rows += 1
        self.n_mistakes += found

    def _labels_of(self, y: Class | Labels) -> Sequence[Class]:
        """Return the class of a row, or its labels; the first row decides which of both it has."""
        several = isinstance(y, MANY)
        if several and self._open and not self.learner.labels and self.n_rows == 0:
            self.learner = self.learner.of_labels(GOALS[0])
            self.state = self.learner.start(self.state.n_features, len(self._classes))
            self._moved()
        if several == bool(self.learner.labels):
            return [*cast("Labels", y)] if several else [cast("Class", y)]
        if several:
            reason = 'each row has had one class; for several labels make one with goal="each"'
        else:
            reason = "rows may have several labels; give a set, list or tuple of them"
        raise InputError(f"This OnlineLearner cannot learn {y!r:.80}: {reason}.")

    def predict_one(self, x: Any) -> Any:
        """Return the class of one row, or the set of its labels; None before the first row.

        Names that have not been learned count for nothing. A label is predicted where its score is
        above 0, or above the threshold that it had in the model that this learner goes on from.
        """
        if self.n_rows == 0:
            return None
        rows: Any = self._rows
        number = UNUSUAL
        if self._direct and type(x) is dict:
            number = rows.predict_named(self.space.direct, x)
        if number == UNUSUAL:
            if self.undecided:
                self._plain(x)
                return self._classes[0] if self._classes else set()
            if rows is None or not self._filled(rows, x):
                rows = self._put(self._plain(x))
            number = rows.predict() if self._scaler is None else self._decide(rows)
        if number < 0:
            raise self._error(-number, x)
        return {*self._given(self._rows)} if self.learner.labels else self._classes[number]

    def scores_one(self, x: Any) -> dict[Class, float]:
        """Return the score of each class or label on one row; the sign of one speaks for it.

        Of two classes both share a score, with either sign.
        """
        if self.undecided:
            self._plain(x)
            return dict.fromkeys(self._classes, 0.0)
        rows = self._entered(x)
        number = self._decide(rows)
        if number < 0:
            raise self._error(-number, x)
        scores = rows.scores()
        each = scores if isinstance(scores, list) else [-scores, scores]
        return dict(zip(self._classes, each, strict=True))

    def _given(self, rows: Any) -> tuple[Class, ...]:
        """Return the labels of the row that was decided last."""
        return self._label_sets(np.array([rows.scores()]))[0]

    def _label_sets(self, scores: NDArray[Any]) -> list[tuple[Class, ...]]:
        """Return the labels that scores predict, where a row may have several."""
        given = above(scores, self._thresholds, positive=self.learner.zero == "positive")
        return [tuple(self._classes[k] for k in np.flatnonzero(row).tolist()) for row in given]

    def _decide(self, rows: RowLearner) -> int:
        """Return the number of the class of the row in the buffer, or what is wrong, negative."""
        found = RIGHT if self._scaler is None else self._scaler(learning=False)
        return rows.predict() if found == RIGHT else -found

    @property
    def classes(self) -> list[Class]:
        """The classes known so far, sorted."""
        return list(self._classes)

    @property
    def n_features(self) -> int:
        """How many features have a weight."""
        return self._width

    @property
    def model_(self) -> Model:
        """A copy of what was learned as a ``Model``: what ``rosenblatt.save`` writes."""
        if self.n_rows == 0:
            raise InputError("This OnlineLearner has learned nothing yet.")
        model = Model(
            self.learner.estimator,
            self.learner.options(),
            self._classes,
            **self._learned(self.learner.estimator),
            **record_of(Outcome([], "max_iter", 0)),
            training={"label_type": self._labels.dtype.str},
        )
        model.outcome |= {"n_iter": self.n_rows, "n_mistakes": self.n_mistakes}
        if isinstance(self.space, HashedFeatures):
            model.training[HASHED_NAMES] = self.space.bits
        model.feature_names = names = self.space.names()
        if names is not None and len(set(names)) < len(names):
            raise InputError("Two features have the same name once it is text, such as 1 and '1'.")
        return self._with_scaling(model)

    def _learned(self, estimator: str) -> dict[str, Any]:
        """Return a copy of what a model of an estimator has, without the room for more."""
        used = np.append(np.arange(self._width), self.state.n_features)  # the bias stands last
        vectors = {
            name: part.take(used, axis=1) if isinstance(part, np.ndarray) else part
            for name, part in self.state.vectors(copied=False).items()
        }
        arrays = {THRESHOLDS: self._thresholds} if self._cuts else {}
        described = self.learner.description_beside(estimator)
        return {**vectors, "arrays": arrays, "described": described}

    def _with_scaling(self, model: Model) -> Model:
        """Return a model that scales rows as they would be scaled now, and can go on."""
        if self.moments is None:
            return model
        n = model.n_features
        centre, deviation = self.moments.centre()
        divisor = np.where(deviation > 0.0, deviation, 1.0)
        encoding = ScaledEncoding(centre[:n], divisor[:n], model.feature_names)
        arrays = encoding.arrays() | {RUNNING: self.moments.values[:, :n]}
        return replace(
            model, feature_names=None, encoding=encoding.as_json(), encoding_arrays=arrays
        )

    def to_estimator(self) -> Any:
        """Return the estimator that has learned the same, as ``rosenblatt.load`` would."""
        return public_name("load")(self.model_)

    def __repr__(self) -> str:
        given = {"memory": self.learner.memory} | dict(self.learner.values)
        given |= {"goal": self.learner.labels} if self.learner.labels else {}
        described = "".join(f", {name}={value!r}" for name, value in given.items())
        return f"OnlineLearner({self.learner.rule!r}{described})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_rows": None, "_scaler": None, "_direct": False}  # of addresses

    def _set_classes(self, classes: Sequence[Class]) -> None:
        self._classes = tuple(classes)
        self._numbers: dict[Any, int] = {label: number for number, label in enumerate(classes)}
        cuts = [self._cuts.get(label, 0.0) for label in classes]
        self._thresholds = np.array([*cuts, self._least_best])
        self._moved()

    def _moved(self) -> None:
        self._rows: RowLearner | None = None  # made when it is needed
        self._direct = False  # whether dicts may go to the kernel as they are

    def _class_numbers(self, labels: Sequence[Any]) -> list[int]:
        """Return the different numbers of classes, new or not."""
        known = self._labels
        for y in labels:
            if not isinstance(y, Hashable) or y not in self._numbers:
                label = np.asarray(y)
                whole = label.dtype.kind != "f" or (isfinite(label) and label == np.rint(label))
                if label.ndim or label.dtype.kind not in "biufU" or not whole:
                    raise InputError(f"A class must be text, a whole number or a bool; got {y!r}.")
                known = with_labels(known, label.reshape(1))
        if known is not self._labels:
            self._labels = known
            self._grow(known.tolist())
        return [*dict.fromkeys(self._numbers[y] for y in labels)]

    def _grow(self, classes: Sequence[Class]) -> None:
        """Make room for classes that are new; their weights have been 0 all along."""
        place = {label: number for number, label in enumerate(classes)}
        kept = np.array([place[label] for label in self._classes], np.intp)
        self.state = self.state.with_classes(kept, len(classes), pair_scale(self.learner.step))
        self._set_classes(classes)

    def _widen(self) -> None:
        """Make room for features that are new; their weights have been 0 all along."""
        needed = self._width = max(self._width, self.space.n_features)
        if self.space.sparse:  # with room for those to come
            needed = max(FIRST_FEATURES, 1 << (needed - 1).bit_length())
        if needed > self.state.n_features:
            self.state.widen(needed)
            self._moved()
        if self.moments is not None:
            self.moments.widen(self.state.n_features)

    def _filled(self, rows: RowLearner, x: Any) -> bool:
        """Write a row to the buffer, where it is one that needs no more than a look."""
        if type(x) is np.ndarray:
            if x.shape != rows.shape or x.dtype.kind not in "fiub" or not x.size:
                return False
            rows.dense[...] = x
            return True
        space, known = self.space, self.space.direct
        usual = type(x) is dict and known is not None and space.n_features == self._width
        return usual and rows.row.fill(known or {}, x)

    def _entered(self, x: Any, plain: Any = None) -> RowLearner:
        """Return what decides a row and learns from it, with this row in its buffer, unscaled."""
        rows = self._rows
        if rows is not None and rows.learns(self.state) and self._filled(rows, x):
            return rows
        return self._put(self._plain(x) if plain is None else plain)

    def _number(self, x: Any, plain: Any) -> None:
        space, moments = self.space, self.moments
        space.learn(plain)
        self._named = space.sparse
        if space.n_features != self._width:
            self._widen()
        if moments is not None and space.direct is not None and plain is not x:
            for name, value in x.items():
                if isinstance(value, str) and f"{name}={value}" in space.direct:
                    moments.leave(space.direct[f"{name}={value}"])

    def _put(self, x: Any) -> RowLearner:
        """Write a plain row to the buffer, which grows where it has to."""
        rows = self._rows
        if rows is None or not rows.learns(self.state):
            rows = self._new_rows(FIRST_ROOM)
        numbers, values = self.space.entries(x, self._width)
        if not self.space.sparse:
            rows.dense[...] = values
            return rows
        if len(numbers) > rows.row.room:
            rows = self._new_rows(2 * len(numbers))
        rows.row.put(numbers, values)
        return rows

    def _matrix(self, batch: Sequence[Any]) -> Rows:
        """Return plain rows as the weights read them, unscaled."""
        room, constant = self.state.n_features, self.learner.constant
        return self.space.rows(batch, self._width, room, constant)

    def _new_rows(self, room: int) -> RowLearner:
        """Return what learns rows of up to that many features, or dense ones, in its buffer."""
        sparse = self.space.sparse
        learner, zero = self.learner, ZERO_CONVENTIONS[self.learner.zero]
        how: dict[str, Any] = {"constant": learner.constant, "log": self._log}
        how["room"] = room if sparse else 0
        self._rows = rows = RowLearner(self.state, learner.step, zero=zero, **how)
        if self.moments is not None:
            every = np.arange(len(rows.dense), dtype=np.int32), np.array([0, len(rows.dense)])
            row = (rows.row.data, rows.row.indices, rows.row.indptr)
            self._scaler = RowScaler(self.moments, *(row if sparse else (rows.dense, *every)))
        self._remember(rows)
        return rows

    def _remember(self, rows: RowLearner) -> None:
        """Let rows keep the numbers of names, which stay; ``ServedLearner`` may take them back."""
        if self.space.direct is not None:
            rows.row.remember(self.space.direct, complete=isinstance(self.space, NamedFeatures))
            self._direct = self.moments is None

    def _plain(self, x: Any) -> Any:
        """Return a row as the feature space takes it; raise InputError for what is no row."""
        named = isinstance(x, Mapping)
        if self._named not in {None, named}:
            raise InputError(
                "This OnlineLearner has learned from {}; got a row of type {}.".format(
                    "dicts of named features" if self._named else "arrays", type(x).__name__
                )
            )
        if named:
            return self.space.plain(x)
        try:
            row = np.asarray(x, np.float64)
        except (TypeError, ValueError):
            row = np.zeros((0, 0))
        if row.ndim != 1 or not len(row) or (self._width and len(row) != self._width):
            raise InputError(f"A row must be {self._width or 'some'} numbers; got {x!r:.100}.")
        if (self.undecided or not self._width) and not np.isfinite(row).all():
            raise self._error(NOT_FINITE, row)
        if self._named is None:
            self.space = ArrayFeatures()
        return row

    def _error(self, found: int, x: Any) -> Exception:
        if found == OVERFLOW:
            return overflow(when="on this row, which is not learned", rule=self.learner.step)
        if found == TOO_LARGE:
            msg = "A value of the row is too large to be scaled; the row is not learned."
            return InputError(msg)
        items = x.items() if isinstance(x, Mapping) else enumerate(x)
        for name, value in items:
            if not isinstance(value, str) and not isfinite(value):
                msg = f"Feature {name!r} of the row is {value}; it must be a finite number."
                return InputError(msg)
        return InputError("A feature of the row is out of range.")


def names_of(model: Model) -> tuple[str, ...] | None:
    """Return the names of the features of a model, which may be scaled."""
    scaled = RUNNING in model.encoding_arrays
    return getattr(model.encoder, "known_names", None) if scaled else model.feature_names
