"""How sure tags are: sums over all paths, by forward and backward recursions at a temperature.

A path is as probable as exp(β · score), of which one β, the inverse of the temperature, is fitted
to sentences that were not learned from. Sums are scaled token by token.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.sequences.paths import END, START

TOGETHER = 64  # sentences of similar length
LEAST = 1e-40  # of a possible step or tag, so that no path of them vanishes
MOST = 1e150  # of a backward sum, which only what cannot be reached would pass
SWEEPS = 18  # of the search for β
WIDEST = 6.0  # factors e^±6 around the inverse of the usual lead


class Marginals(NamedTuple):
    """Scaled sums of a sentence, which give the probability of any part of a path."""

    tags: NDArray[np.float64]  # (tokens, K), the probability of each
    before: NDArray[np.float64]  # forward sums
    behind: NDArray[np.float64]  # backward sums
    emissions: NDArray[np.float64]  # factors of tokens, divided by their scale
    steps: NDArray[np.float64]  # (K + 2, K), factors

    def of_path(self, path: Sequence[int], start: int = 0) -> float:
        """Return the probability that tokens from ``start`` on have these tags."""
        return float(self._forward(path, start) * self.behind[start + len(path) - 1, path[-1]])

    def of_phrase(self, path: Sequence[int], start: int, others: NDArray[np.bool_]) -> float:
        """Return the probability of a path before a token whose tag is one of ``others``."""
        stop = start + len(path)
        if stop == len(self.tags):
            return self.of_path(path, start)
        go_on = self.steps[path[-1]] * self.emissions[stop] * self.behind[stop]
        return float(self._forward(path, start) * go_on[others].sum())

    def _forward(self, path: Sequence[int], start: int) -> float:
        total = self.before[start, path[0]]
        for t in range(start + 1, start + len(path)):
            k = path[t - start]
            total *= self.steps[path[t - start - 1], k] * self.emissions[t, k]
        return float(total)


def factors(steps: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Return exp(β · steps) over a common factor, 0 where a step is impossible."""
    possible = steps[np.isfinite(steps)]
    top = possible.max() if len(possible) else 0.0
    found = np.maximum(np.exp(beta * (steps - top)), LEAST)
    found[~np.isfinite(steps)] = 0.0
    return np.asarray(found)


def marginals(
    sentences: Sequence[NDArray[np.float64]], steps: NDArray[np.float64], beta: float
) -> list[Marginals]:
    """Return the sums of sentences, given by what each tag of each token scores."""
    found: dict[int, Marginals] = {}
    M = factors(steps, beta)
    order = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
    for first in range(0, len(order), TOGETHER):
        some = order[first : first + TOGETHER]
        found |= zip(some, _together([sentences[i] for i in some], M, beta), strict=True)
    return [found[i] for i in range(len(sentences))]


def _together(
    sentences: Sequence[NDArray[np.float64]], M: NDArray[np.float64], beta: float
) -> Iterator[Marginals]:
    """Yield the sums of sentences, the longest first."""
    lengths = [len(one) for one in sentences]
    longest, n_tags = max(lengths), M.shape[1]
    e = np.ones((longest, len(sentences), n_tags))
    for i, one in enumerate(sentences):
        e[: len(one), i] = np.exp(beta * (one - one.max(axis=1, keepdims=True, initial=-np.inf)))
    e = np.maximum(e, LEAST)
    there = [sum(length > t for length in lengths) for t in range(longest + 1)]
    A, B = np.zeros_like(e), np.zeros_like(e)
    for t in range(longest):
        n = there[t]
        step = M[n_tags + START] if t == 0 else A[t - 1, :n] @ M[:n_tags]
        A[t, :n] = step * e[t, :n]
        ends = n - there[t + 1]
        scale = A[t, :n].sum(axis=1)
        if ends:  # the last tokens of the shortest ones
            scale[n - ends :] = (A[t, n - ends : n] * M[n_tags + END]).sum(axis=1)
        scale = np.where(scale > 0.0, scale, 1.0)[:, None]
        A[t, :n] /= scale
        e[t, :n] /= scale
    for t in range(longest - 1, -1, -1):
        n, more = there[t], there[t + 1]
        B[t, more:n] = M[n_tags + END]
        if more:
            sums = (e[t + 1, :more] * B[t + 1, :more]) @ M[:n_tags].T
            B[t, :more] = np.minimum(sums, MOST)
    for i, length in enumerate(lengths):
        before, behind = A[:length, i], B[:length, i]
        both = before * behind
        total = both.sum(axis=1, keepdims=True) if length else both
        tags = np.divide(both, total, out=np.full_like(both, 1.0 / n_tags), where=total > 0.0)
        yield Marginals(tags, before, behind, e[:length, i], M)


def cross_entropy(
    sentences: Sequence[NDArray[np.float64]],
    truth: Sequence[NDArray[np.int32]],
    steps: NDArray[np.float64],
    beta: float,
) -> float:
    """Return the mean of −log of the probability of the true tags that are known."""
    total, n = 0.0, 0
    for one, tags in zip(marginals(sentences, steps, beta), truth, strict=True):
        known = np.flatnonzero(tags >= 0)
        total -= float(np.log(np.maximum(one.tags[known, tags[known]], LEAST)).sum())
        n += len(known)
    return total / max(n, 1)


def fitted_beta(
    sentences: Sequence[NDArray[np.float64]],
    truth: Sequence[NDArray[np.int32]],
    steps: NDArray[np.float64],
) -> float:
    """Return the β of the least cross-entropy on sentences that were not learned from.

    By golden sections of its logarithm.
    """
    leads = [np.diff(np.sort(one, axis=1)[:, -2:], axis=1) for one in sentences if len(one)]
    usual = float(np.mean(np.concatenate(leads))) if leads and steps.shape[1] > 1 else 0.0
    middle = -np.log(usual) if usual > 0.0 else 0.0
    low, high = middle - WIDEST, middle + WIDEST
    golden = (5**0.5 - 1) / 2
    points = [high - golden * (high - low), low + golden * (high - low)]
    losses = [cross_entropy(sentences, truth, steps, float(np.exp(p))) for p in points]
    for _ in range(SWEEPS):
        if losses[0] < losses[1]:
            high, points[1], losses[1] = points[1], points[0], losses[0]
            points[0] = high - golden * (high - low)
            losses[0] = cross_entropy(sentences, truth, steps, float(np.exp(points[0])))
        else:
            low, points[0], losses[0] = points[0], points[1], losses[1]
            points[1] = low + golden * (high - low)
            losses[1] = cross_entropy(sentences, truth, steps, float(np.exp(points[1])))
    return float(np.exp((low + high) / 2))


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the mean difference of confidence and share of right answers, over ten bins."""
    if not len(confidence):
        return 0.0
    places = np.minimum((confidence * 10).astype(int), 9)
    sums = [np.bincount(places, weights=w, minlength=10) for w in (confidence, right * 1.0)]
    return float(np.abs(sums[0] - sums[1]).sum() / len(confidence))
