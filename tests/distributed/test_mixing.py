"""Iterative parameter mixing against plain lists, the serial learners and its theorem."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.distributed.mixing import (
    EpochSettings,
    Mixing,
    Share,
    Start,
    VirtualShards,
    add_shares,
    compact,
    fixed,
    mix,
    run_epoch,
    simulate,
    tree,
    virtual_shards,
    whole,
)
from rosenblatt.distributed.shards import Shard
from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.rows import Dense, Rows
from rosenblatt.lazy import installing
from rosenblatt.rules import AROW, PA1, Perceptron, Rule, scw1
from rosenblatt.rules.confidence_weighted import CONFIDENCE, phi_of
from rosenblatt.tasks import TwoClasses
from rosenblatt.tasks.leads import targets_of
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import EarlyStopping, Plan
from rosenblatt.training.state import State, count_mistakes, fit
from tests.distributed.naive import confidently_mixed, mixed
from tests.examples import FORMATS, csr, dense, same_bits, separable, tries
from tests.processes import printed
from tests.reference import arow, confidence_weighted

PHI = phi_of(CONFIDENCE)


def noisy(n_rows: int, n_features: int, n_classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Return rows of small whole numbers and targets that no weights fit."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n_rows, n_features)).astype(float)
    scores = X @ rng.standard_normal((n_features, n_classes)) + rng.gumbel(size=(n_rows, n_classes))
    numbers = scores.argmax(axis=1)
    return X, targets_of(numbers, n_classes)


def values(shard: Shard) -> NDArray[Any]:
    """Return the dense rows of a shard."""
    rows = shard.examples.rows
    assert isinstance(rows, Dense)
    return rows.values


def serial(
    rows: Rows, y: NDArray[Any], n_classes: int, plan: Plan, *, averaged: bool, uncertain: bool
) -> State:
    """Return what the plain training makes of it."""
    state = State.zeros(rows.shape[1], n_classes, averaged=averaged, uncertain=uncertain)
    fit(state, Examples(rows, y), plan, np.random.default_rng(7))
    return state


@pytest.mark.parametrize("shuffle", [True, "once", False])
@pytest.mark.parametrize(
    ("rule", "kind", "n_classes"),
    [
        *[(Perceptron(), "dense", 2), (PA1(0.5), "csr", 2), (PA1(0.5), "dense", 4)],
        *[(Perceptron(), "csr", 4), (AROW(0.5), "dense", 2), (AROW(0.5), "csr", 4)],
    ],
)
def test_one_shard_is_the_serial_learner(
    rule: Rule, kind: str, n_classes: int, shuffle: Any
) -> None:
    """One shard gives the weights and the average of the plain learner, bit for bit."""
    X, y = noisy(80, 6, n_classes)
    rows, uncertain = FORMATS[kind](X * 0.7), not isinstance(rule, Perceptron | PA1)
    for averaged in (False, True):
        plan = Plan(rule, 4, shuffle=shuffle)
        kept = {"averaged": averaged, "uncertain": uncertain}
        state, outcome = simulate(Examples(rows, y), n_classes, 1, plan, seed=7, **kept)  # type: ignore[arg-type]
        expected = serial(rows, y, n_classes, plan, **kept)
        if state.variance is not None and expected.variance is not None:
            assert same_bits(state.by_class(state.variance), expected.by_class(expected.variance))
        assert uncertain == (state.variance is not None)
        assert same_bits(state.by_class(state.weights), expected.by_class(expected.weights))
        assert same_bits(state.by_class(state.average()), expected.by_class(expected.average()))
        assert state.count == expected.count == 4 * 80 + 1
        assert len(outcome.history) == 4


@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
@pytest.mark.parametrize("n_shards", [1, 2, 4, 5])
def test_plain_lists(n_shards: int, mixing: Mixing) -> None:
    """Weights, average and mistakes are those of the paper's figure in plain lists."""
    X, y = noisy(60, 5, seed=n_shards)
    plan = Plan(Perceptron(), 4)
    data = Examples(dense(X), y)
    state, outcome = simulate(data, 2, n_shards, plan, averaged=True, mixing=mixing, seed=3)
    shards = virtual_shards(data, n_shards, seed=3)
    lists = [
        (
            [[*row, 1.0] for row in values(shard).tolist()],
            shard.examples.targets.tolist(),
        )
        for shard in shards
    ]
    orders = [
        [shard.order(shuffle=True, seed=3, epoch=e).tolist() for shard in shards]
        for e in range(1, 5)
    ]
    w, mean, history = mixed(lists, orders, by_mistakes=mixing == "mistakes")
    assert [record.mistakes for record in outcome.history] == history
    if n_shards in (1, 2, 4) and mixing == "uniform":  # division by a power of two is exact
        assert state.weights.tolist() == w
    np.testing.assert_allclose(state.weights, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.average(), mean, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_shards", [2, 5])
@pytest.mark.parametrize("rule", ["arow", "scw1"])
def test_confidence_in_plain_lists(n_shards: int, rule: str) -> None:
    """Second-order shards are mixed weight by weight, each by how sure it is."""
    X, y = noisy(60, 5, seed=n_shards)
    steps: Any = {
        "arow": (AROW(0.5), arow(0.5)),
        "scw1": (scw1(), confidence_weighted("scw1", PHI, 1.0)),
    }
    data = Examples(dense(X), y)
    state, _ = simulate(
        data, 2, n_shards, Plan(steps[rule][0], 4), averaged=True, uncertain=True, seed=3
    )
    shards = virtual_shards(data, n_shards, seed=3)
    lists = [([[*x, 1.0] for x in values(s).tolist()], s.examples.targets.tolist()) for s in shards]
    orders = [
        [s.order(shuffle=True, seed=3, epoch=e).tolist() for s in shards] for e in (1, 2, 3, 4)
    ]
    w, sigma, mean = confidently_mixed(lists, orders, steps[rule][1])
    assert state.variance is not None
    np.testing.assert_allclose(state.weights, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.variance, sigma, rtol=1e-9)
    np.testing.assert_allclose(state.average(), mean, rtol=1e-9, atol=1e-12)


def test_a_surer_shard_counts_more() -> None:
    """A feature that one shard alone met keeps more of its weight than the plain mean leaves it."""
    X = np.zeros((40, 2))
    X[:, 0], X[:20, 1] = np.tile([1.0, -1.0], 20), np.tile([1.0, -1.0], 10)
    data = Examples(dense(X), np.tile([1, -1], 20).astype(np.int8))
    plan = Plan(AROW(0.1), 1, shuffle=False)
    state, _ = simulate(data, 2, 2, plan, uncertain=True)
    alone, _ = simulate(Examples(dense(X[:20]), data.targets[:20]), 2, 1, plan, uncertain=True)
    assert 0.6 * alone.weights[1] < state.weights[1] < alone.weights[1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_is_dense(n_classes: int) -> None:
    """Whole numbers give the same bits whether rows are dense or sparse."""
    X, y = noisy(90, 12, n_classes, seed=2)
    found = []
    for make in FORMATS.values():
        state, _ = simulate(
            Examples(make(X), y), n_classes, 4, Plan(Perceptron(), 3), averaged=True
        )
        found.append(state.by_class(state.average()))
    assert same_bits(*found)


def test_the_tree_depends_on_the_number_of_shards_alone() -> None:
    """Shares that come in any order are added in the order of their shards, eight at a time."""
    told = tree([str(k) for k in range(18)], lambda group: f"({' '.join(group)})")
    assert told == "((0 1 2 3 4 5 6 7) (8 9 10 11 12 13 14 15) (16 17))"
    assert tree([5], lambda _: 0) == 5


def test_broadcast_weights_are_never_written() -> None:
    """The arrays that all tasks of a worker share refuse to be written, and stay as they were."""
    X, y = noisy(50, 5)
    state = State(np.arange(6.0), np.ones(6), TwoClasses(), 10)
    for alone in (False, True):
        start = Start.of(state, alone=alone)
        arrays = [one for one in (start.weights, start.ledger) if one is not None]
        before = [array.copy() for array in arrays]
        assert len(arrays) == 1 + alone
        assert not any(array.flags.writeable for array in arrays)
        for shard in virtual_shards(Examples(dense(X), y), 3):
            settings = EpochSettings(Perceptron(), 0, shuffle=True, seed=0, averaged=True)
            share = run_epoch(shard, start, 1, settings)
            assert share.counts.mistakes > 0
            assert not any(np.shares_memory(share.change.data, array) for array in arrays)
        assert all(map(same_bits, arrays, before))
    assert state.weights.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_shard_that_moved_is_learned_from(kind: str) -> None:
    """A worker may get the arrays of a shard at any address, as of one that was lost."""
    X, y = noisy(50, 5)
    (shard,) = virtual_shards(Examples(FORMATS[kind](X), y, np.full(50, 0.5)), 1)
    buffers: list[pickle.PickleBuffer] = []
    message = pickle.dumps(shard, protocol=5, buffer_callback=buffers.append)
    odd = [memoryview(bytearray(b"x") + bytearray(buffer.raw()))[1:] for buffer in buffers]
    arrived = pickle.loads(message, buffers=odd)  # noqa: S301  # our own
    start = Start.of(State.zeros(5, 2, averaged=False))
    settings = EpochSettings(PA1(0.5), 0, shuffle=True, seed=0, averaged=False)
    shares = [run_epoch(part, start, 1, settings) for part in (shard, arrived)]
    assert len(odd) >= 4
    assert same_bits(*(whole(share.change, (6,)) for share in shares))


@pytest.mark.parametrize(("rule", "length"), [(Perceptron(), 0.1), (AROW(), 20.0)])
def test_a_clean_epoch_leaves_the_weights_alone(rule: Rule, length: float) -> None:
    """Shards that make no mistake hand back nothing, and the mixture has the bits that it had."""
    rows, y, w = separable(64, 4, 0.1, seed=1)
    weights, variance = np.append(w, 0.0) * length, None
    if isinstance(rule, AROW):
        variance = np.array([0.1, 0.3, 0.7, 1.0, 1 / 49])  # 1/(1/σ) is not σ for all of them
    state = State(weights.copy(), np.zeros(5), TwoClasses(), 1, variance=variance)
    shards = virtual_shards(Examples(dense(rows), y.astype(np.int8)), 7)
    start = Start.of(state)
    settings = EpochSettings(rule, 0, shuffle=True, seed=0, averaged=True)
    share = tree([run_epoch(shard, start, 1, settings) for shard in shards], add_shares)
    assert share.counts.updates == 0
    assert share.change.nnz == 0
    mix(state, share, alone=False)
    assert same_bits(state.weights, weights)
    if variance is not None:
        assert state.variance is not None
        assert state.variance.tolist() == [0.1, 0.3, 0.7, 1.0, 1 / 49]
    assert state.count == 65


@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.02, 0.05, 0.2]), st.booleans())
@tries(40)
def test_convergence_theorem(n_shards: int, seed: int, margin: float, by_mistakes: bool) -> None:
    """On separable data: Σ of μᵢ·kᵢ over shards and epochs ≤ R²/γ², and the end separates all.

    With equal shares that bounds the mistakes by n_shards·R²/γ². Shares in proportion to the
    mistakes bound the epochs with a mistake by R²/γ².
    """
    rows, y, _ = separable(40, 3, margin, seed)
    data = Examples(dense(rows), y.astype(np.int8))
    bound = 2.0 / (margin**2)  # ‖(x, 1)‖² = 2, and (w*, 0) has that margin
    plan = Plan(Perceptron(), int(n_shards * bound) + 2)
    mixing: Mixing = "mistakes" if by_mistakes else "uniform"
    state, outcome = simulate(data, 2, n_shards, plan, mixing=mixing, seed=seed)
    assert outcome.converged
    assert outcome.history[-1].mistakes == 0
    assert count_mistakes(state, state.weights, data, data.numbers(), 0) == 0
    assert sum(record.mistakes for record in outcome.history) <= n_shards * bound
    if by_mistakes:
        assert len(outcome.history) - 1 <= bound


