"""Parts of the data as they come in, cut and joined into shards; runs in the workers."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.distributed.shards import Shard, dealt, made_shard
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import between, compilable, join, matrix_of, row_arrays, take
from rosenblatt.models.model import Spread
from rosenblatt.training.examples import Examples
from rosenblatt.training.labels import targets_of


class Part(NamedTuple):
    """Rows with the numbers of their classes: a block of a collection, or a file."""

    rows: Rows
    numbers: NDArray[np.int32]
    places: NDArray[np.int64] | None = None  # among all rows, where they do not follow each other


@dataclass(frozen=True)
class Recipe:
    """What all shards are made alike by."""

    n_features: int
    n_classes: int
    seed: int
    held_out: float = 0.0
    class_weight: NDArray[Any] | None = None  # by the number of the class


class Facts(NamedTuple):
    """What the coordinator knows of a shard."""

    n_learned: int
    n_held_out: int
    class_counts: NDArray[np.int64]  # of the rows learned from
    n_runs: int  # of equal labels, in the order of the rows
    sparse: bool
    fingerprint: int


def cut(part: Part, start: int, stop: int) -> Part:
    """Return successive rows of a part, without a copy."""
    return Part(between(part.rows, start, stop), part.numbers[start:stop])


def deal(part: Part, first: int, n_shards: int, seed: int) -> list[Part]:
    """Return for each shard the rows of a part that chance gives it; ``first`` is its first row."""
    owners = dealt(first, len(part.numbers), n_shards, seed)
    hands = []
    for k in range(n_shards):
        chosen = np.flatnonzero(owners == k)
        hands.append(Part(take(part.rows, chosen), part.numbers[chosen], chosen + first))
    return hands


def assembled(parts: Sequence[Part], number: int, first: int, recipe: Recipe) -> Shard:
    """Return a shard of successive parts; ``first`` is its first row unless they were dealt."""
    numbers = np.concatenate([part.numbers for part in parts])
    placed = [part.places for part in parts if part.places is not None]
    places = np.concatenate(placed) if placed else np.arange(first, first + len(numbers))
    weight = None if recipe.class_weight is None else recipe.class_weight[numbers]
    examples = Examples(
        compilable(join([part.rows for part in parts]), recipe.n_features),
        targets_of(numbers, recipe.n_classes),
        weight,
    )
    return made_shard(number, examples, places, recipe.held_out, recipe.seed)


def facts(shard: Shard, n_classes: int) -> Facts:
    """Return what the coordinator wants to know of a shard."""
    rows, targets = shard.examples.rows, shard.examples.targets[shard.learning]
    numbers = (targets > 0).astype(np.int64) if n_classes == 2 else targets.astype(np.int64)
    counts = np.bincount(numbers, minlength=n_classes)
    n_runs = int(np.count_nonzero(np.diff(numbers))) + 1
    return Facts(
        len(numbers), len(shard.held_out), counts, n_runs, rows.sparse, _fingerprint(shard)
    )


def spread(shard: Shard) -> Spread | None:
    """Return how the values of each feature spread over the rows of a sparse shard."""
    from rosenblatt.kernels.spread import feature_spread

    rows = shard.examples.rows
    if not rows.sparse:
        return None
    X = matrix_of(rows)
    return Spread(*feature_spread(X.data, X.indices, *X.shape), X.shape[0])


def _fingerprint(shard: Shard) -> int:
    arrays = [shard.examples.targets, shard.learning, *row_arrays(shard.examples.rows).values()]
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data, checksum)
    return checksum
