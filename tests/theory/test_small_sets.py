"""Verdicts on small sets against margins computed by trying every subset in plain fractions."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import isclose, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt import diagnose
from rosenblatt.theory.verdict import Verdict
from tests.theory.checking import check
from tests.theory.fuzzing import draw
from tests.theory.reference import squared_augmented_margin, squared_margin

SQUARE = np.array(list(product((0, 1), repeat=2)), float)
CUBE = np.array(list(product((0, 1), repeat=3)), float)
GRID = np.array(list(product((0, 1, 2), (0, 1))), float)
CROSS = np.array([(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0), (2, 2)], float)


def kernel_features(X: NDArray[Any], degree: int) -> NDArray[Any]:
    """Return coordinates whose inner products are (1 + x·z)^degree, with ties and tiny columns."""
    values, vectors = np.linalg.eigh((1.0 + X @ X.T) ** degree)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0)))[:, values > 1e-12])


def conjunction(X: NDArray[Any]) -> NDArray[Any]:
    """Return x₁·x₂ beside the features."""
    return np.column_stack([X, X[:, 0] * X[:, 1]])


def pairs(X: NDArray[Any]) -> NDArray[Any]:
    """Return every product of two features beside them."""
    i, j = np.triu_indices(X.shape[1])
    return np.column_stack([X, X[:, i] * X[:, j]])


MAPS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "plain": lambda X: X,
    "conjunction": conjunction,
    "pairs": pairs,
    "polynomial 2": lambda X: kernel_features(X, 2),
    "polynomial 3": lambda X: kernel_features(X, 3),
}


def labellings(n: int, step: int = 1) -> Iterator[NDArray[Any]]:
    """Yield labels of n rows, every so many of those with both classes and 0 for the first row."""
    for code in range(2, 2**n, 2 * step):
        yield np.array([code >> i & 1 for i in range(n)])


def compare(verdict: Verdict, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Fail unless both margins are those of the reference, to the last digits, and are proved."""
    check(verdict, X, y)
    rows = X.tolist()
    for square, low, high in (
        (squared_margin(rows, y.tolist()), verdict.margin_low, verdict.margin_high),
        (
            squared_augmented_margin(rows, y.tolist()),
            verdict.augmented_low,
            verdict.augmented_high,
        ),
    ):
        assert verdict.status == ("separable" if square else "inseparable")
        if square:
            assert Fraction(low) ** 2 <= square <= Fraction(high) ** 2
            assert high - low <= 1e-9 * high
    if verdict.bound is not None:
        gamma = squared_augmented_margin(rows, y.tolist())
        radius = max(sum(Fraction(x) ** 2 for x in row) for row in rows) + 1
        assert isclose(verdict.bound, radius / gamma, rel_tol=1e-8)


def test_xor_with_the_polynomial_kernel() -> None:
    """XOR in the features of (1 + x·z)² has γ = √6/8 and at most 111⅔ mistakes, not 10³⁰."""
    X = kernel_features(SQUARE, 2)
    verdict = diagnose(X, [0, 1, 1, 0])
    assert verdict.status == "separable"
    assert isclose(verdict.margin_low, sqrt(6) / 8, rel_tol=1e-9)
    assert isclose(verdict.bound or 0, 335 / 3, rel_tol=1e-9)


@pytest.mark.parametrize("name", MAPS)
def test_every_labelling_of_the_square(name: str) -> None:
    """AND, OR, XOR and all the others, in plain and in mapped features."""
    X = MAPS[name](SQUARE)
    for y in labellings(4):
        compare(diagnose(X, y), X, y)


@pytest.mark.parametrize("name", MAPS)
def test_grids_of_integers(name: str) -> None:
    """Points of small grids, whose rows tie in every direction."""
    X = MAPS[name](CROSS if name in {"conjunction", "polynomial 2"} else GRID)
    for y in labellings(6, step=7 if X.shape[1] > 2 else 3):
        compare(diagnose(X, y), X, y)


