"""Laws of the family, on data that Hypothesis draws."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.kernels.counts import NO_LOG
from rosenblatt.kernels.multiclass import multiclass_pass
from rosenblatt.kernels.rows import Rows
from rosenblatt.rules import AROW, PA, PA1, Perceptron, Rule, pair_scale
from rosenblatt.tasks.leads import targets_of
from rosenblatt.training.examples import Examples, row_numbers
from rosenblatt.training.holdout import HoldOut
from rosenblatt.training.loop import EarlyStopping, Plan
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import State, fit, run_pass
from tests import reference
from tests.examples import (
    FORMATS,
    Drawn,
    csr,
    data_sets,
    dense,
    integers,
    same_bits,
    separable,
    tries,
)

RULES: list[Rule] = [Perceptron(1.0), PA1(1.0)]
class_counts = st.sampled_from([2, 4])


def one_pass(
    state: State, rows: Rows, labels: Any, order: Any = None, rule: Rule = RULES[0]
) -> State:
    """Make one pass over rows, in the order given or another, and return the state."""
    examples = Examples(rows, targets_of(np.array(labels), state.n_classes))
    order = row_numbers(len(labels)) if order is None else np.array(order)
    run_pass(state, examples, order, rule, 0)
    return state


@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize("rule", [Perceptron(1.0), PA1(0.3), AROW(1.0)])
@pytest.mark.parametrize(("weighted", "n_labels"), [(False, 6), (True, 6), (False, 7)])
def test_parts_of_labels(
    form: str, rule: Rule, weighted: bool, n_labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels learned in parts, side by side, give the same bits and counts."""
    generator = np.random.default_rng(3)
    values = generator.normal(size=(40, 7)) * (generator.random((40, 7)) < 0.6)
    truth = generator.random((40, n_labels)) < 0.3
    sets = np.nonzero(truth)[1].astype(np.int32), np.append(0, truth.sum(axis=1).cumsum())
    weight = generator.random(40) if weighted else None
    examples = Examples(FORMATS[form](values), row_numbers(40), weight, sets=sets)
    order, found = generator.permutation(40), []
    for least, apart in ((1 << 40, 128), (1, 128), (1, 2)):
        monkeypatch.setattr("rosenblatt.tasks.label_sets.MANY_PRODUCTS", least)
        monkeypatch.setattr("rosenblatt.tasks.label_sets.LABELS_APART", apart)
        uncertain = isinstance(rule, AROW)
        state = State.zeros(7, n_labels, averaged=True, uncertain=uncertain, task="each")
        counts = [run_pass(state, examples, order, rule, 0) for _ in range(2)]
        found.append((state, counts))
    (whole, before), *others = found
    for parts, after in others:
        assert whole.count == parts.count == 81
        assert same_bits(whole.weights, parts.weights)
        assert same_bits(whole.average(), parts.average())
        for one, other in zip(before, after, strict=True):
            assert one[:2] == other[:2]
            assert other.loss == pytest.approx(one.loss, rel=1e-12)


def test_an_average_that_begins_late() -> None:
    """It is the mean of the vectors after the first passes, and no pass before it is judged."""
    generator = np.random.default_rng(4)
    rows, labels = csr(generator.normal(size=(30, 5))), generator.integers(0, 2, 30)
    held_out = np.zeros(30, bool)
    held_out[20:] = True
    examples = Examples(rows, targets_of(labels, 2), holdout=HoldOut(chosen=held_out))
    state, plan = State.zeros(5, 2, averaged=True), Plan(PA1(0.3), 3, shuffle=False)
    late = replace(plan, average_after=1, early_stopping=EarlyStopping())
    outcome = fit(state, examples, late, generator)
    alone, vectors = State.zeros(5, 2, averaged=False), []
    for pass_ in range(outcome.best_pass):
        for row in range(20):
            vectors += [alone.weights.copy()] * (pass_ == 1 and row == 0)
            run_pass(alone, examples, np.array([row]), late.rule, 0)
            vectors += [alone.weights.copy()] * (pass_ > 0)
    assert np.allclose(state.average(), np.mean(vectors, axis=0), rtol=1e-12)
    assert [record.validation_score is None for record in outcome.history] == [True, False, False]
    again = fit(state, examples, late, generator)  # goes on with the average that there is
    assert all(record.validation_score is not None for record in again.history)


