"""The loop over passes: the texts' examples, stopping, history, early stopping."""

import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.rules import AROW, PA, PA1, MarginPerceptron, Perceptron, cw, scw1, scw2
from rosenblatt.training.examples import ArraySupply, Examples
from rosenblatt.training.history import Outcome, PassRecord
from rosenblatt.training.holdout import holding_out
from rosenblatt.training.loop import EarlyStopping, Plan
from rosenblatt.training.state import LinearTraining, State, count_mistakes, fit, overflow
from tests import reference
from tests.examples import (
    FORMATS,
    WORKED_X,
    WORKED_Y,
    XOR_X,
    XOR_Y,
    dense,
    same_bits,
    separable,
)


def tried_rows(examples: Examples, share: float, seed: int) -> Any:
    """Return the numbers of the rows that a training of this seed holds out."""
    found = holding_out(examples, share, np.random.default_rng(seed))
    return ArraySupply(found, "once", np.random.default_rng(0)).left_out


def train(
    rows: Any, labels: Any, plan: Plan, *, averaged: bool = False, seed: int = 0
) -> tuple[State, Outcome]:
    """Train two classes from zero on dense rows with a bias."""
    rows = dense(rows)
    state = State.zeros(rows.shape[1], 2, averaged=averaged)
    examples = Examples(rows, np.array(labels, np.int32))
    return state, fit(state, examples, plan, np.random.default_rng(seed))


def test_worked_example() -> None:
    """The introduction's table: three passes with 4, 1 and 0 mistakes to w = (0, −2, 0), b = 1."""
    plan = Plan(Perceptron(), 100, shuffle=False, record=True)
    state, outcome = train(WORKED_X, WORKED_Y, plan)
    assert state.weights.tolist() == [0, -2, 0, 1]
    assert [record.mistakes for record in outcome.history] == [4, 1, 0]
    assert outcome.converged
    assert outcome.mistakes is not None
    assert outcome.mistakes.updates.row.tolist() == [0, 2, 4, 6, 0]  # the table's "Wrong" lines


