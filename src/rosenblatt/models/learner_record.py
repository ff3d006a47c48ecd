"""How a model says what learned it: a name and parameters, and the learner they do not spell."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.models.learner import SHARED, Learner
from rosenblatt.models.record import Json
from rosenblatt.parameters import MEMORIES, check_parameters, is_flag
from rosenblatt.rules import RULES, rule_parameters
from rosenblatt.tasks import CLASSES
from rosenblatt.training.examples import class_weights
from rosenblatt.wording import word_list

# And these, which say how it is trained
BESIDE = (
    "max_iter",
    "class_weight",
    "calibrate",
    "warm_start",
    "verbose",
    "observers",
)
LOSSES = {"hinge": "pa1", "squared_hinge": "pa2"}  # the rule that ``loss`` chooses


class EstimatorNames(NamedTuple):
    """The name under which a model file holds a learner, and the parameters that say which."""

    own: str  # names of its parameters, beside those that every estimator has
    family: str | None = None  # of the rules that are spelled so
    memories: tuple[str, ...] = MEMORIES

    @property
    def names(self) -> frozenset[str]:
        """The names of all its parameters."""
        return frozenset((*self.own.split(), *SHARED, *BESIDE))


# Of models made without an estimator, from files or row by row; those of estimators that are not
# here hold a description of their learner.
ESTIMATOR_NAMES = {
    "Perceptron": EstimatorNames("eta0 margin record_mistakes", "perceptron", ("last",)),
    "AveragedPerceptron": EstimatorNames("eta0 margin record_mistakes", "perceptron", ("average",)),
    "PassiveAggressiveClassifier": EstimatorNames(
        "C loss average record_mistakes", "passive-aggressive"
    ),
    "ConfidenceWeightedClassifier": EstimatorNames(
        "rule r confidence C average", "confidence-weighted"
    ),
    "RuleClassifier": EstimatorNames("rule memory parameters record_mistakes", ""),
    "VotedPerceptron": EstimatorNames("eta0 margin", "perceptron", ("vote",)),
    "KernelPerceptron": EstimatorNames(
        "kernel degree gamma coef0 rule eta0 margin C memory multi_class cache_size"
    ),
}
# Of rows that have sets of labels: such a model holds a description, too
SETS_NAMES = EstimatorNames("rule memory parameters record_mistakes goal thresholds")


@dataclass(frozen=True)
class LearnerRecord:
    """What learned a model, as a file holds it; ``learner`` is what goes on learning."""

    name: str  # of an estimator: "AveragedPerceptron", …
    options: dict[str, Json]  # its parameters, by their Python names
    own: Learner | None = None  # the learner, where the options do not spell it

    @classmethod
    def of(
        cls, learner: Learner, name: str = "", options: dict[str, Json] | None = None
    ) -> "LearnerRecord":
        """Return the record of a learner, by default under its own name and all parameters."""
        name = name or estimator_of(learner)
        options = options_of(learner) if options is None else options
        return cls(name, options, None if name in ESTIMATOR_NAMES else _storable(learner))

    def with_options(self, **options: Any) -> "LearnerRecord":
        """Return a record with these parameters, as a file can hold them."""
        return replace(self, options=self.options | plain_options(options))

    def of_parameters(
        self, parameters: Mapping[str, Any], learner: Callable[[], Learner]
    ) -> "LearnerRecord":
        """Return the record of the same estimator with other parameters, which mean a learner."""
        own = None if self.own is None else _storable(learner())
        return LearnerRecord(self.name, plain_options(parameters), own)

    @classmethod
    def stored(
        cls, name: str, options: dict[str, Json], described: dict[str, Json] | None
    ) -> "LearnerRecord":
        """Return the record of a file; raises what it does not say as a learner does."""
        if described is None:
            return cls(name, options)
        parts = {**described, "values": dict(described["values"])}
        return cls(name, options, Learner(task=parts.pop("labels", CLASSES), **parts))

    @property
    def description(self) -> dict[str, Json] | None:
        """All that the learner is, as a file holds it; None where the options spell it."""
        if self.own is None:
            return None
        parts = {entry.name: getattr(self.own, entry.name) for entry in fields(self.own)}
        return plain_options(parts | {"values": self.own.chosen, "labels": parts.pop("task")})

    @property
    def learner(self) -> Learner:
        """The learner, by which a model goes on learning."""
        if self.own is None:
            return learner_of(self.options, ESTIMATOR_NAMES[self.name].memories[0])
        return self.own

    @property
    def task(self) -> str:
        """The name of its task."""
        return CLASSES if self.own is None else self.own.task

    @property
    def constant(self) -> float:
        """The constant feature: 1 where a bias is learned, else 0."""
        return 1.0 if self.options.get("fit_intercept", True) else 0.0

    @property
    def positive(self) -> bool:
        """Whether a score of zero predicts the second class, and a tie the last of its classes."""
        return bool(self.options.get("zero") == "positive")

    def check(self, name: str) -> None:
        """Raise InputError where a model file of this name holds a learner that is not known."""
        if self.own is None and self.name not in ESTIMATOR_NAMES:
            raise InputError(
                f"{name} holds a {self.name!r:.60}, and this version of rosenblatt knows "
                f"{word_list(ESTIMATOR_NAMES, joint=' or ')}: upgrade it."
            )
        try:
            self.parameters()
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise InputError(f"{name} cannot be used: {error}") from error

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator, checked."""
        options = dict(self.options)
        for name in ("class_weight", "parameters"):
            if isinstance(options.get(name), list):
                options[name] = dict(options[name])
        if self.own is None:  # else its class knows more of its parameters
            for name in sorted(options.keys() - ESTIMATOR_NAMES[self.name].names):
                msg = f"{self.name} has no parameter {name!r:.60}; upgrade rosenblatt."
                raise InputError(msg)
        # The description says the task, and is checked
        check_parameters(self.name, {k: v for k, v in options.items() if k != "goal"})
        return options

    def class_weights(
        self, classes: Sequence[Any], counts: Sequence[int] | None
    ) -> dict[Any, float]:
        """Return what multiplied the steps of each class; those left out have 1."""
        class_weight = self.parameters().get("class_weight")
        if class_weight == "balanced" and counts is None:
            raise InputError(
                "The model was trained with class_weight='balanced' and does not say how many rows "
                "each class had; train it with a weight for each class."
            )
        numbers = np.asarray([] if counts is None else counts, np.float64)
        weights = class_weights(class_weight, classes, numbers)
        return {} if weights is None else dict(zip(classes, weights.tolist(), strict=True))