def test_average_of_few_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few sparse rows score by the average of their own features as by that of all."""
    generator = np.random.default_rng(5)
    values = generator.normal(size=(30, 20)) * (generator.random((30, 20)) < 0.1)
    rows, state = csr(values), State.zeros(20, 4, averaged=True, by_feature=True)
    for _ in range(3):
        one_pass(state, rows, generator.integers(0, 4, 30))
    few: Any = csr(values[:3])
    assert np.unique(few.indices).size < 20
    for most in (0, state.scores(few).size):  # by features, and entry by entry
        monkeypatch.setattr("rosenblatt.training.state.FEW_NUMBERS", most)
        assert same_bits(state.scores(few, lasting=False), state.scores(few))


@given(data_sets(integers, n_classes=4), class_counts, st.data())
def test_parity(drawn: Drawn, n_classes: int, data: st.DataObject) -> None:
    """Stream = batch = chunks = sparse = dense = formats in turn, bit for bit on integers."""
    labels = [label % n_classes for label in drawn.labels]
    n, d = len(labels), len(drawn.rows[0])

    def fresh() -> State:
        return State.zeros(d, n_classes, averaged=True)

    batch = one_pass(fresh(), dense(drawn.rows), labels)
    sparse = one_pass(fresh(), csr(drawn.rows), labels)

    cut = data.draw(st.integers(0, n))
    chunks = fresh()
    for part in (slice(0, cut), slice(cut, n)):
        if labels[part]:
            form = FORMATS[data.draw(st.sampled_from(sorted(FORMATS)))]
            one_pass(chunks, form(drawn.rows[part]), labels[part])

    stream = RowLearner(fresh(), RULES[0])
    for x, label in zip(drawn.rows, labels, strict=True):
        stream.values[0] = x
        stream.learn(label)

    for other in (sparse, chunks, stream.state):
        assert other.count == batch.count == n + 1
        assert same_bits(other.by_class(other.average()), batch.by_class(batch.average()))
        assert same_bits(other.by_class(other.weights), batch.by_class(batch.weights))


def near_a_boundary(state: State, x: list[float]) -> bool:
    """Whether an activation, or the lead of a class, is nearly but not surely 0 or 1."""
    weights = state.by_class(state.weights)
    scores: NDArray[Any] = weights @ [*x, 1.0]
    learned: NDArray[Any] = (weights != 0).max(axis=1)
    if state.n_classes == 2:
        leads = np.abs(scores[learned])
    else:
        pairs = np.triu(learned[:, None] | learned, 1)  # classes still at zero tie exactly
        leads = np.abs(np.subtract.outer(scores, scores))[pairs]
    return bool((np.minimum(leads, np.abs(leads - 1)) < 1e-6).any())


@given(data_sets(st.floats(-10, 10), n_classes=4), class_counts, st.sampled_from([0, 1]))
def test_parity_on_reals(drawn: Drawn, n_classes: int, which: int) -> None:
    """Sparse and dense agree to 1e-9 relative on any data, for one row as for many.

    Sums in different orders round differently, so data with a row that stands within rounding of
    a boundary are left out: there the two may rightly decide differently.
    """
    labels = [label % n_classes for label in drawn.labels]
    states = []
    for form in (dense, csr):
        state = State.zeros(len(drawn.rows[0]), n_classes, averaged=True)
        for x, label in zip(drawn.rows, labels, strict=True):
            if near_a_boundary(state, x):
                return
            one_pass(state, form([x]), [label], rule=RULES[which])
        states.append(state)
    a, b = (state.by_class(state.average()) for state in states)
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(a).max()))


@pytest.mark.parametrize("shuffle", [True, "once", False])
@pytest.mark.parametrize("rule", RULES)
def test_resumed_training_is_the_same(shuffle: Any, rule: Rule) -> None:
    """Three passes and then four more are seven passes, if the generator goes on too."""
    rng = np.random.default_rng(0)
    X, labels = rng.integers(-4, 5, (50, 4)), rng.integers(0, 2, 50)
    examples = Examples(dense(X), targets_of(labels, 2))

    whole = State.zeros(4, 2, averaged=True)
    fit(whole, examples, Plan(rule, 7, shuffle=shuffle), np.random.default_rng(3))
    if shuffle == "once":
        return  # its one order is drawn when training begins
    resumed, generator = State.zeros(4, 2, averaged=True), np.random.default_rng(3)
    for passes in (3, 4):
        fit(resumed, examples, Plan(rule, passes, shuffle=shuffle), generator)
    assert same_bits(whole.average(), resumed.average())


@given(data_sets(integers))
def test_average_is_the_plain_mean(drawn: Drawn) -> None:
    """W − u/c is the mean of the T + 1 vectors w₀ … w_T."""
    state = State.zeros(len(drawn.rows[0]), 2, averaged=True)
    for order in drawn.orders:
        one_pass(state, dense(drawn.rows), drawn.labels, order)
    learned = reference.train_binary(
        drawn.rows, [2 * y - 1 for y in drawn.labels], reference.perceptron(), drawn.orders
    )
    expected = reference.mean_vector(learned.vectors)
    assert len(learned.vectors) == state.count
    np.testing.assert_allclose(state.average(), expected, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.05, 0.2]), st.integers(1, 12))
@tries(50)
def test_mistakes_are_bounded(seed: int, margin: float, n_features: int) -> None:
    """On separable data the perceptron makes at most R²/γ² mistakes, in any order (Theorem 2)."""
    X, y, w = separable(80, n_features, margin, seed)
    gamma = (y * (X @ w)).min()
    state = State.zeros(n_features, 2, averaged=False)
    examples = Examples(dense(X, constant=0.0), y.astype(np.int32))
    outcome = fit(state, examples, Plan(Perceptron(), 10_000), np.random.default_rng(seed))
    assert outcome.converged
    mistakes = sum(record.mistakes for record in outcome.history)
    assert mistakes <= (np.linalg.norm(X, axis=1).max() / gamma) ** 2
    assert np.all(y * (X @ state.weights[:-1]) > 0)


@given(data_sets(integers), st.sampled_from([0.25, 1.0]))
def test_passive_aggressive_lands_on_its_margin(drawn: Drawn, C: float) -> None:
    """After PA-I's step on a row its margin is 1, or the step was C and it is below 1."""
    learner = RowLearner(State.zeros(len(drawn.rows[0]), 2, averaged=False), PA1(C))
    for x, label in zip(drawn.rows, drawn.labels, strict=True):
        before = learner.state.weights.copy()
        learner.values[0] = x
        learner.learn(label)
        after, y, augmented = learner.state.weights, 2 * label - 1, np.array([*x, 1.0])
        if y * (before @ augmented) >= 1 - 1e-9:  # there already, but for rounding
            np.testing.assert_allclose(after, before, rtol=0, atol=1e-9)
        else:
            step = np.linalg.norm(after - before) / np.linalg.norm(augmented)
            margin = y * (after @ augmented)
            assert margin == pytest.approx(1.0) or (step == pytest.approx(C) and margin < 1)


