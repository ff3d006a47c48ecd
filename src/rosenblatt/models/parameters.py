"""Checks of constructor arguments: one sentence says which, of what, must be what, got what."""

import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.models.calibration import METHODS
from rosenblatt.rules import RULES, ZERO_CONVENTIONS, rule_parameters

Check = tuple[str, Callable[[Any], bool]]  # what it must be, and whether it is


def _real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def _flag(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))


def one_of(choices: Iterable[object]) -> Check:
    """Return the check that a value is one of these."""
    *others, last = choices
    said = ", ".join(repr(choice) for choice in others)
    return (
        f"{said} or {last!r}",
        lambda v: any(v is c or (isinstance(v, str) and v == c) for c in [*others, last]),
    )


AT_LEAST_ONE: Check = ("an integer of at least 1", lambda v: _integer(v) and v >= 1)
FLAG: Check = ("True or False", _flag)
POSITIVE: Check = (
    "a finite number above 0",
    lambda v: _real(v) and v > 0 and math.isfinite(v),
)

CHECKS: dict[str, Check] = {
    "max_iter": AT_LEAST_ONE,
    "shuffle": one_of([True, False, "once", "blocks"]),
    "zero": one_of(ZERO_CONVENTIONS),
    **{name: (entry.requirement, entry.accepts) for name, entry in rule_parameters().items()},
    "loss": one_of(["hinge", "squared_hinge"]),
    "average": FLAG,
    "fit_intercept": FLAG,
    "early_stopping": FLAG,
    "validation_fraction": ("a number between 0 and 1", lambda v: _real(v) and 0 < v < 1),
    "n_iter_no_change": AT_LEAST_ONE,
    "time_limit": (
        "None or a number of seconds above 0",
        lambda v: v is None or (_real(v) and v > 0),
    ),
    "class_weight": (
        'None, "balanced" or a dictionary of class: weight',
        lambda v: v is None or isinstance(v, Mapping) or (isinstance(v, str) and v == "balanced"),
    ),
    "calibrate": one_of([True, False, *METHODS]),
    "warm_start": FLAG,
    "record_mistakes": FLAG,
    "random_state": (
        "None, an integer of at least 0, or a NumPy Generator or RandomState",
        lambda v: (
            v is None
            or (_integer(v) and v >= 0)
            or isinstance(v, (np.random.Generator, np.random.RandomState))
        ),
    ),
    "verbose": ("True, False or an integer", lambda v: _flag(v) or _integer(v)),
    "observers": (
        "None or a sequence of callables",
        lambda v: v is None or all(callable(observer) for observer in v),
    ),
    "kernel": (
        "'linear', 'poly', 'rbf', 'precomputed' or a function of two matrices",
        lambda v: callable(v) or v in ("linear", "poly", "rbf", "precomputed"),
    ),
    "degree": AT_LEAST_ONE,
    "gamma": (
        "'scale', 'auto' or a finite number above 0",
        lambda v: v in {"scale", "auto"} if isinstance(v, str) else POSITIVE[1](v),
    ),
    "coef0": ("a finite number", lambda v: _real(v) and math.isfinite(v)),
    "rule": (one_of(RULES)[0], lambda v: isinstance(v, str) and v in RULES),
    "parameters": (
        "None or a dictionary of the names and values of the rule's parameters",
        lambda v: v is None or (isinstance(v, Mapping) and all(map(_real, v.values()))),
    ),
    "covariance": one_of(["diagonal", "full"]),
    "memory": one_of(["last", "average", "vote"]),
    "multi_class": one_of(["joint", "one-vs-rest"]),
    "max_support": (
        "None or an integer of at least 1",
        lambda v: v is None or AT_LEAST_ONE[1](v),
    ),
    "budget": one_of([None, "forgetron", "projectron", "random"]),
    "eta": (
        "a finite number of at least 0",
        lambda v: _real(v) and v >= 0 and math.isfinite(v),
    ),
    "cache_size": POSITIVE,
}


def check_parameters(
    owner: str, parameters: Mapping[str, object], checks: Mapping[str, Check] = CHECKS
) -> None:
    """Raise InputError for the first parameter that is not what it must be."""
    for name, value in parameters.items():
        requirement, holds = checks[name]
        if not holds(value):
            msg = f"The parameter {name} of {owner} must be {requirement}; got {value!r}."
            raise InputError(msg)


def check_online(early_stopping: object, class_weight: object, calibrate: object = False) -> None:
    """Raise InputError for what partial_fit, which sees a part of the rows, cannot do."""
    if calibrate:
        msg = "partial_fit sees no held-out rows: set calibrate=False to use it."
        raise InputError(msg)
    if early_stopping:
        msg = "partial_fit sees no held-out rows: set early_stopping=False to use it."
        raise InputError(msg)
    if isinstance(class_weight, str):
        msg = (
            'class_weight="balanced" needs all the labels, which partial_fit has not seen: '
            "give a dictionary of class: weight."
        )
        raise InputError(msg)


def generator_from(random_state: Any) -> np.random.Generator:
    """Return the generator that a random_state stands for."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state)


def plain_options(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a model file can hold them; what it cannot hold is None."""
    options = dict(parameters)
    for name, value in options.items():
        if isinstance(value, Mapping):
            options[name] = [[label, float(weight)] for label, weight in value.items()]
        elif _flag(value):
            options[name] = bool(value)
        elif isinstance(value, Integral):
            options[name] = int(value)
        elif isinstance(value, Real):
            options[name] = float(value)
        elif name == "observers" or not isinstance(value, (str, type(None))):
            options[name] = None
    return options


def lost_options(parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that a model file cannot hold."""
    options = plain_options(parameters)
    given = (name for name, value in parameters.items() if options[name] is None)
    return [n for n in given if (parameters[n] if n == "observers" else parameters[n] is not None)]
