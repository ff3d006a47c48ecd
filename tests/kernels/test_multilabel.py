"""Passes over rows with several labels against the reference in plain lists, to the last bit."""

from typing import Any

import numpy as np
from hypothesis import given

from rosenblatt.kernels.counts import empty_log
from rosenblatt.kernels.multilabel import (
    SetTargets,
    Workspace,
    each_label_pass,
    ranking_pass,
    second_order_label_pass,
)
from rosenblatt.kernels.rows import CSR
from rosenblatt.rules import ZERO_CONVENTIONS, Perceptron
from tests import reference
from tests.examples import FORMATS, Drawn, data_sets, integers, same_bits, tries
from tests.kernels import test_passes as first_order
from tests.kernels import test_second_order as second_order

K = 3
SETS = [[k for k in range(K) if number >> k & 1] for number in range(2**K)]  # by their number
drawn_sets = data_sets(n_classes=len(SETS))


def label_sets(drawn: Drawn) -> SetTargets:
    """Return the labels of drawn rows: the bits of the number of a set are its labels."""
    ends = np.cumsum([0, *map(len, SETS)])
    labels = np.array([k for one in SETS for k in one], np.int32)
    return SetTargets(np.array(drawn.labels, np.int32), labels, ends)


def room(n_features: int, n_rows: int = 0) -> Workspace:
    """Return room for a pass, and for the steps of rows."""
    activations, sides, steps = np.empty((3, K))
    rooms = np.empty(K, np.int64), np.empty(n_features + 1)
    work = Workspace(activations, sides, steps, *rooms)
    if not n_rows:
        return work
    return work._replace(log=empty_log(n_rows * K), n_lines=np.zeros(1, np.int64))


def noted(work: Workspace) -> list[tuple[int, int, float, int]]:
    """Return the steps in the log: row, label, step and counter of each."""
    row, label, rival, tau, seen = (part[: work.n_lines[0]].tolist() for part in work.log)
    assert rival == [-own for own in label]
    signed = [tau_ if own > 0 else -tau_ for own, tau_ in zip(label, tau, strict=True)]
    return [*zip(row, [abs(own) - 1 for own in label], signed, seen, strict=True)]


def shape_of(rows: Any) -> tuple[int, int]:
    """Return the shape of the weights of all labels as these rows read them."""
    wide = rows.shape[1] + 1
    return (wide, K) if isinstance(rows, CSR) else (K, wide)


@given(drawn_sets, first_order.rules, first_order.formats, first_order.zeros)
@tries(150)
def test_each_label_learns_as_if_alone(drawn: Drawn, rule: str, form: str, zero: str) -> None:
    """Weights, ledger and steps of each label are those of a two-class training on it."""
    rows, labels = FORMATS[form](drawn.rows, drawn.constant), label_sets(drawn)
    ours, theirs = first_order.RULES[rule]
    alone = [
        reference.train_binary(
            drawn.rows,
            [1 if k in SETS[number] else -1 for number in drawn.labels],
            theirs,
            drawn.orders,
            constant=drawn.constant,
            zero=zero,
            how=first_order.HOW_SCORES[form],
        )
        for k in range(K)
    ]
    w, u, c = np.zeros(shape_of(rows)), np.zeros(shape_of(rows)), 1
    mistakes, losses, steps = 0, [], []
    for order in drawn.orders:
        work = room(rows.shape[1], len(order))
        given_ = (np.array(order), ours, ZERO_CONVENTIONS[zero], work)
        counts = each_label_pass(rows, labels, np.empty(0), *given_, w, u, c)
        mistakes += counts.mistakes
        losses.append(counts.loss)
        c += len(order)
        steps += noted(work)
        assert counts.updates == len({seen for *_, seen in noted(work)})
    if any(first_order.overflowed(one) for one in alone):
        assert not np.isfinite([*w.flat, *u.flat, *losses]).all()
        return
    sparse = isinstance(rows, CSR)
    assert same_bits(w.T if sparse else w, [one.w for one in alone])
    assert same_bits(u.T if sparse else u, [one.ledger for one in alone])
    most, wrong = (f(sum(one.mistakes) for one in alone) for f in (sum, max))
    assert wrong <= mistakes <= most
    expected = [
        (i, k, tau if k in SETS[drawn.labels[i]] else -tau, seen)
        for k, one in enumerate(alone)
        for i, tau, seen in one.updates
    ]
    assert same_bits(steps, sorted(expected, key=lambda step: (step[3], step[1])))