@given(data_sets(integers, n_classes=4), st.sampled_from([0.125, 4.0, 1024.0]), class_counts)
def test_scaling_rows_scales_weights(drawn: Drawn, scale: float, n_classes: int) -> None:
    """The perceptron on scaled rows has scaled weights: no prediction changes (no bias)."""
    labels = [label % n_classes for label in drawn.labels]
    d = len(drawn.rows[0])
    scaled = [[scale * x for x in row] for row in drawn.rows]
    a = one_pass(State.zeros(d, n_classes, averaged=False), dense(drawn.rows, 0.0), labels)
    b = one_pass(State.zeros(d, n_classes, averaged=False), dense(scaled, 0.0), labels)
    assert same_bits(scale * a.weights, b.weights)


@given(data_sets(integers), st.sampled_from([0.125, 4.0, 1024.0]))
def test_eta_only_scales(drawn: Drawn, eta: float) -> None:
    """From zero weights, η scales w and b and changes nothing else."""
    d = len(drawn.rows[0])
    a = one_pass(State.zeros(d, 2, averaged=True), dense(drawn.rows), drawn.labels)
    rule = Perceptron(eta)
    b = one_pass(State.zeros(d, 2, averaged=True), dense(drawn.rows), drawn.labels, rule=rule)
    assert same_bits(eta * a.average(), b.average())


