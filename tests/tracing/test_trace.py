import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
)
from rosenblatt.errors import InputError
from rosenblatt.tracing import trace
from tests.examples import WORKED_X, WORKED_Y, XOR_X, XOR_Y, same_bits, separable, tries
from tests.processes import printed

RULES = ["perceptron", "margin", "pa", "pa1", "pa2"]
SECOND_ORDER: dict[str, dict[str, Any]] = {
    "arow": {"r": 0.4},
    "cw": {"confidence": 0.8},
    "scw1": {"confidence": 0.7, "C": 0.4},
    "scw2": {"confidence": 0.7, "C": 0.4},
}
PARAMETERS: dict[str, dict[str, Any]] = SECOND_ORDER | {
    "perceptron": {"eta0": 0.3},
    "margin": {"eta0": 0.3, "margin": 0.5},
    "pa": {},
    "pa1": {"C": 0.4},
    "pa2": {"C": 0.4},
}


def estimator(rule: str, **options: Any) -> Any:
    """Return the estimator that has this rule."""
    if rule in ("perceptron", "margin"):
        kind = AveragedPerceptron if options.pop("averaged") else Perceptron
        return kind(margin=0.5 if rule == "margin" else 0.0, eta0=0.3, **options)
    options["average"] = options.pop("averaged")
    if rule in SECOND_ORDER:
        return ConfidenceWeightedClassifier(rule=rule, **SECOND_ORDER[rule], **options)
    loss = "squared_hinge" if rule == "pa2" else "hinge"
    return PassiveAggressiveClassifier(C=np.inf if rule == "pa" else 0.4, loss=loss, **options)


