"""The gate for model files: which learners and parameters this version can use.

``rosenblatt.load`` and the commands go through it alike.
"""

from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.models.parameters import check_parameters

SHARED = frozenset(
    {
        *("max_iter", "shuffle", "zero", "fit_intercept", "early_stopping", "validation_fraction"),
        *("n_iter_no_change", "time_limit", "class_weight", "calibrate", "warm_start"),
        *("random_state", "verbose", "observers"),
    }
)
LEARNER_PARAMETERS: dict[str, frozenset[str]] = {
    "Perceptron": SHARED | {"eta0", "margin", "record_mistakes"},
    "AveragedPerceptron": SHARED | {"eta0", "margin", "record_mistakes"},
    "PassiveAggressiveClassifier": SHARED | {"C", "loss", "average", "record_mistakes"},
    "ConfidenceWeightedClassifier": (
        SHARED | {"rule", "r", "confidence", "C", "covariance", "average"}
    ),
    "RuleClassifier": SHARED | {"rule", "parameters", "memory", "record_mistakes"},
    "VotedPerceptron": SHARED | {"eta0", "margin"},
    "KernelPerceptron": SHARED
    | {"kernel", "degree", "gamma", "coef0", "rule", "eta0", "margin", "C", "memory"}
    | {"multi_class", "max_support", "budget", "eta", "cache_size"},
}


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


def listed_learners() -> str:
    """Return the learners that are known, in words."""
    *others, last = LEARNER_PARAMETERS
    return f"{', '.join(others)} or {last}"
