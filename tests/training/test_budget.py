"""Budgets: the Forgetron, the Projectron and random removal, held against plain lists."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.kernels.budget import DAMAGE, FORGETTING, MISTAKES, Limit
from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.budget import BUDGETS, NO_LIMIT, BudgetState
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.rules import PA1, Perceptron, Rule
from rosenblatt.training.examples import Examples, random_words
from rosenblatt.training.kernel import BudgetTraining
from rosenblatt.training.loop import Plan
from tests.examples import FORMATS, Drawn, data_sets, integers
from tests.training.test_kernel import KERNELS, SIZES, learn, plain_gram

RBF = Kernel("rbf", gamma=0.5)


def learn_within(
    rows: Rows,
    drawn: Drawn,
    kernel: Kernel,
    limit: Limit,
    n_classes: int = 2,
    *,
    joint: bool = True,
    rule: Rule = Perceptron(),  # noqa: B008  # a value that never changes
    key: int = 7,
) -> tuple[BudgetState, list[int]]:
    """Return the state after a pass in each order, and the mistakes of each."""
    state = BudgetState.empty(rows.shape[1], n_classes, joint, limit, key)
    examples = Examples(rows, np.array(drawn.labels))
    passes = BudgetTraining(
        state, kernel, examples, Plan(rule, 1), SIZES[-1], np.random.default_rng(0)
    )
    mistakes = [
        sum(passes.learn(part).counts.mistakes for part in passes.blocks(np.array(order)))
        for order in drawn.orders
    ]
    return state, mistakes


def limit(kind: str, most: int = NO_LIMIT, eta: float = 0.0) -> Limit:
    """Return a budget for steps of length 1."""
    return Limit(BUDGETS[kind], most, eta, 1.0)


def drawn_blobs(n_rows: int, n_classes: int, seed: int = 0) -> tuple[NDArray[Any], Drawn]:
    """Return rows of overlapping classes, to be met once."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.standard_normal((n_rows, 3)) + y[:, None]
    return X, Drawn(X.tolist(), y.tolist(), [list(range(n_rows))], 0.0)


def plain_forgetron(gram: Any, y: list[int], most: int) -> tuple[dict[int, float], int, float]:
    """Return the self-tuned Forgetron of Dekel, Shalev-Shwartz & Singer (2008), K(x, x) = 1.

    φ is found by bisection on the condition that defines it, not by the formula for its root.
    """
    active: dict[int, float] = {}  # row → σ, the oldest first
    damage, mistakes = 0.0, 0
    for t, label in enumerate(y):
        if label * sum(s * y[i] * gram[i][t] for i, s in active.items()) > 0:
            continue
        mistakes += 1
        active[t] = 1.0
        if len(active) <= most:
            continue
        oldest = next(iter(active))
        sigma = active[oldest]
        mu = y[oldest] * sum(s * y[i] * gram[i][oldest] for i, s in active.items())

        def psi(phi: float, sigma: float = sigma, mu: float = mu) -> float:
            return (sigma * phi) ** 2 + 2 * sigma * phi * (1 - phi * mu)

        allowed = 15 / 32 * mistakes - damage
        phi = 1.0
        if psi(1.0) > allowed:
            low, high = 0.0, 1.0
            for _ in range(200):
                phi = (low + high) / 2
                low, high = (phi, high) if psi(phi) <= allowed else (low, phi)
        damage += psi(phi)
        del active[oldest]
        active = {i: s * phi for i, s in active.items()}
    return active, mistakes, damage


@pytest.mark.parametrize("most", [1, 2, 5, 20, 1000])
def test_forgetron(most: int) -> None:
    """Rows, coefficients, mistakes and damage are those of the paper's algorithm."""
    X, drawn = drawn_blobs(300, 2)
    y = [2 * label - 1 for label in drawn.labels]
    active, mistakes, damage = plain_forgetron(plain_gram(RBF, drawn.rows, drawn.rows), y, most)
    state, found = learn_within(FORMATS["dense"](X), drawn, RBF, limit("forgetron", most))
    assert found == [mistakes]
    assert state.numbers.tolist() == list(active)
    expected = [s * y[i] for i, s in active.items()]
    np.testing.assert_allclose(state.coefficients(averaged=False)[0], expected, rtol=1e-9)
    assert state.slots.tuning[DAMAGE] == pytest.approx(damage)
    assert state.slots.tuning[DAMAGE] <= FORGETTING * state.slots.tuning[MISTAKES] + 1e-9


def test_forgetron_does_not_mind_the_scale() -> None:
    """A kernel four times as large, or steps of length 3, leave the same rows and mistakes."""
    X, drawn = drawn_blobs(200, 3)
    rows, plain = FORMATS["dense"](X), limit("forgetron", 15)
    alike = Kernel(lambda a, b: np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1)))
    larger = Kernel(lambda a, b: 4 * np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1)))
    one, mistakes = learn_within(rows, drawn, alike, plain, 3)
    two, again = learn_within(rows, drawn, larger, plain, 3)
    three, once_more = learn_within(
        rows, drawn, alike, plain._replace(unit=3.0), 3, rule=Perceptron(3.0)
    )
    assert mistakes == again == once_more
    assert one.numbers.tolist() == two.numbers.tolist() == three.numbers.tolist()


