"""Shards whose labels are not those of all the data."""

import re

import numpy as np
import pytest

from rosenblatt.distributed.parts import Facts
from rosenblatt.distributed.skew import strange_shards


def facts(*shards: list[int]) -> list[Facts]:
    """Return shards with these labels, in this order."""
    n_classes = max(map(max, shards)) + 1
    return [
        Facts(
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
    sentence = strange_shards(facts(*shards), ["a", "b"], in_order=in_order)
    if told is None:
        assert sentence is None
    else:
        assert sentence is not None
        assert re.search(told, sentence)


def test_many_are_not_all_named() -> None:
    """Of many strange shards the first are named and the others counted."""
    shards = [[0] * 100 if k % 2 else [1] * 100 for k in range(40)]
    sentence = strange_shards(facts(*shards), ["a", "b"], in_order=False)
    assert sentence is not None
    assert "shard 4 has no row of class 'a' and 35 more: each" in sentence
