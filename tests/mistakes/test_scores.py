"""Votes by prefix sums against the definition, which keeps every weight vector."""

from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.shapes import dense_values, without_zeros
from rosenblatt.mistakes import scores
from rosenblatt.mistakes.gram import gram_between, products, worth_spreading
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.scores import Tally, update_chunks, vote_counter
from rosenblatt.mistakes.updates import Mistakes, steps_of
from tests import reference
from tests.examples import FORMATS, integers, same_bits, tries
from tests.voting_reference import Update, survivals
from tests.voting_reference import count as naive_count

HOW = {"dense": reference.DENSE, "csr": reference.CSR}
HOW_SCORES = {"dense": reference.DENSE, "csr": replace(reference.CSR, dot_width=1)}
TINY = Fraction(1, 10**290)  # products below the normal numbers round by more than their share

moderate = st.one_of(
    integers,
    st.floats(-10, 10),
    st.sampled_from([0.1, 0.2, 0.3, -0.3, 1 / 3, 1e-3]),
)
steps = st.one_of(st.just(1.0), st.sampled_from([0.1, 0.3, 1e-8, 3.0]), st.floats(1e-3, 1e3))


class Case:
    """A list of mistakes and rows to vote on, drawn so that ties and near ties abound."""

    def __init__(self, draw: st.DrawFn, values: Any, taus: Any, n_classes: int) -> None:
        d = draw(st.sampled_from([1, 2, 3, 17]))
        row = st.lists(values, min_size=d, max_size=d)
        self.n_classes = n_classes
        self.rows = draw(st.lists(row, min_size=1, max_size=6))
        self.rows.append([0.0] * d)
        self.constant = draw(st.sampled_from([0.0, 1.0]))
        self.positive = draw(st.booleans())
        number = st.integers(0, len(self.rows) - 1)
        self.updates = []
        seen = draw(st.integers(1, 3))
        for _ in range(draw(st.integers(0, 12))):
            label = draw(st.integers(0, n_classes - 1))
            rival = (label + draw(st.integers(1, n_classes - 1))) % n_classes
            pair = (2 * label - 1, 2 * rival - 1) if n_classes == 2 else (label, rival)
            self.updates.append(Update(draw(number), *pair, draw(taus), seen))
            seen += draw(st.integers(1, 5))
        self.end = seen
        one, two = draw(number), draw(number)
        scale = draw(st.sampled_from([-1.0, 2.0, 1e-5, 0.1]))
        self.tests = [
            *self.rows,
            [a - b for a, b in zip(self.rows[one], self.rows[two], strict=True)],
            [scale * a for a in self.rows[one]],
            *draw(st.lists(row, max_size=4)),
        ]

    def log(self) -> Log:
        """Return the updates as the kernels write them down."""
        log = empty_log(len(self.updates))
        for i, update in enumerate(self.updates):
            for column, value in zip(log, update, strict=True):
                column[i] = value
        return log

    def expected(self, form: str) -> list[list[int]] | None:
        """Return the votes by definition."""
        return naive_count(
            self.rows,
            self.updates,
            self.tests,
            self.n_classes,
            self.end,
            constant=self.constant,
            how=(HOW if self.n_classes == 2 else HOW_SCORES)[form],
            positive=self.positive,
        )

    def counted(self, taught: str, form: str) -> list[list[int]]:
        """Return the votes by prefix sums."""
        rows = FORMATS[form](self.tests, self.constant)
        kept = Mistakes.of_rows(self.log(), FORMATS[taught](self.rows, self.constant), self.end)
        counter = vote_counter(kept, self.n_classes, self.end, positive=self.positive)
        found: list[list[int]] = counter(rows).astype(int).tolist()
        return found

    def sure_votes(self, x: list[float]) -> tuple[list[int], int]:
        """Return the votes of x by class in exact arithmetic, and those nearer a tie than 1e-9.

        Nearer by the size of the terms that the scores of a vector are made of.
        """
        exact = [Fraction(v) for v in (*x, self.constant)]
        totals = [Fraction(0)] * (1 if self.n_classes == 2 else self.n_classes)
        size, sure, unsure = Fraction(0), [0] * self.n_classes, 0
        lasted = survivals(self.updates, self.end)
        for update, times in zip([None, *self.updates], lasted, strict=True):
            if update is not None:
                row = [Fraction(v) for v in (*self.rows[update.row], self.constant)]
                dot = sum(a * b for a, b in zip(row, exact, strict=True))
                step, tau = Fraction(update.tau) * dot, Fraction(update.tau)
                size += tau * sum(abs(a * b) for a, b in zip(row, exact, strict=True))
                if self.n_classes == 2:
                    totals[0] += update.label * step
                else:
                    totals[update.label] += step
                    totals[update.rival] -= step
            ranked = sorted(totals) if len(totals) > 1 else [Fraction(0), abs(totals[0])]
            if update is not None and ranked[-1] - ranked[-2] <= size / 10**9 + TINY:
                unsure += times
            elif self.n_classes == 2:
                sure[int(totals[0] > 0 or (self.positive and totals[0] == 0))] += times
            else:
                numbers = range(self.n_classes)
                order = reversed(numbers) if self.positive else numbers
                sure[max(order, key=lambda c: totals[c])] += times
        return sure, unsure