@given(data_sets(integers, n_classes=3), st.sampled_from(KERNELS), st.integers(1, 5))
def test_random_removal(drawn: Drawn, kernel: Kernel, most: int) -> None:
    """A random row makes room for the new one, by the word that belongs to the new one's number."""
    gram = plain_gram(kernel, drawn.rows, drawn.rows)
    labels = [1 if label else -1 for label in drawn.labels]
    order, mistakes = drawn.orders[0], 0
    active: list[int] = []
    words = random_words(7, 1, len(order)).tolist()
    for word, t in zip(words, order, strict=True):
        score = 0.0
        for i in active:
            score += labels[i] * gram[i][t]
        if labels[t] * score > 0:
            continue
        mistakes += 1
        if len(active) == most:
            del active[((word >> 32) * most) >> 32]
        active.append(t)
    first = drawn._replace(orders=[order], labels=[int(label > 0) for label in drawn.labels])
    state, found = learn_within(FORMATS["dense"](drawn.rows), first, kernel, limit("random", most))
    assert found == [mistakes]
    assert state.numbers.tolist() == active
    assert state.coefficients(averaged=False)[0].tolist() == [labels[i] for i in active]


def test_random_words_are_even() -> None:
    """Every tenth of the range gets its share, and neighbours have nothing in common."""
    words = random_words(3, 1, 100_000) / 2.0**64
    share = np.histogram(words, bins=10, range=(0, 1))[0] / len(words)
    assert np.abs(share - 0.1).max() < 0.005
    assert abs(np.corrcoef(words[:-1], words[1:])[0, 1]) < 0.01


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", BUDGETS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_budget_that_is_never_full(kind: str, form: str, n_classes: int) -> None:
    """It changes nothing: mistakes and scores are those without a budget."""
    X, drawn = drawn_blobs(150, n_classes)
    drawn = drawn._replace(orders=[list(range(150)), list(range(149, -1, -1))])
    rows = FORMATS[form](X.tolist())
    free, expected = learn(rows, drawn, RBF, Perceptron(), n_classes, joint=True)
    state, mistakes = learn_within(rows, drawn, RBF, limit(kind, 10_000), n_classes)
    assert mistakes == expected
    scores = state.scores(RBF, rows, SIZES[-1])["last"]
    np.testing.assert_allclose(scores, free.scores(RBF, rows, SIZES[-1])["last"], atol=1e-9)


@pytest.mark.parametrize("rule", [Perceptron(), PA1(0.5)])
@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize(
    "kernel", [RBF, Kernel("linear", constant=1.0), Kernel("poly", 1.0, 1.0, 2)]
)
def test_projectron_of_eta_zero_is_the_kernel_perceptron(
    kernel: Kernel, joint: bool, rule: Rule
) -> None:
    """Same mistakes, same scores, last and average, with fewer rows where they depend."""
    X, drawn = drawn_blobs(120, 3)
    X[60:] = X[:60]  # rows that come twice
    drawn = Drawn(X.tolist(), drawn.labels[:60] * 2, [list(range(120))] * 2, 0.0)
    rows = FORMATS["dense"](X)
    free, expected = learn(rows, drawn, kernel, rule, 3, joint=joint)
    state, mistakes = learn_within(
        rows, drawn, kernel, limit("projectron"), 3, joint=joint, rule=rule
    )
    assert mistakes == expected
    assert state.n_kept < len(free.support)
    if kernel.name == "linear":
        assert state.n_kept == 4  # three features and the bias span everything
    memories = ("last", "average")
    ours = state.scores(kernel, rows, SIZES[-1], memories)
    for memory, scores in free.scores(kernel, rows, SIZES[-1], memories).items():
        np.testing.assert_allclose(ours[memory], scores, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("most", [NO_LIMIT, 12])
def test_projectron(most: int) -> None:
    """Each step is the projection that solves K·d = k; a row is kept if it is farther than η."""
    X, drawn = drawn_blobs(200, 2)
    gram = np.array(plain_gram(RBF, drawn.rows, drawn.rows))
    y = 2 * np.array(drawn.labels) - 1
    kept: list[int] = []
    alpha, mistakes = np.zeros(0), 0
    for t in range(200):
        if y[t] * (alpha @ gram[kept, t]) > 0:
            continue
        mistakes += 1
        d = np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, t])
        if len(kept) < most and gram[t, t] - gram[kept, t] @ d > 0.3**2:
            kept.append(t)
            alpha = np.append(alpha, float(y[t]))
        else:
            alpha = alpha + y[t] * d
    state, found = learn_within(FORMATS["dense"](X), drawn, RBF, limit("projectron", most, eta=0.3))
    assert found == [mistakes]
    assert state.numbers.tolist() == kept
    assert len(kept) < mistakes
    np.testing.assert_allclose(state.coefficients(averaged=False)[0], alpha, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", BUDGETS)
def test_the_limit_holds(kind: str) -> None:
    """No more rows than allowed are ever kept, in whatever blocks they come."""
    X, drawn = drawn_blobs(500, 3)
    state, mistakes = learn_within(FORMATS["dense"](X), drawn, RBF, limit(kind, 17, eta=0.1), 3)
    assert state.n_kept == 17
    assert mistakes[0] > 100
    assert state.rows is not None
    assert state.rows.shape[0] == len(state.numbers) == len(state.labels) == 17
    assert np.array_equal(X[state.numbers], state.rows[0])
    assert np.array_equal(np.array(drawn.labels)[state.numbers], state.labels)
    assert len(state.slots.ages) <= 18
