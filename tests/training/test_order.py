"""The shuffle, whose bits are promised."""

import math
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt.kernels.shapes import block_bounds
from rosenblatt.training.examples import Order, permute, row_numbers, warn_of_sorted_rows
from tests.examples import csr, dense


def test_the_permutation_of_a_seed_never_changes() -> None:
    """A change of this list is a change of every model, and an entry in the changelog."""
    order = row_numbers(12)
    permute(order, np.random.default_rng(0))
    assert order.tolist() == PERMUTATION_OF_SEED_0


def test_every_permutation_is_equally_likely() -> None:
    """All 24 orders of four rows come up, each within six standard deviations of its share."""
    generator, n = np.random.default_rng(3), 24_000
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(n):
        order = row_numbers(4)
        permute(order, generator)
        seen[tuple(order.tolist())] += 1
    assert len(seen) == 24
    share = n / 24
    assert all(abs(count - share) < 6 * math.sqrt(share) for count in seen.values())


def test_long_orders_are_permutations() -> None:
    """Words are drawn in parts; no row is lost or doubled at their seams."""
    order = row_numbers(200_001)
    permute(order, np.random.default_rng(1))
    assert not np.array_equal(order, row_numbers(200_001))
    assert np.array_equal(np.sort(order), row_numbers(200_001))


def test_kinds_of_order() -> None:
    """As given stays as given, once stays what it became, every pass is new."""
    rows = np.array([5, 6, 7, 8, 9, 10, 11])
    given = Order(rows, shuffle=False, generator=np.random.default_rng(0))
    assert [given.next().tolist() for _ in range(2)] == [rows.tolist()] * 2
    once = Order(rows, shuffle="once", generator=np.random.default_rng(0))
    first = once.next().tolist()
    assert first != rows.tolist()
    assert once.next().tolist() == first
    every = Order(rows, shuffle=True, generator=np.random.default_rng(0))
    seen = [tuple(every.next().tolist()) for _ in range(4)]
    assert len(set(seen)) == 4
    assert all(sorted(order) == rows.tolist() for order in seen)
    assert rows.tolist() == [5, 6, 7, 8, 9, 10, 11]


PERMUTATION_OF_SEED_0 = [8, 1, 4, 10, 5, 3, 11, 6, 9, 0, 2, 7]


def blocks_of(order: NDArray[Any], size: int) -> list[set[int]]:
    """Return the rows of an order, so many together, as sets."""
    return [set(order[start : start + size].tolist()) for start in range(0, len(order), size)]


def test_blocks_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a block follow one another; blocks and their rows come in another order each pass."""
    monkeypatch.setattr(
        "rosenblatt.training.examples.SHUFFLED_BYTES", 5 * 3 * 8
    )  # five rows of three numbers
    order = Order(row_numbers(40), "blocks", np.random.default_rng(0), dense([[0.0] * 3] * 40))
    passes = [order.next().copy() for _ in range(6)]
    expected = [set(range(start, start + 5)) for start in range(0, 40, 5)]
    for one in passes:
        assert sorted(map(sorted, blocks_of(one, 5))) == sorted(map(sorted, expected))
    assert len({tuple(one.tolist()) for one in passes}) == 6
    assert len({tuple(map(min, blocks_of(one, 5))) for one in passes}) == 6
    assert len({tuple(one[one < 5].tolist()) for one in passes}) > 1


def test_every_order_within_a_block_is_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """All six orders of the three rows of a block come up, each about as often."""
    monkeypatch.setattr("rosenblatt.training.examples.SHUFFLED_BYTES", 3 * 8)
    order = Order(row_numbers(6), "blocks", np.random.default_rng(5), dense([[0.0]] * 6))
    seen: Counter[tuple[int, ...]] = Counter()
    n = 6000
    for _ in range(n):
        seen[tuple(i for i in order.next().tolist() if i < 3)] += 1
    assert len(seen) == 6
    assert all(abs(count - n / 6) < 6 * math.sqrt(n / 6) for count in seen.values())


def test_blocks_of_sparse_rows_count_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks end by the number of values, and rows that are left out leave the others in place."""
    monkeypatch.setattr("rosenblatt.training.examples.SHUFFLED_BYTES", 4 * 12)
    rows = csr([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert block_bounds(rows, 4 * 12).tolist() == [0, 2, 6, 7]
    order = Order(np.array([1, 3, 4, 6]), "blocks", np.random.default_rng(0), rows)
    for _ in range(4):
        one = order.next().tolist()
        assert sorted(one) == [1, 3, 4, 6]
        assert abs(one.index(3) - one.index(4)) == 1


def test_rows_sorted_by_class_are_told_of() -> None:
    """Blocks of rows of one class teach little: a warning says what to use."""
    targets = np.repeat(np.array([-1, 1], np.int32), 1500)
    with pytest.warns(
        UserWarning, match=r"first 1,000 rows are all of one class: shuffle='blocks'"
    ):
        warn_of_sorted_rows(targets)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_sorted_rows(np.tile(np.array([-1, 1], np.int32), 1500))
        warn_of_sorted_rows(targets[:900])  # all there is