@st.composite
def cases(draw: st.DrawFn, values: Any = moderate, taus: Any = steps) -> Case:
    """Draw a case of two classes or four."""
    return Case(draw, values, taus, draw(st.sampled_from([2, 4])))


formats = st.sampled_from(sorted(FORMATS))
blocks = st.sampled_from([1, 64, 1 << 20])  # kernel values: one update at a time, some, all


@given(cases(integers, st.sampled_from([1.0, 3.0])), formats, formats, blocks)
@tries(400)
def test_votes_are_those_of_the_definition(case: Case, taught: str, form: str, values: int) -> None:
    """On whole numbers, ties and doubles and zero rows among them, every vote is the same."""
    case.tests = [x for x in case.tests if all(value.is_integer() for value in x)]
    with patch.object(scores, "VALUES", values):
        assert case.counted(taught, form) == case.expected(form)


@given(cases(), formats, formats, blocks)
@tries(400)
def test_votes_differ_at_near_ties_alone(case: Case, taught: str, form: str, values: int) -> None:
    """On any numbers a vote is that of exact arithmetic, but where rounding decides a tie."""
    with patch.object(scores, "VALUES", values):
        found = case.counted(taught, form)
    for x, counts in zip(case.tests, found, strict=True):
        sure, unsure = case.sure_votes(x)
        assert sum(counts) == sum(sure) + unsure
        assert all(count >= least for count, least in zip(counts, sure, strict=True))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_beyond_all_numbers(form: str, n_classes: int) -> None:
    """Where a score leaves the range of float64 the row is named, not voted on."""
    log = empty_log(2)
    log.row[:], log.tau[:], log.seen[:] = [0, 1], 1.0, [1, 2]
    log.label[:], log.rival[:] = ([1, -1], [-1, 1]) if n_classes == 2 else ([0, 1], [1, 0])
    mistakes = Mistakes.of_rows(log, FORMATS[form]([[1e200, 1.0], [1e200, 2.0]]), 3)
    rows = FORMATS[form]([[1.0, 1.0], [1e200, 1.0]])
    with pytest.raises(WeightOverflowError, match=r"activation of row 1 overflowed"):
        vote_counter(mistakes, n_classes, 3, positive=False)(rows)


@given(cases(integers, st.just(1.0)), formats, st.integers(0, 12))
def test_votes_can_be_counted_in_two_goes(case: Case, form: str, first: int) -> None:
    """A tally that goes on with further updates ends where one of all of them does."""
    rows, log = FORMATS[form](case.tests, case.constant), case.log()
    tally = Tally(len(case.tests), case.n_classes, positive=case.positive)
    source = FORMATS[form](case.rows, case.constant)
    panel = gram_between(Kernel("linear", constant=case.constant**2), source, rows)(
        np.arange(len(case.tests))
    )
    for part in (slice(0, first), slice(first, None)):
        some = steps_of(Log(*(column[part] for column in log)), joint=case.n_classes > 2)
        tally.advance(update_chunks(some, len(case.tests)), panel)
    whole = [x for x in case.tests if all(value.is_integer() for value in x)]
    found = tally.counts(case.end).astype(int).tolist()
    expected = dict(zip(map(tuple, case.tests), case.expected(form) or [], strict=True))
    assert all(found[case.tests.index(x)] == expected[tuple(x)] for x in whole)


def test_many_rows_at_once() -> None:
    """More rows than a block, on as many threads as there are, come out in their order."""
    rng = np.random.default_rng(0)
    rows = rng.integers(-3, 4, (40, 5)).astype(float)
    log = empty_log(60)
    log.row[:], log.label[:] = rng.integers(0, 40, 60), rng.integers(0, 3, 60)
    log.rival[:] = (log.label + 1) % 3
    log.tau[:], log.seen[:] = 1.0, np.arange(1, 61)
    counter = vote_counter(Mistakes.of_rows(log, FORMATS["dense"](rows), 61), 3, 61, positive=False)
    tests = rng.integers(-3, 4, (1000, 5)).astype(float)
    whole = counter(FORMATS["dense"](tests))
    for start in (0, 300, 990):
        part = FORMATS["csr"](tests[start : start + 10].tolist())
        assert (counter(part) == whole[start : start + 10]).all()
    assert (whole.sum(axis=1) == 60).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("form", FORMATS)