def test_the_cube() -> None:
    """Boolean functions of three variables."""
    for y in labellings(8, step=42):
        compare(diagnose(CUBE, y), CUBE, y)


@pytest.mark.explore
@pytest.mark.parametrize("name", MAPS)
def test_every_labelling_of_small_grids(name: str) -> None:
    """All of them."""
    for points in (GRID, CROSS, CUBE) if name in {"plain", "conjunction"} else (GRID, CROSS):
        X = MAPS[name](points)
        for y in labellings(len(X)):
            compare(diagnose(X, y), X, y)


@pytest.mark.explore
def test_thousands_of_small_sets() -> None:
    """Drawn sets of a few rows of every kind: the verdict is that of exact arithmetic."""
    undecided = 0
    for number in range(4000):
        kind = ("integers", "decimals", "floats", "touching", "thin", "sizes")[number % 6]
        X, y = draw(np.random.default_rng((1, number)), kind)
        X, y = X[:8, :3], np.minimum(y[:8], 1)
        if len(set(y.tolist())) < 2:
            y[0] = 1 - y[0]
        verdict = diagnose(X, y)
        check(verdict, X, y)
        square = squared_margin(X.tolist(), y.tolist())
        undecided += verdict.status == "undecided"
        if verdict.status == "separable":
            assert Fraction(verdict.margin_low) ** 2 <= square <= Fraction(verdict.margin_high) ** 2
        elif verdict.status == "inseparable" and verdict.certificate is not None:
            assert not square or verdict.certificate.arithmetic == "decimal"
    assert not undecided


@pytest.mark.parametrize("relative", [1e-9, 1e-12, 1e-14, 1e-16])
def test_thin_strips_are_decided(relative: float) -> None:
    """A strip of a relative width down to that of rounding is found, in either form of rows."""
    generator = np.random.default_rng(3)
    for d, form in ((2, np.asarray), (3, sparse.csr_array)):
        unit = generator.standard_normal(d)
        unit /= np.linalg.norm(unit)
        X, y = generator.standard_normal((9, d)), np.arange(9) % 2
        X += np.outer((2 * y - 1) * relative - X @ unit, unit)
        verdict = diagnose(form(X), y)
        check(verdict, X, y)
        separable = squared_margin(X.tolist(), y.tolist()) > 0
        assert verdict.status == ("separable" if separable else "inseparable")


@pytest.mark.parametrize(
    ("X", "gamma"),
    [
        ([[0.0], [1.8e-261]], 0.9e-261),
        ([[5e-324], [0.0]], 2.5e-324),
        ([[-1.7e308], [1.7e308]], 1.7e308),
        ([[0.0, 1e300], [1e-300, 1e300]], 5e-301),
        ([[1.8e-261, 0.0], [0.0, 1.8e261]], 0.9e261),
        ([[0.0, 5.0], [0.0, 7.0]], 1.0),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sizes_at_the_ends_of_float64(X: Any, gamma: float, form: Any) -> None:
    """No norm or scale overflows or vanishes: denormal, huge and constant columns get a margin."""
    rows, y = np.array(X), np.array([0, 1])
    verdict = diagnose(form(rows), y)
    assert verdict.status == "separable"
    assert verdict.check(rows, y)
    assert verdict.margin_low <= gamma * (1 + 1e-12)
    assert isclose(verdict.margin_high, gamma, rel_tol=1e-6) or gamma < 1e-320
    same = np.array(X)
    same[1] = same[0]
    assert diagnose(form(same), y).status == "inseparable"


@pytest.mark.parametrize("kind", ["integers", "touching", "thin", "sizes", "float32"])
def test_dense_and_sparse_rows_get_the_same_verdict(kind: str) -> None:
    """The form in which rows are stored changes nothing at all about small sets."""
    for number in range(6):
        X, y = draw(np.random.default_rng((2, number)), kind)
        dense, csr = diagnose(X, y), diagnose(sparse.csr_array(X), y)
        assert dense.as_json() | {"seconds": 0} == csr.as_json() | {"seconds": 0}
