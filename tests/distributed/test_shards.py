"""Which rows a shard has, and in which order it meets them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt.distributed.shards import Shard, bounds, dealt, made_shard
from rosenblatt.distributed.simulation import virtual_shards
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
    whole = dealt(0, 4000, 8, seed=3)
    parts = [dealt(first, 500, 8, seed=3) for first in range(0, 4000, 500)]
    assert np.concatenate(parts).tolist() == whole.tolist()
    assert np.bincount(whole, minlength=8).min() > 400
    assert dealt(0, 4000, 8, seed=4).tolist() != whole.tolist()


def test_held_out_rows_do_not_depend_on_the_shards() -> None:
    """The same rows are held out by 1, 4 and 9 shards, dealt out or not."""
    chosen = []
    for n_shards, shuffled in ((1, False), (4, False), (9, True)):
        shards = virtual_shards(examples(300), n_shards, held_out=0.2, shuffled=shuffled, seed=1)
        held = [numbers(shard)[shard.held_out] for shard in shards]
        chosen.append(sorted(np.concatenate(held).tolist()))
        assert sum(len(shard.learning) for shard in shards) == 300 - len(chosen[-1])
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
    shard = made_shard(0, Examples(given.rows, given.targets, weight), np.arange(20), 0.3, 0)
    assert sorted([*shard.learning.tolist(), *shard.held_out.tolist()]) == list(range(1, 20, 2))


def test_too_many_shards() -> None:
    """A shard needs a row; the sentence says how many there can be."""
    with pytest.raises(
        InputError, match=r"n_shards must be from 1 to the number of rows, 5; got 6"
    ):
        bounds(5, 6)
