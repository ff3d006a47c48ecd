"""Iterative parameter mixing in plain lists, as the paper prints it. Imports nothing of ours."""

from collections.abc import Sequence

Vector = list[float]


def perceptron_pass(
    w: Vector, rows: Sequence[Vector], labels: Sequence[int], order: Sequence[int]
) -> tuple[list[Vector], int]:
    """Return the weights after each row, and the mistakes."""
    met, mistakes, w = [], 0, list(w)
    for i in order:
        x, y = rows[i], labels[i]
        if y * sum(a * b for a, b in zip(w, x, strict=True)) <= 0:
            w = [a + y * b for a, b in zip(w, x, strict=True)]
            mistakes += 1
        met.append(w)
    return met, mistakes


def mixed(
    shards: Sequence[tuple[Sequence[Vector], Sequence[int]]],
    orders: Sequence[Sequence[Sequence[int]]],  # of each epoch, of each shard
    *,
    by_mistakes: bool = False,
) -> tuple[Vector, Vector, list[int]]:
    """Return the last weights, the mean of all that were met, and the mistakes of each epoch."""
    w = [0.0] * len(shards[0][0][0])
    everything, history = [w], []
    for epoch in orders:
        ends, counts = [], []
        for (rows, labels), order in zip(shards, epoch, strict=True):
            met, mistakes = perceptron_pass(w, rows, labels, order)
            everything += met
            ends.append(met[-1])
            counts.append(mistakes)
        history.append(sum(counts))
        shares = counts if by_mistakes else [1] * len(ends)
        if sum(shares):
            w = [
                sum(k * end[j] for k, end in zip(shares, ends, strict=True)) / sum(shares)
                for j in range(len(w))
            ]
    mean = [sum(column) / len(everything) for column in zip(*everything, strict=True)]
    return w, mean, history
