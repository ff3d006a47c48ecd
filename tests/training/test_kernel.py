"""Passes in the dual, held against plain lists."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.gram import Sizes, sizes_within
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.machine import DualState
from rosenblatt.rules import RULES, ZERO_CONVENTIONS, Perceptron, Rule
from rosenblatt.training.examples import Examples
from rosenblatt.training.kernel import KernelTraining
from rosenblatt.training.loop import Plan
from tests import reference
from tests.dual_reference import Dual, train_dual
from tests.examples import FORMATS, Drawn, data_sets, integers, same_bits, tries

STEPS = {
    "perceptron": reference.perceptron(1.0),
    "margin": reference.margin_perceptron(1.0, 1.0),
    "pa": reference.passive_aggressive("pa"),
    "pa1": reference.passive_aggressive("pa1"),
    "pa2": reference.passive_aggressive("pa2"),
}
KERNELS = [
    Kernel("linear", constant=1.0),
    Kernel("linear"),
    Kernel("poly", gamma=1.0, coef0=1.0, degree=2),
    Kernel("poly", gamma=2.0, coef0=-1.0, degree=3, constant=1.0),
    Kernel("poly", gamma=1.0, coef0=0.0, degree=5),
    Kernel("rbf", gamma=0.03, constant=1.0),
]
SIZES = [Sizes(2, 1, 0), Sizes(3, 2, 400), Sizes(4, 100, 1e6), Sizes(256, 2048, 1e6)]


def plain_gram(kernel: Kernel, left: Any, right: Any) -> list[list[float]]:
    """Return kernel values by their definition."""

    def value(x: list[float], z: list[float]) -> float:
        dot = sum(a * b for a, b in zip(x, z, strict=True))
        if kernel.name == "linear":
            return dot + kernel.constant
        if kernel.name == "poly":
            return float((kernel.gamma * dot + kernel.coef0) ** kernel.degree + kernel.constant)
        distance = sum((a - b) ** 2 for a, b in zip(x, z, strict=True))
        return float(np.exp(np.array([-kernel.gamma * distance]))[0]) + kernel.constant

    return [[value(x, z) for z in right] for x in left]


def learn(
    rows: Rows,
    drawn: Drawn,
    kernel: Kernel,
    rule: Rule,
    n_classes: int,
    *,
    joint: bool,
    zero: str = "mistake",
    sizes: Sizes = SIZES[-1],
) -> tuple[DualState, list[int]]:
    """Return the state after a pass in each order, and the mistakes of each."""
    labels = np.array(drawn.labels)
    state = DualState(rows.shape[1], n_classes, joint)
    plan = Plan(rule, len(drawn.orders), ZERO_CONVENTIONS[zero])
    generator = np.random.default_rng(0)
    passes = KernelTraining(state, kernel, Examples(rows, labels), plan, sizes, generator)
    mistakes = [
        sum(passes.learn(part).counts.mistakes for part in passes.blocks(np.array(order)))
        for order in drawn.orders
    ]
    passes.finish()
    return state, mistakes


def plain_scores(learned: Dual, gram: Any, memory: str, **how: bool) -> NDArray[Any]:
    """Return what the reference scores, (columns, rows)."""
    found = []
    for i in range(len(gram[0])):
        values = [line[i] for line in gram]
        if memory == "vote":
            found.append(learned.vote(values, **how))
        else:
            found.append(getattr(learned, memory)(values))
    return np.array(found).T


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("rule", STEPS)
@tries(40)
@given(
    drawn=data_sets(integers, n_classes=3),
    kernel=st.sampled_from(KERNELS),
    zero=st.sampled_from(list(ZERO_CONVENTIONS)),
    n_classes=st.sampled_from([2, 3]),
    joint=st.booleans(),
    sizes=st.sampled_from(SIZES),
)
def test_the_definition(
    form: str,
    rule: str,
    drawn: Drawn,
    kernel: Kernel,
    zero: str,
    n_classes: int,
    joint: bool,
    sizes: Sizes,
) -> None:
    """Mistakes and scores of all memories are those of the plain lists, in blocks of any size."""
    drawn = drawn._replace(labels=[label % n_classes for label in drawn.labels])
    gram = plain_gram(kernel, drawn.rows, drawn.rows)
    joint_machine = joint and n_classes > 2
    expected = train_dual(
        gram, drawn.labels, n_classes, STEPS[rule], drawn.orders, joint=joint, zero=zero
    )
    rows = FORMATS[form](drawn.rows)
    state, mistakes = learn(
        rows, drawn, kernel, RULES[rule].kind(), n_classes, joint=joint, zero=zero, sizes=sizes
    )
    assert mistakes == expected.mistakes
    positive = zero == "positive"
    found = state.scores(kernel, rows, sizes, ("last", "average", "vote"), positive=positive)
    assert same_bits(found["last"], plain_scores(expected, gram, "last"))
    votes = plain_scores(expected, gram, "vote", joint=joint_machine, positive=positive)
    assert same_bits(found["vote"], votes)
    average = plain_scores(expected, gram, "average")
    scale = 1.0 + np.abs(gram).max() * sum(abs(t[2]) for t in expected.vectors[-1])
    np.testing.assert_allclose(found["average"], average, rtol=1e-9, atol=1e-12 * scale)


@given(data_sets(st.floats(-10, 10), n_classes=3).filter(lambda d: d.rows[0]))
def test_numbers_that_are_not_whole(drawn: Drawn) -> None:
    """Blocks of one row and of many agree to 1e-9 where the products of matrices round."""
    rows, kernel = FORMATS["dense"](drawn.rows), Kernel("rbf", gamma=0.01, constant=1.0)
    whole, few = (
        learn(rows, drawn, kernel, Perceptron(), 3, joint=True, sizes=sizes)
        for sizes in (SIZES[-1], SIZES[0])
    )
    if whole[1] == few[1]:  # else a row stood on the boundary but for rounding
        a, b = (state.scores(kernel, rows, SIZES[-1])["last"] for state, _ in (whole, few))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_sizes_keep_to_the_limit() -> None:
    """What is under way and what is kept are never more than the megabytes allowed."""
    for megabytes in (1, 2, 10, 200, 4000):
        sizes = sizes_within(megabytes, 784)
        assert 12 * sizes.block * sizes.tile + sizes.kept <= megabytes * 2**20
        assert 12 * sizes.block * sizes.rows_against(5000) <= megabytes * 2**20


def test_coefficients_are_the_sum_of_the_steps() -> None:
    """The support rows times their coefficients give the scores again, last and average."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (60, 3)).astype(float), rng.integers(0, 3, 60)
    drawn = Drawn(X.tolist(), y.tolist(), [list(range(60))] * 2, 1.0)
    kernel, rows = Kernel("poly", gamma=1.0, coef0=1.0, degree=2), FORMATS["dense"](X)
    state, _ = learn(rows, drawn, kernel, Perceptron(), 3, joint=True)
    assert len(state.support) == len(set(state.numbers.tolist()))
    gram = np.array(plain_gram(kernel, X[state.numbers], X))
    found = state.scores(kernel, rows, SIZES[-1], ("last", "average", "vote"))
    for memory in ("last", "average"):
        coefficients = state.coefficients(averaged=memory == "average")
        np.testing.assert_allclose(coefficients @ gram, found[memory], rtol=1e-9)
