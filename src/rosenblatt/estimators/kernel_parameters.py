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
    "kernel": (
        '"linear": x·x′. "poly": (γ·x·x′ + coef0)^degree. "rbf": exp(−γ·‖x − x′‖²). '
        '"precomputed": X is the matrix of kernel values, of each row against the training rows. '
        "Or a symmetric function of two matrices that returns the matrix of their values."
    ),
    "degree": "Degree of the polynomial kernel, an integer of at least 1.",
    "gamma": (
        'γ of the polynomial and the RBF kernel, above 0. "scale": 1/(n_features · X.var()), of '
        'the first batch in partial_fit. "auto": 1/n_features.'
    ),
    "coef0": "The constant within the polynomial kernel.",
    "rule": (
        'How far to step. "perceptron": by eta0 on a mistake. "margin": also on rows that are '
        'right by no more than margin. "pa", "pa1", "pa2": passive-aggressively, without a limit, '
        "with steps limited to C, softened by C."
    ),
    "eta0": "Length of the perceptron's step, above 0. It only scales; no prediction changes.",
    "margin": 'Of the rule "margin": it steps up to this margin, at least 0.',
    "C": 'Limit on the steps of "pa1" and "pa2", above 0; infinity for none.',
    "memory": (
        'What predicts: the "last" vector, the "average" of all, or the "vote" of all, each for as '
        "long as it survived. It may be set after fit: all three come from one list of mistakes."
    ),
    "multi_class": (
        'More than two classes are learned by one machine, "joint": the true class gains what its '
        'best rival loses; or by one learner for each class against the rest, "one-vs-rest", as '
        "Freund & Schapire did. All share the kernel values."
    ),
    "fit_intercept": (
        "Learn a bias: the weight of a constant feature 1, so that 1 is added to the kernel."
    ),
    "max_support": (
        "Rows to keep at most; None for no limit. With it learning goes on for ever at the same "
        "cost, and what needs the vectors or rows of the past is not to be had: a vote never, an "
        "average with the Projectron only."
    ),
    "budget": (
        'How to keep to ``max_support``. "projectron", or None: project a row on those that are '
        "kept if it is within eta of their span, or if there is no room for another. Asked for by "
        'name it works without max_support too. "forgetron": shrink all coefficients a little and '
        'drop the oldest row. "random": drop a random row.'
    ),
    "eta": "Of the Projectron: how far from the span of the others a row is kept, at least 0.",
    "early_stopping": (
        "Hold rows out, score them by the memory after every pass, stop when the score has not "
        "risen for n_iter_no_change passes, and keep the best pass."
    ),
    "time_limit": "Seconds after which training ends, within a pass; None for no limit.",
    "cache_size": (
        "Megabytes of kernel values to hold at a time, above 0: those of a block under way, and "
        "those of rows that taught, for later passes. It changes the time, not the model."
    ),
    "warm_start": "Go on from the last fit in place of starting anew; its support stays.",
    "random_state": (
        "Seed of the shuffling and of the rows that a random budget drops: the same seed gives the "
        "same model. None: another one each time."
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
