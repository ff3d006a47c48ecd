"""Which rows a shard has, and in which order it meets them."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt.distributed.mixing import virtual_shards
from rosenblatt.distributed.shards import (
    Shard,
    ShardFacts,
    bounds,
    deal_rows,
    make_shard,
    unlike_shards,
)
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import Dense
from rosenblatt.training.examples import Examples
from tests.examples import dense


def examples(n_rows: int) -> Examples:
    """Return rows whose one value is their number."""
    targets = np.where(np.arange(n_rows) % 2, 1, -1).astype(np.int8)
    return Examples(dense([[float(i)] for i in range(n_rows)]), targets)


def numbers(shard: Shard) -> NDArray[Any]:
    """Return which rows a shard has."""
    rows = shard.examples.rows
    assert isinstance(rows, Dense)
    return rows.values[:, 0]


def test_every_row_is_in_one_shard() -> None:
    """Shards of successive rows, and shards dealt out, hold each row once, in ascending order."""
    for shuffled in (False, True):
        shards = virtual_shards(examples(101), 7, shuffled=shuffled, seed=5)
        rows = [numbers(shard) for shard in shards]
        assert sorted(np.concatenate(rows).tolist()) == list(range(101))
        assert all((np.diff(part) > 0).all() for part in rows)


def test_even_shards() -> None:
    """Successive shards differ by one row at most, whatever the numbers."""
    for n_rows, n_shards in ((10, 3), (64, 64), (1000, 7)):
        sizes = np.diff(bounds(n_rows, n_shards))
        assert sizes.sum() == n_rows
        assert sizes.max() - sizes.min() <= 1


def test_dealing_looks_at_the_number_of_the_row_alone() -> None:
    """Rows dealt part by part go where they go when dealt all at once, and spread evenly."""
    whole = deal_rows(0, 4000, 8, seed=3)
    parts = [deal_rows(first, 500, 8, seed=3) for first in range(0, 4000, 500)]
    assert np.concatenate(parts).tolist() == whole.tolist()
    assert np.bincount(whole, minlength=8).min() > 400
    assert deal_rows(0, 4000, 8, seed=4).tolist() != whole.tolist()


def test_held_out_rows_do_not_depend_on_the_shards() -> None:
    """The same rows are held out by 1, 4 and 9 shards, dealt out or not."""
    chosen = []
    for n_shards, shuffled in ((1, False), (4, False), (9, True)):
        shards = virtual_shards(examples(300), n_shards, share=0.2, shuffled=shuffled, seed=1)
        held = [numbers(shard)[shard.division.tried] for shard in shards]
        chosen.append(sorted(np.concatenate(held).tolist()))
        assert sum(len(shard.division.learned) for shard in shards) == 300 - len(chosen[-1])
    assert chosen[0] == chosen[1] == chosen[2]
    assert 30 < len(chosen[0]) < 90


def test_order_depends_on_seed_epoch_and_shard() -> None:
    """Each epoch of each shard has an order, which can be had without those before it."""
    shards = virtual_shards(examples(60), 3, seed=2)
    seen = set()
    for shard in shards:
        for epoch in (1, 2, 3):
            order = shard.order(shuffle=True, seed=2, epoch=epoch)
            assert sorted(order.tolist()) == list(range(20))
            again = shard.order(shuffle=True, seed=2, epoch=epoch)
            assert order.tolist() == again.tolist()
            seen.add(tuple(order.tolist()))
    assert len(seen) == 9
    once = shards[1].order("once", 2, 1).tolist()
    assert once == shards[1].order("once", 2, 9).tolist() != list(range(20))
    assert shards[1].order(shuffle=False, seed=2, epoch=4).tolist() == list(range(20))


def test_rows_of_weight_zero_are_left_out() -> None:
    """A row that does not count is neither learned from nor held out."""
    given = examples(20)
    weight = np.ones(20)
    weight[::2] = 0.0
    shard = make_shard(0, Examples(given.rows, given.targets, weight), np.arange(20), 0.3, 0)
    assert sorted(np.concatenate(shard.division).tolist()) == list(range(1, 20, 2))


def test_too_many_shards() -> None:
    """A shard needs a row; the sentence says how many there can be."""
    with pytest.raises(
        InputError, match=r"n_shards must be from 1 to the number of rows, 5; got 6"
    ):
        bounds(5, 6)


def facts(*shards: list[int]) -> list[ShardFacts]:
    """Return shards with these labels, in this order."""
    n_classes = max(map(max, shards)) + 1
    return [
        ShardFacts(
            len(labels),
            0,
            np.bincount(labels, minlength=n_classes),
            int(np.count_nonzero(np.diff(labels))) + 1,
            sparse=False,
            fingerprint=0,
        )
        for labels in shards
    ]


MIXED = [0, 1] * 100
SORTED = [0] * 100 + [1] * 100


@pytest.mark.parametrize(
    ("shards", "in_order", "told"),
    [
        ([MIXED, MIXED], True, None),
        ([MIXED, [0] * 200], False, r"Shard 1 has no row of class 'b': each shard learns from its"),
        ([[0] * 200, [1] * 200], False, r"Shard 0 has no row of class 'b' and shard 1 has no row "),
        ([[0] * 190 + [1] * 10, [1] * 190 + [0] * 10], False, r"grouped: shard 0 \(95% 'a'\) and"),
        ([SORTED, SORTED], False, None),
        ([SORTED, MIXED], True, r"sorted in shard 0, and rows are met as they stand: set shuffle="),
        ([[0] * 9 + [1], [0] * 10], False, None),  # chance
        ([[0] * 1000 + [1], [0] * 1000], True, None),  # a class of one row
    ],
)
def test_what_is_told(shards: list[list[int]], in_order: bool, told: str | None) -> None:
    """Shards that lack a class, hold it in another share, or have it sorted are named."""
    sentence = unlike_shards(facts(*shards), ["a", "b"], in_order=in_order)
    if told is None:
        assert sentence is None
    else:
        assert sentence is not None
        assert re.search(told, sentence)


def test_many_are_not_all_named() -> None:
    """Of many strange shards the first are named and the others counted."""
    shards = [[0] * 100 if k % 2 else [1] * 100 for k in range(40)]
    sentence = unlike_shards(facts(*shards), ["a", "b"], in_order=False)
    assert sentence is not None
    assert "shard 4 has no row of class 'a' and 35 more: each" in sentence
