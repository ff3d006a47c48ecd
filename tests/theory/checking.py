"""A checker of verdicts that shares nothing with the solver: fractions and the raw data alone."""

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from rosenblatt.theory.certificate import Certificate, MachineCertificate
from rosenblatt.theory.verdict import Verdict


def fractions_of(row: Any, *, decimal: bool = False) -> list[Fraction]:
    """Return a row as fractions, as stored or as printed."""
    return [Fraction(str(x)) if decimal else Fraction(float(x)) for x in row]


def check(verdict: Verdict, X: Any, y: Any) -> None:
    """Fail unless the proof of the verdict holds for the data."""
    X, y = np.asarray(X), np.asarray(y)
    assert verdict.status in {"separable", "inseparable", "undecided"}
    if verdict.status == "separable":
        check_witness(verdict, X, y)
    elif verdict.status == "inseparable":
        assert verdict.margin_low == verdict.margin_high == -inf
        if isinstance(verdict.certificate, MachineCertificate):
            check_machine_certificate(verdict.certificate, X, y)
        else:
            assert verdict.certificate is not None
            check_certificate(verdict.certificate, X, y)
    else:
        assert verdict.notes
    assert verdict.check(X, y) == (verdict.status != "undecided")
    for group in verdict.conflicts:
        assert (
            len({X[row].tobytes() for row in group}) == 1
            or np.ptp(X[list(group)], axis=0).max() == 0
        )
        assert len(set(y[list(group)].tolist())) > 1


def check_certificate(certificate: Certificate, X: Any, y: Any) -> None:
    """Fail unless convex weights on rows of either label give the same point."""
    decimal = certificate.arithmetic == "decimal"
    negative, positive = certificate.labels
    points = []
    for rows, weights, label in (
        (certificate.positive_rows, certificate.positive_weights, positive),
        (certificate.negative_rows, certificate.negative_weights, negative),
    ):
        assert all(y[row] == label for row in rows)
        assert len(set(rows)) == len(rows) == len(weights)
        assert min(weights) > 0
        assert sum(weights) == 1
        values = [fractions_of(X[row], decimal=decimal) for row in rows]
        points.append(
            [sum(w * x[j] for w, x in zip(weights, values, strict=True)) for j in range(X.shape[1])]
        )
    assert positive != negative
    assert points[0] == points[1]


def check_machine_certificate(certificate: MachineCertificate, X: Any, y: Any) -> None:
    """Fail unless what each class gains and what it loses are equal."""
    decimal = certificate.arithmetic == "decimal"
    total: dict[Any, list[Fraction]] = {}
    assert min(certificate.weights) > 0
    assert sum(certificate.weights) == 1
    for row, label, rival, weight in zip(
        certificate.rows, certificate.labels, certificate.rivals, certificate.weights, strict=True
    ):
        assert y[row] == label != rival
        x = [*fractions_of(X[row], decimal=decimal), Fraction(1)]
        for k, sign in ((label, 1), (rival, -1)):
            kept = total.setdefault(k, [Fraction(0)] * len(x))
            total[k] = [t + sign * weight * value for t, value in zip(kept, x, strict=True)]
    assert all(value == 0 for values in total.values() for value in values)


def check_witness(verdict: Verdict, X: Any, y: Any) -> None:
    """Fail unless (w, b) separates, by the lower end of the margin, and the upper is no lower."""
    classes = list(verdict.classes)
    W = [fractions_of(w) for w in np.atleast_2d(verdict.w)]  # type: ignore[arg-type]
    B = [Fraction(float(b)) for b in np.atleast_1d(verdict.b)]
    least = min(
        lead(fractions_of(x), classes.index(k), W, B) for x, k in zip(X, y.tolist(), strict=True)
    )
    assert least > 0
    assert Fraction(verdict.margin_low) ** 2 * sum(n * n for w in W for n in w) <= least**2
    assert 0 < verdict.margin_low <= verdict.margin_high
    check_nearest(verdict, X, y)
    augmented = [fractions_of(v) for v in np.atleast_2d(verdict.augmented)]  # type: ignore[arg-type]
    biases = [v.pop() for v in augmented]
    norm = sum(n * n for v in augmented for n in v) + sum(b * b for b in biases)
    least = min(
        lead(fractions_of(x), classes.index(k), augmented, biases)
        for x, k in zip(X, y.tolist(), strict=True)
    )
    assert Fraction(verdict.augmented_low) ** 2 * norm <= least**2
    assert least > 0
    assert verdict.augmented_low <= verdict.augmented_high
    square = max(sum(n * n for n in fractions_of(x)) for x in X) + 1
    assert Fraction(verdict.radius) ** 2 >= square
    factor = 1 if len(classes) == 2 else 2
    assert verdict.bound is not None
    if verdict.bound < inf:
        assert Fraction(verdict.bound) * Fraction(verdict.augmented_low) ** 2 >= factor * square
    if verdict.mistakes is not None:
        assert verdict.mistakes <= verdict.bound


def check_nearest(verdict: Verdict, X: Any, y: Any) -> None:
    """Fail unless the points of either hull are at most twice the upper end apart."""
    nearest = verdict.nearest
    if not isinstance(nearest, Certificate):
        assert verdict.margin_high == inf or len(verdict.classes) > 2
        return
    points = []
    for rows, weights, label in (
        (nearest.positive_rows, nearest.positive_weights, nearest.labels[1]),
        (nearest.negative_rows, nearest.negative_weights, nearest.labels[0]),
    ):
        assert all(y[row] == label for row in rows)
        assert min(weights) > 0
        assert sum(weights) == 1
        values = [fractions_of(X[row]) for row in rows]
        points.append(
            [sum(w * x[j] for w, x in zip(weights, values, strict=True)) for j in range(X.shape[1])]
        )
    if verdict.margin_high == inf:
        return
    distance = sum((p - q) ** 2 for p, q in zip(*points, strict=True))
    assert distance <= (2 * Fraction(verdict.margin_high)) ** 2


def lead(x: list[Fraction], k: int, W: list[list[Fraction]], B: list[Fraction]) -> Fraction:
    """Return y·a for two classes, the lead over the best rival for more."""
    scores = [sum((a * c for a, c in zip(w, x, strict=True)), b) for w, b in zip(W, B, strict=True)]
    if len(scores) == 1:
        return scores[0] if k else -scores[0]
    return min(scores[k] - score for r, score in enumerate(scores) if r != k)
