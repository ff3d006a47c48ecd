"""What a model file keeps of an estimator."""

import re
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.models.model import Model
from rosenblatt.models.parameters import check_parameters
from rosenblatt.training.history import PassRecord, StopReason
from rosenblatt.training.state import State

LABEL_TYPE = re.compile(r"[<>|](?:[biuf][1-9][0-9]?|U[1-9][0-9]{0,3}|O)")
ENCODING_PARTS = ["encoding", "encoding_arrays", "feature_names"]


@dataclass(frozen=True)
class Loaded:
    """What stood in the file that an estimator came from."""

    parts: dict[str, Any]  # of the model, without its weights
    history: list[PassRecord]  # the very list that the estimator has, until it is fitted anew
    n_iter: int


def model_of(estimator: Any) -> Model:
    """Return all that a file keeps of a fitted estimator."""
    state = estimator._state  # noqa: SLF001  # ours
    names = getattr(estimator, "feature_names_in_", None)
    parts: dict[str, Any] = {
        "feature_names": None if names is None else tuple(str(name) for name in names),
        "outcome": {},
        "training": {},
    } | _kept_from_file(estimator)
    parts["outcome"] = parts["outcome"] | {
        "stop_reason": estimator.stop_reason_,
        "best_pass": estimator.best_iter_,
        "n_iter": estimator.n_iter_,
        "n_mistakes": estimator.n_mistakes_,
    }
    parts["training"] = parts["training"] | {"label_type": estimator.classes_.dtype.str}
    if hasattr(estimator, "_stored_arrays"):  # what a learner is made of beside its weights
        parts["arrays"] = estimator._stored_arrays()  # noqa: SLF001  # ours
    return Model(
        learner=type(estimator).__name__,
        options=_options(estimator),
        classes=tuple(estimator.classes_.tolist()),
        **state.vectors(),
        history=tuple(asdict(record) for record in estimator.history_),
        **parts,
    )


def _kept_from_file(estimator: Any) -> dict[str, Any]:
    """Return what a file held that an estimator has no place for, as far as it is still true."""
    loaded = getattr(estimator, "_loaded", None)
    if loaded is None:
        return {}
    same_fit = estimator.history_ is loaded.history
    if same_fit and estimator.n_iter_ == loaded.n_iter:
        names = [*ENCODING_PARTS, "spread", "calibration", "verdict", "outcome", "training"]
    elif same_fit or estimator.warm_start:
        names = ENCODING_PARTS
    else:
        return {}  # fitted anew, perhaps on other features
    return {name: loaded.parts[name] for name in names}


def _options(estimator: Any) -> dict[str, Any]:
    """Return the parameters as a file can hold them."""
    options: dict[str, Any] = estimator.get_params(deep=False)
    for name, value in options.items():
        if isinstance(value, Mapping):
            options[name] = [[label, float(weight)] for label, weight in value.items()]
        elif isinstance(value, (bool, np.bool_)):
            options[name] = bool(value)
        elif isinstance(value, Integral):
            options[name] = int(value)
        elif isinstance(value, Real):
            options[name] = float(value)
        elif name == "observers" or not isinstance(value, (str, type(None))):
            options[name] = None
            if name != "observers" or value:
                msg = (
                    f"{name} is {told(value)}, which a model file cannot hold: "
                    "it will be None in what is loaded."
                )
                warnings.warn(msg, UserWarning, stacklevel=4)
    return options


def parameters_of(kind: type[OnlineClassifier], options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the constructor, checked."""
    unknown = set(options) - set(kind().get_params())
    if unknown:
        msg = f"{kind.__name__} has no parameter {min(unknown)!r:.60}; upgrade rosenblatt."
        raise InputError(msg)
    parameters = dict(options)
    if isinstance(options.get("class_weight"), list):
        parameters["class_weight"] = dict(options["class_weight"])
    check_parameters(kind.__name__, parameters)
    return parameters


def restore(estimator: Any, model: Model) -> None:
    """Change an estimator to be fitted as the model says."""
    state = State.of_vectors(model.weights, model.ledger, len(model.classes), model.count)
    estimator._state = state  # noqa: SLF001  # ours
    estimator.classes_ = _classes_of(model)
    estimator.n_features_in_ = model.n_features
    if model.feature_names is not None and model.encoding is None:
        estimator.feature_names_in_ = np.array(model.feature_names, object)
    history = [_record(record) for record in model.history]
    outcome = model.outcome
    estimator.history_ = history
    estimator.n_iter_ = _number(outcome, "n_iter", len(history))
    estimator.best_iter_ = _number(outcome, "best_pass", len(history))
    n_mistakes = sum(record.mistakes for record in history)
    estimator.n_mistakes_ = _number(outcome, "n_mistakes", n_mistakes)
    estimator.stop_reason_ = outcome.get("stop_reason", "max_iter")
    if estimator.stop_reason_ not in get_args(StopReason):
        msg = f"its stop_reason is {estimator.stop_reason_!r:.60}; upgrade rosenblatt."
        raise InputError(msg)
    estimator.converged_ = estimator.stop_reason_ == "converged"
    parts = {field.name: getattr(model, field.name) for field in fields(model)}
    kept = {name: parts[name] for name in parts if name not in ("weights", "ledger")}
    estimator._loaded = Loaded(kept, history, estimator.n_iter_)  # noqa: SLF001  # ours
    if hasattr(estimator, "_restore_arrays"):
        estimator._restore_arrays(model.arrays)  # noqa: SLF001  # ours


def _classes_of(model: Model) -> NDArray[Any]:
    """Return the classes with the type that the labels had, or one that holds them."""
    told = model.training.get("label_type")
    if told is not None and not (isinstance(told, str) and LABEL_TYPE.fullmatch(told)):
        msg = f"its labels are of an unknown type, {told!r:.60}; upgrade rosenblatt."
        raise InputError(msg)
    with np.errstate(over="ignore"):
        found: NDArray[Any] = np.array(model.classes, told)
    if told is None and found.dtype == object:  # integers beyond int64, as the readers take them
        found = np.array(model.classes, np.float64)
    if found.tolist() != list(model.classes):
        msg = f"its classes do not fit into their type, {found.dtype}."
        raise InputError(msg)
    return found


def _record(record: dict[str, Any]) -> PassRecord:
    missing = {field.name for field in fields(PassRecord)} - set(record)
    if missing:
        msg = f"a pass in its history has no {min(missing)!r}."
        raise InputError(msg)
    return PassRecord(**{field.name: record[field.name] for field in fields(PassRecord)})


def _number(outcome: dict[str, Any], name: str, otherwise: int) -> int:
    value = outcome.get(name, otherwise)
    if type(value) is not int:
        msg = f"its {name} must be an integer; got {value!r:.60}."
        raise InputError(msg)
    return value


def told(value: object) -> str:
    """Return what a message calls a value: by its type."""
    return f"a {type(value).__name__}"
