"""The shuffle, whose bits are promised."""

import math
from collections import Counter

import numpy as np

from rosenblatt.training.order import Order, permute, row_numbers


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
    rows = np.array([5, 6, 7, 8, 9, 10, 11], np.int32)
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
