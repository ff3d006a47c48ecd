"""A learner: a rule, a memory and their parameters, checked. It makes the plan of a training."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.parameters import MEMORIES, is_flag
from rosenblatt.rules import (
    RULES,
    ZERO_CONVENTIONS,
    Rule,
    additive_rules,
    check_rule,
    rule_parameters,
)
from rosenblatt.wording import word_list

if TYPE_CHECKING:
    from rosenblatt.training.loop import Plan
    from rosenblatt.training.state import State

VOTED = "VotedPerceptron"  # the learner whose vectors vote
ESTIMATORS = {  # by family of rules and memory
    "": dict.fromkeys(MEMORIES, "RuleClassifier"),
    "perceptron": {
        "last": "Perceptron",
        "average": "AveragedPerceptron",
        "vote": "VotedPerceptron",
    },
    "passive-aggressive": dict.fromkeys(MEMORIES, "PassiveAggressiveClassifier"),
    "confidence-weighted": dict.fromkeys(MEMORIES, "ConfidenceWeightedClassifier"),
}
UNRECORDED = ("VotedPerceptron", "ConfidenceWeightedClassifier")  # no option record_mistakes
SHARED = (  # parameters that every estimator has by the same name
    *("shuffle", "zero", "fit_intercept", "early_stopping", "validation_fraction"),
    *("n_iter_no_change", "time_limit"),
)


@dataclass(frozen=True)
class Learner:
    """A rule, a memory and their parameters, by their names in Python."""

    rule: str = "perceptron"
    memory: str = ""  # empty: as the table of rules says
    values: Mapping[str, float | None] = field(default_factory=dict)  # of the rule's parameters
    max_iter: int | None = None  # passes; None: as many as the table of rules says
    shuffle: bool | str = True
    zero: str = "mistake"
    fit_intercept: bool = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    time_limit: float | None = None
    record_mistakes: bool = False
    random_state: Any = 0

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            msg = f"There is no rule {self.rule!r}; there are {', '.join(RULES)}."
            raise InputError(msg)
        if not self.memory:
            object.__setattr__(self, "memory", RULES[self.rule].memory)
        if self.voted and RULES[self.rule].family != "perceptron":
            first, *others = (name for name, e in RULES.items() if e.family == "perceptron")
            msg = Sentence(
                f"{Parameter('memory', 'vote')} is not available with "
                f"{Parameter('rule', self.rule)}; use {Parameter('rule', first)} or "
                f"{word_list(others, joint=' or ')}."
            )
            raise InputError(msg)
        if self.record_mistakes and self.second_order:
            msg = Sentence(
                f"{Parameter('record_mistakes', value=True)} is not available with "
                f"{Parameter('rule', self.rule)}: its weights are not the sum of its mistakes; use"
                f" the rule {word_list(additive_rules(), joint=' or ')}."
            )
            raise InputError(msg)
        check_rule(self.rule, self.values)

    @classmethod
    def of_estimator(cls, name: str, options: Mapping[str, Any]) -> "Learner":
        """Return how an estimator of this name learns with these parameters; undoes ``options``."""
        values = None
        if name == "RuleClassifier":
            rule, memory = options["rule"], options["memory"]
            values = dict(options["parameters"] or {})
        elif name == "ConfidenceWeightedClassifier":
            rule, memory = options["rule"], "average" if options["average"] else "last"
        elif name == "PassiveAggressiveClassifier":
            rule = "pa1" if options["loss"] == "hinge" else "pa2"
            memory = "average" if options["average"] else "last"
        else:
            rule = "margin" if options["margin"] > 0 else "perceptron"
            memory = {"AveragedPerceptron": "average", VOTED: "vote"}.get(name, "last")
        if values is None:
            values = {entry.name: options[entry.name] for entry in RULES[rule].parameters}
        return cls(
            rule,
            memory,
            values,
            options["max_iter"],
            **{name: options[name] for name in SHARED},
            record_mistakes=bool(options.get("record_mistakes")),
            random_state=options["random_state"],
        )

    @property
    def averaged(self) -> bool:
        """Whether the mean of all weights is kept; a vote keeps it to be looked at."""
        return self.memory in ("average", "vote")

    @property
    def voted(self) -> bool:
        """Whether all weight vectors decide, by vote."""
        return self.memory == "vote"

    @property
    def constant(self) -> float:
        """The constant feature of every row: 1 where a bias is learned, else 0."""
        return 1.0 if self.fit_intercept else 0.0

    @property
    def records(self) -> bool:
        """Whether the list of mistakes is kept, with the rows that made them."""
        return self.record_mistakes or self.voted

    @property
    def passes(self) -> int:
        """How many passes are made at most."""
        return RULES[self.rule].passes[self.memory] if self.max_iter is None else self.max_iter

    @property
    def title(self) -> str:
        """What it is called in a sentence."""
        kept = {"average": "averaged ", "vote": "voted "}.get(self.memory, "")
        return f"{kept}{RULES[self.rule].title}"

    @cached_property
    def step(self) -> Rule:
        """The rule that steps."""
        return RULES[self.rule].rule(self.values)

    @property
    def suits_texts(self) -> bool:
        """Whether nothing is asked for that a second-order rule has not."""
        return not self.records and not any(v is not None for v in self.values.values())

    @property
    def second_order(self) -> bool:
        """Whether a variance is kept beside each weight."""
        return RULES[self.rule].order == 2

    def start(self, n_features: int, n_classes: int) -> "State":
        """Return the state before the first row."""
        from rosenblatt.training.state import State

        return State.zeros(
            n_features, n_classes, averaged=self.averaged, uncertain=self.second_order
        )

    def plan(self, *, hold_out: bool = False) -> "Plan":
        """Return what the loop over passes is told; ``hold_out`` sets rows aside in any case."""
        from rosenblatt.training.loop import EarlyStopping, Plan
        from rosenblatt.training.order import shuffle_of

        stopping = EarlyStopping(self.validation_fraction, self.n_iter_no_change)
        return Plan(
            rule=self.step,
            max_iter=self.passes,
            zero=ZERO_CONVENTIONS[self.zero],
            shuffle=shuffle_of(self.shuffle),
            early_stopping=stopping if self.early_stopping or hold_out else None,
            time_limit=self.time_limit,
            record=self.records,
        )

    @property
    def estimator(self) -> str:
        """The name of the estimator that learns so."""
        return ESTIMATORS[RULES[self.rule].family][self.memory]

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of that estimator that say what rule and memory are."""
        rule: Any = self.step
        family = RULES[self.rule].family
        if not family:
            values = {name: value for name, value in self.values.items() if value is not None}
            return {"rule": self.rule, "memory": self.memory, "parameters": values or None}
        if family == "confidence-weighted":
            given = {p.name: p.default for p in rule_parameters().values()}
            given |= {name: value for name, value in self.values.items() if value is not None}
            return {
                "rule": self.rule,
                **{name: given[name] for name in ("r", "confidence", "C")},
                "average": self.averaged,
            }
        if family == "passive-aggressive":
            return {
                "C": getattr(rule, "C", inf),
                "loss": "squared_hinge" if self.rule == "pa2" else "hinge",
                "average": self.averaged,
            }
        return {"eta0": rule.eta0, "margin": rule.target}

    def options(self) -> dict[str, Any]:
        """Return all parameters of that estimator."""
        recording = (
            {} if self.estimator in UNRECORDED else {"record_mistakes": self.record_mistakes}
        )
        return {
            **self.parameters(),
            "max_iter": self.passes,
            **{name: getattr(self, name) for name in SHARED},
            **recording,
            "random_state": self.random_state,
        }


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
