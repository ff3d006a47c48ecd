import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import rules
from rosenblatt.errors import InputError
from rosenblatt.mistakes.provenance import Provenance, provenance_of
from rosenblatt.tasks.leads import targets_of
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Outcome
from rosenblatt.training.loop import EarlyStopping, Plan
from rosenblatt.training.state import State, fit
from tests.examples import FORMATS, data_sets, integers, tries

CLASSES = ["ham", "spam", "eggs", "bacon"]


def trained(
    rows: Any, labels: Any, n_classes: int, rule: Any, **options: Any
) -> tuple[State, Outcome]:
    """Return a state and its recorded mistakes."""
    examples = Examples(rows, targets_of(np.asarray(labels), n_classes))
    state = State.zeros(rows.shape[1], n_classes, averaged=True)
    plan = Plan(rule, options.pop("max_iter", 3), record=True, **options)
    return state, fit(state, examples, plan, np.random.default_rng(0))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("averaged", [False, True])
@tries(40)
@given(data=st.data(), form=st.sampled_from(sorted(FORMATS)))
def test_on_whole_numbers_the_terms_are_exactly_the_activation(
    n_classes: int, averaged: bool, data: st.DataObject, form: str
) -> None:
    """τ·y·⟨xᵢ, x⟩ by share of Algorithm 7 sums to w·x in fractions; no rounding hides in it."""
    drawn = data.draw(data_sets(values=integers, n_classes=n_classes))
    rows = FORMATS[form](drawn.rows, drawn.constant)
    state, outcome = trained(rows, drawn.labels, n_classes, rules.Perceptron())
    x = np.array(data.draw(st.sampled_from(drawn.rows)))
    assert outcome.mistakes is not None
    classes = CLASSES[:n_classes]
    found = provenance_of(outcome.mistakes, rows, x, classes, averaged=averaged)

    augmented = [Fraction(v) for v in [*x.tolist(), drawn.constant]]
    scores = []
    assert state.ledger is not None
    vectors = zip(state.by_class(state.weights), state.by_class(state.ledger), strict=True)
    for w, u in vectors:
        share = Fraction(1, state.count) if averaged else Fraction(0)
        exact = [Fraction(a) - share * Fraction(b) for a, b in zip(w, u, strict=True)]
        scores.append(sum(a * b for a, b in zip(exact, augmented, strict=True)))
    total = Fraction(scores[0])
    if n_classes > 2:
        names = [classes.index(found.positive), classes.index(found.negative)]
        total = Fraction(scores[names[0]] - scores[names[1]])
        if not averaged:  # a tie in fractions may be none in numbers
            assert scores[names[0]] == max(scores)
    if averaged:
        assert found.total == pytest.approx(float(total), abs=1e-9)
    else:
        assert (Fraction(found.total), found.remainder) == (total, 0.0)
    assert found.n_updates == len(outcome.mistakes)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("rule", [rules.Perceptron(0.1), rules.PA1(0.3), rules.PA2(1.0)])
def test_the_remainder_makes_up_for_rounding(n_classes: int, averaged: bool, rule: Any) -> None:
    """Terms and remainder add up to what the model says, and the remainder is small."""
    rng = np.random.default_rng(5)
    X, labels = rng.normal(size=(60, 5)), rng.integers(0, n_classes, 60)
    rows = FORMATS["dense"](X.tolist())
    state, outcome = trained(rows, labels, n_classes, rule)
    weights = state.by_class(state.average() if averaged else state.weights)
    x = rng.normal(size=5)
    activation = weights @ np.append(x, 1.0)
    assert outcome.mistakes is not None
    found = provenance_of(
        outcome.mistakes,
        rows,
        x,
        CLASSES[:n_classes],
        averaged=averaged,
        activation=activation if n_classes > 2 else activation[0],
    )
    top = np.sort(activation)[::-1]
    assert found.total == (activation[0] if n_classes == 2 else top[0] - top[1])
    assert abs(found.remainder) < 1e-12 * max(1.0, sum(abs(t.amount) for t in found.terms))
    assert sum(t.amount for t in found.terms) + found.remainder == pytest.approx(found.total)
    assert [abs(t.amount) for t in found.terms] == sorted(
        (abs(t.amount) for t in found.terms), reverse=True
    )


def test_updates_after_the_weights_that_are_kept_play_no_part() -> None:
    """Where early stopping went back, the counter of the kept weights ends the list."""
    rng = np.random.default_rng(6)
    X, labels = np.round(rng.normal(size=(80, 3)) * 4), rng.integers(0, 2, 80)
    rows = FORMATS["dense"](X.tolist())
    stopping = EarlyStopping(0.2, 5)
    state, outcome = trained(
        rows, labels, 2, rules.Perceptron(), max_iter=30, early_stopping=stopping
    )
    assert outcome.best_pass < len(outcome.history)
    assert outcome.mistakes is not None
    x = X[0]
    found = provenance_of(outcome.mistakes, rows, x, CLASSES[:2], end=state.count)
    assert found.total == state.weights @ np.append(x, 1.0)
    assert found.n_updates < len(outcome.mistakes)


def told() -> Provenance:
    """Return the provenance of a small decision."""
    rows = FORMATS["dense"]([[0, 0], [0, 1], [1, 0], [1, 1]])
    _, outcome = trained(rows, [0, 0, 0, 1], 2, rules.Perceptron(), max_iter=100, shuffle=False)
    assert outcome.mistakes is not None
    return provenance_of(outcome.mistakes, rows, np.array([1.0, 1.0]), ["no", "yes"])


def test_the_table_adds_up() -> None:
    """Rows beyond the limit are one line, and the lines add up to the last."""
    lines = told().to_text(2).splitlines()
    assert lines == [
        "amount  training row  label  updates  strength  product",
        "   +21             3    yes        7        +7        3",
        "   -10             1     no        5        -5        2",
        "   -10   2 more rows",
        "    +1         total",
        "Above 0 speaks for yes; the sum for yes.",
    ]


def test_json_holds_every_term() -> None:
    """Python's own reader gives back what the table shows."""
    read = json.loads(told().to_json())
    assert (read["positive"], read["total"], read["remainder"]) == ("yes", 1.0, 0.0)
    assert read["updates"] == 18
    assert read["terms"][0] == {
        "row": 3, "label": "yes", "updates": 7, "strength": 7.0, "product": 3.0, "amount": 21.0,
    }  # fmt: skip


def test_a_row_of_another_width_is_told() -> None:
    """The sentence says how many features the row must have."""
    rows = FORMATS["csr"]([[0.0, 1.0]])
    _, outcome = trained(rows, [1], 2, rules.Perceptron())
    assert outcome.mistakes is not None
    with pytest.raises(InputError, match=r"must have 2 features, .* got an array of shape \(3,\)"):
        provenance_of(outcome.mistakes, rows, np.zeros(3), ["no", "yes"])
