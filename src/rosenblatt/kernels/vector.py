"""Instructions that numba lacks: dot products in lanes, of dense and sparse rows, and a prefetch.

A dense dot product with one running sum waits for each addition before the next, and LLVM may not
reorder them. Sixteen sums side by side, spelled out as one vector, run as fast as ``fastmath`` and
still add in an order that is fixed: ``lane_dot`` gives the same bits as ``lane_dot_reference``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import instruction

LANES = 16
SPARSE_LANES = 4  # of products with weights that stand apart
EMITTER = "rosenblatt.kernels.emission.vector"


def lane_dot_reference(x: NDArray[Any], y: NDArray[Any], lanes: int = LANES) -> float:
    """Return Σ x[j]·y[j] as ``lane_dot`` adds it: in lanes, folded by halves, then the rest."""
    whole = len(x) - len(x) % lanes
    sums = np.zeros(lanes)
    for block in range(0, whole, lanes):
        here = slice(block, block + lanes)
        sums += x[here].astype(np.float64) * y[here].astype(np.float64)
    while len(sums) > 1:
        half = len(sums) // 2
        sums = sums[:half] + sums[half:]
    total = float(sums[0])
    for j in range(whole, len(x)):
        total += float(x[j]) * float(y[j])
    return total


@instruction(EMITTER)
def lane_dot(x: NDArray[Any], x_start: int, y: NDArray[Any], y_start: int, length: int) -> float:
    """Return Σ x.flat[x_start + j]·y.flat[y_start + j] over ``length`` elements, in 16 lanes."""
    left, right = x.reshape(-1)[x_start:], y.reshape(-1)[y_start:]
    return lane_dot_reference(left[:length], right[:length])


@instruction(EMITTER)
def lane_dot_ahead(
    x: NDArray[Any], x_start: int, y: NDArray[Any], y_start: int, length: int, ahead: int
) -> float:
    """Return what lane_dot does, and ask for x.flat[ahead:] meanwhile, line by line."""
    return lane_dot(x, x_start, y, y_start, length)


@instruction(EMITTER)
def lane_dot_pair(
    x: NDArray[Any], x_start: int, y: NDArray[Any], first: int, second: int, length: int
) -> tuple[float, float]:
    """Return the products of x with y.flat[first:] and with y.flat[second:], each as lane_dot."""
    return lane_dot(x, x_start, y, first, length), lane_dot(x, x_start, y, second, length)


@instruction(EMITTER)
def prefetch(rows: Any, field: int, offset: int) -> None:
    """Ask for the cache line of rows[field].flat[offset], without waiting for it."""


@instruction(EMITTER)
def sparse_dot(
    x: NDArray[Any], indices: NDArray[Any], start: int, stop: int, w: NDArray[Any]
) -> float:
    """Return Σ x[p]·w[indices[p]] for p from start to stop, in 4 lanes."""
    return lane_dot_reference(x[start:stop], w[indices[start:stop]], SPARSE_LANES)


@instruction(EMITTER)
def sparse_scores(
    x: NDArray[Any],
    indices: NDArray[Any],
    start: int,
    stop: int,
    w: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Write Σ x[p]·w[indices[p]] for p from start to stop to out, of w's rows."""
    out[:] = 0.0
    for p in range(start, stop):
        out += float(x[p]) * w[indices[p]]
