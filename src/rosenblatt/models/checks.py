"""What must hold of every model, wherever it comes from, and what can be wrong with a file.

Its learner and parameters must be among those that this version knows.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.learner import check_parameters
from rosenblatt.models.model import SPREAD_PARTS, Calibration, Class, Model, Spread, n_vectors
from rosenblatt.training.examples import class_weights
from rosenblatt.wording import word_list

MOST_ROWS = 2**63  # what a count may reach
PIECE = 1 << 20  # values looked at together, so that a check needs no memory of the model's size

STORED_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}  # safetensors' names of the types that NumPy has as well
TYPE_NAMES = {np.dtype(text).newbyteorder("="): name for name, text in STORED_TYPES.items()}

EVERY_LEARNER = frozenset(
    {
        *("max_iter", "shuffle", "zero", "fit_intercept", "early_stopping", "validation_fraction"),
        *("n_iter_no_change", "time_limit", "class_weight", "calibrate", "warm_start"),
        *("random_state", "verbose", "observers"),
    }
)
LEARNER_PARAMETERS: dict[str, frozenset[str]] = {
    "Perceptron": EVERY_LEARNER | {"eta0", "margin", "record_mistakes"},
    "AveragedPerceptron": EVERY_LEARNER | {"eta0", "margin", "record_mistakes"},
    "PassiveAggressiveClassifier": EVERY_LEARNER | {"C", "loss", "average", "record_mistakes"},
    "ConfidenceWeightedClassifier": (EVERY_LEARNER | {"rule", "r", "confidence", "C", "average"}),
    "RuleClassifier": EVERY_LEARNER | {"rule", "parameters", "memory", "record_mistakes"},
    "VotedPerceptron": EVERY_LEARNER | {"eta0", "margin"},
    "KernelPerceptron": EVERY_LEARNER
    | {"kernel", "degree", "gamma", "coef0", "rule", "eta0", "margin", "C", "memory"}
    | {"multi_class", "max_support", "budget", "eta", "cache_size"},
}


class Fault(Exception):  # noqa: N818  # never seen by a user: it becomes an InputError
    """The contents do not fit together; the clause says where."""

    opening = "is not a usable model"

    def __init__(self, clause: str) -> None:
        super().__init__(clause)
        self.clause = clause

    def sentence(self, name: str) -> str:
        """Return the sentence for the user, about the file of this name."""
        return f"{name} {self.opening}: {self.clause}."


class Foreign(Fault):
    """Something else than a model."""

    opening = "is not a rosenblatt model"


class Damaged(Fault):
    """A model that is no longer what was written."""

    opening = "is damaged"


class Newer(Fault):
    """A model in a format that this version does not know."""

    opening = "was written by a newer version of rosenblatt"

    def sentence(self, name: str) -> str:
        """Return the sentence for the user, about the file of this name."""
        return f"{name} {self.opening} ({self.clause}): upgrade rosenblatt."


@contextmanager
def input_errors(name: str) -> Iterator[None]:
    """Turn what is wrong with the model of this name into an InputError."""
    try:
        yield
    except Fault as fault:
        raise InputError(fault.sentence(name)) from None
    except RecursionError:
        raise InputError(Fault("its values are nested too deeply").sentence(name)) from None
    except MemoryError:
        msg = f"{name} needs more memory than there is: use a machine with more."
        raise InputError(msg) from None


def check(model: Model) -> None:
    """Raise Fault with the first thing that does not fit."""
    if not model.learner:
        fail("its learner has no name")
    _check_classes(model.classes)
    _check_weights(model)
    _check_names(model)
    if model.spread is not None:
        _check_spread(model.spread, model.n_features)
    if model.calibration is not None:
        _check_calibration(model.calibration)
    for what, arrays in (("encoding", model.encoding_arrays), ("model", model.arrays)):
        for name, array in arrays.items():
            if array.dtype.newbyteorder("=") not in TYPE_NAMES:
                fail(f"the array {name!r} of its {what} must hold numbers; got {array.dtype}")


def finite_average(model: Model) -> NDArray[Any]:
    """Return the weights that predict, for forms that have no infinity."""
    with np.errstate(over="ignore"):
        weights = model.deciding_weights
    if not np.isfinite(weights).all():
        fail("its average is beyond the range of float64; scale the features")
    return weights


def check_count(what: str, number: object, least: int = 0) -> None:
    """Raise Fault unless this is an integer of at least ``least`` that int64 holds."""
    if not (type(number) is int and least <= number < MOST_ROWS):
        fail(f"{what} must be an integer of at least {least}; got {number!r:.60}")


def _check_classes(classes: tuple[Class, ...]) -> None:
    if not classes:
        fail("it has no classes")
    kinds = {_kind(label) for label in classes}
    if len(kinds) > 1:
        fail(
            f"its classes must be all words, all numbers or all truth values; got {_some(classes)}"
        )
    for one, two in pairwise(classes):
        if not one < two:  # type: ignore[operator]  # they are of one kind
            fail(f"its classes must be different and ascend; {two!r:.60} comes after {one!r:.60}")


def _kind(label: object) -> type:
    if type(label) in {str, bool}:
        return type(label)
    if type(label) is int or (type(label) is float and math.isfinite(label)):
        return float
    msg = f"its classes must be words, finite numbers or truth values; got {label!r:.60}"
    raise Fault(msg)


def _check_weights(model: Model) -> None:
    check_count("its count of rows", model.count, least=1)
    vectors = n_vectors(len(model.classes))
    shape = model.weights.shape
    if len(shape) != 2 or shape[0] != vectors or shape[1] < 1:
        fail(
            f"its weights must be {vectors} × (features + 1) for {len(model.classes)} classes; "
            f"their shape is {shape}"
        )
    if model.ledger is not None and model.ledger.shape != shape:
        fail(f"its ledger must have the shape of its weights, {shape}; got {model.ledger.shape}")
    if model.variance is not None:
        _check_variance(model.variance, shape)
    numbers = {"weights": model.weights, "ledger": model.ledger, "variance": model.variance}
    for what, values in numbers.items():
        if values is None:
            continue
        if values.dtype != np.float64:
            fail(f"its {what} must be float64; got {values.dtype}")
        for piece in _pieces(values):
            finite = np.isfinite(piece)
            if not finite.all():
                fail(f"its {what} must be finite; one of them is {piece[~finite][0]}")


def _check_variance(variance: NDArray[Any], shape: tuple[int, ...]) -> None:
    if variance.shape != shape:
        fail(f"its variance must have the shape of its weights, {shape}; got {variance.shape}")
    if any((piece < 0.0).any() for piece in _pieces(variance)):
        fail("its variance must not be below 0")


def _pieces(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    flat = values.reshape(-1)
    return (flat[start : start + PIECE] for start in range(0, flat.size, PIECE))


def _check_names(model: Model) -> None:
    names = model.feature_names
    if names is None:
        return
    if len(names) != model.n_features:
        fail(f"it has {model.n_features} features and {len(names)} names for them")
    for name in names:
        if type(name) is not str:
            fail(f"the names of its features must be words; got {name!r:.60}")


def _check_spread(spread: Spread, n_features: int) -> None:
    check_count("the number of rows of its spread", spread.n_rows)
    for name in SPREAD_PARTS:
        values = getattr(spread, name)
        if values.shape != (n_features,) or values.dtype not in (np.float64, np.float32):
            fail(
                f"the spread ({name}) must be one float for each of {n_features} features; "
                f"got {values.dtype} of shape {values.shape}"
            )


def _check_calibration(calibration: Calibration) -> None:
    check_count("the number of rows of its calibration", calibration.n_rows)
    for name in ("slope", "offset"):
        value = getattr(calibration, name)
        if type(value) not in {int, float} or not math.isfinite(value):
            fail(f"the {name} of its calibration must be a finite number; got {value!r:.60}")
    numbers = [number for point in calibration.points for number in point]
    if not all(type(number) in {int, float} and math.isfinite(number) for number in numbers):
        fail("the points of its calibration must be finite numbers")
    ascending = all(x < y and p <= q for (x, p), (y, q) in pairwise(calibration.points))
    if not ascending or not all(0 <= p <= 1 for _, p in calibration.points):
        fail("the points of its calibration must ascend, in scores and in probabilities")


def _some(values: tuple[object, ...]) -> str:
    return ", ".join(f"{value!r:.60}" for value in values[:5])


def fail(clause: str) -> NoReturn:
    """Raise Fault."""
    raise Fault(clause)


def check_learner(model: Model, name: str) -> None:
    """Raise InputError where a model file of this name holds a learner that is not known."""
    if model.learner not in LEARNER_PARAMETERS:
        msg = (
            f"{name} holds a {model.learner!r:.60}, and this version of rosenblatt knows "
            f"{listed_learners()}: upgrade it."
        )
        raise InputError(msg)
    try:
        usable_options(model)
    except (TypeError, ValueError, OverflowError) as error:
        msg = f"{name} cannot be used: {error}"
        raise InputError(msg) from error


def usable_options(model: Model) -> dict[str, Any]:
    """Return the parameters of the learner of a model, checked."""
    unknown = set(model.options) - LEARNER_PARAMETERS[model.learner]
    if unknown:
        msg = f"{model.learner} has no parameter {min(unknown)!r:.60}; upgrade rosenblatt."
        raise InputError(msg)
    parameters = dict(model.options)
    for name in ("class_weight", "parameters"):
        if isinstance(parameters.get(name), list):
            parameters[name] = dict(parameters[name])
    check_parameters(model.learner, parameters)
    return parameters


def class_weights_of(model: Model) -> dict[Class, float]:
    """Return what multiplies the steps of each class when a trained model goes on learning.

    It is what did so in training; a class that is not in the dictionary has 1.
    """
    class_weight = usable_options(model).get("class_weight")
    counts = model.training.get("class_counts")
    if class_weight == "balanced" and counts is None:
        msg = (
            "The model was trained with class_weight='balanced' and does not say how many rows "
            "each class had; train it with a weight for each class."
        )
        raise InputError(msg)
    weights = class_weights(class_weight, model.classes, np.asarray(counts or (), np.float64))
    return {} if weights is None else dict(zip(model.classes, weights.tolist(), strict=True))


def listed_learners() -> str:
    """Return the learners that are known, in words."""
    return word_list(LEARNER_PARAMETERS, joint="or")
