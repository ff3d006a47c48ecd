from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import rules
from rosenblatt.errors import WeightOverflowError
from rosenblatt.tasks.leads import targets_of
from rosenblatt.tracing.visits import Visit, visit, visits
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import Plan
from rosenblatt.training.state import State, fit, recorded_pass, run_pass
from tests.examples import FORMATS, Drawn, data_sets, same_bits, tries

RULES: dict[str, Any] = {
    "perceptron": rules.Perceptron(0.7),
    "margin": rules.MarginPerceptron(1.0, 0.5),
    "pa": rules.PA(),
    "pa1": rules.PA1(0.1),
    "pa2": rules.PA2(2.0),
    "arow": rules.AROW(0.3),
    "cw": rules.cw(0.8),
    "scw1": rules.scw1(0.9, 0.5),
    "scw2": rules.scw2(0.7, 2.0),
}
SECOND_ORDER = [name for name in RULES if rules.RULES[name].order == 2]
FORMS = st.sampled_from(sorted(FORMATS))
ZEROS = st.sampled_from([-1, 0, 1])


def all_visits(
    state: State, examples: Examples, plan: Plan, seed: int = 0
) -> tuple[list[Visit], Any]:
    """Return every visit and why training ended."""
    run, seen = visits(state, examples, plan, np.random.default_rng(seed), lambda _: True), []
    while True:
        try:
            seen.append(next(run))
        except StopIteration as end:
            return seen, end.value


def examples_of(drawn: Drawn, form: str, n_classes: int) -> Examples:
    """Return drawn data as examples."""
    targets = targets_of(np.array(drawn.labels), n_classes)
    return Examples(FORMATS[form](drawn.rows, drawn.constant), targets)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
@tries(20)
@given(data=st.data(), form=FORMS, zero=ZEROS)
def test_one_visit_changes_the_state_as_the_compiled_pass_does(
    rule: str, n_classes: int, data: st.DataObject, form: str, zero: int
) -> None:
    """Weights, ledger, step and count are bit-equal after each row, for any numbers at all."""
    drawn = data.draw(data_sets(n_classes=n_classes))
    examples = examples_of(drawn, form, n_classes)
    slow, fast = (
        State.zeros(len(drawn.rows[0]), n_classes, averaged=True, uncertain=rule in SECOND_ORDER)
        for _ in range(2)
    )
    slow.arrange_for(examples.rows)
    for i in [i for order in drawn.orders for i in order]:
        seen = visit(slow, examples, i, RULES[rule], zero)
        given = fast, examples, np.array([i]), RULES[rule], zero
        counts, log = (run_pass(*given), None) if rule in SECOND_ORDER else recorded_pass(*given)
        assert same_bits(slow.weights, fast.weights)
        assert same_bits(slow.ledger, fast.ledger)
        assert (slow.count, seen.mistake) == (fast.count, counts.mistakes == 1)
        assert (seen.tau != 0.0) == (counts.updates == 1)
        assert rule not in SECOND_ORDER or same_bits(slow.variance, fast.variance)
        if counts.updates and log is not None:
            assert same_bits([seen.tau], log.tau)
            if n_classes > 2:
                assert seen.rival == log.rival[0]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shuffle", [True, False, "once"])
def test_training_is_that_of_fit(rule: str, n_classes: int, form: str, shuffle: Any) -> None:
    """The same passes, mistakes, weights and end as ``fit``, whatever the order."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 3)) + 1.5 * np.eye(3)[np.arange(12) % n_classes]
    targets = targets_of(np.arange(12) % n_classes, n_classes)
    examples = Examples(FORMATS[form](X.tolist()), targets)
    plan = Plan(RULES[rule], 9, 0, shuffle)
    fitted, traced = (
        State.zeros(3, n_classes, averaged=True, uncertain=rule in SECOND_ORDER) for _ in range(2)
    )
    outcome = fit(fitted, examples, plan, np.random.default_rng(5))
    seen, reason = all_visits(traced, examples, plan, seed=5)
    assert same_bits(traced.weights, fitted.weights)
    assert same_bits(traced.average(), fitted.average())
    assert rule not in SECOND_ORDER or same_bits(traced.variance, fitted.variance)
    assert reason == outcome.stop_reason
    for record in outcome.history:
        here = [visit for visit in seen if visit.pass_ == record.pass_]
        assert record.mistakes == sum(visit.mistake for visit in here)
        assert record.updates == sum(visit.tau != 0.0 for visit in here)
    assert len(seen) == 12 * len(outcome.history)


def test_passes_that_are_not_watched_run_all_the_same() -> None:
    """A trace of pass 3 alone starts from the weights that two passes leave."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(20, 3)), np.arange(20) % 2
    examples = Examples(FORMATS["dense"](X.tolist()), targets_of(labels, 2))
    plan = Plan(rules.Perceptron(), 3, 0, shuffle=True)
    whole, part = (State.zeros(3, 2, averaged=True) for _ in range(2))
    seen, _ = all_visits(whole, examples, plan)
    run = visits(part, examples, plan, np.random.default_rng(0), lambda pass_: pass_ == 3)
    assert list(run) == [visit for visit in seen if visit.pass_ == 3]
    assert same_bits(part.ledger, whole.ledger)


def test_an_overflow_is_told_as_fit_tells_it() -> None:
    """Weights beyond float64 end the trace with the sentence of the training loop."""
    rows = FORMATS["dense"]([[1e308], [-1e308], [1e308]])
    examples = Examples(rows, targets_of(np.array([0, 1, 1]), 2))
    state = State.zeros(1, 2, averaged=False)
    with pytest.raises(WeightOverflowError, match="The weights overflowed in pass 1"):
        all_visits(state, examples, Plan(rules.Perceptron(1e10), 5, 0, shuffle=False))
