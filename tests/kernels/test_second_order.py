"""Second-order passes against the reference in plain lists, to the last bit."""

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.second_order import (
    GaussianWeights,
    second_order_multiclass_pass,
    second_order_pass,
)
from rosenblatt.rules import ZERO_CONVENTIONS
from rosenblatt.rules.arow import AROW
from rosenblatt.rules.confidence_weighted import SCW1, SCW2, phi_of
from tests import reference
from tests.examples import FORMATS, Drawn, data_sets, same_bits, tries

PHI = phi_of(0.8)
RULES: dict[str, tuple[Any, reference.Pair]] = {
    "arow": (AROW(0.5), reference.arow(0.5)),
    "cw": (SCW1(PHI, inf), reference.confidence_weighted("cw", PHI)),
    "scw1": (SCW1(PHI, 0.3), reference.confidence_weighted("scw1", PHI, 0.3)),
    "scw2": (SCW2(PHI, 0.3), reference.confidence_weighted("scw2", PHI, 0.3)),
}
HOW = {"dense": reference.DENSE, "csr": reference.CSR}
HOW_SCORES = {"dense": reference.DENSE, "csr": replace(reference.CSR, dot_width=1)}

rules = st.sampled_from(sorted(RULES))
formats = st.sampled_from(sorted(FORMATS))
zeros = st.sampled_from(sorted(ZERO_CONVENTIONS))


def is_finite(learned: reference.Confident) -> bool:
    """Whether the reference stayed within float64; beyond it 0·inf makes the formats differ."""
    return all(np.isfinite(part).all() for part in (learned.w, learned.sigma, learned.ledger))


@given(data_sets(), rules, formats, zeros)
@tries(100)
def test_two_classes_are_the_reference(drawn: Drawn, rule: str, form: str, zero: str) -> None:
    """Weights, variances, ledger, mistakes and updates are those of the plain lists."""
    rows = FORMATS[form](drawn.rows, drawn.constant)
    labels = [2 * label - 1 for label in drawn.labels]
    ours, theirs = RULES[rule]
    expected = reference.train_second_order(
        drawn.rows,
        labels,
        2,
        theirs,
        drawn.orders,
        constant=drawn.constant,
        zero=zero,
        how=HOW[form],
    )
    d = rows.shape[1]
    w, sigma, u, room = np.zeros(d + 1), np.ones(d + 1), np.zeros(d + 1), np.empty(d + 1)
    y, c, counted = np.array(labels, np.int32), 1, []
    for order in drawn.orders:
        counts = second_order_pass(
            rows,
            y,
            np.empty(0),
            np.array(order),
            ours,
            ZERO_CONVENTIONS[zero],
            GaussianWeights(w, sigma),
            u,
            c,
            room,
        )
        c += len(y)
        counted.append((counts.mistakes, counts.updates))
    if not is_finite(expected):
        assert not np.isfinite([*w, *sigma, *u]).all()
        return
    assert counted == list(zip(expected.mistakes, expected.updates, strict=True))
    assert same_bits(w, expected.w[0])
    assert same_bits(sigma, expected.sigma[0])
    assert same_bits(u, expected.ledger[0])


@given(data_sets(n_classes=4), st.sampled_from(["arow", "scw1"]), formats, zeros)
@tries(100)
def test_four_classes_are_the_reference(drawn: Drawn, rule: str, form: str, zero: str) -> None:
    """The true class and its best rival move, each by its own variances, bit for bit."""
    rows = FORMATS[form](drawn.rows, drawn.constant)
    ours, theirs = RULES[rule]
    expected = reference.train_second_order(
        drawn.rows,
        drawn.labels,
        4,
        theirs,
        drawn.orders,
        constant=drawn.constant,
        zero=zero,
        how=HOW_SCORES[form],
    )
    d, sparse = rows.shape[1], isinstance(rows, CSR)
    shape = (d + 1, 4) if sparse else (4, d + 1)
    w, sigma, u, c = np.zeros(shape), np.ones(shape), np.zeros(shape), 1
    y, counted = np.array(drawn.labels, np.int32), []
    for order in drawn.orders:
        counts = second_order_multiclass_pass(
            rows,
            y,
            np.empty(0),
            np.array(order),
            ours,
            ZERO_CONVENTIONS[zero],
            GaussianWeights(w, sigma),
            u,
            c,
            (np.empty(4), np.empty(d + 1), np.empty(d + 1)),
        )
        c += len(y)
        counted.append((counts.mistakes, counts.updates))
    if not is_finite(expected):
        assert not np.isfinite([*w.flat, *sigma.flat, *u.flat]).all()
        return
    assert counted == list(zip(expected.mistakes, expected.updates, strict=True))
    for ours_, theirs_ in ((w, expected.w), (sigma, expected.sigma), (u, expected.ledger)):
        assert same_bits(ours_.T if sparse else ours_, theirs_)


@pytest.mark.parametrize("rule", ["cw", "scw1", "scw2"])
def test_a_step_reaches_the_confidence(rule: str) -> None:
    """After a step the row is right with the confidence asked for, or the step was cut by C."""
    phi, v = phi_of(0.9), 2.0
    made: Any = {"cw": SCW1(phi, inf), "scw1": SCW1(phi, 1e9), "scw2": SCW2(phi, 1e9)}[rule]
    for m in (-3.0, -0.2, 0.0, 0.7):
        alpha, beta = made.step(m, v)
        reached, left = m + alpha * v, v - beta * v * v
        assert reached == pytest.approx(phi * np.sqrt(left), rel=1e-6)