def test_images_are_exact(dtype: Any, form: str) -> None:
    """Whole numbers up to 255 of any type and format are multiplied without rounding."""
    rng = np.random.default_rng(1)
    rows = rng.integers(200, 256, (30, 900)).astype(dtype)
    source = FORMATS[form](rows.tolist(), 1.0, dtype)
    teachers = without_zeros(source, np.arange(30))
    found = products(teachers, source)
    exact = rows.astype(np.int64) @ rows.astype(np.int64).T
    for left in (np.arange(30), np.arange(30)[::-1], np.array([7, 2])):
        dots = found(np.arange(30))(left)[:, :30]
        assert (dots == exact[left]).all()


def test_all_rows_in_another_order_are_another_product() -> None:
    """The products of all rows on the left come in the order that is asked for."""
    rows = FORMATS["dense"]((np.arange(12.0) - 5.5).reshape(4, 3))
    order = np.array([2, 0, 3, 1])
    found = products(rows, rows)(np.arange(4))
    assert same_bits(found(order), found(np.arange(4))[order])


def test_rows_that_taught_are_kept_once() -> None:
    """A row that made three updates is there once, under its number in training."""
    log = empty_log(4)
    log.row[:], log.label[:], log.rival[:] = [7, 2, 7, 7], 1, -1
    log.tau[:], log.seen[:] = 1.0, [1, 3, 4, 9]
    kept = Mistakes.of_rows(log, FORMATS["dense"]([[float(i), 0.0] for i in range(9)]), 11)
    assert kept.support is not None
    assert kept.support.rows is not None
    assert kept.support.numbers.tolist() == [7, 2]
    assert dense_values(kept.support.rows).tolist() == [[7.0, 0.0], [2.0, 0.0]]
    assert kept.updates.row.tolist() == [0, 1, 0, 0]
    assert kept.lifetimes.tolist() == [0, 2, 1, 5, 2]
    lines = zip(*(column.tolist() for column in log), strict=True)
    assert kept.lifetimes.tolist() == survivals([Update(*line) for line in lines], 11)


def test_two_classes_become_more() -> None:
    """Labels of two sides become numbers of classes, whatever their place among the new ones."""
    log = empty_log(2)
    log.row[:], log.label[:], log.rival[:] = [0, 1], [-1, 1], [1, -1]
    log.tau[:], log.seen[:] = 1.0, [1, 2]
    two = Mistakes.of_rows(log, FORMATS["dense"]([[1.0], [2.0]]), 3)
    more = two.with_classes(np.array([0, 2]))
    assert more.updates.label.tolist() == [0, 2]
    assert more.updates.rival.tolist() == [2, 0]
    assert more.with_classes(np.array([1, 2, 3])).updates.label.tolist() == [1, 3]


def test_two_classes_become_learners_of_their_own() -> None:
    """Where each class has a learner, both take their side of a step: it is there twice."""
    log = empty_log(2)
    log.row[:], log.label[:], log.rival[:] = [0, 1], [-1, 1], [1, -1]
    log.tau[:], log.seen[:] = 2.0, [1, 2]
    two = Mistakes.of_rows(log, FORMATS["dense"]([[1.0], [2.0]]), 3)
    more = two.with_classes(np.array([0, 2]), 0.5, joint=False)
    steps = steps_of(more.updates, joint=False)
    assert steps.row.tolist() == [0, 0, 1, 1]
    assert steps.gain.tolist() == [0, 2, 0, 2]
    assert steps.size.tolist() == [1.0, -1.0, -1.0, 1.0]
    again = more.with_classes(np.array([1, 2, 3]), joint=False)
    assert steps_of(again.updates, joint=False).gain.tolist() == [1, 3, 1, 3]


def test_many_features_are_not_spread_out() -> None:
    """Sparse rows of millions of features are multiplied where they match, in little memory."""
    n_features, n = 3_000_000, 300
    indices = np.arange(n, dtype=np.int32)
    rows = CSR(np.ones(n), indices, np.arange(n + 1), n_features, 1.0)
    found = products(rows, rows)
    assert not worth_spreading(rows, rows)
    assert (found(np.arange(n))(np.arange(n)) == np.eye(n)).all()
