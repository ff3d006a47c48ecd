"""The check of certificates that anybody can make."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rosenblatt import diagnose
from rosenblatt.theory.certificate import Certificate, MachineCertificate
from rosenblatt.theory.exact import PRIMES, kernel_point

CORNERS, XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
HALF = Fraction(1, 2)
PROOF = Certificate((1, 2), (HALF, HALF), (0, 3), (HALF, HALF), (0, 1))

# Six points of three classes: each pair is separable, one machine for all of them is not.
PINWHEEL = [[-10, -10], [100, -10], [14, -4], [-41, 92], [-4, 14], [-59, -82]]
BLADES = [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    "rows", [CORNERS, np.array(CORNERS), sparse.csr_array(np.array(CORNERS)), pd.DataFrame(CORNERS)]
)
def test_a_true_certificate_passes(rows: Any) -> None:
    """The middle of the square proves XOR inseparable, in whatever form the rows come."""
    rows = rows.rename(columns=str) if isinstance(rows, pd.DataFrame) else rows
    assert PROOF.check(rows, XOR)
    assert diagnose(rows, XOR).certificate == PROOF


@pytest.mark.parametrize(
    "change",
    [
        {"positive_weights": (Fraction(0), Fraction(0)), "negative_weights": (Fraction(0),) * 2},
        {"positive_weights": (), "positive_rows": (), "negative_weights": (), "negative_rows": ()},
        {"positive_weights": (Fraction(1), Fraction(0)), "negative_weights": (HALF, HALF)},
        {"positive_weights": (Fraction(3, 2), Fraction(-1, 2))},
        {"positive_weights": (Fraction(1, 4), Fraction(1, 4))},
        {"positive_weights": (Fraction(1, 3), Fraction(2, 3))},
        {"positive_weights": (HALF,)},
        {"positive_rows": (1, 3)},
        {"positive_rows": (1, 4)},
        {"positive_rows": (1, -2)},
        {"labels": (1, 0)},
        {"labels": (0, 0)},
        {"labels": (0, 2)},
    ],
)
def test_a_false_certificate_fails(change: dict[str, Any]) -> None:
    """No weights, weights that are not convex, wrong rows, wrong labels or points apart fail."""
    assert not replace(PROOF, **change).check(CORNERS, XOR)


def test_a_certificate_of_one_machine_is_checked_alike() -> None:
    """What each class gains and loses must cancel, with positive weights that sum to one."""
    certificate = diagnose(PINWHEEL, BLADES).certificate
    assert isinstance(certificate, MachineCertificate)
    assert certificate.check(PINWHEEL, BLADES)
    moved = [*PINWHEEL[:-1], [-59, -83]]
    assert not certificate.check(moved, BLADES)
    assert not replace(certificate, rivals=certificate.labels).check(PINWHEEL, BLADES)
    assert not replace(certificate, rows=(), labels=(), rivals=(), weights=()).check(
        PINWHEEL, BLADES
    )
    none = tuple(Fraction(0) for _ in certificate.weights)
    assert not replace(certificate, weights=none).check(PINWHEEL, BLADES)


def test_weights_below_zero_prove_nothing() -> None:
    """Points of separable classes meet if a row may be taken away: that is no certificate."""
    rows, labels = [[0], [1], [2]], [0, 1, 1]
    one, two = Fraction(1), Fraction(2)
    assert diagnose(rows, labels).certificate is None
    assert not Certificate((1, 2), (two, -one), (0,), (one,), (0, 1)).check(rows, labels)
    forged = MachineCertificate((0, 1, 2), (0, 1, 1), (1, 0, 0), (HALF, one, -HALF))
    assert not forged.check(rows, labels)


def test_decimals_are_checked_as_they_print() -> None:
    """0.2 is halfway between 0.1 and 0.3 on paper, not in float64, and the check knows which."""
    rows, labels = [[0.1], [0.2], [0.3]], [0, 1, 0]
    proof = Certificate((1,), (Fraction(1),), (0, 2), (HALF, HALF), (0, 1), "decimal")
    assert proof.check(rows, labels)
    assert not replace(proof, arithmetic="exact").check(rows, labels)


@pytest.mark.parametrize("prime", PRIMES)
@pytest.mark.parametrize("size", [10**4, 10**7])
def test_columns_that_vanish_modulo_a_prime(prime: int, size: int) -> None:
    """A separable set made of multiples of the solver's prime is not called inseparable.

    One row lies just outside the plane through 151 others, too near for a linear program to tell.
    """
    negative = prime * 151 * size * np.eye(151)
    positive = np.full(151, float(prime * size))
    positive[0] += prime
    X = np.column_stack([np.vstack([positive, negative]), np.zeros(152)])
    verdict = diagnose(X, [1] + [0] * 151)
    assert verdict.status != "inseparable"
    touching = np.vstack([X[:1], X])
    touching[0, 0] -= prime  # the middle of the others
    verdict = diagnose(touching, [1, 1] + [0] * 151)
    assert verdict.status == "inseparable"
    assert verdict.certificate is not None
    assert verdict.certificate.check(touching, [1, 1] + [0] * 151)


def test_weights_of_zero_add_up_to_nothing() -> None:
    """Weights that are all zero make any sum vanish, and prove nothing."""
    p = PRIMES[0]
    far = [{0: p, 1: -1}] + [{0: -p, j: p, j + 1: 1} for j in range(1, 151)]
    guess = np.full(151, 1 / 300)
    guess[0] = 0.5
    assert kernel_point(far, guess) is None
    one_way = [{0: 3 * p, 1: 1}, {0: p, 1: 1}]
    assert kernel_point(one_way, np.array([1.0, 1e-3])) is None
