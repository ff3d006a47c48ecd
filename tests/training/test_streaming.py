"""Training from a stream of batches: the model of training in memory, in bounded memory."""

import copy
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import Classes
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR
from rosenblatt.rules import PA1, Perceptron
from rosenblatt.training.examples import Examples, encode
from rosenblatt.training.holdout import HoldOut
from rosenblatt.training.loop import EarlyStopping, Plan, Progress
from rosenblatt.training.state import State, fit, run_pass
from rosenblatt.training.streaming import (
    Form,
    Reading,
    ResumePoint,
    Sampling,
    StreamFit,
    fit_stream,
    supply_of,
)
from tests.examples import same_bits

SMALL_BLOCK = 40 * 12  # bytes: about ten of the rows below


class Source:
    """Rows drawn at random, which can be read again and again in batches of any sizes."""

    def __init__(self, seed: int, n_rows: int, labels: Sequence[Any]) -> None:
        generator = np.random.default_rng(seed)
        lengths = generator.integers(0, 7, n_rows)
        self.indptr = np.concatenate([[0], np.cumsum(lengths)])
        widths = 10 + np.arange(n_rows)  # new features come up all the time
        self.rows = [
            np.sort(generator.choice(width, length, replace=False)).astype(np.int32)
            for width, length in zip(widths, lengths, strict=True)
        ]
        self.indices = np.concatenate([*self.rows, np.zeros(0, np.int32)])
        self.data = generator.integers(-3, 4, len(self.indices)).astype(float)
        self.labels = [labels[k] for k in generator.integers(0, len(labels), n_rows)]
        self.sizes = generator.integers(1, 6, n_rows)
        self.n_features = int(self.indices.max(initial=-1)) + 1
        self.n_read = 0
        self.rereadable = True
        self.finishing: Form | None = None

    @property
    def is_open(self) -> bool:
        """Whether something is to be done to all rows."""
        return self.finishing is not None

    def encoded(self, block: Batch) -> Batch:
        """Return rows as they are learned from."""
        return block if self.finishing is None else self.finishing(block)

    def batches(self) -> Iterator[Batch]:
        """Yield the rows in batches of one to five."""
        self.n_read += 1
        classes, start, batch = Classes(), 0, 0
        while start < len(self.labels):
            stop = min(start + int(self.sizes[batch]), len(self.labels))
            ends = self.indptr[start : stop + 1]
            indices = self.indices[ends[0] : ends[-1]]
            yield Batch(
                data=self.data[ends[0] : ends[-1]],
                indices=indices,
                indptr=ends - ends[0],
                labels=classes.codes(self.labels[start:stop]),
                classes=classes.labels,
                n_features=int(indices.max(initial=-1)) + 1,
                zero_based=True,
                file="rows",
                first_line=start + 1,
                n_lines=stop - start,
                bytes_read=stop,
            )
            start, batch = stop, batch + 1

    def in_memory(self) -> tuple[Examples, NDArray[Any]]:
        """Return all rows as one array would hold them, and the classes."""
        classes = np.unique(self.labels)
        rows = CSR(self.data, self.indices, self.indptr, self.n_features, 1.0)
        return Examples(rows, encode(np.array(self.labels), classes)), classes


def train(
    source: Source,
    plan: Plan,
    *,
    shuffle: Any = True,
    held_out: float = 0.0,
    block_bytes: int = SMALL_BLOCK,
    averaged: bool = True,
    finish: Form | None = None,
    **options: Any,
) -> StreamFit:
    """Train on a source in blocks of a few rows."""
    source.finishing = finish
    generator = np.random.default_rng(7)
    draw = Sampling(generator, shuffle, HoldOut.drawn(held_out, generator))
    options |= {"start": partial(State.zeros, averaged=averaged), "block_bytes": block_bytes}
    return fit_stream(source, plan, draw, **options)


def nothing(rows: Batch) -> Batch:
    """Finish rows by leaving them as they are."""
    return rows


def same_state(a: State, b: State) -> bool:
    """Whether two states are the same to the last bit."""
    pairs = [(a.weights, b.weights), (a.ledger, b.ledger)]
    return a.count == b.count and all(
        (x is None and y is None) or same_bits(x, y) for x, y in pairs
    )


LABELS = st.sampled_from([(-1, 1), ("spam", "ham"), (3, 1, 2), ("a", 1, 2.5, "b")])


