"""One kernel of the package against plain Python, before any is trusted."""

import numpy as np

from rosenblatt.kernels.binary import binary_pass
from rosenblatt.kernels.compiling.function import CompiledFunction
from rosenblatt.kernels.counts import NO_LOG
from rosenblatt.kernels.rows import Dense
from rosenblatt.rules import PA1


def agrees() -> bool:
    """Return whether a pass over a few rows changes weights to the same bits both ways."""
    kernel = CompiledFunction(binary_pass.__wrapped__)  # type: ignore[attr-defined]
    values = np.sqrt(np.arange(1.0, 4 * 19 + 1)).reshape(4, 19) - 4.0
    rows, y, order = Dense(values, 1.0), np.array([1, -1, -1, 1], np.int32), np.arange(4)
    made = []
    for run in (kernel, kernel.plain):
        w, u = np.zeros(20), np.zeros(20)
        counts = run(rows, y, np.empty(0), order, PA1(0.3), 0, w, u, 1, NO_LOG)
        made.append((w.tobytes(), u.tobytes(), *counts))
    return made[0] == made[1]
