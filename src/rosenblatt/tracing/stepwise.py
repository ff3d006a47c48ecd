"""The function ``trace``: train as the estimators do, and keep every step."""

import operator
from collections.abc import Iterable
from numbers import Integral
from typing import Any, cast

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.estimators.linear import Perceptron
from rosenblatt.estimators.validation import check_classes, check_rows
from rosenblatt.models.learner import Learner
from rosenblatt.parameters import AT_LEAST_ONE, CHECKS, FLAG, check_parameters, one_of, optional
from rosenblatt.rules import RULES, rule_parameters
from rosenblatt.tracing.steps import Trace, collect_steps
from rosenblatt.training.examples import Examples, encode
from rosenblatt.training.loop import Shuffle

TRACE_CHECKS = CHECKS | {
    "rule": one_of(RULES),
    "averaged": FLAG,
    "only_updates": FLAG,
    "max_rows": optional(AT_LEAST_ONE),
}


def trace(
    X: Any,
    y: Any,
    *,
    rule: str = "perceptron",
    averaged: bool = False,
    shuffle: Shuffle = False,
    zero: str = "mistake",
    fit_intercept: bool = True,
    max_iter: int | None = None,
    random_state: Any = 0,
    only_updates: bool = False,
    passes: int | Iterable[int] | None = None,
    max_rows: int | None = None,
    witness: Any = None,
    **parameters: float,
) -> Trace:
    """Train step by step and return what each row met and did.

    The weights after every row are those of the estimators, bit for bit, for the same parameters.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        Labels: numbers or strings, two classes or more.
    rule : str, default "perceptron"
        "perceptron", "margin", "pa", "pa1", "pa2", or of second order, with a variance for each
        weight: "arow", "cw", "scw1", "scw2".
    averaged : bool, default False
        Keep the mean of all weights beside them (Algorithm 7).
    shuffle : bool, "once" or "full", default False
        As of the estimators; rows come in the order given unless it is set.
    zero : "mistake", "negative" or "positive", default "mistake"
        What an activation of exactly 0 counts as.
    fit_intercept : bool, default True
        Learn a bias.
    max_iter : int, default None
        Passes at most; None for the default of the estimator that has this rule.
    random_state : int, default 0
        The seed of ``shuffle``.
    only_updates : bool, default False
        Keep only the steps that changed the weights.
    passes : int or range of int, default None
        Keep only these passes, counted from 1. Nothing after the last of them is run.
    max_rows : int, default None
        Maximum number of steps; the trace ends there.
    witness : (w, b), default None
        Weights that separate the rows, or what has them: a verdict with ``w`` and ``b``, a fitted
        estimator. With it every update shows the two inequalities of the convergence proof, which
        second-order rules do not have.
    **parameters : float
        Parameters of the rule: ``eta0`` of "perceptron" and "margin", ``margin`` of "margin", ``C``
        of "pa1", "pa2", "scw1" and "scw2", ``r`` of "arow", ``confidence`` of "cw", "scw1" and
        "scw2", and those of a rule of your own.

    Returns
    -------
    Trace
        A sequence of steps with ``pass_``, ``row``, ``x``, ``y``, ``activation``, ``mistake``,
        ``step``, ``w`` and ``b``; of second-order rules also ``variance``, ``beta``,
        ``variance_w`` and ``variance_b``.

    Examples
    --------
    >>> from rosenblatt.tracing import trace
    >>> print(trace([[0, 0], [0, 1], [1, 1], [1, 0]], [-1, 1, -1, 1], zero="negative", max_iter=1))
    pass  row  x       y  activation         step  w       b
       1    0  [0 0]  -1           0  right        [0 0]   0
       1    1  [0 1]  +1           0  wrong    +1  [0 1]   1
       1    2  [1 1]  -1           2  wrong    -1  [-1 0]  0
       1    3  [1 0]  +1          -1  wrong    +1  [0 0]   1
    4 steps; stopped after max_iter passes.
    """
    checked: dict[str, Any] = {"shuffle": shuffle, "zero": zero, "fit_intercept": fit_intercept}
    checked |= {"random_state": random_state} | ({} if max_iter is None else {"max_iter": max_iter})
    checked |= {"rule": rule, "averaged": averaged, "only_updates": only_updates}
    check_parameters("trace", checked | {"max_rows": max_rows}, TRACE_CHECKS)
    estimator = Perceptron(fit_intercept=fit_intercept)  # knows names and shape, as validation asks
    rows, y = check_rows(estimator, X, y, reset=True)
    classes = np.unique(y)
    check_classes(classes, len(y), None)
    unknown = set(parameters) - set(rule_parameters())
    if unknown:
        known = ", ".join(rule_parameters())
        msg = f"trace has no parameter {min(unknown)!r}; rules have the parameters {known}."
        raise InputError(msg)
    learner = Learner(
        rule,
        "average" if averaged else "last",
        parameters,
        None if max_iter is None else int(max_iter),
        shuffle,
        zero,
        random_state=random_state,
    )
    names = getattr(estimator, "feature_names_in_", None)
    return collect_steps(
        Examples(rows, encode(y, classes)),
        y.tolist(),
        classes.tolist(),
        learner,
        only_updates=bool(only_updates),
        passes=_passes(passes),
        max_rows=max_rows,
        witness=witness,
        names=None if names is None else [str(name) for name in names],
    )


def _passes(passes: int | Iterable[int] | None) -> frozenset[int] | None:
    """Return the passes to keep."""
    if passes is None:
        return None
    numbers = [passes] if isinstance(passes, Integral) else passes
    try:
        chosen = frozenset(operator.index(number) for number in cast("Iterable[int]", numbers))
    except TypeError:
        chosen = frozenset()
    if not chosen or min(chosen) < 1:
        raise InputError(
            "The parameter passes of trace must be a number of at least 1 or a range of them, for "
            f"example range(1, 4); got {passes!r}."
        )
    return chosen
