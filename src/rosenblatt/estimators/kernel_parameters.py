"""The parameters of the kernel perceptron: what each says, what goes together, what it makes."""

from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.estimators.documentation import ATTRIBUTES, PARAMETERS
from rosenblatt.kernels.rows import Rows
from rosenblatt.models.kernel_machine import budget_of
from rosenblatt.rules import RULES, Rule, additive_rules

KERNEL_PARTS = ("kernel", "degree", "gamma", "coef0", "fit_intercept")
MACHINE_PARTS = (*KERNEL_PARTS, "multi_class", "max_support", "budget", "eta")


def check_choice(estimator: Any) -> None:
    """Raise for parameters that are each right but do not go together."""
    if estimator.rule not in additive_rules():
        msg = (
            f"rule={estimator.rule!r} keeps a variance for each weight, which a kernel machine has "
            f"none of: use the rule {', '.join(additive_rules())}."
        )
        raise InputError(msg)
    if estimator.budget in {"forgetron", "random"} and estimator.max_support is None:
        msg = (
            f"budget={estimator.budget!r} says how to keep to max_support, which is None: set "
            "max_support to the number of rows to keep."
        )
        raise InputError(msg)
    check_memory(estimator)
    check_forgetron(estimator, 2)


def check_memory(estimator: Any) -> None:
    """Raise where the memory needs what a budget forgets."""
    budget, memory = budget_of(estimator), estimator.memory
    if budget is not None and memory == "vote":
        msg = (
            'memory="vote" needs every vector of the past, and a budget forgets them: set '
            'memory="last", or "average" with budget="projectron", or give up max_support.'
        )
        raise InputError(msg)
    if budget in {"forgetron", "random"} and memory == "average":
        msg = (
            f'memory="average" needs the rows that budget={budget!r} drops: set memory="last", or '
            'budget="projectron", which drops none.'
        )
        raise InputError(msg)


def check_forgetron(estimator: Any, n_classes: int) -> None:
    """Raise where the Forgetron, which weighs steps of one length, has no meaning."""
    if estimator.budget != "forgetron":
        return
    if not RULES[estimator.rule].fixed_step:
        msg = (
            f'budget="forgetron" weighs steps of one length, and rule={estimator.rule!r} makes '
            'others: set budget="random" or "projectron", or rule="perceptron".'
        )
        raise InputError(msg)
    if estimator.multi_class == "one-vs-rest" and n_classes > 2:
        msg = (
            'budget="forgetron" shrinks one machine when it drops a row, and '
            f'multi_class="one-vs-rest" has {n_classes}: set multi_class="joint", or '
            'budget="random" or "projectron".'
        )
        raise InputError(msg)


def can_stream(estimator: Any) -> bool:
    """Return whether there is a partial_fit, or raise AttributeError with the reason."""
    if estimator.kernel == "precomputed":
        msg = (
            "partial_fit cannot take a precomputed Gram matrix, which has no columns for rows that "
            "are yet to come: give the kernel as a function, or call fit."
        )
        raise AttributeError(msg)
    return True


def check_same(estimator: Any, before: dict[str, Any]) -> None:
    """Raise where the machine to go on with was made with other parameters."""
    for name in MACHINE_PARTS:
        now = getattr(estimator, name)
        if now is not before[name] and now != before[name]:
            msg = (
                f"{name} was {before[name]!r} when this {type(estimator).__name__} began to learn "
                f"and is {now!r} now: set it back, or fit anew."
            )
            raise InputError(msg)


def check_given(estimator: Any, rows: Rows) -> None:
    """Raise where X cannot be the Gram matrix of training rows."""
    if estimator.kernel != "precomputed":
        return
    if rows.sparse:
        msg = (
            'With kernel="precomputed" a sparse X is not supported: X must be a dense array; call '
            "its method toarray."
        )
        raise InputError(msg)
    n_rows, n_columns = rows.shape
    if n_rows != n_columns:
        msg = (
            'With kernel="precomputed" X must be a square matrix, the kernel values of all rows '
            f"against all rows; got shape ({n_rows}, {n_columns})."
        )
        raise InputError(msg)


def rule_of(estimator: Any) -> Rule:
    """Return the rule that steps."""
    return RULES[estimator.rule].rule(vars(estimator))


KERNEL_PARAMETERS = PARAMETERS | {
    "rule": (
        'How far to step. "perceptron": by eta0 on a mistake. "margin": also on rows that are '
        'right by no more than margin. "pa", "pa1", "pa2": passive-aggressively, without a limit, '
        "with steps limited to C, softened by C."
    ),
    "memory": (
        'What predicts: the "last" vector, the "average" of all, or the "vote" of all, each for as '
        "long as it survived. It may be set after fit: all three come from one list of mistakes."
    ),
}

_SHARED = ("classes_", "n_features_in_", "feature_names_in_", "n_iter_", "converged_")

KERNEL_ATTRIBUTES = {
    "support_": (
        "Numbers of the rows that taught, in the order in which each first did; further calls of "
        "partial_fit count on."
    ),
    "support_vectors_": "Those rows; empty for a precomputed kernel.",
    "n_support_": "How many of them are of each class.",
    "dual_coef_": (
        "What multiplies K(row, ·) of each support row: (1, n_support) for two classes, else one "
        'line a class. Of the last or the average vector; a vote has none, so with memory="vote" '
        "the attribute is missing."
    ),
    **{name: ATTRIBUTES[name] for name in _SHARED},
    "n_mistakes_": 'Mistakes in all passes; with "one-vs-rest" those of all the learners.',
    "history_": ATTRIBUTES["history_"],
    "best_iter_": ATTRIBUTES["best_iter_"],
    "stop_reason_": ATTRIBUTES["stop_reason_"],
}
