"""Iterative parameter mixing in plain lists, as the paper prints it. Imports nothing of ours."""

from collections.abc import Callable, Sequence

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


def confident_pass(
    w: Vector,
    sigma: Vector,
    rows: Sequence[Vector],
    labels: Sequence[int],
    order: Sequence[int],
    step: Callable[[float, float], tuple[float, float]],
) -> tuple[list[Vector], Vector]:
    """Return the weights after each row, and the variances at the end."""
    met, w, sigma = [], list(w), list(sigma)
    for i in order:
        x, y = rows[i], labels[i]
        scaled = [s * a for s, a in zip(sigma, x, strict=True)]
        variance = sum(a * b for a, b in zip(scaled, x, strict=True))
        alpha, beta = step(y * sum(a * b for a, b in zip(w, x, strict=True)), variance)
        w = [a + alpha * y * b for a, b in zip(w, scaled, strict=True)]
        sigma = [a - beta * b * b for a, b in zip(sigma, scaled, strict=True)]
        met.append(w)
    return met, sigma


def confidently_mixed(
    shards: Sequence[tuple[Sequence[Vector], Sequence[int]]],
    orders: Sequence[Sequence[Sequence[int]]],  # of each epoch, of each shard
    step: Callable[[float, float], tuple[float, float]],
) -> tuple[Vector, Vector, Vector]:
    """Return the last weights, their variances and the mean of all weights that were met."""
    d = len(shards[0][0][0])
    w, sigma = [0.0] * d, [1.0] * d
    everything = [w]
    for epoch in orders:
        ends = []
        for (rows, labels), order in zip(shards, epoch, strict=True):
            met, sure = confident_pass(w, sigma, rows, labels, order, step)
            everything += met
            ends.append((met[-1], [1 / s for s in sure]))
        total = [sum(p[j] for _, p in ends) for j in range(d)]
        w = [sum(p[j] * v[j] for v, p in ends) / total[j] for j in range(d)]
        sigma = [len(ends) / p for p in total]
    mean = [sum(column) / len(everything) for column in zip(*everything, strict=True)]
    return w, sigma, mean
