"""What a single row needs besides a pass over it.

To learn, the weights of the row's features are copied, a pass over the row changes the copy, and
the copy is written back where all of it is finite. So the pass is the one that everything learns
by, the cost depends on the row and not on the number of features, and what overflows leaves no
trace.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.rows import CSR, Rows, all_finite
from rosenblatt.kernels.single_rows import NOT_FINITE, OUT_OF_RANGE, OVERFLOW, RIGHT


@inlined
def put_in_order(row: CSR) -> bool:
    """Change the one row to canonical form; return whether its features are in range.

    By insertion: rows usually come sorted, or nearly so. Two values of one feature
    are added.
    """
    indices, data = row.indices, row.data
    n = 0
    for p in range(row.indptr[1]):
        j, x = indices[p], data[p]
        if j < 0 or j >= row.n_features:
            return False
        q = n
        while q > 0 and indices[q - 1] > j:
            q -= 1
        if q > 0 and indices[q - 1] == j:
            data[q - 1] += x
            continue
        for r in range(n, q, -1):
            indices[r], data[r] = indices[r - 1], data[r - 1]
        indices[q], data[q] = j, x
        n += 1
    row.indptr[1] = n
    return True


@inlined
def fault(x: NDArray[Any], sparse: CSR | None) -> int:
    """Put a sparse row in order; return what is wrong with the row, or RIGHT."""
    n = x.size
    if sparse is not None:
        if not put_in_order(sparse):
            return OUT_OF_RANGE
        n = sparse.indptr[1]
    return RIGHT if all_finite(x, 0, n) else NOT_FINITE


@compiled
def enter_row(
    row: Rows,  # a single one
    sparse: CSR | None,  # the same, where its features may be in any order; put in order
    x: NDArray[Any],  # its values
    w: NDArray[Any],
    u: NDArray[Any] | None,  # the ledger of the average
    sigma: NDArray[Any] | None,  # variances
    near_w: Changed[NDArray[Any]],
    near_u: Any,
    near_sigma: Any,
) -> int:
    """Copy the weights of a row's features, and what goes with them; return what is wrong."""
    found = fault(x, sparse)
    if found != RIGHT:
        return found
    row.gather(0, w, None, 1, near_w)
    if u is not None:
        row.gather(0, u, None, 1, near_u)
    if sigma is not None:
        row.gather(0, sigma, None, 1, near_sigma)
    return RIGHT


@compiled
def leave_row(
    row: Rows,  # a single one
    w: Changed[NDArray[Any]],
    u: Changed[NDArray[Any]] | None,
    sigma: Changed[NDArray[Any]] | None,
    near_w: NDArray[Any],
    near_u: Any,
    near_sigma: Any,
) -> int:
    """Write the copies back, or nothing where one of them is not finite; return OVERFLOW then."""
    finite = row.is_finite(0, near_w)
    if u is not None:
        finite = finite and row.is_finite(0, near_u)
    if sigma is not None:
        finite = finite and row.is_finite(0, near_sigma)
    if not finite:
        return OVERFLOW
    row.scatter(0, near_w, w)
    if u is not None:
        row.scatter(0, near_u, u)
    if sigma is not None:
        row.scatter(0, near_sigma, sigma)
    return RIGHT


@compiled
def predict_row(
    row: Rows,  # a single one
    sparse: CSR | None,  # the same, where its features may be in any order; put in order
    x: NDArray[Any],  # its values
    near: Rows,  # the same, with its features numbered as they come
    positive: int,  # whether zero is the second class, and a tie goes to the last
    w: NDArray[Any],
    u: NDArray[Any] | None,  # the ledger, where the average decides
    c: int,  # Algorithm 7's counter
    near_w: Changed[NDArray[Any]],  # room for the weights of near
    scores: Changed[NDArray[Any]],  # room for the activation of each class
) -> int:
    """Return the number of the class that a row is of, or what is wrong with it, negative."""
    found = fault(x, sparse)
    if found != RIGHT:
        return -found
    row.gather(0, w, u, c, near_w)
    if w.ndim == 1:
        activation = near.dot(0, near_w)
        if not np.isfinite(activation):
            return -OVERFLOW
        return int(activation > 0.0 or (positive == 1 and activation == 0.0))
    near.scores(0, near_w, 0, scores)
    if not all_finite(scores, 0, scores.size):
        return -OVERFLOW
    best = 0
    for k in range(1, scores.size):
        if scores[k] > scores[best] or (positive == 1 and scores[k] == scores[best]):
            best = k
    return best
