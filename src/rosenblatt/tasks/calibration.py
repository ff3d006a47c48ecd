"""Scores as probabilities, fitted on rows that the weights have not learned from.

Both fits minimise the cross-entropy by Newton's method with halved steps; a step is a few lines of
NumPy, whereas SciPy's optimisers take half a second to import.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError

MOST_STEPS = 100  # seven suffice on most data
STEPS = [0.5**k for k in range(34)]  # 1, 1/2, … 1e-10
FLAT = 1e-10  # a gradient below this share of the rows is the end
MOST_SCORES = 1 << 20  # that the sigmoid of all labels together is fitted to
RIDGE = 1e-12  # keeps the Hessian invertible (Lin, Lin and Weng 2007, Algorithm 1)


@dataclass(frozen=True)
class Calibration:
    """How scores become probabilities, fitted on held-out rows.

    Two classes: p(second class) = 1/(1 + exp(−(slope·score + offset))), or the line through the
    points where there are any. More classes: the softmax of slope·scores, with offset 0.
    """

    slope: float
    offset: float
    n_rows: int  # held-out rows that it was fitted on
    points: tuple[tuple[float, float], ...] = ()  # score and probability, both ascending


def fit_calibration(
    scores: NDArray[Any], numbers: NDArray[Any], method: str | None = None
) -> Calibration:
    """Fit probabilities to the scores and class numbers of held-out rows.

    "sigmoid", the default of two classes, scores (n,): p(second class) = σ(slope·score + offset),
    with the targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) in place of 1 and 0 (Platt 1999, by the
    algorithm of Lin, Lin and Weng 2007). "temperature", scores (n, K): the softmax of slope·scores,
    with (N_k + 1)/(N_k + K) for the class of the row, which N_k rows share, and 1/(N_k + K) for
    each other. "isotonic", of two classes: the best probability that ascends with the score
    (Zadrozny and Elkan 2002), one half at score 0. A slope is at least 0, so that probabilities
    never contradict the order of scores. Rows whose number is no class are left out.
    """
    n_classes = 2 if scores.ndim == 1 else scores.shape[1]
    known = (numbers >= 0) & (numbers < n_classes)
    s, y = np.asarray(scores[known], np.float64), numbers[known]
    counts = np.bincount(y, minlength=n_classes)
    if np.count_nonzero(counts) < 2:
        met = "no row" if not len(y) else f"all {len(y):,} rows of one class"
        raise InputError(f"Probabilities need held-out rows of at least two classes; got {met}.")
    if scores.ndim > 1 and method in ("sigmoid", "isotonic"):
        msg = (
            f"calibrate={method!r} needs two classes; got {n_classes}. Use calibrate='temperature'."
        )
        raise InputError(msg)
    if method == "isotonic":
        return Calibration(0.0, 0.0, len(y), _isotonic(s, _platt_targets(y, counts)))
    size = float(np.abs(s).max()) or 1.0  # Newton's steps are best on scores of about 1
    if scores.ndim == 1 and method != "temperature":
        slope, offset = _platt(s / size, y, counts)
    else:
        by_class = s if scores.ndim > 1 else np.stack([np.zeros_like(s), s], axis=1)
        slope, offset = _temperature(by_class / size, y, counts), 0.0
    return Calibration(slope / size, offset, len(y))


def probabilities(calibration: Calibration, scores: NDArray[Any]) -> NDArray[Any]:
    """Return the probability of each class on each row, (n, K).

    >>> probabilities(Calibration(2.0, 0.0, 100), np.array([0.0, 1e300]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    if calibration.points:
        second = np.interp(scores, *np.array(calibration.points).T)
        return np.stack([1.0 - second, second], axis=1)
    with np.errstate(over="ignore"):  # beyond the range of float64 a probability is 0 or 1
        if scores.ndim == 1:
            z = calibration.slope * scores + calibration.offset
            return np.stack([_sigmoid(-z), _sigmoid(z)], axis=1)
        return _softmax(calibration.slope, scores)


def fit_label_calibration(
    scores: NDArray[Any], truth: NDArray[np.bool_]
) -> tuple[Calibration, NDArray[np.float64]]:
    """Fit the probability of each label to held-out rows, which may have several, (n, K) both.

    Each label has a sigmoid of its own: slopes and offsets, (2, K). A label that all of these rows
    have, or none, takes that of all labels together, which is returned, too.
    """
    joint = fit_joint_calibration(scores, truth)
    found = np.empty((2, scores.shape[1]))
    for label, own in enumerate(truth.T):
        varies = own.any() and not own.all()
        fitted = fit_calibration(scores[:, label], own.astype(int)) if varies else joint
        found[:, label] = fitted.slope, fitted.offset
    return joint, found


def fit_joint_calibration(scores: NDArray[Any], truth: NDArray[np.bool_]) -> Calibration:
    """Fit one sigmoid to the scores of all labels together."""
    step = -(-scores.size // MOST_SCORES)
    joint = fit_calibration(scores.ravel()[::step], truth.ravel()[::step].astype(int), "sigmoid")
    return replace(joint, n_rows=len(scores))


def label_probabilities(fitted: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    """Return the probability of each label on each row, (n, K), each by itself."""
    with np.errstate(over="ignore"):
        return _sigmoid(fitted[0] * scores + fitted[1])


def vote_shares(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the share of votes that each class has on each row, by the scores of a vote.

    >>> vote_shares(np.array([-1.0, 0.5])).tolist()
    [[1.0, 0.0], [0.25, 0.75]]
    """
    if scores.ndim > 1:
        return np.asarray(scores)
    return np.stack([(1.0 - scores) / 2, (1.0 + scores) / 2], axis=1)


def _isotonic(s: NDArray[Any], target: NDArray[Any]) -> tuple[tuple[float, float], ...]:
    """Return scores and probabilities that ascend, by pooling neighbours that do not."""
    levels, where = np.unique(s, return_inverse=True)
    sums, rows = np.bincount(where, target), np.bincount(where)
    pools: list[tuple[float, int, int, int]] = []  # sum of targets, rows, first and last level
    for k, (total, n) in enumerate(zip(sums.tolist(), rows.tolist(), strict=True)):
        first = k
        while pools and pools[-1][0] * n >= total * pools[-1][1]:
            before = pools.pop()
            total, n, first = total + before[0], n + before[1], before[2]  # noqa: PLW2901
        pools.append((total, n, first, k))
    points = {(0.0, 0.5)}
    for total, n, *ends in pools:
        for score in levels[ends].tolist():
            p = total / n
            points.add((score, max(p, 0.5) if score > 0 else min(p, 0.5) if score < 0 else 0.5))
    return tuple(sorted(points))


def _platt_targets(y: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    n_negative, n_positive = counts.tolist()
    target = np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    return np.asarray(target)


def _platt(s: NDArray[Any], y: NDArray[Any], counts: NDArray[Any]) -> tuple[float, float]:
    target = _platt_targets(y, counts)
    mean = float(target.mean())
    start = math.log(mean / (1 - mean))  # the best offset for slope 0
    if np.ptp(s) == 0.0 or (s * (target - mean)).sum() <= 0.0:
        return 0.0, start  # the objective is convex and does not fall towards positive slopes
    slope, offset = 0.0, start
    value = _platt_loss(slope, offset, s, target)
    for _ in range(MOST_STEPS):
        p = _sigmoid(slope * s + offset)
        g_slope, g_offset = ((p - target) * s).sum(), (p - target).sum()
        if max(abs(g_slope), abs(g_offset)) < FLAT * len(s):
            break
        d = p * (1 - p)
        h_ss, h_so, h_oo = (d * s * s).sum() + RIDGE, (d * s).sum(), d.sum() + RIDGE
        det = h_ss * h_oo - h_so * h_so
        step_slope = -(h_oo * g_slope - h_so * g_offset) / det
        step_offset = -(h_ss * g_offset - h_so * g_slope) / det
        fall = g_slope * step_slope + g_offset * step_offset
        for size in STEPS:
            tried = slope + size * step_slope, offset + size * step_offset
            reached = _platt_loss(*tried, s, target)
            if reached < value + 1e-4 * size * fall:
                (slope, offset), value = tried, reached
                break
        else:
            break  # rounding allows no better
    return float(slope), float(offset)


def _platt_loss(slope: float, offset: float, s: NDArray[Any], target: NDArray[Any]) -> float:
    z = slope * s + offset
    return float((np.logaddexp(0.0, z) - target * z).sum())


def _temperature(s: NDArray[Any], y: NDArray[Any], counts: NDArray[Any]) -> float:
    n_classes = s.shape[1]
    own = s[np.arange(len(y)), y]
    share = counts[y] + n_classes
    aimed = (counts[y] * own + s.sum(axis=1)) / share  # Σ_k target_k·score_k
    slope, value = 0.0, len(y) * math.log(n_classes)
    for _ in range(MOST_STEPS):
        p = _softmax(slope, s)
        mean = (p * s).sum(axis=1)
        gradient = float((mean - aimed).sum())
        if abs(gradient) < FLAT * len(y) or (slope == 0.0 and gradient > 0):
            break
        curvature = float((p * (s - mean[:, None]) ** 2).sum()) + RIDGE
        for size in STEPS:
            tried = max(slope - size * gradient / curvature, 0.0)
            reached = _temperature_loss(tried, s, aimed)
            if reached < value - 1e-4 * abs((tried - slope) * gradient):
                slope, value = tried, reached
                break
        else:
            break  # rounding allows no better
    return slope


def _temperature_loss(slope: float, s: NDArray[Any], aimed: NDArray[Any]) -> float:
    top = s.max(axis=1)
    log_sum = np.log(np.exp(slope * (s - top[:, None])).sum(axis=1)) + slope * top
    return float((log_sum - slope * aimed).sum())


def _sigmoid(z: NDArray[Any]) -> NDArray[Any]:
    small = np.exp(-np.abs(z))  # never overflows
    return np.asarray(np.where(z >= 0, 1.0, small) / (1.0 + small))


def _softmax(slope: float, scores: NDArray[Any]) -> NDArray[Any]:
    powers = np.exp(slope * (scores - scores.max(axis=1, keepdims=True)))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
