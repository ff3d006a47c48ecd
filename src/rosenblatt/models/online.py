"""One row at a time, by name or by place, with the two verbs of river: learn_one, predict_one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite, nan
from os import PathLike, fspath
from typing import Any, Self, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.scaling import ScaledEncoding
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.single_rows import MISTAKE, NAMES, NOT_FINITE, OVERFLOW, RIGHT, UNUSUAL
from rosenblatt.kernels.spread import FeatureMoments
from rosenblatt.kernels.text.hashing import SEED, term_hash
from rosenblatt.lazy import public_name
from rosenblatt.models.fitting import state_with_classes
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import MOVED, Class, Model, model_of
from rosenblatt.parameters import (
    AT_LEAST_ONE,
    CHECKS,
    FLAG,
    MEMORIES,
    Check,
    check_parameters,
    one_of,
)
from rosenblatt.rules import ZERO_CONVENTIONS, Interval, RuleValues
from rosenblatt.training.history import Outcome
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import State, overflow

FIRST_ROOM = 32  # for features, of a row and of the vocabulary; doubled whenever it is too little
MOST_REMEMBERED = 1 << 17  # names whose hash is remembered
MOST_HASH_BITS = 28
CHECKED: dict[str, Check | Interval] = {
    "rule": CHECKS["rule"],
    "memory": one_of([None, *MEMORIES]),
    "hash_bits": Check(
        f"None or a whole number from 1 to {MOST_HASH_BITS}",
        lambda v: v is None or (AT_LEAST_ONE.accepts(v) and v <= MOST_HASH_BITS),
    ),
    "scale": FLAG,
    "zero": CHECKS["zero"],
    "fit_intercept": CHECKS["fit_intercept"],
}
RUNNING = "running"  # among the arrays of an encoding: what scales the rows to come
HASHED_NAMES = "hashed_names"  # in the record of a model's training: bits of the hash


class OnlineLearner:
    """Learns from one row after the other, and predicts at any time.

    A row is a dict of named features, or an array or list of numbers. Names get numbers as they
    come up, or with ``hash_bits`` by their hash, so that memory stays bounded. A feature that a
    dict leaves out is 0; one whose value is text counts as the feature "name=text" of value 1, as
    in scikit-learn's ``DictVectorizer``. New classes may come up at any time.

    After any rows the weights are those of ``partial_fit`` on the same rows, bit for bit. It is
    made for speed, and not for several threads at once.

    Parameters
    ----------
    rule : str, default "arow"
        "perceptron", "margin", "pa", "pa1", "pa2", "arow", "cw", "scw1" or "scw2".
    memory : "average" or "last", default None
        Which weights predict; by default "average", for the second-order rules "last".
    classes : labels, default ()
        Classes that are yet to come. A row teaches nothing while its class is the only one known.
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
        **parameters: Unpack[RuleValues],
    ) -> None:
        given = (rule, memory, hash_bits, scale, zero, fit_intercept)
        check_parameters("OnlineLearner", dict(zip(CHECKED, given, strict=True)), CHECKED)
        shared: dict[str, Any] = {"zero": zero, "fit_intercept": bool(fit_intercept)}
        values = cast("dict[str, float | None]", parameters)
        self._learner = Learner(rule, memory or "", values, **shared)
        self._hash_mask = None if hash_bits is None else (1 << hash_bits) - 1
        if scale and hash_bits is not None:
            msg = "OnlineLearner cannot scale features that share a number: leave hash_bits out."
            raise InputError(msg)
        self._moments = FeatureMoments(0) if scale else None
        self._vocabulary: dict[Any, int] = {}  # number of each name; of hashes, those remembered
        self._named: bool | None = None  # None: no row has come yet
        self._direct = False  # whether dicts may go to the kernel as they are
        self._labels = np.unique(np.asarray([*classes]))
        self._state = self._learner.start(0, len(self._labels))
        self._n_rows = self._n_mistakes = 0
        self._rows: RowLearner | None = None  # made when it is needed
        self._note_classes()

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
            Model.load(fspath(fitted)) if isinstance(fitted, str | PathLike) else model_of(fitted)
        )
        model.check_weights()
        running = model.encoding_arrays.get(RUNNING)
        encodes = model.encoding is not None and running is None
        if model.voted or encodes or model.options.get("class_weight"):
            reason = "votes" if model.voted else "weighs its classes"
            reason = "makes features of what it is given" if encodes else reason
            msg = f"OnlineLearner cannot go on from a {model.learner} that {reason}."
            raise InputError(msg)
        learner = model.how
        bits = hash_bits or model.training.get(HASHED_NAMES)
        self = cls(learner.rule, memory=learner.memory, hash_bits=bits)
        if bits is not None and model.n_features != 1 << bits:
            msg = f"hash_bits={bits} is {1 << bits} features; the model has {model.n_features}."
            raise InputError(msg)
        self._learner = learner
        names = model.feature_names
        if running is not None:
            if running.shape != (5, model.n_features):
                msg = "What scales the features of the model does not fit their number."
                raise InputError(msg)
            self._moments = FeatureMoments(0)
            self._moments.values = running.copy()
            names = getattr(model.encoder, "known_names", None)
        self._note_kind(bits is not None or names is not None)
        if bits is None and names is not None:
            self._vocabulary = {name: k for k, name in enumerate(names)}
        model = model.copy()
        if MOVED in model.training:  # what was learned is where it was before
            model.move_bias(model.training[MOVED])
        self._labels, self._state = model.labels, model.state
        self._n_rows, self._n_mistakes = (
            model.outcome.get(name, 0) for name in ("n_iter", "n_mistakes")
        )
        self._note_classes()
        return self

    def learn_one(self, x: Any, y: Class, w: float = 1.0) -> None:
        """Learn from one row.

        Parameters
        ----------
        x : dict of numbers or texts by name, or array or list of numbers
        y : str, bool or whole number
            Its class.
        w : number of at least 0, default 1
            Multiplies the step. A row of weight 0 is left out altogether.
        """
        number = self._numbers.get(y)
        if number is None or w != 1.0:
            self._learn_unusual(x, y, w)
            return
        rows: Any = self._rows
        found = UNUSUAL
        if rows is not None and type(x) is dict and self._direct:
            found = rows.learn_named(number, w, self._vocabulary, x)
        if found == UNUSUAL:
            found = self._learn(x, number, w)
        if found > MISTAKE:
            raise self._error(found, x)
        self._n_rows += 1
        self._n_mistakes += found

    def _learn(self, x: Any, number: int, w: float) -> int:
        """Learn from a row of a known class, however it looks; return what was found."""
        rows: Any = self._rows
        if rows is None or not self._put_usual(rows, x):
            rows = self._put(x, learning=True)
            if rows is None:  # there is but one class
                self._state.count += 1
                return RIGHT
        found: int = rows.learn(number, w)
        if found > MISTAKE:
            self._take_out()
        return found

    def _take_out(self) -> None:
        """Change the moments back to those before the last row."""
        if self._moments is not None:
            at, before = self._before
            self._moments.values[:, at] = before

    def _learn_unusual(self, x: Any, y: Class, w: float) -> None:
        """Learn from a row of a new class or another weight; one that is refused adds no class."""
        state, labels = self._state, self._labels
        number = self._class_number(y, w)
        if w == 0.0:
            return
        try:
            found = self._learn(x, number, w)
            if found > MISTAKE:
                raise self._error(found, x)
        except (InputError, WeightOverflowError):
            if self._labels is not labels:
                state.widen(self._state.n_features)  # for names that came up with it
                self._state, self._labels = state, labels
                self._note_classes()
            raise
        self._n_rows += 1
        self._n_mistakes += found

    def predict_one(self, x: Any) -> Class | None:
        """Return the class of one row; None before the first row was learned.

        Names that have not been learned count for nothing.
        """
        if self._n_rows == 0:
            return None
        rows: Any = self._rows
        number = UNUSUAL
        if rows is not None and type(x) is dict and self._direct:
            number = rows.predict_named(self._vocabulary, x)
        if number == UNUSUAL:
            if rows is None or not self._put_usual(rows, x):
                rows = self._put(x, learning=False)
                if rows is None:
                    return self._answers[0]
            number = rows.predict()
        if number < 0:
            raise self._error(-number, x)
        answer: Class = self._answers[number]
        return answer

    @property
    def classes(self) -> list[Class]:
        """The classes known so far, sorted."""
        return list(self._answers)

    @property
    def n_rows(self) -> int:
        """How many rows were learned from."""
        return self._n_rows

    @property
    def n_mistakes(self) -> int:
        """How many of them were mistakes."""
        return self._n_mistakes

    @property
    def n_features(self) -> int:
        """How many features have a weight."""
        growing = self._named and self._hash_mask is None
        return len(self._vocabulary) if growing else self._state.n_features

    @property
    def model_(self) -> Model:
        """A copy of what was learned as a ``Model``: what ``rosenblatt.save`` writes."""
        if self._n_rows == 0:
            msg = "This OnlineLearner has learned nothing yet."
            raise InputError(msg)
        outcome = Outcome([], "max_iter", 0)
        learner = self._learner
        model = Model.fitted(
            learner.estimator, learner.options(), self._labels, self._narrowed(), outcome
        )
        model.outcome |= {"n_iter": self._n_rows, "n_mistakes": self._n_mistakes}
        if self._hash_mask is not None:
            model.training[HASHED_NAMES] = self._hash_mask.bit_length()
        elif self._named:
            names = tuple(str(name) for name in self._vocabulary)
            if len(set(names)) < len(names):
                msg = "Two features have the same name once it is text, such as 1 and '1'."
                raise InputError(msg)
            model.feature_names = names
        return model if self._moments is None else self._with_scaling(model, self._moments)

    def _with_scaling(self, model: Model, moments: FeatureMoments) -> Model:
        """Return a model that scales rows as they would be scaled now, and can go on."""
        moments.widen(model.n_features)
        centre, deviation = moments.centre()
        n = model.n_features
        divisor = np.where(deviation > 0.0, deviation, 1.0)
        # Indicators of texts are not scaled, and have had no value.
        encoding = ScaledEncoding(centre[:n], divisor[:n], model.feature_names)
        arrays = encoding.arrays() | {RUNNING: moments.values[:, :n].copy()}
        return replace(
            model, feature_names=None, encoding=encoding.as_json(), encoding_arrays=arrays
        )

    def to_estimator(self) -> Any:
        """Return the estimator that has learned the same, as ``rosenblatt.load`` would."""
        return public_name("load")(self.model_)

    def __repr__(self) -> str:
        given = {"memory": self._learner.memory} | dict(self._learner.values)
        described = "".join(f", {name}={value!r}" for name, value in given.items())
        return f"OnlineLearner({self._learner.rule!r}{described})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_rows": None}  # it knows addresses

    def _note_classes(self) -> None:
        """Change all that depends on the classes, or on where the weights stand."""
        self._answers: list[Class] = self._labels.tolist()
        self._numbers = {label: number for number, label in enumerate(self._answers)}
        self._rows = None

    def _class_number(self, y: Class, w: float) -> int:
        """Return the number of a class, new or not; check the weight."""
        if not (isfinite(w) and w >= 0.0):
            msg = f"w must be a finite number of at least 0; got {w!r}."
            raise InputError(msg)
        if y in self._numbers or w == 0.0:
            return self._numbers.get(y, 0)
        label = np.asarray(y)
        whole = label.dtype.kind != "f" or (isfinite(label) and label == np.rint(label))
        if label.ndim or label.dtype.kind not in "biufU" or not whole:
            msg = f"A class must be text, a whole number or a bool; got {y!r}."
            raise InputError(msg)
        if len(self._labels):
            seen = label.reshape(1)
            self._state, self._labels = state_with_classes(
                self._state, self._labels, seen, self._learner.step
            )
        else:
            self._labels = label.reshape(1)
            self._state = self._learner.start(self._state.n_features, 1)
        self._note_classes()
        return self._numbers[y]

    def _put_usual(self, rows: RowLearner, x: Any) -> bool:
        """Write a row to the buffer, where it is one that needs no more than a look."""
        if self._moments is not None:
            return False
        if self._named:
            return type(x) is dict and rows.row.fill(self._vocabulary, x)
        if type(x) is not np.ndarray or x.shape != rows.shape or x.dtype.kind not in "fiub":
            return False
        rows.dense[...] = x
        return True

    def _put(self, x: Any, *, learning: bool) -> RowLearner | None:
        """Write a row to the buffer, whatever is unusual about it; None where one class is known.

        To learn, make room for names that are new; to predict, leave them out.
        """
        named = isinstance(x, Mapping)
        if self._named not in {None, named}:
            msg = "This OnlineLearner has learned from {}; got a row of type {}.".format(
                "dicts of named features" if self._named else "arrays", type(x).__name__
            )
            raise InputError(msg)
        rows = self._put_named(x, learning=learning) if named else self._put_array(x, learning)
        self._note_kind(named)
        return rows

    def _note_kind(self, named: bool | None) -> None:
        """Change to take dicts, or arrays."""
        self._named, self._direct = named, bool(named) and self._moments is None

    def _put_named(self, x: Mapping[Any, Any], *, learning: bool) -> RowLearner | None:
        features = dict(_feature(name, value) for name, value in x.items())
        if learning or self._hash_mask is not None:
            self._number(features)
        else:
            features = {name: v for name, v in features.items() if name in self._vocabulary}
        numbers = [self._vocabulary[name] for name in features]
        values = list(features.values())
        if self._moments is not None:
            plain = {name for name, value in x.items() if not isinstance(value, str)}
            values = self._scaled(values, numbers, [n in plain for n in features], learning)
        if len(self._answers) < 2:
            return None
        rows = self._rows
        if rows is None or rows.row.room < len(features) or not rows.learns(self._state):
            room = FIRST_ROOM if rows is None else rows.row.room
            rows = self._learner_of(max(room, 2 * len(features)))
        rows.row.put(numbers, values)
        return rows

    def _scaled(self, values: Any, numbers: Any, which: Any, learning: bool) -> Any:
        """Return a row with some of its values scaled; to learn, take them in before."""
        moments = self._moments
        if moments is None or not len(numbers):
            return values
        found, at, which = np.array(values), np.array(numbers, np.int32), np.array(which)
        moments.widen(int(at.max()) + 1)
        if learning:
            self._before = at[which], moments.values[:, at[which]]
            moments.add(found[which], at[which])
            if not np.isfinite(moments.values[2, at]).all():
                self._take_out()
                msg = "A value of the row is too large to be scaled; the row is not learned."
                raise InputError(msg)
        found[which] = moments.scaled(found[which], at[which])
        return found

    def _number(self, features: dict[Any, float]) -> None:
        """Change the vocabulary to know all these names, and the weights to have room for them."""
        if self._hash_mask is not None:
            if len(self._vocabulary) + len(features) > MOST_REMEMBERED:
                self._vocabulary.clear()
            for name in features:
                self._vocabulary[name] = term_hash(str(name).encode(), SEED) & self._hash_mask
        else:
            for name in features:
                self._vocabulary.setdefault(name, len(self._vocabulary))
        needed = len(self._vocabulary) if self._hash_mask is None else self._hash_mask + 1
        if needed > self._state.n_features:
            grown = max(FIRST_ROOM, 2 * needed)
            self._state.widen(grown if self._hash_mask is None else needed)

    def _put_array(self, x: Any, learning: bool) -> RowLearner | None:
        n_features = self._state.n_features or None
        try:
            row = np.asarray(x, np.float64)
        except (TypeError, ValueError):
            row = np.zeros((0, 0))
        if row.ndim != 1 or not len(row) or (n_features and len(row) != n_features):
            msg = f"A row must be {n_features or 'some'} numbers; got {x!r:.100}."
            raise InputError(msg)
        unsafe = len(self._answers) < 2 or not n_features or self._moments is not None
        if unsafe and not np.isfinite(row).all():
            raise self._error(NOT_FINITE, row)
        self._state.widen(len(row))
        if self._moments is not None:
            every = np.arange(len(row))
            row = self._scaled(row, every, np.ones(len(row), bool), learning)
        if len(self._answers) < 2:
            return None
        rows = self._rows
        if rows is None or not rows.learns(self._state):
            rows = self._learner_of(0)
        rows.dense[...] = row
        return rows

    def _learner_of(self, room: int) -> RowLearner:
        """Return what learns rows of up to that many features, or dense ones, in the buffer."""
        zero = ZERO_CONVENTIONS[self._learner.zero]
        constant = self._learner.constant
        self._rows = RowLearner(
            self._state, self._learner.step, zero=zero, constant=constant, room=room
        )
        self._rows.row.remember(self._vocabulary, complete=self._hash_mask is None)
        return self._rows

    def _error(self, found: int, x: Any) -> Exception:
        """Return the error for what a kernel found wrong with a row."""
        if found == OVERFLOW:
            return overflow(when="on this row, which is not learned", rule=self._learner.step)
        items = x.items() if isinstance(x, Mapping) else enumerate(x)
        for name, value in items:
            if not isinstance(value, str) and not isfinite(value):
                msg = f"Feature {name!r} of the row is {value}; it must be a finite number."
                return InputError(msg)
        return InputError("A feature of the row is out of range.")

    def _narrowed(self) -> State:
        """Return a copy of the state with the features that are in use."""
        state, n = self._state, self.n_features

        axis = 0 if state.by_feature else -1
        used = np.append(np.arange(n), state.n_features)  # the bias stands last

        def cut(array: NDArray[Any] | None) -> Any:
            return None if array is None else array.take(used, axis=axis)

        w, u, sigma = map(cut, (state.weights, state.ledger, state.variance))
        return State(w, u, state.n_classes, state.count, state.by_feature, sigma)


def _feature(name: Any, value: Any) -> tuple[Any, float]:
    """Return a feature of a dict as one that has a number: its name, and a finite value."""
    if isinstance(value, str):
        return f"{name}={value}", 1.0
    plain = str(name) if isinstance(name, str) else name
    if type(plain) not in NAMES:
        msg = f"The name of a feature must be text or a whole number; got {name!r}."
        raise InputError(msg)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = nan
    if not isfinite(number):
        msg = f"Feature {name!r} of the row is {value!r}; it must be a finite number."
        raise InputError(msg)
    return plain, number
