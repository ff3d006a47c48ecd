"""Each rule against its equation, and the conventions for a zero activation."""

from math import inf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.rules import (
    PA,
    PA1,
    PA2,
    RULES,
    ZERO_CONVENTIONS,
    MarginPerceptron,
    Perceptron,
    Rule,
    break_tie,
    pair_scale,
)

margins = st.floats(-1e6, 1e6)
sqnorms = st.floats(1e-6, 1e6)


@given(margins, sqnorms, st.floats(1e-3, 1e3))
def test_perceptron_steps_eta_exactly_on_mistakes(margin: float, sqnorm: float, eta: float) -> None:
    """The perceptron steps η if y·a ≤ 0 and stays otherwise, however long the row."""
    assert Perceptron(eta).step(margin, sqnorm) == (eta if margin <= 0 else 0)


@given(margins, st.floats(0, 10))
def test_margin_perceptron_steps_up_to_its_margin(margin: float, wanted: float) -> None:
    """The margin perceptron steps while y·a ≤ margin; at margin 0 it is the perceptron."""
    assert MarginPerceptron(1.0, wanted).step(margin, 1.0) == (1 if margin <= wanted else 0)
    assert MarginPerceptron(1.0, 0.0).step(margin, 1.0) == Perceptron(1.0).step(margin, 1.0)


@given(margins, sqnorms, st.floats(1e-3, 1e3))
def test_passive_aggressive_steps_are_those_of_the_paper(
    margin: float, sqnorm: float, C: float
) -> None:
    """PA: ℓ/‖x‖². PA-I: at most C. PA-II: divided by ‖x‖² + 1/(2C)."""
    hinge = max(0.0, 1.0 - margin)
    assert PA().step(margin, sqnorm) == hinge / sqnorm
    assert PA1(C).step(margin, sqnorm) == min(C, hinge / sqnorm)
    assert PA2(C).step(margin, sqnorm) == pytest.approx(hinge / (sqnorm + 1 / (2 * C)), rel=1e-15)


@given(st.floats(-100, 1), sqnorms)
def test_pa_lands_on_margin_one(margin: float, sqnorm: float) -> None:
    """After a step of PA, y·a is 1: the step adds τ‖x‖² to it."""
    assert margin + PA().step(margin, sqnorm) * sqnorm == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("rule", [PA(), PA1(), PA2()])
def test_a_row_of_length_zero_teaches_nothing(rule: Rule) -> None:
    """No step divides by zero."""
    assert rule.step(-3.0, 0.0) == 0.0


@pytest.mark.parametrize("rule", [PA(), PA1(), PA2()])
def test_a_length_that_overflows_is_not_hidden(rule: Rule) -> None:
    """Where ‖x‖² is infinite the step is "not a number", which training reports."""
    assert isnan(rule.step(0.0, inf))


@pytest.mark.parametrize("name", RULES)
def test_every_rule_notices_a_margin_that_is_not_a_number(name: str) -> None:
    """A NaN margin never counts as right."""
    assert RULES[name].kind().step(float("nan"), 1.0) != 0.0


def test_zero_conventions() -> None:
    """A zero activation is right for neither label, the negative one, or the positive one."""
    right = {
        name: [side for side in (-1, 1) if break_tie(0.0, side, zero) > 0]
        for name, zero in ZERO_CONVENTIONS.items()
    }
    assert right == {"mistake": [], "negative": [-1], "positive": [1]}


@given(margins.filter(bool), st.sampled_from([-1, 1]), st.sampled_from([-1, 0, 1]))
def test_only_zero_needs_settling(margin: float, side: int, zero: int) -> None:
    """Any margin but zero stays as it is."""
    assert break_tie(margin, side, zero) == margin


def test_pair_scale() -> None:
    """A pair takes the perceptron's step whole and a passive-aggressive one by half."""
    assert [pair_scale(rule) for rule in (Perceptron(), PA(), PA1(10.0))] == [1.0, 0.5, 0.5]
