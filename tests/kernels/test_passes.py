"""Compiled passes against the reference in plain lists, to the last bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.kernels.binary import activations, binary_pass
from rosenblatt.kernels.counts import NO_LOG, empty_log
from rosenblatt.kernels.multiclass import class_scores, multiclass_pass
from rosenblatt.kernels.rows import CSR
from rosenblatt.rules import PA, PA1, PA2, ZERO_CONVENTIONS, MarginPerceptron, Perceptron
from tests import reference
from tests.examples import FORMATS, Drawn, csr, data_sets, dense, integers, same_bits, tries

RULES: dict[str, tuple[Any, reference.Step]] = {
    "perceptron": (Perceptron(0.5), reference.perceptron(0.5)),
    "margin": (MarginPerceptron(1.0, 2.0), reference.margin_perceptron(1.0, 2.0)),
    "pa": (PA(), reference.passive_aggressive("pa")),
    "pa1": (PA1(0.3), reference.passive_aggressive("pa1", 0.3)),
    "pa2": (PA2(0.3), reference.passive_aggressive("pa2", 0.3)),
}
HOW = {"dense": reference.DENSE, "csr": reference.CSR}
HOW_SCORES = {"dense": reference.DENSE, "csr": replace(reference.CSR, dot_width=1)}

rules = st.sampled_from(sorted(RULES))
formats = st.sampled_from(sorted(FORMATS))
zeros = st.sampled_from(sorted(ZERO_CONVENTIONS))


def overflowed(learned: reference.Learned) -> bool:
    """Whether the reference left the range of float64.

    From there on 0·inf makes the two formats differ; all that is asked is that it shows.
    """
    return not (
        np.isfinite(learned.w).all()
        and np.isfinite(learned.ledger).all()
        and np.isfinite(learned.losses).all()
    )


@given(data_sets(), rules, formats, zeros)
@tries(300)
def test_binary_pass_is_the_reference(drawn: Drawn, rule: str, form: str, zero: str) -> None:
    """Weights, ledger, mistakes, loss and log are those of the plain lists, bit for bit."""
    rows = FORMATS[form](drawn.rows, drawn.constant)
    labels = [2 * label - 1 for label in drawn.labels]
    ours, theirs = RULES[rule]
    expected = reference.train_binary(
        drawn.rows,
        labels,
        theirs,
        drawn.orders,
        constant=drawn.constant,
        zero=zero,
        how=HOW[form],
    )
    w, u = np.zeros(rows.shape[1] + 1), np.zeros(rows.shape[1] + 1)
    y = np.array(labels, np.int32)
    c, updates, losses = 1, [], []
    for number, order in enumerate(drawn.orders):
        log = empty_log(len(y))
        counts = binary_pass(
            rows,
            y,
            np.empty(0),
            np.array(order),
            ours,
            ZERO_CONVENTIONS[zero],
            w,
            u,
            c,
            log,
        )
        c += len(y)
        if overflowed(expected):
            losses.append(counts.loss)
            continue
        assert counts.mistakes == expected.mistakes[number]
        assert same_bits(counts.loss, expected.losses[number])
        n = counts.updates
        updates += list(zip(log.row[:n].tolist(), log.tau[:n], log.seen[:n].tolist(), strict=True))
        assert log.label[:n].tolist() == y[log.row[:n]].tolist()
        assert log.rival[:n].tolist() == (-y[log.row[:n]]).tolist()
    if overflowed(expected):
        assert not np.isfinite([*losses, *w, *u]).all()
        return
    assert same_bits(w, expected.w)
    assert same_bits(u, expected.ledger)
    assert same_bits(updates, expected.updates)


@given(data_sets(n_classes=4), rules, formats, zeros)
@tries(300)
def test_multiclass_pass_is_the_reference(drawn: Drawn, rule: str, form: str, zero: str) -> None:
    """Weights, ledger and mistakes of four classes are those of the plain lists, bit for bit."""
    rows = FORMATS[form](drawn.rows, drawn.constant)
    ours, theirs = RULES[rule]
    expected = reference.train_multiclass(
        drawn.rows,
        drawn.labels,
        4,
        theirs,
        drawn.orders,
        constant=drawn.constant,
        zero=zero,
        how=HOW_SCORES[form],
    )
    shape = (rows.shape[1] + 1, 4) if isinstance(rows, CSR) else (4, rows.shape[1] + 1)
    w, u, c = np.zeros(shape), np.zeros(shape), 1
    y = np.array(drawn.labels, np.int32)
    updates, losses = [], []
    for number, order in enumerate(drawn.orders):
        log = empty_log(len(y))
        counts = multiclass_pass(
            rows,
            y,
            np.empty(0),
            np.array(order),
            ours,
            ZERO_CONVENTIONS[zero],
            np.empty(4),
            w,
            u,
            c,
            log,
        )
        c += len(y)
        if overflowed(expected):
            losses.append(counts.loss)
            continue
        assert counts.mistakes == expected.mistakes[number]
        assert same_bits(counts.loss, expected.losses[number])
        n = counts.updates
        updates += list(zip(log.row[:n].tolist(), log.tau[:n], log.seen[:n].tolist(), strict=True))
    if overflowed(expected):
        assert not np.isfinite([*losses, *w.flat, *u.flat]).all()
        return
    assert same_bits(w.T if isinstance(rows, CSR) else w, expected.w)
    assert same_bits(u.T if isinstance(rows, CSR) else u, expected.ledger)
    assert same_bits(updates, expected.updates)


@given(data_sets(integers), st.lists(st.floats(0, 3), min_size=10, max_size=10), formats)
def test_weights_multiply_the_step(drawn: Drawn, weights: list[float], form: str) -> None:
    """The step of each row is multiplied by its weight, in every format."""
    rows = FORMATS[form](drawn.rows, drawn.constant)
    labels = [2 * label - 1 for label in drawn.labels]
    expected = reference.train_binary(
        drawn.rows,
        labels,
        reference.passive_aggressive("pa1", 1.0),
        drawn.orders[:1],
        constant=drawn.constant,
        weights=weights,
        how=HOW[form],
    )
    w, y = np.zeros(rows.shape[1] + 1), np.array(labels, np.int32)
    weight, order = np.array(weights[: len(y)]), np.array(drawn.orders[0])
    binary_pass(rows, y, weight, order, PA1(1.0), 0, w, np.empty(0), 1, NO_LOG)
    assert same_bits(w, expected.w)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
@pytest.mark.parametrize("n_features", [3, 16, 37])
def test_number_types_are_read_as_they_are(dtype: type, n_features: int) -> None:
    """float32, float64 and uint8 rows, dense or CSR of either index, give the same weights."""
    rng = np.random.default_rng(5)
    values: NDArray[Any] = rng.integers(0, 256, (40, n_features)).astype(dtype)
    values[rng.random(values.shape) < 0.5] = 0
    y = np.where(rng.random(40) < 0.5, -1, 1).astype(np.int32)
    order = rng.permutation(40)
    found = []
    for rows in (
        dense(values, dtype=np.float64),
        dense(values, dtype=dtype),
        csr(values.tolist(), dtype=dtype),
        csr(values.tolist(), dtype=dtype, index=np.int64),
    ):
        w, none = np.zeros(n_features + 1), np.empty(0)
        binary_pass(rows, y, none, order, Perceptron(1.0), 0, w, none, 1, NO_LOG)
        found.append(w)
    assert all(same_bits(w, found[0]) for w in found[1:])


@given(data_sets(integers, n_classes=3), formats)
def test_activations_and_mistakes_agree_with_matrix_products(drawn: Drawn, form: str) -> None:
    """Scoring, and counting mistakes by steps of length 0, give what the definition gives."""
    rows = FORMATS[form](drawn.rows, drawn.constant)
    n, d = rows.shape
    rng = np.random.default_rng(0)
    by_class = rng.integers(-5, 6, (3, d + 1)).astype(float)
    augmented = np.hstack([np.array(drawn.rows).reshape(n, d), np.full((n, 1), drawn.constant)])
    order = np.arange(n)

    out = np.empty(n)
    activations(rows, by_class[0], out)
    assert out.tolist() == (augmented @ by_class[0]).tolist()
    y = np.array([2 * (label > 0) - 1 for label in drawn.labels], np.int32)
    none, before = np.empty(0), by_class.copy()
    still = (order, Perceptron(0.0))
    counts = binary_pass(rows, y, none, *still, 0, by_class[0], none, 1, NO_LOG)
    assert counts.mistakes == np.sum(y * out <= 0)

    scores = np.empty((n, 3))
    w = np.ascontiguousarray(by_class.T) if isinstance(rows, CSR) else by_class
    class_scores(rows, w, scores)
    assert scores.tolist() == (augmented @ by_class.T).tolist()
    k = np.array(drawn.labels, np.int32)
    no_ledger = np.empty((0, 0))
    counts = multiclass_pass(rows, k, none, *still, -1, np.empty(3), w, no_ledger, 1, NO_LOG)
    assert counts.mistakes == np.sum(scores.argmax(axis=1) != k)
    assert same_bits(by_class, before)
    assert same_bits(w.T if isinstance(rows, CSR) else w, before)
