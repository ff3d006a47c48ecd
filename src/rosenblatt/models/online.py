"""One row at a time, by name or by place, with the two verbs of river: learn_one, predict_one."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from math import isfinite
from os import PathLike, fspath
from typing import Any, Self, Unpack, cast

import numpy as np

from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.single_rows import MISTAKE, NOT_FINITE, OVERFLOW, TOO_LARGE, UNUSUAL
from rosenblatt.kernels.spread import FeatureMoments
from rosenblatt.lazy import public_name
from rosenblatt.models.bias import bias_shift
from rosenblatt.models.continuation import with_labels
from rosenblatt.models.feature_spaces import (
    MOST_FEATURES,
    ArrayFeatures,
    FeatureSpace,
    HashedFeatures,
    NamedFeatures,
)
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Class, Model, model_of
from rosenblatt.models.online_weights import RUNNING, OnlineWeights, names_of
from rosenblatt.models.record import NOTHING_LEARNED, Record, TrainingFacts
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
from rosenblatt.rules import Interval, RuleValues
from rosenblatt.tasks import task_like
from rosenblatt.training.state import overflow

Answer = Class | Collection[Class]  # of a row: its class, or any number of labels
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
        learner = learner if goal is None else learner.of_task(goal)
        self._labels = np.unique(np.asarray([*classes]))
        space: FeatureSpace = NamedFeatures(limit=MOST_FEATURES, checked=True)
        if hash_bits is not None:
            space = HashedFeatures(hash_bits, checked=True)
        moments = FeatureMoments(0) if scale else None
        self._weights = OnlineWeights(learner, space, self._labels.tolist(), moments=moments)
        self._named: bool | None = None  # None: no row has come yet
        self._open = goal is None  # whether the first row decides what an answer is
        self.n_rows = 0  # learned from
        self.n_mistakes = 0  # made on them

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
        by_path = isinstance(fitted, str | PathLike)
        model = Model.load(fspath(fitted)) if by_path else model_of(fitted)
        weights = model.linear
        encodes = model.encoding is not None and RUNNING not in model.encoding_arrays
        if weights.by_vote or encodes or model.options.get("class_weight"):
            reason = "votes" if weights.by_vote else "weighs its classes"
            reason = "makes features of what it is given" if encodes else reason
            raise InputError(f"OnlineLearner cannot go on from a {model.learner} that {reason}.")
        learner = model.made_by.learner
        bits = hash_bits or model.training.get("hashed_names")
        self = cls(learner.rule, memory=learner.memory, hash_bits=bits)
        if bits is not None and model.n_features != 1 << bits:
            msg = f"hash_bits={bits} is {1 << bits} features; the model has {model.n_features}."
            raise InputError(msg)
        space, names = self._weights.space, names_of(model)
        if bits is None:
            space = ArrayFeatures(model.n_features)
            if names is not None:
                space = NamedFeatures(names, MOST_FEATURES, checked=True)
        self._named, self._open, self._labels = space.sparse, False, model.labels
        online = OnlineWeights.of_model(model, learner, space, model.labels.tolist())
        if moved := bias_shift(model):  # what was learned is where it was before
            online.move_bias(moved)
        self._weights = online
        self.n_rows = model.outcome.get("n_iter", 0)
        self.n_mistakes = model.outcome.get("n_mistakes", 0)
        return self

    def learn_one(self, x: Any, y: Answer, w: float = 1.0) -> None:
        """Learn from one row.

        Parameters
        ----------
        x : dict of numbers or texts by name, or array or list of numbers
        y : str, bool or whole number; or set, frozenset, list or tuple of them
            Its class; or its labels, of which there may be none.
        w : number of at least 0, default 1
            Multiplies the step. A row of weight 0 is left out altogether.
        """
        weights = self._weights
        try:
            number = weights.winner_numbers.get(y)
        except TypeError:  # a set or list of labels
            number = None
        if number is None or w != 1.0:
            self._learn_unusual(x, y, w)
            return
        found = UNUSUAL
        direct = weights.direct
        if direct is not None and type(x) is dict:
            rows: Any = weights.buffer
            found = rows.learn_named(number, direct, x)
        if found == UNUSUAL:
            found = self._learn(x, number, w)
        if found > MISTAKE:
            raise self._error(found, x)
        self.n_rows += 1
        self.n_mistakes += found

    def _learn(self, x: Any, number: Any, w: float) -> int:
        """Learn from a row of a known class, or labels, however it looks; return what was found."""
        weights = self._weights
        rows = weights.filled(x)
        if rows is None:
            plain = self._plain(x)
            weights.number(x, plain)
            self._named = weights.space.sparse
            if weights.undecided:
                return weights.learn_alone(plain)
            rows = weights.put(plain)
        return rows.learn(number, w) if weights.scaler is None else weights.learn(number, w)

    def _learn_unusual(self, x: Any, y: Answer, w: float) -> None:
        """Learn from a row of a new class, several labels or another weight.

        One that is refused adds no class.
        """
        if not (isfinite(w) and w >= 0.0):
            raise InputError(f"w must be a finite number of at least 0; got {w!r}.")
        if w == 0.0:
            return
        weights, labels = self._weights, self._labels
        before = weights.learner, weights.state, weights.classes
        try:
            numbers = self._class_numbers(self._labels_of(y))
            found = self._learn(x, weights.task.row_target(numbers), w)
            if found > MISTAKE:
                raise self._error(found, x)
        except (InputError, WeightOverflowError):
            self._labels = labels
            weights.shrink(*before)
            raise
        self.n_rows += 1
        self.n_mistakes += found

    def _labels_of(self, y: Answer) -> Sequence[Class]:
        """Return the class of a row, or its labels; the first row decides which of both it has."""
        weights = self._weights
        if self._open and self.n_rows == 0 and (name := task_like(y)) != weights.task.name:
            weights.learn_task(name)
        if weights.task.fits(y):
            return weights.task.members(y)
        reason = weights.task.other_form
        raise InputError(f"This OnlineLearner cannot learn {y!r:.80}: {reason}.")

    def predict_one(self, x: Any) -> Any:
        """Return the class of one row, or the set of its labels; None before the first row.

        Names that have not been learned count for nothing. A label is predicted where its score is
        above 0, or above the threshold that it had in the model that this learner goes on from.
        """
        if self.n_rows == 0:
            return None
        weights = self._weights
        rows: Any = weights.buffer
        number, direct = UNUSUAL, weights.direct
        if direct is not None and type(x) is dict:
            number = rows.predict_named(direct, x)
        if number == UNUSUAL:
            if weights.undecided:
                self._plain(x)
                return weights.task.given(weights.task.default(weights.classes))
            rows = weights.filled(x) or weights.put(self._plain(x))
            number = rows.predict() if weights.scaler is None else weights.decide()
        if number < 0:
            raise self._error(-number, x)
        if weights.winners:
            return weights.winners[number]
        return weights.task.given(weights.answer(number))

    def scores_one(self, x: Any) -> dict[Class, float]:
        """Return the score of each class or label on one row; the sign of one speaks for it.

        Of two classes both share a score, with either sign.
        """
        weights = self._weights
        if weights.undecided:
            self._plain(x)
            return dict.fromkeys(weights.classes, 0.0)
        rows = weights.filled(x) or weights.put(self._plain(x))
        number = weights.decide()
        if number < 0:
            raise self._error(-number, x)
        scores = rows.scores()
        each = scores if isinstance(scores, list) else [-scores, scores]
        return dict(zip(weights.classes, each, strict=True))

    @property
    def classes(self) -> list[Class]:
        """The classes known so far, sorted."""
        return list(self._weights.classes)

    @property
    def n_features(self) -> int:
        """How many features have a weight."""
        return self._weights.width

    @property
    def model_(self) -> Model:
        """A copy of what was learned as a ``Model``: what ``rosenblatt.save`` writes."""
        if self.n_rows == 0:
            raise InputError("This OnlineLearner has learned nothing yet.")
        weights = self._weights
        learner, space = weights.learner, weights.space
        training: TrainingFacts = {"label_type": self._labels.dtype.str}
        if isinstance(space, HashedFeatures):
            training["hashed_names"] = space.bits
        record = Record.of(NOTHING_LEARNED, training)
        record.count(self.n_rows, self.n_mistakes, moved=False)
        names = space.names()
        model = Model(
            LearnerRecord.of(learner),
            weights.classes,
            **weights.learned(),
            record=record,
            feature_names=names,
        )
        if names is not None and len(set(names)) < len(names):
            raise InputError("Two features have the same name once it is text, such as 1 and '1'.")
        return weights.with_scaling(model)

    def to_estimator(self) -> Any:
        """Return the estimator that has learned the same, as ``rosenblatt.load`` would."""
        return public_name("load")(self.model_)

    def __repr__(self) -> str:
        learner = self._weights.learner
        given = {"memory": learner.memory, **learner.values, "goal": learner.task or None}
        parts = (f", {name}={value!r}" for name, value in given.items() if value is not None)
        return f"OnlineLearner({learner.rule!r}{''.join(parts)})"

    def _class_numbers(self, labels: Sequence[Any]) -> list[int]:
        """Return the different numbers of classes, new or not."""
        known, weights = self._labels, self._weights
        for y in labels:
            if not isinstance(y, Hashable) or y not in weights.numbers:
                label = np.asarray(y)
                whole = label.dtype.kind != "f" or (isfinite(label) and label == np.rint(label))
                if label.ndim or label.dtype.kind not in "biufU" or not whole:
                    raise InputError(f"A class must be text, a whole number or a bool; got {y!r}.")
                known = with_labels(known, label.reshape(1))
        if known is not self._labels:
            self._labels = known
            weights.grow(known.tolist())
        return [*dict.fromkeys(weights.numbers[y] for y in labels)]

    def _plain(self, x: Any) -> Any:
        """Return a row as the feature space takes it; raise InputError for what is no row."""
        named, weights = isinstance(x, Mapping), self._weights
        if self._named not in {None, named}:
            raise InputError(
                "This OnlineLearner has learned from {}; got a row of type {}.".format(
                    "dicts of named features" if self._named else "arrays", type(x).__name__
                )
            )
        if named:
            return weights.space.plain(x)
        width = weights.width
        try:
            row = np.asarray(x, np.float64)
        except (TypeError, ValueError):
            row = np.zeros((0, 0))
        if row.ndim != 1 or not len(row) or (width and len(row) != width):
            raise InputError(f"A row must be {width or 'some'} numbers; got {x!r:.100}.")
        if (weights.undecided or not width) and not np.isfinite(row).all():
            raise self._error(NOT_FINITE, row)
        if self._named is None:
            weights.take_space(ArrayFeatures())
        return row

    def _error(self, found: int, x: Any) -> Exception:
        if found == OVERFLOW:
            return overflow(
                when="on this row, which is not learned", rule=self._weights.learner.step
            )
        if found == TOO_LARGE:
            msg = "A value of the row is too large to be scaled; the row is not learned."
            return InputError(msg)
        items = x.items() if isinstance(x, Mapping) else enumerate(x)
        for name, value in items:
            if not isinstance(value, str) and not isfinite(value):
                msg = f"Feature {name!r} of the row is {value}; it must be a finite number."
                return InputError(msg)
        return InputError("A feature of the row is out of range.")