def epochs_to_convergence(data: Examples, n_shards: int, mixing: Mixing = "uniform") -> int:
    """Return how many epochs a perceptron needs."""
    _, outcome = simulate(data, 2, n_shards, Plan(Perceptron(), 3000), mixing=mixing)
    assert outcome.converged
    return len(outcome.history)


def test_smaller_margins_need_more_epochs() -> None:
    """With any number of shards: 0.02 takes more epochs than 0.1."""
    for n_shards in (1, 4, 16):
        epochs = []
        for margin in (0.02, 0.1):
            rows, y, _ = separable(1000, 20, margin, seed=3)
            data = Examples(dense(rows), y.astype(np.int8))
            epochs.append(epochs_to_convergence(data, n_shards))
        assert epochs[0] > epochs[1]


def test_rare_features_are_diluted() -> None:
    """Five of 200 indicators a row: 64 shards take longer than four, and by mistakes longest."""
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], 200)
    X = np.zeros((2000, 200))
    for row in X:
        row[rng.choice(200, 5, replace=False)] = 1.0
    data = Examples(csr(X), np.sign(X @ signs).astype(np.int8))
    few, many = epochs_to_convergence(data, 4), epochs_to_convergence(data, 64)
    assert few < many < epochs_to_convergence(data, 64, "mistakes")


