"""The dot product in lanes."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled
from rosenblatt.kernels.rows import (
    SPARSE_LANES,
    lane_dot,
    lane_dot_ahead,
    lane_dot_reference,
    sparse_dot,
    sparse_scores,
)
from tests.examples import same_bits
from tests.reference import lane_sum


@compiled
def dot(x: NDArray[Any], y: NDArray[Any], start: int, length: int) -> float:
    """Call the intrinsic, which only compiled code can."""
    total: float = lane_dot(x, start, y, start, length)
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 31, 32, 100, 1000])
def test_lanes_add_in_a_fixed_order(dtype: type, length: int) -> None:
    """The compiled product, its Python twin and plain lists in 16 lanes agree to the last bit."""
    rng = np.random.default_rng(length)
    x: NDArray[Any] = (rng.standard_normal(length + 3) * 50 + 100).astype(dtype)
    y = rng.standard_normal(length + 3)
    ours = dot(x, y, 3, length)
    listed = [float(a) * float(b) for a, b in zip(x[3:], y[3:], strict=True)]
    assert same_bits(ours, lane_dot_reference(x[3:], y[3:]))
    assert same_bits(ours, lane_sum(listed, 16))


@compiled
def dot_ahead(x: NDArray[Any], y: NDArray[Any], length: int, near: int, far: int) -> float:
    """Call the intrinsic."""
    total: float = lane_dot_ahead(x, 3, y, 3, length, near, far)
    return total


@compiled
def gathered_dot(
    x: NDArray[Any], indices: NDArray[Any], w: NDArray[Any], start: int, stop: int
) -> float:
    """Call the intrinsic."""
    total: float = sparse_dot(x, indices, start, stop, w)
    return total


@compiled
def gathered_scores(
    x: NDArray[Any], indices: NDArray[Any], w: NDArray[Any], out: Changed[NDArray[Any]]
) -> None:
    """Call the intrinsic."""
    sparse_scores(x, indices, 2, len(x), w, 0, out)


@pytest.mark.parametrize("length", [0, 16, 100])
def test_asking_ahead_changes_nothing(length: int) -> None:
    """A product that asks for later values is the same product."""
    rng = np.random.default_rng(length)
    x, y = rng.standard_normal((2, length + 3))
    assert same_bits(dot_ahead(x, y, length, 1, 2), dot(x, y, 3, length))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.bool_])
@pytest.mark.parametrize("width", [np.int32, np.int64])
@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 8, 11, 12, 13, 15, 16, 17, 61])
def test_sparse_products_add_in_a_fixed_order(dtype: type, width: type, length: int) -> None:
    """The product of a sparse row agrees with plain lists in 4 lanes to the last bit.

    So it does at the end of the arrays and where infinite products come behind it, which are read.
    """
    rng = np.random.default_rng(length)
    w: NDArray[Any] = np.append(rng.standard_normal(500), np.inf)
    x: NDArray[Any] = np.maximum(rng.standard_normal(length + 40) * 50 + 100, 1).astype(dtype)
    indices: NDArray[Any] = rng.integers(0, 500, length + 40).astype(width)
    indices[length + 2 :] = 500
    stop = length + 2
    listed = [float(a) * float(w[j]) for a, j in zip(x[2:stop], indices[2:stop], strict=True)]
    for behind in (0, 1, 15, 16, 38):
        end = stop + behind
        ours = gathered_dot(x[:end], indices[:end], w, 2, stop)
        assert same_bits(ours, lane_sum(listed, SPARSE_LANES))


@pytest.mark.parametrize("n_values", [100, (1 << 20) + 1])
@pytest.mark.parametrize("n_weights", [500, (1 << 15) + 1])
def test_sparse_products_are_the_same_in_the_cache_and_out_of_it(
    n_values: int, n_weights: int
) -> None:
    """Many values, and many weights, of which no more are read than needed, give the same bits."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal(n_values), rng.standard_normal(n_weights)
    indices = rng.integers(0, 500, n_values).astype(np.int32)
    for start, stop in ((0, 7), (7, 22), (22, 61), (61, 61)):
        few = gathered_dot(x[:100], indices[:100], w[:500], start, stop)
        assert same_bits(gathered_dot(x, indices, w, start, stop), few)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7, 8, 20, 31, 32, 33, 67])
@pytest.mark.parametrize("length", [0, 1, 40])
def test_sparse_scores_add_value_by_value(n_classes: int, length: int) -> None:
    """The scores of all classes, however many are summed at once, agree with plain lists."""
    rng = np.random.default_rng(n_classes)
    x, indices = rng.standard_normal(length + 2), rng.integers(0, 9, length + 2).astype(np.int32)
    w, out = rng.standard_normal((9, n_classes)), np.full(n_classes, np.nan)
    gathered_scores(x, indices, w, out)
    for k in range(n_classes):
        total = 0.0
        for a, j in zip(x[2:].tolist(), indices[2:].tolist(), strict=True):
            total += a * float(w[j, k])
        assert same_bits(out[k], total)
