"""Learning from one row, with nothing changed where it cannot be learned."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.binary import binary_pass
from rosenblatt.kernels.compiling import compiled, inlined
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.multiclass import multiclass_pass
from rosenblatt.kernels.rows import Dense

RIGHT, MISTAKE, NOT_FINITE, OVERFLOW = range(4)


@inlined
def copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Change the target to what the source is; a slice would have numba make room for an array."""
    here, there = source.flat, target.flat
    for p in range(source.size):
        there[p] = here[p]


@compiled
def learn_row(
    rows: Dense,  # a single one
    y: NDArray[Any],
    order: NDArray[Any],
    rule: Any,
    zero: int,
    scores: NDArray[Any],  # room for the activation of each class
    w: NDArray[Any],  # changed
    u: NDArray[Any] | None,  # changed
    c: int,
    w_before: NDArray[Any],  # room for a copy
    u_before: NDArray[Any] | None,  # likewise
) -> int:
    """Make a pass over one row and return what it was; undo it if the weights overflow.

    One call of compiled code where the parts would be three: a stream of short rows spends its time
    on calls.
    """
    if first_not_finite(rows.values) >= 0:
        return NOT_FINITE
    copy(w, w_before)
    if u is not None and u_before is not None:
        copy(u, u_before)
    if w.ndim == 1:
        counts = binary_pass(rows, y, None, order, rule, zero, w, u, c, None)
    else:
        counts = multiclass_pass(rows, y, None, order, rule, zero, scores, w, u, c, None)
    if counts.updates > 0:
        finite = np.isfinite(counts.loss) and first_not_finite(w) < 0
        if u is not None:
            finite = finite and first_not_finite(u) < 0
        if not finite:
            copy(w_before, w)
            if u is not None and u_before is not None:
                copy(u_before, u)
            return OVERFLOW
    return MISTAKE if counts.mistakes > 0 else RIGHT
