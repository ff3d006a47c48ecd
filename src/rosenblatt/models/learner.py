"""A learner: a rule, a memory and their parameters, checked. It makes the plan of a training."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rosenblatt.errors import InputError, Parameter
from rosenblatt.rules import (
    RULES,
    ZERO_CONVENTIONS,
    Rule,
    additive_rules,
    check_rule,
)
from rosenblatt.tasks import CLASSES, Task, check_task, task_of
from rosenblatt.training.loop import EarlyStopping, Plan, Shuffle
from rosenblatt.training.state import State
from rosenblatt.wording import word_list

SHARED = (  # parameters that every estimator has by the same name
    *("shuffle", "zero", "fit_intercept", "early_stopping", "validation_fraction"),
    *("n_iter_no_change", "time_limit", "random_state"),
)


@dataclass(frozen=True)
class Learner:
    """A rule, a memory and their parameters, by their names in Python."""

    rule: str = "perceptron"
    memory: str = ""  # empty: as the table of rules says
    values: Mapping[str, float | None] = field(default_factory=dict)  # of the rule's parameters
    max_iter: int | None = None  # passes; None: as many as the table of rules says
    shuffle: Shuffle = True
    zero: str = "mistake"
    fit_intercept: bool = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    time_limit: float | None = None
    record_mistakes: bool = False
    random_state: Any = 0
    task: str = CLASSES  # what an answer is, by its name in ``TASKS``

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise InputError(f"There is no rule {self.rule!r}; there are {', '.join(RULES)}.")
        if not self.memory:
            object.__setattr__(self, "memory", RULES[self.rule].memory)
        if self.voted and RULES[self.rule].family != "perceptron":
            first, *others = (name for name, e in RULES.items() if e.family == "perceptron")
            raise InputError(
                f"{Parameter('memory', 'vote')} is not available with "
                f"{Parameter('rule', self.rule)}; use {Parameter('rule', first)} or "
                f"{word_list(others, joint=' or ')}."
            )
        if self.record_mistakes and self.second_order:
            raise InputError(
                f"{Parameter('record_mistakes', value=True)} is not available with "
                f"{Parameter('rule', self.rule)}: its weights are not the sum of its mistakes; use"
                f" the rule {word_list(additive_rules(), joint=' or ')}."
            )
        check_task(self.task)
        self.answer.check(memory=self.memory, rule=self.rule)
        check_rule(self.rule, self.values)

    @property
    def averaged(self) -> bool:
        """Whether the mean of all weights is kept; a vote keeps it to be looked at."""
        return self.memory in ("average", "vote")

    @property
    def voted(self) -> bool:
        """Whether all weight vectors decide, by vote."""
        return self.memory == "vote"

    @property
    def fixes_bias(self) -> Parameter | None:
        """The parameter because of which the bias cannot be moved once it is learned."""
        if self.voted:
            return Parameter("memory", "vote")
        return None if self.fit_intercept else Parameter("fit_intercept", value=False)

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
        if self.max_iter is not None:
            return self.max_iter
        usual = RULES[self.rule].passes[self.memory]
        return self.answer.passes_of_averages or usual if self.averaged else usual

    @property
    def answer(self) -> Task:
        """The task, before any class is known."""
        return task_of(self.task)

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
    def second_order(self) -> bool:
        """Whether a variance is kept beside each weight."""
        return RULES[self.rule].order == 2

    def start(self, n_features: int, n_classes: int, *, by_feature: bool = False) -> State:
        """Return the state before the first row, for rows that read weights so."""
        return State.zeros(
            n_features,
            n_classes,
            averaged=self.averaged,
            uncertain=self.second_order,
            task=self.task,
            by_feature=by_feature,
        )

    def of_task(self, name: str) -> "Learner":
        """Return the learner for another task, with its usual parameters."""
        other = replace(self, task=name)
        return replace(other, values={**other.answer.usual_values(self.rule), **self.chosen})

    def plan(self, *, hold_out: bool = False) -> Plan:
        """Return what the loop over passes is told; ``hold_out`` sets rows aside in any case."""
        stopping = EarlyStopping(self.validation_fraction, self.n_iter_no_change)
        first = self.answer.passes_before_averages if self.averaged else 0
        return Plan(
            rule=self.step,
            max_iter=self.passes,
            zero=ZERO_CONVENTIONS[self.zero],
            shuffle=self.shuffle if isinstance(self.shuffle, str) else bool(self.shuffle),
            early_stopping=stopping if self.early_stopping or hold_out else None,
            time_limit=self.time_limit,
            record=self.records,
            by_vote=self.voted,
            average_after=first if self.passes > first else 0,
        )

    @property
    def chosen(self) -> dict[str, float]:
        """The values of the rule's parameters that are not left to their defaults."""
        return {name: value for name, value in self.values.items() if value is not None}


def check_online(early_stopping: object, class_weight: object, calibrate: object = False) -> None:
    """Raise InputError for what partial_fit, which sees a part of the rows, cannot do."""
    if calibrate or early_stopping:
        name = "calibrate" if calibrate else "early_stopping"
        raise InputError(f"partial_fit sees no held-out rows: set {name}=False to use it.")
    if isinstance(class_weight, str):
        raise InputError(
            'class_weight="balanced" needs all the labels, which partial_fit has not seen: '
            "give a dictionary of class: weight."
        )


def generator_from(random_state: Any) -> "np.random.Generator":
    """Return a Generator for a random_state."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state)