@pytest.mark.parametrize("rule", PARAMETERS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize(("averaged", "shuffle"), [(True, True), (False, "once")])
def test_the_weights_are_those_of_the_estimators(
    rule: str, n_classes: int, form: Any, averaged: bool, shuffle: Any
) -> None:
    """After every pass the weights are bit-equal to an estimator stopped there."""
    rng = np.random.default_rng(1)
    X = form(np.round(rng.normal(size=(15, 4)), 2))
    y = np.array(["ham", "spam", "eggs"])[np.arange(15) % n_classes]
    options: dict[str, Any] = {"averaged": averaged, "shuffle": shuffle, "random_state": 7}
    steps = trace(X, y, rule=rule, max_iter=3, **PARAMETERS[rule], **options)
    for pass_ in (1, 2, 3):
        fitted = estimator(rule, max_iter=pass_, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted.fit(X, y)
        last = [step for step in steps if step.pass_ == pass_][-1]
        w: Any
        w, b = (last.average_w, last.average_b) if averaged else (last.w, last.b)
        assert same_bits(np.atleast_2d(w), fitted.coef_)
        assert same_bits(np.atleast_1d(b), fitted.intercept_)
        if rule in SECOND_ORDER:
            assert last.variance_w is not None
            assert same_bits(np.atleast_2d(last.variance_w), fitted.confidence_)


def test_a_second_order_step_can_be_followed_by_hand() -> None:
    """Each step says how sure the margin was, and what that made of weights and variances."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 0, 0, 1]
    w, sigma = np.zeros(3), np.ones(3)
    for step in trace(X, y, rule="arow", r=0.5, max_iter=2):
        x, side = np.append(X[step.row], 1.0), 2 * step.y - 1
        margin, variance = side * (w @ x), sigma * x @ x
        beta = 1 / (variance + 0.5)
        assert (step.margin, step.variance) == pytest.approx((margin, variance))
        assert (step.step, step.beta) == pytest.approx(((1 - margin) * beta, beta))
        w = w + step.step * side * sigma * x
        sigma = sigma - beta * (sigma * x) ** 2
        assert [*step.w, step.b] == pytest.approx(w.tolist())
        assert step.variance_w is not None
        assert [*step.variance_w, step.variance_b] == pytest.approx(sigma.tolist())
    assert trace(X, y)[0].variance is None


def test_labels_rows_and_names_are_as_given() -> None:
    """A step shows the row and the label that the user handed in, and names that X has."""
    import pandas as pd

    X = pd.DataFrame({"size": [1.0, 3.0, 2.0], "age": [0.0, 5.0, 1.0]})
    steps = trace(X, ["cat", "dog", "cat"], max_iter=1)
    assert steps.names == ("size", "age")
    assert [step.y for step in steps] == ["cat", "dog", "cat"]
    assert [step.rival for step in steps] == ["dog", "cat", "dog"]
    assert steps[1].x.tolist() == [3.0, 5.0]


def test_filters_choose_steps_and_change_nothing_else() -> None:
    """Only updates, some passes, so many rows: each gives the same steps as the whole trace."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    options: dict[str, Any] = {"shuffle": True, "max_iter": 6, "averaged": True}
    whole = trace(X, y, **options)

    def same(found: Any, wanted: Any) -> bool:
        pairs = zip(found, wanted, strict=True)
        return all(
            (a.pass_, a.row, a.step, a.activation) == (b.pass_, b.row, b.step, b.activation)
            and same_bits(a.w, b.w)
            and same_bits(a.average_w, b.average_w)
            for a, b in pairs
        )

    updates = trace(X, y, only_updates=True, **options)
    assert same(updates, [step for step in whole if step.step])
    part = trace(X, y, passes=range(3, 5), **options)
    assert same(part, [step for step in whole if step.pass_ in (3, 4)])
    assert part.stop_reason is None
    one = trace(X, y, passes=2, max_rows=7, **options)
    assert same(one, [step for step in whole if step.pass_ == 2][:7])
    assert whole.stop_reason == "max_iter"


def test_weights_are_copied_once_an_update() -> None:
    """Steps without an update share the arrays of the step before, which can't be written to."""
    steps = trace(WORKED_X, WORKED_Y)
    assert len({id(step.w.base) for step in steps}) == 5 + 1  # updates, and where pass 3 begins
    with pytest.raises(ValueError, match="read-only"):
        steps[0].w[0] = 1.0


class Verdict(NamedTuple):
    """What has a witness."""

    w: Any
    b: Any


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@tries(15)
@given(seed=st.integers(0, 10**6), eta=st.sampled_from([1.0, 0.25, 3.0]), bias=st.booleans())
def test_both_inequalities_of_the_proof_hold_at_every_update(
    rule: str, form: Any, seed: int, eta: float, bias: bool
) -> None:
    """w·w* never falls behind and ‖w‖² never runs ahead, on separable rows, for every rule."""
    X, y, w = separable(30, 3, 0.05, seed)
    options: dict[str, Any] = {"rule": rule, "fit_intercept": bias, "shuffle": True}
    options |= {"eta0": eta} if "eta0" in PARAMETERS[rule] else {}
    steps = trace(form(X), y, max_iter=20, witness=Verdict(w, 0.0), **options)
    proofs = [step.proof for step in steps if step.proof is not None]
    assert len(proofs) == sum(step.step != 0 for step in steps) > 0
    assert [proof.updates for proof in proofs] == list(range(1, len(proofs) + 1))
    for proof in proofs:
        assert proof.holds
        assert proof.projection <= proof.length * (1 + 1e-12)
        assert 0 <= proof.angle <= 180
    if rule == "perceptron":
        assert steps.bound is not None
        assert len(proofs) <= steps.bound


def test_the_proof_of_the_perceptron_is_the_one_of_the_book() -> None:
    """With η = 1 the bounds are kγ and kR² in the augmented space, computed here from the data."""
    X, y, w = separable(40, 4, 0.1, 3)
    steps = trace(X, y, witness=(w, 0.02), only_updates=True)
    unit = np.append(w, 0.02) / np.sqrt(1 + 0.02**2)
    augmented = np.column_stack([X, np.ones(40)])
    gamma, sqradius = (y * (augmented @ unit)).min(), (augmented**2).sum(axis=1).max()
    for k, step in enumerate(steps, 1):
        assert step.proof is not None
        now = np.append(step.w, step.b)
        assert step.proof.projection == pytest.approx(now @ unit)
        assert step.proof.projection_bound == pytest.approx(k * gamma)
        assert step.proof.sqnorm == pytest.approx(now @ now)
        assert step.proof.sqnorm_bound == pytest.approx(k * sqradius)
        cosine = now @ unit / np.linalg.norm(now)
        assert step.proof.angle == pytest.approx(np.degrees(np.arccos(cosine)))
    assert steps.bound == pytest.approx(sqradius / gamma**2)


def test_the_proof_of_several_classes() -> None:
    """The stacked weights of a fitted estimator are a witness for three classes."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 2)) + 8 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(30) % 3]
    y = np.arange(30) % 3
    fitted = Perceptron(max_iter=1000).fit(X, y)
    for form in (np.array, sparse.csr_array):
        for rule in RULES:
            steps = trace(form(X), y, rule=rule, witness=fitted, max_iter=50, passes=range(2, 51))
            assert all(step.proof.holds for step in steps if step.proof is not None)

    unit = np.column_stack([fitted.coef_, fitted.intercept_])
    unit /= np.linalg.norm(unit)
    augmented = np.column_stack([X, np.ones(30)])
    scores = augmented @ unit.T
    leads = [scores[i, y[i]] - np.delete(scores[i], y[i]).max() for i in range(30)]
    sqradius = 2 * (augmented**2).sum(axis=1).max()  # x for one class and −x for another
    steps = trace(X, y, witness=fitted, only_updates=True)
    assert steps.bound == pytest.approx(sqradius / min(leads) ** 2)
    for k, step in enumerate(steps, 1):
        assert step.proof is not None
        assert step.proof.projection_bound == pytest.approx(k * min(leads))
        assert step.proof.sqnorm_bound == pytest.approx(k * sqradius)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": "hebb"}, "parameter rule of trace must be 'perceptron', .*; got 'hebb'"),
        ({"C": 0.5}, "C= has no effect with rule='perceptron'; use it with rule='pa1'"),
        ({"rule": "arow", "r": 0}, "r= must be a finite number above 0; got 0"),
        ({"covariance": "full"}, "trace has no parameter 'covariance'; rules have the parameters"),
        (
            {"rule": "arow", "witness": ([1, 0], 0)},
            "The convergence proof does not cover rule='arow', whose steps are not along the row",
        ),
        ({"max_iter": 0}, "parameter max_iter of trace must be an integer of at least 1; got 0"),
        ({"zero": "no"}, "The parameter zero of trace must be 'mistake', .*; got 'no'"),
        ({"averaged": 1}, "The parameter averaged of trace must be True or False; got 1"),
        ({"max_rows": 0}, "max_rows of trace must be None or an integer of at least 1; got 0"),
        ({"passes": range(3)}, r"passes of trace must be a number .*; got range\(0, 3\)"),
        ({"passes": "12"}, "passes of trace must be a number of at least 1 or a range"),
        (
            {"witness": ([1, 0], 0)},
            "The witness must separate the rows; row 2 has the margin -1: give",
        ),
        ({"witness": ([0, 0], 0)}, "The witness must have a weight other than 0"),
        ({"witness": ([1], 0)}, r"of the shapes \(2,\) and \(\); got \(1,\) and \(\)"),
        ({"witness": ([np.inf, 0], 0)}, "The witness must be finite numbers"),
        ({"witness": Verdict(None, None)}, r"The witness must be a pair \(w, b\), or have w and b"),
        ({"witness": 3}, r"The witness must be a pair \(w, b\), or have w and b .*; got 3"),
        ({"y": [1, 1, 1, 1]}, "y must hold at least two classes; got one class, 1, in 4 rows"),
        ({"X": [[0, np.nan]] * 4}, "Row 0 of X, feature 1, is NaN, a missing value"),
    ],
)
def test_bad_input_is_told(given: dict[str, Any], message: str) -> None:
    """The sentences are those of the estimators, and as plain."""
    arguments: dict[str, Any] = {"X": XOR_X, "y": XOR_Y} | given
    with pytest.raises(InputError, match=message):
        trace(**arguments)


def test_following_a_training_needs_no_scikit_learn() -> None:
    """A command can follow rows of a file without the second that scikit-learn takes to import."""
    printed(
        "import sys, rosenblatt.tracing.steps, rosenblatt.tracing.tables, "
        "rosenblatt.data.conjunctions; sys.exit('sklearn' in sys.modules)"
    )
