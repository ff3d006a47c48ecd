"""Parts of the data as they come in, cut and joined into shards; runs in the workers."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.distributed.shards import Shard, dealt, made_shard
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.models.model import Spread
from rosenblatt.training.chosen_rows import chosen_rows
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
    rows = part.rows
    if isinstance(rows, CSR):
        ends = rows.indptr[start : stop + 1]
        values = slice(ends[0], ends[-1])
        taken: Rows = rows._replace(
            data=rows.data[values], indices=rows.indices[values], indptr=ends - ends[0]
        )
    else:
        taken = Dense(rows.values[start:stop], rows.constant)
    return Part(taken, part.numbers[start:stop])


def deal(part: Part, first: int, n_shards: int, seed: int) -> list[Part]:
    """Return for each shard the rows of a part that chance gives it; ``first`` is its first row."""
    owners = dealt(first, len(part.numbers), n_shards, seed)
    hands = []
    for k in range(n_shards):
        chosen = np.flatnonzero(owners == k)
        if isinstance(part.rows, CSR):
            rows: Rows = chosen_rows(part.rows, chosen)
        else:
            rows = Dense(part.rows.values[chosen], part.rows.constant)
        hands.append(Part(rows, part.numbers[chosen], chosen + first))
    return hands


def assembled(parts: Sequence[Part], number: int, first: int, recipe: Recipe) -> Shard:
    """Return a shard of successive parts; ``first`` is its first row unless they were dealt."""
    numbers = np.concatenate([part.numbers for part in parts])
    placed = [part.places for part in parts if part.places is not None]
    places = np.concatenate(placed) if placed else np.arange(first, first + len(numbers))
    weight = None if recipe.class_weight is None else recipe.class_weight[numbers]
    examples = Examples(
        _joined([part.rows for part in parts], recipe.n_features),
        targets_of(numbers, recipe.n_classes),
        weight,
    )
    return made_shard(number, examples, places, recipe.held_out, recipe.seed)


def facts(shard: Shard, n_classes: int) -> Facts:
    """Return what the coordinator wants to know of a shard."""
    targets = shard.examples.targets[shard.learning]
    numbers = (targets > 0).astype(np.int64) if n_classes == 2 else targets.astype(np.int64)
    counts = np.bincount(numbers, minlength=n_classes)
    n_runs = int(np.count_nonzero(np.diff(numbers))) + 1
    sparse = isinstance(shard.examples.rows, CSR)
    return Facts(len(numbers), len(shard.held_out), counts, n_runs, sparse, _fingerprint(shard))


def spread(shard: Shard) -> Spread | None:
    """Return how the values of each feature spread over the rows of a sparse shard."""
    from rosenblatt.kernels.spread import feature_spread

    rows = shard.examples.rows
    if not isinstance(rows, CSR):
        return None
    n_rows, n_features = rows.shape
    low, high, deviation = feature_spread(rows.data, rows.indices, n_rows, n_features)
    return Spread(low, high, deviation, n_rows)


def _joined(rows: Sequence[Rows], n_features: int) -> Rows:
    """Return rows one after the other in the one form that kernels are compiled for."""
    sparse = [part for part in rows if isinstance(part, CSR)]
    constant = rows[0].constant
    if not sparse:
        values = _concatenated([part.values for part in rows if isinstance(part, Dense)])
        return Dense(values, constant)
    index = np.int32 if n_features < 2**31 else np.int64
    starts = np.cumsum([0, *(len(part.data) for part in sparse)])
    ends = [part.indptr[1:] + start for part, start in zip(sparse, starts[:-1], strict=True)]
    return CSR(
        _concatenated([part.data for part in sparse]),
        _concatenated([part.indices.astype(index, copy=False) for part in sparse]),
        np.concatenate([np.zeros(1, np.int64), *ends]).astype(np.int64, copy=False),
        n_features,
        constant,
    )


def _concatenated(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays joined; a single one as it is, if the kernels can read it so."""
    joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    # Compiled code knows no array that cannot be written to, as those of data frames are.
    return np.require(joined, requirements=["C", "A", "W"])


def _fingerprint(shard: Shard) -> int:
    rows = shard.examples.rows
    arrays = [shard.examples.targets, shard.learning]
    arrays += [rows.data, rows.indices] if isinstance(rows, CSR) else [rows.values]
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data, checksum)
    return checksum