@pytest.mark.parametrize(("passes", "copies"), [(1, 0), (2, 1)])
def test_best_is_copied_before_a_pass(
    passes: int, copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best weights are copied only where another pass will change them."""
    made = []
    monkeypatch.setattr(LinearTraining, "snapshot", lambda _: made.append(1))
    rows, labels = XOR_X * 10, XOR_Y * 10
    train(rows, labels, Plan(PA1(1.0), passes, early_stopping=EarlyStopping(0.25)))
    assert len(made) == copies


def test_xor_goes_in_circles() -> None:
    """The introduction's table: w = (0, 0), b = 1 after the first pass and the second again."""
    for passes in (1, 2):
        plan = Plan(Perceptron(), passes, shuffle=False, zero=-1)
        state, outcome = train(XOR_X, XOR_Y, plan)
        assert state.weights.tolist() == [0, 0, 1]
        assert outcome.stop_reason == "max_iter"
    assert [record.mistakes for record in outcome.history] == [3, 4]


def test_sorted_labels_teach_little() -> None:
    """500 positives, then 500 negatives: one pass makes only a handful of updates (CIML 4.2)."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(2, 1, (500, 2)), rng.normal(-2, 1, (500, 2))])
    plan = Plan(Perceptron(), 1, shuffle=False)
    _, outcome = train(X, [1] * 500 + [-1] * 500, plan)
    assert 1 <= outcome.history[0].updates <= 15


def test_nothing_but_a_bias() -> None:
    """One positive and one negative row without features never settle down (CIML 4.5)."""
    _, outcome = train([[], []], [1, -1], Plan(Perceptron(), 50, shuffle=False))
    assert not outcome.converged
    assert all(record.mistakes for record in outcome.history)


def test_history_is_the_reference() -> None:
    """Mistakes and J = Σ −y·a over mistakes of every pass are those of the plain lists."""
    rng = np.random.default_rng(4)
    X, y = rng.integers(-5, 6, (30, 4)), rng.choice([-1, 1], 30)
    _, outcome = train(X, y, Plan(Perceptron(), 6, shuffle=False))
    expected = reference.train_binary(
        X.astype(float).tolist(), y.tolist(), reference.perceptron(), [list(range(30))] * 6
    )
    assert [record.mistakes for record in outcome.history] == expected.mistakes
    assert [record.loss for record in outcome.history] == expected.losses
    assert [record.pass_ for record in outcome.history] == [1, 2, 3, 4, 5, 6]
    assert all(record.seconds > 0 for record in outcome.history)
    assert set(outcome.history[0]._fields) >= {
        "pass_", "mistakes", "updates", "loss", "validation_score", "seconds",
    }  # fmt: skip


@pytest.mark.parametrize("rule", [PA(), PA1(10.0)])
def test_passive_aggressive_convergence_is_proved(rule: Any) -> None:
    """Where PA says converged, its last weights classify every row."""
    X, y, _ = separable(200, 5, 0.05, seed=1)
    state, outcome = train(X, y, Plan(rule, 500))
    assert outcome.converged
    assert np.all(y * (X @ state.weights[:-1] + state.weights[-1]) > 0)


def test_margin_perceptron_reaches_its_margin() -> None:
    """The margin perceptron ends only when every row is right by more than its margin."""
    X, y, _ = separable(200, 5, 0.05, seed=2)
    state, outcome = train(X, y, Plan(MarginPerceptron(1.0, 0.5), 2000))
    assert outcome.converged
    assert np.all(y * (X @ state.weights[:-1] + state.weights[-1]) > 0.5)


@pytest.mark.parametrize("form", FORMATS)
def test_early_stopping_returns_the_best_pass(form: str) -> None:
    """The state returned scores, on the held-out rows, the best score of the curve."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((400, 6))
    y = np.sign(X[:, 0] + 0.8 * rng.standard_normal(400)).astype(np.int32)
    examples = Examples(FORMATS[form](X.tolist()), y)
    state = State.zeros(6, 2, averaged=True)
    plan = Plan(Perceptron(), 100, early_stopping=EarlyStopping(0.25, 3))
    outcome = fit(state, examples, plan, np.random.default_rng(5))
    scores = [record.validation_score for record in outcome.history]
    assert outcome.stop_reason == "early_stopping"
    assert outcome.best_pass == int(np.argmax(scores)) + 1  # type: ignore[arg-type]
    assert len(scores) == outcome.best_pass + 3
    held_out = tried_rows(examples, 0.25, 5)
    assert len(held_out) == 99 or len(held_out) == 100  # a quarter of each class, rounded down
    wrong = count_mistakes(state, state.average(), examples, held_out, -1)
    assert 1 - wrong / len(held_out) == max(scores)  # type: ignore[type-var]


def test_of_equal_passes_the_first_is_kept() -> None:
    """Where passes score alike, the weights are those of the first of them, and it counts from."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((80, 3))
    y = np.sign(X[:, 0] + 0.8 * rng.standard_normal(80)).astype(np.int32)
    plan = Plan(Perceptron(), 100, early_stopping=EarlyStopping(0.25, 4))
    state, outcome = train(X, y, plan, seed=1)
    scores = [record.validation_score for record in outcome.history]
    first = next(k for k, score in enumerate(scores, 1) if score == max(scores))  # type: ignore[type-var]
    assert scores.count(scores[first - 1]) > 1
    assert (outcome.best_pass, len(scores)) == (first, first + 4)
    alone, _ = train(X, y, replace(plan, max_iter=first), seed=1)
    assert state.weights.tolist() == alone.weights.tolist()


def test_held_out_rows_are_not_learned_from() -> None:
    """Rows held out leave no trace in the list of mistakes, and every class is among them."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 3)), np.repeat(np.array([-1, 1], np.int32), [80, 20])
    examples = Examples(dense(X), y)
    plan = Plan(Perceptron(), 5, early_stopping=EarlyStopping(0.1, 5), record=True)
    outcome = fit(State.zeros(3, 2, averaged=False), examples, plan, np.random.default_rng(3))
    held_out = tried_rows(examples, 0.1, 3)
    assert sorted(y[held_out].tolist()) == [-1] * 8 + [1] * 2
    assert outcome.mistakes is not None
    assert not set(outcome.mistakes.updates.row) & set(held_out)


def test_too_few_rows_to_hold_out() -> None:
    """A fraction that leaves nothing to validate on is refused in words."""
    plan = Plan(Perceptron(), 5, early_stopping=EarlyStopping(0.1, 5))
    with pytest.raises(InputError, match="leaves no row of any class to validate on"):
        train(XOR_X, XOR_Y, plan)


def test_time_limit() -> None:
    """After the time limit no further pass is begun."""
    _, outcome = train(XOR_X, XOR_Y, Plan(Perceptron(), 10**9, time_limit=0.05))
    assert outcome.stop_reason == "time_limit"
    assert len(outcome.history) >= 1


def test_interrupt_keeps_the_pass_under_way() -> None:
    """Ctrl-C ends training after the pass it came in; the state is that of so many passes."""

    def press(record: PassRecord) -> None:
        if record.pass_ == 3:
            signal.raise_signal(signal.SIGINT)

    rows = dense(XOR_X)
    state = State.zeros(2, 2, averaged=True)
    examples = Examples(rows, np.array(XOR_Y, np.int32))
    handler = signal.getsignal(signal.SIGINT)
    outcome = fit(state, examples, Plan(Perceptron(), 100), np.random.default_rng(0), [press])
    assert outcome.stop_reason == "interrupted"
    assert len(outcome.history) == 3
    expected, _ = train(XOR_X, XOR_Y, Plan(Perceptron(), 3), averaged=True)
    assert same_bits(state.average(), expected.average())
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_second_interrupt_is_not_held_back() -> None:
    """Who presses Ctrl-C twice gets the ordinary KeyboardInterrupt."""

    def press_twice(_record: PassRecord) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    examples = Examples(dense(XOR_X), np.array(XOR_Y, np.int32))
    with pytest.raises(KeyboardInterrupt):
        fit(
            State.zeros(2, 2, averaged=False),
            examples,
            Plan(Perceptron(), 100),
            np.random.default_rng(0),
            [press_twice],
        )


@pytest.mark.parametrize(
    ("rule", "cure"),
    [
        (Perceptron(), "lower eta0="),
        (PA(), "use rule='pa1' with a finite C="),
        (PA1(2.0), "lower C="),
        (AROW(), "raise r="),
        (cw(), "use rule='scw1' with a finite C="),
        (scw1(), "lower C="),
        (scw2(), "lower C="),
    ],
)
def test_what_helps_against_overflow(rule: Any, cure: str) -> None:
    """The sentence names what the rule has, or a rule that has it."""
    assert str(overflow("in pass 2", rule)) == (
        "The weights overflowed in pass 2: the values in X or the steps are too large for "
        f"float64; scale the features, or {cure}."
    )


def test_overflow_is_reported() -> None:
    """Weights beyond float64 raise an error that names the pass and what to do."""
    with pytest.raises(WeightOverflowError, match=r"overflowed in pass 1: .* scale the features"):
        train([[1e308], [1e308], [-1e308]], [1, -1, -1], Plan(PA(), 5, shuffle=False))
    with pytest.raises(WeightOverflowError, match="overflowed in pass"):
        train([[1e308], [1.5e308]], [1, -1], Plan(Perceptron(), 50, shuffle=False))


def test_observers_are_told_of_every_pass() -> None:
    """Each observer gets the very records of the history, in order."""
    seen: list[PassRecord] = []
    examples = Examples(dense(XOR_X), np.array(XOR_Y, np.int32))
    outcome = fit(
        State.zeros(2, 2, averaged=False),
        examples,
        Plan(Perceptron(), 4),
        np.random.default_rng(0),
        [seen.append],
    )
    assert seen == outcome.history
    assert len(seen) == 4


def test_survival_counts() -> None:
    """Survival counts of the mistakes add up to the rows seen since the first of them."""
    plan = Plan(Perceptron(), 5, shuffle=False, record=True)
    _, outcome = train(WORKED_X, WORKED_Y, plan)
    assert outcome.mistakes is not None
    assert outcome.mistakes.survival.tolist() == [2, 2, 2, 2, 16]
    assert len(outcome.mistakes) == 5


def test_mistakes_are_the_weights() -> None:
    """W = Σ τᵢ·yᵢ·xᵢ over the recorded updates."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, (40, 3)).astype(float), rng.choice([-1, 1], 40)
    state, outcome = train(X, y, Plan(Perceptron(2.0), 7, record=True))
    assert outcome.mistakes is not None
    row, label, _, tau, _ = outcome.mistakes.updates
    augmented = np.hstack([X, np.ones((40, 1))])
    assert same_bits((tau * label) @ augmented[row], state.weights)