@given(seed=st.integers(0, 2**32), n_rows=st.integers(30, 120), labels=LABELS)
def test_rows_in_order_give_the_model_of_memory(seed: int, n_rows: int, labels: Any) -> None:
    """Without shuffling, a stream in many blocks trains the very weights of ``fit`` in memory."""
    source = Source(seed, n_rows, labels)
    plan = Plan(PA1(0.5), max_iter=3, shuffle=False)
    trained = train(source, plan, shuffle=False)
    examples, classes = source.in_memory()
    state = State.zeros(source.n_features, len(classes), averaged=True)
    outcome = fit(state, examples, plan, np.random.default_rng(0))
    assert same_state(trained.state, state)
    assert trained.reading.classes == tuple(classes.tolist())
    assert [r.mistakes for r in trained.outcome.history] == [r.mistakes for r in outcome.history]


@given(seed=st.integers(0, 2**32), labels=LABELS)
def test_one_block_is_memory(seed: int, labels: Any) -> None:
    """Rows that fit into one block are shuffled as ``fit`` shuffles an array, to the same bits."""
    source = Source(seed, 60, labels)
    plan = Plan(Perceptron(), max_iter=4)
    trained = train(source, plan, block_bytes=1 << 20)
    examples, classes = source.in_memory()
    state = State.zeros(source.n_features, len(classes), averaged=True)
    fit(state, examples, plan, Sampling(np.random.default_rng(7)).generator)
    assert same_state(trained.state, state)


@given(seed=st.integers(0, 2**32), labels=LABELS, held_out=st.sampled_from([0.0, 0.2]))
def test_learning_while_reading(seed: int, labels: Any, held_out: float) -> None:
    """In the order given, a single pass makes no difference between learning now or later."""
    source = Source(seed, 100, labels)
    stopping = EarlyStopping() if held_out else None
    plan = Plan(Perceptron(), 1, shuffle=False, early_stopping=stopping)
    while_reading = train(source, plan, shuffle=False, held_out=held_out)
    after = train(source, plan, shuffle=False, held_out=held_out, finish=nothing)
    assert same_state(while_reading.state, after.state)
    scores = [[r.validation_score for r in t.outcome.history] for t in (while_reading, after)]
    assert scores[0] == scores[1]
    assert all(score is not None for score in scores[0]) == bool(held_out)


@pytest.mark.parametrize("shuffle", [True, "once", False])
def test_orders(shuffle: Any) -> None:
    """Rows come in another order in every pass, in one other order in all, or as they are."""
    source = Source(5, 150, [0, 1])
    draw = Sampling(np.random.default_rng(1), shuffle)
    reading = Reading(source, keep=True, block_bytes=SMALL_BLOCK)
    supply = supply_of(reading, draw, 1.0)
    passes = []
    for _ in range(3):
        parts = [part.order for part in supply.parts()]
        assert len(parts) > 5
        passes.append(tuple(np.concatenate(parts).tolist()))
    assert len(set(passes)) == (3 if shuffle is True else 1)
    assert (passes[0] == tuple(range(150))) == (shuffle is False)
    reading.close()


@given(seed=st.integers(0, 2**32), shuffle=st.sampled_from([True, "once"]))
def test_a_pass_in_blocks_is_a_pass_in_memory(seed: int, shuffle: Any) -> None:
    """The weights are those of visiting the same rows in the same order in memory."""
    source = Source(seed, 100, ["a", "b", "c"])
    trained = train(source, Plan(Perceptron(), 3), shuffle=shuffle)
    reading = Reading(source, keep=True, block_bytes=SMALL_BLOCK)
    supply = supply_of(reading, Sampling(np.random.default_rng(7), shuffle), 1.0)
    examples, classes = source.in_memory()
    state = State.zeros(source.n_features, len(classes), averaged=True)
    for _ in trained.outcome.history:
        for part in supply.parts():
            run_pass(state, examples, part.order, Perceptron(), 0)
    reading.close()
    assert same_state(trained.state, state)


