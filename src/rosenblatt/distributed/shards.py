"""Shards: which rows each has and in which order, how they are made of parts, which are unlike."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import between, compilable, join, matrix_of, row_arrays, take
from rosenblatt.kernels.spread import feature_spread
from rosenblatt.models.model import Spread
from rosenblatt.tasks.leads import class_numbers, targets_of
from rosenblatt.training.examples import Examples, shuffled, words_of_a_pass
from rosenblatt.training.holdout import Division, HoldOut
from rosenblatt.training.loop import Shuffle
from rosenblatt.wording import word_list

EXPECTED = 20.0  # rows of a class in a shard that make it suspicious to have none: probability e⁻²⁰
FURTHEST = 0.25  # share of a shard's rows that would need another label to be as all the data
FEWEST = 100  # rows of a shard from which on its shares mean something
NAMED = 5  # shards in a message

HELD_OUT, DEALING = (0,), (0, 1)  # keys of streams of chance; those of the orders are () and (k,)


@dataclass(frozen=True)
class Shard:
    """Some of all the rows, with what is learned from and what is held out."""

    number: int  # counted from 0
    examples: Examples
    division: Division  # numbers of rows in examples

    def order(self, shuffle: Shuffle, seed: int, epoch: int) -> NDArray[Any]:
        """Return the rows of an epoch, counted from 1; it depends on nothing but what it is given.

        The first shard draws from the stream of the plain estimators, at the place where they are
        in that pass: so one shard is trained exactly as they are. The other shards have streams of
        their own.
        """
        if not shuffle:
            return self.division.learned
        bits, learned = stream(seed, (self.number,) if self.number else ()), self.division.learned
        values = self.examples.rows.n_values
        if shuffle != "once":
            bits.advance((epoch - 1) * words_of_a_pass(len(learned), values, shuffle))
        return shuffled(learned, values, shuffle, np.random.Generator(bits))

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.number, self.examples, self.division)


def _arrived(number: int, examples: Examples, division: Division) -> Shard:
    """Return a shard from a message, whose arrays need not be aligned: kernels take no others."""
    rows = type(examples.rows)(*map(_aligned, examples.rows))
    weight, targets = _aligned(examples.weight), _aligned(examples.targets)
    return Shard(number, Examples(rows, targets, weight), Division(*map(_aligned, division)))


def _aligned(value: Any) -> Any:
    return np.require(value, requirements="A") if isinstance(value, np.ndarray) else value


def stream(seed: int, key: tuple[int, ...]) -> np.random.PCG64:
    """Return one of the independent streams of chance that belong to a seed."""
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key))


def make_shard(
    number: int, examples: Examples, rows: NDArray[Any], fraction: float, seed: int
) -> Shard:
    """Return a shard; ``rows`` says which rows of all the data its examples are.

    Which rows are held out is decided by their numbers among all, whatever the shards.
    """
    holdout = HoldOut.drawn(fraction, np.random.Generator(stream(seed, HELD_OUT)))
    tried, counted = holdout.mask(rows), examples.numbers()
    return Shard(number, examples, Division(counted[~tried[counted]], counted[tried[counted]]))


def bounds(n_rows: int, n_shards: int) -> list[int]:
    """Return where the shards begin that divide the rows evenly, and the end of the last.

    >>> bounds(10, 3)
    [0, 3, 6, 10]
    """
    if not 1 <= n_shards <= n_rows:
        raise InputError(
            f"n_shards must be from 1 to the number of rows, {n_rows:,}; got {n_shards:,}: "
            "a shard without rows teaches nothing."
        )
    return [k * n_rows // n_shards for k in range(n_shards + 1)]


def deal_rows(first: int, n_rows: int, n_shards: int, seed: int) -> NDArray[np.int64]:
    """Return the shard of each of successive rows, drawn by the number of the row and the seed."""
    bits = stream(seed, DEALING)
    bits.advance(first)
    words = bits.random_raw(n_rows) >> np.uint64(32)
    return ((words * np.uint64(n_shards)) >> np.uint64(32)).astype(np.int64)


def homes_of(client: Any, n_tasks: int) -> list[str]:
    """Return for each of successive tasks the worker that it should run on."""
    workers = sorted(client.nthreads())
    return [workers[k * len(workers) // n_tasks] for k in range(n_tasks)]


class RowPart(NamedTuple):
    """Rows with their labels or the numbers of these: a block of a collection, or a file."""

    rows: Rows
    labels: NDArray[Any]
    places: NDArray[np.int64] | None = None  # among all rows, where they do not follow each other


class Survey(NamedTuple):
    """What the coordinator has to know of a part before shards can be made."""

    n_rows: int
    n_features: int  # of a table, 0
    classes: Any  # those there are
    counts: NDArray[np.int64]  # of their rows
    sparse: bool = True
    encoding: Any = None  # what a table adds to the encoding of all


@dataclass(frozen=True)
class ClusterRows:
    """Parts that are in the workers, or about to be, and what is known of them."""

    parts: list[Any]  # futures of RowPart; emptied when the shards are made
    lengths: Sequence[int]  # their rows
    n_features: int
    classes: NDArray[Any]
    class_counts: NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """What all shards are made alike by."""

    n_features: int
    n_classes: int
    seed: int
    holdout: float = 0.0  # share of the rows
    class_weight: NDArray[Any] | None = None  # by the number of the class


class ShardFacts(NamedTuple):
    """What the coordinator knows of a shard."""

    n_learned: int
    n_held_out: int
    class_counts: NDArray[np.int64]  # of the rows learned from
    n_runs: int  # of equal labels, in the order of the rows
    sparse: bool
    fingerprint: int


def cut(part: RowPart, start: int, stop: int) -> RowPart:
    """Return successive rows of a part, without a copy."""
    return RowPart(between(part.rows, start, stop), part.labels[start:stop])


def deal(part: RowPart, first: int, n_shards: int, seed: int) -> list[RowPart]:
    """Return for each shard the rows of a part that chance gives it; ``first`` is its first row."""
    owners = deal_rows(first, len(part.labels), n_shards, seed)
    hands = []
    for k in range(n_shards):
        chosen = np.flatnonzero(owners == k)
        hands.append(RowPart(take(part.rows, chosen), part.labels[chosen], chosen + first))
    return hands


def assemble(parts: Sequence[RowPart], number: int, first: int, recipe: Recipe) -> Shard:
    """Return a shard of successive parts; ``first`` is its first row unless they were dealt."""
    numbers = np.concatenate([part.labels for part in parts])
    placed = [part.places for part in parts if part.places is not None]
    places = np.concatenate(placed) if placed else np.arange(first, first + len(numbers))
    weight = None if recipe.class_weight is None else recipe.class_weight[numbers]
    examples = Examples(
        compilable(join([part.rows for part in parts]), recipe.n_features),
        targets_of(numbers, recipe.n_classes),
        weight,
    )
    return make_shard(number, examples, places, recipe.holdout, recipe.seed)


def facts(shard: Shard, n_classes: int) -> ShardFacts:
    """Return what the coordinator wants to know of a shard."""
    rows, targets = shard.examples.rows, shard.examples.targets[shard.division.learned]
    numbers = class_numbers(targets, n_classes)
    counts = np.bincount(numbers, minlength=n_classes)
    n_runs = int(np.count_nonzero(np.diff(numbers))) + 1
    checksum = 0
    for array in (shard.examples.targets, shard.division.learned, *row_arrays(rows).values()):
        checksum = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data, checksum)
    return ShardFacts(
        len(numbers), len(shard.division.tried), counts, n_runs, rows.sparse, checksum
    )


def spread(shard: Shard) -> Spread:
    """Return how the values of each feature spread over the rows of a sparse shard."""
    X = matrix_of(shard.examples.rows)
    return Spread(*feature_spread(X.data, X.indices, *X.shape), X.shape[0])


class ShardWarning(UserWarning):
    """Shards that differ so much that mixing what they learn does little good."""


def unlike_shards(
    facts: Sequence[ShardFacts], classes: Sequence[Any], *, in_order: bool
) -> str | None:
    """Return a sentence that names shards which lack classes or have them sorted, or None.

    ``in_order`` says that rows are met as they stand, so that the order within a shard matters.
    """
    counts = np.array([fact.class_counts for fact in facts], float)
    sizes = np.maximum(counts.sum(axis=1), 1.0)
    shares = counts.sum(axis=0) / max(counts.sum(), 1.0)
    expected = sizes[:, None] * shares
    cure = Sentence(
        "each shard learns from its own rows alone, so the mixture would be poor. Set "
        f"{Parameter('shuffle_shards', value=True)} to deal the rows out at random."
    )
    lacking = np.argwhere((counts == 0) & (expected >= EXPECTED))
    if len(lacking):
        told = word_list(
            [f"shard {k} has no row of class {classes[c]!r}" for k, c in lacking], NAMED
        )
        return Sentence(f"S{told[1:]}: ", cure)
    apart = abs(counts / sizes[:, None] - shares).sum(axis=1) / 2
    skewed = np.flatnonzero((apart > FURTHEST) & (sizes >= FEWEST))
    if len(skewed):
        told = word_list([f"shard {k} ({_shares(counts[k], classes)})" for k in skewed], NAMED)
        return Sentence(f"The labels are grouped: {told} differ from the others: ", cure)
    mixed = (counts >= EXPECTED).sum(axis=1) > 1
    runs = np.array([fact.n_runs for fact in facts])
    grouped = np.flatnonzero(mixed & (runs == np.count_nonzero(counts, axis=1)))
    if in_order and len(grouped):
        told = word_list([f"shard {k}" for k in grouped], NAMED)
        return Sentence(
            f"The labels are sorted in {told}, and rows are met as they stand: set "
            f"{Parameter('shuffle', value=True)}."
        )
    return None


def _shares(counts: Any, classes: Sequence[Any]) -> str:
    top = int(counts.argmax())
    return f"{counts[top] / counts.sum():.0%} {classes[top]!r}"
