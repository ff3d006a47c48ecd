"""Which kernel, rule and budget the parameters of a kernel perceptron stand for."""

from typing import Any

from rosenblatt.errors import InputError
from rosenblatt.kernels.budget import Limit
from rosenblatt.kernels.rows import Rows
from rosenblatt.rules import RULES, Rule, additive_rules
from rosenblatt.training.dual.budget_state import BUDGETS, NO_LIMIT
from rosenblatt.training.dual.kernel import Kernel, scale_gamma

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


def check_stream(estimator: Any) -> None:
    """Raise for what partial_fit cannot do."""
    if isinstance(estimator.class_weight, str):
        msg = (
            'class_weight="balanced" needs all the labels, which partial_fit has not seen: '
            "give a dictionary of class: weight."
        )
        raise InputError(msg)


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


def budget_of(estimator: Any) -> str | None:
    """Return how rows are given up or projected; with max_support alone as the Projectron does."""
    if estimator.budget is None and estimator.max_support is not None:
        return "projectron"
    budget: str | None = estimator.budget
    return budget


def limit_of(estimator: Any) -> Limit | None:
    """Return the budget, or None for none."""
    budget = budget_of(estimator)
    if budget is None:
        return None
    most = NO_LIMIT if estimator.max_support is None else int(estimator.max_support)
    return Limit(BUDGETS[budget], most, float(estimator.eta), float(estimator.eta0))


def rule_of(estimator: Any) -> Rule:
    """Return the rule that steps."""
    return RULES[estimator.rule].rule(vars(estimator))


def kernel_of(estimator: Any, rows: Rows) -> Kernel:
    """Return the kernel with its numbers, as these rows determine them."""
    gamma = estimator.gamma
    if gamma == "scale":
        gamma = scale_gamma(rows) if estimator.kernel in {"poly", "rbf"} else 1.0
    elif gamma == "auto":
        gamma = 1.0 / max(rows.shape[1], 1)
    return Kernel(
        estimator.kernel,
        float(gamma),
        float(estimator.coef0),
        int(estimator.degree),
        kernel_constant(estimator),
    )


def kernel_constant(estimator: Any) -> float:
    """Return what a bias adds to every kernel value."""
    return 1.0 if estimator.fit_intercept else 0.0