@pytest.mark.parametrize("processors", [1, 2])
@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"]])
def test_pieces_brought_together_ahead_give_the_same_model(
    classes: list[str], processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that another thread copies in pieces teach what the rows in the files do."""
    monkeypatch.setattr("rosenblatt.training.streaming.PIECE", 9)
    monkeypatch.setattr("rosenblatt.training.streaming.os.cpu_count", lambda: processors)
    source = Source(4, 100, classes)
    reading = Reading(source, keep=True, block_bytes=SMALL_BLOCK)
    supply = supply_of(reading, Sampling(np.random.default_rng(7)), 1.0)
    part = next(iter(supply.parts()))
    assert (len(list(part.pieces())) > 2) == (processors > 1)
    assert len(reading.first.data) == 0  # what is kept in files is not held in memory, too
    reading.close()
    plan = Plan(PA1(1.0), 3)
    trained = train(source, plan)
    recorded = train(source, replace(plan, record=True))  # learns from the files themselves
    assert same_state(trained.state, recorded.state)
    made, other = trained.outcome.history, recorded.outcome.history
    assert [r.mistakes for r in made] == [r.mistakes for r in other]


def test_parts_of_many_values_are_shuffled_by_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours come near each other in large parts; every row comes once a pass."""
    source = Source(3, 150, ["a", "b", "c"])
    reading = Reading(source, keep=True, block_bytes=SMALL_BLOCK)
    orders = []
    for many in (1 << 21, -1):
        monkeypatch.setattr("rosenblatt.training.examples.MANY_VALUES", many)
        supply = supply_of(reading, Sampling(np.random.default_rng(1)), 1.0)
        orders.append(np.concatenate([part.order for part in supply.parts()]))
        assert sorted(orders[-1].tolist()) == list(range(150))
    assert orders[0].tolist() != orders[1].tolist()
    reading.close()


@pytest.mark.parametrize("rereadable", [True, False])
@pytest.mark.parametrize("passes", [1, 3])
def test_a_class_that_comes_late(passes: int, rereadable: bool) -> None:
    """A class that only later blocks have is learned as if it had been known from the start."""
    source = Source(5, 120, ["a", "b"])
    source.labels[90:] = ["c" if k % 3 else label for k, label in enumerate(source.labels[90:])]
    plan = Plan(Perceptron(), passes, shuffle=False)
    source.rereadable = rereadable
    trained = train(source, plan, shuffle=False)
    examples, classes = source.in_memory()
    state = State.zeros(source.n_features, 3, averaged=True)
    fit(state, examples, plan, np.random.default_rng(0))
    assert trained.reading.classes == ("a", "b", "c")
    assert same_state(trained.state, state)
    assert source.n_read == (2 if rereadable and passes == 1 else 1)
    assert len(classes) == 3


def test_sorted_labels() -> None:
    """A source whose first block has but one class is learned as if both had been known."""
    source = Source(5, 120, ["a", "b"])
    source.labels.sort()
    plan = Plan(Perceptron(), 2, shuffle=False)
    trained = train(source, plan, shuffle=False)
    examples, _ = source.in_memory()
    state = State.zeros(source.n_features, 2, averaged=True)
    fit(state, examples, plan, np.random.default_rng(0))
    assert same_state(trained.state, state)


def test_every_pass_visits_every_row_once_in_another_order() -> None:
    """A pass is a permutation of the rows that are not held out, and no two passes are alike."""
    source = Source(3, 150, [0, 1])
    draw = Sampling(np.random.default_rng(1), holdout=HoldOut.drawn(0.3, np.random.default_rng(1)))
    reading = Reading(source, keep=True, block_bytes=SMALL_BLOCK)
    supply = supply_of(reading, draw, 1.0)
    passes = [
        np.concatenate([part.order + part.first_row for part in supply.parts()]) for _ in range(3)
    ]
    learned = draw.holdout.between(0, 150).learned
    assert 80 < len(learned) < 130
    for order in passes:
        assert sorted(order.tolist()) == learned.tolist()
    assert len({tuple(order.tolist()) for order in passes}) == 3
    assert supply.n_rows == len(learned)
    assert supply.n_held_out == 150 - len(learned)
    assert min(np.ptp(order[:10]) for order in passes) > 60  # blocks jump about in the source
    reading.close()


def test_the_order_of_a_seed_never_changes() -> None:
    """Rows of many blocks come in the same order as ever, and the same ones are held out."""
    reading = Reading(Source(3, 24, [0, 1]), keep=True, block_bytes=SMALL_BLOCK)
    draw = Sampling(np.random.default_rng(1), holdout=HoldOut.drawn(0.3, np.random.default_rng(1)))
    supply = supply_of(reading, draw, 1.0)
    passes = [[k for part in supply.parts() for k in part.order.tolist()] for _ in range(2)]
    assert passes == [
        [11, 0, 14, 3, 21, 18, 17, 15, 19, 2, 22, 12, 4, 7, 20],
        [11, 19, 22, 20, 2, 3, 18, 12, 21, 4, 0, 17, 15, 14, 7],
    ]
    reading.close()


def test_held_out_rows_are_independent_of_where_a_block_begins() -> None:
    """Whether a row is held out depends on its number and the key alone, at the rate asked for."""
    holdout = HoldOut(0.1, 42)
    whole = holdout.between(0, 100_000).tried.tolist()
    parts = [holdout.between(start, start + 10_000).tried for start in range(0, 100_000, 10_000)]
    assert np.concatenate(parts).tolist() == whole
    assert abs(len(whole) - 10_000) < 500
    assert whole != HoldOut(0.1, 43).between(0, 100_000).tried.tolist()


def test_finish_changes_all_rows_once() -> None:
    """What can be done only when all rows are known is done to each before it is learned from."""

    def double(rows: Batch) -> Batch:
        assert rows.indptr[0] == 0
        assert rows.indptr[-1] == len(rows.data)
        rows.data[:] *= 2.0
        return rows

    source = Source(11, 150, [0, 1])
    plan = Plan(Perceptron(), 3)
    finished = train(source, plan, finish=double)
    source.data = source.data * 2.0
    assert same_state(finished.state, train(source, plan).state)


@pytest.mark.parametrize("held_out", [0.0, 0.2])
def test_resuming_after_any_part(held_out: float) -> None:
    """Training that goes on from what was seen after any part ends with the same bits."""
    source = Source(13, 150, ["a", "b", "c"])
    plan = Plan(Perceptron(), 3, early_stopping=EarlyStopping(n_iter_no_change=2))
    seen: list[ResumePoint] = []

    def watch(state: State, progress: Progress) -> None:
        seen.append(ResumePoint(*copy.deepcopy((state, progress))))

    whole = train(source, plan, held_out=held_out, watch=watch)
    assert len(seen) > 20
    for resumed in seen:
        trained = train(source, plan, held_out=held_out, resumed=resumed)
        assert same_state(trained.state, whole.state)
        assert trained.outcome.best_pass == whole.outcome.best_pass
        kept = [(r.mistakes, r.loss, r.validation_score) for r in trained.outcome.history]
        assert kept == [(r.mistakes, r.loss, r.validation_score) for r in whole.outcome.history]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files in which rows are kept have no name: whatever ends the training ends them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    source, descriptors = Source(17, 150, [0, 1]), Path("/proc/self/fd")
    opened: set[str] = set()

    def fail_in_time(_state: State, progress: Progress) -> None:
        assert list(tmp_path.iterdir()) == []
        if descriptors.exists():
            opened.update(os.path.realpath(entry) for entry in descriptors.iterdir())
        if progress.parts == 2:
            raise InputError(str(progress.parts))

    with pytest.raises(InputError, match="2"):
        train(source, Plan(Perceptron(), 1), held_out=0.2, watch=fail_in_time)
    assert list(tmp_path.iterdir()) == []
    if descriptors.exists():
        assert (
            sum(name.startswith(str(tmp_path)) for name in opened) == 6
        )  # values, features, ends of rows, labels, weights, groups


def test_one_class_only() -> None:
    """Rows of one class cannot be learned from, and the error says so."""
    source = Source(19, 100, ["x"])
    for block_bytes in (SMALL_BLOCK, 1 << 20):
        with pytest.raises(InputError, match="All 100 rows have the label 'x'"):
            train(source, Plan(Perceptron(), 2), block_bytes=block_bytes)


def test_no_rows() -> None:
    """An empty source is an error."""
    with pytest.raises(InputError, match="no rows to learn from"):
        train(Source(19, 0, ["x"]), Plan(Perceptron(), 2))


def test_what_goes_wrong_in_reading_is_told() -> None:
    """An error in the middle of a source reaches the caller as it is."""

    class Broken(Source):
        def batches(self) -> Iterator[Batch]:
            batches = super().batches()
            for _ in range(20):
                yield next(batches)
            msg = "line 77"
            raise InputError(msg)

    with pytest.raises(InputError, match="line 77"):
        train(Broken(23, 100, [0, 1]), Plan(Perceptron(), 2))
