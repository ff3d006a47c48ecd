"""Kernel values against scikit-learn's, and values that are kept."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.mistakes.gram import GramCache, gram_between
from rosenblatt.mistakes.kernel import Kernel, scale_gamma
from tests.examples import same_bits

RNG = np.random.default_rng(0)
VALUES = RNG.integers(0, 256, (130, 37)) * (RNG.random((130, 37)) < 0.4)
KERNELS = {
    "linear": {},
    "poly": {"gamma": 1e-4, "coef0": 1.5, "degree": 3},
    "rbf": {"gamma": 1e-6},
}


def rows_of(values: NDArray[Any], dtype: Any, *, csr: bool) -> Rows:
    """Return values as rows of a type, dense or sparse."""
    if csr:
        found = sparse.csr_matrix(values.astype(dtype))
        return CSR(found.data, found.indices, found.indptr, found.shape[1], 1.0)
    return Dense(values.astype(dtype), 1.0)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("left", [(np.uint8, False), (np.float32, False), (np.float64, True)])
@pytest.mark.parametrize("right", [(np.uint8, False), (np.float64, False), (np.uint8, True)])
def test_kernels(name: str, left: Any, right: Any) -> None:
    """They are scikit-learn's, between rows of any type and format, with a bias one more."""
    a, b = rows_of(VALUES[:70], *left[:1], csr=left[1]), rows_of(VALUES, *right[:1], csr=right[1])
    numbers, others = np.arange(69, -1, -3), np.arange(0, 130, 7)
    expected = pairwise_kernels(VALUES[numbers], VALUES[others], metric=name, **KERNELS[name])
    for constant in (0.0, 1.0):
        kernel = Kernel(name, **KERNELS[name], constant=constant)  # type: ignore[arg-type]
        found = gram_between(kernel, a, b)(others)(numbers)
        assert found.flags.c_contiguous
        np.testing.assert_allclose(found, expected + constant, rtol=1e-9)


def test_bytes_are_exact() -> None:
    """Dot products of bytes are whole numbers without rounding, whatever their size."""
    rng = np.random.default_rng(1)
    for n_features in (1, 2, 31, 784, 3001):
        values = rng.integers(0, 256, (75, n_features)).astype(np.uint8)
        values[:40][rng.random((40, n_features)) < 0.8] = 0
        values[0], values[1] = 255, 0
        found = gram_between(Kernel("linear"), Dense(values, 0.0), Dense(values, 0.0))
        expected = values.astype(np.int64) @ values.T.astype(np.int64)
        assert np.array_equal(found(np.arange(75))(np.arange(75)), expected)
        assert np.array_equal(
            found(np.arange(3, 36))(np.array([5, 0, 9])), expected[[5, 0, 9], 3:36]
        )


def test_gamma_scale_is_that_of_scikit_learn() -> None:
    """1/(n_features · variance), for every format; 1 where nothing varies."""
    expected = 1.0 / (VALUES.shape[1] * VALUES.var())
    for dtype in (np.uint8, np.float32, np.float64):
        for csr in (True, False):
            assert scale_gamma(rows_of(VALUES, dtype, csr=csr)) == pytest.approx(expected)
    assert scale_gamma(Dense(np.full((3, 2), 7.0), 0.0)) == 1.0


def test_kept_values_are_the_computed_ones() -> None:
    """Before, while and after a row is kept its values are the same, with little room or none."""
    rows = rows_of(VALUES, np.uint8, csr=False)
    plain = gram_between(Kernel("linear"), rows, rows)
    everything = np.arange(130)
    expected = plain(everything)(everything)
    for limit in (0, 3 * 8 * 130, 1e9):
        kept = GramCache(plain, 130, limit)
        taught = np.array([3, 99, 17, 64])
        for _ in range(2):
            for here in (np.arange(50), np.arange(50, 130)):
                kept.keep(taught, here, expected[np.ix_(taught, here)])
                assert same_bits(kept.panel(here)(taught), expected[np.ix_(taught, here)])
            kept.complete(taught)
        mixed = np.array([99, 5, 3, 64, 7, 17])
        assert same_bits(kept.panel(everything)(mixed), expected[mixed])


def test_kept_values_are_not_computed_again() -> None:
    """Once complete, the values of a row come from memory."""
    asked: list[int] = []

    def kernel(a: Any, b: Any) -> Any:
        asked.append(len(a))
        return a @ b.T

    rows = rows_of(VALUES, np.float64, csr=False)
    kept = GramCache(gram_between(Kernel(kernel), rows, rows), 130, 2 * 8 * 130)
    everything, taught = np.arange(130), np.array([8, 1, 5])
    kept.keep(taught, everything, VALUES[taught] @ VALUES.T)
    kept.complete(taught)
    kept.panel(everything)(taught)
    assert asked == [1]  # there was room for two


def test_memory_stays_within_the_limit() -> None:
    """A fit of several passes takes no more than its input, its support and the cache size."""
    from rosenblatt import KernelPerceptron

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 10)), rng.integers(0, 2, 3000)
    clf = KernelPerceptron(gamma=1.0, max_iter=3, cache_size=8)
    clf.fit(X[:100], y[:100])  # compiles outside of what is measured
    tracemalloc.start()
    clf.fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert clf.n_support_.sum() > 2000  # whose values alone are 48 MB
    assert peak < (8 << 20) + (2 << 20)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, _b: a, r"one value for each pair of rows, shape \(3, 2\); got shape \(3, 37\)"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "returned NaN or an infinity"),
    ],
)
def test_bad_functions(function: Any, message: str) -> None:
    """A kernel function that returns something else is told so."""
    rows = rows_of(VALUES, np.float64, csr=False)
    with pytest.raises(InputError, match=message):
        gram_between(Kernel(function), rows, rows)(np.arange(2))(np.arange(3))
