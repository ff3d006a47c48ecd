"""What must hold of every model, wherever it comes from, and what can be wrong with a file."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.models.calibration import Calibration
from rosenblatt.models.learner import SPELLINGS, Learner
from rosenblatt.models.model import SPREAD_PARTS, Class, Model
from rosenblatt.parameters import check_parameters
from rosenblatt.training.examples import class_weights
from rosenblatt.wording import word_list

MOST_ROWS = 2**63  # what a count may reach
PIECE = 1 << 20  # values looked at together, so that a check needs no memory of the model's size

STORED_TYPES = {"BOOL": "|b1"} | {  # safetensors' names of the types that NumPy has as well
    f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "FIU" for size in (8, 4, 2, 1)
}
del STORED_TYPES["F8"]
TYPE_NAMES = {np.dtype(text).newbyteorder("="): name for name, text in STORED_TYPES.items()}

# Arrays of (n_vectors, n_features + 1), and what their numbers, all finite, must not be below
VECTORS = {"weights": -math.inf, "ledger": -math.inf, "variance": 0.0}
SPREADS = tuple(f"spread.{part}" for part in SPREAD_PARTS)  # of (n_features,), any numbers


class Fault(Exception):  # noqa: N818  # never seen by a user: it becomes an InputError
    """The contents do not fit together; the clause says where, after the opening."""

    def __init__(self, clause: str, opening: str = "is not a usable model") -> None:
        super().__init__(clause)
        self.opening = opening


@contextmanager
def input_errors(name: str) -> Iterator[None]:
    """Turn what is wrong with the model of this name into an InputError."""
    try:
        yield
    except Fault as fault:
        msg = f"{name} {fault.opening}: {fault}."
    except RecursionError:
        msg = f"{name} is not a usable model: its values are nested too deeply."
    except MemoryError:
        msg = f"{name} needs more memory than there is: use a machine with more."
    else:
        return
    raise InputError(msg)


def fail(clause: str) -> NoReturn:
    """Raise Fault."""
    raise Fault(clause)


def require(holds: object, place: str) -> None:
    """Raise Fault unless something holds of an entry or array, which a file can only be without."""
    if not holds:
        fail(f"its {place} is not there, or not what it must be")


def model_arrays(model: Model) -> dict[str, NDArray[Any]]:
    """Return the arrays of numbers that a model has, by their names in a file."""
    found = {name: getattr(model, name) for name in VECTORS}
    if model.spread is not None:
        found |= {name: getattr(model.spread, name.removeprefix("spread.")) for name in SPREADS}
    return {name: array for name, array in found.items() if array is not None}


def shape_of(
    name: str, n_classes: int, n_features: int, *, several: bool = False
) -> tuple[int, ...]:
    """Return the shape of such an array; ``several``: labels a row may have."""
    n_vectors = 1 if n_classes == 2 and not several else n_classes
    return (n_vectors, n_features + 1) if name in VECTORS else (n_features,)


def check(model: Model, n_features: int | None = None) -> None:
    """Raise Fault with the first thing that does not fit, to a number of features if given."""
    require(model.learner, "learner")
    _check_classes(model.classes)
    require(_is_count(model.count, least=1), "count of rows")
    require(model.weights.ndim == 2 and model.weights.shape[1], "matrix of weights")
    for name, array in model_arrays(model).items():
        n = model.n_features if n_features is None else n_features
        shape = shape_of(name, len(model.classes), n, several=bool(model.several))
        _check_array(name, array, shape)
    names = model.feature_names
    if names is not None and [*map(type, names)] != [str] * model.n_features:
        fail(f"its {model.n_features} features must have a word each as names")
    require(model.spread is None or _is_count(model.spread.n_rows), "spread")
    require(model.calibration is None or _is_calibration(model.calibration), "calibration")
    for name, array in (model.encoding_arrays | model.arrays).items():
        if array.dtype.newbyteorder("=") not in TYPE_NAMES:
            fail(f"its array {name!r} must hold numbers; got {array.dtype}")


def finite_average(model: Model) -> NDArray[Any]:
    """Return the weights that predict, for forms that have no infinity."""
    with np.errstate(over="ignore"):
        weights = model.deciding_weights
    if not np.isfinite(weights).all():
        fail("its average is beyond the range of float64; scale the features")
    return weights


def _check_array(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    types = (np.float64,) if name in VECTORS else (np.float64, np.float32)
    if array.shape != shape or array.dtype not in types:
        wanted = f"float64 of shape {shape}"
        fail(f"its {name} must be {wanted}; got {array.dtype} of shape {array.shape}")
    flat = array.reshape(-1) if name in VECTORS else array[:0]
    for start in range(0, flat.size, PIECE):
        piece = flat[start : start + PIECE]
        if not (np.isfinite(piece) & (piece >= VECTORS[name])).all():
            fail(f"its {name} must be finite{' and at least 0' * (VECTORS[name] == 0)}")


def _is_count(number: object, least: int = 0) -> bool:
    return type(number) is int and least <= number < MOST_ROWS


def _is_number(value: object) -> bool:
    try:
        return type(value) in {int, float} and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _check_classes(classes: tuple[Class, ...]) -> None:
    kinds = {float if type(c) is int or _is_number(c) else type(c) for c in classes}
    nan = any(type(c) is float and not _is_number(c) for c in classes)
    if nan or len(kinds) != 1 or not kinds <= {str, bool, float}:
        fail(f"its classes must be words, finite numbers or truth values; got {classes!r:.60}")
    for one, two in pairwise(classes):
        if not one < two:  # type: ignore[operator]  # they are of one kind
            fail(f"its classes must be different and ascend; {two!r:.60} comes after {one!r:.60}")


def _is_calibration(calibration: Calibration) -> bool:
    points = calibration.points
    numbers = [calibration.slope, calibration.offset, *(n for point in points for n in point)]
    return (
        _is_count(calibration.n_rows)
        and all(map(_is_number, numbers))
        and all(0 <= p <= 1 for _, p in points)
        and all(x < y and p <= q for (x, p), (y, q) in pairwise(points))
    )


def check_learner(model: Model, name: str) -> None:
    """Raise InputError where a model file of this name holds a learner that is not known."""
    if model.described is None and model.learner not in SPELLINGS:
        raise InputError(
            f"{name} holds a {model.learner!r:.60}, and this version of rosenblatt knows "
            f"{word_list(SPELLINGS, joint=' or ')}: upgrade it."
        )
    try:
        usable_options(model)
        if model.described is not None:
            Learner.described(model.described)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise InputError(f"{name} cannot be used: {error}") from error


def usable_options(model: Model) -> dict[str, Any]:
    """Return the parameters of the learner of a model, checked."""
    parameters = dict(model.options)
    for name in ("class_weight", "parameters"):
        if isinstance(parameters.get(name), list):
            parameters[name] = dict(parameters[name])
    unknown: set[str] = set()
    if model.described is None:  # else its class knows more of its parameters
        unknown = set(parameters) - SPELLINGS[model.learner].names
    if unknown:
        msg = f"{model.learner} has no parameter {min(unknown)!r:.60}; upgrade rosenblatt."
        raise InputError(msg)
    check_parameters(model.learner, parameters)
    return parameters


def class_weights_of(model: Model) -> dict[Class, float]:
    """Return what multiplied the steps of each class in training; those left out have 1."""
    class_weight = usable_options(model).get("class_weight")
    counts = model.training.get("class_counts")
    if class_weight == "balanced" and counts is None:
        raise InputError(
            "The model was trained with class_weight='balanced' and does not say how many rows "
            "each class had; train it with a weight for each class."
        )
    weights = class_weights(class_weight, model.classes, np.asarray(counts or (), np.float64))
    return {} if weights is None else dict(zip(model.classes, weights.tolist(), strict=True))
