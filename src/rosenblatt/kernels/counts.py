"""What a pass returns, and what it can write down."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import inlined


class Counts(NamedTuple):
    """What happened in one pass."""

    mistakes: int  # rows that were misclassified when they came
    updates: int  # rows that changed the weights: the same rows for the perceptron, more for PA
    loss: float  # J = Σ over mistakes of −y·a


class Log(NamedTuple):
    """Room for one line per update: the list that a perceptron is."""

    row: NDArray[Any]  # which row taught
    label: NDArray[Any]  # its label: −1 or +1, or the number of its class; see kernels.dual
    rival: NDArray[Any]  # the label that lost by it
    tau: NDArray[Any]  # how far the step went
    seen: NDArray[Any]  # Algorithm 7's counter c when it came; differences are survival counts


@inlined
def note(log: Log, line: int, row: int, label: int, rival: int, tau: float, seen: int) -> None:
    """Write one line of the log."""
    log.row[line] = row
    log.label[line] = label
    log.rival[line] = rival
    log.tau[line] = tau
    log.seen[line] = seen


def empty_log(length: int) -> Log:
    """Return room for ``length`` updates."""
    kinds: Any = (np.int64, np.int32, np.int32, np.float64, np.int64)
    return Log(*(np.empty(length, kind) for kind in kinds))


NO_LOG = empty_log(0)  # where nothing is to be written down