@given(drawn_sets, second_order.rules, second_order.formats, second_order.zeros)
@tries(100)
def test_second_order_labels_learn_alone(drawn: Drawn, rule: str, form: str, zero: str) -> None:
    """Weights, variances and ledger of each label are those of a training on it alone."""
    rows, labels = FORMATS[form](drawn.rows, drawn.constant), label_sets(drawn)
    ours, theirs = second_order.RULES[rule]
    alone = [
        reference.train_second_order(
            drawn.rows,
            [1 if k in SETS[number] else -1 for number in drawn.labels],
            2,
            theirs,
            drawn.orders,
            constant=drawn.constant,
            zero=zero,
            how=second_order.HOW_SCORES[form],
        )
        for k in range(K)
    ]
    shape = shape_of(rows)
    kept, c = (np.zeros(shape), np.ones(shape), np.zeros(shape)), 1
    for order in drawn.orders:
        given_ = (ours, ours.target, ZERO_CONVENTIONS[zero], room(rows.shape[1]))
        second_order_label_pass(rows, labels, np.empty(0), np.array(order), *given_, kept, c)
        c += len(order)
    if not all(second_order.is_finite(one) for one in alone):
        assert not all(np.isfinite(part).all() for part in kept)
        return
    for k, one in enumerate(alone):
        expected = (one.w[0], one.sigma[0], one.ledger[0])
        for part, theirs_ in zip(kept, expected, strict=True):
            assert same_bits(part[:, k] if isinstance(rows, CSR) else part[k], theirs_)


@given(drawn_sets, first_order.rules, first_order.formats, first_order.zeros)
@tries(150)
def test_ranking_is_the_reference(drawn: Drawn, rule: str, form: str, zero: str) -> None:
    """Weights, ledger, mistakes, loss and steps by ranking are those of the plain lists."""
    rows, labels = FORMATS[form](drawn.rows, drawn.constant), label_sets(drawn)
    ours, theirs = first_order.RULES[rule]
    expected = reference.train_ranking(
        drawn.rows,
        [SETS[number] for number in drawn.labels],
        K,
        theirs,
        drawn.orders,
        constant=drawn.constant,
        zero=zero,
        how=first_order.HOW_SCORES[form],
    )
    w, u, c = np.zeros(shape_of(rows)), np.zeros(shape_of(rows)), 1
    losses, mistakes, steps = [], [], []
    for order in drawn.orders:
        work = room(rows.shape[1], len(order))
        given_ = (np.array(order), ours, ZERO_CONVENTIONS[zero], work)
        counts = ranking_pass(rows, labels, np.empty(0), *given_, w, u, c)
        c += len(order)
        steps += noted(work)
        losses.append(counts.loss)
        mistakes.append(counts.mistakes)
    if first_order.overflowed(expected):
        assert not np.isfinite([*losses, *w.flat, *u.flat]).all()
        return
    sparse = isinstance(rows, CSR)
    assert mistakes == expected.mistakes
    assert same_bits(losses, expected.losses)
    assert same_bits(w.T if sparse else w, expected.w)
    assert same_bits(u.T if sparse else u, expected.ledger)
    assert same_bits(steps, expected.label_steps)


@given(data_sets(integers, n_classes=len(SETS)), first_order.formats, first_order.zeros)
@tries(100)
def test_mistakes_are_rows_that_are_not_right(drawn: Drawn, form: str, zero: str) -> None:
    """A row counts once, however many of its labels are wrong."""
    rows, labels = FORMATS[form](drawn.rows, drawn.constant), label_sets(drawn)
    w = np.random.default_rng(0).normal(size=shape_of(rows)).round(1)
    by_label = (w.T if isinstance(rows, CSR) else w).tolist()
    order, convention = np.arange(len(drawn.labels)), ZERO_CONVENTIONS[zero]
    how = first_order.HOW_SCORES[form]
    wrong = unranked = 0
    for x, number in zip(drawn.rows, drawn.labels, strict=True):
        scores = [how.dot(x, v[:-1]) + drawn.constant * v[-1] for v in by_label]
        true, rest = SETS[number], [k for k in range(K) if k not in SETS[number]]
        sides = [1 if k in true else -1 for k in range(K)]
        margins = [
            reference.settled(side * score, zero, positive=side > 0)
            for side, score in zip(sides, scores, strict=True)
        ]
        wrong += not all(margin > 0 for margin in margins)
        leads = [
            reference.settled(scores[k] - scores[r], zero, positive=k > r)
            for k in true
            for r in rest
        ]
        unranked += not all(lead > 0 for lead in leads)
    before, still = w.copy(), (order, Perceptron(0.0), convention, room(rows.shape[1]))
    found = [
        visit(rows, labels, np.empty(0), *still, w, np.empty((0, 0)), 1).mistakes
        for visit in (each_label_pass, ranking_pass)
    ]
    assert found == [wrong, unranked]
    assert same_bits(w, before)