@given(data_sets(integers, n_classes=4), class_counts, st.data())
def test_permuting_columns_permutes_weights(
    drawn: Drawn, n_classes: int, data: st.DataObject
) -> None:
    """The order of the features does not matter."""
    labels = [label % n_classes for label in drawn.labels]
    d = len(drawn.rows[0])
    columns = data.draw(st.permutations(range(d)))
    permuted = [[row[j] for j in columns] for row in drawn.rows]
    a = one_pass(State.zeros(d, n_classes, averaged=True), dense(drawn.rows), labels)
    b = one_pass(State.zeros(d, n_classes, averaged=True), dense(permuted), labels)
    assert same_bits(a.by_class(a.average())[:, [*columns, d]], b.by_class(b.average()))


@given(data_sets(integers))
def test_swapping_labels_flips_weights(drawn: Drawn) -> None:
    """Calling positive what was negative turns every sign, as ties are mistakes for both."""
    d = len(drawn.rows[0])
    a = one_pass(State.zeros(d, 2, averaged=True), dense(drawn.rows), drawn.labels)
    flipped = [1 - label for label in drawn.labels]
    b = one_pass(State.zeros(d, 2, averaged=True), dense(drawn.rows), flipped)
    assert same_bits(a.average(), -b.average())


@given(data_sets(integers), st.sampled_from([Perceptron(1.0), PA()]))
def test_two_classes_in_the_multiclass_machine(drawn: Drawn, rule: Rule) -> None:
    """Two classes learn ±s·w where one vector learns w: s = 1, or 1/2 for passive-aggressive."""
    rows, numbers = dense(drawn.rows), row_numbers(len(drawn.labels))
    binary = State.zeros(rows.shape[1], 2, averaged=False)
    run_pass(binary, Examples(rows, targets_of(np.array(drawn.labels), 2)), numbers, rule, 0)
    two = np.zeros((2, rows.shape[1] + 1))
    labels = np.array(drawn.labels, np.int32)
    multiclass_pass(
        *(
            rows,
            labels,
            np.empty(0),
            numbers,
            rule,
            0,
            np.empty(2),
            two,
            np.empty((0, 0)),
            1,
            NO_LOG,
        )
    )
    scale = pair_scale(rule)
    expected = np.stack([-scale * binary.weights, scale * binary.weights])
    tolerance = 0 if rule == Perceptron(1.0) else 1e-9 * max(1.0, np.abs(two).max())
    np.testing.assert_allclose(two, expected, rtol=0, atol=tolerance)


@given(data_sets(integers))
def test_a_class_yet_to_come_changes_nothing(drawn: Drawn) -> None:
    """Growing from two classes to three is as if the perceptron had known three all along."""
    rows, numbers = dense(drawn.rows), row_numbers(len(drawn.labels))
    two, three = (State.zeros(rows.shape[1], k, averaged=True) for k in (2, 3))
    run_pass(
        two, Examples(rows, targets_of(np.array(drawn.labels), 2)), numbers, Perceptron(1.0), 0
    )
    run_pass(
        three, Examples(rows, targets_of(np.array(drawn.labels), 3)), numbers, Perceptron(1.0), 0
    )
    grown = two.with_classes(np.array([0, 1]), 3, 1.0)
    assert same_bits(grown.weights, three.weights)
    assert same_bits(grown.average(), three.average())