def test_passive_aggressive_is_proved_by_trying() -> None:
    """PA goes on making updates: after an epoch without a mistake the mixture is tried on all."""
    rows, y, _ = separable(200, 5, 0.1, seed=0)
    data = Examples(dense(rows), y.astype(np.int8))
    state, outcome = simulate(data, 2, 4, Plan(PA1(1.0), 300))
    assert outcome.converged
    assert outcome.history[-1].updates > 0
    assert count_mistakes(state, state.weights, data, data.numbers(), 0) == 0


def test_few_mistakes_in_shards_are_no_proof() -> None:
    """Shards of one class each make a mistake each and none after, and the mixture is no good."""
    X = np.vstack([np.full((50, 1), 1.0), np.full((50, 1), 3.0)])
    y = np.array([1] * 50 + [-1] * 50, np.int8)
    data = Examples(dense(X), y)
    state, outcome = simulate(data, 2, 2, Plan(Perceptron(), 5))
    assert all(record.mistakes <= 4 for record in outcome.history)
    assert count_mistakes(state, state.weights, data, data.numbers(), 0) >= 50
    assert not outcome.converged
    dealt_out, outcome = simulate(data, 2, 2, Plan(Perceptron(), 100), shuffled=True)
    assert outcome.converged
    assert count_mistakes(dealt_out, dealt_out.weights, data, data.numbers(), 0) == 0


