"""Votes by prefix sums against the definition, which keeps every weight vector."""

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.rows import CSR, Dense
from rosenblatt.training import tally, vote_products
from rosenblatt.training.vote_count import count_votes
from rosenblatt.training.vote_products import Teachers
from rosenblatt.training.votes import Votes
from tests import reference
from tests.examples import FORMATS, integers, reals, tries
from tests.voting_reference import Update, survivals, vectors
from tests.voting_reference import count as naive_count

HOW = {"dense": reference.DENSE, "csr": reference.CSR}
HOW_SCORES = {"dense": reference.DENSE, "csr": replace(reference.CSR, dot_width=1)}
MOST = 1e150  # products of two are still finite

moderate = st.one_of(
    integers,
    st.floats(-10, 10),
    st.sampled_from([0.1, 0.2, 0.3, -0.3, 1 / 3, 1e-3, 1e150, -1e150, 1e-150, 1e-310, 5e-324]),
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
        scale = draw(st.sampled_from([-1.0, 1e-150, 1e-5, 0.1]))
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

    def votes(self, form: str) -> Votes:
        """Return what is kept of the training."""
        return Votes.of(self.log(), FORMATS[form](self.rows, self.constant))

    def counted(self, taught: str, form: str) -> list[list[int]]:
        """Return the votes by prefix sums."""
        rows = FORMATS[form](self.tests, self.constant)
        votes = self.votes(taught)
        counts = count_votes(votes, rows, self.n_classes, self.end, positive=self.positive)
        found: list[list[int]] = counts.astype(int).tolist()
        return found


@st.composite
def cases(draw: st.DrawFn, values: Any = moderate, taus: Any = steps) -> Case:
    """Draw a case of two classes or four."""
    return Case(draw, values, taus, draw(st.sampled_from([2, 4])))


formats = st.sampled_from(sorted(FORMATS))
blocks = st.sampled_from([1, 4096, 1 << 20])  # bytes: one row at a time, some, all


@given(cases(), formats, formats, blocks)
@tries(400)
def test_votes_are_those_of_the_definition(
    case: Case, taught: str, form: str, block_bytes: int
) -> None:
    """On near ties, doubles, zero rows and scales from 1e-310 to 1e150: every vote is the same."""
    expected = case.expected(form)
    with patch.object(vote_products, "BLOCK_BYTES", block_bytes):
        if expected is None:
            with pytest.raises(WeightOverflowError, match=r"activation of row \d+ overflowed"):
                case.counted(taught, form)
        else:
            assert case.counted(taught, form) == expected


@given(cases(reals), formats)
def test_votes_where_weights_overflow(case: Case, form: str) -> None:
    """Near the end of the range of float64 the votes are those of the definition, or an error."""
    final = list(vectors(case.rows, case.updates, case.n_classes, case.constant))[-1]
    assume(np.isfinite(final).all())
    expected = case.expected(form)
    if expected is None:
        with pytest.raises(WeightOverflowError):
            case.counted(form, form)
    else:
        assert case.counted(form, form) == expected


@given(cases(integers, st.just(1.0)), formats, formats)
def test_whole_numbers_leave_no_vote_open(case: Case, taught: str, form: str) -> None:
    """Sums of whole numbers are exact, so no weight vector is ever formed."""
    case.tests = [x for x in case.tests if all(value.is_integer() for value in x)]
    opened = []

    class Watched(tally.Replay):
        @property
        def weights(self) -> Any:
            opened.append(self)
            return super().weights

    with patch.object(tally, "Replay", Watched):
        assert case.counted(taught, form) == case.expected(form)
    assert not opened


@given(cases(), formats, st.integers(0, 12))
def test_votes_can_be_counted_in_two_goes(case: Case, form: str, first: int) -> None:
    """A tally that goes on with further updates ends where one of all of them does."""
    expected = case.expected(form)
    assume(expected is not None)
    rows = FORMATS[form](case.tests, case.constant)
    count = tally.tally_of(len(case.tests), case.n_classes, positive=case.positive)
    log, source = case.log(), FORMATS[form](case.rows, case.constant)
    weights = list(vectors(case.rows, case.updates, case.n_classes, case.constant))
    first = min(first, len(case.updates))
    for part in (slice(0, first), slice(first, None)):
        votes = Votes.of(Log(*(column[part] for column in log)), source)
        steps = votes.steps(case.n_classes)
        start = np.array(weights[part.start])
        bad = count.advance(rows, Teachers(votes.rows, steps.row), steps, start)
        assert bad == -1
    assert count.counts(case.end).tolist() == expected


def test_many_rows_at_once() -> None:
    """More rows than a block, on as many threads as there are, come out in their order."""
    rng = np.random.default_rng(0)
    rows = rng.integers(-3, 4, (40, 5)).astype(float)
    log = empty_log(60)
    log.row[:], log.label[:] = rng.integers(0, 40, 60), rng.integers(0, 3, 60)
    log.rival[:] = (log.label + 1) % 3
    log.tau[:], log.seen[:] = 1.0, np.arange(1, 61)
    votes = Votes.of(log, FORMATS["dense"](rows))
    tests = rng.integers(-3, 4, (1000, 5)).astype(float)
    whole = count_votes(votes, FORMATS["dense"](tests), 3, 61, positive=False)
    for start in (0, 300, 990):
        part = FORMATS["csr"](tests[start : start + 10].tolist())
        assert (count_votes(votes, part, 3, 61, positive=False) == whole[start : start + 10]).all()
    assert (whole.sum(axis=1) == 60).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_images_of_bytes_are_exact(dtype: Any) -> None:
    """Products of bytes beyond what float32 holds are summed in slices, without a rounding."""
    rng = np.random.default_rng(1)
    rows = rng.integers(200, 256, (30, 900)).astype(dtype)
    source = FORMATS["dense"](rows, dtype=dtype)
    log = empty_log(30)
    log.row[:], log.label[:] = np.arange(30), rng.choice([-1, 1], 30)
    log.rival[:] = -log.label
    log.tau[:], log.seen[:] = 1.0, np.arange(1, 31)
    votes = Votes.of(log, source)
    steps = votes.steps(2)
    teachers = Teachers(votes.rows, steps.row)
    pairing = teachers.facing(source)
    (stretch,) = pairing.stretches
    products = pairing.products(stretch, 255.0, whole=True)
    assert products.parts.dtype == np.float32
    assert len(products.parts) == 4
    exact = rows.astype(np.int64) @ rows.astype(np.int64).T
    assert (products.parts.astype(np.float64).sum(axis=0) == exact).all()


def test_rows_that_taught_are_kept_once() -> None:
    """A row that made three updates is there once, under its number in training."""
    log = empty_log(4)
    log.row[:], log.label[:], log.rival[:] = [7, 2, 7, 7], 1, -1
    log.tau[:], log.seen[:] = 1.0, [1, 3, 4, 9]
    votes = Votes.of(log, FORMATS["dense"]([[float(i), 0.0] for i in range(9)]))
    assert votes.numbers.tolist() == [2, 7]
    assert votes.rows.data.tolist() == [2.0, 7.0]
    assert votes.updates.row.tolist() == [1, 0, 1, 1]
    assert votes.survival(11).tolist() == [0, 2, 1, 5, 2]
    lines = zip(*(column.tolist() for column in log), strict=True)
    assert votes.survival(11).tolist() == survivals([Update(*line) for line in lines], 11)


def test_two_classes_become_more() -> None:
    """Labels of two sides become numbers of classes, whatever their place among the new ones."""
    log = empty_log(2)
    log.row[:], log.label[:], log.rival[:] = [0, 1], [-1, 1], [1, -1]
    log.tau[:], log.seen[:] = 1.0, [1, 2]
    votes = Votes.of(log, FORMATS["dense"]([[1.0], [2.0]]))
    votes = votes.with_classes(np.array([0, 2]))
    assert votes.updates.label.tolist() == [0, 2]
    assert votes.updates.rival.tolist() == [2, 0]
    assert votes.with_classes(np.array([1, 2, 3])).updates.label.tolist() == [1, 3]


def test_many_features_do_not_cut_sparse_rows_into_pieces() -> None:
    """Only blocks of rows that are spread out are bounded by the number of features."""
    n_features, n = 3_000_000, 300
    indptr = np.arange(n + 1)
    rows = CSR(np.ones(n), np.arange(n, dtype=np.int32), indptr, n_features, 1.0)
    pairing = Teachers(rows, np.arange(n)).facing(rows)
    assert len(list(pairing.stretches)) == 1
    few = rows._replace(indptr=indptr[:3])
    wide = Teachers(few, np.arange(2)).facing(Dense(np.zeros((1, n_features)), 1.0))
    assert len(list(wide.stretches)) == 1
    assert len(list(Teachers(rows, np.arange(n)).stretches(8 * n_features))) == n // 2