def learner_of(parameters: Mapping[str, Any], memory: str = "last") -> Learner:
    """Return what the parameters of an estimator describe; undoes ``options_of``.

    ``rule`` is a name, or follows from ``loss`` or ``margin``; the memory is ``memory``, or
    follows from ``average``, else it is the one given.
    """
    by_margin = "margin" if parameters.get("margin", 0.0) > 0 else "perceptron"
    rule = parameters.get("rule") or LOSSES.get(parameters.get("loss", ""), by_margin)
    if "average" in parameters:
        memory = "average" if parameters["average"] else "last"
    values = {entry.name: parameters.get(entry.name) for entry in RULES[rule].parameters}
    if "parameters" in parameters:
        values = dict(parameters["parameters"] or {})
    return Learner(
        rule,
        parameters.get("memory", memory),
        values,
        parameters.get("max_iter"),
        **{name: parameters[name] for name in SHARED if name in parameters},
        record_mistakes=bool(parameters.get("record_mistakes")),
    )


def estimator_of(learner: Learner) -> str:
    """Return the name under which models made without an estimator hold a learner."""
    if learner.answer.estimator:
        return learner.answer.estimator
    family = RULES[learner.rule].family
    return next(
        name
        for name, entry in ESTIMATOR_NAMES.items()
        if entry.family == family and learner.memory in entry.memories
    )


def own_options(learner: Learner) -> dict[str, Any]:
    """Return the parameters of its estimator that say what rule and memory are."""
    numbers = {entry.name: entry.default for entry in rule_parameters().values()}
    if learner.rule == "perceptron":
        numbers["margin"] = 0.0
    elif learner.rule == "pa":
        numbers["C"] = inf
    every = {
        **(numbers | learner.chosen),
        "rule": learner.rule,
        "loss": "squared_hinge" if learner.rule == "pa2" else "hinge",
        "memory": learner.memory,
        "average": learner.averaged,
        "parameters": learner.chosen or None,
        "goal": learner.task,
    }
    return {name: every[name] for name in _names_of(learner).own.split() if name in every}


def options_of(learner: Learner) -> dict[str, Any]:
    """Return all parameters of its estimator."""
    shared = {name: getattr(learner, name) for name in SHARED}
    if "record_mistakes" in _names_of(learner).names:
        shared["record_mistakes"] = learner.record_mistakes
    return own_options(learner) | {"max_iter": learner.passes} | shared


def _names_of(learner: Learner) -> EstimatorNames:
    return SETS_NAMES if learner.answer.estimator else ESTIMATOR_NAMES[estimator_of(learner)]


def _storable(learner: Learner) -> Learner:
    """Return a learner as a model file can hold it: without a generator."""
    return replace(learner, **plain_options({"random_state": learner.random_state}))


def plain_options(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a model file can hold them; what it cannot hold is None."""
    options = dict(parameters)
    for name, value in options.items():
        if isinstance(value, Mapping):
            options[name] = [[label, float(weight)] for label, weight in value.items()]
        elif is_flag(value):
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