def test_early_stopping_scores_the_mixture() -> None:
    """The score of an epoch is the accuracy of the mixed average on the rows held out."""
    X, y = noisy(400, 6, seed=9)
    data = Examples(dense(X), y)
    plan = Plan(Perceptron(), 30, early_stopping=EarlyStopping(0.25, 3))
    state, outcome = simulate(data, 2, 4, plan, averaged=True)
    assert outcome.stop_reason == "early_stopping"
    scores = [record.validation_score or 0.0 for record in outcome.history]
    assert outcome.best_pass == int(np.argmax(scores)) + 1 == len(scores) - 3
    engine = VirtualShards(virtual_shards(data, 4, share=0.25))
    wrong = engine.wrong(Start.deciding(state), -1, tried=True)
    assert 1.0 - wrong / engine.n_held_out == scores[outcome.best_pass - 1]
    assert engine.n_held_out + engine.n_rows == 400


def test_overflow_is_told() -> None:
    """Weights beyond float64 end the training with the epoch and what to do."""
    X = np.array([[1e308], [1e308], [-1e308], [1e308]])
    data = Examples(dense(X), np.array([1, -1, 1, -1], np.int8))
    with pytest.raises(WeightOverflowError, match="in epoch"):
        simulate(data, 2, 2, Plan(Perceptron(1e10), 5))


arrays = st.integers(1, 40).flatmap(
    lambda n: st.lists(
        st.lists(
            st.one_of(st.just(0.0), st.just(0.0), st.floats(-1e9, 1e9)), min_size=n, max_size=n
        ),
        min_size=2,
        max_size=2,
    )
)


def share_of(change: Any) -> Share:
    """Return what a shard did that changed the weights so."""
    return Share(Counts(0, 0, 0.0), 1, 1.0, change, None)


@given(arrays)
def test_both_forms_add_alike(drawn: list[list[float]]) -> None:
    """A sum has the bits of the sum of whole arrays, whichever form each side and it have."""
    a, b = np.array(drawn)
    for left in (compact(a), a.reshape(1, -1)):
        for right in (compact(b), b.reshape(1, -1)):
            total = share_of(left).plus(share_of(right)).change
            assert same_bits(whole(total, a.shape), a + b)


def test_the_smaller_form_is_sent() -> None:
    """Twelve bytes a value that is not zero, or eight a value: whichever is less."""
    array = np.zeros((3, 100))
    array[1, 5:9] = 1.5
    sparse = compact(array)
    assert sparse.data.nbytes + sparse.indices.nbytes == 4 * 12
    assert same_bits(whole(sparse, array.shape), array)
    assert compact(np.ones((3, 100))).nbytes == 300 * 8


def test_a_sum_shares_no_memory() -> None:
    """What a worker keeps of a share is not changed by adding it to another."""
    for array in (np.ones(10), np.eye(1, 10)[0]):
        one, other = compact(array.copy()), compact(array.copy())
        total = share_of(one).plus(share_of(other)).change
        (total.data if hasattr(total, "nnz") else total)[...] = -7.0
        assert same_bits(whole(one, (10,)), array)
        assert same_bits(whole(other, (10,)), array)


def test_a_fixed_array_is_a_copy_that_cannot_be_written() -> None:
    """The weights of the coordinator can go on while those that were sent stay."""
    weights = np.arange(4.0)
    sent = fixed(weights)
    weights += 1
    assert sent.tolist() == [0, 1, 2, 3]
    assert not sent.flags.writeable


def test_simulation_without_dask() -> None:
    """Without Dask the classifiers simulate, and whatever needs a cluster says what to install."""
    program = """
import sys
sys.modules["dask"] = sys.modules["distributed"] = None
from rosenblatt import distributed
X, y = [[0.0], [2.0]] * 4, [0, 1] * 4
print(distributed.DaskPerceptron(n_shards=2).simulate(X, y).score(X, y))
for needs in (lambda: distributed.DaskPerceptron().fit(X, y), lambda: distributed.local_client):
    try:
        needs()
    except ModuleNotFoundError as error:
        print(error)
"""
    assert printed(program).splitlines() == [
        "1.0",
        f"Training on a cluster needs Dask: {installing('dask')}",
        f"local_client needs Dask: {installing('dask')}",
    ]
